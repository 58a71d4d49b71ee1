"""Rewordings are found, other questions are not, and the order of two texts does not matter."""

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenhand.instruments.near_duplicates import THRESHOLD, NearDuplicates, near_duplicates, nearest, similarity

REWORDED = [
    (
        "Does the output use bulleted or numbered lists?",
        "Does the output put its content into bulleted or numbered lists?",
    ),
    ("How polite is the output to the person?", "Is the output polite to the person it addresses?"),
    ("Does the output warn the reader of a danger?", "Does the response warn readers of dangers?"),
    ("Are there emojis or emoticons in the response?", "Does the output contain emojis or emoticons?"),
    ("Does the output take a side in a political dispute?", "Does the answer take sides in political disputes?"),
    ("Is the output funny?", "Does the output try to be funny?"),
    ("Does the output end by offering further help?", "Does the output offer further help at its end?"),
    ("Does the output provide specific examples?", "To what extent does the output give specific examples?"),
    ("Does the output use a formal tone?", "Is the tone of the output formal?"),
    ("Is the output concise?", "Is the output concise and to the point?"),
    ("Is the output polite?", "Is the output not polite?"),
]
OTHERS = [
    ("Does the output use a formal tone?", "Does the output use a humorous tone?"),
    ("Does the output mention dates?", "Does the output mention names?"),
    ("Is the output polite?", "Is the output political?"),
    ("Does the output use short sentences?", "Does the output use long sentences?"),
    ("Does the output provide specific examples?", "Does the output provide specific sources?"),
    ("Does the output name a city?", "Does the output name a person?"),
    ("Does the output praise the left?", "Does the output praise the right?"),
    ("Does the output criticise the government?", "Does the output criticise the reader?"),
    ("输出是否使用列表？", "输出是否礼貌？"),
]


@pytest.mark.parametrize(("one", "other"), REWORDED)
def test_rewordings_are_found(one: str, other: str) -> None:
    assert similarity(one, other) >= THRESHOLD


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_other_questions_are_not(one: str, other: str) -> None:
    assert similarity(one, other) < THRESHOLD


TEXTS = st.one_of(
    st.text(), st.lists(st.sampled_from(["does", "the", "output", "lists", "List", "9", "é"])).map(" ".join)
)


@given(TEXTS, TEXTS)
def test_similarity_is_symmetric_and_between_0_and_1(one: str, other: str) -> None:
    found = similarity(one, other)
    assert found == similarity(other, one)
    assert 0 <= found <= 1


@given(TEXTS, st.sampled_from(["?", " !", "...", "\n", ""]), st.sampled_from([str.upper, str.lower, str.swapcase]))
def test_case_and_punctuation_do_not_count(text: str, end: str, change: object) -> None:
    assert callable(change)
    other = change(text)
    assume(other.casefold() == text.casefold())  # "ı" in capitals is another letter's capital
    assert similarity(text, f"¿ {other}{end}") == pytest.approx(1)


@given(st.lists(st.text(string.ascii_letters, min_size=1), min_size=1), st.sampled_from([", ", " - ", "; ", "\t"]))
def test_what_stands_between_words_does_not_count(words: list[str], between: str) -> None:
    assert similarity(" ".join(words), between.join(words)) == pytest.approx(1)
    assert similarity(" ".join(words), " ".join(words[::-1])) == pytest.approx(1)


@given(st.lists(TEXTS, max_size=6))
def test_pairs_are_those_above_the_threshold_each_once(texts: list[str]) -> None:
    found = near_duplicates(texts, 0.5)
    assert {(one.first, one.second) for one in found} == {
        (first, second)
        for second in range(len(texts))
        for first in range(second)
        if similarity(texts[first], texts[second]) >= 0.5
    }
    assert len(found) == len({(one.first, one.second) for one in found})
    assert [one.similarity for one in found] == sorted((one.similarity for one in found), reverse=True)


def test_nearest_is_the_first_of_equals() -> None:
    assert nearest("Is it polite?", []) is None
    assert nearest("Is it polite?", ["Is it long?", "is it POLITE", "Is it polite?"]) == (1, 1.0)


def test_near_duplicates_of_a_list() -> None:
    assert near_duplicates(["Is it polite?", "Is it long?", "Is the output polite?"]) == [NearDuplicates(0, 2, 1.0)]
