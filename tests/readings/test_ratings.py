"""Ratings are read at the number's own position, whatever stands round it."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import position, reply
from evenhand.readings import Failure, FailureKind, RatingReading, Reply, State, TokenPosition, read_ratings
from evenhand.readings.ratings import open_ones, probability_of_zero

KEYS = ("first_rating", "second_rating")


def written(text: str, finish: str = "stop") -> list[tuple[State, float | None]]:
    found = read_ratings(Reply(text, finish, "m"), KEYS, with_probabilities=False)
    return [(reading.state, reading.value) for reading in found]


def ok(*values: float) -> list[tuple[State, float | None]]:
    return [(State.OK, value) for value in values]


PLAIN = '{"first_rating": 7, "second_rating": 3}'


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"```json\n{PLAIN}\n```",
        f"Here are my ratings:\n{PLAIN}\nI hope this helps. 9/10!",
        "{'first_rating': 7, 'second_rating': 3}",
        '{"first_rating": 7, "second_rating": 3,}',
        '{"first_rating": 7, "second_rating": 3, "reason": "both say {x} and ```9```"}',
        '{"first_rating": 7, "second_rating": 3, "reason": "cut of',
        '{"second_rating": 3, "first_rating": 7}',
        '{\n  "first_rating" : "7",\n  "second_rating" : "3/10"\n}',
        '{"first_rating": 7, "second_rating": 3',
        f'<think>{{maybe 5 or 9}} so "first_rating": 2</think>\n{PLAIN}',
        f'<thinking>{{"first_rating": 1, "second_rating": 1}}</thinking>{PLAIN}',
        f'{PLAIN[:-1]}, "reason": "it says `</think>` and <think>"}}',
        f'I wondered about {{"first_rating": 1, "second_rating": 1}}.</think>{PLAIN}',
        f"The scale {{0..10}} says 5 reasons for 9. {PLAIN}",
        f"{PLAIN}\n{PLAIN}",
        '{"ratings": {"first_rating": 7, "second_rating": 3}}',
        '{"first_rating": 7.0, "second_rating": 3.0}',
        "{“first_rating”: 7, “second_rating”: 3}",
        "\ufeff" + PLAIN.replace(" ", "\u00a0"),
    ],
)
def test_shapes_of_an_answer(text: str) -> None:
    assert written(text) == ok(7, 3)


def test_thinking_that_stands_apart_is_not_read() -> None:
    apart = Reply(PLAIN, "stop", "m", thinking='{"first_rating": 1, "second_rating": 1}')
    assert [one.value for one in read_ratings(apart, KEYS, with_probabilities=False)] == [7, 3]
    for finish, state in (("stop", State.UNANSWERED), ("length", State.TRUNCATED)):
        empty = Reply("", finish, "m", completion_tokens=90, thinking=PLAIN)
        for probabilities in (True, False):
            found = read_ratings(empty, KEYS, with_probabilities=probabilities)
            assert [one.state for one in found] == [state] * 2
    assert "while thinking" in found[0].reason


def test_the_tokens_of_thinking_have_no_say() -> None:
    thought = plain('<think>~{"first_rating":~ 1~, "second_rating":~ 1~}~</think>~\n')
    made = reply(
        *thought,
        *plain('{"first_rating": '),
        position("7", 0.6, **{"8": 0.4}),
        *plain(', "second_rating": ~2~}'),
        finish="stop",
    )
    first, second = read_ratings(made, KEYS)
    assert first.value == pytest.approx(7.4)
    assert second.value == 2


def test_a_server_that_repeats_the_begun_answer_is_read_as_one_that_does_not() -> None:
    prefill = '{"first_rating":'
    rest = ' 7, "second_rating": 3}'
    for text in (rest, prefill + rest):
        found = read_ratings(Reply(text, "stop", "m"), KEYS, prefill=prefill, with_probabilities=False)
        assert [one.value for one in found] == [7, 3]
        spelled = replace(reply(*plain(' ~7~, "second_rating": ~3~}'), finish="stop"), text=text)
        assert [one.value for one in read_ratings(spelled, KEYS, prefill=prefill)] == [7, 3]


def test_each_rating_has_its_own_state() -> None:
    assert written('{"first_rating": 85, "second_rating": 3}') == [(State.UNPARSEABLE, None), (State.OK, 3)]
    assert written('{"first_rating": -1, "second_rating": 7.5}') == [(State.ABSTAINED, None), (State.OK, 7.5)]
    assert written('{"first_rating": null, "second_rating": true}') == [(State.UNPARSEABLE, None)] * 2


@pytest.mark.parametrize(
    ("text", "finish", "state"),
    [
        ("I'd say 7 and 3.", "stop", State.UNPARSEABLE),
        ('{"chosen_rating": 7, "rejected_rating": 3}', "stop", State.UNPARSEABLE),
        ('{"first_rating": 7}', "stop", State.UNPARSEABLE),
        (
            '{"first_rating": 7, "second_rating": 3} or {"first_rating": 3, "second_rating": 7}',
            "stop",
            State.UNPARSEABLE,
        ),
        ("", "stop", State.UNPARSEABLE),
        ("<think>all of this</think>", "stop", State.UNANSWERED),
        (f"<think>so {PLAIN}", "stop", State.UNANSWERED),
        (f"<think>so {PLAIN}", "length", State.TRUNCATED),
        (f"so {PLAIN}</think>", "stop", State.UNANSWERED),
        ("\n" * 40, "length", State.TRUNCATED),
        ("\n" * 40, "stop", State.UNPARSEABLE),
        ('{"first_rating":' + " \n" * 40, "length", State.TRUNCATED),
        ("", "content_filter", State.DECLINED),
        ('{"first_rating": 7, "second_ra', "length", State.TRUNCATED),
        ('{"first_rating": 7, "first_rating": 8, "second_rating": 3}', "stop", State.UNPARSEABLE),
        ("{'reason': 'the first_rating: 7, second_rating: 3'}", "stop", State.UNPARSEABLE),
    ],
)
def test_what_says_nothing(text: str, finish: str, state: State) -> None:
    assert written(text, finish) == [(state, None)] * 2


def test_failures_have_their_state() -> None:
    for kind, state in ((FailureKind.OVERFLOW, State.TRUNCATED), (FailureKind.TRANSPORT, State.FAILED)):
        assert read_ratings(Failure(kind, "why"), KEYS) == (RatingReading(state, reason="why"),) * 2


def test_missing_probabilities_are_an_error_and_never_zero() -> None:
    with pytest.raises(ValueError, match="no token probabilities"):
        read_ratings(Reply(PLAIN, "stop", "m"), KEYS)


def plain(text: str) -> list[TokenPosition]:
    """One position a piece; every piece is certain."""
    return [position(piece, 1.0) for piece in text.split("~")]


def test_expected_value_at_the_numbers_own_position() -> None:
    """The digits in the prose before and in the reason after have their own probabilities, and no say."""
    made = reply(
        position("5", 0.9, **{"9": 0.1}),
        *plain(' of 9: ~{~"first_rating":~ '),
        position("7", 0.6, **{"8": 0.3, "x": 0.1}),
        *plain(',~ "second_rating":~ '),
        position("2", 0.5, **{"3": 0.5}),
        *plain(', "reason": "~9~"}'),
        finish="stop",
    )
    first, second = read_ratings(made, KEYS)
    assert first.value == pytest.approx((7 * 0.6 + 8 * 0.3) / 0.9)
    assert first.captured == pytest.approx(0.9)
    assert first.probabilities[7] == pytest.approx(2 / 3)
    assert second.value == pytest.approx(2.5)


@pytest.mark.parametrize(
    "pieces", ['{"first_rating":~ 7~, "second_rating":~ 3~}', '{"first_rating~":7~,"second_rating":~3~}']
)
def test_numbers_inside_tokens(pieces: str) -> None:
    assert [reading.value for reading in read_ratings(reply(*plain(pieces), finish="stop"), KEYS)] == [7, 3]


def test_ten_as_one_token() -> None:
    made = reply(
        *plain('{"first_rating": '),
        position("10", 0.5, **{"1": 0.1, "9": 0.4}),
        *plain(', "second_rating": ~2~}'),
    )
    first, _ = read_ratings(made, KEYS)
    assert first.value == pytest.approx(10 * 0.5 + 1 * 0.1 + 9 * 0.4)
    assert open_ones(made, KEYS) == {}


def test_ten_as_two_tokens_on_the_replys_own_path() -> None:
    made = reply(
        *plain('{"first_rating": '),
        position("1", 0.6, **{"9": 0.4}),
        position("0", 0.75, **{",": 0.25}),
        *plain(', "second_rating": ~2~}'),
    )
    first, _ = read_ratings(made, KEYS)
    assert first.value == pytest.approx(10 * 0.45 + 1 * 0.15 + 9 * 0.4)
    assert first.captured == pytest.approx(1)
    assert open_ones(made, KEYS) == {}


def test_an_open_one_is_asked_about_and_settled() -> None:
    prefill = '{"first_rating":'
    made = reply(
        *plain(" "),
        position("9", 0.7, **{"1": 0.3}),
        *plain(', "second_rating": '),
        position("2", 0.8, **{"1": 0.2}),
        *plain("}"),
    )
    asked = open_ones(made, KEYS, prefill=prefill)
    assert asked == {
        "first_rating": '{"first_rating": 1',
        "second_rating": '{"first_rating": 9, "second_rating": 1',
    }
    zero = probability_of_zero(reply(position("0", 0.9, **{",": 0.1})))
    assert zero == pytest.approx(0.9)
    first, second = read_ratings(made, KEYS, prefill=prefill, ten_after_one={"first_rating": 0.9})
    assert first.value == pytest.approx(9 * 0.7 + 10 * 0.27 + 1 * 0.03)
    assert second.captured == pytest.approx(0.8), "an open one that nobody settled is not captured"
    assert second.value == pytest.approx(2)
    assert probability_of_zero(Failure(FailureKind.TRANSPORT, "")) is None


def test_a_one_behind_which_the_runtime_tells_no_token() -> None:
    """The stop text came next, and llama.cpp leaves its tokens out where vLLM lists them."""
    prefill = '{"first_rating":'
    pieces = (*plain(" "), position("4", 1.0), *plain(', "second_rating": '), position("1", 0.55, **{"4": 0.45}))
    made = reply(*pieces, finish="stop")
    assert open_ones(made, KEYS, prefill=prefill) == {"second_rating": '{"first_rating": 4, "second_rating": 1'}
    _, settled = read_ratings(made, KEYS, prefill=prefill, ten_after_one={"second_rating": 0.1})
    assert settled.value == pytest.approx(4 * 0.45 + 1 * 0.495 + 10 * 0.055)
    _, alone = read_ratings(made, KEYS, prefill=prefill)
    assert alone.value == pytest.approx(4 * 0.45 + 1 * 0.55), "it wrote 1, so its own number counts"
    assert settled.captured == alone.captured == pytest.approx(1)
    listed = reply(*pieces, position("}", 0.9, **{"0": 0.1}), finish="stop")
    assert open_ones(listed, KEYS, prefill=prefill) == {}
    assert read_ratings(listed, KEYS, prefill=prefill)[1].value == pytest.approx(settled.value)


@pytest.mark.parametrize("tokens", [{"-1": 0.7}, {"-": 0.7}])
def test_impossible_as_one_token_or_two(tokens: dict[str, float]) -> None:
    (name, p) = next(iter(tokens.items()))
    rest = ["1"] if name == "-" else []
    made = reply(
        *plain('{"first_rating": '),
        position(name, p, **{"4": 0.3}),
        *plain("~".join([*rest, ', "second_rating": ', "2", "}"])),
    )
    first, second = read_ratings(made, KEYS)
    assert (first.state, first.value) == (State.ABSTAINED, None)
    assert second.state is State.OK


def test_a_share_of_impossible_is_reported_and_not_averaged_in() -> None:
    made = reply(
        *plain('{"first_rating": '), position("4", 0.6, **{"-": 0.2, "6": 0.2}), *plain(', "second_rating": ~2~}')
    )
    first, _ = read_ratings(made, KEYS)
    assert first.value == pytest.approx((4 * 0.6 + 6 * 0.2) / 0.8)
    assert first.abstains == pytest.approx(0.2)


def test_a_fraction_keeps_its_fraction() -> None:
    made = reply(*plain('{"first_rating": ~7~.~5~, "second_rating": ~2~}'))
    assert read_ratings(made, KEYS)[0].value == pytest.approx(7.5)


def test_little_captured_mass_is_no_reading() -> None:
    made = reply(*plain('{"first_rating": '), position("7", 0.01, x=0.9), *plain(', "second_rating": ~2~}'))
    first, second = read_ratings(made, KEYS)
    assert (first.state, second.state) == (State.UNPARSEABLE, State.OK)


@given(st.lists(st.sampled_from(range(11)), min_size=2, max_size=2), st.data())
def test_the_expected_value_is_that_of_the_distribution(numbers: list[int], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.floats(0.01, 1), min_size=11, max_size=11))
    shares = [weight / sum(weights) for weight in weights]
    places = [
        position(str(number), shares[number], **{str(n): share for n, share in enumerate(shares) if n != number})
        for number in numbers
    ]
    made = reply(*plain('{"first_rating": '), places[0], *plain(', "second_rating": '), places[1], *plain("}"))
    expected = math.fsum(n * share for n, share in enumerate(shares))
    for reading in read_ratings(made, KEYS):
        assert reading.value == pytest.approx(expected)
        assert sum(reading.probabilities) == pytest.approx(1)


@pytest.mark.parametrize("token", ["9" * 5000, "\u0667", "1e1", "07", "+7", "7.", ""])
def test_tokens_that_are_no_number_of_the_scale_count_for_nothing(token: str) -> None:
    """A number of thousands of digits can't even be converted; none of these is dropped into the scale, or raises."""
    given = reply(position('{"r":', 1.0), position("7", 0.6, **{token or " ": 0.3}), position("}", 1.0), finish="stop")
    (found,) = read_ratings(given, ["r"])
    assert found.value == pytest.approx(7)
    assert found.captured == pytest.approx(0.6)
