"""Questions in plain language, to which a grader answers to what extent each is true of an output."""

import difflib
import json
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeAlias

from evenhand.errors import InputError
from evenhand.instruments.question_entries import Entry, read_entries

Direction: TypeAlias = Literal["higher", "lower"]

BUILTIN_QUESTIONS = "builtin"
"""What the built-in library is called; ``builtin:TAG`` and ``builtin:TAG,TAG`` are parts of it."""

_DIRECTIONS: dict[str, Direction] = {"higher": "higher", "lower": "lower"}
_KEYS = ("id", "text", "tags", "direction")
_ID = re.compile(r"[\w.-]{1,80}")
_ID_LENGTH = 48
_WORD = re.compile(r"[^\W_]+")
_OPENING = re.compile(r"^(?:(?:does|do|is|are|has|have|would|could|can) )?(?:the (?:output|response|answer) )?")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about one output, in the light of its input."""

    id: str
    """Unique within a set; names the question in tables and files."""
    text: str
    tags: tuple[str, ...] = ()
    direction: Direction | None = None
    """Which rating is commonly thought better; None for a matter of taste, of style or of dispute."""

    def as_json(self) -> dict[str, Any]:
        """Return the question as plain values; ``read_questions`` takes a JSON list of them."""
        return {"id": self.id, "text": self.text, "tags": list(self.tags), "direction": self.direction}


def read_questions(name: str | Path) -> list[Question]:
    """Return the questions of ``builtin``, ``builtin:TAG,TAG`` (any of the tags) or a file, in their order.

    A file is YAML (.yaml, .yml), TOML (.toml), JSON (.json, as in a run folder) or plain lines (.txt): one question a
    line, where a line that begins with # is a comment. An entry without an id gets one made from its text. Runs of
    white space in a text become one space.

    Raises ``InputError``, which names the file and the row (plain lines) or the question, counted from 1.
    """
    if isinstance(name, str) and (name == BUILTIN_QUESTIONS or name.startswith(f"{BUILTIN_QUESTIONS}:")):
        return _builtin(name)
    path = Path(name)
    return _questions(read_entries(path), path.name)


def builtin_tags() -> dict[str, int]:
    """Return the tags of the built-in library, in its order, with how many questions have each."""
    library = _library()
    counts = Counter(tag for question in library for tag in question.tags)
    return {tag: counts[tag] for tag in dict.fromkeys(question.tags[0] for question in library)}


def question_id(text: str, taken: Iterable[str] = ()) -> str:
    """Return an id made from a question's text that is not among those taken.

    >>> question_id("Does the output use lists?"), question_id("Does the output use LISTS", ["use_lists"])
    ('use_lists', 'use_lists_2')
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    spoken = " ".join(words)
    name = _OPENING.sub("", spoken).replace(" ", "_") or spoken.replace(" ", "_") or "question"
    if len(name) > _ID_LENGTH:
        name = name[: _ID_LENGTH + 1].rpartition("_")[0] or name[:_ID_LENGTH]
    used = frozenset(taken)
    number = 1
    found = name
    while found in used:
        number += 1
        found = f"{name}_{number}"
    return found


def questions_as_toml(questions: Sequence[Question], comment: str = "") -> str:
    """Return the text of a TOML file of questions, which ``read_questions`` reads back; a comment heads it."""
    blocks = ["".join(f"# {line}".rstrip() + "\n" for line in comment.splitlines())] if comment else []
    for question in questions:
        lines = ["[[question]]", f"id = {_quoted(question.id)}", f"text = {_quoted(question.text)}"]
        if question.tags:
            lines.append(f"tags = [{', '.join(map(_quoted, question.tags))}]")
        if question.direction:
            lines.append(f"direction = {_quoted(question.direction)}")
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _builtin(name: str) -> list[Question]:
    library = _library()
    if name == BUILTIN_QUESTIONS:
        return library
    known = builtin_tags()
    wanted = [tag.strip() for tag in name.removeprefix(f"{BUILTIN_QUESTIONS}:").split(",")]
    for tag in wanted:
        if tag not in known:
            raise InputError(
                f"there is no tag {tag!r} among the built-in questions" + _did_you_mean(tag, known),
                source=name,
                way_out=f"use {', '.join(known)}",
            )
    return [question for question in library if not set(wanted).isdisjoint(question.tags)]


def _library() -> list[Question]:
    data = resources.files("evenhand.instruments").joinpath("data/questions.toml").read_text("utf-8")
    entries = [Entry(number, values) for number, values in enumerate(tomllib.loads(data)["question"], start=1)]
    return _questions(entries, BUILTIN_QUESTIONS)


def _questions(entries: Sequence[Entry], source: str) -> list[Question]:
    if not entries:
        raise InputError("has no questions", source=source, way_out="give at least one")
    # Ids that the file gives come first: one made from a text steps aside for them, wherever it stands.
    given = {entry.values["id"] for entry in entries if isinstance(entry.values.get("id"), str)}
    questions: list[Question] = []
    by_id: dict[str, Entry] = {}
    by_text: dict[str, Entry] = {}
    for entry in entries:
        question = _question(entry, source, given | set(by_id))
        if question.id in by_id:
            raise entry.error(
                f"is {question.id!r}, as that of {by_id[question.id].place}",
                source,
                "id",
                "give each question an id of its own",
            )
        plain = question.text.casefold().rstrip(" ?.!")
        if plain in by_text:
            raise entry.error(
                f"asks the same as {by_text[plain].place}", source, "text", "remove one of the two questions"
            )
        by_id[question.id], by_text[plain] = entry, entry
        questions.append(question)
    return questions


def _question(entry: Entry, source: str, taken: Iterable[str]) -> Question:
    values = entry.values
    for key in values:
        if key not in _KEYS:
            raise entry.error(
                f"has the key {key!r}, which means nothing here" + _did_you_mean(str(key), _KEYS),
                source,
                "",
                f"use {', '.join(_KEYS)}",
            )
    if "text" not in values:
        raise entry.error("is missing", source, "text", "write the question as its text")
    text = _text(entry, source)
    name = _string(entry, source, "id") if "id" in values else question_id(text, taken)
    if not _ID.fullmatch(name):
        raise entry.error(
            f"is {name[:90]!r}", source, "id", "use up to 80 letters, digits and the marks _ - . without spaces"
        )
    return Question(name, text, _tags(entry, source), _direction(entry, source))


def _text(entry: Entry, source: str) -> str:
    text = " ".join(_string(entry, source, "text").split())
    if not text:
        raise entry.error("is empty", source, "text", "write the question, or remove its entry")
    bad = next((mark for mark in text if unicodedata.category(mark) in {"Cc", "Cs"}), None)
    if bad:
        raise entry.error(f"holds the control character U+{ord(bad):04X}", source, "text", "remove it")
    if not _WORD.search(text):
        raise entry.error(f"is {text[:40]!r}, without a word", source, "text", "write the question out")
    return text


def _tags(entry: Entry, source: str) -> tuple[str, ...]:
    found = entry.values.get("tags", [])
    if not isinstance(found, list):
        raise entry.error(f"is {_kind(found)}, not a list", source, "tags", 'write them as ["form", "tone"]')
    for tag in found:
        if not isinstance(tag, str):
            raise entry.error(f"holds {_kind(tag)}, not text", source, "tags", "put each tag in quotes")
        if not _ID.fullmatch(tag):
            raise entry.error(f"holds {tag[:90]!r}", source, "tags", "use letters, digits and the marks _ - .")
        if found.count(tag) > 1:
            raise entry.error(f"holds {tag!r} twice", source, "tags", "remove one of the two")
    return tuple(found)


def _direction(entry: Entry, source: str) -> Direction | None:
    found = entry.values.get("direction")
    if found is None:
        return None
    if not isinstance(found, str) or found not in _DIRECTIONS:
        written = repr(found[:40]) if isinstance(found, str) else _kind(found)
        raise entry.error(f"is {written}", source, "direction", "use higher or lower, or leave it away")
    return _DIRECTIONS[found]


def _string(entry: Entry, source: str, key: str) -> str:
    found = entry.values[key]
    if not isinstance(found, str):
        raise entry.error(f"is {_kind(found)}, not text", source, key, "put it in quotes")
    return found


def _kind(value: object) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true or false"
    names = {int: "a number", float: "a number", str: "text", list: "a list", dict: "a table"}
    return names.get(type(value), f"a {type(value).__name__}")


def _did_you_mean(written: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(written, list(known), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _quoted(text: str) -> str:
    # A JSON string is a TOML string, but for U+007F, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
