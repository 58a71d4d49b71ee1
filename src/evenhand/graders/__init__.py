"""Texts in, judgments out: an instrument put to a grader, and its answer read."""

from evenhand.graders.judgment import Judgment
from evenhand.graders.model_grader import Question, ask_all, derive, judge

__all__ = ["Judgment", "Question", "ask_all", "derive", "judge"]
