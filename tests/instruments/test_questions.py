"""Questions are read to the letter, or refused with the place and the way out; the built-in library keeps its rules."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import shared
from evenhand.errors import InputError
from evenhand.instruments.near_duplicates import THRESHOLD, near_duplicates
from evenhand.instruments.questions import Question, builtin_tags, question_id, questions_as_toml, read_questions

POLITE = Question("polite", "Is the output polite?", ("tone", "manners"), "higher")
LISTS = Question("use_lists", "Does the output use lists?")
GROUPS = ["substance", "form", "tone", "safety", "honesty", "sycophancy", "even_handedness", "hedging"]


def write(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def error_of(tmp_path: Path, name: str, content: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        read_questions(write(tmp_path, name, content))
    message = str(caught.value)
    assert caught.value.way_out
    assert name in message
    return message


TOML = """
[[question]]
id = "polite"
text = "Is the output   polite?"
tags = ["tone", "manners"]
direction = "higher"
[[question]]
text = '''
Does the output
use lists?
'''
"""
YAML = """
# What we ask.
- id: polite
  text: Is the output polite?
  tags: [tone, manners]
  direction: higher
- Does the output use lists?
"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.toml", TOML),
        ("q.toml", TOML.replace("[[question]]", "[[questions]]")),
        ("q.yaml", YAML),
        ("q.YML", YAML.replace("\n", "\r\n")),
        ("q.yml", b"\xef\xbb\xbf" + YAML.encode()),
        ("q.yaml", "questions:\n" + YAML),
        (
            "q.yaml",
            "- {id: polite, text: 'Is the output polite?', tags: [tone, manners], direction: higher}\n" + YAML[-29:],
        ),
        ("q.json", json.dumps([POLITE.as_json(), LISTS.as_json()])),
        ("q.json", json.dumps({"questions": [POLITE.as_json(), LISTS.text]})),
    ],
)
def test_formats(tmp_path: Path, name: str, content: str | bytes) -> None:
    assert read_questions(write(tmp_path, name, content)) == [POLITE, LISTS]
    assert read_questions(str(tmp_path / name)) == [POLITE, LISTS]


def test_plain_lines(tmp_path: Path) -> None:
    text = "# What we ask\r\n\r\n  Does the output use lists?  \r\n  # no\rDoes it say #1 or\u2028#2?\n"
    assert read_questions(write(tmp_path, "q.txt", text)) == [
        LISTS,
        Question("it_say_1_or_2", "Does it say #1 or #2?"),
    ]


def test_an_id_made_from_a_text_steps_aside_for_one_that_is_given(tmp_path: Path) -> None:
    text = '- Does the output use lists?\n- {id: use_lists, text: "Is it a list?"}\n- Does the output use -lists-?\n'
    assert [q.id for q in read_questions(write(tmp_path, "q.yaml", text))] == [
        "use_lists_2",
        "use_lists",
        "use_lists_3",
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Is it polite?", "it_polite"),
        ("Does the output?", "the_output"),
        ("Does the output end?", "end"),
        ("输出是否使用列表？", "输出是否使用列表"),
        ("Does it " + "x" * 100 + "?", "it"),
        ("x" * 100, "x" * 48),
        ("Does the output say what it has to say in a manner that nobody would mistake?", None),
    ],
)
def test_ids_made_from_texts(text: str, name: str | None) -> None:
    found = question_id(text)
    assert found == name or (name is None and len(found) <= 48 and not found.endswith("_"))


GOOD = '[[question]]\nid = "good"\ntext = "Is it good?"\n'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.toml", "", "q.toml: has no questions"),
        ("q.yaml", "# nothing\n", "q.yaml: has no questions"),
        ("q.txt", "# nothing\n\n", "q.txt: has no questions"),
        ("q.json", "[]", "q.json: has no questions"),
        ("q.json", "{}", "q.json: has no questions"),
        ("q.toml", GOOD + GOOD, "q.toml, question 2, id: is 'good', as that of question 1"),
        (
            "q.toml",
            GOOD + GOOD.replace('"good"', '"b"').replace("Is it good?", "is IT good"),
            "asks the same as question 1",
        ),
        ("q.txt", "Is it good?\n\n#\nis it  good\n", "q.txt, row 4: asks the same as row 1"),
        ("q.txt", "Is it good?\n???\n", "q.txt, row 2: is '???', without a word"),
        ("q.toml", '[[question]]\ntext = " "\n', "question 1, text: is empty"),
        ("q.yaml", '- ""\n', "question 1, text: is empty"),
        ("q.yaml", "- text:\n", "question 1, text: is empty, not text"),
        ("q.toml", '[[question]]\nid = "a"\n', "question 1, text: is missing"),
        (
            "q.toml",
            GOOD + 'tag = ["a"]\n',
            "question 1: has the key 'tag', which means nothing here (did you mean tags?)",
        ),
        ("q.yaml", "- text: Is it good?\n  1: x\n", "has the key 1, which means nothing here"),
        ("q.toml", GOOD + 'direction = "up"\n', "question 1, direction: is 'up'. The way out: use higher or lower"),
        ("q.toml", GOOD + "direction = true\n", "question 1, direction: is true or false"),
        ("q.toml", GOOD + "direction = 1\n", "question 1, direction: is a number"),
        ("q.toml", GOOD + 'tags = "tone"\n', "question 1, tags: is text, not a list"),
        ("q.toml", GOOD + "tags = [1]\n", "question 1, tags: holds a number, not text"),
        ("q.toml", GOOD + 'tags = ["a b"]\n', "question 1, tags: holds 'a b'"),
        ("q.toml", GOOD + 'tags = ["a", "a"]\n', "question 1, tags: holds 'a' twice"),
        ("q.toml", '[[question]]\nid = "a b"\ntext = "Is it?"\n', "question 1, id: is 'a b'"),
        ("q.toml", '[[question]]\nid = ""\ntext = "Is it?"\n', "question 1, id: is ''"),
        ("q.toml", '[[question]]\nid = 7\ntext = "Is it?"\n', "question 1, id: is a number, not text"),
        ("q.yaml", "- text: Is it good?\n  id: yes\n", "question 1, id: is true or false, not text"),
        ("q.yaml", "- text: 2024-05-05\n", "question 1, text: is a date, not text"),
        ("q.yaml", "- text: [a]\n", "question 1, text: is a list, not text"),
        ("q.json", '[{"text": NaN}]', "question 1, text: is a number, not text"),
        ("q.json", '["\\ud800 is it?"]', "question 1, text: holds the control character U+D800"),
        ("q.yaml", '- "Is it\\x07 good?"\n', "question 1, text: holds the control character U+0007"),
        (
            "q.yaml",
            "- text: Is it good?\n  text: Is it bad?\n",
            "q.yaml, row 2: has the key 'text' twice in one question",
        ),
        ("q.yaml", "- &a {text: 'Is it?'}\n- {<<: *a, id: b}\n", "q.yaml, row 2: merges with <<"),
        ("q.yaml", "- &a [*a]\n", "question 1: is neither a text nor a table"),
        ("q.yaml", "- text: Is it so: good?\n", "q.yaml: is not YAML"),
        ("q.yaml", "- text: 2024-99-99\n", "q.yaml: is not YAML"),
        ("q.yaml", "- !!python/object/apply:os.getcwd []\n", "q.yaml: is not YAML"),
        ("q.yaml", "- a\n---\n- b\n", "q.yaml: is not YAML"),
        ("q.yaml", "Is it good?\n", "q.yaml: does not hold a list"),
        ("q.yaml", "- 1\n", "q.yaml, question 1: is neither a text nor a table"),
        ("q.yaml", "[" * 2000, "q.yaml: is nested too deeply"),
        ("q.json", "[" * 100_000, "q.json: is nested too deeply"),
        ("q.json", '["a"', "q.json: is not JSON"),
        ("q.json", "[" + "1" * 5000 + "]", "q.json: is not JSON"),
        ("q.json", '[{"text": "Is it a?", "text": "Is it b?"}]', "q.json: has the key 'text' twice in one object"),
        ("q.toml", "text = ", "q.toml: is not TOML"),
        ("q.toml", GOOD + 'id = "b"\n', "q.toml: is not TOML"),
        ("q.toml", "version = 1\n" + GOOD, "q.toml: has the key 'version' beside or in place of its list"),
        ("q.yaml", "question: [a]\nquestions: [b]\n", "has the key 'question' beside or in place of its list"),
        ("q.toml", 'question = "Is it?"\n', "q.toml: does not hold a list"),
        ("q.txt", b"Is it good?\ncaf\xe9?\n", "q.txt: is not UTF-8 in line 2"),
        ("q.txt", "Is it good?\n".encode("utf-16"), "q.txt"),
        ("q.txt", b"Is it good?\nIs it\0?\n", "q.txt: has a NUL byte in line 2"),
        ("q.csv", "Is it good?\n", "way out: use builtin, builtin:TAG, or a file whose name ends in .yaml"),
    ],
)
def test_bad_files_are_refused_with_the_place_and_the_way_out(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    assert message in error_of(tmp_path, name, content)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.toml", "nothing.toml: can't be read (No such file or directory)"),
        ("buitlin", "there are no questions 'buitlin'"),
        ("builtin:tome", "builtin:tome: there is no tag 'tome' among the built-in questions (did you mean tone?)"),
        ("builtin:", "there is no tag ''"),
        ("builtin:tone,", "there is no tag ''"),
        ("builtin:Tone", f"way out: use {', '.join(GROUPS)}"),
    ],
)
def test_bad_names(name: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_questions(name)


@given(st.lists(st.text(), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_plain_lines_are_read_whole_or_refused(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    content = end.join(lines).encode("utf-8", "surrogatepass")
    path.write_bytes(content)
    try:
        found = read_questions(path)
    except InputError as error:
        assert error.way_out
        return
    written = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = [" ".join(line.split()) for line in written if line.strip() and not line.lstrip().startswith("#")]
    assert [question.text for question in found] == kept
    assert len({question.id for question in found}) == len(found)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1).map(
    lambda text: " ".join(f"{text} a".split())
)


@given(
    st.lists(WORDS, min_size=1, max_size=5, unique_by=lambda text: text.casefold().rstrip(" ?.!")),
    st.sampled_from(["higher", "lower", None]),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])),
)
def test_a_written_file_reads_back(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], way: object, comment: str
) -> None:
    questions = [
        Question(f"q{number}.é", text, ("a", "b") if number else (), way)  # type: ignore[arg-type]
        for number, text in enumerate(texts)
    ]
    base = tmp_path_factory.getbasetemp()
    path = base / "back.toml"
    path.write_text(questions_as_toml(questions, comment), "utf-8", newline="\n")
    assert read_questions(path) == questions
    path = base / "back.json"
    path.write_text(json.dumps([question.as_json() for question in questions]), "utf-8")
    assert read_questions(path) == questions


LIBRARY = read_questions("builtin")


def test_library_has_its_groups() -> None:
    assert 58 <= len(LIBRARY) <= 66
    counts = builtin_tags()
    assert list(counts) == GROUPS
    assert min(counts.values()) >= 5
    assert {question.direction for question in LIBRARY} == {"higher", "lower", None}
    assert all(question.tags and question.tags[0] in GROUPS for question in LIBRARY)


def test_parts_of_the_library_are_in_its_order() -> None:
    part = read_questions("builtin:tone, form")
    assert part == [question for question in LIBRARY if {"form", "tone"} & set(question.tags)]
    assert len(part) < builtin_tags()["form"] + builtin_tags()["tone"]


@pytest.mark.parametrize("question", LIBRARY, ids=lambda question: question.id)
def test_library_questions_keep_the_rules(question: Question) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", question.id)
    assert 6 <= len(question.text.split()) <= 25
    assert re.match(r"(Does|Do|Is|Could|Would) ", question.text)
    assert question.text.count("?") == 1
    assert question.text.endswith("?")
    assert re.search(r"\boutput\b", question.text), "says what it is about"
    assert not re.search(r"\b(outputs|chosen|rejected|other output|better|AI|assistant|user)\b", question.text)


def test_library_has_no_near_duplicates() -> None:
    found = near_duplicates([question.text for question in LIBRARY], THRESHOLD - 0.1)
    assert [(LIBRARY[one.first].id, LIBRARY[one.second].id) for one in found] == []


def test_library_repeats_nothing_of_the_published_prompt() -> None:
    """No five words in a row, in the questions or in what a model is asked for new ones."""
    published = words_of(shared("seeds/preference_rating.txt").read_text("utf-8"))
    runs = {tuple(published[at : at + 5]) for at in range(len(published) - 4)}
    texts = Path(__file__).parents[2] / "src/evenhand/instruments/texts/questions/suggest.txt"
    for text in [*(question.text for question in LIBRARY), texts.read_text("utf-8")]:
        words = words_of(text)
        assert not runs & {tuple(words[at : at + 5]) for at in range(len(words) - 4)}, text


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
