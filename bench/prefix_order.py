"""How much of the prompts a prefix cache serves: in our order, shuffled, and question by question.

Last, what the embedded runtime itself counts as cached, in our order and shuffled.

A cache of blocks of tokens is simulated as servers keep it: a block is found if all before it are, and the blocks that
were used longest ago go first. Tokens are words and marks, which are a little longer than a tokenizer's.
"""

import asyncio
import random
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from evenhand.graders.rating import RatingManner, ask_ratings
from evenhand.instruments import Request
from evenhand.instruments.questions import Question, read_questions
from evenhand.instruments.rating import Protocol, rating_instrument
from evenhand.models import Model, ModelRole, open_model
from evenhand.pairs.preference_pair import PreferencePair, text_id
from evenhand.readings import Reply

_BLOCK = 16
_PAIRS = 400
_WORDS = [
    "the",
    "a",
    "of",
    "to",
    "and",
    "in",
    "that",
    "it",
    "is",
    "was",
    "for",
    "on",
    "with",
    "as",
    "at",
    "by",
    "this",
    "be",
    "from",
    "or",
    "an",
    "not",
    "have",
    "are",
]


def run() -> Iterator[str]:
    """Simulate the built-in questions on pairs of about 300 words an output."""
    pairs = _pairs()
    questions = read_questions("builtin")
    instrument = rating_instrument("rating", Protocol.BLIND)
    asks = ask_ratings(instrument, Protocol.BLIND, pairs, questions, RatingManner())
    prompts = [re.findall(r"\w+|[^\w\s]", ask.request.messages[0].content) for ask in asks]
    per_pair = 2 * len(questions)
    orders = {
        "ours: all questions of a pair and order follow one another": list(range(len(prompts))),
        "question by question": sorted(range(len(prompts)), key=lambda place: (place % per_pair, place)),
        "shuffled": random.Random(0).sample(range(len(prompts)), len(prompts)),
    }
    total = sum(map(len, prompts))
    yield (
        f"{_PAIRS} pairs x {len(questions)} questions x 2 orders: {len(prompts):,} prompts of"
        f" {total / len(prompts):,.0f} tokens"
    )
    for capacity in (20_000, 200_000):
        for name, order in orders.items():
            hits = _hits([prompts[place] for place in order], capacity)
            yield f"  a cache of {capacity:,} tokens, {name}: {hits / total:.1%} of the tokens are found in it"

    yield from _embedded(pairs[:3], questions[:8])


def _embedded(pairs: Sequence[PreferencePair], questions: Sequence[Question]) -> Iterator[str]:
    instrument = rating_instrument("compact", Protocol.BLIND)
    asks = ask_ratings(instrument, Protocol.BLIND, pairs, questions, RatingManner())
    requests = [ask.request for ask in asks]
    shuffled = random.Random(0).sample(requests, len(requests))
    for name, order in (("ours", requests), ("shuffled", shuffled)):
        model = open_model("qwen2.5-coder-0.5b", ModelRole.GRADER)

        async def every(model: Model = model, order: Sequence[Request] = order) -> list[Reply]:
            return [await model.answer(request) for request in order]

        replies = asyncio.run(every())
        model.close()
        cached = sum(reply.cached_tokens for reply in replies)
        share = cached / sum(reply.prompt_tokens for reply in replies)
        yield f"  the embedded 0.5B model, {len(order)} compact ratings, {name}: {share:.1%} of the tokens cached"


def _hits(prompts: Sequence[Sequence[str]], capacity: int) -> int:
    """Return how many tokens the cache serves."""
    blocks: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for prompt in prompts:
        key, found = 0, True
        for start in range(0, len(prompt) - _BLOCK + 1, _BLOCK):
            key = hash((key, tuple(prompt[start : start + _BLOCK])))
            found = found and key in blocks
            hits += _BLOCK * found
            blocks[key] = None
            blocks.move_to_end(key)
        while len(blocks) * _BLOCK > capacity:
            blocks.popitem(last=False)
    return hits


def _pairs() -> list[PreferencePair]:
    rng = random.Random(1)

    def text(words: int) -> str:
        return " ".join(rng.choice(_WORDS) for _ in range(words))

    found = []
    for _ in range(_PAIRS):
        given, chosen, rejected = text(40), text(rng.randint(100, 500)), text(rng.randint(100, 500))
        found.append(PreferencePair(text_id(given, chosen), text_id(given), given, chosen, rejected))
    return found
