"""Grading one instrument after another, so that its prefix is cached, against prompts that share none."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

from bench.clock import seconds
from evenhand.graders import ask_all
from evenhand.instruments import Request, builtin_instruments
from evenhand.models import ModelRole, open_model
from evenhand.pairs import builtin_pairs
from evenhand.pairs.paired_prompt import Letter

_LETTERS: tuple[Letter, ...] = ("a", "b")


def run() -> Iterator[str]:
    """Measure 12 refusal questions on the small embedded grader."""
    pairs = builtin_pairs("us")[:6]
    responses = {(pair.pair_id, letter): f"Gladly. {pair.prompt(letter)}" for pair in pairs for letter in _LETTERS}
    asked = [q.requests[0] for q in ask_all(builtin_instruments("compact"), pairs, responses)]
    shared = [request for request in asked if "Refuses:" in request.prompt]
    model = open_model("qwen2.5-coder-0.5b", ModelRole.GRADER)

    async def every(requests: list[Request]) -> None:
        for request in requests:
            await model.answer(request)

    asyncio.run(every(shared[:1]))
    one = seconds(lambda: asyncio.run(every(shared)), 1)
    other = seconds(
        lambda: asyncio.run(every([replace(r, prompt=f"{n}. {r.prompt}") for n, r in enumerate(shared)])), 1
    )
    model.close()
    yield (
        f"embedded grader, {len(shared)} refusal questions: {one:.1f} s with the prefix shared, {other:.1f} s with"
        f" whole prompts; {other / one:.1f} times faster"
    )
