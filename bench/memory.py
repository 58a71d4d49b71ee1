"""What 200,000 requests take of memory and time, drawn and read one by one: `python -m bench.memory [N]`."""

import json
import subprocess
import sys
from collections.abc import Iterator

from bench.loopback import loopback

_REQUESTS = 200_000
_MOST_MB = 400
_FLIGHT = 256

_CHILD = """
import json, resource, sys, time
from bench.http_clients import evenhand
port, calls, flight = map(int, sys.argv[1:])
evenhand(port, 32, 32, 10 * calls)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
before, start, used = peak(), time.perf_counter(), time.process_time()
evenhand(port, calls, flight, 0)
print(json.dumps([time.perf_counter() - start, time.process_time() - used, before, peak()]))
"""


def run(requests: int = _REQUESTS) -> Iterator[str]:
    """Measure so many requests at an endpoint without latency, each kept in the ledger and its reading in memory."""
    with loopback(0) as server:
        command = [sys.executable, "-c", _CHILD, str(server.port), str(requests), str(_FLIGHT)]
        found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        took, used, before, peak = json.loads(found.stdout)
        theirs = server.processor_seconds()
    met = "met" if peak <= _MOST_MB else "NOT MET"
    yield (
        f"{requests:,} requests at an endpoint without latency, {_FLIGHT} in flight: peak memory {peak:.0f} MB,"
        f" {before:.0f} of it before the first (wanted: at most {_MOST_MB} MB, {met}); {requests / took:,.0f} calls/s"
        f" and {1000 * used / requests:.2f} ms of processor time a call (the endpoint: {1000 * theirs / requests:.3f}"
        f" ms, busy {theirs / took:.0%} of the time)"
    )


if __name__ == "__main__":
    for line in run(*map(int, sys.argv[1:])):
        print(line, flush=True)
