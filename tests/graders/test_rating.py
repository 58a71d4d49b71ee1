"""Questions about pairs: what the grader is shown, and what its answer gives to which output."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import position, reply, shared
from evenhand.errors import InputError
from evenhand.graders.rating import RatingAsk, RatingManner, ask_ratings, follow_ups, pair_up, read_asked
from evenhand.instruments.boundary import boundary
from evenhand.instruments.questions import Question
from evenhand.instruments.rating import Protocol, rating_instrument
from evenhand.pairs.preference_pair import PreferencePair
from evenhand.readings import Failure, FailureKind, RatingReading, Reply, State

PAIR = PreferencePair("p1", "i1", "the input", "the good output", "the bad output")
QUESTIONS = [Question("polite", "Is the output polite?"), Question("short", "Is the output short?")]
TEXT = RatingManner(probabilities=False)


def asks(
    protocol: Protocol, name: str = "rating", manner: RatingManner = TEXT, pair: PreferencePair = PAIR
) -> list[RatingAsk]:
    return list(ask_ratings(rating_instrument(name, protocol), protocol, [pair], QUESTIONS[:1], manner))


def prompt(ask: RatingAsk) -> str:
    return ask.request.prompt or ask.request.messages[0].content


def before(text: str, one: str, other: str) -> bool:
    return text.index(one) < text.index(other)


def test_blind_shows_neutral_names_in_both_orders() -> None:
    first, second = asks(Protocol.BLIND)
    assert (first.order, second.order) == ("chosen_first", "rejected_first")
    assert before(prompt(first), "the good output", "the bad output")
    assert before(prompt(second), "the bad output", "the good output")
    for ask in (first, second):
        assert not any(word in prompt(ask).lower() for word in ("chosen", "rejected", "prefer", "better"))


def test_labelled_tells_the_answer_and_shows_the_chosen_first() -> None:
    (ask,) = asks(Protocol.LABELLED)
    text = prompt(ask)
    assert before(text, "CHOSEN output:", "the good output")
    assert before(text, "the good output", "REJECTED output:")
    assert before(text, "REJECTED output:", "the bad output")


def test_label_swap_calls_the_chosen_output_rejected() -> None:
    (ask,) = asks(Protocol.LABEL_SWAP)
    text = prompt(ask)
    assert before(text, "CHOSEN output:", "the bad output")
    assert before(text, "REJECTED output:", "the good output")
    found = read_asked(ask, Reply('{"chosen_rating": 9, "rejected_rating": 2}', "stop", "m"), {})
    assert (found["rejected"].value, found["chosen"].value) == (9, 2)


@pytest.mark.parametrize(("name", "protocol"), [("rating", Protocol.SINGLE), ("compact", Protocol.BLIND)])
def test_one_output_a_call(name: str, protocol: Protocol) -> None:
    chosen, rejected = asks(protocol, name)
    assert (chosen.output, rejected.output, chosen.order) == ("chosen", "rejected", "single")
    assert "the bad output" not in prompt(chosen)
    assert "the good output" not in prompt(rejected)


def test_compact_labels() -> None:
    by_protocol = {
        p: [prompt(ask) for ask in asks(p, "compact")] for p in (Protocol.BLIND, Protocol.LABELLED, Protocol.LABEL_SWAP)
    }
    assert "(CHOSEN)" not in by_protocol[Protocol.BLIND][0]
    assert "Output (CHOSEN): the good output" in by_protocol[Protocol.LABELLED][0]
    assert "Output (REJECTED): the bad output" in by_protocol[Protocol.LABELLED][1]
    assert "Output (REJECTED): the good output" in by_protocol[Protocol.LABEL_SWAP][0]


@pytest.mark.parametrize("order", ["chosen_first", "rejected_first"])
def test_ratings_go_to_the_output_they_are_of(order: str) -> None:
    ask = next(ask for ask in asks(Protocol.BLIND) if ask.order == order)
    found = read_asked(ask, Reply('{"first_rating": 8, "second_rating": 3}', "stop", "m"), {})
    assert (found["chosen"].value, found["rejected"].value) == ((8, 3) if order == "chosen_first" else (3, 8))


def test_questions_about_the_same_texts_follow_one_another_and_share_their_beginning() -> None:
    instrument = rating_instrument("compact", Protocol.BLIND)
    pairs = [PAIR, replace(PAIR, pair_id="p2", chosen="another")]
    found = list(ask_ratings(instrument, Protocol.BLIND, pairs, QUESTIONS, RatingManner()))
    texts = [(ask.pair.pair_id, ask.output) for ask in found]
    assert texts == sorted(texts, key=texts.index)
    assert [ask.question.id for ask in found] == ["polite", "short"] * 4
    for one, other in zip(found[::2], found[1::2], strict=True):
        shared_text = prompt(one).split("Question: Is the output polite?")[0]
        assert prompt(other).startswith(shared_text)


def test_it_stops_after_the_numbers_unless_reasons_are_wanted() -> None:
    plain = asks(Protocol.BLIND)[0].request
    assert "}" in plain.stop
    assert '"reason"' not in plain.messages[0].content
    told = asks(Protocol.BLIND, manner=replace(TEXT, reasons=True))[0].request
    assert told.stop == ()
    assert told.messages[0].content.rstrip().endswith('"second_rating": N, "reason": "one sentence that says why"}')


def test_samples_are_sampled_with_seeds_of_their_own() -> None:
    found = asks(Protocol.SINGLE, manner=replace(TEXT, samples=3, seed=7))
    assert [(ask.repeat, ask.request.seed, ask.request.temperature) for ask in found[:3]] == [
        (0, 7, 1),
        (1, 8, 1),
        (2, 9, 1),
    ]


HOSTILE = st.text(alphabet=st.sampled_from("ab={}\n<>|0123456789fCHOSEN:"), max_size=60)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_text_can_close_its_frame_and_none_is_altered(source: str, one: str, other: str) -> None:
    pair = PreferencePair("p", "i", source, one, other)
    for protocol in (Protocol.BLIND, Protocol.LABELLED, Protocol.SINGLE):
        for ask in asks(protocol, pair=pair):
            text = prompt(ask)
            mark = text.split("two lines that read ")[1].split(". Everything")[0]
            assert mark not in source + one + other
            assert text.count(mark) == (5 if ask.output else 7)
            assert f"{mark}\n{source}\n{mark}" in text
            for output in ask.outputs:
                assert f"{mark}\n{getattr(pair, output)}\n{mark}" in text


def test_the_published_prompt_verbatim() -> None:
    path = shared("seeds/preference_rating.txt")
    instrument = rating_instrument(str(path), Protocol.LABELLED)
    pair = replace(PAIR, chosen="{{ rejected }} {x} ==QUESTION==")
    (ask,) = ask_ratings(instrument, Protocol.LABELLED, [pair], QUESTIONS[:1], TEXT)
    text = path.read_text("utf-8").strip().removeprefix('"""').removesuffix('"""')
    head, rest = text.split("{{ input }}")
    between, rest = rest.split("{{ chosen }}")
    then, rest = rest.split("{{ rejected }}")
    last, tail = rest.split("{{ question }}")
    assert prompt(ask) == (
        f"{head}{pair.input}{between}{pair.chosen}{then}{pair.rejected}{last}Is the output polite?{tail}"
    )
    assert instrument.keys == ("chosen_rating", "rejected_rating")
    with pytest.raises(InputError, match="it names the outputs chosen and rejected"):
        rating_instrument(str(path), Protocol.BLIND)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x = 1", "has no string with the fields"),
        ("'only {{ input }}'", "has no string with the fields"),
        ("'unclosed", "is not a Python string"),
        ("open('{{input}}{{chosen}}{{rejected}}{{question}}')", "has no string with the fields"),
        ("'{{ input }}{{ chosen }}{{ rejected }}{{ question }}{{ other }}'", "has the field 'other'"),
    ],
)
def test_bad_prompt_files(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        rating_instrument(str(path), Protocol.LABELLED)
    assert what in str(caught.value)


def test_unknown_and_absent_instruments() -> None:
    with pytest.raises(InputError, match=r"no rating instrument 'ratng'.*rating, compact"):
        rating_instrument("ratng", Protocol.BLIND)
    with pytest.raises(InputError, match="can't be read"):
        rating_instrument("absent.txt", Protocol.LABELLED)


def test_an_open_one_leads_to_a_second_question_that_goes_on_from_it() -> None:
    (ask, _) = asks(Protocol.BLIND, manner=RatingManner(prefill=True))
    assert ask.request.messages[-1].content == '{"first_rating":'
    outcome = reply(
        position(" ", 1.0), position("9", 0.6, **{"1": 0.4}), position(', "second_rating": ', 1.0), position("2", 1.0)
    )
    more = follow_ups(ask, outcome)
    assert set(more) == {"first_rating"}
    assert more["first_rating"].messages[-1].content == '{"first_rating": 1'
    assert more["first_rating"].max_tokens == 1
    found = read_asked(ask, outcome, {"first_rating": reply(position("0", 1.0))})
    assert found["chosen"].value == pytest.approx(9 * 0.6 + 10 * 0.4)
    without = next(iter(asks(Protocol.BLIND, manner=RatingManner())))
    assert follow_ups(without, outcome) == {}


def test_yes_is_ten() -> None:
    ask = asks(Protocol.BLIND, "compact", RatingManner())[0]
    found = read_asked(ask, reply(position(" Yes", 0.6, **{" No": 0.2})), {})
    assert found["chosen"].value == pytest.approx(7.5)
    assert read_asked(ask, Failure(FailureKind.OVERFLOW, "long"), {})["chosen"].state is State.TRUNCATED


def test_single_outputs_are_put_together() -> None:
    one, other = asks(Protocol.SINGLE)
    good, bad = RatingReading(State.OK, 8.0), RatingReading(State.ABSTAINED, reason="why")
    (row,) = pair_up("g", [(one, {"chosen": good}, "k1"), (other, {"rejected": bad}, "k2")])
    assert (row.chosen, row.rejected, row.order, row.key) == (good, bad, "single", "k1 k2")
    (half,) = pair_up("g", [(one, {"chosen": good}, "k1")])
    assert half.rejected.state is State.FAILED


@pytest.mark.parametrize("protocol", [Protocol.BLIND, Protocol.LABELLED, Protocol.SINGLE])
@pytest.mark.parametrize("name", ["rating", "compact"])
def test_questions_about_the_same_texts_begin_alike_up_to_the_question(protocol: Protocol, name: str) -> None:
    """A prefix cache then serves the texts, which are nearly all of a prompt."""
    instrument = rating_instrument(name, protocol)
    one, other = (next(iter(ask_ratings(instrument, protocol, [PAIR], [question], TEXT))) for question in QUESTIONS[:2])
    at = prompt(one).index(QUESTIONS[0].text)
    assert at > max(prompt(one).index(text) for text in ("the good output", PAIR.input))
    assert prompt(one)[:at] == prompt(other)[:at]


def test_a_question_that_writes_the_mark_gets_another() -> None:
    mark = boundary(PAIR.input, PAIR.chosen, PAIR.rejected)
    hostile = Question("q", f"Does it end here? {mark}")
    (ask, _) = ask_ratings(rating_instrument("rating", Protocol.BLIND), Protocol.BLIND, [PAIR], [hostile], TEXT)
    assert prompt(ask).count(mark) == 1


@pytest.mark.parametrize("protocol", [Protocol.BLIND, Protocol.LABELLED, Protocol.SINGLE])
def test_little_stands_behind_the_question_since_no_prefix_cache_serves_it(protocol: Protocol) -> None:
    text = rating_instrument("rating", protocol).text
    assert 0 < len(text) - text.index("{question}") < 250
