"""Conversations in the shapes data sets give them, written out as text."""

import ast
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.pairs.preferences.problem import ProblemKind, RowFaultError

_MARKS = {
    "user": "H",
    "human": "H",
    "prompter": "H",
    "assistant": "A",
    "gpt": "A",
    "chatgpt": "A",
    "model": "A",
    "bot": "A",
    "system": "S",
    "developer": "S",
    "tool": "T",
    "function": "T",
    "function_call": "A",
    "observation": "T",
    "ipython": "T",
}
_LOOKS_LIKE_MESSAGES = re.compile(r"""\s*\[\s*\{\s*['"](?:role|content|from|value)['"]""")
_TRANSCRIPT_TURN = re.compile(r"(?:^|\n\n)(Human|Assistant):")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: who speaks (H human, A assistant, S system, T tool) and what."""

    mark: str
    text: str


def written(turns: Sequence[Turn]) -> str:
    """Return a conversation as text; a single turn of the human or the assistant is given without its mark.

    >>> written([Turn("H", "Hello")])
    'Hello'
    >>> written([Turn("S", "Be kind"), Turn("H", "Hello")])
    '[S]: Be kind\\n\\n[H]: Hello'
    """
    if len(turns) == 1 and turns[0].mark in "HA":
        return turns[0].text
    return "\n\n".join(f"[{turn.mark}]: {turn.text}" for turn in turns)


def split_at_last_shared(a: Sequence[Turn], b: Sequence[Turn]) -> tuple[list[Turn], list[Turn], list[Turn]]:
    """Return the shared input and the two outputs of two whole conversations.

    Both outputs begin with the last assistant turn that both conversations have at the same place and up to which
    they are the same. So identical conversations differ in nothing but still have an input and two outputs, and where
    they part at a human turn the shared assistant turn before it is the beginning of both outputs.

    Raises ``RowFaultError`` where there is no such turn.
    """
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    for at in range(min(same, len(a) - 1, len(b) - 1), -1, -1):
        if a[at].mark == b[at].mark == "A":
            return list(a[:at]), list(a[at:]), list(b[at:])
    raise RowFaultError(
        ProblemKind.NO_SHARED_PROMPT, "the two conversations part before any assistant turn that both have"
    )


def parse_transcript(text: str) -> list[Turn]:
    """Return the turns of a ``Human: ... Assistant: ...`` transcript; what stands before them is a system turn.

    >>> parse_transcript("\\n\\nHuman: Hi\\n\\nAssistant: Hello")
    [Turn(mark='H', text='Hi'), Turn(mark='A', text='Hello')]
    """
    before, *parts = _TRANSCRIPT_TURN.split(text)
    turns = [Turn("S", before.strip())] if before.strip() else []
    for name, said in zip(parts[::2], parts[1::2], strict=True):
        turns.append(Turn("H" if name == "Human" else "A", said.strip()))
    return turns


def is_transcript(value: object) -> bool:
    """Tell whether a value is a text with human and assistant turns."""
    return isinstance(value, str) and {"Human", "Assistant"} <= set(_TRANSCRIPT_TURN.findall(value))


def turns_of(value: object, field: str) -> list[Turn] | None:
    """Return the turns of a message, a list of messages, or either as JSON in a string; None for anything else.

    Messages are ``{"role", "content"}`` or ``{"from", "value"}``; content may be text, a list of parts or, beside
    tool calls, null. Raises ``RowFaultError`` for what is meant as messages and can't be read.
    """
    if isinstance(value, str):
        value = _unpacked(value, field)
    if _is_message(value):
        value = [value]
    if not isinstance(value, list) or not value or not all(_is_message(item) for item in value):
        return None
    return [_turn(item, field) for item in value]


def strings_of(value: object) -> list[str | None] | None:
    """Return a list of texts (or nulls), given as a list or as JSON in a string; None for anything else.

    >>> strings_of('["one", null]'), strings_of("[sic]")
    (['one', None], None)
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, list) and value and all(item is None or isinstance(item, str) for item in value):
        return value
    return None


def _is_message(value: object) -> bool:
    return isinstance(value, Mapping) and ("role" in value or "from" in value)


def _unpacked(text: str, field: str) -> object:
    if not _LOOKS_LIKE_MESSAGES.match(text):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        # What pandas writes for a list in a CSV cell is Python's own notation.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise RowFaultError(
            ProblemKind.WRONG_TYPE,
            f"{field} looks like a list of messages but is no JSON; save the data as JSON lines or Parquet",
        ) from None


def _turn(message: Mapping[str, Any], field: str) -> Turn:
    role = message.get("role", message.get("from"))
    mark = _MARKS.get(role.strip().lower()) if isinstance(role, str) else None
    if mark is None:
        raise RowFaultError(ProblemKind.WRONG_TYPE, f"{field} has a message of the unknown role {role!r}")
    calls = [_call(call) for call in message.get("tool_calls") or []]
    if message.get("function_call"):
        calls.append(_call(message["function_call"]))
    content = message.get("content", message.get("value"))
    if content is None and not calls:
        raise RowFaultError(ProblemKind.NULL, f"{field} has a message without content")
    said = "" if content is None else _content(content, field)
    return Turn(mark, "\n".join([said, *calls] if said else calls))


def _content(content: object, field: str) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part(part, field) for part in content)
    raise RowFaultError(ProblemKind.WRONG_TYPE, f"{field} has a message whose content is {shown(content)}, not text")


def _part(part: object, field: str) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping):
        if isinstance(part.get("text"), str):
            return str(part["text"])
        if isinstance(part.get("type"), str):
            return f"[{part['type']}]"
    raise RowFaultError(ProblemKind.WRONG_TYPE, f"{field} has a message part that is {shown(part)}")


def _call(call: object) -> str:
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return f"[tool call] {json.dumps(call, ensure_ascii=False, default=str)}"
    arguments = function.get("arguments", "")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, default=str)
    return f"[tool call] {function.get('name')}({arguments})"


def shown(value: object) -> str:
    """Return a value for a message, cut where it is long.

    >>> shown(True), shown({"a": 1})
    ('the boolean true', "the structure {'a': 1}")
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    kind = {int: "the number ", float: "the number ", str: "", list: "the list "}.get(type(value), "the structure ")
    text = repr(value)
    return kind + (text if len(text) <= 60 else f"{text[:57]}...")
