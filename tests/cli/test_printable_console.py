"""What data hold does nothing to a terminal, whichever way it gets there."""

import io
import json
import re
import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from evenhand.cli.json_output import json_text
from evenhand.cli.root import evenhand_command, main
from evenhand.cli.terminal import terminal

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202egnol \r\x08"
COLOUR = re.compile("\x1b\\[[0-9;]*m")


def obeyed(text: str) -> list[str]:
    return [
        one for one in text if one != "\n" and unicodedata.category(one) in {"Cc", "Cf"} and one not in "\u200c\u200d"
    ]


@given(st.text(max_size=60))
def test_nothing_of_a_text_is_obeyed_whether_bare_in_a_table_or_as_json(text: str) -> None:
    file = io.StringIO()
    console = terminal(file=file, width=70, force_terminal=True, color_system="standard")
    console.print(text, markup=False, style="red")
    table = Table("name")
    table.add_row(text.replace("[", "\\["))
    console.print(table)
    # Our own colours are all that a terminal gets.
    assert obeyed(COLOUR.sub("", file.getvalue())) == []
    as_json = json_text({"text": text})
    assert json.loads(as_json) == {"text": text}
    assert not set(as_json) & set("\x1b\x7f\x9b\u202e\u2066")


def test_our_own_colours_stay() -> None:
    file = io.StringIO()
    terminal(file=file, force_terminal=True, color_system="standard").print("plain", style="red")
    assert COLOUR.search(file.getvalue())


def test_names_in_an_audit_and_in_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = [
        "topic_name",
        "template",
        "stance_a",
        "stance_b",
        "prompt_a",
        "prompt_b",
        "prompt_a_group",
        "prompt_b_group",
    ]
    rows = [[f"{HOSTILE}{n}", HOSTILE, "a", "b", f"Argue a{n}", f"Argue b{n}", "x", "y"] for n in range(2)]
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("\n".join(",".join(f'"{cell}"' for cell in row) for row in (columns, *rows)), "utf-8", newline="")
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        "".join(json.dumps({"prompt": f"Argue {x}{n}", "response": "Gladly."}) + "\n" for x in "ab" for n in range(2))
    )
    given = ["--pairs", str(pairs), "--responses", str(answers), "--grader", "fitted:builtin", "--subject", HOSTILE]
    found = CliRunner().invoke(evenhand_command, ["audit", *given, "--out", str(tmp_path / "run"), "--quiet"])
    assert found.exit_code == 0, found.output
    assert obeyed(found.output) == []
    assert "?[31mred" in found.output
    pairs.write_text(f'topic_name,"{HOSTILE}"\nx,y\n', "utf-8", newline="")
    with pytest.raises(SystemExit):
        main(["audit", *given, "--out", str(tmp_path / "other")])
    said = capsys.readouterr().err
    assert "lacks the columns" in said
    assert obeyed(said) == []
