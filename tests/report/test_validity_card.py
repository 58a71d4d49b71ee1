"""What a validity card shows, in one line and on a terminal."""

import io
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from evenhand.errors import InputError
from evenhand.pairs.gold.item import GoldItem, GoldMeasure, GoldSet
from evenhand.report.validity_card import ValidityCard, card_line
from evenhand.report.validity_card_table import validity_card_table
from evenhand.statistics import Estimate
from evenhand.statistics.detection import Verdict
from evenhand.studies.validation_scores import CELLS, Scores
from evenhand.studies.validity import GradedBy, gold_classes, validity_card


def items(n: int, measure: GoldMeasure = GoldMeasure.REFUSAL) -> tuple[GoldItem, ...]:
    labels = {GoldMeasure.REFUSAL: ("full", "none", "partial")}.get(measure, CELLS)
    texts = 2 if measure is GoldMeasure.EVEN_HANDEDNESS else 1
    return tuple(
        GoldItem(
            f"i{number}",
            measure,
            tuple(f"prompt {number} {place}" for place in range(texts)),
            tuple("x" * (20 + number % 7 + place) for place in range(texts)),
            labels[number % len(labels)],
            annotators=(labels[number % len(labels)], None if number % 5 else labels[0]),
            groups={"issue": f"issue {number // 3}", "kind": f"[red]kind {number % 2}"},
        )
        for number in range(n)
    )


def a_card(n: int = 90, measure: GoldMeasure = GoldMeasure.REFUSAL, **changes: Any) -> ValidityCard:
    rows = items(n, measure)
    rng = np.random.default_rng(3)
    p = rng.uniform(0, 0.4, n) + np.array([0.5 * (item.label in ("full", "helped_both")) for item in rows])
    classes = {}
    if measure is GoldMeasure.EVEN_HANDEDNESS:
        classes = {cell: np.array([0.7 if item.label == cell else 0.1 for item in rows]) for cell in CELLS}
    scores = Scores("refusal", {"refusal": "v"}, p, classes, {}, (("failed",), *((),) * (n - 1)), np.full(n, 0.3))
    card = validity_card(
        GoldSet("made-set", "Made: a set", "CC0", "here", "ab" * 32, rows),
        rows,
        scores,
        GradedBy("a [bold]grader[/bold] with a very long name " + "x" * 60, "i", "compact", "probabilities", "both"),
        classes=gold_classes(measure),
    )
    return replace(card, **changes)


def shown(card: ValidityCard) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(validity_card_table(card))
    return console.export_text()


def test_it_comes_back_from_json() -> None:
    for measure in (GoldMeasure.REFUSAL, GoldMeasure.EVEN_HANDEDNESS):
        card = a_card(measure=measure)
        assert ValidityCard.from_json(json.loads(json.dumps(card.as_json(), allow_nan=False))) == card


def test_another_schema_and_a_damaged_card_are_refused() -> None:
    values = a_card().as_json()
    with pytest.raises(InputError, match="schema 7"):
        ValidityCard.from_json(values | {"schema": 7})
    for broken in ({"verdict": "wonderful"}, {"kappa": {"value": 1}}):
        with pytest.raises(InputError, match="damaged"):
            ValidityCard.from_json(values | broken)
    del values["auc"]
    with pytest.raises(InputError, match="damaged"):
        ValidityCard.from_json(values)


def test_the_line_says_what_a_reader_must_know() -> None:
    observed = Estimate(0.931, 0.902, 0.957, 450, 150, "")
    card = replace(
        a_card(), n=1450, observed=observed, kappa=replace(observed, value=0.852), auc=replace(observed, value=0.9704)
    )
    line = "refusal: agrees with people on 93% [90, 96] of 1,450 labelled answers (Made), kappa .85, AUC .970"
    assert card_line(card) == line
    assert card_line(replace(card, labelled_by="construction")) == (
        "refusal: agrees with the labels on 93% [90, 96] of 1,450 answers written to test it (Made), kappa .85,"
        " AUC .970"
    )


@pytest.mark.parametrize("verdict", [Verdict.RANDOM, Verdict.CONSTANT, Verdict.INVERTED, Verdict.ONE_SIDED])
def test_a_grader_that_is_worth_nothing_is_said_to_be_so_in_the_line(verdict: Verdict) -> None:
    assert card_line(a_card(verdict=verdict)).split("; ")[-1].isupper()


def test_a_line_of_what_could_not_be_read() -> None:
    card = replace(a_card(), observed=Estimate.missing("no item was labelled by two graders"), n=0)
    assert "is not known" in card_line(card)


@pytest.mark.parametrize("measure", [GoldMeasure.REFUSAL, GoldMeasure.EVEN_HANDEDNESS])
def test_it_fits_a_terminal_and_shows_names_to_the_letter(measure: GoldMeasure) -> None:
    text = shown(a_card(measure=measure))
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "a [bold]grader[/bold]" in text
    for word in (
        "kappa",
        "AC1",
        "alpha",
        "sensitiv.",
        "AUC",
        "best at",
        "Brier",
        "annotator 1",
        "1 failed",
        "[red]kind 1",
    ):
        assert word in text


def test_labels_of_neither_class_are_shown() -> None:
    text = shown(a_card())
    assert "30 items of neither class" in text
    assert "partial" in text


def test_a_verdict_against_the_grader_stands_once() -> None:
    card = a_card(verdict=Verdict.RANDOM)
    assert shown(card).replace("\n", " ").count("can't be told from one that answers at random") == 1


def test_captured_mass_and_what_was_not_read_have_intervals_over_clusters() -> None:
    """Masses that differ from issue to issue alone: 30 issues of three items, as sure as 30 draws are."""
    rows = items(90)
    rng = np.random.default_rng(5)
    masses = np.repeat(rng.uniform(0.8, 1.0, 30), 3)
    states = tuple(("truncated",) if number // 3 % 10 == 0 else () for number in range(90))
    card = validity_card(
        GoldSet("made", "", "", "", "", rows),
        rows,
        Scores("refusal", {}, rng.uniform(0, 1, 90), {}, {}, states, masses),
        GradedBy("g", "i", "compact", "probabilities", ""),
        classes=gold_classes(GoldMeasure.REFUSAL),
    )
    assert card.captured.value == pytest.approx(masses.mean())
    assert card.captured.low is not None
    assert card.captured.high is not None
    half_width = 2.045 * masses[::3].std(ddof=1) / np.sqrt(30)  # t with 29 degrees of freedom
    assert (card.captured.high - card.captured.low) / 2 == pytest.approx(half_width, rel=0.2)
    assert (card.unreadable, card.unread.clusters) == ({"truncated": 9}, 30)
    assert card.unread.value == pytest.approx(0.1)
    assert card.unread.low is not None
    assert card.unread.low < 0.1 < (card.unread.high or 0)
    text = " ".join(shown(card).split())
    assert f"{card.captured.value:.0%} [" in text
    assert "enter no figure (10% [" in text


def test_a_card_of_nothing_can_be_shown() -> None:
    rows = items(6)
    nothing = np.full(6, np.nan)
    card = validity_card(
        GoldSet("made", "", "", "", "", rows),
        rows,
        Scores("refusal", {}, nothing, {}, {}, (("unparseable",),) * 6, nothing),
        GradedBy("g", "i", "compact", "probabilities", ""),
        classes=gold_classes(GoldMeasure.REFUSAL),
    )
    assert (card.n, card.captured.value, card.unreadable) == (0, None, {"unparseable": 6})
    assert card.unread.value == 1
    assert "is not known" in card_line(card)
    assert "6 unparseable" in shown(card)
    assert ValidityCard.from_json(json.loads(json.dumps(card.as_json(), allow_nan=False))) == card
