"""The validity cards that an audit quotes: those of the package, and those that the user gives."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.graders.fitted import BUILTIN_GRADERS, FittedCard
from evenhand.graders.fitted.judging import FITTED
from evenhand.report.packaged_cards import best_cards, of_versions, packaged_cards
from evenhand.report.plain_values import from_plain
from evenhand.report.quoted_card import PACKAGED, QuotedCard
from evenhand.report.validity_card import ValidityCard

VALIDATION = "validation.json"
"""The file of a validation's cards in its folder."""
_WAY_OUT = "make it with `evenhand validate --out FOLDER` and give FOLDER/validation.json"


@dataclass(frozen=True, slots=True)
class GivenCards:
    """The cards in a file of the user's."""

    file: str
    sha256: str
    cards: tuple[ValidityCard, ...]


@dataclass(frozen=True, slots=True)
class _Graded:
    """A grader with its instruments, as a record describes it, by all that a card may know it by."""

    name: str
    set_name: str
    reading: str
    versions: Mapping[str, str]
    """Of the instruments."""
    names: frozenset[str]
    identities: frozenset[str]

    @classmethod
    def of(cls, grading: Mapping[str, Any]) -> "_Graded":
        grader, instruments = grading["grader"], grading["instruments"]
        parts = [FittedCard.from_json(card) for card in grader.get(FITTED, ())]
        own = {f"{FITTED} {card.name} {card.weights_sha256}" for card in parts}
        return cls(
            name=grader["name"],
            set_name=instruments["set"],
            reading=grading["reading"]["mode"],
            versions=instruments["versions"],
            names=frozenset({grader["name"], *(_part_name(grader["name"], card) for card in parts)}),
            identities=frozenset({grader["identity"], *own}),
        )

    def knows(self, card: ValidityCard) -> bool:
        return card.identity in self.identities

    def fits(self, card: ValidityCard) -> bool:
        return self.knows(card) and card.reading == self.reading and of_versions(card, self.versions)


def read_given_cards(paths: Sequence[Path]) -> tuple[GivenCards, ...]:
    """Return the cards in files of validations, or in their folders; raises ``InputError`` that names the file."""
    return tuple(_read(path / VALIDATION if path.is_dir() else path) for path in paths)


def with_validity(
    gradings: Sequence[Mapping[str, Any]], given: Sequence[GivenCards] = (), *, keep: bool = False
) -> list[dict[str, Any]]:
    """Return what a record says of graders, with what their validity cards say, a card a measure, under ``validity``.

    Cards that are given go before those of the package.

    Args:
        gradings: of a record.
        given: cards of the user's.
        keep: leave what is quoted already, and only put the given cards in its place.

    Raises:
        InputError: a given file speaks of no grader of the run, or of one with other instruments.
    """
    described = [_Graded.of(grading) for grading in gradings]
    for one in given:
        _check(one, described)
    found = []
    for grading, graded in zip(gradings, described, strict=True):
        quoted = {card.measure: card for card in (quoted_cards(grading) if keep else _packaged(grading, graded))}
        for one in given:
            fitting = best_cards(tuple(card for card in one.cards if graded.fits(card)))
            quoted |= {measure: QuotedCard.of_card(card, one.file, one.sha256) for measure, card in fitting.items()}
        found.append({**grading, "validity": [asdict(card) for card in quoted.values()]})
    return found


def quoted_cards(grading: Mapping[str, Any]) -> tuple[QuotedCard, ...]:
    """Return the cards that a record quotes of a grader."""
    return tuple(from_plain(QuotedCard, card) for card in grading.get("validity", ()))


def _packaged(grading: Mapping[str, Any], graded: _Graded) -> Iterator[QuotedCard]:
    names = sorted(graded.names)
    cards = tuple(
        card for name in names for card in packaged_cards(name, graded.versions) if card.reading == graded.reading
    )
    yield from (QuotedCard.of_card(card, PACKAGED) for card in best_cards(cards).values())
    # The figures that came with the weights are of rows held out by group: they go before cards of the same measure.
    for values in grading["grader"].get(FITTED, ()):
        card = FittedCard.from_json(values)
        quoted = QuotedCard.of_fitted(card, _part_name(graded.name, card))
        if quoted is not None:
            yield quoted


def _part_name(name: str, card: FittedCard) -> str:
    """Return the name of one of several fitted graders that are used under one name."""
    return f"{FITTED}:{card.name}" if name == f"{FITTED}:builtin" and card.name in BUILTIN_GRADERS else name


def _check(given: GivenCards, described: Sequence[_Graded]) -> None:
    fits = False
    for card in given.cards:
        known = [graded for graded in described if graded.knows(card)]
        if any(graded.fits(card) for graded in known):
            fits = True
            continue
        if known:
            same = any(graded.reading == card.reading for graded in known)
            raise InputError(
                f"{card.measure} of {card.grader}: "
                + (
                    f"the card is of other instruments than {', '.join(graded.set_name for graded in known)}"
                    if same
                    else f"the card was read as {card.reading}, and the audit as {known[0].reading}"
                ),
                source=given.file,
                field="--card",
                way_out="validate the grader as it is asked here: `evenhand validate`",
            )
    if not fits:
        graders = ", ".join(dict.fromkeys(card.grader for card in given.cards))
        here = ", ".join(dict.fromkeys(graded.name for graded in described))
        same_name = any(card.grader in graded.names for card in given.cards for graded in described)
        why = "by that name, with other weights, provider or settings" if same_name else f"and the run's are {here}"
        raise InputError(
            f"is of another grader: {graders}, {why}",
            source=given.file,
            field="--card",
            way_out="give the card of a grader of this run, or leave --card away",
        )


def _read(file: Path) -> GivenCards:
    try:
        content = file.read_bytes()
        values = json.loads(content)
        cards = tuple(ValidityCard.from_json(card) for card in values["cards"])
    except OSError as error:
        raise InputError(
            f"can't be read ({error.strerror or error})", source=str(file), field="--card", way_out=_WAY_OUT
        ) from error
    except InputError as error:
        raise InputError(error.problem, source=str(file), field="--card", way_out=error.way_out) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"holds no validity cards ({type(error).__name__}: {error})",
            source=str(file),
            field="--card",
            way_out=_WAY_OUT,
        ) from error
    if not cards:
        raise InputError("holds no validity cards", source=str(file), field="--card", way_out=_WAY_OUT)
    return GivenCards(file.name, hashlib.sha256(content).hexdigest(), cards)
