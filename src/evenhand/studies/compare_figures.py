"""The figures of several configurations side by side, over the same pairs and with the same draws."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.report.compare_summary import Change, ComparedFigure
from evenhand.statistics import ClusterBootstrap
from evenhand.statistics.bootstrap import Bounds
from evenhand.statistics.paired_differences import paired_differences
from evenhand.studies.audit.arrays import BlockArrays, Floats, above
from evenhand.studies.audit.directions import oriented, pair_values
from evenhand.studies.audit.estimates import SHARE, SIGNED
from evenhand.studies.audit.positions import place_effect, same_verdict
from evenhand.studies.audit.summarize import MEASURES


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a figure is the mean of."""

    values: Floats
    """One a pair, NaN where unknown."""
    bounds: Bounds
    """The least and the largest that a pair could have."""

    @property
    def bounds_of_difference(self) -> Bounds:
        """The least and the largest difference between two configurations."""
        least, largest = self.bounds
        return least - largest, largest - least


def quantities(arrays: BlockArrays, threshold: float) -> dict[str, Quantity]:
    """Return what the figures of a block are the means of, by the names that they have in an audit's summary."""
    return dict(_quantities(arrays, threshold))


def compared_figures(
    by_configuration: Mapping[str, BlockArrays], bootstrap: ClusterBootstrap, *, baseline: str, threshold: float
) -> tuple[ComparedFigure, ...]:
    """Return every figure that all configurations have.

    Args:
        by_configuration: what one block found, by the names of the configurations.
        bootstrap: over the pairs of the arrays.
        baseline: the configuration that others are compared with.
        threshold: of the rates.
    """
    found = {name: quantities(arrays, threshold) for name, arrays in by_configuration.items()}
    common = [name for name in found[baseline] if all(name in each for each in found.values())]
    return tuple(
        _figure(name, {configuration: each[name] for configuration, each in found.items()}, bootstrap, baseline)
        for name in common
    )


def _figure(name: str, quantity: Mapping[str, Quantity], bootstrap: ClusterBootstrap, baseline: str) -> ComparedFigure:
    differences = paired_differences(
        {configuration: one.values for configuration, one in quantity.items()},
        bootstrap,
        baseline=baseline,
        bounds=quantity[baseline].bounds_of_difference,
    )
    return ComparedFigure(
        name=name,
        estimates=tuple(bootstrap.mean(one.values, bounds=one.bounds) for one in quantity.values()),
        changes=tuple(
            Change(one.second, one.difference, one.p, one.adjusted, one.detectable, one.method) for one in differences
        ),
    )


def _quantities(arrays: BlockArrays, threshold: float) -> Iterator[tuple[str, Quantity]]:
    measures = [measure for measure in MEASURES if arrays.measured(measure)]
    for measure in measures:
        parts = {measure: pair_values(measure, arrays)[0]}
        if arrays.of_responses(measure):
            sides = zip((arrays.sides.first, arrays.sides.second), arrays.by_side(measure), strict=True)
            parts |= {f"{measure}.{side}": values for side, values in sides}
        for name, values in parts.items():
            yield f"{name}.rate", Quantity(above(values, threshold), SHARE)
            yield f"{name}.mean", Quantity(values, SHARE)
    for measure in measures:
        lean, _ = oriented(measure, arrays, threshold)
        yield f"{measure}.direction.mean", Quantity(lean, SIGNED)
    if arrays.of_responses("refusal"):
        yield from _cells(arrays, threshold)
    for measure in measures:
        if len(arrays.orders(measure)) > 1:
            ab, ba = arrays.shown[measure, "ab"], arrays.shown[measure, "ba"]
            yield f"{measure}.position.swap_consistency", Quantity(same_verdict(ab, ba), SHARE)
            yield f"{measure}.position.effect", Quantity(place_effect(ab, ba), SIGNED)


def _cells(arrays: BlockArrays, threshold: float) -> Iterator[tuple[str, Quantity]]:
    p, q = arrays.by_side("refusal")
    over_p, over_q = above(p, threshold), above(q, threshold)
    yield "cells.helped_both.rate", Quantity((1 - over_p) * (1 - over_q), SHARE)
    yield "cells.helped_both.mean", Quantity((1 - p) * (1 - q), SHARE)
    yield "cells.helped_neither.rate", Quantity(over_p * over_q, SHARE)
    yield "cells.helped_neither.mean", Quantity(p * q, SHARE)


def rates(figures: Sequence[ComparedFigure]) -> dict[str, list[float]]:
    """Return the rate of each measure of every configuration, NaN where it is unknown."""
    return {
        measure: [float("nan") if one.value is None else one.value for one in figure.estimates]
        for figure in figures
        for measure in MEASURES
        if figure.name == f"{measure}.rate"
    }
