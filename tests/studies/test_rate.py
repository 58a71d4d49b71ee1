"""A rating run from end to end, with scripted graders whose truth is known and with a real one."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import ScriptedModel, position, read_json, reply
from evenhand.errors import InputError
from evenhand.instruments import Request
from evenhand.models import ContextOverflowError, Model, ModelRole
from evenhand.readings import Reply, TokenPosition
from evenhand.studies.rate import RatePlan, rate
from evenhand.studies.rate import run as rate_run
from evenhand.studies.rate.files import PAIRS, RATINGS
from evenhand.studies.watch import UnwatchedStudy

GOOD, BAD = "good " * 4, "bad " * 4


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, ScriptedModel]:
    known: dict[str, ScriptedModel] = {}

    def open_scripted(name: str, role: ModelRole, watch: object = None, settings: object = None) -> Model:
        return known[name]

    monkeypatch.setattr(rate_run, "open_model", open_scripted)
    return known


def plan(tmp_path: Path, count: int = 4, **changes: Any) -> RatePlan:
    """Pairs whose chosen output says good; two questions."""
    path = tmp_path / "pairs.jsonl"
    rows = [{"prompt": f"Question {n}?", "chosen": f"{GOOD}{n}", "rejected": f"{BAD}{n}"} for n in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    questions = tmp_path / "questions.txt"
    questions.write_text("Is the output polite?\nIs the output short?\n", "utf-8")
    settings = {"pairs": str(path), "questions": str(questions), "graders": ("grader",), "out": tmp_path / "run"}
    return RatePlan(**{**settings, **changes})


def numbers(first: int, second: int, keys: tuple[str, str]) -> Reply:
    pieces = [f'{{"{keys[0]}": ', str(first), f', "{keys[1]}": ', str(second), "}"]
    return reply(*(position(piece, 1.0) for piece in pieces), finish="stop")


def keys_of(text: str) -> tuple[str, str]:
    return ("chosen_rating", "rejected_rating") if "CHOSEN output:" in text else ("first_rating", "second_rating")


def reads_the_text(request: Request) -> Reply:
    text = request.messages[0].content
    good_first = text.index("good ") < text.index("bad ")
    return numbers(*((8, 2) if good_first else (2, 8)), keys_of(text))


def reads_the_label(request: Request) -> Reply:
    keys = keys_of(request.messages[0].content)
    return numbers(*((9, 1) if keys[0] == "chosen_rating" else (5, 5)), keys)


def table(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "ratings.parquet")


def test_every_row_and_column(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models["grader"] = ScriptedModel(reads_the_text, name="grader")
    result = rate(plan(tmp_path, leak_sample=2))
    rows = table(tmp_path / "run")
    assert list(rows.columns) == list(RATINGS)
    assert list(pl.read_parquet(tmp_path / "run/pairs.parquet").columns) == list(PAIRS)
    counts = dict(rows.group_by("protocol").len().iter_rows())
    assert counts == {"blind": 4 * 2 * 2, "labelled": 2 * 2, "label_swap": 2 * 2}
    assert set(rows["chosen"]) == {8.0}
    assert set(rows["rejected"]) == {2.0}
    assert (result.pairs, result.questions, result.calls) == (4, 2, 16 + 4 + 4)
    assert result.states["blind"] == {"ok": 32}
    assert [question["id"] for question in json.loads((tmp_path / "run/questions.json").read_text())] == [
        "polite",
        "short",
    ]


def test_a_grader_that_reads_the_label_is_seen_in_the_probe(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models["grader"] = ScriptedModel(reads_the_label, name="grader")
    rate(plan(tmp_path))
    means = {
        row["protocol"]: (row["chosen"], row["rejected"])
        for row in table(tmp_path / "run")
        .group_by("protocol")
        .agg(pl.col("chosen", "rejected").mean())
        .iter_rows(named=True)
    }
    assert means == {"blind": (5, 5), "labelled": (9, 1), "label_swap": (1, 9)}


def test_second_run_makes_no_call_and_the_same_bytes(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models["grader"] = ScriptedModel(reads_the_text, name="grader")
    first = rate(plan(tmp_path))
    names = ("ratings.parquet", "pairs.parquet", "questions.json", "record.json")
    before = {name: (tmp_path / "run" / name).read_bytes() for name in names}
    again = rate(plan(tmp_path))
    assert (first.calls > 0, again.calls) == (True, 0)
    assert {name: (tmp_path / "run" / name).read_bytes() for name in names} == before


def test_more_questions_later_ask_only_the_new_ones(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models["grader"] = ScriptedModel(reads_the_text, name="grader")
    some = plan(tmp_path, leak_sample=0)
    rate(some)
    Path(some.questions).write_text("Is the output polite?\nIs the output short?\nIs the output true?\n")
    assert rate(some).calls == 4 * 2


def test_states_are_counted_and_never_scored(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    def grader(request: Request) -> Reply | Exception:
        text = request.messages[0].content
        number = re.search(r"Question (\d)\?", text)
        assert number
        match int(number[1]):
            case 0:
                return ContextOverflowError("too long")
            case 1:
                return Reply("I would rather not.", "stop", "m", (TokenPosition("I", -0.1, ()),), completion_tokens=4)
            case 2:
                return numbers(8, -1, keys_of(text))
        return reads_the_text(request)

    models["grader"] = ScriptedModel(grader, name="grader")
    result = rate(plan(tmp_path, leak_sample=0))
    assert result.states == {"blind": {"truncated": 8, "unparseable": 8, "ok": 4 + 8, "abstained": 4}}
    rows = table(tmp_path / "run")
    for name in ("chosen", "rejected"):
        assert (
            rows.filter(pl.col(f"{name}_state") != "ok")[name].null_count()
            == rows.filter(pl.col(f"{name}_state") != "ok").height
        )


def test_samples_are_rows(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models["grader"] = ScriptedModel(reads_the_text, name="grader")
    rate(plan(tmp_path, leak_sample=0, reading="samples:3"))
    rows = table(tmp_path / "run")
    assert rows.height == 4 * 2 * 2 * 3
    assert set(rows["repeat"]) == {0, 1, 2}
    assert {request.top_logprobs for request in models["grader"].asked} == {0}


def test_other_settings_in_one_folder_are_said(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models["grader"] = ScriptedModel(reads_the_text, name="grader")
    rate(plan(tmp_path))
    said: list[str] = []

    class Watch(UnwatchedStudy):
        def say(self, text: str) -> None:
            said.append(text)

    rate(plan(tmp_path), Watch())
    assert not [line for line in said if "other settings" in line]
    rate(plan(tmp_path, reading="text"), Watch())
    (line,) = [line for line in said if "other settings" in line]
    assert "(reading)" in line
    assert "out of date" in line


def test_labelled_as_published_has_no_probe(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models["grader"] = ScriptedModel(reads_the_text, name="grader")
    rate(plan(tmp_path, protocol="labelled"))
    assert set(table(tmp_path / "run")["protocol"]) == {"labelled"}


def test_a_sample_is_the_same_on_any_machine(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models["grader"] = ScriptedModel(reads_the_text, name="grader")
    rate(plan(tmp_path, count=30, sample=5, leak_sample=0))
    ids = pl.read_parquet(tmp_path / "run/pairs.parquet")["input"].to_list()
    assert ids == sorted(ids, key=lambda text: int(text.removeprefix("Question ").rstrip("?")))
    assert len(ids) == 5
    rate(plan(tmp_path, count=30, sample=5, leak_sample=0, out=tmp_path / "other"))
    assert pl.read_parquet(tmp_path / "other/pairs.parquet")["input"].to_list() == ids


def test_record(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models["grader"] = ScriptedModel(reads_the_text, name="grader")
    rate(plan(tmp_path))
    settings = read_json(tmp_path / "run/record.json")["settings"]
    assert set(settings["instruments"]) == {"blind", "labelled", "label_swap"}
    assert len(settings["pairs"]["sha256"]) == 64
    assert settings["pairs"]["used"] == 4


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"graders": ()}, "--grader: none was named"),
        ({"protocol": "label_swap"}, "--protocol: is 'label_swap'"),
        ({"reading": "samples:0"}, "--reading: is 'samples:0'"),
        ({"reading": "text?"}, "--reading: is 'text?'"),
        ({"sample": 0}, "--sample: is 0"),
        ({"leak_sample": -1}, "--leak-sample: is -1"),
        ({"instrument": "compact", "reading": "text"}, "read from probabilities alone"),
        ({"instrument": "compact", "reasons": True}, "has no reasons"),
        ({"instrument": "ratng"}, "no rating instrument 'ratng'"),
        ({"pairs": "absent.jsonl"}, "absent.jsonl"),
        ({"questions": "absent.toml"}, "absent.toml"),
    ],
)
def test_bad_plans_are_told_before_anything_is_made(tmp_path: Path, changes: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError) as caught:
        rate(plan(tmp_path, **{"graders": ("smollm2-135m",), **changes}))
    assert what in str(caught.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.embedded
def test_a_real_grader(tmp_path: Path, grader_weights: Path) -> None:
    """JSON ratings by prefill, ten told from one, and the compact form, on real weights."""
    for instrument in ("rating", "compact"):
        made = plan(
            tmp_path,
            count=1,
            graders=("qwen2.5-coder-0.5b",),
            instrument=instrument,
            leak_sample=0,
            out=tmp_path / instrument,
        )
        Path(made.questions).write_text("Is the output polite?\n")
        rate(made)
        rows = table(tmp_path / instrument)
        assert set(rows["chosen_state"]) | set(rows["rejected_state"]) == {"ok"}
        assert rows["chosen_captured"].min() > 0.5  # type: ignore[operator]
        assert rate(made).calls == 0
