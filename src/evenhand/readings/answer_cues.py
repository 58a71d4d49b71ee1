"""Where an answer is announced: "Answer: (C)", "Both were helped, so the final answer is **C**".

A cue counts only where a writer concludes: at the beginning of a line or a sentence, outside quotation marks, followed
by a colon, "is" or a line break and then at once by an option. "The assistant says that the answer is C" and "whether
the answer is C" are prose.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_NOUN = r"(?:answer|verdict|rating|score|choice|option|grade|judge?ment|decision|conclusion)"
_HENCE = (
    r"(?:so|thus|hence|therefore|overall|finally|accordingly|consequently|in\s+(?:conclusion|summary|short|sum)"
    r"|to\s+(?:conclude|sum\s+up|summari[sz]e)|conclusion"
    r"|(?:based\s+on|given|considering|because|since|due\s+to)\b[^.!?:;\n\"“”«»]{1,200}(?=,))"
)
_SUBJECT = (
    rf"(?:i\s+(?:would\s+)?(?:say|think|believe|conclude)\s+(?:that\s+)?)?(?:(?:the|my|our)\s+)?"
    rf"(?:(?:final|correct|best|right|overall|appropriate)\s+){{0,2}}{_NOUN}"
)
_LINK = (
    r"(?:[*_`]{0,3}[ \t]{0,4}[:=]|[ \t]{1,4}(?:is|would\s+be|should\s+be|must\s+be)\b[ \t]{0,4}:?"
    r"|[ \t]{1,4}[-–—](?=[ \t])|[*_`]{0,3}[ \t]{0,4}(?=\n))"
)
_CUE = (
    r"(?:(?:\A|(?<=\n)|(?<=[.!?][\s*_)]))[\s*_#`•–(-]{0,12}"
    rf"(?:{_HENCE}[,:]?[\s*_]{{1,12}})?{_SUBJECT}{_LINK}"
    rf"|(?:\A|(?<=[\n{{,]))\s{{0,12}}(?P<quote>[\"']){_NOUN}(?P=quote)\s{{0,4}}:)"
)
# Every run is bounded: a reply may be nothing but white space, and must not take for ever.
_MARKS = r"[\s*_`\"'“”#>:({\[]{0,12}"
_KIND = r"(?:(?:option|choice|answer|letter|number)\b|\$?\\(?:boxed|text(?:bf)?)\{|\$)"
_ARTICLE = r"\s+(?!(?:is|because|since|as|in|for|given|with|and|but|which|here|due)\b)[a-z]"
_DANGLING = re.compile(rf"(?i:{_CUE}){_MARKS}\Z")


@dataclass(frozen=True, slots=True)
class Cue:
    """An option where an answer is announced."""

    label: str
    end: int
    """Index behind the cue; only marks such as brackets and bold come between it and the option."""


def answer_cues(text: str, labels: Sequence[str]) -> list[Cue]:
    """Return every option that a cue announces, in the order of the text.

    >>> [cue.label for cue in answer_cues("Both (A) and (B) are helped. Final answer: **(C)**", "ABC")]
    ['C']
    >>> answer_cues("They say that the answer is C. If the answer is A, B is wrong.", "ABC")
    []
    """
    folded, origin = _folded(text)
    spelled = {label.casefold(): label for label in labels}
    found = []
    for match in _announced(tuple(labels)).finditer(folded):
        label = match["in"] or match["bare"]
        found.append(Cue(spelled[label.casefold()], origin[match.end("cue")]))
    return found


def closing_line(text: str, labels: Sequence[str]) -> Cue | None:
    """Return the option that the last of several lines consists of, as in ``**(C)**``; None where there is none.

    >>> closing_line("Both are helped.\\n\\n**(C)**\\n", "ABC")
    Cue(label='C', end=18)
    """
    body = text.rstrip()
    begin = body.rfind("\n") + 1
    line, _ = _folded(body[begin:])
    match = re.fullmatch(rf"[\s*_]*{_option(tuple(labels))}[)\].*_\s]*", line)
    if not match or not body[:begin].strip():
        return None
    label = match["in"] or match["bare"]
    return Cue(next(one for one in labels if one.casefold() == label.casefold()), begin)


def ends_in_cue(text: str) -> bool:
    """Tell whether a text ends where an option should follow.

    >>> ends_in_cue("Both are helped. Answer: ("), ends_in_cue("Both are helped.")
    (True, False)
    """
    return _DANGLING.search(_folded(text)[0]) is not None


@lru_cache(maxsize=100)
def _announced(labels: tuple[str, ...]) -> re.Pattern[str]:
    option, one = _option(labels), _any(labels)
    # "A or B", "3 to 4": two options announced as one.
    several = rf"[)\]]?\s{{0,4}}(?:or|and|to|&|/|,\s?or)\s{{0,4}}(?:option\s+)?[(\[]?\s?(?:{one})(?!\w)"
    return re.compile(rf"(?P<cue>(?i:{_CUE}(?:{_MARKS}{_KIND}){{0,3}})){_MARKS}{option}(?!{several})")


@lru_cache(maxsize=100)
def _option(labels: tuple[str, ...]) -> str:
    one = _any(labels)
    if len(labels[0]) > 1:
        bare = rf"(?i:{one})(?!\s+(?i:longer|doubt|matter|one)\b)"
    else:
        # A lone letter may be written small only in brackets: "a" is a word, and so may be "A".
        bare = rf"(?:{one})(?:(?<!A)|(?!{_ARTICLE}))"
    return rf"(?:(?:[(\[]\s?)?(?P<in>(?i:{one}))\s?[)\]]|(?P<bare>{bare}))(?![\w/]|[.,]\d)"


def _any(labels: tuple[str, ...]) -> str:
    return "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))


def _folded(text: str) -> tuple[str, list[int]]:
    """Return a text with compatibility forms folded and format characters dropped, and where each character was."""
    chars: list[str] = []
    origin: list[int] = []
    for index, char in enumerate(text):
        if char < "\x80":
            plain = char
        else:
            plain = "" if unicodedata.category(char) == "Cf" else unicodedata.normalize("NFKC", char)
        chars.append(plain)
        origin += [index] * len(plain)
    return "".join(chars), [*origin, len(text)]
