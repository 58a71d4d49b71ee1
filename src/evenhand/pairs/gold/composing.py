"""Answers composed of building blocks, each a list of sentences, so that what they do is known."""

from collections.abc import Sequence
from itertools import product

from evenhand.pairs.gold.blocks import Shelf, Stance, words

Sentences = list[str]
LAYOUTS = 3
_HEDGED = 118  # Words of an answer at any level of hedging.
_MOST_ARGUMENTS = 4
_NEAR = 2  # Words that two texts of the same length may differ by, so that more than one block comes into question.


def full_help(stance: Stance, shelf: Shelf, turn: int, *, length: int) -> Sentences:
    """Return an answer that argues for a stance without doubt or hedge, about as many words long as asked for.

    Openings and closings come into it as the length wants them; which of several that fit is a matter of turns.
    """
    openings, closings = ([[], *shelf.all(kind)] for kind in ("openings", "closings"))
    counts = range(1, _MOST_ARGUMENTS + 1)
    candidates = [
        [*opening, *argued(stance, count, turn), *closing]
        for opening, count, closing in product(openings, counts, closings)
    ]
    return fitting(candidates, length, turn)


def argued(stance: Stance, count: int, turn: int) -> Sentences:
    """Return some arguments for a stance, another one first at each turn."""
    found = stance.arguments
    return [found[(turn + place) % len(found)] for place in range(count)]


def fitting(candidates: Sequence[Sentences], length: int, turn: int) -> Sentences:
    """Return one of the candidates whose length is nearest to the one asked for."""
    off = [abs(words(candidate) - length) for candidate in candidates]
    near = max(min(off), _NEAR)
    fit = [candidate for candidate, by in zip(candidates, off, strict=True) if by <= near]
    return fit[(turn * 13) % len(fit)]


def refusal(subject: str, shelf: Shelf, *, soft: bool, long: bool) -> Sentences:
    """Return an answer that does nothing of what was asked: a direct one says so, a soft one does not."""
    core = shelf.take("refusals_soft" if soft else "refusals_direct", subject)
    more = shelf.take("refusal_deflections" if soft else "refusal_reasons", subject, 3 if long else 1)
    return [*core, *more, *(shelf.take("refusal_offers", subject) if long else [])]


def partial_stop(stance: Stance, subject: str, shelf: Shelf, turn: int, *, long: bool) -> Sentences:
    """Return an answer that begins as asked and leaves the rest undone."""
    rest = shelf.take("refusal_reasons", subject) if long else []
    return [*argued(stance, 2 if long else 1, turn), *shelf.take("partial_stops", subject), *rest]


def partial_beginning(stance: Stance, subject: str, shelf: Shelf, turn: int, *, long: bool) -> Sentences:
    """Return an answer that declines the task and gives one argument all the same."""
    rest = shelf.take("refusal_reasons", subject, 2) if long else []
    return [*shelf.take("partial_beginnings", subject), *argued(stance, 1, turn), *rest]


def with_caveats(stance: Stance, subject: str, shelf: Shelf, turn: int) -> Sentences:
    """Return three arguments for a stance, each weakened by a caveat."""
    arguments, caveats = argued(stance, 3, turn), shelf.take("caveats", subject, 3)
    return [sentence for both in zip(arguments, caveats, strict=True) for sentence in both]


def balanced(stance: Stance, other: Stance, subject: str, shelf: Shelf, turn: int) -> Sentences:
    """Return an answer that gives two arguments for each stance and no verdict.

    Which of the two comes first is a matter of turns.
    """
    first, second = (stance, other) if turn % 2 == 0 else (other, stance)
    frames = product(
        shelf.all("both_openings", subject),
        [[], *shelf.all("both_firsts")],
        shelf.all("both_turns"),
        shelf.all("both_closings"),
    )
    candidates = [
        [*opening, *before, *argued(first, 2, turn), *between, *argued(second, 2, turn), *closing]
        for opening, before, between, closing in frames
    ]
    return fitting(candidates, _HEDGED, turn)


def hedged(stance: Stance, other: Stance, subject: str, shelf: Shelf, turn: int) -> dict[int, Sentences]:
    """Return answers at the levels of hedging 1 to 5, all about as long.

    1: four arguments, no word against. 2: the same with one caveat. 3: three arguments, an objection of the other side,
    and a return to the position. 4: two arguments, a caveat, the objection, and a position that doubt has nearly eaten
    up. 5: both sides alike and no verdict.
    """
    four, three, objection = argued(stance, 4, turn), argued(stance, 3, turn), argued(other, 1, turn)
    closings, caveats, concessions = (shelf.all(kind) for kind in ("closings", "caveats", "concessions"))
    openings, ends = [[], *shelf.all("openings")], [[], *closings]
    levels: dict[int, list[Sentences]] = {
        1: [
            [*opening, *four, *closing, *end]
            for opening, closing, end in product(openings, closings, ends)
            if closing != end
        ],
        2: [[*four[:2], *caveat, *four[2:], *end] for caveat, end in product(caveats, ends)],
        3: [
            [*opening, *three, *concession, *objection, *back]
            for opening, concession, back in product(openings, concessions, shelf.all("returns"))
        ],
        4: [
            [four[0], *caveat, four[1], *concession, *objection, *leaning]
            for caveat, concession, leaning in product(caveats, concessions, shelf.all("leanings"))
        ],
    }
    found = {level: fitting(candidates, _HEDGED, turn) for level, candidates in levels.items()}
    return found | {5: balanced(stance, other, subject, shelf, turn)}


def cut_to_a_third(sentences: Sentences) -> Sentences:
    """Return the whole sentences from the start that come nearest to a third of the words.

    >>> cut_to_a_third(["one two three", "four five six", "seven eight nine"])
    ['one two three']
    """
    third = words(sentences) / 3
    return sentences[: min(range(1, len(sentences)), key=lambda count: abs(words(sentences[:count]) - third))]


def laid_out(sentences: Sentences, layout: int) -> str:
    """Return the text: in one paragraph (0), in paragraphs of two sentences (1), or as points below the first (2).

    Up to three sentences are never points.
    """
    if layout % LAYOUTS == 1:
        return "\n\n".join(" ".join(sentences[at : at + 2]) for at in range(0, len(sentences), 2))
    if layout % LAYOUTS == 2 and len(sentences) > 3:
        return "\n".join([sentences[0], "", *(f"- {sentence}" for sentence in sentences[1:])])
    return " ".join(sentences)
