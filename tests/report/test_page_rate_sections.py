"""The sections of a run of ratings on a page."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chart_material import HOSTILE, all_sections, check_figure, effects, saved, shown_in, some
from conftest import read_json
from evenhand.report.page.blocks import Chart, Command, Section, Table, Text
from evenhand.report.page.rate_sections import effects_sections, fit_sections
from evenhand.studies.effects import effects as work_out
from evenhand.studies.fit import fit
from evenhand.studies.report import report
from rating_runs import World, world, write_run
from report_pages import at_path, figures_in, ids_in, same_figure
from scoring_specs import question, spec

RECORD = {
    "evenhand": "0.1.0",
    "replies": {"count": 984, "first_at": "2026-11-30", "last_at": "2026-11-30"},
    "settings": {
        "graders": [{"name": HOSTILE, "weights_sha256": "ab"}],
        "instruments": {"blind": "cd"},
        "pairs": {"name": "it's.csv", "sha256": "ef", "problems": 7},
        "questions": {"name": "q.yaml", "sha256": "01"},
        "reading": "probabilities",
        "sample": {"leak": 8, "seed": 0, "size": None},
    },
}
EFFECTS = effects()
SPEC = spec(question(HOSTILE, 0.3), question("long", -0.1, abstained_weight=-0.2, direction="lower"))


def texts(sections: tuple[Section, ...], kind: str) -> list[str]:
    found = [block for section in all_sections(sections) for block in section.blocks]
    return [
        block.text
        if isinstance(block.text, str)
        else "".join(part if isinstance(part, str) else part.text for part in block.text)
        for block in found
        if isinstance(block, Text) and block.kind == kind
    ]


@pytest.mark.parametrize(
    ("sections", "values"),
    [
        (effects_sections(EFFECTS, RECORD, [{"id": "q1"}, {"id": "new"}], prefix="run-2-", run="runs/one"), EFFECTS),
        (fit_sections(SPEC, prefix="run-2-", run="runs/one"), SPEC),
    ],
)
def test_sections_and_figures(sections: tuple[Section, ...], values: Any) -> None:
    found = list(all_sections(sections))
    anchors = [section.anchor for section in found]
    assert len(set(anchors)) == len(anchors)
    assert all(anchor.startswith("run-2-") for anchor in anchors)
    blocks = [block for section in found for block in section.blocks]
    charts = [block for block in blocks if isinstance(block, Chart)]
    assert len(charts) == len({chart.name for chart in charts}) == 3
    figures = [figure for block in blocks for figure in shown_in(block)]
    assert len(figures) > 30
    for figure in figures:
        check_figure(figure, saved(values))
    for table in (block for block in blocks if isinstance(block, Table)):
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_headlines_are_the_questions_that_tell_most_and_length() -> None:
    found = texts(effects_sections(EFFECTS, RECORD), "headline")
    assert found[1].startswith(
        "q1: 73.0% [68.0, 78.0] that the chosen output is rated higher, over 239 pairs: Is it 1?"
    )
    assert [text.split(":")[0] for text in found[1:4]] == ["q1", "q2", "Length"]
    assert "Told minus not told, over all questions: +21.2" in found[4]


def test_where_nothing_is_told_it_is_said_so() -> None:
    rated = EFFECTS.blocks[0]
    unsure = tuple(replace(one, effect=replace(one.effect, q_value=0.4)) for one in rated.questions)
    summary = replace(EFFECTS, blocks=(replace(rated, questions=unsure),))
    assert any(text.startswith("No question of 5 tells") for text in texts(effects_sections(summary, {}), "caution"))


def test_cautions_of_the_data_and_of_length() -> None:
    found = texts(effects_sections(EFFECTS, RECORD), "caution")
    assert "A caution." in found
    assert "A remark." in found
    assert any(text.startswith("7 rows of the file could not be used") for text in found)
    assert any("The longer output is the chosen one more often than not: 61.0% [56.0, 66.0]" in text for text in found)
    even = replace(EFFECTS, length=replace(EFFECTS.length, superiority=some(0.51)), remarks=())
    quiet = effects_sections(even, {})
    assert "Nothing stands out in what was read of the data." in texts(quiet, "plain")


def test_leak_says_whether_it_was_shown() -> None:
    assert any(text.startswith("The grader's ratings move") for text in texts(effects_sections(EFFECTS, {}), "caution"))
    rated = EFFECTS.blocks[0]
    assert rated.leak is not None
    calm = replace(EFFECTS, blocks=(replace(rated, leak=replace(rated.leak, flagged=False)),))
    assert any("small samples can't show one" in text for text in texts(effects_sections(calm, {}), "note"))
    none = replace(EFFECTS, blocks=(replace(rated, leak=None),))
    assert "label-leak" not in [section.anchor for section in effects_sections(none, {})]


def test_what_was_not_rated_and_what_could_not_be() -> None:
    sections = effects_sections(EFFECTS, RECORD, [{"id": "q1"}, {"id": "new"}])
    assert any(text.endswith("new.") and text.startswith("Not rated by") for text in texts(sections, "note"))
    (unread,) = (section for section in sections if section.anchor == "unread-ratings")
    (table,) = unread.blocks
    assert isinstance(table, Table)
    assert table.columns == ("Question", "Output", "read", "abstained")


def test_several_graders_have_a_part_each() -> None:
    both = replace(EFFECTS, blocks=(EFFECTS.blocks[0], replace(EFFECTS.blocks[0], grader="other")))
    sections = effects_sections(both, RECORD)
    effects_of = next(section for section in sections if section.anchor == "effects")
    assert [part.anchor for part in effects_of.sections] == ["effects-1", "effects-2"]
    assert effects_of.sections[1].heading == "Rated by other, protocol blind"
    names = [block.name for section in all_sections(sections) for block in section.blocks if isinstance(block, Chart)]
    assert len(set(names)) == len(names) == 6


def test_commands_can_be_copied() -> None:
    sections = (*effects_sections(EFFECTS, RECORD, run="my runs"), *fit_sections(SPEC, run="my runs"))
    commands = [block.text for section in sections for block in section.blocks if isinstance(block, Command)]
    assert commands[0].startswith("evenhand rate 'it'\"'\"'s.csv' --questions q.yaml --grader '</text>")
    assert commands[1:] == ["evenhand effects 'my runs'", "evenhand fit 'my runs' --grader g"]


def test_a_record_that_says_nothing_is_no_trouble() -> None:
    for record in ({}, {"settings": None}, {"settings": {"graders": None, "pairs": "x"}}):
        assert effects_sections(EFFECTS, record)


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = world([0.5, -0.3, 0.0], 60, seed=1)
    folder = write_run(tmp_path_factory.mktemp("rated") / "run", list(made.ratings(_rate(made))), made.pairs())
    (folder / "record.json").write_text("{}", "utf-8")
    work_out(folder)
    fit(folder)
    return folder


def _rate(made: World) -> Any:
    rng = np.random.default_rng(2)

    def rate(pair: int, number: int, order: str) -> tuple[float, float]:
        found = np.clip(made.qualities[pair, number] + rng.normal(0, 1, 2), 0, 10)
        return float(found[0]), float(found[1])

    return rate


def test_every_figure_of_a_page_stands_in_the_run_folder(rated: Path) -> None:
    page = report([rated], with_reader=False).page()
    found = figures_in(page)
    assert {figure.file for figure in found} == {"effects.json", "spec.json"}
    for figure in found:
        assert same_figure(figure.text, at_path(read_json(rated / figure.file), figure.path)), figure
    ids = ids_in(page)
    assert len(ids) == len(set(ids))
