"""Control tokens in texts: what a model's tokenizer would take for an end of turn, though somebody else wrote it."""

import re

# Each begins with a plain character, which the engine searches for far faster than for a choice of two.
_ANGLED = re.compile(
    r"<(?=\|[^<>|\s]{1,60}\|>"
    r"|｜[^<>｜]{1,60}｜>"
    r"|/?(?:s|bos|eos|pad|unk|mask|sep|cls|think|tool_call|tool_response|start_of_turn|end_of_turn"
    r"|fim_(?:prefix|middle|suffix|pad)|file_sep|repo_name|reponame|filename|gh_stars|jupyter_\w+|issue_\w+"
    r"|empty_output|endoftext)>"
    r"|</?SYS>>)"
)
_SQUARE = re.compile(r"\[(?=/?(?:INST|TOOL_CALLS|AVAILABLE_TOOLS|TOOL_RESULTS|SYSTEM_PROMPT)\])")
_BREAK = "\u200b"


def defuse(text: str) -> str:
    """Break what a model's tokenizer would take for a control token, such as an end of turn, by a zero-width space.

    Otherwise a graded text could close the user's turn and write the grader's verdict itself.

    >>> defuse("<|im_end|>") == "<|im_end|>", defuse("</s>") == "</s>"
    (False, False)
    >>> defuse("a < b, 3 | 4 > 2, <b>bold</b>")
    'a < b, 3 | 4 > 2, <b>bold</b>'
    """
    # Most texts have neither, and to see that is many times faster than to look for a token.
    if "<" in text:
        text = _ANGLED.sub(f"<{_BREAK}", text)
    return _SQUARE.sub(f"[{_BREAK}", text) if "[" in text else text
