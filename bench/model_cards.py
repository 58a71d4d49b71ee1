"""The embedded models' own validity cards and calibrations, as they come with the package, and their page.

    python -m bench.model_cards cards GOLD_FOLDER REPLIES_FOLDER   # asks the models, writes the package data
    python -m bench.model_cards ask GOLD_FOLDER REPLIES_FOLDER GRADER SET...   # asks a part of it beforehand
    python -m bench.model_cards kept GOLD_FOLDER REPLIES_FOLDER    # writes what can be written without asking more
    python -m bench.model_cards page                               # docs/validation/models.md from the package data

REPLIES_FOLDER keeps every reply; what was asked before is not asked again. On two quiet cores all of it takes about an
hour, most of it for hedging, which is asked of whole answers.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.model_cards_page import models_page
from evenhand.errors import InputError
from evenhand.pairs.gold import GoldMeasure, read_gold
from evenhand.report.calibration import Calibration
from evenhand.report.packaged_cards import card_file_name
from evenhand.report.validity_card import ValidityCard
from evenhand.studies.audit.plan import GradingPlan
from evenhand.studies.calibration_file import (
    calibration_cards,
    packaged_calibrations,
    read_calibration,
    write_calibration,
)
from evenhand.studies.validate import ValidationResult, forecast_validation, validate
from evenhand.studies.validation_plan import ValidationPlan
from evenhand.studies.validation_scores import Scores
from evenhand.studies.validity import GradedBy, gold_classes, validity_card

_ROOT = Path(__file__).parent.parent
_DATA = _ROOT / "src" / "evenhand" / "report" / "data"
_CARDS, _CALIBRATIONS = _DATA / "cards", _DATA / "calibrations"
_PAGE = _ROOT / "docs" / "validation" / "models.md"

_ERRS = 0.1


@dataclass(frozen=True)
class Held:
    """A gold set that a grader is held against."""

    gold: str
    size: int
    """Items of its testing half."""
    option_swap: bool = False
    fit: bool = False
    """Fit the packaged calibration of this measure to as many items of its fitting half."""


GRADERS = {
    "qwen2.5-coder-0.5b": (
        Held("xstest", 60, fit=True),
        Held("issuebench-refusal", 64),
        Held("builtin-refusal", 30, option_swap=True),
        Held("builtin-even_handedness", 40),
        Held("issuebench-hedging", 60, fit=True),
        Held("builtin-hedging", 24),
        Held("stances", 40),
    ),
    "qwen2.5-coder-1.5b": (
        Held("xstest", 40, fit=True),
        Held("issuebench-refusal", 64),
        Held("builtin-refusal", 32),
        Held("builtin-even_handedness", 24),
        Held("issuebench-hedging", 30),
        Held("builtin-hedging", 20),
        Held("stances", 30),
    ),
}
"""What is asked. The larger model takes its time, so it is asked less."""


def main(what: str, *folders: str) -> None:
    """Do what is named."""
    if what in ("cards", "kept"):
        for folder in (_CARDS, _CALIBRATIONS):
            folder.mkdir(parents=True, exist_ok=True)
        for grader, sets in GRADERS.items():
            _ask(grader, sets, Path(folders[0]), Path(folders[1]), kept_alone=what == "kept")
    if what == "ask":
        golds, kept, grader, *names = folders
        for held in GRADERS[grader]:
            if held.gold in names:
                _one(grader, held, Path(golds), Path(kept))
        return
    cards = tuple(_packaged())
    known = {(card.grader, card.gold) for card in cards}
    left = [
        f"`{grader}` on {held.gold}"
        for grader in GRADERS
        for held in GRADERS[grader]
        if (grader, held.gold) not in known
    ]
    _PAGE.write_text(models_page(cards, tuple(_calibrated()), tuple(_made_up()), left), "utf-8")


def _ask(grader: str, sets: tuple[Held, ...], golds: Path, kept: Path, *, kept_alone: bool) -> None:
    fitted: list[Calibration] = []
    cards: list[ValidityCard] = []
    for held in sets:
        if kept_alone and not _was_asked(grader, held, golds, kept):
            print(f"{grader} was not asked about all of {held.gold}", flush=True)
            continue
        plain, found = _one(grader, held, golds, kept)
        for card in plain:
            _write(_CARDS / card_file_name(card), card.as_json())
        if found is not None and found.calibration is not None:
            fitted.append(found.calibration)
            cards += found.cards
    if fitted:
        first = fitted[0]
        measures = tuple(measure for one in fitted for measure in one.measures)
        whole = Calibration(f"packaged:{grader}", grader, first.identity, first.reading, measures)
        write_calibration(_CALIBRATIONS / f"{grader}.json", whole, cards)


def _was_asked(grader: str, held: Held, golds: Path, kept: Path) -> bool:
    plans = [_plan(grader, held, golds, kept)]
    if held.fit:
        plans.append(_plan(grader, held, golds, kept, kept / f"{grader}-{held.gold}.json"))
    return all(forecast_validation(plan).calls == 0 for plan in plans)


def _one(grader: str, held: Held, golds: Path, kept: Path) -> tuple[tuple[ValidityCard, ...], ValidationResult | None]:
    """Return the cards of one gold set, and the calibration that it gives, if it is to give one."""
    plain = validate(_plan(grader, held, golds, kept)).cards
    for card in plain:
        print(grader, card.gold, card.n, card.auc.value, card.kappa.value, flush=True)
    if not held.fit:
        return plain, None
    try:
        return plain, validate(_plan(grader, held, golds, kept, kept / f"{grader}-{held.gold}.json"))
    except InputError as error:
        # A grader that doesn't tell the classes apart gets no calibration; its card says so.
        print(error, flush=True)
        return plain, None


def _plan(grader: str, held: Held, golds: Path, kept: Path, calibrate: Path | None = None) -> ValidationPlan:
    folder = golds / held.gold.partition("-")[0]
    return ValidationPlan(
        grading=GradingPlan((grader,), instruments="compact"),
        gold=held.gold,
        gold_folder=None if held.gold.startswith(("builtin", "stances")) else folder,
        # Both halves where one is fitted to: of the testing half as many as without.
        sample=held.size * 2 if calibrate else held.size,
        split="" if calibrate else "test",
        option_swap=held.option_swap and calibrate is None,
        calibrate=calibrate,
        out=kept / f"{grader}-{held.gold}",
    )


def _packaged() -> Iterator[ValidityCard]:
    names = [file_name for grader in GRADERS for file_name in sorted(path.name for path in _CARDS.glob(f"{grader}--*"))]
    for name in names:
        yield ValidityCard.from_json(json.loads((_CARDS / name).read_text("utf-8")))


def _calibrated() -> Iterator[tuple[Calibration, tuple[ValidityCard, ...]]]:
    for grader in packaged_calibrations():
        path = _CALIBRATIONS / f"{grader}.json"
        yield read_calibration(path), calibration_cards(path)


def _made_up() -> Iterator[ValidityCard]:
    """Yield the cards of graders that say nothing, or the contrary."""
    (gold,) = read_gold("builtin-refusal")
    items = [item for item in gold.items if item.split == "test"]
    classes = gold_classes(GoldMeasure.REFUSAL)
    positive = classes.codes(items)
    rng = np.random.default_rng(0)
    right = np.where(rng.random(len(items)) < _ERRS, 1 - positive, positive)
    for name, probability in (
        ("by lot", rng.random(len(items))),
        ("always the same", np.full(len(items), 0.7)),
        ("labels exchanged", 0.9 - 0.8 * np.nan_to_num(right, nan=0.5)),
    ):
        nothing: tuple[tuple[str, ...], ...] = tuple(() for _ in items)
        scores = Scores("made up", {}, probability, {}, {}, nothing, np.full(len(items), np.nan))
        yield validity_card(gold, items, scores, GradedBy(name, name, "made up", "made up", ""), classes=classes)


def _write(path: Path, values: object) -> None:
    path.write_text(json.dumps(values, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
