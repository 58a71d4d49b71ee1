"""A sheet goes out to people, says nothing that it should not, and comes back."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from audit_runs import declines_right, open_scripted, pairs_file, plan, scripted, sees_refusals
from conftest import ScriptedModel
from evenhand.errors import InputError
from evenhand.instruments import Request
from evenhand.pairs.gold.item import GoldMeasure
from evenhand.readings import Reply
from evenhand.studies.audit import audit
from evenhand.studies.audit.saved_run import read_saved_run
from evenhand.studies.label_run import LabelPlan, read_labels, write_label_sheet
from label_sheets import by_text, fill, sheet

SIDES = [("left", "right"), ("right", "left")] * 10
HOSTILE = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    'quote " comma , semicolon ; \n new line',
    "\r=1",
    "nul \x00 bell \x07 surrogate \ud83d",
    "＝1",
    "'=1",
)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, ScriptedModel]:
    known = {
        "subject": scripted(declines_right, "subject"),
        "grader": scripted(sees_refusals, "grader"),
    }
    open_scripted(monkeypatch, known)
    return known


@pytest.fixture
def run(tmp_path: Path, models: dict[str, ScriptedModel]) -> Path:
    audit(plan(tmp_path, pairs_file(tmp_path, SIDES)))
    return tmp_path / "run"


def test_the_sheet_shows_texts_and_nothing_else(run: Path) -> None:
    path = write_label_sheet(LabelPlan(run, 12, annotators=2))
    rows = sheet(path)
    assert list(rows[0]) == ["id", "prompt", "response", "refusal_1", "refusal_2", "hedging_1", "hedging_2"]
    assert len({row["id"] for row in rows}) == 12
    text = path.read_text("utf-8-sig")
    for hidden in ("subject", "grader", "compact", "topic", ",ga,", ",gb,"):
        assert hidden not in text
    assert all(row[name] == "" for row in rows for name in rows[0] if name.startswith(("refusal", "hedging")))
    # The prompts of this set name their side, which a sheet can't hide; the column of sides is not there.
    assert "side" not in rows[0]


def test_labels_come_back_to_their_responses(run: Path) -> None:
    path = write_label_sheet(LabelPlan(run, 40))
    labels = read_labels(fill(path, by_text), read_saved_run(run))
    given = labels.by_measure[GoldMeasure.REFUSAL]
    saved = read_saved_run(run)
    assert len(given) == 40
    for response in saved.responses:
        refuses = "can't help" in (response.text or "")
        assert given[response.pair.pair_id, response.letter] == (("full", "full") if refuses else ("none", "none"))
    assert (labels.annotators, labels.foreign) == (("1", "2"), 0)
    assert GoldMeasure.HEDGING not in labels.by_measure


def test_pairs_come_back_whichever_stood_first(run: Path) -> None:
    path = write_label_sheet(LabelPlan(run, 20, unit="pairs", annotators=1))
    rows = sheet(path)
    assert list(rows[0]) == ["id", "prompt_1", "response_1", "prompt_2", "response_2", "even_handedness_1"]
    helped_first = ["can't help" not in row["response_1"] for row in rows]
    assert 0 < sum(helped_first) < 20
    filled = fill(path, lambda row: {"even_handedness_1": "2" if "can't help" in row["response_1"] else "1"})
    given = read_labels(filled, read_saved_run(run)).by_measure[GoldMeasure.EVEN_HANDEDNESS]
    for pair in read_saved_run(run).pairs:
        left_is_a = str(pair.side_a) == "left"
        assert given[pair.pair_id, None] == ("helped_a" if left_is_a else "helped_b",)


def test_the_draw_is_the_same_for_a_seed_and_spread_over_strata(run: Path, tmp_path: Path) -> None:
    def drawn(seed: int, n: int = 20) -> list[str]:
        out = tmp_path / f"{seed}-{n}-{len(list(tmp_path.iterdir()))}.csv"
        return [row["id"] for row in sheet(write_label_sheet(LabelPlan(run, n, seed=seed, out=out)))]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    place = {row["id"]: row["prompt"] for row in sheet(write_label_sheet(LabelPlan(run, 40)))}
    # 20 of 40: one of the two responses of each topic.
    topics = Counter(place[name].split()[1][1:] for name in drawn(3))
    assert set(topics.values()) == {1}
    # Neither side is missed, whatever the length of the steps.
    sides = Counter(place[name].split()[-1] for seed in range(10) for name in drawn(500 + seed))
    assert min(sides.values()) > 70
    # Every unit is as likely to be drawn as any other: 400 draws of 10 of 40.
    counts = Counter(name for seed in range(100) for name in drawn(1000 + seed, 10))
    assert len(counts) == 40
    assert max(counts.values()) < 45 and min(counts.values()) > 8


def test_a_filled_sheet_is_not_written_over(run: Path) -> None:
    path = write_label_sheet(LabelPlan(run, 5))
    before = path.read_bytes()
    with pytest.raises(InputError, match="may hold labels"):
        write_label_sheet(LabelPlan(run, 5))
    assert path.read_bytes() == before


@pytest.mark.parametrize("n", [0, 41])
def test_a_number_that_can_not_be_drawn(run: Path, n: int) -> None:
    with pytest.raises(InputError, match="from 1 to 40"):
        write_label_sheet(LabelPlan(run, n))


def test_texts_that_excel_would_cut_are_told(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    """The surrogate pairs of UTF-16 count twice, as Excel counts them."""
    long = {"left": "x" * 32_768, "right": "\U0001f600" * 16_384}

    def answer(request: Request) -> Reply:
        side = request.messages[-1].content.split()[-1]
        number = int("".join(c for c in request.messages[-1].content if c.isdigit()))
        text = long[side] if number < 2 else "x" * 32_767
        return Reply(text, "stop", "m", completion_tokens=3)

    models["subject"] = scripted(answer, "subject")
    audit(plan(tmp_path, pairs_file(tmp_path, SIDES)))
    told: list[str] = []
    path = write_label_sheet(LabelPlan(tmp_path / "run", 40), told.append)
    rows = [number for number, row in enumerate(sheet(path), 2) if row["response"] != "x" * 32_767]
    assert len(rows) == 4
    (warning,) = told
    assert f"rows {', '.join(map(str, rows))} of the sheet hold a text of more than 32,767 characters" in warning
    write_label_sheet(LabelPlan(tmp_path / "run", 1, out=tmp_path / "quiet.csv"))


def test_hostile_responses_go_out_and_come_back(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    def hostile(request: Request) -> Reply:
        number = int("".join(c for c in request.messages[-1].content if c.isdigit()))
        return Reply(HOSTILE[number % len(HOSTILE)] + f" {number}", "stop", "m", completion_tokens=3)

    models["subject"] = scripted(hostile, "subject")
    audit(plan(tmp_path, pairs_file(tmp_path, SIDES)))
    run = tmp_path / "run"
    path = write_label_sheet(LabelPlan(run, 40))
    for row in sheet(path):
        assert not row["response"].startswith(("=", "+", "-", "@", "\t"))
    labels = read_labels(fill(path, lambda _: {"refusal_1": "none"}), read_saved_run(run))
    assert len(labels.by_measure[GoldMeasure.REFUSAL]) == 40


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_spreadsheets_make_of_it_is_read(run: Path, delimiter: str) -> None:
    path = write_label_sheet(LabelPlan(run, 12))

    def levels(row: dict[str, str]) -> dict[str, str]:
        return {"refusal_1": " Full ", "hedging_1": "4.0"}

    filled = fill(path, levels, delimiter=delimiter)
    lines = filled.read_bytes()
    filled.write_bytes(lines + (delimiter * 6).encode() + b"\r\n")  # an empty row at the end
    found = read_labels(filled, read_saved_run(run)).by_measure
    assert set(found[GoldMeasure.REFUSAL].values()) == {("full", None)}
    assert set(found[GoldMeasure.HEDGING].values()) == {("4", None)}


def test_faults_are_named_by_row_and_column(run: Path) -> None:
    path = write_label_sheet(LabelPlan(run, 6))
    saved = read_saved_run(run)
    names = [row["id"] for row in sheet(path)]

    def fault(label: Callable[[dict[str, str]], dict[str, str]]) -> str:
        with pytest.raises(InputError) as caught:
            read_labels(fill(path, label), saved)
        return str(caught.value)

    wrong = fault(lambda row: {"refusal_2": "yes" if row["id"] == names[3] else ""})
    assert "filled.csv, row 5, refusal_2: is 'yes'" in wrong
    assert "use full, partial, none" in wrong
    assert "row 4, id: is the id of row 2 too" in fault(lambda row: {"id": names[0]} if row["id"] == names[2] else {})
    assert "row 3, id: is empty" in fault(lambda row: {"id": ""} if row["id"] == names[1] else {})
    assert "holds no labels" in fault(lambda _: {})
    pairs = write_label_sheet(LabelPlan(run, 6, unit="pairs", out=run / "pairs.csv"))
    mixed = pairs.read_text("utf-8-sig").replace("even_handedness_1", "refusal_1").splitlines()
    pairs.write_text("\n".join([mixed[0], mixed[1].removesuffix(",,") + ",none,"]), "utf-8")
    with pytest.raises(InputError, match="row 2: holds a label of refusal, and the row is a pair"):
        read_labels(pairs, saved)
    foreign = fault(lambda row: {"id": f"x{row['id']}", "refusal_1": "none"})
    assert "6 labelled rows, and none is of a response of this run" in foreign


def test_a_file_that_is_no_sheet(run: Path, tmp_path: Path) -> None:
    saved = read_saved_run(run)
    for text, message in (
        ("", "no column id"),
        ("a,b\n1,2\n", "no column id"),
        ("id,response\nx,y\n", "no column of labels"),
        ("id,refusal_1,refusal_1\nx,full,none\n", "refusal_1: is there twice"),
        ("id,refusal_1\nx,full,none\n", "row 2: has 3 cells where the header has 2"),
    ):
        path = tmp_path / "labels.csv"
        path.write_text(text, "utf-8")
        with pytest.raises(InputError, match=message):
            read_labels(path, saved)
    with pytest.raises(InputError, match="can't be read"):
        read_labels(tmp_path / "nowhere.csv", saved)


def test_labels_of_another_run_are_counted_and_left_out(run: Path, tmp_path: Path) -> None:
    path = write_label_sheet(LabelPlan(run, 10))
    first = sheet(path)[0]["id"]
    filled = fill(path, lambda row: {"refusal_1": "none"} | ({} if row["id"] != first else {"id": "u000000000000"}))
    labels = read_labels(filled, read_saved_run(run))
    assert (labels.foreign, len(labels.by_measure[GoldMeasure.REFUSAL])) == (1, 9)
