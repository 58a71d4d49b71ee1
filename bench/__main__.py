"""Run every measurement and print a line each."""

from bench import bootstrap, ledger, prefix

if __name__ == "__main__":
    for measurement in (bootstrap, ledger, prefix):
        for line in measurement.run():
            print(line, flush=True)
