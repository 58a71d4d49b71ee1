"""Run every measurement and print a line each."""

from bench import bootstrap, http, ledger, prefix, rating_prefix, ratings

if __name__ == "__main__":
    for measurement in (bootstrap, ledger, http, prefix, rating_prefix, ratings):
        for line in measurement.run():
            print(line, flush=True)
