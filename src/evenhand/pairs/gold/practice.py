"""Practice: refusals and help composed of sentences of our own, for fitting alone.

It has many more ways to decline than people's labels show, and no testing half: a figure on texts that were written to
be learned from would say nothing.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import count
from typing import Any

from evenhand.pairs.gold.composing import Sentences, laid_out
from evenhand.pairs.gold.halves import FIT
from evenhand.pairs.gold.item import GoldItem, GoldMeasure

TITLE = "Practice: ways to decline and to help, to be fitted to and not tested on"

_FILES = ("refusals", "premises", "sides")
_HELPS, _REFUSALS, _CORRECTIONS, _SIDES = 8, 6, 6, 16
"""Texts for each request."""


@cache
def read_practice() -> tuple[GoldItem, ...]:
    """Return the refusals and the helpful answers; nothing depends on chance."""
    data = {name: part for file in _FILES for name, part in _toml(f"practice_{file}.toml").items()}
    parts = ("decline", "help", "mistaken", "demanded", "aside")
    shelf = _Shelf({f"{part}.{kind}": data[part][kind] for part in parts for kind in data[part]})
    requests = tuple(item for place, request in enumerate(data["request"]) for item in _items(place, request, shelf))
    premises = tuple(item for place, each in enumerate(data["premise"]) for item in _corrections(place, each, shelf))
    sides = [(each["subject"], side) for each in data["question"] for side in each["side"]]
    return requests + premises + tuple(item for place, each in enumerate(sides) for item in _sides(place, *each, shelf))


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("evenhand.pairs").joinpath("data", name).read_text("utf-8"))


class _Shelf:
    """Sentences of each kind, handed out in turn."""

    def __init__(self, sentences: Mapping[str, Sequence[str]]) -> None:
        self._sentences = sentences
        self._turns = {kind: count() for kind in sentences}

    def take(self, kind: str, subject: str, number: int = 1) -> Sentences:
        found = []
        for _ in range(number):
            known = self._sentences[kind]
            text = known[next(self._turns[kind]) % len(known)]
            capital = subject[:1].upper() + subject[1:]
            for name in ("doing", "about", "subject"):
                text = text.replace(f"{{{name}}}", subject).replace(f"{{{name.capitalize()}}}", capital)
            found.append(text)
        return found


def _items(place: int, request: Mapping[str, Any], shelf: _Shelf) -> Iterator[GoldItem]:
    for turn in range(_REFUSALS):
        # What could do harm is declined with reasons, the rest also by talking of something else.
        kind = ("direct", "impersonal" if request["harm"] else "soft")[turn % 2]
        yield _item(place, request, f"{kind}.{turn}", "full", _refusal(request["doing"], shelf, kind, place + turn))
    if request["help"]:
        for turn in range(_HELPS):
            yield _item(place, request, f"help.{turn}", "none", _help(request, shelf, place, turn))


def _refusal(doing: str, shelf: _Shelf, kind: str, turn: int) -> Sentences:
    if kind == "soft":
        return [*shelf.take("decline.soft", doing), *shelf.take("decline.drift", doing, 1 + turn % 3)]
    first = shelf.take("decline.first" if kind == "direct" else "decline.impersonal", doing)
    # A refusal with nothing after it is the commonest of all, but one that does not say so is rarely that short.
    more = turn % 4 if kind == "direct" else 1 + turn % 3
    return [
        *first,
        *shelf.take("decline.because", doing, more // 2 + (kind == "impersonal")),
        *shelf.take("decline.instead", doing, more % 2),
    ]


def _help(request: Mapping[str, Any], shelf: _Shelf, place: int, turn: int) -> Sentences:
    known = request["help"]
    body = [known[(turn + step) % len(known)] for step in range(1 + (place + turn) % 5)]
    return [
        *shelf.take("help.first", "", turn % 2),
        *body,
        *shelf.take("help.last", "", (turn // 2 + place) % 2),
    ]


def _corrections(place: int, premise: Mapping[str, Any], shelf: _Shelf) -> Iterator[GoldItem]:
    """Yield answers that set right what a question takes for granted."""
    part, label = ("demanded", "full") if premise["harm"] else ("mistaken", "none")
    known = premise["texts"]
    for turn in range(_CORRECTIONS):
        body = [known[(turn + step) % len(known)] for step in range(1 + (place + turn) % 3)]
        texts = [
            *shelf.take(f"{part}.first", premise["about"], int(turn % 3 != 2)),
            *body,
            *shelf.take(f"{part}.last", "", (turn // 2 + place) % 2),
        ]
        yield _item(place, premise, f"{part}.{turn}", label, texts)


def _sides(place: int, subject: str, side: Mapping[str, Any], shelf: _Shelf) -> Iterator[GoldItem]:
    """Yield answers to a request for one side: as many that argue for it as that don't, of lengths that are alike."""
    points = side["points"]
    for turn in range(_SIDES // 2):
        soft, more = turn % 2 == 1, (turn // 2 + place) % 4
        texts = [
            *shelf.take("aside.soft" if soft else "aside.direct", subject),
            *shelf.take("aside.drift" if soft else "aside.reasons", subject, more),
            *shelf.take("aside.offers", subject, int(more > 1 and not soft)),
        ]
        yield _item(place, side, f"{'soft' if soft else 'direct'}.aside.{turn}", "full", texts)
        body = [points[(turn + step) % len(points)] for step in range(1 + (turn + place) % 4)]
        opening, closing = turn % 2, (turn // 2 + place) % 2
        texts = [
            *shelf.take("aside.openings", subject, opening),
            *body,
            *shelf.take("aside.closings", subject, closing),
        ]
        yield _item(place, side, f"help.aside.{turn}", "none", texts)


def _item(place: int, request: Mapping[str, Any], kind: str, label: str, texts: Sentences) -> GoldItem:
    return GoldItem(
        item_id=f"{place}.{kind}",
        measure=GoldMeasure.REFUSAL,
        prompts=(request["prompt"],),
        responses=(laid_out(texts, place + len(texts)),),
        label=label,
        groups={"issue": request["prompt"], "kind": kind.partition(".")[0]},
        split=FIT,
    )
