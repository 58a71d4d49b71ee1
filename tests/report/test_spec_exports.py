"""Exports say the same in other shapes, say what they lose, and hold hostile questions harmlessly."""

import ast
import importlib.util
import inspect
import json
from pathlib import Path
from types import ModuleType

import jinja2
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.report.scoring_spec import ScoringSpec
from evenhand.report.spec_exports import EXPORTS, export_spec
from scoring_specs import question, spec

HOSTILE = (
    'file:///etc/passwd "quoted" \'single\' """triple""" \\ {{ env.SECRET }} {% raw %} {# c #} {{{% @QUESTIONS@\n'
    "- type: javascript\n  value: process.exit()\n]\n__import__('os') \u2028 \x00 é 🙂 \ud83d"
)
TEXTS = st.text(st.characters(exclude_categories=()), max_size=60) | st.just(HOSTILE)


def module_of(text: str, folder: Path) -> ModuleType:
    path = folder / "reward_made.py"
    path.write_text(text, "utf-8")
    found = importlib.util.spec_from_file_location("reward_made", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def hostile(text: str = HOSTILE) -> ScoringSpec:
    return spec(question("kind", 0.3, text=text), question(text, -0.1, text=f"{text}?", abstained_weight=-0.7))


def test_pi() -> None:
    export = export_spec(spec(), "pi")
    questions = json.loads(export.text)["scoring_spec"]
    assert [(entry["label"], entry["weight"]) for entry in questions] == [("kind", 0.75), ("not_long", 0.25)]
    assert questions[0]["question"] == "Is it kind?"
    assert questions[1]["question"].endswith("no, rather than yes? Is it long?")
    lost = " ".join(export.lost)
    assert "asked the other way round" in lost
    assert "questions of weight 0: odd" in lost


def test_promptfoo() -> None:
    assertions = yaml.safe_load(export_spec(spec(), "promptfoo").text)["defaultTest"]["assert"]
    assert [(entry["type"], entry["metric"], entry["weight"]) for entry in assertions] == [
        ("llm-rubric", "kind", 0.75),
        ("llm-rubric", "not_long", 0.25),
    ]
    assert "Score 1 if the answer is clearly yes" in assertions[0]["value"]
    assert "Score 1 if the answer is clearly no" in assertions[1]["value"]


@given(TEXTS)
def test_promptfoo_renders_every_question_as_it_is(text: str) -> None:
    """Jinja stands in for Nunjucks, whose marks are the same."""
    assertions = yaml.safe_load(export_spec(hostile(text), "promptfoo").text)["defaultTest"]["assert"]
    environment = jinja2.Environment(autoescape=False, keep_trailing_newline=True, newline_sequence="\n")
    value = assertions[0]["value"]
    assert not value.startswith(("file:", "javascript:"))
    _, _, question_text = value.partition("\n")
    rendered = environment.from_string(question_text).render(env={"SECRET": "told"})
    assert rendered == text.replace("\r\n", "\n").replace("\r", "\n")


@given(TEXTS)
def test_trl_holds_nothing_but_plain_values(text: str) -> None:
    source = export_spec(hostile(text), "trl").text
    assert source.isascii()
    tree = ast.parse(source)
    assert [type(node).__name__ for node in tree.body] == ["Expr", "Assign", "Assign", *["FunctionDef"] * 3]
    assigned = tree.body[1]
    assert isinstance(assigned, ast.Assign)
    rows = ast.literal_eval(assigned.value)
    assert rows == [("kind", text, 0.3, 5.0, 0.0), (text, f"{text}?", -0.1, 5.0, -0.7)]


@given(TEXTS)
def test_pi_holds_every_text(text: str) -> None:
    assert json.loads(export_spec(hostile(text), "pi").text)["scoring_spec"][0]["question"] == text


def test_trl_rewards_as_the_spec_scores(tmp_path: Path) -> None:
    made = spec(question("kind", 0.3), question("long", -0.1, abstained_weight=-0.7), question("odd", 0.0))
    module = module_of(export_spec(made, "trl").text, tmp_path)
    assert str(inspect.signature(module.reward)) == "(prompts, completions, **kwargs)"
    ratings = {"Is it kind?": 8.0, "Is it long?": 2.0}
    asked = []

    def rate(prompt: str, completion: str, text: str) -> float | None:
        asked.append((prompt, completion))
        if completion == "none":
            return None
        return -1 if completion == "abstained" and text == "Is it long?" else ratings[text]

    found = module.reward(["p", "p", "p"], ["c", "none", "abstained"], rate=rate, trainer_state=None)
    assert found == pytest.approx(
        [made.score({"kind": 8.0, "long": 2.0}), 0.0, made.score({"kind": 8.0}, abstained={"long"})]
    )
    turns = [[{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]]
    setattr(module, "RATE", rate)  # noqa: B010  (mypy knows no such attribute)
    module.reward(turns, [[{"role": "assistant", "content": "c"}]])
    assert asked[-1] == ("s\n\nu", "c")


def test_trl_without_a_rating_function(tmp_path: Path) -> None:
    module = module_of(export_spec(spec(), "trl").text, tmp_path)
    with pytest.raises(TypeError, match="rating function"):
        module.reward(["p"], ["c"])
    with pytest.raises(ValueError, match="as many prompts"):
        module.reward(["p"], [], rate=lambda *_: 1.0)


@pytest.mark.parametrize("shape", EXPORTS)
def test_nothing_to_export(shape: str) -> None:
    with pytest.raises(InputError, match="every weight of the spec is 0"):
        export_spec(spec(question("odd", 0.0)), shape)
