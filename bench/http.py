"""A call end to end (render, hash, ledger, request, parse, reading) against bare aiohttp on the same server."""

import json
import subprocess
import sys
from collections.abc import Iterator

_CALLS = 4000

_CHILD = """
import asyncio, json, resource, sys, tempfile, time
from pathlib import Path
port, calls, flight = (int(word) for word in sys.argv[1:])
{setup}
start, cpu = time.perf_counter(), time.process_time()
{work}
took, used = time.perf_counter() - start, time.process_time() - cpu
print(json.dumps([calls / took, 1000 * used / calls, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000]))
"""
_OURS = (
    """
from evenhand.execution import Ledger, run_requests
from evenhand.instruments import Message, Request, builtin_instruments
from evenhand.instruments.template import render
from evenhand.models import ModelRole, open_model
from evenhand.readings import read_choice
text = builtin_instruments("rubric").instrument("refusal").text
model = open_model(f"http://127.0.0.1:{port}/v1#m", ModelRole.GRADER)
model.concurrency = flight
folder = tempfile.TemporaryDirectory()
ledger = Ledger(Path(folder.name) / "l.sqlite")
def requests():
    for n in range(calls):
        fields = {"conversation": f"[H]: {n}", "prompt": str(n), "response": "x " * 400, "boundary": "=="}
        yield Request(messages=(Message("user", render(text, fields)),), max_tokens=6, top_logprobs=20)
""",
    'for answer in run_requests(requests(), model, ledger): read_choice(answer.outcome, "12345ABC")',
)
_BARE = (
    """
import aiohttp
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x " * 900}], "max_tokens": 6})
async def main():
    connector = aiohttp.TCPConnector(limit=flight)
    async with aiohttp.ClientSession(connector=connector, headers={"Content-Type": "application/json"}) as session:
        left = iter(range(calls))
        async def work():
            for _ in left:
                async with session.post(f"http://127.0.0.1:{port}/v1/chat/completions", data=body) as response:
                    json.loads(await response.read())
        await asyncio.gather(*(work() for _ in range(flight)))
""",
    "asyncio.run(main())",
)


def run() -> Iterator[str]:
    """Measure 4,000 calls at 64 and at 256 in flight, each client in a process of its own."""
    server = subprocess.Popen([sys.executable, "-m", "bench.http_server"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        for flight in (64, 256):
            ours, bare = (_measure(parts, port, flight) for parts in (_OURS, _BARE))
            yield (
                f"endpoint of 50 ms, {flight} in flight: {ours[0]:,.0f} calls/s and {ours[1]:.2f} ms of processor time"
                f" a call, end to end ({ours[2]:.0f} MB); bare aiohttp {bare[0]:,.0f} and {bare[1]:.2f};"
                f" {ours[1] / bare[1]:.1f} times the processor time"
            )
    finally:
        server.kill()
        server.communicate()


def _measure(parts: tuple[str, str], port: str, flight: int) -> list[float]:
    script = _CHILD.replace("{setup}", parts[0]).replace("{work}", parts[1])
    found = subprocess.run(
        [sys.executable, "-c", script, port, str(_CALLS), str(flight)], capture_output=True, text=True, check=True
    )
    return [float(value) for value in json.loads(found.stdout)]
