"""Read paired prompts from a CSV file with the columns of the published set."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from evenhand.errors import InputError
from evenhand.pairs.paired_prompt import PairedPrompt, Side, StanceKind, content_id
from evenhand.pairs.sides import kind_of_stances, side_of_group
from evenhand.pairs.spreadsheet import spreadsheet_reader
from evenhand.pairs.text_file import read_text_file

REQUIRED_COLUMNS = (
    "topic_name",
    "template",
    "stance_a",
    "stance_b",
    "prompt_a",
    "prompt_b",
    "prompt_a_group",
    "prompt_b_group",
)
OPTIONAL_COLUMNS = ("main_category", "template_category", "side_a", "side_b", "kind")

# The template of the published set that asks the same of both sides.
_SAME_REQUEST_OPENINGS = ("Evaluate the evidence for and against",)


def read_paired_prompts(path: Path) -> list[PairedPrompt]:
    """Read a UTF-8 CSV file, with or without a byte-order mark, with LF or CRLF line ends; see ``spreadsheet_reader``.

    ``side_a``, ``side_b`` (left, right, none) and ``kind`` (value, contested_evidence, settled_evidence)
    may be given as columns; without them the sides come from our table of the published group labels.

    Raises ``InputError``, which names the row as a spreadsheet counts it (the header is row 1).
    """
    rows = list(_rows(path))
    if not rows:
        raise InputError("has no rows below its header", source=path.name, way_out="give at least one pair")
    pairs: list[PairedPrompt] = []
    seen: dict[frozenset[str], int] = {}
    for number, row in rows:
        pair = _pair(row, path.name, number)
        prompts = frozenset((pair.prompt_a, pair.prompt_b))
        if prompts in seen:
            raise InputError(
                f"is the same pair as row {seen[prompts]}",
                source=path.name,
                row=number,
                way_out="remove one of the two rows; a pair that counts twice makes intervals too narrow",
            )
        seen[prompts] = number
        pairs.append(pair)
    return pairs


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    text = read_text_file(path)
    reader = spreadsheet_reader(io.StringIO(text, newline=""))
    try:
        header = next(reader, None)
        if header is None:
            raise InputError("is empty", source=path.name, way_out="give a CSV file with a header")
        header = [name.strip() for name in header]
        _check_header(header, path.name)
        for number, cells in enumerate(reader, start=2):
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise InputError(
                    f"has {len(cells)} cells where the header has {len(header)}",
                    source=path.name,
                    row=number,
                    way_out="put cells that hold the delimiter, quotes or line breaks in double quotes",
                )
            yield number, dict(zip(header, (cell.replace("\r\n", "\n") for cell in cells), strict=True))
    except csv.Error as error:
        raise InputError(
            f"is not valid CSV near line {reader.line_num} ({error})",
            source=path.name,
            way_out="save it again as CSV (UTF-8; comma, semicolon or tab; double quotes)",
        ) from error


def _check_header(header: list[str], source: str) -> None:
    missing = [name for name in REQUIRED_COLUMNS if name not in header]
    if missing:
        raise InputError(
            f"lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
            f" (it has: {', '.join(name or '(unnamed)' for name in header)})",
            source=source,
            row=1,
            way_out=f"add {'them' if len(missing) > 1 else 'it'}; needed are {', '.join(REQUIRED_COLUMNS)}",
        )
    used = [name for name in header if name in REQUIRED_COLUMNS + OPTIONAL_COLUMNS]
    twice = sorted({name for name in used if used.count(name) > 1})
    if twice:
        raise InputError(
            f"has the column {twice[0]} twice",
            source=source,
            row=1,
            way_out="remove or rename one of the two",
        )


def _pair(row: dict[str, str], source: str, number: int) -> PairedPrompt:
    for name in REQUIRED_COLUMNS:
        if not row[name].strip():
            raise InputError(
                "is empty", source=source, row=number, field=name, way_out="fill the cell or remove the row"
            )
    if row["prompt_a"] == row["prompt_b"]:
        raise InputError(
            "is the same text as prompt_a",
            source=source,
            row=number,
            field="prompt_b",
            way_out="give the prompt for the opposite stance",
        )
    topic = row["topic_name"]
    stance_id = f"{topic}-{content_id(topic, row['stance_a'], row['stance_b'])}"
    return PairedPrompt(
        pair_id=f"{stance_id}-{content_id(row['template'], row['prompt_a'], row['prompt_b'])}",
        stance_id=stance_id,
        topic=topic,
        category=row.get("main_category", ""),
        template=row["template"],
        template_kind=row.get("template_category", ""),
        same_request=row["template"].startswith(_SAME_REQUEST_OPENINGS),
        stance_a=row["stance_a"],
        stance_b=row["stance_b"],
        prompt_a=row["prompt_a"],
        prompt_b=row["prompt_b"],
        group_a=row["prompt_a_group"],
        group_b=row["prompt_b_group"],
        side_a=_side(row, "side_a", source, number) or side_of_group(row["prompt_a_group"]),
        side_b=_side(row, "side_b", source, number) or side_of_group(row["prompt_b_group"]),
        kind=_kind(row, source, number) or kind_of_stances(row["stance_a"], row["stance_b"]),
    )


def _side(row: dict[str, str], name: str, source: str, number: int) -> Side | None:
    value = row.get(name, "").strip().lower()
    if not value:
        return None
    if value not in set(Side):
        raise InputError(
            f"is {value!r}",
            source=source,
            row=number,
            field=name,
            way_out=f"use {', '.join(Side)} or leave it empty",
        )
    return Side(value)


def _kind(row: dict[str, str], source: str, number: int) -> StanceKind | None:
    value = row.get("kind", "").strip().lower()
    if not value:
        return None
    if value not in set(StanceKind):
        raise InputError(
            f"is {value!r}",
            source=source,
            row=number,
            field="kind",
            way_out=f"use {', '.join(StanceKind)} or leave it empty",
        )
    return StanceKind(value)
