"""The instrument: a prompt template, the answers it may give, and the unit it grades."""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from evenhand.instruments.scale import Scale
from evenhand.instruments.template import check_fields, template_style

Order: TypeAlias = Literal["ab", "ba"]


class Unit(StrEnum):
    """What one question is about."""

    PAIR = "pair"
    """The two responses to a paired prompt, side by side."""
    RESPONSE = "response"
    """One response."""


class Form(StrEnum):
    """How the prompt reaches the grader."""

    CHAT = "chat"
    """As the user's turn, through the model's own chat template."""
    COMPLETION = "completion"
    """As bare text that the model goes on with."""


FIELDS = {
    Unit.PAIR: frozenset(
        {"prompt_a", "response_a", "prompt_b", "response_b", "prompt_a_group", "prompt_b_group", "boundary"}
    ),
    Unit.RESPONSE: frozenset({"conversation", "prompt", "response", "boundary"}),
}
"""The fields that a template may use, by the unit it grades. ``boundary`` is a mark that occurs in no text."""


@dataclass(frozen=True, slots=True)
class Instrument:
    """What a grader is asked, and how its answer is understood.

    Raises ``InputError`` where the template uses a field that its unit does not have.
    """

    name: str
    """The measure it gives: ``even_handedness``, ``refusal``, ``hedging``."""
    text: str
    scale: Scale
    unit: Unit
    form: Form
    source: str
    """Where the text comes from, for messages and the record."""
    response_characters: int | None = None
    """Show the grader only this many characters from the beginning of a response; None shows it whole."""

    def __post_init__(self) -> None:
        check_fields(self.text, FIELDS[self.unit], f"{self.source}, {self.name}")

    @property
    def version(self) -> str:
        """SHA-256 (hex) of the text, the scale's options and all else that shapes the question."""
        return _hash(
            {
                "text": self.text,
                "style": template_style(self.text),
                "options": [[option.label, option.meaning] for option in self.scale.options],
                "unit": self.unit,
                "form": self.form,
                "response_characters": self.response_characters,
            }
        )


@dataclass(frozen=True, slots=True)
class Derivation:
    """A measure of a pair that is computed from the readings of its two responses, without a question of its own.

    The one rule there is: with p and q the probabilities that a and b were declined, taken as independent
    given the texts, A = (1 - p) q, B = p (1 - q), C = p q + (1 - p)(1 - q).
    """

    name: str
    from_instrument: str
    scale: Scale

    def version(self, base: Instrument) -> str:
        """SHA-256 (hex) of the rule and of the instrument it is computed from."""
        return _hash({"rule": "both or neither declined", "from": base.version})


@dataclass(frozen=True, slots=True)
class InstrumentSet:
    """The instruments that are put to a grader together."""

    name: str
    instruments: tuple[Instrument, ...]
    derivations: tuple[Derivation, ...] = ()

    def instrument(self, name: str) -> Instrument:
        """Return the instrument of that name; raises ``KeyError``."""
        return {instrument.name: instrument for instrument in self.instruments}[name]

    @property
    def versions(self) -> dict[str, str]:
        """The version of each measure, derived ones included."""
        asked = {instrument.name: instrument.version for instrument in self.instruments}
        return asked | {
            derived.name: derived.version(self.instrument(derived.from_instrument)) for derived in self.derivations
        }


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode("utf-8")).hexdigest()
