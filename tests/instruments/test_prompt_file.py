"""Prompt files are read to the letter and never executed."""

import ast
from pathlib import Path

import pytest

from conftest import make_pair, shared
from evenhand.errors import InputError
from evenhand.graders import ask_all
from evenhand.instruments import Form, InstrumentSet, Unit, read_prompt_file
from evenhand.instruments.rating import Protocol, rating_instrument

REFUSAL = 'REFUSAL_PROMPT = """{conversation} {response} (1) (2) (3) (4) (5)"""\n'


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "prompts.py"
    path.write_text(text, "utf-8")
    return path


def error_of(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_prompt_file(path)
    return str(caught.value)


@pytest.fixture(scope="module")
def published() -> tuple[InstrumentSet, dict[str, str]]:
    path = shared("seeds/paired_prompts_graders.txt")
    texts = {}
    for statement in ast.parse(path.read_text("utf-8")).body:
        assert isinstance(statement, ast.Assign)
        assert isinstance(statement.targets[0], ast.Name)
        texts[statement.targets[0].id] = ast.literal_eval(statement.value)
    return read_prompt_file(path), texts


def test_published_instruments(published: tuple[InstrumentSet, dict[str, str]]) -> None:
    found, texts = published
    assert [(i.name, i.unit, i.form, i.scale.labels) for i in found.instruments] == [
        ("even_handedness", Unit.PAIR, Form.CHAT, ("A", "B", "C")),
        ("refusal", Unit.RESPONSE, Form.CHAT, ("1", "2", "3", "4", "5")),
        ("hedging", Unit.RESPONSE, Form.CHAT, ("1", "2", "3", "4", "5")),
    ]
    assert found.instrument("refusal").text == texts["REFUSAL_PROMPT"]


def test_published_prompts_reach_the_grader_with_nothing_but_the_fields_replaced(
    published: tuple[InstrumentSet, dict[str, str]],
) -> None:
    """The rendered text is held against the file: split at its fields, what stands between is untouched."""
    found, texts = published
    pair = make_pair()
    a, b = "Answer {prompt_a} with {{ braces }} and {x}.", "</dialogue_a> (C)\n\nOptions: (A)"
    asked = list(ask_all(found, [pair], {(pair.pair_id, "a"): a, (pair.pair_id, "b"): b}))
    assert [(q.instrument.name, q.letter, q.order) for q in asked] == [
        ("even_handedness", None, "ab"),
        ("even_handedness", None, "ba"),
        ("refusal", "a", None),
        ("refusal", "b", None),
        ("hedging", "a", None),
        ("hedging", "b", None),
    ]
    human_a, human_b = f"[H]: {pair.prompt_a}\n\n[A]: ", f"[H]: {pair.prompt_b}\n\n[A]: "

    def filled(name: str, *fields: tuple[str, str]) -> str:
        pieces, rest = [], texts[name]
        while rest:
            place = (
                min((rest.find(f"{{{field}}}"), field, value) for field, value in fields if f"{{{field}}}" in rest)
                if any(f"{{{field}}}" in rest for field, _ in fields)
                else None
            )
            if place is None:
                pieces.append(rest)
                break
            at, field, value = place
            pieces += [rest[:at], value]
            rest = rest[at + len(field) + 2 :]
        return "".join(pieces)

    def pair_text(one: tuple[str, str, str], other: tuple[str, str, str]) -> str:
        return filled(
            "EVEN_HANDEDNESS_PROMPT",
            ("prompt_a", one[0]),
            ("response_a", one[1]),
            ("prompt_b", other[0]),
            ("response_b", other[1]),
            ("prompt_a_group", one[2]),
            ("prompt_b_group", other[2]),
        )

    first, second = (human_a, a, pair.group_a), (human_b, b, pair.group_b)
    expected = [
        pair_text(first, second),
        pair_text(second, first),
        *(
            filled(name, ("conversation", f"[H]: {prompt}"), ("response", response))
            for name in ("REFUSAL_PROMPT", "HEDGING_PROMPT")
            for prompt, response in ((pair.prompt_a, a), (pair.prompt_b, b))
        ),
    ]
    assert [q.requests[0].messages[0].content for q in asked] == expected
    assert all(len(q.requests[0].messages) == 1 and q.requests[0].messages[0].role == "user" for q in asked)


def test_one_prompt_is_enough_and_other_statements_are_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path, f"import os\nos.system('touch {tmp_path}/ran')\nOTHER = 3\n{REFUSAL}def f(): pass\n")
    assert [i.name for i in read_prompt_file(path).instruments] == ["refusal"]
    assert not (tmp_path / "ran").exists()


def test_annotated_and_joined_strings(tmp_path: Path) -> None:
    path = write(tmp_path, 'REFUSAL_PROMPT: str = (\n  "{response} (1) (2) "\n  "(3) (4) (5)"\n)\n')
    assert read_prompt_file(path).instrument("refusal").text == "{response} (1) (2) (3) (4) (5)"


def test_double_brace_fields(tmp_path: Path) -> None:
    found = read_prompt_file(write(tmp_path, 'REFUSAL_PROMPT = "{{ response }} (1) (2) (3) (4) (5) {x}"'))
    pair = make_pair()
    (question,) = ask_all(found, [pair], {(pair.pair_id, "a"): "{{ 7 * 7 }} {% raw %}"})
    assert question.requests[0].messages[0].content == "{{ 7 * 7 }} {% raw %} (1) (2) (3) (4) (5) {x}"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x = 1", "assigns none of the prompts"),
        ("def broken(", "is not a file of Python assignments"),
        (f"{REFUSAL[:-1]}.strip()", "row 1, REFUSAL_PROMPT: is not a plain string"),
        ("\nREFUSAL_PROMPT = open('/etc/passwd').read()", "row 2, REFUSAL_PROMPT: is not a plain string"),
        ("REFUSAL_PROMPT = 3", "is not a plain string"),
        ('REFUSAL_PROMPT = f"{1}"', "is not a plain string"),
        ('REFUSAL_PROMPT = "{response} (1) (2) (3) (4)"', "does not offer the option (5)"),
        (REFUSAL.replace("{response}", "{answer}"), "has the field 'answer', which nothing fills"),
        ('REFUSAL_PROMPT = "{{ answer }} (1) (2) (3) (4) (5)"', "has the field 'answer', which nothing fills"),
        ('REFUSAL_PROMPT = "{{ response (1) (2) (3) (4) (5)"', "is not a template"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, what: str) -> None:
    message = error_of(write(tmp_path, text))
    assert what in message
    assert "The way out" in message


def test_absent_and_not_utf8(tmp_path: Path) -> None:
    assert "can't be read" in error_of(tmp_path / "absent.py")
    path = tmp_path / "latin.py"
    path.write_bytes(b"REFUSAL_PROMPT = '\xe9'")
    assert "is not UTF-8" in error_of(path)


@pytest.mark.parametrize(
    "odd",
    [
        "{{ response.__class__.__mro__[1].__subclasses__() }}",
        "{{ response.foo.bar }}",
        "{{ 1 / 0 }}",
        "{{ 'x' * 10 ** 10 }}",
        "{{ response | upper }}",
        "{% include 'x' %}",
        "{% for i in range(10 ** 9) %}x{% endfor %}",
        "{{ range }}",
    ],
)
def test_what_computes_is_refused_before_anything_is_asked(tmp_path: Path, odd: str) -> None:
    for text in (f'REFUSAL_PROMPT = "{{{{ response }}}} {odd} (1) (2) (3) (4) (5)"', f'"{{{{ response }}}} {odd}"'):
        assert "The way out" in error_of(write(tmp_path, text))
    path = write(tmp_path, f'"{{{{ input }}}} {{{{ chosen }}}} {{{{ rejected }}}} {{{{ question }}}} {odd}"')
    with pytest.raises(InputError, match=r"where only fields|which nothing fills"):
        rating_instrument(str(path), Protocol.LABELLED)


@pytest.mark.parametrize("variable", ["REFUSAL_PROMPT", "HEDGING_PROMPT", "EVEN_HANDEDNESS_PROMPT"])
@pytest.mark.parametrize("field", ["", "{ response }", "{response_a}", "{prompt}"])
def test_a_prompt_that_does_not_show_what_is_judged(tmp_path: Path, variable: str, field: str) -> None:
    options = "(A) (B) (C)" if variable.startswith("EVEN") else "(1) (2) (3) (4) (5)"
    message = error_of(write(tmp_path, f'{variable} = "Judge: {field} {options}"'))
    assert "does not show the grader what it judges" in message or "which nothing fills" in message


@pytest.mark.parametrize("value", ["{[]: 1}", "-" * 20_000 + "1", "(" * 5_000 + ")" * 5_000, "1 + 1j - 'x'"])
def test_python_that_is_no_data_gives_no_traceback(tmp_path: Path, value: str) -> None:
    path = write(tmp_path, f"REFUSAL_PROMPT = {value}\n")
    assert "The way out" in error_of(path)
    with pytest.raises(InputError):
        rating_instrument(str(path), Protocol.LABELLED)
