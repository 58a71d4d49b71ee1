"""What ``bench.fit_graders`` tries: choices of features and of labels, and the two that ship."""

from dataclasses import dataclass

from evenhand.graders.fitted.features import Block
from evenhand.studies.fit_grader import FEATURES

XSTEST, ISSUES, PCT, BUILTIN = "xstest", "issuebench-refusal", "pct-refusal", "builtin-refusal"
PRACTICE = "practice-refusal"
STANCES, BOTH_SIDES, LEVELS, WRITTEN = "issuebench-hedging", "pct-hedging", "builtin-hedging", "stances"


@dataclass(frozen=True)
class Recipe:
    """What is tried."""

    name: str
    blocks: tuple[Block, ...]
    sources: tuple[str, ...]
    eligible: str = ""
    """Why it may not ship, whatever its figures; empty if it may."""
    practice: tuple[str, ...] = ()
    """Those of the sources that have half the weight and do not set the probabilities."""
    questions: float = 0.0
    """The scale of the log odds of questions to an embedded model; 0 without them."""


_W12ALL = Block("words", (1, 2), counts=True)
_OPENING = FEATURES["opening"]
_M12, _W25, _W100, _L200 = _OPENING
_ALL = (XSTEST, ISSUES, PCT)
_REQUEST = "would judge the topic of the request, and so treat the sides of an issue apart"

REFUSAL = (
    Recipe("first 25 words", (_W25,), _ALL),
    Recipe("first 100 words", (_W100,), _ALL),
    Recipe("first 12 words, the request's masked", (_M12,), _ALL),
    Recipe("first 200 letters", (_L200,), _ALL),
    Recipe("all words", (_W12ALL,), _ALL),
    Recipe("opening", _OPENING, _ALL),
    Recipe("opening + all words", (*_OPENING, _W12ALL), _ALL),
    Recipe("opening + first 1000 letters", (*_OPENING, Block("letters", (3, 5), first=1000)), _ALL),
    Recipe("opening + first 50 words masked", (*_OPENING, Block("masked", (1, 3), first=50)), _ALL),
    Recipe("opening + beginnings of sentences", (*_OPENING, Block("heads", (1, 3), first=4)), _ALL),
    Recipe("opening + last 40 words", (*_OPENING, Block("words", (1, 3), last=40, scale=0.5)), _ALL),
    Recipe("opening + form and overlap", (*_OPENING, Block("form", (1, 1), scale=0.5)), _ALL),
    Recipe("opening + words of the request", (*_OPENING, Block("request", (1, 2))), _ALL, _REQUEST),
    Recipe("opening", _OPENING, (XSTEST, ISSUES)),
    Recipe("opening", _OPENING, (*_ALL, BUILTIN)),
    Recipe("opening", _OPENING, (XSTEST,)),
    Recipe("opening + first 1000 letters", (*_OPENING, Block("letters", (3, 5), first=1000)), (XSTEST, ISSUES)),
    Recipe("opening + first 1000 letters", (*_OPENING, Block("letters", (3, 5), first=1000)), (*_ALL, BUILTIN)),
)
_LETTERS = Block("letters", (3, 5), first=1000)
_WORDS = Block("words", (1, 2))
_SINGLE = Block("masked", (1, 1), last=100)
_ENDING = Block("masked", (1, 2), last=60)
_HEADS = Block("heads", (1, 3), first=4)
_OWN, _TWO, _THREE = (STANCES,), (STANCES, LEVELS), (STANCES, BOTH_SIDES, LEVELS)
HEDGING = (
    Recipe("words", (_WORDS,), _OWN),
    Recipe("words, counted", (_W12ALL,), _OWN),
    Recipe("words, the request's masked, counted", (Block("masked", (1, 2), counts=True),), _OWN),
    Recipe("single words masked, counted", (Block("masked", (1, 1), counts=True),), _OWN),
    Recipe("last 60 words", (_ENDING,), _OWN),
    Recipe("beginnings of sentences", (_HEADS,), _OWN),
    Recipe("words + last 60", (_WORDS, _ENDING), _OWN),
    Recipe("words + last 60", (_WORDS, _ENDING), (STANCES, BOTH_SIDES)),
    Recipe("words + last 60", (_WORDS, _ENDING), _TWO),
    Recipe("words + last 60", (_WORDS, _ENDING), _THREE),
    Recipe("words + last 40", (_WORDS, Block("masked", (1, 2), last=40)), _THREE),
    Recipe("words + last 100", (_WORDS, Block("masked", (1, 2), last=100)), _THREE),
    Recipe("words + last 200", (_WORDS, Block("masked", (1, 2), last=200)), _THREE),
    Recipe("words + last 100, single words", (_WORDS, _SINGLE), _THREE),
    Recipe("words + last 100, single words", (_WORDS, _SINGLE), _TWO),
    Recipe("words + first 100 + last 100", (_WORDS, Block("masked", (1, 2), first=100), _SINGLE), _THREE),
    Recipe("words + beginnings + last 60", (_WORDS, _HEADS, _ENDING), _THREE),
    Recipe("whole", FEATURES["whole"], _THREE),
    Recipe("whole", FEATURES["whole"], _TWO),
    Recipe("whole + first 1000 letters", (*FEATURES["whole"], _LETTERS), _TWO),
    Recipe("whole + form and overlap", (*FEATURES["whole"], Block("form", (1, 1), scale=0.5)), _TWO),
    Recipe("whole + words of the request", (*FEATURES["whole"], Block("request", (1, 2))), _TWO, _REQUEST),
)
_BASE = (*_OPENING, _LETTERS)
_BEGIN, _FURTHER, _LONG = FEATURES["frames"][-3:]
_FULL = (*_ALL, BUILTIN, PRACTICE)
REFUSAL_FRAMES = (
    Recipe("opening + first 1000 letters", _BASE, (*_ALL, BUILTIN)),
    Recipe("opening + first 1000 letters", _BASE, _FULL, practice=(PRACTICE,)),
    Recipe("frames of first 15 and 60 words", (_BEGIN, _FURTHER), (*_ALL, BUILTIN)),
    Recipe("opening + letters + frames of 15 and 60", (*_BASE, _BEGIN, _FURTHER), (*_ALL, BUILTIN)),
    Recipe("opening + letters + frames of 15 and 60", (*_BASE, _BEGIN, _FURTHER), _FULL),
    Recipe("frames", FEATURES["frames"], _FULL, practice=(PRACTICE,)),
)
_FRAME, _AIM = Block("frame", (1, 2), counts=True), FEATURES["stance"][-1]
_SIDE = (BOTH_SIDES, LEVELS)
HEDGING_AIM = (
    Recipe("whole", FEATURES["whole"], _THREE, practice=_SIDE),
    Recipe("aim of the request alone", (_AIM,), _THREE, practice=_SIDE),
    Recipe("frames of all words, counted", (_FRAME,), _THREE, practice=_SIDE),
    Recipe("whole + aim", FEATURES["stance"], _OWN),
    Recipe("whole + aim", FEATURES["stance"], _TWO, practice=(LEVELS,)),
    Recipe("whole + aim", FEATURES["stance"], _THREE),
    Recipe("whole + aim", FEATURES["stance"], _THREE, practice=_SIDE),
    Recipe("whole + aim + frames", (*FEATURES["stance"], _FRAME), _THREE, practice=_SIDE),
    Recipe(
        "whole + aim + frames of the last 100 words",
        (*FEATURES["stance"], Block("frame", (1, 2), last=100, counts=True)),
        _THREE,
        practice=_SIDE,
    ),
)

SECOND_CHOICE = (
    Recipe("frames", FEATURES["frames"], _FULL, practice=(PRACTICE,)),
    Recipe("whole + aim", FEATURES["stance"], _THREE, practice=_SIDE),
)
"""What the second round chose, before the third look at the testing halves."""

_FOUR, _OTHERS = (*_THREE, WRITTEN), (*_SIDE, WRITTEN)
_ENDS = (*FEATURES["stance"], Block("frame", (1, 2), last=100, counts=True))
HEDGING_WRITTEN = (
    SECOND_CHOICE[1],
    Recipe("whole + aim", FEATURES["stance"], _FOUR, practice=_OTHERS),
    Recipe("whole + aim", FEATURES["stance"], _FOUR),
    Recipe("whole + aim + frames of the last 100 words", _ENDS, _FOUR, practice=_OTHERS),
    Recipe("whole + aim + frames of the last 100 words", _ENDS, _FOUR),
)

SHIPS = (SECOND_CHOICE[0], HEDGING_WRITTEN[1])
"""Chosen by the experiments on the fitting halves, before the last look at the testing halves; see the page."""
