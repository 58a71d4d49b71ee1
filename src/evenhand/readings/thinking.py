"""Thinking, told apart from the answer that follows it."""

import re
from dataclasses import replace

from evenhand.readings.reading import State
from evenhand.readings.reply import Reply, TokenPosition

_TAG = r"(?:seed:|mm:)?(?:think(?:ing)?|thought|reasoning)"
_FINAL_CHANNEL = r"(?:<\|end\|>\s*)?(?:<\|start\|>\s*assistant\s*)?<\|channel\|>final<\|message\|>"
_BEGIN = re.compile(
    rf"<{_TAG}>|\[THINK\]|<\|begin_of_thought\|>|<\|START_THINKING\|>|◁think▷|<\|channel\|>analysis<\|message\|>",
    re.IGNORECASE,
)
_END = re.compile(
    rf"</{_TAG}>|\[/THINK\]|<\|/?end_of_thought\|>|<\|END_THINKING\|>|◁/think▷|{_FINAL_CHANNEL}", re.IGNORECASE
)
_IN_EVERY_END = ("</", "[/", "|>", "◁/")
_QUOTED = (("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"))
_SPACE = re.compile(r"\s*")
_CLOSING = re.compile(r"(?:\s|</?\w{1,12}>|<[|｜][^<>|｜]{1,40}[|｜]>)*\Z")
"""What may stand behind an answer in its tokens: white space and the marks that end a turn."""
_LONGEST_CLOSING = 100


def answer_begin(text: str) -> int | None:
    """Return the index behind the thinking that a text begins with; None where it was begun and never ended.

    An end without a beginning counts, since a chat template may write the beginning itself. Marks further on are part
    of the answer.

    >>> answer_begin("so 9?</think>7"), answer_begin("7"), answer_begin("<think>so 9")
    (13, 0, None)
    >>> answer_begin("The model writes <think> and </think>.")
    0
    """
    at = 0
    while True:
        begin = _BEGIN.match(text, _behind_space(text, at))
        if begin:
            end = _END.search(text, begin.end())
            if not end:
                return None
        elif at:
            # Some models end their thinking twice.
            end = _END.match(text, _behind_space(text, at))
        else:
            end = _lone_end(text)
        if not end:
            return at
        at = end.end()


def answer_alone(reply: Reply, begun: str = "") -> Reply:
    """Return a reply whose text and positions are those of the answer, and whose thinking stands apart.

    Thinking is what the provider reported as such, or else a block that the text begins with; a block that was cut off
    leaves no answer. Providers may list the tokens of the thinking before those of the answer: where these begin is
    found by aligning the joined tokens to the text. Done again, it changes nothing.

    Args:
        reply: as the provider gave it.
        begun: the beginning of the answer that was written for the model. Some servers report it as if the model
            had written it; it is taken off.

    >>> answer_alone(Reply("<think>A or C?</think>\\n\\nC", "stop", "m")).text
    'C'
    >>> answer_alone(Reply("<think>A or", "length", "m")).thinking
    'A or'
    """
    written = "".join([position.token for position in reply.positions])
    text, thinking = reply.text, reply.thinking
    if begun and text.startswith(begun) and not (written and written.lstrip().startswith(text.strip())):
        text = text[len(begun) :]
    begin = 0 if thinking else answer_begin(text)
    if begin is None or begin:
        thinking = _without_marks(text[:begin])
        text = "" if begin is None else text[begin:].lstrip()
    positions = reply.positions
    if positions and written != text:
        positions = _of_the_answer(positions, written, text, thinking)
    if text == reply.text and len(positions) == len(reply.positions):
        return reply
    return replace(reply, text=text, thinking=thinking, positions=positions)


def missing_answer(reply: Reply) -> tuple[State, str] | None:
    """Return the state and the reason of a reply without an answer, None for one that has an answer.

    The reply's thinking must stand apart (``answer_alone``).
    """
    if reply.text.strip():
        return None
    if reply.finish == "length":
        return State.TRUNCATED, "cut off while thinking" if reply.thinking else "cut off before it said anything"
    if reply.finish == "content_filter":
        return State.DECLINED, "the provider's filter withheld the answer"
    if reply.thinking:
        return State.UNANSWERED, "it thought, and ended without an answer"
    return State.UNPARSEABLE, "the answer is empty"


def token_from(position: TokenPosition, before: int) -> TokenPosition:
    """Return what a token says of the text that begins inside it, so many characters behind its own beginning.

    Only tokens that begin in the same way speak of it.
    """
    head = position.token[:before]
    if not head.strip():
        return position
    top = tuple((token[before:], logprob) for token, logprob in position.top if token.startswith(head))
    return TokenPosition(position.token[before:], position.logprob, top)


def _lone_end(text: str) -> re.Match[str] | None:
    """Return the end of thinking that was begun before the text; one that is quoted is none."""
    # Looking for what every end contains is many times faster than looking for an end.
    if not any(mark in text for mark in _IN_EVERY_END):
        return None
    begin = _BEGIN.search(text)
    for end in _END.finditer(text, 0, begin.start() if begin else len(text)):
        around = text[end.start() - 1 : end.start()], text[end.end() : end.end() + 1]
        if around not in _QUOTED:
            return end
    return None


def _behind_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _without_marks(thinking: str) -> str:
    return _END.sub("", _BEGIN.sub("", thinking)).strip()


def _of_the_answer(
    positions: tuple[TokenPosition, ...], written: str, text: str, thinking: str
) -> tuple[TokenPosition, ...]:
    if thinking and not text.strip():
        return ()
    start = _start(written, text.strip(), thinking)
    offset = 0
    for index, position in enumerate(positions):
        offset += len(position.token)
        if offset > start:
            before = start - (offset - len(position.token))
            return (token_from(position, before), *positions[index + 1 :])
    return ()


def _start(written: str, text: str, thinking: str) -> int:
    """Return the index of the answer's first character in the joined tokens."""
    lead = _behind_space(written, 0)
    if text and written.startswith(text, lead) and _CLOSING.match(written, lead + len(text)):
        return 0
    begin = answer_begin(written)
    if begin:
        return _behind_space(written, begin)
    if thinking and (at := written.find(thinking)) >= 0:
        behind = at + len(thinking)
        found = written.find(text, behind)
        return found if found >= 0 else behind
    found = written.rfind(text)
    if text and found > 0 and _CLOSING.match(written, found + len(text)) and not written[:found].isspace():
        return found
    # Half a character a token, or blanks that the provider trimmed: as many characters from the end as the text has.
    closing = _CLOSING.search(written, max(0, len(written) - _LONGEST_CLOSING))
    return max(0, (closing.start() if closing else len(written)) - len(text)) if thinking else 0
