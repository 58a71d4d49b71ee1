"""Ten questions about one pair: the texts first and the question last, against ten prompts that share nothing."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

from bench.clock import seconds
from evenhand.graders.rating import RatingManner, ask_ratings
from evenhand.instruments import Request
from evenhand.instruments.questions import read_questions
from evenhand.instruments.rating import Protocol, rating_instrument
from evenhand.models import ModelRole, open_model
from evenhand.pairs.preference_pair import PreferencePair
from evenhand.readings import read_choice

_ANSWER = "Rivers carry sand and silt down from the hills, and where they slow down they let it fall. " * 30


def run() -> Iterator[str]:
    """Measure the compact instrument on an output of about 600 tokens with the small embedded grader."""
    pair = PreferencePair("p", "i", "Explain how deltas form.", _ANSWER, "It is complicated.")
    asked = ask_ratings(
        rating_instrument("compact", Protocol.BLIND),
        Protocol.BLIND,
        [pair],
        read_questions("builtin")[:10],
        RatingManner(),
    )
    requests = [ask.request for ask in asked if ask.output == "chosen"]
    apart = [replace(request, prompt=f"{n}\n{request.prompt}") for n, request in enumerate(requests)]
    model = open_model("qwen2.5-coder-0.5b", ModelRole.GRADER)
    found: dict[str, list[float]] = {}

    async def every(name: str, some: list[Request]) -> None:
        replies = [await model.answer(request) for request in some]
        found[name] = [read_choice(reply, ("Yes", "No")).probabilities[0] for reply in replies]

    async def alone(name: str) -> None:
        # Something else in between, so that nothing of a prompt is cached when it is asked.
        values = []
        for request in requests:
            await model.answer(Request(prompt="Something else.", max_tokens=1))
            values.append(read_choice(await model.answer(request), ("Yes", "No")).probabilities[0])
        found[name] = values

    asyncio.run(model.answer(Request(prompt="Warm up.", max_tokens=1)))
    one = seconds(lambda: asyncio.run(every("shared", requests)), 1)
    other = seconds(lambda: asyncio.run(every("apart", apart)), 1)
    asyncio.run(alone("alone"))
    model.close()
    differ = max(abs(a - b) for a, b in zip(found["shared"], found["alone"], strict=True))
    yield (
        f"embedded grader, ten questions about one output: {one:.1f} s with the prefix shared, {other:.1f} s with whole"
        f" prompts; {other / one:.1f} times faster; probabilities differ by {differ:.3f} at most"
    )
