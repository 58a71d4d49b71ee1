"""Suggestions from end to end, with scripted models."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ScriptedModel, read_json
from evenhand.errors import InputError
from evenhand.instruments import Request
from evenhand.instruments.questions import Question, read_questions
from evenhand.models import Model, ModelRole, TransportError
from evenhand.pairs.preference_pair import PreferencePair
from evenhand.readings import Reply
from evenhand.studies import suggest_questions as study
from evenhand.studies.suggest_questions import (
    Suggestions,
    SuggestPlan,
    draw_shown,
    forecast_suggestions,
    suggest_questions,
)

KNOWN = [Question("polite", "Is the output polite?"), Question("lists", "Does the output use bulleted lists?")]


def make_pairs(number: int, *, per_input: int = 1, **changes: Any) -> list[PreferencePair]:
    return [
        PreferencePair(
            **{
                "pair_id": f"pair{at}",
                "input_id": f"input{at // per_input}",
                "input": f"Ask <{at // per_input}>",
                "chosen": f"Good <{at}>",
                "rejected": f"Poor <{at}>",
                **changes,
            }
        )
        for at in range(number)
    ]


def says(*replies: str, finish: str = "stop") -> Callable[[Request], Reply]:
    """A model that gives these replies in turn, the last one again and again."""
    left = list(replies)

    def answer(_: Request) -> Reply:
        return Reply(left.pop(0) if len(left) > 1 else left[0], finish, "m", completion_tokens=9)

    return answer


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[Suggestions, ScriptedModel]]:
    def carry_out(
        answer: Callable[[Request], Reply | Exception],
        pairs: list[PreferencePair] | None = None,
        known: list[Question] | None = None,
        **changes: Any,
    ) -> tuple[Suggestions, ScriptedModel]:
        model = ScriptedModel(answer)

        def open_scripted(name: str, role: ModelRole, watch: object = None, settings: object = None) -> Model:
            return model

        monkeypatch.setattr(study, "open_model", open_scripted)
        plan = SuggestPlan(**{"model": "scripted", "out": tmp_path / "run", **changes})
        found = suggest_questions(
            make_pairs(20) if pairs is None else pairs, KNOWN if known is None else known, plan, source={"name": "p"}
        )
        return found, model

    return carry_out


Run = Callable[..., tuple[Suggestions, ScriptedModel]]


def test_a_dry_run_says_what_the_run_then_takes_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    def forecast() -> int:
        return forecast_suggestions(make_pairs(20), KNOWN, SuggestPlan(model="m", out=tmp_path / "run")).calls

    found, model = run(says("Does the output rhyme?"), out=tmp_path / "other")
    before = forecast()
    assert len(model.asked) == found.calls == before
    assert not (tmp_path / "run").exists()
    run(says("Does the output rhyme?"))
    assert (before, forecast()) == (4, 0)


def test_near_duplicates_are_dropped_and_listed(run: Run, tmp_path: Path) -> None:
    found, model = run(
        says(
            "Here you are:\n1. Does the output rhyme?\n2. Is the response POLITE?\n3. What is it about?",
            "- Does the output use rhymes?\n- Is the output about the sea?",
        ),
        sample=10,
    )
    assert [(q.id, q.text, q.tags, q.direction) for q in found.questions] == [
        ("rhyme", "Does the output rhyme?", ("suggested",), None),
        ("about_the_sea", "Is the output about the sea?", ("suggested",), None),
    ]
    assert [(one.text, one.like, one.known) for one in found.dropped] == [
        ("Does the output use rhymes?", "Does the output rhyme?", False),
        ("Is the response POLITE?", "Is the output polite?", True),
    ]
    assert [(one.line, one.reason) for one in found.unusable] == [
        ("Here you are:", "is not a question"),
        ("What is it about?", "can't be answered with an extent"),
    ]
    assert len(model.asked) == found.calls == 2
    assert tuple(read_questions(tmp_path / "run" / "questions.toml")) == found.questions
    record = read_json(tmp_path / "run" / "suggestions.json")
    assert [one["text"] for one in record["dropped"]] == [one.text for one in found.dropped]
    assert record["unusable"][0] == {"line": "Here you are:", "reason": "is not a question"}
    assert record["settings"]["known"] == [question.as_json() for question in KNOWN]
    assert len(record["shown"]) == 10
    assert not Path(tmp_path / "run" / "questions.part").exists()


def test_what_is_more_than_wanted_is_kept_aside(run: Run) -> None:
    found, _ = run(says("1. Does the output rhyme?\n2. Is it blue?", "Is it about the sea?"), number=2, sample=10)
    assert [q.text for q in found.questions] == ["Does the output rhyme?", "Is it about the sea?"]
    assert found.surplus == ("Is it blue?",)


def test_ids_step_aside_for_known_ones(run: Run) -> None:
    known = [Question("rhyme", "Is the output polite?")]
    found, _ = run(says("Does the output rhyme?"), known=known)
    assert [q.id for q in found.questions] == ["rhyme_2"]


def test_the_model_sees_both_outputs_in_varied_order_and_not_which_was_chosen(run: Run) -> None:
    pairs = make_pairs(20, metadata={"secret": "metadata"}, strength=3.5)
    _, model = run(says("Does the output rhyme?"), pairs)
    assert len(model.asked) == 4
    chosen_first = 0
    for request in model.asked:
        (message,) = request.messages
        assert not re.search(r"chosen|rejected|prefer|pair\d|metadata|3\.5", message.content)
        assert "- Is the output polite?" in message.content
        shown = re.findall(r"(INPUT|FIRST OUTPUT|SECOND OUTPUT) ==\w+==\n(\w+) <(\d+)>", message.content)
        assert [name for name, *_ in shown] == ["INPUT", "FIRST OUTPUT", "SECOND OUTPUT"] * 5
        for at in range(0, len(shown), 3):
            assert len({number for *_, number in shown[at : at + 3]}) == 1
            assert {shown[at + 1][1], shown[at + 2][1]} == {"Good", "Poor"}
            chosen_first += shown[at + 1][1] == "Good"
    assert chosen_first == 10


def test_a_text_cant_close_its_frame_and_braces_stay(run: Run) -> None:
    pairs = make_pairs(1, chosen="{known} {{ x }} == END ==", rejected="x" * 3000)
    _, model = run(says("Does the output rhyme?"), pairs)
    text = model.asked[0].messages[0].content
    mark = re.search(r"==[0-9a-f]{16}==", text)
    assert mark is not None
    assert "{known} {{ x }} == END ==\n" in text
    assert mark[0] not in "".join((pairs[0].input, pairs[0].chosen, pairs[0].rejected))
    assert "x" * 1500 + " [the rest is left away]" in text
    assert "x" * 1501 not in text
    assert not re.search(r"\{(examples|number|boundary|material)\}", text)


def test_the_same_command_asks_once_and_the_seed_changes_what_is_shown(run: Run) -> None:
    first, _ = run(says("Does the output rhyme?"), sample=5)
    again, model = run(says("Does the output rhyme?"), sample=5)
    assert (again.questions, again.calls, len(model.asked)) == (first.questions, 0, 0)
    other, model = run(says("Does the output rhyme?"), sample=5, seed=1)
    assert (other.questions, len(model.asked)) == (first.questions, 1)


def test_an_edited_file_is_never_overwritten(run: Run, tmp_path: Path) -> None:
    run(says("Does the output rhyme?"))
    path = tmp_path / "run" / "questions.toml"
    path.write_text("# mine\n", "utf-8")
    with pytest.raises(InputError, match="was edited, or holds other suggestions"):
        run(says("Does the output rhyme?"))
    assert path.read_text("utf-8") == "# mine\n"


def test_a_failed_request_is_told_and_the_others_count(run: Run) -> None:
    left = ["Does the output rhyme?"]

    def answer(_: Request) -> Reply | Exception:
        return Reply(left.pop(), "length", "m") if left else TransportError("no route")

    found, _ = run(answer, sample=10)
    assert [q.id for q in found.questions] == ["rhyme"]
    assert found.failures == ("transport: refused, 1 call: no route",)
    assert found.cut == 1


def test_nothing_usable_is_an_error_that_leaves_its_record(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 near-duplicates, 4 lines that are no usable question, 0 requests"):
        run(says("I can't.\nIs it polite?", "I can't."))
    assert len(read_json(tmp_path / "run" / "suggestions.json")["unusable"]) == 4
    assert not (tmp_path / "run" / "questions.toml").exists()


def test_without_pairs_to_tell_apart(run: Run) -> None:
    for pairs in ([], make_pairs(3, chosen="same", rejected="same")):
        with pytest.raises(InputError, match="p: there is no pair whose two outputs differ"):
            run(says("Does it rhyme?"), pairs)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"number": 0}, "--number: is 0"),
        ({"sample": -1}, "--sample: is -1"),
        ({"max_tokens": 0}, "--max-tokens: is 0"),
        ({"temperature": -0.5}, "--temperature: is -0.5"),
        ({"temperature": float("nan")}, "--temperature: is nan"),
    ],
)
def test_bad_settings(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        SuggestPlan(**{"model": "m", "out": Path("x"), **changes})


def test_sample_is_drawn_by_seed_over_inputs_first() -> None:
    pairs = make_pairs(30, per_input=3)
    shown = draw_shown(pairs, 10, 7)
    assert len({one.pair.input_id for one in shown}) == 10
    assert draw_shown(pairs[::-1], 10, 7) == shown
    assert draw_shown(pairs, 10, 8) != shown
    assert len(draw_shown(pairs, 12, 7)) == 12
    assert len(draw_shown(pairs, 99, 7)) == 30
    assert sum(one.chosen_first for one in draw_shown(pairs, 11, 7)) == 5
