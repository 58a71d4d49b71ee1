"""A process that rates as a capable grader would: JSON, with token probabilities that follow from the prompt.

To whoever does not ask for ratings it gives an answer that follows from the prompt.

Every call is written to its log before it is answered, so the log tells what was asked how often.
"""

import asyncio
import hashlib
import math
import re
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
from aiohttp import web


@dataclass(frozen=True, slots=True)
class RatingServer:
    """The process, from outside."""

    port: int
    log: Path

    @property
    def grader(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1#rater"

    def asked(self) -> Counter[str]:
        """Return how often each prompt was asked, by its hash."""
        return Counter(self.log.read_text().split()) if self.log.exists() else Counter()


@contextmanager
def rating_server(folder: Path, latency: float = 0.0) -> Iterator[RatingServer]:
    """Run the process while this lasts; ``latency`` in seconds."""
    log = folder / "asked.log"
    process = subprocess.Popen(
        [sys.executable, __file__, str(log), str(latency)], stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert process.stdout
    try:
        server = RatingServer(int(process.stdout.readline()), log)
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{server.port}/health").read()
                break
            except OSError:
                time.sleep(0.05)
        yield server
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def _answer(prompt: str) -> dict[str, object]:
    seed = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).digest()
    # The names of the ratings are the prompt's own.
    keys = list(dict.fromkeys(re.findall(r'"(\w*rating)"', prompt)))
    tokens = ["{"] if keys else ["Answer", " ", "number", " ", str(seed[0] % 10), "."]
    for place, key in enumerate(keys):
        tokens += [f'"{key}":', " ", str(seed[place] % 10)]
        tokens.append(", " if place + 1 < len(keys) else "}")
    content = []
    for number, token in enumerate(tokens):
        if token.isdigit():
            shares = {str(value): 1.0 + seed[(number + value) % 32] for value in range(10)}
            whole = sum(shares.values())
            top = sorted(((text, math.log(share / whole)) for text, share in shares.items()), key=lambda one: -one[1])
            own = dict(top)[token]
        else:
            own, top = -0.001, [(token, -0.001)]
        entries = [{"token": text, "logprob": value} for text, value in top]
        content.append({"token": token, "logprob": own, "top_logprobs": entries})
    message = {"role": "assistant", "content": "".join(tokens)}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": {"content": content}}
    usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(tokens)}
    return {"id": "x", "object": "chat.completion", "model": "rater", "choices": [choice], "usage": usage}


async def _serve(log: Path, latency: float) -> None:
    with log.open("a", buffering=1) as file:

        async def chat(request: web.Request) -> web.Response:
            turns = orjson.loads(await request.read())["messages"]
            prompt = "\n".join(turn["content"] for turn in turns)
            file.write(hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16] + "\n")
            if latency:
                await asyncio.sleep(latency)
            return web.Response(body=orjson.dumps(_answer(prompt)), content_type="application/json")

        async def health(_: web.Request) -> web.Response:
            return web.Response(text="well")

        app = web.Application(client_max_size=2**26)
        app.add_routes([web.post("/v1/chat/completions", chat), web.get("/health", health)])
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        sys.stdout.write(f"{runner.addresses[0][1]}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), float(sys.argv[2])))
