"""Run the measurements and print a line each: all with `python -m bench`, some with `python -m bench http memory`."""

import sys

from bench import (
    bootstrap,
    cluster,
    http,
    ledger,
    memory,
    prefix,
    prefix_order,
    rating_prefix,
    ratings,
    scaling,
    summarize,
)

_ALL = (
    bootstrap,
    ledger,
    http,
    memory,
    prefix,
    prefix_order,
    rating_prefix,
    ratings,
    scaling,
    cluster,
    summarize,
)

if __name__ == "__main__":
    by_name = {module.__name__.removeprefix("bench."): module for module in _ALL}
    unknown = [name for name in sys.argv[1:] if name not in by_name]
    if unknown:
        raise SystemExit(f"no measurement {', '.join(unknown)}; there are {', '.join(by_name)}")
    for name in sys.argv[1:] or by_name:
        for line in by_name[name].run():
            print(line, flush=True)
