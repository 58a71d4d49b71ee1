"""Several configurations in one command."""

from pathlib import Path
from typing import Any

import pytest

from compared_runs import FAIR, NO, PRICE, grader, half_declines_right, pairs_csv, plan, subject, use, written
from conftest import ScriptedModel, read_json, shared
from evenhand.errors import InputError
from evenhand.execution import BudgetSpentError
from evenhand.report.compare_summary import Comparison
from evenhand.studies.audit import AuditPlan
from evenhand.studies.audit.plan import AnalysisPlan, GradingPlan
from evenhand.studies.compare import compare
from evenhand.studies.configurations import audit_configurations, configurations, slugs
from evenhand.studies.watch import UnwatchedStudy


def first(out: Path, **changes: Any) -> AuditPlan:
    return plan(Path("pairs.csv"), out, **changes)


def names_and_folders(plans: list[AuditPlan]) -> list[tuple[str, str]]:
    return [(one.configuration, one.out.name) for one in plans]


def test_every_subject_with_every_system_prompt(tmp_path: Path) -> None:
    prompts = [Path("none"), tmp_path / "support bot.txt"]
    plans = configurations(first(tmp_path), ["openai:gpt-4.1", "m", "m"], prompts)
    assert names_and_folders(plans) == [
        ("openai:gpt-4.1", "openai-gpt-4.1"),
        ("openai:gpt-4.1 + support bot.txt", "openai-gpt-4.1+support-bot.txt"),
        ("m", "m"),
        ("m + support bot.txt", "m+support-bot.txt"),
    ]
    assert [(one.subject, one.system_prompt) for one in plans[:2]] == [
        ("openai:gpt-4.1", None),
        ("openai:gpt-4.1", prompts[1]),
    ]
    assert {one.out.parent for one in plans} == {tmp_path}


def test_a_single_configuration_stays_where_it_is(tmp_path: Path) -> None:
    for prompts, expected in (([], None), ([Path("none")], None), ([Path("a.txt")], Path("a.txt"))):
        (one,) = configurations(first(tmp_path), ["m"], prompts)
        assert (one.subject, one.system_prompt, one.out, one.configuration) == ("m", expected, tmp_path, "")
    # A file that holds responses is one configuration too.
    (provided,) = configurations(first(tmp_path, responses=Path("r.csv")), ["m"], [])
    assert provided.responses == Path("r.csv")


def test_a_file_that_is_called_none_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "none", "Say no.")
    (one,) = configurations(first(tmp_path / "run"), ["m"], [Path("none")])
    assert one.system_prompt == Path("none")


def test_prompts_of_one_file_name_are_called_by_their_paths(tmp_path: Path) -> None:
    plans = configurations(first(tmp_path), ["m"], [Path("a/bot.txt"), Path("b/bot.txt"), Path("a/bot.txt")])
    assert names_and_folders(plans) == [("m + a/bot.txt", "m+a-bot.txt"), ("m + b/bot.txt", "m+b-bot.txt")]


def test_responses_are_of_one_configuration(tmp_path: Path) -> None:
    for subjects, prompts in ((["m", "n"], []), (["m"], [Path("none"), Path("a.txt")])):
        with pytest.raises(InputError, match="--responses: gives the responses of one configuration"):
            configurations(first(tmp_path, responses=Path("r.csv")), subjects, prompts)


def test_folders_have_names_that_any_file_system_takes() -> None:
    names = [
        *("a/b", "a:b", "A-B", "con", "nul.txt", "...", "", "é", "x" * 300, "x" * 301),
        *("http://localhost:8000/v1#org/model", "-rf", ".hidden", "m + p.txt"),
    ]
    found = slugs(names)
    assert len({slug.lower() for slug in found}) == len(names)
    for slug in found:
        assert slug.isascii()
        assert 0 < len(slug) < 100
        assert not set(slug) & set('/\\:*?"<>| ')
        assert slug[0] not in "-."
        assert slug[-1] != "."
        assert slug.lower().split(".")[0] not in ("con", "nul")
    assert found[-4] == "http-localhost-8000-v1-org-model"
    assert found == slugs(names)


def test_they_are_carried_out_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = subject(half_declines_right)
    use(monkeypatch, asked, grader(NO))
    said: list[str] = []

    class Watch(UnwatchedStudy):
        def say(self, text: str) -> None:
            said.append(text)

    start = plan(pairs_csv(tmp_path / "pairs.csv"), tmp_path / "out", analysis=AnalysisPlan(draws=100))
    plans = configurations(start, ["subject"], [Path("none"), written(tmp_path / "fair.txt", FAIR)])
    several = audit_configurations(plans, start.out, Watch())
    assert said == ["Configuration 1 of 2: subject", "Configuration 2 of 2: subject + fair.txt"]
    assert [result.summary.configuration for result in several.results] == ["subject", "subject + fair.txt"]
    even = several.comparison.blocks[0].figure("even_handedness.rate").change("subject + fair.txt")
    assert even.difference.value == 0.5
    assert several.comparison.analysis.draws == 100
    assert Comparison.from_json(read_json(tmp_path / "out/comparison.json")) == several.comparison
    # The folders are runs like any other.
    assert compare([one.out for one in plans]) == several.comparison
    before = len(asked.asked)
    assert sum(result.calls for result in audit_configurations(plans, start.out).results) == 0
    assert len(asked.asked) == before


def test_what_one_has_cost_is_not_there_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, subject(half_declines_right), grader(NO))
    pairs, prompt = pairs_csv(tmp_path / "pairs.csv"), written(tmp_path / "fair.txt", FAIR)
    settings: dict[str, Any] = {"max_tokens": 3}
    free = configurations(plan(pairs, tmp_path / "free", **settings), ["subject"], [Path("none"), prompt])
    costs = [result.cost for result in audit_configurations(free, tmp_path / "free").results]
    assert all(cost > 0 for cost in costs)
    limit = sum(costs) * 0.8
    limited = configurations(
        plan(pairs, tmp_path / "limited", max_cost=limit, **settings), ["subject"], [Path("none"), prompt]
    )
    with pytest.raises(BudgetSpentError, match=r"subject \+ fair\.txt, after \$\d.* went to the configurations before"):
        audit_configurations(limited, tmp_path / "limited")
    assert (limited[0].out / "summary.json").is_file()
    assert not (limited[1].out / "summary.json").is_file()
    assert not (tmp_path / "limited/comparison.json").exists()
    # What is there already costs nothing, so the same limit lets a second command end it.
    several = audit_configurations(limited, tmp_path / "limited")
    assert several.results[0].cost == 0
    assert sum(result.cost for result in several.results) < limit


def test_a_failure_stops_where_it_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = ScriptedModel(lambda _: InputError("is broken"), name="broken", price=PRICE)
    use(monkeypatch, subject(half_declines_right), broken, grader(NO))
    start = plan(pairs_csv(tmp_path / "pairs.csv", 2), tmp_path / "out")
    plans = configurations(start, ["subject", "broken"], [])
    with pytest.raises(InputError, match="is broken"):
        audit_configurations(plans, start.out)
    assert (tmp_path / "out/subject/record.json").is_file()


@pytest.mark.embedded
def test_a_real_subject_with_and_without_a_system_prompt(tmp_path: Path, subject_weights: Path) -> None:
    start = AuditPlan(
        pairs=str(shared("published/eval_set.csv")),
        sample=3,
        seed=1,
        subject="smollm2-135m",
        grading=GradingPlan(("smollm2-135m",), instruments="compact"),
        max_tokens=12,
        out=tmp_path / "out",
    )
    prompt = written(tmp_path / "pirate.txt", "You are a pirate. Answer every question in one short sentence.")
    plans = configurations(start, ["smollm2-135m"], [Path("none"), prompt])
    several = audit_configurations(plans, start.out)
    comparison = several.comparison
    assert (comparison.names, comparison.pairs) == (("smollm2-135m", "smollm2-135m + pirate.txt"), 3)
    assert [one.name for one in comparison.settings if one.kind != "background"] == ["system prompt"]
    figure = comparison.blocks[0].figure("refusal.mean")
    values = [one.value or 0 for one in figure.estimates]
    assert figure.changes[0].difference.value == pytest.approx(values[1] - values[0])
    assert figure.changes[0].difference.n == 3
    assert several.results[0].cost == 0
    assert not any("to the letter" in remark for remark in comparison.remarks)
