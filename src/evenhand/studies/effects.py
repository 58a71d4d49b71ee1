"""Which questions tell the chosen output from the rejected one? A pure function of a rating run's tables."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.execution import RunFolder, UnwritableError, keeping
from evenhand.report.effects_summary import Effect, EffectsSummary, GraderEffects, QuestionEffect, Reliability
from evenhand.statistics import Estimate
from evenhand.statistics.clustered_means import ClusteredMeans
from evenhand.statistics.multiplicity import q_values
from evenhand.statistics.paired_effects import chosen_higher, or_none, order_effect
from evenhand.statistics.ranks import signed_auc
from evenhand.statistics.redundancy import SAMPLE, redundant_clusters, representative, spearman_matrix
from evenhand.statistics.reliability import correlation, intraclass, lengthened, same_sign
from evenhand.studies.label_leak import LEAK_SIZE, LeakFigures, told_protocols
from evenhand.studies.made_from import made_from
from evenhand.studies.rating_matrices import BOTH_ORDERS, Ratings
from evenhand.studies.rating_run import RatingRun
from evenhand.studies.run_pairs import RunPairs

Floats: TypeAlias = npt.NDArray[np.float64]

CLUSTERS = ("input", "pair")
"""What intervals may keep together."""
REDUNDANCY_DISTANCE = 0.3
"""Clusters are joined up to this mean of 1 - |rho|: questions in one share about half of their variance or more."""
POINTS = (-10.0, 10.0)
"""The least and the largest difference of two ratings."""
_FEW_CLUSTERS = 30
"""Below about as many clusters intervals undercover (Cameron, Gelbach and Miller 2008, on few clusters)."""


def effects(
    folder: Path,
    *,
    grader: str | None = None,
    cluster: str = "input",
    equal_within: float = 0.5,
    seed: int = 0,
    draws: int = 2000,
    unkept: Callable[[UnwritableError], object] | None = None,
) -> EffectsSummary:
    """Work out the figures of a rating run, write them to ``effects.json`` in its folder, and return them.

    Args:
        folder: of a run of ``evenhand rate``.
        grader: only this one; None for all.
        cluster: what intervals keep together: ``input``, or ``pair`` for what holds over these inputs alone.
        equal_within: outputs whose ratings differ by less count as equal, in rating points.
        seed: of the resamples.
        draws: how many resamples.
        unkept: is told where the figures can't be written, and they are returned all the same.
    """
    if cluster not in CLUSTERS:
        raise InputError(f"is {cluster!r}", field="--cluster", way_out=f"use {' or '.join(CLUSTERS)}")
    if not equal_within >= 0:
        raise InputError(f"is {equal_within:g}", field="--equal-within", way_out="give 0 or more rating points")
    run = RatingRun(folder)
    graders = run.choose_graders(grader)
    pairs = run.pairs(cluster)
    means = ClusteredMeans(pairs.clusters, seed=seed, draws=draws)
    inputs = int(pairs.clusters.max(initial=-1)) + 1
    summary = EffectsSummary(
        pairs=len(pairs),
        ties=int(pairs.tie.sum()),
        inputs=inputs,
        length=effect_of(pairs.length, pairs, means),
        blocks=tuple(
            _GraderFigures(run, name, pairs, means, seed=seed, within=equal_within).block() for name in graders
        ),
        cluster=cluster,
        equal_within=equal_within,
        redundancy_distance=REDUNDANCY_DISTANCE,
        leak_size=LEAK_SIZE,
        draws=draws,
        seed=seed,
        remarks=tuple(_remarks(pairs, inputs, cluster)),
        made_from=made_from(folder),
    )
    with keeping(unkept):
        RunFolder(folder).write_json("effects.json", summary.as_json())
    return summary


def effect_of(
    differences: Floats,
    pairs: RunPairs,
    means: ClusteredMeans,
    *,
    within: float = 0.0,
    bounds: tuple[float, float] | None = None,
) -> Effect:
    """Return the effect of a difference, shape (pairs,), over the pairs that are no ties; its q value is left out.

    Differences smaller than ``within`` count as equal; ``bounds`` are the least and the largest difference that there
    could be.
    """
    known = np.where(pairs.tie, np.nan, differences)
    higher = chosen_higher(known, within)
    use = ~np.isnan(known)
    p = means.p_value(higher, 0.5)
    return Effect(
        superiority=means.mean(higher, bounds=(0.0, 1.0)),
        mean_difference=means.mean(known, bounds=bounds),
        auc=auc_of(known, means),
        equal=float(np.mean(higher[use] == 0.5)) if use.any() else None,
        p_value=or_none(p),
        q_value=None,
    )


def auc_of(margins: Floats, means: ClusteredMeans) -> Estimate:
    """Estimate the area under the curve over randomly signed margins, shape (pairs,), NaN where there is none."""
    use = ~np.isnan(margins)
    if use.sum() < 2:
        return Estimate.missing("fewer than two pairs", n=int(use.sum()))
    values = np.full(margins.size, np.nan)
    _, values[use] = signed_auc(margins[use])
    # The values stand for pairs in an approximation, and may lie beyond what an area can be.
    return means.mean(values, bounds=(0.0, 1.0)).within(0.0, 1.0)


def _remarks(pairs: RunPairs, inputs: int, cluster: str) -> Iterator[str]:
    if cluster == "pair":
        yield "intervals keep pairs and not inputs together: they speak of these inputs alone and of no others"
    if inputs < _FEW_CLUSTERS:
        yield (
            f"with {inputs} {cluster}s the intervals are rough and rather too narrow;"
            f" {_FEW_CLUSTERS} or more are advised"
        )
    ties = int(pairs.tie.sum())
    if ties:
        yield f"{ties} of {len(pairs)} pairs are ties and enter only reliability and redundancy"


class _GraderFigures:
    """One grader's ratings and the figures that come of them."""

    def __init__(
        self, run: RatingRun, grader: str, pairs: RunPairs, means: ClusteredMeans, *, seed: int, within: float
    ) -> None:
        self._within = within
        self._run, self._grader, self._pairs, self._means, self._seed = run, grader, pairs, means, seed
        self._protocol = run.main_protocol(grader)
        self._count = len(run.questions)

    def block(self) -> GraderEffects:
        told = told_protocols(self._run, self._grader, self._protocol)
        ratings, *telling = (
            self._run.ratings(self._grader, name, self._pairs, side_by_side=1 + len(told))
            for name in (self._protocol, *told)
        )
        directions = [question["direction"] for question in self._run.questions]
        leak = LeakFigures(ratings, telling, directions, self._pairs, self._means, within=self._within)
        sampled = self._sampled()
        figures: list[Effect] = []
        reliability: list[Reliability] = []
        known: list[int] = []
        states: list[dict[str, dict[str, int]]] = []
        columns = np.empty((sampled.size, self._count))
        # All about one question before the next: a few questions at a time are held.
        for index in range(self._count):
            gap = ratings.differences(index)
            figures.append(effect_of(gap, self._pairs, self._means, within=self._within, bounds=POINTS))
            reliability.append(self._reliability(ratings, index))
            known.append(int((~np.isnan(gap)).sum()))
            states.append({"chosen": ratings.states_of(index, 0), "rejected": ratings.states_of(index, 1)})
            columns[:, index] = gap[sampled]
            leak.add(index)
        q_of = q_values([figure.p_value for figure in figures])
        correlations = spearman_matrix(columns)
        clusters = redundant_clusters(correlations, REDUNDANCY_DISTANCE)
        heads = {representative(members, [figure.superiority.value for figure in figures]) for members in clusters}
        cluster_of = {index: number for number, members in enumerate(clusters, 1) for index in members}
        whole, leaks = leak.figures()
        return GraderEffects(
            grader=self._grader,
            protocol=self._protocol,
            orders=ratings.orders,
            questions=tuple(
                QuestionEffect(
                    question=question["id"],
                    text=question["text"],
                    direction=question["direction"],
                    states=states[index],
                    pairs=known[index],
                    effect=replace(figures[index], q_value=q_of[index]),
                    reliability=reliability[index],
                    cluster=cluster_of[index],
                    representative=index in heads,
                    leak=leaks[index],
                )
                for index, question in enumerate(self._run.questions)
            ),
            spearman=tuple(tuple(or_none(rho) for rho in row) for row in correlations),
            leak=whole,
            leak_orders=leak.orders,
            remarks=(*self._remarks(ratings), *leak.remarks),
        )

    def _remarks(self, ratings: Ratings) -> Iterator[str]:
        if self._protocol == "labelled":
            yield "the grader was told which output was chosen; the effects show what it made of that too"
        if self._protocol == "label_swap":
            yield "only the label-swap probe was rated: the grader was told the wrong label, and so the effects mislead"
        if len(set(ratings.orders) & set(BOTH_ORDERS)) == 1:
            yield "outputs were shown in one order only: an effect can't be told from a liking for a place"

    def _sampled(self) -> npt.NDArray[np.int64]:
        """Return the pairs that rank correlations rest on: a sample where there are many."""
        rows = np.arange(len(self._pairs))
        if rows.size > SAMPLE:
            rows = np.sort(np.random.default_rng(self._seed).choice(rows.size, SAMPLE, replace=False))
        return rows

    def _reliability(self, ratings: Ratings, index: int) -> Reliability:
        if ratings.both_orders():
            first, second = (ratings.differences(index, [order]) for order in BOTH_ORDERS)
            orders = correlation(first, second, self._pairs.clusters)
            both = lengthened(orders, 2)
            same = self._means.mean(same_sign(first, second), bounds=(0.0, 1.0))
            place = self._means.mean(order_effect(first, second), bounds=POINTS)
        else:
            orders = both = same = place = Estimate.missing("outputs were not shown in both orders")
        return Reliability(orders, both, same, _repeats(ratings, index), place)


def _repeats(ratings: Ratings, index: int) -> Estimate:
    """Return the reliability of a single repeat, the mean over the orders."""
    parts = ratings.repeats(index)
    if not parts:
        return Estimate.missing("nothing was asked more than once")
    found = [intraclass(n.astype(np.float64), sums, squares) for n, sums, squares in parts]
    known = [(value, size) for value, size in found if not math.isnan(value)]
    if not known:
        return Estimate.missing("fewer than three pairs were rated more than once, or the ratings do not vary")
    n = max(int((count >= 2).sum()) for count, _, _ in parts)
    size = sum(size for _, size in known) / len(known)
    return Estimate(
        sum(value for value, _ in known) / len(known), None, None, n, n, f"ICC(1), {size:.3g} repeats; no interval"
    )
