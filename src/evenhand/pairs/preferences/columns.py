"""Preference pairs of any other shape: the user names the columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from evenhand.errors import InputError
from evenhand.pairs.preferences.format import Format, Sample
from evenhand.pairs.preferences.preference import (
    Preference,
    Winner,
    by_name,
    number_of,
    on_scale_1_to_2,
    signed,
    unknown,
)
from evenhand.pairs.preferences.row import Comparison, Row, compare

SIGNED = "signed"


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns hold what: chosen and rejected, or a, b and a preference between them."""

    input: str | None = None
    a: str | None = None
    b: str | None = None
    preference: str | None = None
    chosen: str | None = None
    rejected: str | None = None
    strength: str | None = None
    values: str | None = None
    """What the values of the preference mean, ``a=0,b=1,tie=2``, or ``signed`` (below 0: a, above 0: b)."""

    def named(self) -> dict[str, str]:
        """Return the columns that were named, under the option that named them."""
        options = ("input", "a", "b", "preference", "chosen", "rejected", "strength")
        return {option: name for option in options if (name := getattr(self, option)) is not None}


@dataclass(frozen=True, slots=True)
class _Meaning:
    signed: bool = False
    words: Mapping[str, Winner] = field(default_factory=dict)


def columns_format(columns: Columns, sample: Sample, source: str) -> Format:
    """Return the format of the columns that were named.

    Raises ``InputError`` where too few are named, or where the preference is a number whose meaning is not said.
    """
    read: Callable[[Row], Iterable[Comparison]]
    named = columns.named()
    sides = {"a", "b", "preference"} & named.keys()
    if {"chosen", "rejected"} <= named.keys() and not sides and columns.values is None:
        read = _ReadChosen(columns)
    elif len(sides) == 3 and not {"chosen", "rejected"} & named.keys():
        meaning = _meaning(columns.values)
        if columns.values is None:
            _refuse_unexplained_numbers(named["preference"], sample, source)
        read = _ReadSides(columns, meaning)
    else:
        raise InputError(
            f"the columns {', '.join(f'--{option} {name}' for option, name in named.items()) or 'named'} are not enough"
            " or too many",
            source=source,
            way_out="give --a, --b and --preference, or --chosen and --rejected; with --input where there is one",
        )
    return Format("columns", "columns named by the user", (tuple(named.values()),), read)


def _meaning(values: str | None) -> _Meaning:
    if values is None:
        return _Meaning()
    if values.strip().lower() == SIGNED:
        return _Meaning(signed=True)
    words: dict[str, Winner] = {}
    winners: dict[str, Winner] = {"a": "a", "b": "b", "tie": "tie"}
    for part in values.split(","):
        winner, equals, word = part.partition("=")
        if not equals or winner.strip().lower() not in winners or not word.strip():
            raise InputError(
                f"is {values!r}", field="--values", way_out="write it as a=0,b=1,tie=2 (leave tie away), or as signed"
            )
        words[_plain(word.strip())] = winners[winner.strip().lower()]
    return _Meaning(words=words)


def _plain(value: object) -> str:
    number = number_of(value)
    return f"{number:g}" if number is not None else str(value).strip()


def _refuse_unexplained_numbers(name: str, sample: Sample, source: str) -> None:
    numbers = {number for row in sample if (number := number_of(row.get(name))) is not None}
    if any(not 1 <= number <= 2 for number in numbers):
        seen = ", ".join(f"{number:g}" for number in sorted(numbers)[:8])
        raise InputError(
            f"holds the numbers {seen}, which can mean different things",
            source=source,
            field=name,
            way_out="say what they mean, --values a=0,b=1 (or a=1,b=2,tie=0), or --values signed for below 0: a",
        )


def _given(columns: Columns, row: Row) -> str | None:
    return row.text(columns.input) if columns.input is not None else None


def _with_strength(columns: Columns, row: Row, by: Preference) -> Preference:
    if columns.strength is None:
        return by
    strength = row.number(columns.strength)
    return replace(by, strength=abs(strength) if strength and by.winner != "tie" else None)


@dataclass(frozen=True, slots=True)
class _ReadSides:
    columns: Columns
    meaning: _Meaning

    def __call__(self, row: Row) -> Iterator[Comparison]:
        a, b = self.columns.a or "", self.columns.b or ""
        by = _with_strength(self.columns, row, self._preference(row))
        yield compare(_given(self.columns, row), row.side(a), row.side(b), by)

    def _preference(self, row: Row) -> Preference:
        name = self.columns.preference or ""
        value = row.value(name)
        if self.meaning.signed:
            return signed(value, name, limit=float("inf"))
        if self.meaning.words:
            word = "" if value is None else _plain(value)
            if word not in self.meaning.words:
                raise unknown(value, name, ", ".join(self.meaning.words))
            return Preference(self.meaning.words[word])
        number = number_of(value)
        if number is not None and 1 <= number <= 2:
            return on_scale_1_to_2(number, name)
        by = by_name(value, {self.columns.a or "": "a", self.columns.b or "": "b"})
        if by is None:
            raise unknown(value, name, f"{self.columns.a}, {self.columns.b}, model_a, A>B, 1, 2, tie; see --values")
        return by


@dataclass(frozen=True, slots=True)
class _ReadChosen:
    columns: Columns

    def __call__(self, row: Row) -> Iterator[Comparison]:
        by = _with_strength(self.columns, row, Preference("a"))
        chosen, rejected = row.side(self.columns.chosen or ""), row.side(self.columns.rejected or "")
        yield compare(_given(self.columns, row), chosen, rejected, by)
