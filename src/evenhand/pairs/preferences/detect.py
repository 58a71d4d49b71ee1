"""Which format a file is in, and why we think so."""

import difflib
from collections.abc import Sequence

from evenhand.errors import InputError
from evenhand.pairs.preferences import (
    alpaca,
    autoj,
    helpsteer2,
    helpsteer3,
    hh_rlhf,
    icai,
    judgebench,
    llmbar,
    lmarena,
    pandalm,
    rewardbench,
    rewardbench2,
    trl,
    ultrafeedback,
)
from evenhand.pairs.preferences.format import Format, Sample, columns_of

FORMATS: dict[str, Format] = {
    room.FORMAT.name: room.FORMAT
    for room in (
        icai,
        helpsteer3,
        helpsteer2,
        judgebench,
        pandalm,
        autoj,
        lmarena,
        llmbar,
        rewardbench2,
        rewardbench,
        ultrafeedback,
        alpaca,
        hh_rlhf,
        trl,  # It needs the fewest columns and so comes last.
    )
}
"""Every known format by name, in the order in which they are tried."""

_WAY_OUT = (
    "name the columns, as in --input prompt --a response_a --b response_b --preference winner,"
    " or --chosen and --rejected"
)


def detect(sample: Sample, source: str) -> tuple[Format, str]:
    """Return the first format whose columns are there and whose values fit, and what told it.

    Raises ``InputError``, with the columns that were found, where there is none.
    """
    columns = columns_of(sample)
    for candidate in FORMATS.values():
        shape = _shape(candidate, columns)
        if shape is None:
            continue
        seen = candidate.also(sample) if candidate.also else ""
        if candidate.also and not seen:
            continue
        return candidate, f"it has the columns {', '.join(shape)}" + (f", and {seen}" if seen else "")
    raise InputError(
        f"is in no format that is known by its columns (it has: {listed(columns)})",
        source=source,
        way_out=f"{_WAY_OUT}; known formats are {', '.join(FORMATS)}",
    )


def named_format(name: str, sample: Sample, source: str) -> Format:
    """Return the format of a name; raises ``InputError`` where there is none, or the file lacks its columns."""
    found = FORMATS.get(name)
    if found is None:
        raise InputError(f"there is no format {name!r}", field="--format", way_out=f"use {', '.join(FORMATS)}")
    columns = columns_of(sample)
    if _shape(found, columns) is None:
        needs = "; or ".join(", ".join(shape) for shape in found.shapes)
        raise InputError(
            f"is not in the format {name}, which needs the columns {needs} (it has: {listed(columns)})",
            source=source,
            way_out=f"leave --format away, or {_WAY_OUT}",
        )
    return found


def require_columns(names: dict[str, str], sample: Sample, source: str) -> None:
    """Raise ``InputError`` for the first option that names a column that no row has."""
    columns = columns_of(sample)
    for option, name in names.items():
        if name not in columns:
            near = difflib.get_close_matches(name, columns, n=1)
            raise InputError(
                f"there is no column {name!r} (there are: {listed(columns)})",
                source=source,
                field=f"--{option}",
                way_out=f"did you mean {near[0]!r}" if near else "name one of these columns",
            )


def listed(columns: Sequence[str]) -> str:
    """Return column names for a message.

    >>> listed(["", "text_a"])
    '(unnamed), text_a'
    """
    return ", ".join(name or "(unnamed)" for name in columns)


def _shape(candidate: Format, columns: Sequence[str]) -> tuple[str, ...] | None:
    return next((shape for shape in candidate.shapes if set(shape) <= set(columns)), None)
