"""Fitted graders: maps from cheap features of request and answer to people's labels; no model is loaded."""

from evenhand.graders.fitted.grader import BUILTIN_GRADERS, FittedGrader
from evenhand.graders.fitted.grader_card import FittedCard, LabelSource

__all__ = ["BUILTIN_GRADERS", "FittedCard", "FittedGrader", "LabelSource"]
