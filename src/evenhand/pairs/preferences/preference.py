"""Which of two outputs is preferred, in the notations that data sets use."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evenhand.pairs.preferences.conversation import shown
from evenhand.pairs.preferences.problem import ProblemKind, RowFaultError

Winner: TypeAlias = Literal["a", "b", "tie"]


@dataclass(frozen=True, slots=True)
class Preference:
    """The output that won, and how strongly."""

    winner: Winner
    strength: float | None = None
    """Above 0, in the unit of the data; None where the data do not say, and for a tie."""


_ENDS = {"a": "a", "1": "a", "first": "a", "left": "a", "b": "b", "2": "b", "second": "b", "right": "b"}
_NOUNS = r"(?:model|response|output|text|assistant|answer|completion|conversation|winner|option|side)"
_NAMED = re.compile(rf"(?:{_NOUNS} ?)?(a|b|1|2|first|second|left|right)")
_TIES = {"tie", "ties", "draw", "equal", "same", "both", "neither", "a=b", "b=a"}
_TIED = re.compile(r"(?:tie|both) ?(?:\((?:both ?bad|inconsistent)\)|bad|good)")


def by_name(value: object, names: Mapping[str, Winner] | None = None) -> Preference | None:
    """Return the preference that a word states, or None where it states none.

    Args:
        value: such as ``model_a``, ``A>B``, ``tie (bothbad)``, ``Response 2``.
        names: further words and what they mean; they go before the rest, and are compared to the letter.

    >>> by_name("A>B"), by_name("tie (bothbad)"), by_name("model_c")
    (Preference(winner='a', strength=None), Preference(winner='tie', strength=None), None)
    """
    if not isinstance(value, str):
        return None
    if names and value.strip() in names:
        return Preference(names[value.strip()])
    word = re.sub(r"[\s_-]+", " ", value.strip().lower())
    order = re.fullmatch(r"([ab]) ?(?:>|>>) ?([ab])", word)
    if order and order[1] != order[2]:
        return Preference("a" if order[1] == "a" else "b")
    if word.replace(" ", "") in _TIES or _TIED.fullmatch(word):
        return Preference("tie")
    named = _NAMED.fullmatch(word)
    if named:
        return Preference("a" if _ENDS[named[1]] == "a" else "b")
    return None


def number_of(value: object) -> float | None:
    """Return a finite number, also one that is written as text; None for anything else, and for a boolean.

    >>> number_of("2.0"), number_of(True), number_of("nan")
    (2.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def by_code(value: object, field: str, codes: Mapping[float, Winner]) -> Preference:
    """Return the preference that a number states; raises ``RowFaultError`` for one that is not among the codes."""
    number = number_of(value)
    if number is None or number not in codes:
        raise unknown(value, field, ", ".join(f"{code:g} ({winner})" for code, winner in codes.items()))
    return Preference(codes[number])


def on_scale_1_to_2(value: object, field: str) -> Preference:
    """Return the preference of 1 (a) to 2 (b), where 1.5 (or 0) is a tie; its strength is 2 |value - 1.5|.

    >>> on_scale_1_to_2(1.25, "preference")
    Preference(winner='a', strength=0.5)
    """
    number = number_of(value)
    if number is None or not (1 <= number <= 2 or number == 0):
        raise unknown(value, field, "1 (a) to 2 (b), 1.5 or 0 (tie)")
    if number in {0.0, 1.5}:
        return Preference("tie")
    return Preference("a" if number < 1.5 else "b", 2 * abs(number - 1.5))


def signed(value: object, field: str, limit: float = 3) -> Preference:
    """Return the preference of a signed strength: below 0 for a, above 0 for b, 0 for a tie.

    >>> signed(-2, "preference_strength")
    Preference(winner='a', strength=2.0)
    """
    number = number_of(value)
    if number is None or abs(number) > limit:
        raise unknown(value, field, f"-{limit:g} to {limit:g}")
    if number == 0:
        return Preference("tie")
    return Preference("a" if number < 0 else "b", abs(number))


def unknown(value: object, field: str, known: str) -> RowFaultError:
    """Return the fault of a preference that joins to nothing."""
    if value is None or value == "":
        return RowFaultError(ProblemKind.NULL, f"{field} is empty where a preference should be")
    return RowFaultError(
        ProblemKind.UNKNOWN_PREFERENCE, f"{field} is {shown(value)}, which is none of its values ({known})"
    )
