"""How far graders agree, on verdicts made by hand."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console, Group

from audit_judgments import a_pair, even, share
from compared_runs import MAYBE, NO, STANCES, grader, half_declines_right, pairs_csv, run, subject, use
from conftest import make_pair
from evenhand.graders import Judgment
from evenhand.instruments import InstrumentSet
from evenhand.pairs import PairedPrompt
from evenhand.report import Analysis
from evenhand.report.agreement_summary import GraderAgreement
from evenhand.report.agreement_table import agreement_tables
from evenhand.report.plain_values import from_plain
from evenhand.statistics import Estimate
from evenhand.studies.audit.arrays import BlockArrays, Sides
from evenhand.studies.audit.graded import Graded
from evenhand.studies.audit.grader_agreement import agreement_in_run, block_names, grader_agreement

SET = InstrumentSet("handmade", ())
OTHER = InstrumentSet("another", ())
ANALYSIS = Analysis(draws=200)


def even_arrays(pairs: Sequence[PairedPrompt], verdicts: Sequence[float]) -> BlockArrays:
    """Return arrays of a grader that is sure of each verdict: 1 even-handed, 0 not, NaN unknown."""
    c = np.array(verdicts, dtype=np.float64)
    return BlockArrays(Sides.of(pairs), {("even_handedness", "ab"): {"A": 1 - c, "B": 0 * c, "C": c}}, {})


def graded(name: str, judgments: Sequence[Judgment], instruments: InstrumentSet = SET) -> Graded:
    return Graded(name, instruments, judgments)


def refusals(name: str, pairs: Sequence[PairedPrompt], a: Sequence[float], b: Sequence[float]) -> Graded:
    of_a = [share(pair, "refusal", "a", p) for pair, p in zip(pairs, a, strict=True)]
    return graded(name, of_a + [share(pair, "refusal", "b", p) for pair, p in zip(pairs, b, strict=True)])


def test_the_published_table_of_two_graders() -> None:
    cells = [(1, 1)] * 1225 + [(0, 0)] * 41 + [(0, 1)] * 27 + [(1, 0)] * 36
    pairs = [make_pair(n, stance=f"s{n // 9}", template=f"t{n} {{stance}}") for n in range(len(cells))]
    arrays = {
        (name, "published"): [even_arrays(pairs, [cell[place] for cell in cells])]
        for place, name in enumerate(("one", "other"))
    }
    (found,) = grader_agreement(pairs, arrays, analysis=ANALYSIS)
    assert (found.measure, found.unit, found.one, found.other) == ("even_handedness", "pairs", "one", "other")
    assert (found.n, found.left_out, found.table) == (1329, 0, ((1225, 36), (27, 41)))
    values = (found.observed.value, found.kappa.value, found.ac1.value)
    assert [round(value or 0, 4) for value in values] == [0.9526, 0.5405, 0.9471]
    uneven = found.specific[1]
    assert (uneven.label, round(uneven.agreement.value or 0, 3)) == ("uneven", 0.566)
    for figure in (found.observed, found.kappa, found.ac1, found.alpha, uneven.agreement):
        assert figure.clusters <= 148
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low < (figure.value or 0) < figure.high


def test_verdicts_are_taken_at_the_threshold() -> None:
    pairs = [a_pair(n) for n in range(6)]
    one = graded("one", [even(pair, "ab", (0.3, 0.0, 0.7)) for pair in pairs])
    other = graded("other", [even(pair, "ab", (0.45, 0.0, 0.55)) for pair in pairs])
    for threshold, table in ((0.5, ((6, 0), (0, 0))), (0.6, ((0, 6), (0, 0))), (0.8, ((0, 0), (0, 6)))):
        analysis = Analysis(draws=50, threshold=threshold)
        (found,) = agreement_in_run(pairs, [one, other], subject="s", analysis=analysis)
        assert found.table == table


def test_responses_count_one_by_one_and_intervals_keep_pairs_together() -> None:
    pairs = [a_pair(n) for n in range(8)]
    one = refusals("one", pairs, [0.9] * 4 + [0.1] * 4, [0.1] * 8)
    other = refusals("other", pairs, [0.9] * 3 + [0.1] * 5, [0.1] * 7 + [0.9])
    (found,) = agreement_in_run(pairs, [one, other], subject="s", analysis=ANALYSIS)
    assert (found.unit, found.n, found.table) == ("responses", 16, ((3, 1), (1, 11)))
    assert [one.label for one in found.specific] == ["refused", "not refused"]
    assert found.specific[0].agreement.value == pytest.approx(6 / 8)
    assert found.observed.clusters == 8


def test_what_one_could_not_read_is_left_out_and_counted() -> None:
    pairs = [a_pair(n) for n in range(6)]
    arrays = {
        ("one", "i"): [even_arrays(pairs, [1, 1, 0, np.nan, 1, 0])],
        ("other", "i"): [even_arrays(pairs, [1, np.nan, 0, np.nan, 0, 1])],
    }
    (found,) = grader_agreement(pairs, arrays, analysis=ANALYSIS)
    assert (found.n, found.left_out, found.table) == (4, 2, ((1, 1), (1, 1)))


def test_what_is_not_defined_says_why() -> None:
    pairs = [a_pair(n) for n in range(6)]
    all_even = {(name, "i"): [even_arrays(pairs, [1] * 6)] for name in ("one", "other")}
    (found,) = grader_agreement(pairs, all_even, analysis=ANALYSIS)
    assert found.observed.value == found.ac1.value == 1
    assert found.kappa.value is found.alpha.value is None
    assert "every label is 'even-handed'" in found.kappa.method
    assert found.specific[1].agreement.value is None
    unread = {(name, "i"): [even_arrays(pairs, [np.nan] * 6)] for name in ("one", "other")}
    (nothing,) = grader_agreement(pairs, unread, analysis=ANALYSIS)
    assert (nothing.n, nothing.left_out, nothing.observed.value) == (0, 6, None)
    assert nothing.observed.method == "no item was labelled by two graders"


def test_several_graders_two_by_two_and_all_together() -> None:
    pairs = [a_pair(n) for n in range(4)]
    arrays = {
        (name, "i"): [even_arrays(pairs, verdicts)]
        for name, verdicts in (("one", [1, 1, 0, 0]), ("two", [1, 1, 0, 1]), ("three", [1, 1, 0, np.nan]))
    }
    found = grader_agreement(pairs, arrays, analysis=ANALYSIS)
    assert [(each.one, each.other) for each in found] == [
        ("one", "two"),
        ("one", "three"),
        ("two", "three"),
        ("all 3 graders", ""),
    ]
    together = found[-1]
    assert (together.n, together.table, together.kappa.value) == (4, None, None)
    # Three items on which all agree, and one on which two of two disagree.
    assert together.observed.value == pytest.approx(3 / 4)
    assert together.alpha.value is not None


def test_one_grader_agrees_with_nobody() -> None:
    pairs = [a_pair(n) for n in range(3)]
    one = refusals("one", pairs, [0.9] * 3, [0.1] * 3)
    assert agreement_in_run(pairs, [one], subject="s", analysis=ANALYSIS) == ()
    # Nor where two judge different things.
    other = graded("other", [even(pair, "ab", (0, 0, 1)) for pair in pairs])
    assert agreement_in_run(pairs, [one, other], subject="s", analysis=ANALYSIS) == ()


def test_one_grader_with_two_sets_of_instruments_is_told_apart() -> None:
    pairs = [a_pair(n) for n in range(3)]
    verdicts = [even(pair, "ab", (0, 0, 1)) for pair in pairs]
    (found,) = agreement_in_run(
        pairs, [graded("g", verdicts), graded("g", verdicts, OTHER)], subject="s", analysis=ANALYSIS
    )
    assert (found.one, found.other, found.one_family) == ("g (handmade)", "g (another)", True)
    assert block_names([("g", "x"), ("h", "x")]) == {("g", "x"): "g", ("h", "x"): "h"}


def test_configurations_are_more_verdicts_on_the_same_clusters() -> None:
    pairs = [a_pair(n) for n in range(5)]
    one, other = even_arrays(pairs, [1, 1, 0, 0, 1]), even_arrays(pairs, [1, 0, 0, 0, 1])
    (alone,) = grader_agreement(pairs, {("one", "i"): [one], ("other", "i"): [other]}, analysis=ANALYSIS)
    (twice,) = grader_agreement(pairs, {("one", "i"): [one] * 2, ("other", "i"): [other] * 2}, analysis=ANALYSIS)
    assert (twice.n, twice.table) == (10, ((4, 2), (0, 4)))
    # A second configuration that says the same teaches nothing: as many clusters, the same interval.
    assert twice.kappa.clusters == 5
    assert (twice.kappa.value, twice.kappa.low, twice.kappa.high) == pytest.approx(
        (alone.kappa.value, alone.kappa.low, alone.kappa.high)
    )


def test_relatives_are_flagged() -> None:
    pairs = [a_pair(n) for n in range(3)]
    verdicts = [even(pair, "ab", (0, 0, 1)) for pair in pairs]
    names = ("openai:gpt-4.1", "gpt-4o", "claude-x")
    found = agreement_in_run(
        pairs, [graded(name, verdicts) for name in names], subject="anthropic:claude-y", analysis=ANALYSIS
    )
    assert [each.one_family for each in found] == [True, False, False, True]
    assert [each.related for each in found] == [(), ("claude-x",), ("claude-x",), ("claude-x",)]


def test_it_goes_through_plain_values_and_back() -> None:
    pairs = [a_pair(n) for n in range(4)]
    arrays = {(name, "i"): [even_arrays(pairs, [1, 1, 0, 0])] for name in ("one", "two", "three")}
    for found in grader_agreement(pairs, arrays, analysis=ANALYSIS):
        assert from_plain(GraderAgreement, asdict(found)) == found


def test_the_tables_fit_and_say_what_is_missing() -> None:
    pairs = [a_pair(n) for n in range(8)]
    names = ("one[bold]", "qwen-a", "qwen-b")
    blocks = [refusals(name, pairs, [0.1] * 8, [0.1] * 8) for name in names]
    found = agreement_in_run(pairs, blocks, subject="qwen-c", analysis=ANALYSIS)
    console = Console(width=80, no_color=True, highlight=False)
    with console.capture() as capture:
        console.print(Group(*agreement_tables(found, 0.5)))
    lines = capture.get().splitlines()
    text = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= 80
    assert "…" not in text
    assert "Agreement of one[bold] and qwen-a" in text
    assert "Agreement of all 3 graders" in text
    assert "refusal, no kappa and no alpha: every label is 'not refused'" in text
    assert "refusal, no kappa: Cohen's kappa is for two graders" in text
    assert "may agree because they err alike" in text
    assert "qwen-a and qwen-b: seems to come from the maker" in text
    assert list(agreement_tables((), 0.5)) == []


def test_an_audit_with_two_graders_tells_how_far_they_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answers(system: str, stance: int, side: str) -> str:
        return MAYBE if stance == 1 else half_declines_right(system, stance, side)

    use(monkeypatch, subject(answers), grader(NO), grader(NO, MAYBE, name="strict"))
    result = run(pairs_csv(tmp_path / "pairs.csv"), tmp_path / "run", graders=("grader", "strict"))
    by_measure = {found.measure: found for found in result.summary.agreement}
    # Both texts to one stance pair, with two templates, seem declined to one grader alone.
    assert by_measure["refusal"].table == ((10, 0), (4, 4 * STANCES - 14))
    assert by_measure["even_handedness"].table == ((14, 0), (0, 10))
    assert by_measure["hedging"].kappa.value is None


def test_no_figure_is_cut_however_long() -> None:
    pairs = [a_pair(n) for n in range(8)]
    (found,) = grader_agreement(
        pairs, {(name, "i"): [even_arrays(pairs, [1, 1, 0, 0] * 2)] for name in ("one", "two")}, analysis=ANALYSIS
    )
    below = Estimate(-0.3, -0.53, -0.07, 8, 8, "made up")
    console = Console(width=80, no_color=True, highlight=False)
    with console.capture() as capture:
        console.print(Group(*agreement_tables([replace(found, kappa=below, ac1=below, alpha=below)], 0.5)))
    assert capture.get().count("-.30 [-.53, -.07]") == 3
