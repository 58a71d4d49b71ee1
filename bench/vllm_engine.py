"""How fast vLLM's engine rates in this process, and what its prefix cache serves: in our order and shuffled.

Run with a model's folder, where vLLM is installed: `python -m bench.vllm_engine FOLDER [PAIRS QUESTIONS]`. The cached
tokens are those that vLLM itself reports with each reply. Each order begins with an engine, and so a cache, of its own.
"""

import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from evenhand.execution import Ledger, run_requests
from evenhand.graders.rating import RatingManner, ask_ratings
from evenhand.instruments import Request
from evenhand.instruments.questions import read_questions
from evenhand.instruments.rating import Protocol, rating_instrument
from evenhand.models import ModelRole, ModelSettings, open_model
from evenhand.pairs.preference_pair import PreferencePair, text_id
from evenhand.readings import Reply

_LETTERS = "etaoinshrdlu"
_CONCURRENCY = 64
_ENGINE = {"dtype": "float32", "enforce_eager": True, "max_model_len": 2048}


def run(folder: str, pairs: int, questions: int) -> Iterator[str]:
    """Rate pairs of 30 to 60 made-up words an output with the instrument ``compact``."""
    instrument = rating_instrument("compact", Protocol.BLIND)
    asked = read_questions("builtin")[:questions]
    asks = ask_ratings(instrument, Protocol.BLIND, _pairs(pairs), asked, RatingManner())
    ours = [ask.request for ask in asks]
    shuffled = random.Random(0).sample(ours, len(ours))
    yield f"{Path(folder).name}: {pairs} pairs x {questions} questions, {len(ours)} calls, {_CONCURRENCY} at once"
    for name, requests in (("ours", ours), ("shuffled", shuffled)):
        yield f"  {name}: {_measured(folder, requests)}"


def _measured(folder: str, requests: Sequence[Request]) -> str:
    name = f"vllm:{folder}"
    settings = ModelSettings(concurrency=_CONCURRENCY, top_logprobs=100, engine=_ENGINE)
    model = open_model(name, ModelRole.GRADER, settings={name: settings})
    with TemporaryDirectory() as kept, Ledger(Path(kept) / "ledger.sqlite") as ledger:
        began = time.perf_counter()
        run_requests([Request(prompt="Once", max_tokens=1)], model, ledger)
        loaded = time.perf_counter()
        answers = run_requests(requests, model, ledger)
        seconds = time.perf_counter() - loaded
    model.close()
    replies = [answer.outcome for answer in answers if isinstance(answer.outcome, Reply)]
    tokens = sum(reply.prompt_tokens for reply in replies)
    cached = sum(reply.cached_tokens for reply in replies)
    return (
        f"{len(replies)} replies, {len(replies) / seconds:.2f} calls a second, {tokens / len(replies):.0f} tokens a"
        f" call, {cached / tokens:.1%} of them cached; loaded in {loaded - began:.0f} s"
    )


def _pairs(count: int) -> list[PreferencePair]:
    draw = random.Random(0)

    def text(least: int, most: int) -> str:
        words = ("".join(draw.choices(_LETTERS, k=draw.randint(2, 7))) for _ in range(draw.randint(least, most)))
        return " ".join(words).capitalize() + "."

    texts = [(text(10, 20), text(30, 60), text(30, 60)) for _ in range(count)]
    return [PreferencePair(text_id(*each), text_id(each[0]), *each, False) for each in texts]


if __name__ == "__main__":
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    for line in run(sys.argv[1], *map(int, sys.argv[2:] or ("4", "8"))):
        print(line, flush=True)
