"""Paired prompts and preference pairs: what is put before a model or a grader."""

from evenhand.pairs.builtin import BUILTIN_SETS, builtin_pairs
from evenhand.pairs.paired_prompt import PairedPrompt, Side, StanceKind
from evenhand.pairs.published_csv import read_paired_prompts
from evenhand.pairs.sampling import sample_pairs

__all__ = [
    "BUILTIN_SETS",
    "PairedPrompt",
    "Side",
    "StanceKind",
    "builtin_pairs",
    "read_paired_prompts",
    "sample_pairs",
]
