"""The label swap, from what a grader is asked to the figure: what being called CHOSEN is worth, without the place."""

import json
from pathlib import Path

import polars as pl
import pytest

from conftest import ScriptedModel, position, reply
from evenhand.instruments import Request
from evenhand.models import Model, ModelRole
from evenhand.readings import Reply
from evenhand.report.effects_summary import Leak
from evenhand.studies.effects import effects
from evenhand.studies.rate import RatePlan, rate
from evenhand.studies.rate import run as rate_run

COUNT = 12


def leaning(label: int, place: int) -> ScriptedModel:
    """Return a grader that gives 5 to what says good, 3 to what says bad, and more for the name and the place."""

    def answer(request: Request) -> Reply:
        text = request.messages[0].content
        told = "CHOSEN output:" in text
        merits = (5, 3) if text.index("good ") < text.index("bad ") else (3, 5)
        first, second = merits[0] + place + label * told, merits[1]
        names = ("chosen_rating", "rejected_rating") if told else ("first_rating", "second_rating")
        pieces = [f'{{"{names[0]}": ', str(first), f', "{names[1]}": ', str(second), "}"]
        return reply(*(position(piece, 1.0) for piece in pieces), finish="stop")

    return ScriptedModel(answer, name="grader")


def leak_of(folder: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> tuple[Leak | None, tuple[str, ...]]:
    def opened(name: str, role: ModelRole, watch: object = None, settings: object = None) -> Model:
        return model

    monkeypatch.setattr(rate_run, "open_model", opened)
    data = folder / "pairs.jsonl"
    rows = [{"prompt": f"Question {n}?", "chosen": f"good {n}", "rejected": f"bad {n}"} for n in range(COUNT)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    questions = folder / "questions.txt"
    questions.write_text("Is the output polite?\n", "utf-8")
    rate(RatePlan(pairs=str(data), questions=str(questions), graders=("grader",), out=folder / "run"))
    (block,) = effects(folder / "run").blocks
    return block.questions[0].leak, block.remarks


@pytest.mark.parametrize(("label", "place"), [(2, 0), (2, 3), (0, 3), (0, 0)])
def test_the_swap_is_what_the_name_is_worth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, label: int, place: int
) -> None:
    leak, _ = leak_of(tmp_path, leaning(label, place), monkeypatch)
    assert leak is not None
    assert leak.swap.value == pytest.approx(label)
    assert leak.swap.n == COUNT


def test_without_both_blind_orders_the_place_can_not_be_taken_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leak_of(tmp_path, leaning(2, 3), monkeypatch)
    path = tmp_path / "run" / "ratings.parquet"
    table = pl.read_parquet(path)
    table.filter((pl.col("protocol") != "blind") | (pl.col("order") == "chosen_first")).write_parquet(path)
    (block,) = effects(tmp_path / "run").blocks
    assert block.questions[0].leak is not None
    assert block.questions[0].leak.swap.value is None
    assert any("can't be told apart, and there is no label swap" in remark for remark in block.remarks)
