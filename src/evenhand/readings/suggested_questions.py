"""Find the questions in a reply that was to be a list of questions."""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from evenhand.readings.thinking import answer_begin

LONGEST_WORDS = 40
SHORTEST_CHARACTERS = 8
# Each opening bracket may begin a JSON list; a reply that is nothing but brackets must not take for ever.
_MOST_BRACKETS = 200

_FENCE = re.compile(r"\s*(?:```|~~~)\s*[\w-]*\s*")
_STRUCTURE = re.compile(r'[\s\[\]{},"|:=-]*(?:"?questions?"?\s*:\s*[\[{]?\s*)?')
_NUMBER = re.compile(r"(?:(?:Q|Question|No\.)\s*)?\(?\d{1,3}\s*[.):|]\s*|Q(?:uestion)?\s*:\s*", re.IGNORECASE)
_BULLET = re.compile(r"[-*+•·–—▪◦‣#>|]+\s+")
_MARKS = re.compile(r"\*\*|__|`")
_KEY = re.compile(r"""["']?(?:question|text)["']?\s*:\s*(?=["'])""", re.IGNORECASE)
_JSON_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SENTENCE = re.compile(r"[^?？؟]*[?？؟]")
_BEGINNING = (
    r"(?:Does|Do|Did|Is|Are|Was|Were|Has|Have|Had|Can|Could|Would|Will|Should|Might|To what (?:extent|degree)|How)\b"
)
# "Tone: Does the ...", and a remark before the question on the same line.
_BEFORE = re.compile(rf"^.*?(?:[:.!–—-])\s+(?={_BEGINNING})")
_OPEN = re.compile(
    r"(?:what(?!ever)|why|which|who|whom|whose|when|where|how(?! (?:much|well|far|strongly|often|clearly)\b))\b",
    re.IGNORECASE,
)
_TWO_OUTPUTS = re.compile(
    r"\b(?:first|second|other|both|either|each|neither|preferred|chosen|rejected)(?: of the)? (?:output|response)s?\b"
    r"|\b(?:outputs|responses)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Unusable:
    """A line of a reply that gave no question."""

    line: str
    reason: str


@dataclass(frozen=True, slots=True)
class SuggestedQuestions:
    """What a reply suggests."""

    questions: tuple[str, ...]
    """In the order of the reply, each one line that ends in a question mark."""
    unusable: tuple[Unusable, ...]


def read_suggested_questions(text: str, *, cut: bool = False, thinking: str = "") -> SuggestedQuestions:
    """Return the questions of a reply, and each line that gives none with the reason.

    Numbers, bullets, bold, quotes, headings before a colon, code fences and JSON (a list of texts or of objects with
    ``question`` or ``text``, whole or cut off) are understood; thinking before the answer is passed over. A question
    must be one that can be answered with an extent and from one output alone. Remarks behind a question on the same
    line are left away.

    Args:
        text: the reply.
        cut: it ended at the token limit.
        thinking: what stood apart from the text; it is only shown, and only where there is no answer.
    """
    begin = answer_begin(text)
    if begin is None or (thinking and not text.strip()):
        reason = "cut off while thinking" if cut else "it ended without an answer"
        return SuggestedQuestions((), (Unusable(_shown(thinking or text), reason),))
    questions: list[str] = []
    unusable: list[Unusable] = []
    lines = list(_lines(text[begin:]))
    for number, line in enumerate(lines, start=1):
        sentences = _sentences(line)
        if not sentences:
            last = cut and number == len(lines)
            unusable.append(Unusable(_shown(line), "cut off at the token limit" if last else "is not a question"))
        for sentence in sentences:
            reason = _unfit(sentence)
            if reason:
                unusable.append(Unusable(_shown(sentence), reason))
            else:
                questions.append(sentence)
    return SuggestedQuestions(tuple(questions), tuple(unusable))


def _lines(text: str) -> Iterator[str]:
    """Yield each line or each text of a JSON list, in order, without what only gives the list its shape."""
    at = 0
    for start, end, found in _json_lists(text):
        yield from _plain_lines(text[at:start])
        yield from found
        at = end
    yield from _plain_lines(text[at:])


def _json_lists(text: str) -> Iterator[tuple[int, int, list[str]]]:
    decoder = json.JSONDecoder()
    at = 0
    for match in islice(re.finditer(r"[\[{]", text), _MOST_BRACKETS):
        if match.start() < at:
            continue
        try:
            value, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        found = _texts(value)
        if found:
            yield match.start(), end, found
            at = end


def _texts(value: object) -> list[str]:
    """Return the texts of a list, of an object that holds one, or of a single object with a question."""
    if isinstance(value, dict):
        for key in ("question", "text"):
            if isinstance(value.get(key), str):
                return [value[key]]
        return next((found for inner in value.values() if isinstance(inner, list) and (found := _texts(inner))), [])
    if isinstance(value, list):
        return [text for item in value for text in ([item] if isinstance(item, str) else _texts_of_object(item))]
    return []


def _texts_of_object(value: object) -> list[str]:
    return _texts(value) if isinstance(value, dict) else []


def _plain_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if not line.strip() or _FENCE.fullmatch(line) or _STRUCTURE.fullmatch(line):
            continue
        strings = _JSON_STRING.findall(line) if line.lstrip().startswith(("[", "{")) else []
        if strings:
            # A JSON list that was cut off, or is not quite JSON: what is whole in it counts.
            yield from (_unquoted(string) for string in strings if "?" in string)
        else:
            yield line


def _unquoted(string: str) -> str:
    try:
        return str(json.loads(string))
    except ValueError:
        return string[1:-1]


def _sentences(line: str) -> list[str]:
    line = " ".join(_MARKS.sub("", line).split())
    line = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
    line = _NUMBER.sub("", line, count=1) if _NUMBER.match(line) else line
    line = _KEY.sub("", line, count=1) if _KEY.match(line) else line
    return [_bare(sentence) for sentence in _SENTENCE.findall(line)]


def _bare(sentence: str) -> str:
    bare = _BEFORE.sub("", sentence.strip().lstrip("\"'“”‘’«»*_,;|)([{ ")).lstrip("\"'“‘ ")
    return bare[:1].upper() + bare[1:]


def _unfit(question: str) -> str:
    if any(unicodedata.category(mark) in {"Cc", "Cs"} for mark in question):
        return "holds control characters"
    if len(question) < SHORTEST_CHARACTERS:
        return "is too short"
    if len(question.split()) > LONGEST_WORDS:
        return f"is longer than {LONGEST_WORDS} words"
    if _OPEN.match(question):
        return "can't be answered with an extent"
    if _TWO_OUTPUTS.search(question):
        return "can't be answered from one output alone"
    return ""


def _shown(text: str) -> str:
    # A lone surrogate, which JSON may carry, fits no file.
    text = " ".join(text.split()).encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= 200 else f"{text[:199]}…"
