"""``evenhand questions`` as a user runs it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import ScriptedModel, read_json
from evenhand.cli.questions import questions_command
from evenhand.errors import InputError
from evenhand.instruments import Request
from evenhand.instruments.questions import builtin_tags, read_questions
from evenhand.models import Model, ModelRole
from evenhand.readings import Reply
from evenhand.studies import suggest_questions as study


def run(*arguments: str) -> Result:
    found = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(questions_command, arguments)
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


def test_list_names_every_part() -> None:
    found = run("list").stdout
    assert found.startswith(f"builtin {' ' * 21} {len(read_questions('builtin'))} questions\n")
    for tag, count in builtin_tags().items():
        assert f"builtin:{tag} " in found
        assert f" {count}\n" in found


def test_show_prints_a_set_as_a_table_toml_or_json(tmp_path: Path) -> None:
    found = run("show", "builtin:safety")
    assert found.stderr == ""
    assert "Does the output warn the reader of a danger?" in found.stdout
    assert "condescending" not in found.stdout
    path = tmp_path / "mine.toml"
    path.write_text(run("show", "builtin:safety", "--toml").stdout, "utf-8")
    assert read_questions(path) == read_questions("builtin:safety")
    assert [q["id"] for q in json.loads(run("show", "--json").stdout)] == [q.id for q in read_questions("builtin")]


def test_show_says_what_asks_nearly_the_same(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("Does the output use [bold] lists?\nDoes the output have bold lists?\n", "utf-8")
    found = run("show", str(path))
    assert "use [bold] lists?" in found.stdout
    assert found.stderr == "use_bold_lists and have_bold_lists ask nearly the same (1.00).\n"


def test_show_refuses_what_it_cant_use(tmp_path: Path) -> None:
    assert run("show", "--json", "--toml").exit_code == 2
    with pytest.raises(InputError, match="there is no tag 'x'"):
        run("show", "builtin:x")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    rows = [{"prompt": f"Say {n}", "chosen": f"It is {n}.", "rejected": f"{n}!"} for n in range(6)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_suggest_leaves_questions_to_edit(pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Sure:\n1. Does the output mention the [sea]?\n2. Is the output polite to the person?\n3. Does it rhyme?"

    def answer(request: Request) -> Reply:
        return Reply(text, "length", "m")

    def open_scripted(name: str, role: ModelRole, watch: object = None, settings: object = None) -> Model:
        return ScriptedModel(answer, name=name)

    monkeypatch.setattr(study, "open_model", open_scripted)
    out = tmp_path / "run"
    found = run("suggest", str(pairs), "--model", "m", "--number", "1", "--seed", "3", "--out", str(out))
    assert found.exit_code == 0
    assert "mention the [sea]?" in found.stdout
    assert [q.text for q in read_questions(out / "questions.toml")] == ["Does the output mention the [sea]?"]
    for said in (
        "There are 6 pairs to show, not 20",
        "Is the output polite to the person? (like: Is the output polite to the person it addresses?",
        "1 more than were wanted:\n  Does it rhyme?",
        "Sure: (is not a question)",
        "Replies cut off at the token limit: 2",
        "questions.toml: edit it",
        "2 calls of the model",
    ):
        assert said in found.stderr
    settings = read_json(out / "suggestions.json")["settings"]
    assert settings["pairs"]["name"] == "pairs.jsonl"
    assert len(settings["pairs"]["sha256"]) == 64
    known = tmp_path / "known.txt"
    known.write_text("Does it mention the sea?\n", "utf-8")
    again = run(
        *("suggest", str(pairs), "--model", "m", "--out", str(tmp_path / "other"), "--known", str(known), "--quiet")
    )
    assert [q.id for q in read_questions(tmp_path / "other" / "questions.toml")] == ["polite_to_the_person", "it_rhyme"]
    assert "Does the output mention the [sea]? (like: Does it mention the sea?, 1.00)" in again.stderr


def test_suggest_checks_its_settings_before_it_reads() -> None:
    with pytest.raises(InputError, match="--number: is 0"):
        run("suggest", "nowhere.jsonl", "--model", "m", "--number", "0", "--out", "x")
    with pytest.raises(InputError, match="there are no questions 'nothing'"):
        run("suggest", "nowhere.jsonl", "--model", "m", "--known", "nothing", "--out", "x")
    with pytest.raises(InputError, match=r"nowhere\.jsonl"):
        run("suggest", "nowhere.jsonl", "--model", "m", "--out", "x")
