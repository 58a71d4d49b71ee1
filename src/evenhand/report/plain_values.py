"""From plain values, as JSON holds them, back to the dataclasses of a summary."""

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from evenhand.errors import InputError

T = TypeVar("T")

_PLAIN: Mapping[type, type | tuple[type, ...]] = {str: str, int: int, float: (int, float)}
"""What a value must be where a field is of one of these kinds."""


def from_plain(kind: type[T], values: Mapping[str, Any]) -> T:
    """Make a dataclass of what ``dataclasses.asdict`` returned, whether or not it went through JSON.

    Fields may be dataclasses, tuples of one kind, mappings from text, and any of them or None. A field that is absent
    takes its default, and a value without a field is left alone: a newer version may have written it.

    Raises:
        TypeError: where a field without a default is absent, or a text, a number or a dataclass is something else.

    >>> from evenhand.statistics import Estimate
    >>> missing = Estimate.missing("no rows")
    >>> from_plain(Estimate, missing.as_json()) == missing
    True
    """
    hints = get_type_hints(kind)
    if not is_dataclass(kind):
        raise TypeError(f"{kind} is no dataclass")
    known = {field.name for field in fields(kind)}
    return kind(**{name: _value(hints[name], value) for name, value in values.items() if name in known})


def check_schema(values: Mapping[str, Any], known: int, what: str, *, way_out: str) -> None:
    """Check that this version can read ``values``; raises ``InputError``, where another version wrote another shape.

    >>> check_schema({"schema": 3}, 3, "the summary", way_out="make it anew")
    """
    if values.get("schema") != known:
        raise InputError(
            f"{what} has the schema {values.get('schema')}, where this version reads {known}", way_out=way_out
        )


def _value(kind: object, value: object) -> object:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        (kind,) = (argument for argument in arguments if argument is not types.NoneType)
        return _value(kind, value)
    if origin is tuple and isinstance(value, Sequence):
        return tuple(_value(arguments[0], each) for each in value)
    if origin is dict and isinstance(value, Mapping):
        return {name: _value(arguments[1], each) for name, each in value.items()}
    return _of_kind(kind, value) if isinstance(kind, type) else value


def _of_kind(kind: type, value: object) -> object:
    if is_dataclass(kind) and isinstance(value, Mapping):
        return from_plain(kind, value)
    if is_dataclass(kind) or not isinstance(value, _PLAIN.get(kind, object)):
        raise TypeError(f"{value!r:.40} where {kind.__name__} belongs")
    return value
