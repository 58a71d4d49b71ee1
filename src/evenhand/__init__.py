"""Measure whether a language model treats opposing sides alike, and what preference data reward."""

__version__ = "0.1.0"
