"""Every figure of a page is the one that was saved."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compared_runs import FAIR, grader, half_declines_right, pairs_csv, plan, subject, use, written
from conftest import read_json
from evenhand.execution import RunFolder
from evenhand.report.corrected_summary import CorrectedFigure, CorrectedSummary
from evenhand.statistics import Estimate
from evenhand.statistics.correction_advice import correct
from evenhand.statistics.labelled_run import labelled_run
from evenhand.studies.configurations import audit_configurations, configurations
from evenhand.studies.report import report
from report_pages import checked, figures_in, ids_in, same_figure, synthetic_run


@pytest.fixture(scope="module")
def drawn_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_run(tmp_path_factory.mktemp("drawn") / "run", graders=("one", "two"))


def test_every_figure_of_an_audit_stands_in_its_summary(drawn_run: Path) -> None:
    page = report([drawn_run], with_reader=False).page()
    shown = checked(page, [drawn_run])
    summary = read_json(drawn_run / "summary.json")
    for place, block in enumerate(summary["blocks"]):
        at = f"blocks/{place}"
        wanted = {f"{at}/figures/{n}/{kind}" for n in range(len(block["figures"])) for kind in ("rate", "mean")}
        wanted |= {f"{at}/cells/{n}/rate" for n in range(4)}
        wanted |= {f"{at}/directions/{n}/{what}" for n in range(len(block["directions"])) for what in ("mean", "p")}
        wanted |= {f"{at}/positions/0/{what}" for what in ("effect", "swap_consistency")}
        groups = enumerate(block["sensitivity"]["groups"])
        wanted |= {f"{at}/sensitivity/groups/{n}/rate" for n, group in groups if group["rate"]["value"] is not None}
        assert wanted <= shown
    assert {f"agreement/{n}/kappa" for n in range(len(summary["agreement"]))} <= shown


def test_a_figure_that_was_changed_is_noticed(drawn_run: Path, tmp_path: Path) -> None:
    page = report([drawn_run], with_reader=False).page()
    summary = read_json(drawn_run / "summary.json")
    summary["blocks"][0]["figures"][0]["rate"]["value"] -= 0.002
    (tmp_path / "summary.json").write_text(json.dumps(summary), "utf-8")
    with pytest.raises(AssertionError, match="figures/0/rate"):
        checked(page, [tmp_path])


@pytest.mark.parametrize(
    ("text", "saved"),
    [
        ("87.5% [60.0, 100.0]", {"value": 0.875, "low": 0.6, "high": 1.0}),
        ("0.54", {"value": 0.5404, "low": None, "high": None}),
        ("<.001", 0.0004),
        ("1,350", 1350),
        ("-2.0 [-10.0, +6.0]", {"value": -0.02, "low": -0.1, "high": 0.06}),
    ],
)
def test_what_the_same_figure_is(text: str, saved: Any) -> None:
    assert same_figure(text, saved)


@pytest.mark.parametrize(
    ("text", "saved"),
    [
        ("87.5% [60.0, 100.0]", {"value": 0.875, "low": 0.61, "high": 1.0}),
        ("87.5%", {"value": 0.875, "low": 0.6, "high": 1.0}),
        ("0.54", 0.56),
        ("–", {"value": None, "low": None, "high": None}),
        ("1,350", 1351),
    ],
)
def test_what_it_is_not(text: str, saved: Any) -> None:
    assert not same_figure(text, saved)


def test_several_runs_keep_their_figures_apart(tmp_path: Path) -> None:
    runs = [synthetic_run(tmp_path / f"run{n}", seed=n, subject=f"subject {n}") for n in (1, 2)]
    page = report(runs, with_reader=False).page()
    checked(page, runs)
    of_runs = {run: [one.text for one in figures_in(page) if one.run == run] for run in (1, 2)}
    assert of_runs[1]
    assert of_runs[1] != of_runs[2]
    ids = ids_in(page)
    assert len(ids) == len(set(ids))


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("compared")
    with pytest.MonkeyPatch.context() as patch:
        other = grader("I can't help.", name="other", sure=0.8)
        use(patch, subject(half_declines_right), grader("I can't help."), other)
        prompts = [Path("none"), written(folder / "fair.txt", FAIR)]
        first = plan(pairs_csv(folder / "pairs.csv"), folder / "runs", graders=("grader", "other"))
        plans = [replace(one, analysis=first.analysis) for one in configurations(first, ["subject"], prompts)]
        audit_configurations(plans, folder / "runs")
    yield folder / "runs"


def test_a_comparison_and_the_runs_that_it_compares(compared: Path) -> None:
    found = report([compared], with_reader=False)
    folders = [run.folder for run in found.runs]
    assert len(folders) == 3
    shown = checked(found.page(), folders)
    comparison = read_json(compared / "comparison.json")
    for place, block in enumerate(comparison["blocks"]):
        for number, figure in enumerate(block["figures"]):
            if figure["name"] == "even_handedness.rate":
                assert f"blocks/{place}/figures/{number}/changes/0/difference" in shown
                assert f"blocks/{place}/figures/{number}/estimates/1" in shown
    ids = ids_in(found.page())
    assert len(ids) == len(set(ids))


def test_runs_that_were_named_beside_their_comparison_come_once(compared: Path) -> None:
    inside = [folder for folder in compared.iterdir() if folder.is_dir()]
    assert len(report([compared, *inside], with_reader=False).runs) == 3


def test_shares_that_labels_correct(drawn_run: Path, tmp_path: Path) -> None:
    run = synthetic_run(tmp_path / "run", stances=30)
    RunFolder(run).write_json("corrected.json", _corrected())
    page = report([run], with_reader=False).page()
    paths = {figure.path for figure in figures_in(page) if figure.file == "corrected.json"}
    assert {f"figures/0/{one}" for one in ("raw", "correction/ppi", "correction/humans")} <= paths
    checked(page, [run])


def _corrected() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    verdicts = (rng.random(300) < 0.4).astype(float)
    labels = np.where(rng.random(300) < 0.9, verdicts, 1 - verdicts)
    clusters = [f"c{n % 30}" for n in range(300)]
    labelled = labelled_run(
        labels[:120], verdicts[:120], verdicts[120:], clusters=clusters[:120], clusters_rest=clusters[120:]
    )
    kappa, share = Estimate.missing("not worked out"), Estimate(0.4, 0.3, 0.5, 300, 30, "made up")
    figure = CorrectedFigure("one", "rubric", "refusal", "responses", 300, share, kappa, 2, correct(labelled))
    summary = CorrectedSummary("labels.csv", "0" * 64, ("ann", "bob"), 0.5, (figure,), ("The labels are few.",))
    return dict(json.loads(json.dumps(summary.as_json())))
