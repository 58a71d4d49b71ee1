"""From a file of questions, in any of its formats, to one entry a question, not yet checked."""

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from evenhand.errors import InputError
from evenhand.pairs.text_file import read_text_file

_LISTS = ("questions", "question")
"""Keys under which a file may hold its list."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a file says of one question."""

    number: int
    """Of the line in a file of plain lines, of the entry in any other; from 1."""
    values: Mapping[str, Any]
    is_line: bool = False

    @property
    def place(self) -> str:
        """How a message calls the entry."""
        return f"{'row' if self.is_line else 'question'} {self.number}"

    def error(self, problem: str, source: str, field: str, way_out: str) -> InputError:
        """Return the error that something is wrong with a field of this entry (or, without a field, with itself)."""
        if self.is_line:
            return InputError(problem, source=source, row=self.number, way_out=way_out)
        return InputError(problem, source=f"{source}, {self.place}", field=field, way_out=way_out)


def read_entries(path: Path) -> list[Entry]:
    """Read a file by what its name ends in; raises ``InputError``."""
    readers: Mapping[str, Callable[[str, str], list[Entry]]] = {
        ".yaml": _yaml,
        ".yml": _yaml,
        ".toml": _toml,
        ".json": _json,
        ".txt": _lines,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"there are no questions {str(path)!r}",
            field="--questions",
            way_out=f"use builtin, builtin:TAG, or a file whose name ends in {', '.join(readers)}",
        )
    return reader(read_text_file(path).replace("\r\n", "\n").replace("\r", "\n"), path.name)


def _lines(text: str, _: str) -> list[Entry]:
    # Only a line feed ends a line: a question may hold U+2028 or U+0085, which splitlines would cut at.
    lines = enumerate(text.split("\n"), start=1)
    return [
        Entry(number, {"text": line}, is_line=True)
        for number, line in lines
        if line.strip() and not line.lstrip().startswith("#")
    ]


def _toml(text: str, source: str) -> list[Entry]:
    try:
        data = tomllib.loads(text)
    except ValueError as error:
        raise InputError(
            f"is not TOML ({error})", source=source, way_out='write [[question]], and under it text = "..."'
        ) from error
    except RecursionError as error:
        raise _too_deep(source) from error
    return _listed(data, source)


def _json(text: str, source: str) -> list[Entry]:
    def object_of(items: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in items]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise InputError(f"has the key {twice!r} twice in one object", source=source, way_out="remove one")
        return dict(items)

    try:
        data = json.loads(text, object_pairs_hook=object_of)
    except ValueError as error:
        raise InputError(
            f"is not JSON ({error})", source=source, way_out='write a list of objects such as {"text": "..."}'
        ) from error
    except RecursionError as error:
        raise _too_deep(source) from error
    return _listed(data, source)


def _yaml(text: str, source: str) -> list[Entry]:
    try:
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        if tree is not None:
            _check_keys(tree, source)
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(
            f"is not YAML ({' '.join(str(error).split())})",
            source=source,
            way_out='write - text: "..." for each question; a text that holds a colon or a # must be in quotes',
        ) from error
    except RecursionError as error:
        raise _too_deep(source) from error
    return _listed(data, source)


def _check_keys(tree: yaml.Node, source: str) -> None:
    # YAML keeps the last of two equal keys: a forgotten dash would lose a question in silence.
    seen: set[int] = set()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            keys: set[str] = set()
            for key, value in node.value:
                waiting.append(value)
                if key.tag == "tag:yaml.org,2002:merge":
                    # Merges of merges grow without bound.
                    raise InputError(
                        "merges with <<", source=source, row=key.start_mark.line + 1, way_out="write the keys out"
                    )
                if isinstance(key, yaml.ScalarNode):
                    if key.value in keys:
                        raise InputError(
                            f"has the key {key.value!r} twice in one question",
                            source=source,
                            row=key.start_mark.line + 1,
                            way_out="remove one, or begin the next question with a dash",
                        )
                    keys.add(key.value)


def _listed(data: object, source: str) -> list[Entry]:
    if data is None:
        return []
    if isinstance(data, dict):
        unknown = [key for key in data if key not in _LISTS]
        if unknown or len(data) > 1:
            raise InputError(
                f"has the key {str((unknown or list(data))[0])!r} beside or in place of its list of questions",
                source=source,
                way_out=f"keep nothing but the list, under {' or '.join(_LISTS)}",
            )
        data = next(iter(data.values()), [])
    if not isinstance(data, list):
        raise InputError(
            "does not hold a list of questions",
            source=source,
            way_out="give a list, each question with its text",
        )
    return [_entry(number, value, source) for number, value in enumerate(data, start=1)]


def _entry(number: int, value: object, source: str) -> Entry:
    if isinstance(value, str):
        return Entry(number, {"text": value})
    if isinstance(value, dict):
        return Entry(number, value)
    raise InputError(
        "is neither a text nor a table with a text",
        source=f"{source}, question {number}",
        way_out="write the question as text, or as text, id, tags and direction; put text in quotes",
    )


def _too_deep(source: str) -> InputError:
    return InputError("is nested too deeply", source=source, way_out="give a plain list of questions")
