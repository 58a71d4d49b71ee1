"""Choices are read from probabilities, whatever shape the answer has."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import position, reply
from evenhand.readings import Failure, FailureKind, Reading, Reply, State, TokenPosition, read_choice

ABC, LEVELS = ("A", "B", "C"), ("1", "2", "3", "4", "5")


def test_variants_of_an_option_are_summed() -> None:
    first = position("(C", 0.4, **{"C": 0.2, " C": 0.1, "**C": 0.05, "(A": 0.15, "The": 0.1})
    reading = read_choice(reply(first), ABC)
    assert reading.state is State.OK
    assert reading.captured == pytest.approx(0.9)
    assert reading.probabilities == pytest.approx((0.15 / 0.9, 0, 0.75 / 0.9))


def test_bracket_and_letter_as_one_token_or_two() -> None:
    """A tokenizer may hold "(A" as one token: then a bracket alone leads elsewhere, and both ways are summed."""
    one = reply(position("(A", 0.6, **{"(B": 0.3, "(": 0.1}), position(")", 1.0))
    two = reply(position("(", 0.7, **{"(A": 0.2, "(B": 0.1}), position("A", 0.5, B=0.4, D=0.1), position(")", 1.0))
    assert read_choice(one, ABC).captured == pytest.approx(0.9)
    reading = read_choice(two, ABC)
    assert reading.captured == pytest.approx(0.2 + 0.1 + 0.7 * 0.9)
    assert reading.probabilities == pytest.approx(((0.2 + 0.35) / 0.93, (0.1 + 0.28) / 0.93, 0))


@pytest.mark.parametrize(
    "tokens",
    [
        ["(", "3"],
        ["**", "(", "3"],
        ["Option", " ", "3"],
        ["Answer", ":", " (", "3"],
        ["Final Answer:", "3"],
        ["\n", "\n", "3"],
        ["“", "3"],
    ],
)
def test_openings_before_the_option(tokens: list[str]) -> None:
    reading = read_choice(reply(*(position(token, 0.99) for token in tokens)), LEVELS)
    assert reading.state is State.OK
    assert list(reading.probabilities) == [0, 0, 1, 0, 0]
    assert reading.captured == pytest.approx(0.99 ** len(tokens))


@pytest.mark.parametrize("token", ["C", " C", "(C", "C)", "**C**", "(C)", "\u200bC", "Ｃ", '"C', "C.", "[C]", "(c"])
def test_shapes_of_an_option(token: str) -> None:
    assert read_choice(reply(position(token, 1.0)), ABC).probabilities == (0, 0, 1)


@pytest.mark.parametrize("token", ["c", "a", "AC", "Cat", "The", "C1", "The C"])
def test_what_is_no_option(token: str) -> None:
    assert read_choice(reply(position(token, 1.0)), ABC).state is State.UNPARSEABLE


def test_an_article_is_not_a_verdict() -> None:
    assert read_choice(reply(position("A", 0.9), position(" response", 0.5)), ABC).state is State.UNPARSEABLE
    assert read_choice(reply(position("A", 0.9), position(" is", 0.5)), ABC).probabilities == (1, 0, 0)


@pytest.mark.parametrize("rest", ["5", ".5", "/5", "0"])
def test_a_longer_number_is_not_its_first_digit(rest: str) -> None:
    found = read_choice(reply(position("3", 0.9), position(rest, 0.9)), LEVELS)
    assert found.state is State.UNPARSEABLE


def test_a_full_stop_does_not_make_a_number_longer() -> None:
    found = read_choice(reply(position("3", 0.9), position(".", 0.9), position("\n", 0.9)), LEVELS)
    assert found.probabilities == (0, 0, 1, 0, 0)


def test_a_verdict_later_in_prose_is_not_taken() -> None:
    """Reading on past the first words would let the graded text, quoted there, seed the verdict."""
    tokens = ["The", " answer", " says", " (", "C", ")"]
    assert read_choice(reply(*(position(token, 0.9) for token in tokens)), ABC).state is State.UNPARSEABLE


def test_little_captured_mass_is_no_reading() -> None:
    reading = read_choice(reply(position("The", 0.96, C=0.04)), ABC)
    assert reading.state is State.UNPARSEABLE
    assert reading.captured == pytest.approx(0.04)
    assert "4.0%" in reading.reason


@pytest.mark.parametrize("text", ["I'm sorry, but I can't", "I cannot grade", "As an AI", "Sorry", "I’m unable to"])
def test_a_grader_that_declines(text: str) -> None:
    assert read_choice(reply(position(text, 0.9)), ABC).state is State.DECLINED


def test_cut_off_before_a_verdict() -> None:
    white = [position("\n", 0.99)] * 6
    assert read_choice(reply(*white), ABC).state is State.TRUNCATED
    assert read_choice(reply(*white, finish="stop"), ABC).state is State.UNPARSEABLE


def test_empty_answer() -> None:
    assert read_choice(Reply("", "stop", "m"), ABC).state is State.UNPARSEABLE


def test_missing_probabilities_are_an_error_and_never_zero() -> None:
    with pytest.raises(ValueError, match="no token probabilities"):
        read_choice(Reply("(C)", "stop", "m", completion_tokens=3), ABC)


@pytest.mark.parametrize(
    ("kind", "state"), [(FailureKind.OVERFLOW, State.TRUNCATED), (FailureKind.TRANSPORT, State.FAILED)]
)
def test_failures_have_their_state(kind: FailureKind, state: State) -> None:
    assert read_choice(Failure(kind, "why"), ABC) == Reading.without(state, "why")


TOKENS = st.sampled_from(["A", " A", "(A", "B", "(B", "C", "**C", "(", " ", "The", "Option", "a", "3", "**"])


@st.composite
def positions(draw: st.DrawFn) -> TokenPosition:
    tokens = draw(st.lists(TOKENS, min_size=1, max_size=8, unique=True))
    weights = draw(st.lists(st.floats(0.001, 1), min_size=len(tokens), max_size=len(tokens)))
    total = sum(weights) * draw(st.floats(1, 2))
    top = tuple((token, math.log(weight / total)) for token, weight in zip(tokens, weights, strict=True))
    token, logprob = draw(st.sampled_from(top))
    return TokenPosition(token, logprob, top)


@given(st.lists(positions(), min_size=1, max_size=6), st.permutations(ABC))
def test_a_reading_is_a_distribution(places: list[TokenPosition], labels: list[str]) -> None:
    reading = read_choice(reply(*places), labels)
    assert reading.captured is not None
    assert 0 <= reading.captured <= 1 + 1e-9
    if reading.state is State.OK:
        assert math.isclose(sum(reading.probabilities), 1)
        assert all(0 <= p <= 1 + 1e-12 for p in reading.probabilities)
        in_order = read_choice(reply(*places), ABC)
        assert dict(zip(labels, reading.probabilities, strict=True)) == pytest.approx(
            dict(zip(ABC, in_order.probabilities, strict=True))
        )


def test_a_reading_has_probabilities_exactly_when_ok() -> None:
    for wrong in ({"state": State.OK}, {"state": State.FAILED, "probabilities": (1.0,)}):
        with pytest.raises(ValueError, match="exactly when"):
            Reading(**wrong)
