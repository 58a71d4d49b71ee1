"""Every figure of an audit is estimated here, over the same clusters and with the same draws."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evenhand.pairs import PairedPrompt
from evenhand.report import Analysis
from evenhand.statistics import ClusterBootstrap, Estimate, robust
from evenhand.statistics.group_tests import GroupTests
from evenhand.statistics.macro import Averages, MacroAverages
from evenhand.statistics.ranks import average_ranks
from evenhand.statistics.reliability import correlation
from evenhand.statistics.sign_test import SignTest, sign_test
from evenhand.studies.audit.arrays import Bools, Floats, above

SHARE = (0.0, 1.0)
SIGNED = (-1.0, 1.0)
_NO_SPREAD = 1e-12


class Estimates:
    """Estimates over the pairs of an audit at its threshold. Values have the shape (pairs,), NaN where unknown."""

    def __init__(self, pairs: Sequence[PairedPrompt], analysis: Analysis) -> None:
        self._stances = [pair.stance_id for pair in pairs]
        self._clusters = [pair.topic for pair in pairs] if analysis.unit == "topic" else self._stances
        self.threshold = analysis.threshold
        self._seed = analysis.seed
        self._bootstrap = ClusterBootstrap(
            self._clusters, seed=analysis.seed, draws=analysis.draws, kind=analysis.interval
        )
        self._macro = MacroAverages(
            self._stances,
            [pair.topic for pair in pairs],
            seed=analysis.seed,
            draws=analysis.draws,
            kind=analysis.interval,
            unit="topics" if analysis.unit == "topic" else "stance pairs",
        )
        self._tests: dict[str, GroupTests] = {}

    def mean(self, values: Floats, bounds: tuple[float, float] | None = SHARE) -> Estimate:
        """Estimate a mean; ``bounds`` are the least and the largest value that a pair could have."""
        return self._bootstrap.mean(values, bounds=bounds)

    def over(self, values: Floats) -> Floats:
        """Return 1 where a value is above the threshold, 0 where not, NaN where it is unknown."""
        return above(values, self.threshold)

    def rate(self, values: Floats) -> Estimate:
        """Estimate the share of values above the threshold."""
        return self.mean(self.over(values))

    def averages(self, over: Floats) -> Averages:
        """Estimate a rate in which each pair, each stance pair or each topic counts the same."""
        return self._macro.of(over, bounds=SHARE)

    def robust(self, over: Floats) -> Estimate:
        """Estimate a rate with the analytic cluster-robust interval."""
        return robust.mean(over, self._clusters, scale="logit")

    def sign_test(self, lean: Floats, uneven: Bools) -> SignTest:
        """Test whether uneven pairs go to the two sides alike."""
        return sign_test(lean, self._bootstrap, where=uneven)

    def difference(self, over: Floats, inside: Bools) -> Estimate:
        """Estimate the rate of some pairs minus that of all others.

        Where all pairs of one of the two are the same, resamples would take its rate for certain. The interval is
        then put together from those of the two rates (MOVER: Zou and Donner 2008, Statistics in Medicine 27), which
        leaves out that shared clusters make it shorter.
        """
        some, others = np.where(inside, over, np.nan), np.where(inside, np.nan, over)
        found = self._bootstrap.difference(some, others, bounds=SIGNED)
        if found.value is None or (_varies(some) and _varies(others)):
            return found
        ends = _mover(self.mean(some), self.mean(others))
        if ends is None:
            return replace(found, low=None, high=None, method="no interval: one cluster")
        return replace(
            found, low=ends[0], high=ends[1], method="from the intervals of both rates, one without variation"
        )

    def change(self, over: Floats, kept: Bools) -> Estimate:
        """Estimate the rate of some pairs minus that of all, those included.

        It is the rate of the kept minus that of the others, times the share of the others.
        """
        found = self.difference(over, kept)
        known = ~np.isnan(over)
        others = float((known & ~kept).sum() / max(known.sum(), 1))
        value, low, high, error = (
            None if part is None else others * part
            for part in (found.value, found.low, found.high, found.standard_error)
        )
        return replace(found, value=value, low=low, high=high, n=int((known & kept).sum()), standard_error=error)

    def group_p_values(self, by: str, names: Sequence[str], over: Floats) -> list[float | None]:
        """Return a p value for each distinct name, in the order in which they come up; see ``GroupTests``.

        Templates are compared within stance pairs, whatever intervals resample.
        """
        if by not in self._tests:
            clusters = self._stances if by == "template" else self._clusters
            self._tests[by] = GroupTests(clusters, names, seed=self._seed)
        return self._tests[by].p_values(over)

    def line(self, x: Floats, y: Floats) -> tuple[Estimate, Estimate]:
        """Estimate the slope of the least squares line of y on x, and its height where x is 0."""
        known = ~(np.isnan(x) | np.isnan(y))
        if not known.any() or np.ptp(x[known]) == 0:
            missing = Estimate.missing("the lengths do not vary" if known.any() else "no rows", n=int(known.sum()))
            return missing, missing
        # About the middle: sums of squares far from 0 would lose the digits that differ.
        middle = float(np.mean(x[known]))
        u = np.where(known, x - middle, np.nan)
        columns = [np.where(known, 1.0, np.nan), u, y, u * u, u * y]

        def slope(sums: Floats) -> Floats:
            n, u, y, uu, uy = sums
            spread = n * uu - u * u
            # Without spread there is no slope; rounding alone must not make one.
            return np.where(spread > _NO_SPREAD * n * uu, (n * uy - u * y) / spread, np.nan)

        def height(sums: Floats) -> Floats:
            n, u, y, *_ = sums
            found: Floats = (y - slope(sums) * u) / n - slope(sums) * middle
            return found

        return self._bootstrap.statistic(columns, slope), self._bootstrap.statistic(columns, height)

    def rank_correlation(self, x: Floats, y: Floats) -> Estimate:
        """Estimate Spearman's rank correlation: ``correlation`` of the ranks, taken as they are."""
        known = ~(np.isnan(x) | np.isnan(y))
        ranks = []
        for values in (x, y):
            own = np.full(values.shape, np.nan)
            own[known] = average_ranks(values[known])
            ranks.append(own)
        found = correlation(ranks[0], ranks[1], self._bootstrap.of_row)
        if found.value is None:
            reason = "fewer than 3 stance pairs" if found.clusters < 3 else "the lengths or the verdicts do not vary"
            return Estimate.missing(reason, n=found.n, clusters=found.clusters)
        return found


def _varies(values: Floats) -> bool:
    return bool(np.nanmax(values) > np.nanmin(values))


def _mover(one: Estimate, other: Estimate) -> tuple[float, float] | None:
    """Return the interval of one rate minus the other, from the intervals of the two."""
    if one.value is None or one.low is None or one.high is None:
        return None
    if other.value is None or other.low is None or other.high is None:
        return None
    difference = one.value - other.value
    return (
        difference - math.hypot(one.value - one.low, other.high - other.value),
        difference + math.hypot(one.high - one.value, other.value - other.low),
    )
