"""What was tried for the wording of the compact instruments, on the fitting halves alone.

    python -m bench.compact_wordings ask GOLD_FOLDER REPLIES_FOLDER [SET...]   # puts the wordings to the model
    python -m bench.compact_wordings page GOLD_FOLDER REPLIES_FOLDER           # docs/validation/compact.md

REPLIES_FOLDER keeps every reply: what was asked is not asked again, and the page is of what was asked so far. On two
quiet cores all of it takes about half an hour.
"""

import asyncio
import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.compact_examples import HEDGES, LONGEST_REQUEST, REFUSALS, REMARKS, Wording
from bench.compact_pages import compact_page
from evenhand.execution import Ledger
from evenhand.graders import Question, ask_all
from evenhand.instruments import InstrumentSet
from evenhand.models import Model, ModelRole, open_model
from evenhand.pairs import PairedPrompt
from evenhand.pairs.gold import GoldItem, GoldMeasure, GoldSet, read_gold
from evenhand.pairs.paired_prompt import Letter
from evenhand.statistics import ClusterBootstrap, Estimate
from evenhand.statistics.detection import roc_auc, scored_rows
from evenhand.studies.audit.grade import grade
from evenhand.studies.carrier import Carrier
from evenhand.studies.validation_scores import Scores, as_pair, scores_of
from evenhand.studies.validity import clusters_of, gold_classes
from evenhand.studies.watch import UnwatchedStudy

GRADER = "qwen2.5-coder-0.5b"
PAGE = Path(__file__).parent.parent / "docs" / "validation" / "compact.md"
DRAWS = 2000
SIZES = {
    "xstest": 60,
    "issuebench-refusal": 24,
    "builtin-refusal": 24,
    "issuebench-hedging": 24,
    "builtin-hedging": 16,
}
"""Answers drawn of each fitting half: as many positive as negative, and of either as many of each model."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """Items of one fitting half."""

    gold: GoldSet
    items: tuple[GoldItem, ...]
    positive: Floats
    bootstrap: ClusterBootstrap


@dataclass(frozen=True)
class Tried:
    """What one wording came to on one sample."""

    wording: str
    gold: str
    n: int
    auc: Estimate
    gain: Estimate | None
    """Its area under the curve less that of the first wording on the same items."""
    accuracy: float
    captured: float | None
    characters: int
    """Mean characters of an answer that were shown."""


def main(what: str, folder: Path, kept: Path, *only: str) -> None:
    """Ask, or write the page of what was asked."""
    kept.mkdir(parents=True, exist_ok=True)
    samples = [sample for name in ("xstest", "issuebench", "builtin") for sample in _samples(folder / name, name)]
    samples = [sample for sample in samples if not only or sample.gold.name in only]
    tried: list[Tried] = []
    left: list[str] = []
    with Ledger(kept / "ledger.sqlite") as ledger:
        model = open_model(GRADER, ModelRole.GRADER)
        for wordings in (REFUSALS, HEDGES):
            tried += asyncio.run(_all(wordings, samples, model, ledger, left if what == "page" else None))
        model.close()
    if what == "page":
        PAGE.write_text(compact_page(tried, left, GRADER, SIZES, REMARKS), "utf-8")


def _samples(folder: Path, name: str) -> list[Sample]:
    sets = read_gold(name, folder=None if name == "builtin" else folder)
    return [_sample(gold) for gold in sets if gold.name in SIZES]


def _sample(gold: GoldSet) -> Sample:
    classes = gold_classes(GoldMeasure(gold.items[0].measure))
    fit = [item for item in gold.items if item.split == "fit"]
    cells: dict[tuple[float, str], list[GoldItem]] = {}
    for item in sorted(fit, key=lambda item: hashlib.sha256(f"tried {item.item_id}".encode()).hexdigest()):
        code = classes.code(item.label)
        if not np.isnan(code):
            cells.setdefault((code, item.groups.get("model", "")), []).append(item)
    drawn: list[GoldItem] = []
    for code in (0.0, 1.0):
        lines = [items for (side, _), items in cells.items() if side == code]
        in_turn = [item for place in range(max(map(len, lines))) for line in lines for item in line[place : place + 1]]
        drawn += in_turn[: SIZES[gold.name] // 2]
    items = tuple(drawn)
    return Sample(gold, items, classes.codes(items), ClusterBootstrap(clusters_of(items)[1], seed=0, draws=DRAWS))


async def _all(
    wordings: Sequence[Wording], samples: Sequence[Sample], model: Model, ledger: Ledger, left: list[str] | None
) -> list[Tried]:
    """Return what the wordings came to. With ``left`` no model is called, and what was not asked is added to it."""
    found = []
    for sample in samples:
        base: Floats | None = None
        for wording in wordings:
            if sample.items[0].measure != wording.measure or (wording.only and sample.gold.name not in wording.only):
                continue
            pairs, questions = _asked(wording, sample)
            keys = [question.requests[0].key(model.identity) for question in questions]
            if left is not None and any(ledger.find(key) is None for key in keys):
                left.append(f"{wording.measure}, {wording.name}, on {sample.gold.name}")
                continue
            scores = await _scores(wording, sample, pairs, questions, model=model, ledger=ledger)
            one = _tried(wording, sample, questions, scores, base)
            base = scores.probability if base is None else base
            found.append(one)
            gain = "" if one.gain is None else f", gain {one.gain.value:.3f} [{one.gain.low:.3f}, {one.gain.high:.3f}]"
            print(f"{one.gold}: {one.wording}: AUC {one.auc.value:.3f}{gain}, right {one.accuracy:.2f}", flush=True)
    return found


def _asked(wording: Wording, sample: Sample) -> tuple[list[PairedPrompt], list[Question]]:
    _, clusters = clusters_of(sample.items)
    pairs = [as_pair(item, cluster) for item, cluster in zip(sample.items, clusters, strict=True)]
    pairs = [replace(pair, prompt_a=pair.prompt_a[:LONGEST_REQUEST]) for pair in pairs]
    texts: dict[tuple[str, Letter], str] = {
        (item.item_id, "a"): wording.shown(item.responses[0]) for item in sample.items
    }
    return pairs, list(ask_all(_set_of(wording, sample), pairs, texts))


def _set_of(wording: Wording, sample: Sample) -> InstrumentSet:
    return InstrumentSet(f"{wording.name} on {sample.gold.name}", (wording.instrument,))


async def _scores(
    wording: Wording,
    sample: Sample,
    pairs: Sequence[PairedPrompt],
    questions: Sequence[Question],
    *,
    model: Model,
    ledger: Ledger,
) -> Scores:
    instruments = _set_of(wording, sample)
    judgments = await grade(model, questions, instruments, pairs, Carrier(ledger, UnwatchedStudy()))
    return scores_of(pairs, judgments, instruments, sample.items[0].measure)


def _tried(
    wording: Wording, sample: Sample, questions: Sequence[Question], scores: Scores, base: Floats | None
) -> Tried:
    p = scores.probability
    return Tried(
        wording=wording.name,
        gold=sample.gold.name,
        n=len(sample.items),
        auc=roc_auc(p, sample.positive, sample.bootstrap),
        gain=None if base is None else auc_gain(p, base, sample.positive, sample.bootstrap),
        accuracy=float(np.mean((p > 0.5) == (sample.positive == 1))),
        captured=None if np.isnan(scores.masses).all() else float(np.nanmean(scores.masses)),
        characters=round(float(np.mean([len(question.responses[0]) for question in questions]))),
    )


def auc_gain(one: Floats, other: Floats, positive: Floats, bootstrap: ClusterBootstrap) -> Estimate:
    """Estimate the difference of two areas under the curve over the same items, with a bootstrap over clusters."""
    both = np.where(np.isnan(one) | np.isnan(other), np.nan, positive)
    rows, _ = scored_rows(np.nan_to_num(one), both, bootstrap)
    known = ~np.isnan(both)
    high, low = np.flatnonzero(rows.positive), np.flatnonzero(~rows.positive)

    def wins(scores: Floats) -> Floats:
        return np.asarray((np.sign(scores[high][:, None] - scores[low][None, :]) + 1) / 2, dtype=np.float64)

    gain = wins(one[known]) - wins(other[known])
    clusters = int(bootstrap.of_row.max()) + 1
    drawn = np.random.default_rng(0).multinomial(clusters, np.full(clusters, 1 / clusters), size=DRAWS).astype(float)
    of_row = drawn[:, rows.of_row]
    weights = of_row[:, high].sum(axis=1) * of_row[:, low].sum(axis=1)
    sums = np.einsum("dp,pn,dn->d", of_row[:, high], gain, of_row[:, low], optimize=True)
    ends = np.quantile(sums[weights > 0] / weights[weights > 0], (0.025, 0.975))
    n = int(known.sum())
    return Estimate(float(gain.mean()), float(ends[0]), float(ends[1]), n, rows.clusters, "percentile bootstrap")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
