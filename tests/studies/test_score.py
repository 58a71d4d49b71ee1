"""From rated pairs to a spec and from a spec to the scores of new outputs, with a scripted grader."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import ScriptedModel, position, reply
from evenhand.errors import InputError
from evenhand.instruments import Request
from evenhand.models import ContextOverflowError, Model, ModelRole
from evenhand.readings import Reply
from evenhand.studies import score as score_study
from evenhand.studies.fit import fit
from evenhand.studies.rate import RatePlan, rate
from evenhand.studies.rate import run as rate_run
from evenhand.studies.score import ScorePlan, forecast_score, read_spec, score


def shown(text: str, mark: str) -> str:
    """Return the text between the two lines that set an output apart."""
    frame = text.split("two lines that read ")[1].split(". Everything", maxsplit=1)[0]
    return text.split(f"{mark} output:\n{frame}\n" if mark else f"Output:\n{frame}\n")[1].split(
        f"\n{frame}", maxsplit=1
    )[0]


def grade(text: str, question: str) -> int:
    """Two measures: how many stars an output has, and whether its length is odd (which nobody rewards)."""
    return min(text.count("*"), 10) if "stars" in question else 3 + 4 * (len(text) % 2)


def grader(request: Request) -> Reply | Exception:
    text = request.messages[0].content
    question = text.split("Question: ")[1].split("\n")[0]
    if "First output:" in text:
        values = [grade(shown(text, mark), question) for mark in ("First", "Second")]
        pieces = ['{"first_rating": ', str(values[0]), ', "second_rating": ', str(values[1]), "}"]
    else:
        output = shown(text, "")
        if "unreadable" in output:
            return ContextOverflowError("too long")
        pieces = ['{"rating": ', str(grade(output, question)), "}"]
    return reply(*(position(piece, 1.0) for piece in pieces), finish="stop")


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The run folder of a fit: more stars are chosen, most of the time."""

    def open_scripted(name: str, role: ModelRole, watch: object = None, settings: object = None) -> Model:
        return ScriptedModel(grader, name=name)

    monkeypatch.setattr(rate_run, "open_model", open_scripted)
    monkeypatch.setattr(score_study, "open_model", open_scripted)
    rows = []
    for n in range(80):
        more, fewer = "*" * (2 + n % 5), "*" * (n % 3)
        outputs = [f"{more} a{'x' * (n % 2)}", f"{fewer} b{'x' * (n // 2 % 2)}"]
        chosen, rejected = outputs if n % 8 else outputs[::-1]
        rows.append({"prompt": f"Question {n}?", "chosen": chosen, "rejected": rejected})
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "q.txt").write_text("Has the output many stars?\nIs the output odd?\n")
    rate(
        RatePlan(
            pairs=str(tmp_path / "pairs.jsonl"),
            questions=str(tmp_path / "q.txt"),
            graders=("scripted",),
            leak_sample=0,
            out=tmp_path / "rated",
        )
    )
    fit(tmp_path / "rated")
    return tmp_path / "rated"


def outputs(tmp_path: Path, *texts: str) -> Path:
    path = tmp_path / "new.jsonl"
    path.write_text("".join(json.dumps({"prompt": "q", "response": text}) + "\n" for text in texts))
    return path


def test_more_stars_score_higher_and_the_score_is_the_specs(tmp_path: Path, spec: Path) -> None:
    made = read_spec(spec)
    stars = next(question for question in made.questions if "stars" in question.text)
    assert stars.weight > 0
    result = score(ScorePlan(spec, outputs(tmp_path, "* a", "***** a", "*** a"), tmp_path / "scored"))
    table = result.table
    assert table["score"].rank().to_list() == [1, 3, 2]
    assert table["unrated"].to_list() == [0, 0, 0]
    weighed = [question.id for question in made.questions if question.weight or question.abstained_weight]
    for row in table.iter_rows(named=True):
        assert row["score"] == pytest.approx(made.score({name: row[name] for name in weighed}))
    assert pl.read_parquet(tmp_path / "scored/scores.parquet").equals(table)


def test_nothing_is_asked_twice(tmp_path: Path, spec: Path) -> None:
    file = outputs(tmp_path, "* a", "*** a", "* a")
    first = score(ScorePlan(spec, file, tmp_path / "scored"))
    again = score(ScorePlan(spec / "spec.json", file, tmp_path / "scored"))
    asked = sum(1 for question in read_spec(spec).questions if question.weight or question.abstained_weight)
    assert (first.calls, again.calls) == (2 * asked, 0)
    assert first.table.equals(again.table)
    assert first.table["score"][0] == first.table["score"][2]


def test_a_dry_run_says_what_the_run_then_takes_and_writes_nothing(tmp_path: Path, spec: Path) -> None:
    plan = ScorePlan(spec, outputs(tmp_path, "* a", "*** a", "* a"), tmp_path / "scored")
    before = forecast_score(plan)
    assert not plan.out.exists()
    assert score(plan).calls == before.calls > 0
    assert forecast_score(plan).calls == 0


def test_what_could_not_be_rated_is_counted_and_takes_the_mean(tmp_path: Path, spec: Path) -> None:
    result = score(ScorePlan(spec, outputs(tmp_path, "unreadable", "***"), tmp_path / "scored"))
    first = result.table.row(0, named=True)
    assert first["unrated"] == len(result.table.columns) - 5
    assert first["score"] == 0


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "is not JSON"),
        ("[]", "is no scoring spec"),
        ('{"kind": "evenhand scoring spec", "schema": 99}', "has the schema 99"),
        ('{"kind": "evenhand scoring spec", "schema": 1}', "is damaged"),
    ],
)
def test_bad_specs(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "spec.json"
    path.write_text(text)
    with pytest.raises(InputError, match=what):
        read_spec(path)


def test_the_instrument_is_the_one_of_the_fit(tmp_path: Path, spec: Path) -> None:
    made = json.loads((spec / "spec.json").read_text())
    assert made["provenance"]["instrument"] == "rating"
    made["provenance"]["instrument"] = "published.txt"
    (tmp_path / "other.json").write_text(json.dumps(made))
    file = outputs(tmp_path, "*")
    with pytest.raises(InputError, match=r"fitted to ratings by published.txt.*--instrument: rating, compact"):
        score(ScorePlan(tmp_path / "other.json", file, tmp_path / "scored"))
    score(ScorePlan(tmp_path / "other.json", file, tmp_path / "scored", instrument="rating"))


def test_bad_plans(tmp_path: Path, spec: Path) -> None:
    plans: list[tuple[dict[str, Any], str]] = [
        ({"spec": tmp_path / "absent.json"}, "can't be read"),
        ({"file": tmp_path / "absent.jsonl"}, "absent.jsonl"),
        ({"instrument": "ratng"}, "no rating instrument"),
    ]
    good = {"spec": spec, "file": outputs(tmp_path, "x"), "out": tmp_path / "scored"}
    for change, what in plans:
        with pytest.raises(InputError, match=what):
            score(ScorePlan(**{**good, **change}))
    assert not (tmp_path / "scored").exists()
