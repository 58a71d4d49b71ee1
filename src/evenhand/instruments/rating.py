"""The rating instrument: to what extent a question holds of an output, from 0 to 10."""

import ast
import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path

from evenhand.errors import InputError
from evenhand.instruments.instrument import Form
from evenhand.instruments.prompt_file import UNREADABLE
from evenhand.instruments.template import check_fields, template_fields, template_style
from evenhand.pairs.text_file import read_text_file

LOWEST, HIGHEST, IMPOSSIBLE = 0, 10, -1
"""The scale, and what a grader gives where a question can't be answered."""


BUILTIN_RATING = ("rating", "compact")
"""The built-in instruments: for capable graders, and for small ones."""


class Protocol(StrEnum):
    """What the grader is told of the two outputs."""

    BLIND = "blind"
    """Both outputs under neutral names, in both orders."""
    LABELLED = "labelled"
    """Under the names CHOSEN and REJECTED, the chosen one first, as published: the grader is told the answer."""
    SINGLE = "single"
    """One output a call."""
    LABEL_SWAP = "label_swap"
    """A probe: labelled, with the two names exchanged."""


_FIELDS = {
    Protocol.BLIND: {"first", "second"},
    Protocol.LABELLED: {"chosen", "rejected"},
    Protocol.SINGLE: {"output"},
}
_COMMON = {"input", "question", "boundary"}


@dataclass(frozen=True, slots=True)
class RatingInstrument:
    """A prompt that asks for ratings as JSON (chat), or for Yes or No on one output (completion).

    A completion's rating is 10 times the probability of Yes.

    Raises ``InputError`` where the template uses a field that its protocol does not have.
    """

    text: str
    protocol: Protocol
    form: Form
    source: str
    keys: tuple[str, ...]
    """Names of the ratings in the JSON, in the order of the outputs; empty for a completion."""

    def __post_init__(self) -> None:
        fields = {"output", "label"} if self.form is Form.COMPLETION else _FIELDS[self.protocol]
        check_fields(self.text, fields | _COMMON, f"{self.source}, {self.protocol}")

    @property
    def one_output(self) -> bool:
        """A call rates one output, not both."""
        return self.form is Form.COMPLETION or self.protocol is Protocol.SINGLE

    @property
    def version(self) -> str:
        """SHA-256 (hex) of the text and of all else that shapes the question."""
        shape = [self.text, template_style(self.text), self.protocol, self.form, list(self.keys)]
        return hashlib.sha256(json.dumps(shape, ensure_ascii=False).encode("utf-8")).hexdigest()


def rating_instrument(name: str, protocol: Protocol) -> RatingInstrument:
    """Return the built-in instrument ``rating`` or ``compact`` under a protocol, or the prompt of a file.

    A file holds one string, bare or assigned, with the fields input, chosen, rejected and question; it is read and
    never executed, and its protocol is ``labelled``. A label swap is put with the labelled text.

    Raises ``InputError``.
    """
    told = Protocol.LABELLED if protocol is Protocol.LABEL_SWAP else protocol
    if name == "rating":
        return RatingInstrument(_text(told), told, Form.CHAT, name, _KEYS[told])
    if name == "compact":
        if told is Protocol.SINGLE:
            told = Protocol.BLIND
        return RatingInstrument(_text(f"compact_{told}"), told, Form.COMPLETION, name, ())
    path = Path(name)
    if not path.suffix and not path.exists():
        raise InputError(
            f"there is no rating instrument {name!r}",
            field="--instrument",
            way_out="use rating, compact, or the path of a prompt file",
        )
    if told is not Protocol.LABELLED:
        raise InputError(
            f"can't be put {told}: it names the outputs chosen and rejected",
            source=name,
            field="--protocol",
            way_out="use --protocol labelled, or --instrument rating",
        )
    return RatingInstrument(_prompt_of_file(path), told, Form.CHAT, path.name, _KEYS[told])


_KEYS: dict[Protocol, tuple[str, ...]] = {
    Protocol.BLIND: ("first_rating", "second_rating"),
    Protocol.LABELLED: ("chosen_rating", "rejected_rating"),
    Protocol.SINGLE: ("rating",),
}


def _text(name: str) -> str:
    return resources.files("evenhand.instruments").joinpath("texts", "rating", f"{name}.txt").read_text("utf-8")


def _prompt_of_file(path: Path) -> str:
    try:
        tree = ast.parse(read_text_file(path), filename=str(path))
    except UNREADABLE as error:
        raise InputError(
            f"is not a Python string ({error})", source=str(path), way_out='put the prompt into """ marks'
        ) from error
    needed = {"input", "chosen", "rejected", "question"}
    for statement in tree.body:
        if isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign) and statement.value is not None:
            try:
                text = ast.literal_eval(statement.value)
            except UNREADABLE:
                continue
            if isinstance(text, str) and needed <= _fields_of(text, path):
                return text
    raise InputError(
        "has no string with the fields input, chosen, rejected and question",
        source=str(path),
        way_out="write the prompt out as one string with those fields",
    )


def _fields_of(text: str, path: Path) -> frozenset[str]:
    try:
        return template_fields(text)
    except InputError as error:
        raise InputError(error.problem, source=str(path), way_out=error.way_out) from error
