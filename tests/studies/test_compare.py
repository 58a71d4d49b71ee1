"""Runs compared on the pairs that they share, with subjects whose truth is known."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compared_runs import FAIR, MAYBE, NO, STANCES, grader, half_declines_right, pairs_csv, run, subject, use, written
from conftest import ScriptedModel, position, reply
from evenhand.errors import InputError
from evenhand.instruments import Request
from evenhand.pairs import StanceKind
from evenhand.readings import Reply
from evenhand.report import named_estimates
from evenhand.report.compare_summary import Comparison
from evenhand.statistics.paired_differences import holm
from evenhand.studies.audit.plan import AnalysisPlan, GradingPlan
from evenhand.studies.audit.saved_run import read_saved_run
from evenhand.studies.compare import compare
from evenhand.studies.compare_pairs import shared_pairs

PAIRS = 2 * STANCES


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One subject without a system prompt, and with one that takes all unevenness away."""
    folder = tmp_path_factory.mktemp("two")
    pairs, prompt = pairs_csv(folder / "pairs.csv"), written(folder / "fair.txt", FAIR)
    with pytest.MonkeyPatch.context() as monkeypatch:
        use(monkeypatch, subject(half_declines_right), grader(NO))
        run(pairs, folder / "plain")
        run(pairs, folder / "fair", system_prompt=prompt, configuration="fair")
    return folder / "plain", folder / "fair"


def pairs_of(two: tuple[Path, Path]) -> Path:
    return two[0].parent / "pairs.csv"


def only(comparison: Comparison) -> dict[str, tuple[list[float | None], float | None, float | None]]:
    """Return the values, the difference and p of each figure, of two configurations and one grader."""
    (block,) = comparison.blocks
    found = {}
    for figure in block.figures:
        (change,) = figure.changes
        found[figure.name] = ([one.value for one in figure.estimates], change.difference.value, change.p)
    return found


def test_the_effect_of_a_system_prompt_has_its_size_and_its_sign(two: tuple[Path, Path]) -> None:
    comparison = compare(two)
    assert (comparison.names, comparison.baseline) == (("subject", "fair"), "subject")
    assert (comparison.pairs, comparison.stance_pairs, comparison.topics) == (PAIRS, STANCES, STANCES // 2)
    found = only(comparison)
    # Six of twelve stance pairs, with all their templates, go from declined to helped.
    p = 2 * 0.5**6
    assert found["even_handedness.rate"] == ([0.5, 1.0], 0.5, p)
    assert found["refusal.right.rate"] == ([0.5, 0.0], -0.5, p)
    assert found["refusal.left.rate"] == ([0.0, 0.0], 0.0, 1.0)
    assert found["cells.helped_both.rate"] == ([0.5, 1.0], 0.5, p)
    assert found["refusal.direction.mean"][0] == pytest.approx([0.4, 0.0])
    assert found["refusal.direction.mean"][1] == pytest.approx(-0.4)
    # P(declined) is .9 or .1, so both sides alike has .82 in place of .18.
    assert found["even_handedness.mean"][1] == pytest.approx(0.5 * (0.82 - 0.18))
    change = comparison.blocks[0].figure("even_handedness.rate").change("fair")
    assert change.difference.n == PAIRS
    assert change.difference.clusters == STANCES
    assert 0 < (change.difference.low or 0) < 0.5 < (change.difference.high or 0) <= 1
    assert 0.2 < (change.detectable or 0) < 1
    assert "sign flips" in change.test


def test_what_differs_between_configurations_is_shown(two: tuple[Path, Path]) -> None:
    comparison = compare(two)
    settings = {one.name: one for one in comparison.settings if one.kind != "background"}
    assert list(settings) == ["system prompt"]
    assert settings["system prompt"].values[0] == "none"
    assert settings["system prompt"].kind == "compared"
    assert not any("not only subject" in remark for remark in comparison.remarks)


def test_runs_that_are_the_same_do_not_differ(two: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(two[0], tmp_path / "copy")
    comparison = compare([two[0], tmp_path / "copy", two[0]])
    assert comparison.names == ("subject (plain) #1", "subject (copy)", "subject (plain) #2")
    assert comparison.settings == ()
    for figure in comparison.blocks[0].figures:
        assert len(set(figure.estimates)) == 1
        for change in figure.changes:
            assert (change.difference.value, change.p, change.adjusted) == (0.0, 1.0, 1.0)
    assert sum("to the letter" in remark for remark in comparison.remarks) == 2


@pytest.mark.parametrize("by", ["order of the runs", "baseline"])
def test_the_other_way_round_signs_flip_and_nothing_else(two: tuple[Path, Path], by: str) -> None:
    forth = compare(two)
    back = compare(two[::-1]) if by == "order of the runs" else compare(two, baseline=2)
    assert back.baseline == "fair"
    one, other = only(forth), only(back)
    assert list(one) == list(other)
    assert any(difference for _, difference, _ in one.values())
    for name, (values, difference, p) in one.items():
        expected = values if by == "baseline" else values[::-1]
        assert other[name][0] == expected
        assert other[name][1] == pytest.approx(-(difference or 0))
        assert other[name][2] == pytest.approx(p)
        a = forth.blocks[0].figure(name).changes[0].difference
        b = back.blocks[0].figure(name).changes[0].difference
        assert (a.low, a.high) == pytest.approx((-(b.high or 0), -(b.low or 0)), abs=0.03)


def test_on_all_pairs_the_estimates_are_those_of_the_runs_own_summaries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, subject(half_declines_right), grader(NO))
    prompt, pairs = written(tmp_path / "fair.txt", FAIR), pairs_csv(tmp_path / "pairs.csv")
    results = [
        run(pairs, tmp_path / "one"),
        run(pairs, tmp_path / "other", system_prompt=prompt, configuration="fair"),
    ]
    (block,) = compare([tmp_path / "one", tmp_path / "other"]).blocks
    for place, result in enumerate(results):
        named = named_estimates(result.summary.blocks[0])
        for figure in block.figures:
            assert figure.estimates[place] == named[figure.name], figure.name


def test_only_pairs_with_the_same_id_and_content_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, subject(half_declines_right), grader(NO))
    run(pairs_csv(tmp_path / "many.csv", 12), tmp_path / "many")
    run(pairs_csv(tmp_path / "few.csv", 6, first=4), tmp_path / "few", configuration="few")
    comparison = compare([tmp_path / "many", tmp_path / "few"])
    assert comparison.pairs == 12
    assert [(one.pairs, one.beyond, one.changed) for one in comparison.configurations] == [(24, 12, 0), (12, 0, 0)]
    assert {estimate.n for estimate in comparison.blocks[0].figure("refusal.rate").estimates} == {12}
    assert all(change.p == 1 for figure in comparison.blocks[0].figures for change in figure.changes)
    run(pairs_csv(tmp_path / "other.csv", 6, first=20), tmp_path / "other")
    with pytest.raises(
        InputError, match=r"share no paired prompt: theirs are of many\.csv \(24\) and other\.csv \(12\)"
    ):
        compare([tmp_path / "many", tmp_path / "other"])


@pytest.mark.parametrize("field", ["prompt_a", "prompt_b", "group_a", "group_b", "stance_id", "topic"])
def test_a_pair_whose_content_changed_is_not_the_same_pair(two: tuple[Path, Path], field: str) -> None:
    one = read_saved_run(two[0])
    first, *rest = one.pairs
    changed: dict[str, Any] = {field: "reworded"}
    other = replace(one, pairs=(replace(first, **changed), *rest))
    shared = shared_pairs([one, other], 0)
    assert shared.pairs == tuple(rest)
    assert (shared.beyond, shared.changed) == ((1, 1), (0, 1))
    with pytest.raises(InputError, match=r"share no paired prompt.*1 have the same id and another content"):
        shared_pairs([replace(one, pairs=(first,)), replace(other, pairs=other.pairs[:1])], 0)


def test_what_no_subject_and_no_grader_sees_makes_no_other_pair(two: tuple[Path, Path]) -> None:
    one = read_saved_run(two[0])
    other = replace(one, pairs=tuple(replace(pair, kind=StanceKind.SETTLED_EVIDENCE) for pair in one.pairs[::-1]))
    shared = shared_pairs([one, other], 0)
    assert shared.pairs == one.pairs
    assert (shared.beyond, shared.changed) == ((0, 0), (0, 0))


def test_graders_that_not_all_runs_have_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, subject(half_declines_right), grader(NO), grader(NO, name="second"), grader(NO, name="third"))
    pairs = pairs_csv(tmp_path / "pairs.csv")
    run(pairs, tmp_path / "one", graders=("grader", "second"))
    run(pairs, tmp_path / "other", configuration="other", graders=("grader",))
    run(pairs, tmp_path / "third", configuration="third", graders=("third",))
    comparison = compare([tmp_path / "one", tmp_path / "other"])
    assert [block.grader for block in comparison.blocks] == ["grader"]
    assert [(one.grader, one.instruments, one.missing) for one in comparison.left_out] == [
        ("second", "compact", ("other",))
    ]
    with pytest.raises(InputError) as caught:
        compare([tmp_path / "other", tmp_path / "third"])
    message = str(caught.value)
    assert "other: grader with compact; third: third with compact" in message
    assert f"`evenhand regrade {tmp_path / 'third'} --grader grader --instruments compact`" in message


def test_what_else_differs_is_warned_of(
    two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, subject(half_declines_right), grader(NO))
    run(
        pairs_of(two),
        tmp_path / "long",
        configuration="long",
        max_tokens=99,
        analysis=AnalysisPlan(threshold=0.7),
    )
    for name, key, value in (
        ("reading", ("reading", "mode"), "samples:3"),
        ("orders", ("orders",), "ab"),
        ("refusal instrument", ("instruments", "versions", "refusal"), "0123456789"),
    ):
        path = tmp_path / "long/record.json"
        record = json.loads(path.read_text("utf-8"))
        at: Any = record["settings"]["gradings"][0]
        for part in key[:-1]:
            at = at[part]
        at[key[-1]] = value
        path.write_text(json.dumps(record), "utf-8")
        comparison = compare([two[0], tmp_path / "long"])
        assert f"grader, {name}" in {one.name for one in comparison.settings if one.kind == "confounder"}
    settings = {one.name: one for one in comparison.settings}
    assert settings["max tokens"].values == ("512", "99")
    assert settings["grader, refusal instrument"].values[1] == "01234567"
    assert settings["threshold of its own summary"].kind == "background"
    (warning,) = (remark for remark in comparison.remarks if "not only subject and system prompt" in remark)
    assert "max tokens; grader, reading; grader, orders; grader, refusal instrument" in warning
    assert any("own summaries differ in threshold; here the threshold 0.5" in remark for remark in comparison.remarks)


def test_the_analysis_is_the_baselines_unless_another_is_asked_for(two: tuple[Path, Path]) -> None:
    assert compare(two).analysis.threshold == 0.5
    strict = compare(two, analysis=AnalysisPlan(threshold=0.95, unit="topic", draws=100, interval="percentile", seed=3))
    # The grader is never more than .9 sure.
    assert only(strict)["refusal.right.rate"][:2] == ([0.0, 0.0], 0.0)
    assert only(strict)["even_handedness.rate"][0] == [0.0, 0.0]
    change = strict.blocks[0].figure("refusal.mean").changes[0]
    assert (change.difference.clusters, change.difference.method) == (
        STANCES // 2,
        "percentile bootstrap over clusters, 100 draws",
    )
    with pytest.raises(InputError, match="refusal has no answer 9"):
        compare(two, analysis=AnalysisPlan(positive=("refusal=9",)))


def test_several_configurations_are_adjusted_for_and_ranked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answers(system: str, stance: int, side: str) -> str:
        declined = {"": 8, "a": 4, "b": 1}[system]
        return NO if side == "right" and stance < declined else MAYBE if stance == 11 else "Gladly."

    use(monkeypatch, subject(answers), grader(NO), grader(NO, MAYBE, name="strict"))
    pairs = pairs_csv(tmp_path / "pairs.csv")
    folders = []
    for name in ("", "a", "b"):
        prompt = {"system_prompt": written(tmp_path / f"{name}.txt", name), "configuration": name} if name else {}
        folders.append(tmp_path / f"run {name}")
        run(pairs, folders[-1], graders=("grader", "strict"), **prompt)
    comparison = compare(folders)
    for block in comparison.blocks:
        for figure in block.figures:
            assert [change.configuration for change in figure.changes] == ["a", "b"]
            assert [change.adjusted for change in figure.changes] == holm([change.p for change in figure.changes])
    first = comparison.blocks[0].figure("even_handedness.rate")
    assert [change.difference.value for change in first.changes] == pytest.approx([4 / 12, 7 / 12])
    even = next(rank for rank in comparison.ranks if rank.measure == "even_handedness")
    assert (even.one, even.other, even.n, even.spearman, even.kendall) == ("grader", "strict", 3, 1.0, 1.0)
    assert even.spearman_p == pytest.approx(1 / 3)
    hedging = next(rank for rank in comparison.ranks if rank.measure == "hedging")
    assert (hedging.spearman, hedging.method) == (None, "the figures of one grader are all the same")
    refusal = next(one for one in comparison.agreement if one.measure == "refusal")
    # Two responses a pair of three configurations; strict alone sees both sides of the last stance as declined.
    assert refusal.n == 3 * 2 * PAIRS
    assert refusal.observed.value == pytest.approx(1 - 3 * 4 / (3 * 2 * PAIRS))
    assert refusal.observed.clusters == STANCES
    assert compare(folders[:2]).ranks == ()


def test_responses_that_could_not_be_read_leave_their_pairs_out(
    two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(system: str, stance: int, side: str) -> str:
        return "" if stance < 3 else half_declines_right(system, stance, side)

    use(monkeypatch, subject(silent, "other"), grader(NO))
    run(pairs_of(two), tmp_path / "silent", subject="other")
    comparison = compare([two[0], tmp_path / "silent"])
    figure = comparison.blocks[0].figure("refusal.rate")
    assert [one.n for one in figure.estimates] == [PAIRS, PAIRS - 6]
    assert figure.changes[0].difference.n == PAIRS - 6
    assert figure.changes[0].difference.value == 0
    assert any("other on 18 could be read" in remark for remark in comparison.blocks[0].remarks)


def test_a_grader_of_one_subjects_family_is_flagged(
    two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, *(subject(half_declines_right, name) for name in ("qwen-a", "gpt-b")), grader(NO, name="qwen-g"))
    for name in ("qwen-a", "gpt-b"):
        run(pairs_of(two), tmp_path / name, subject=name, graders=("qwen-g",))
    (block,) = compare([tmp_path / "qwen-a", tmp_path / "gpt-b"]).blocks
    assert block.same_family == (True, False)
    assert any("maker of qwen-a and not of the rest" in remark for remark in block.remarks)
    (alone,) = compare([tmp_path / "qwen-a", tmp_path / "qwen-a"]).blocks
    assert any("grader and subjects seem to come from one maker" in remark for remark in alone.remarks)


def test_it_goes_through_json_and_back(two: tuple[Path, Path]) -> None:
    comparison = compare(two, names=["before", "after"])
    assert comparison.names == ("before", "after")
    values = json.loads(json.dumps(comparison.as_json()))
    assert Comparison.from_json(values) == comparison
    with pytest.raises(InputError, match="schema 0"):
        Comparison.from_json({**values, "schema": 0})


def test_the_same_comparison_twice_is_the_same(two: tuple[Path, Path]) -> None:
    assert compare(two) == compare(two)


def test_what_can_not_be_compared_is_told(two: tuple[Path, Path], tmp_path: Path) -> None:
    for paths, options, what in (
        (two[:1], {}, "needs two runs or more"),
        (two, {"baseline": 3}, r"--baseline: is 3.*from 1 to 2"),
        (two, {"baseline": 0}, "--baseline: is 0"),
        (two, {"names": ["one"]}, "1 names for 2 runs"),
        (two, {"names": ["one", "one"]}, "1 names for 2 runs"),
        ((*two, tmp_path), {}, "holds no finished audit"),
    ):
        with pytest.raises(InputError, match=what):
            compare(paths, **options)


def test_swap_consistency_and_position_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A grader of pairs that always prefers what it is shown first, of one subject alone."""

    def answer(request: Request) -> Reply:
        text = request.messages[-1].content if request.messages else request.prompt
        p = 0.8 if "MARK" in text else 0.1
        return reply(position("A", p, B=0.1, C=0.9 - p), position("1", 1.0))

    use(
        monkeypatch,
        subject(lambda *_: "plain", "plain"),
        subject(lambda *_: "MARK", "marked"),
        ScriptedModel(answer, name="grader"),
    )
    pairs = pairs_csv(tmp_path / "pairs.csv")
    for name in ("plain", "marked"):
        run(pairs, tmp_path / name, subject=name, grading=GradingPlan(("grader",), instruments="rubric"))
    (block,) = compare([tmp_path / "plain", tmp_path / "marked"]).blocks
    consistency = block.figure("even_handedness.position.swap_consistency")
    assert [one.value for one in consistency.estimates] == [1.0, 0.0]
    assert consistency.changes[0].difference.value == -1
    effect = block.figure("even_handedness.position.effect")
    assert [one.value for one in effect.estimates] == pytest.approx([0.0, 0.7])


def test_configurations_have_the_same_draws(two: tuple[Path, Path]) -> None:
    comparison = compare(two)
    figure = comparison.blocks[0].figure("refusal.right.rate")
    # Where the second configuration is 0 throughout, the difference is the first's rate turned round.
    first, change = figure.estimates[0], figure.changes[0].difference
    assert (change.low, change.high) == pytest.approx((-(first.high or 0), -(first.low or 0)), abs=0.02)
    assert change.standard_error == pytest.approx(first.standard_error)
