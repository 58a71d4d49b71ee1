"""The clients that are compared, each in a process of its own: `python -m bench.http_clients NAME PORT CALLS FLIGHT`.

All of them send the same texts with the same parameters and read the same replies. What is timed begins when a client
is imported and has made a few calls, and includes the opening of its connections.
"""

import asyncio
import importlib
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import aiohttp

from evenhand.execution import Answered, Ledger, pace, run_requests
from evenhand.instruments import Message, Request, builtin_instruments
from evenhand.instruments.template import render
from evenhand.models import ModelRole, open_model
from evenhand.readings import Reading, read_choice

MAX_TOKENS, TOP = 6, 20
_WARM_UP = 32


def prompts(count: int, first: int = 0) -> Iterator[str]:
    """Yield prompts of an ordinary length, no two alike: the refusal question on a response of 800 characters."""
    text = builtin_instruments("rubric").instrument("refusal").text
    for n in range(first, first + count):
        fields = {"conversation": f"[H]: {n}", "prompt": str(n), "response": "x " * 400, "boundary": "=="}
        yield render(text, fields)


Calls = Callable[[int, int, int, int], None]
"""Makes so many calls to a port, so many at once; the last number is that of the first prompt."""


def evenhand(port: int, calls: int, flight: int, first: int, name: str = "") -> None:
    """Go the whole way: render, hash, ledger, request, parse, ledger, reading."""
    pace.FIRST_ROOM = flight  # A run begins with fewer and finds out; here the number is given.
    model = open_model(name or f"http://127.0.0.1:{port}/v1#m", ModelRole.GRADER)
    model.concurrency = flight
    requests = (
        Request(messages=(Message("user", text),), max_tokens=MAX_TOKENS, top_logprobs=TOP)
        for text in prompts(calls, first)
    )

    def read(answer: Answered) -> Reading:
        return read_choice(answer.outcome, "12345ABC")

    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.sqlite") as ledger:
        readings = run_requests(requests, model, ledger, read, total=calls)
    assert len(readings) == calls
    assert all(reading.probabilities for reading in readings)


def evenhand_through_inspect(port: int, calls: int, flight: int, first: int) -> None:
    """Go the whole way with a model that Inspect's provider layer asks."""
    evenhand(port, calls, flight, first, "inspect:openai-api/bench/m")


def bare_aiohttp(port: int, calls: int, flight: int, first: int) -> None:
    """Encode, post and parse, and nothing else."""

    async def main() -> None:
        connector = aiohttp.TCPConnector(limit=flight)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def ask(text: str) -> None:
                body = {
                    "model": "m",
                    "messages": [{"role": "user", "content": text}],
                    "max_tokens": MAX_TOKENS,
                    "temperature": 0.0,
                    "seed": 0,
                    "logprobs": True,
                    "top_logprobs": TOP,
                }
                async with session.post(f"http://127.0.0.1:{port}/v1/chat/completions", json=body) as response:
                    answer = json.loads(await response.read())
                assert answer["choices"]

            await _at_once(prompts(calls, first), flight, ask)

    asyncio.run(main())


def openai_sdk(port: int, calls: int, flight: int, first: int) -> None:
    """Ask through openai's own client as it comes."""
    openai = importlib.import_module("openai")

    async def main() -> None:
        async with openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none") as client:

            async def ask(text: str) -> None:
                answer = await client.chat.completions.create(
                    model="m",
                    messages=[{"role": "user", "content": text}],
                    max_tokens=MAX_TOKENS,
                    temperature=0.0,
                    seed=0,
                    logprobs=True,
                    top_logprobs=TOP,
                )
                assert answer.choices

            await _at_once(prompts(calls, first), flight, ask)

    asyncio.run(main())


def inspect_ai(port: int, calls: int, flight: int, first: int) -> None:
    """Ask through Inspect's model layer as it comes."""
    inspect = importlib.import_module("inspect_ai.model")

    async def main() -> None:
        config = inspect.GenerateConfig(
            max_connections=flight,
            max_tokens=MAX_TOKENS,
            temperature=0.0,
            seed=0,
            logprobs=True,
            top_logprobs=TOP,
        )
        async with inspect.get_model("openai-api/bench/m", config=config, memoize=False) as model:

            async def ask(text: str) -> None:
                answer = await model.generate(text)
                assert answer.choices

            await _at_once(prompts(calls, first), flight, ask)

    asyncio.run(main())


async def _at_once(texts: Iterator[str], flight: int, ask: Callable[[str], Awaitable[None]]) -> None:
    async def work() -> None:
        for text in texts:
            await ask(text)

    await asyncio.gather(*(work() for _ in range(flight)))


CLIENTS: dict[str, Calls] = {
    "evenhand": evenhand,
    "bare aiohttp": bare_aiohttp,
    "openai SDK": openai_sdk,
    "inspect-ai": inspect_ai,
    "evenhand through inspect": evenhand_through_inspect,
}


def _main(name: str, port: int, calls: int, flight: int) -> None:
    os.environ["BENCH_BASE_URL"], os.environ["BENCH_API_KEY"] = f"http://127.0.0.1:{port}/v1", "none"
    client = CLIENTS[name]
    client(port, _WARM_UP, _WARM_UP, 10_000_000)
    start, used = time.perf_counter(), time.process_time()
    client(port, calls, flight, 0)
    took, used = time.perf_counter() - start, time.process_time() - used
    print(json.dumps([calls / took, 1000 * used / calls, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000]))


if __name__ == "__main__":
    _main(sys.argv[1], *map(int, sys.argv[2:]))
