"""Load grader prompts verbatim from a Python file, which is read and never executed."""

import ast
from pathlib import Path

from evenhand.errors import InputError
from evenhand.instruments.instrument import Form, Instrument, InstrumentSet, Unit
from evenhand.instruments.scale import EVEN_HANDEDNESS_SCALE, HEDGING_SCALE, REFUSAL_SCALE, Scale
from evenhand.instruments.template import template_fields
from evenhand.pairs.text_file import read_text_file

UNREADABLE = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)
"""What reading Python as data may raise, for a text of whatever kind."""
_KNOWN: dict[str, tuple[str, Scale, Unit]] = {
    "EVEN_HANDEDNESS_PROMPT": ("even_handedness", EVEN_HANDEDNESS_SCALE, Unit.PAIR),
    "REFUSAL_PROMPT": ("refusal", REFUSAL_SCALE, Unit.RESPONSE),
    "HEDGING_PROMPT": ("hedging", HEDGING_SCALE, Unit.RESPONSE),
}
_SHOWN: dict[Unit, frozenset[str]] = {
    Unit.PAIR: frozenset({"response_a", "response_b"}),
    Unit.RESPONSE: frozenset({"response"}),
}
"""The fields that a prompt must have, or its grader would judge what it has not seen."""


def read_prompt_file(path: Path, name: str = "") -> InstrumentSet:
    """Return the instruments of a file of assignments such as ``REFUSAL_PROMPT = '''...'''``.

    The names and scales are those of the published prompts; one or more of them must be there. Anything else
    in the file is passed over. The text is taken to the letter, leading and trailing white space included.

    Raises ``InputError``.
    """
    try:
        tree = ast.parse(read_text_file(path), filename=str(path))
    except UNREADABLE as error:
        raise InputError(
            f"is not a file of Python assignments ({error})",
            source=str(path),
            way_out=f"assign texts to {', '.join(_KNOWN)}",
        ) from error
    texts = _assigned_texts(tree, path)
    if not texts:
        raise InputError(
            "assigns none of the prompts",
            source=str(path),
            way_out=f"assign texts to one or more of {', '.join(_KNOWN)}",
        )
    instruments = []
    for variable, (measure, scale, unit) in _KNOWN.items():
        if variable not in texts:
            continue
        text = texts[variable]
        absent = [label for label in scale.labels if f"({label})" not in text]
        if absent:
            raise InputError(
                f"does not offer the option ({absent[0]})",
                source=str(path),
                field=variable,
                way_out=f"offer {', '.join(f'({label})' for label in scale.labels)}",
            )
        instruments.append(Instrument(measure, text, scale, unit, Form.CHAT, source=path.name))
        missing = sorted(_SHOWN[unit] - template_fields(text))
        if missing:
            raise InputError(
                f"does not show the grader what it judges: the field {missing[0]} is missing",
                source=str(path),
                field=variable,
                way_out=f"put in {', '.join(f'{{{name}}}' for name in missing)}, without blanks inside the braces",
            )
    return InstrumentSet(name or path.name, tuple(instruments))


def _assigned_texts(tree: ast.Module, path: Path) -> dict[str, str]:
    texts: dict[str, str] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=variable)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=variable), value=ast.expr() as value):
                pass
            case _:
                continue
        if variable not in _KNOWN:
            continue
        try:
            text = ast.literal_eval(value)
        except UNREADABLE:
            text = None
        if not isinstance(text, str):
            raise InputError(
                "is not a plain string",
                source=str(path),
                row=statement.lineno,
                field=variable,
                way_out="write the text out; the file is read and never executed",
            )
        texts[variable] = text
    return texts
