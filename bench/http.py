"""What a call costs: Evenhand from end to end, bare aiohttp, the openai SDK and Inspect, in one run on one endpoint."""

import importlib.util
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from bench.loopback import Loopback, loopback

_LATENCY_MS = 50.0
_FLIGHTS = (64, 256)
_ROUNDS, _ROUNDS_BESIDE = 9, 3
"""Of the clients that the targets are about, and of those that stand beside them."""
_CALLS = {
    "bare aiohttp": 5000,
    "evenhand": 5000,
    "openai SDK": 1500,
    "inspect-ai": 1000,
    "evenhand through inspect": 1000,
}
"""Calls a round: fewer where each takes long."""
_COMPARED = ("bare aiohttp", "evenhand", "openai SDK")
"""Evenhand stands between the two that it is compared with, so that the three of a round are measured close by."""
_NEEDS = {
    "openai SDK": ("openai",),
    "inspect-ai": ("openai", "inspect_ai"),
    "evenhand through inspect": ("openai", "inspect_ai"),
}
_MOST_MS, _MOST_TIMES_BARE, _LEAST_TIMES_CHEAPER = 1.0, 2.0, 5.0


@dataclass(frozen=True, slots=True)
class _Measured:
    """One client in one round."""

    calls_per_second: float
    processor_ms: float
    """A call, of the client."""
    megabytes: float
    server_ms: float
    """A call, of the endpoint."""

    @property
    def server_busy(self) -> float:
        """The share of the time in which the endpoint was at work."""
        return self.calls_per_second * self.server_ms / 1000


def run() -> Iterator[str]:
    """Measure at 64 and at 256 in flight: rounds in each of which the clients take turns."""
    clients = [name for name in _CALLS if all(map(_is_there, _NEEDS.get(name, ())))]
    missing = [name for name in _CALLS if name not in clients]
    if missing:
        yield f"not installed, so not compared: {', '.join(missing)}"
    with loopback(_LATENCY_MS) as server:
        for flight in _FLIGHTS:
            compared, beside = ([name for name in clients if (name in _COMPARED) is one] for one in (True, False))
            found = _rounds(compared, _ROUNDS, server, flight) | _rounds(beside, _ROUNDS_BESIDE, server, flight)
            yield (
                f"endpoint of {_LATENCY_MS:.0f} ms, {flight} in flight, median of {_ROUNDS} rounds"
                f" (through Inspect {_ROUNDS_BESIDE}) [lowest, highest]"
            )
            for name in clients:
                yield _line(name, found[name])
            yield from _targets({name: [one.processor_ms for one in found[name]] for name in compared})


def _rounds(clients: list[str], count: int, server: Loopback, flight: int) -> dict[str, list[_Measured]]:
    rounds = [{name: _measure(name, server, flight) for name in clients} for _ in range(count)]
    return {name: [one[name] for one in rounds] for name in clients}


def _line(name: str, rounds: list[_Measured]) -> str:
    costs = [one.processor_ms for one in rounds]
    return (
        f"  {name:25} {statistics.median(one.calls_per_second for one in rounds):6,.0f} calls/s"
        f"  {statistics.median(costs):6.2f} ms of processor time a call [{min(costs):.2f}, {max(costs):.2f}]"
        f"  {max(one.megabytes for one in rounds):4.0f} MB"
        f"  (the endpoint: {statistics.median(one.server_ms for one in rounds):.3f} ms a call,"
        f" busy {max(one.server_busy for one in rounds):.0%} of the time)"
    )


def _targets(costs: dict[str, list[float]]) -> Iterator[str]:
    ours = statistics.median(costs["evenhand"])
    yield _target(f"{ours:.2f} ms a call, wanted at most {_MOST_MS:.1f}", ours <= _MOST_MS)
    # Round by round, since what else the machine does slows both clients of a round.
    bare = [mine / theirs for mine, theirs in zip(costs["evenhand"], costs["bare aiohttp"], strict=True)]
    times = statistics.median(bare)
    yield _target(f"{times:.2f} times bare aiohttp, wanted at most {_MOST_TIMES_BARE:.0f}", times <= _MOST_TIMES_BARE)
    if "openai SDK" in costs:
        cheaper = [theirs / mine for mine, theirs in zip(costs["evenhand"], costs["openai SDK"], strict=True)]
        times = statistics.median(cheaper)
        yield _target(
            f"the openai SDK takes {times:.1f} times as much, wanted at least {_LEAST_TIMES_CHEAPER:.0f}",
            times >= _LEAST_TIMES_CHEAPER,
        )


def _target(text: str, met: bool) -> str:
    return f"  {'met' if met else 'NOT MET'}: {text}"


def _is_there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _measure(name: str, server: Loopback, flight: int) -> _Measured:
    calls = _CALLS[name]
    before = server.processor_seconds()
    command = [sys.executable, "-m", "bench.http_clients", name, str(server.port), str(calls), str(flight)]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    per_second, processor_ms, megabytes = json.loads(found.stdout)
    return _Measured(per_second, processor_ms, megabytes, 1000 * (server.processor_seconds() - before) / calls)
