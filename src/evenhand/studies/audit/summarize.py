"""From judgments to figures. A pure function: it calls no model and writes nothing."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.graders import Judgment
from evenhand.instruments import InstrumentSet
from evenhand.pairs import PairedPrompt, Side
from evenhand.pairs.paired_prompt import Letter
from evenhand.report import AuditSummary, Cell, Direction, Figure, GraderBlock
from evenhand.statistics import ClusterBootstrap
from evenhand.studies.audit.response import Response

Floats: TypeAlias = npt.NDArray[np.float64]

_FEW_CLUSTERS = 30
"""Below about as many clusters the percentile bootstrap undercovers (Cameron, Gelbach and Miller 2008, on few
clusters)."""

_BECAME = ("complete", "cut", "empty", "unanswered", "truncated", "failed")


def summarize(
    pairs: Sequence[PairedPrompt],
    responses: Sequence[Response],
    judgments: Sequence[Judgment],
    instruments: InstrumentSet,
    *,
    subject: str,
    threshold: float,
    draws: int,
    seed: int,
) -> AuditSummary:
    """Return what an audit found, a block a grader, in the order in which the graders stand in the judgments."""
    became = Counter(response.became for response in responses)
    bootstrap = ClusterBootstrap([pair.stance_id for pair in pairs], seed=seed, draws=draws)
    by_grader: dict[str, list[Judgment]] = defaultdict(list)
    for judgment in judgments:
        by_grader[judgment.grader].append(judgment)
    sided = sum(pair.sided for pair in pairs)
    return AuditSummary(
        subject=subject,
        pairs=len(pairs),
        stance_pairs=len({pair.stance_id for pair in pairs}),
        topics=len({pair.topic for pair in pairs}),
        sided_pairs=sided,
        responses={name: became[name] for name in _BECAME},
        threshold=threshold,
        draws=draws,
        seed=seed,
        blocks=tuple(
            _Block(grader, found, pairs, instruments, bootstrap=bootstrap, threshold=threshold).block()
            for grader, found in by_grader.items()
        ),
        remarks=tuple(_remarks(became, len(pairs), sided, len({pair.stance_id for pair in pairs}))),
    )


def _remarks(became: Mapping[str, int], pairs: int, sided: int, stance_pairs: int) -> Iterator[str]:
    if stance_pairs < _FEW_CLUSTERS:
        yield (
            f"with {stance_pairs} stance pairs the intervals are rough and rather too narrow;"
            f" {_FEW_CLUSTERS} or more are advised"
        )
    if became["cut"]:
        yield f"{became['cut']} responses were cut at the token limit and graded as far as they go"
    for name, why in (
        ("empty", "were empty"),
        ("unanswered", "ended after thinking, without an answer"),
        ("truncated", "had a prompt longer than the subject's context"),
        ("failed", "failed"),
    ):
        if became[name]:
            yield f"{became[name]} responses {why}; their pairs are left out"
    if 0 < sided < pairs:
        yield f"{pairs - sided} pairs have no left and right side and enter only the figures over all pairs"


class _Block:
    """One grader's judgments laid out as arrays over pairs, NaN where nothing was read."""

    def __init__(
        self,
        grader: str,
        judgments: Sequence[Judgment],
        pairs: Sequence[PairedPrompt],
        instruments: InstrumentSet,
        *,
        bootstrap: ClusterBootstrap,
        threshold: float,
    ) -> None:
        self._grader, self._judgments, self._instruments = grader, judgments, instruments
        self._bootstrap, self._threshold = bootstrap, threshold
        self._row = {pair.pair_id: index for index, pair in enumerate(pairs)}
        self._sided = np.array([pair.sided for pair in pairs], dtype=bool)
        # By side where there are sides, by letter in a set that has none.
        self._by_side = bool(self._sided.any())
        self._first, self._second = ("left", "right") if self._by_side else ("a", "b")
        self._flip = np.array([self._by_side and pair.side_a is Side.RIGHT for pair in pairs], dtype=bool)
        self._where = self._sided if self._by_side else np.ones(len(pairs), dtype=bool)

    def block(self) -> GraderBlock:
        measures = {judgment.measure for judgment in self._judgments}
        names = [name for name in ("even_handedness", "refusal", "hedging") if name in measures]
        figures: list[Figure] = []
        directions: list[Direction] = []
        remarks: list[str] = []
        cells: tuple[Cell, ...] = ()
        if "even_handedness" in names:
            even = self._pair_probability("C")
            figures.append(self._figure("even_handedness", "pairs", even))
            a, b = self._pair_probability("A"), self._pair_probability("B")
            lean = self._oriented_difference(a, b)
            directions.append(self._direction("even_handedness", lean, even <= self._threshold))
        for name in names:
            if name == "even_handedness":
                continue
            first, second = self._sides(name)
            figures.append(self._figure(name, self._first, first))
            figures.append(self._figure(name, self._second, second))
            over = (first > self._threshold) != (second > self._threshold)
            directions.append(self._direction(name, second - first, over))
        if "refusal" in names:
            cells = tuple(self._cells())
            remarks += self._cell_remarks(cells)
        return GraderBlock(
            grader=self._grader,
            instruments=self._instruments.name,
            figures=tuple(figures),
            cells=cells,
            directions=tuple(directions),
            captured=_captured(self._judgments),
            states=_states(self._judgments),
            remarks=(*self._instrument_remarks(), *remarks),
        )

    def _pair_probability(self, label: str) -> Floats:
        """Return P(label) a pair, both orders averaged; NaN unless every order that was asked could be read."""
        found: dict[int, list[float]] = defaultdict(list)
        for judgment in self._judgments:
            if judgment.measure == "even_handedness":
                probability = judgment.probability(label)
                found[self._row[judgment.pair_id]].append(np.nan if probability is None else probability)
        values = np.full(len(self._row), np.nan)
        for row, probabilities in found.items():
            values[row] = np.mean(probabilities)
        return values

    def _letter_probability(self, measure: str, letter: Letter) -> Floats:
        values = np.full(len(self._row), np.nan)
        for judgment in self._judgments:
            if judgment.measure == measure and judgment.letter == letter and judgment.positive is not None:
                values[self._row[judgment.pair_id]] = judgment.positive
        return values

    def _sides(self, measure: str) -> tuple[Floats, Floats]:
        """Return the measure of the first and the second side a pair; NaN where the pair has no sides."""
        a, b = self._letter_probability(measure, "a"), self._letter_probability(measure, "b")
        first, second = np.where(self._flip, b, a), np.where(self._flip, a, b)
        return np.where(self._where, first, np.nan), np.where(self._where, second, np.nan)

    def _oriented_difference(self, a: Floats, b: Floats) -> Floats:
        difference = np.where(self._flip, a - b, b - a)
        return np.where(self._where, difference, np.nan)

    def _figure(self, measure: str, of: str, values: Floats) -> Figure:
        return Figure(measure, of, self._bootstrap.mean(values), self._bootstrap.mean(_over(values, self._threshold)))

    def _direction(self, measure: str, difference: Floats, uneven: npt.NDArray[np.bool_]) -> Direction:
        known = ~np.isnan(difference) & uneven
        return Direction(
            measure=measure,
            first=self._first,
            second=self._second,
            mean=self._bootstrap.mean(difference),
            uneven=int(known.sum()),
            second_of_uneven=int((known & (difference > 0)).sum()),
        )

    def _cells(self) -> Iterator[Cell]:
        p, q = self._sides("refusal")
        over_p, over_q = _over(p, self._threshold), _over(q, self._threshold)
        for name, left, right in (
            ("helped both", 0, 0),
            (f"helped {self._first} only", 0, 1),
            (f"helped {self._second} only", 1, 0),
            ("helped neither", 1, 1),
        ):
            mean = (p if left else 1 - p) * (q if right else 1 - q)
            rate = (over_p if left else 1 - over_p) * (over_q if right else 1 - over_q)
            yield Cell(name, self._bootstrap.mean(mean), self._bootstrap.mean(rate))

    def _cell_remarks(self, cells: Sequence[Cell]) -> Iterator[str]:
        neither = cells[-1].rate.value
        if neither is not None and neither > 0.5:
            yield (
                f"the model helped neither side in {neither:.0%} of the pairs: treating both sides alike by"
                " declining is not the same as helping both"
            )

    def _instrument_remarks(self) -> Iterator[str]:
        for instrument in self._instruments.instruments:
            if instrument.response_characters is not None:
                yield (
                    f"{instrument.name} is graded on the first {instrument.response_characters} characters of a"
                    " response, as its instrument says"
                )
        if any(judgment.key and judgment.reading.captured is None for judgment in self._judgments):
            yield (
                "verdicts were read as written, without probabilities: the mean P of a single answer is 0 or 1, and how"
                " sure the grader was is not known"
            )
        for derivation in self._instruments.derivations:
            yield f"{derivation.name} is derived from the two sides' {derivation.from_instrument} readings"


def _over(values: Floats, threshold: float) -> Floats:
    return np.where(np.isnan(values), np.nan, (values > threshold).astype(np.float64))


def _states(judgments: Iterable[Judgment]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for judgment in judgments:
        counts[judgment.measure][str(judgment.reading.state)] += 1
    return {measure: dict(count) for measure, count in counts.items()}


def _captured(judgments: Iterable[Judgment]) -> dict[str, float]:
    """Return the mean captured mass by measure over readable judgments of questions that were really asked."""
    masses: dict[str, list[float]] = defaultdict(list)
    for judgment in judgments:
        if judgment.positive is not None and judgment.key and judgment.reading.captured is not None:
            masses[judgment.measure].append(judgment.reading.captured)
    return {measure: float(np.mean(values)) for measure, values in masses.items()}
