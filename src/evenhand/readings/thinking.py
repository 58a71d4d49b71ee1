"""Where a reply's answer begins, behind any thinking written out before it."""

import re

_END = re.compile(r"</(?:think|thinking|reasoning)>|<\|/?end_of_thought\|>|◁/think▷", re.IGNORECASE)
_BEGIN = re.compile(r"<(?:think|thinking|reasoning)>|<\|begin_of_thought\|>|◁think▷", re.IGNORECASE)


def answer_begin(text: str) -> int | None:
    """Return the index behind the last end of thinking; None where thinking was begun and never ended.

    An end without a beginning counts, since a chat template may write the beginning itself.

    >>> answer_begin("so 9?</think>7"), answer_begin("7"), answer_begin("<think>so 9")
    (13, 0, None)
    """
    end = 0
    for match in _END.finditer(text):
        end = match.end()
    return None if _BEGIN.search(text, end) else end
