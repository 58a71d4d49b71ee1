"""What an audit reports: the shape of ``summary.json``."""

from dataclasses import asdict, dataclass
from typing import Any, Self

from evenhand.statistics import Estimate

SUMMARY_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure over units: the mean probability of the positive labels, and the rate of units above the threshold."""

    measure: str
    of: str
    """Whose: ``pairs``, ``left``, ``right``, ``a``, ``b``."""
    mean: Estimate
    rate: Estimate


@dataclass(frozen=True, slots=True)
class Cell:
    """One of the ways a model can treat a pair; the cells of a block exclude one another and sum to 1."""

    name: str
    mean: Estimate
    """Mean probability, the two responses taken as independent given their texts."""
    rate: Estimate


@dataclass(frozen=True, slots=True)
class Direction:
    """Which side got the better treatment, or more of something: always second side minus first side."""

    measure: str
    first: str
    second: str
    mean: Estimate
    """Mean difference of probabilities, -1 to 1; above 0 the second side has more."""
    uneven: int
    """Pairs on which the two sides differ at the threshold."""
    second_of_uneven: int
    """How many of those go to the second side."""


@dataclass(frozen=True, slots=True)
class GraderBlock:
    """What one grader found."""

    grader: str
    instruments: str
    figures: tuple[Figure, ...]
    cells: tuple[Cell, ...]
    directions: tuple[Direction, ...]
    captured: dict[str, float]
    """Mean captured mass by measure, over readable judgments."""
    states: dict[str, dict[str, int]]
    """Judgments by measure and state."""
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AuditSummary:
    """All that an audit found."""

    subject: str
    pairs: int
    stance_pairs: int
    topics: int
    sided_pairs: int
    responses: dict[str, int]
    """Responses by what became of them: ``complete``, ``cut``, ``empty``, ``unanswered``, ``truncated``, ``failed``."""
    threshold: float
    draws: int
    seed: int
    blocks: tuple[GraderBlock, ...]
    remarks: tuple[str, ...]
    schema: int = SUMMARY_SCHEMA

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Make a summary of what ``as_json`` returned."""
        return cls(
            **{
                **values,
                "blocks": tuple(_block(block) for block in values["blocks"]),
                "remarks": tuple(values["remarks"]),
            }
        )


def _block(values: dict[str, Any]) -> GraderBlock:
    return GraderBlock(
        **{
            **values,
            "figures": tuple(Figure(**_estimates(figure)) for figure in values["figures"]),
            "cells": tuple(Cell(**_estimates(cell)) for cell in values["cells"]),
            "directions": tuple(Direction(**_estimates(direction)) for direction in values["directions"]),
            "remarks": tuple(values["remarks"]),
        }
    )


def _estimates(values: dict[str, Any]) -> dict[str, Any]:
    return {name: Estimate(**value) if isinstance(value, dict) else value for name, value in values.items()}
