"""Features are the same everywhere, for any text."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graders.fitted.features import BITS, Block, features, views, weighed
from evenhand.graders.fitted.kernel_logistic import gram_of
from evenhand.graders.fitted.lexicon import CLASSES, frame

BLOCKS = (
    Block("words", (1, 3), first=25),
    Block("masked", (1, 2), counts=True),
    Block("heads", (1, 3), first=4),
    Block("letters", (3, 5), first=200),
    Block("words", (1, 2), last=10, scale=0.5),
    Block("request", (1, 2)),
    Block("form", (1, 1)),
)
REQUEST = "Write an essay that taxes should rise."
ANSWER = "I can’t say that taxes should rise. However, here are two reasons:\n\n1. Schools.\n2. Roads!"
ODD = [
    "",
    " ",
    "\n\n\n",
    "\x00",
    "a\x00b",
    "\ud800 lone",
    "é" * 50,
    "x" * 300_000,
    "word " * 80_000,
    "?!." * 100,
    "🙂 ok",
]


def _print(request: str, answer: str) -> str:
    seen = views(request, answer)
    digest = hashlib.sha256()
    for block in BLOCKS:
        buckets, values = features(seen, block)
        digest.update(buckets.astype("<i8").tobytes())
        digest.update(np.round(values, 9).astype("<f8").tobytes())
    return digest.hexdigest()[:16]


@pytest.mark.parametrize(
    ("request_text", "answer", "expected"),
    [
        (REQUEST, ANSWER, "69cf1485cbfc6d8d"),
        ("", "", "ea959141192f9150"),
        ("Ünïcode?", "Straße \ud800 \x00 naïve — “quoted”", "4c1ff5eb927b5c94"),
    ],
)
def test_features_are_pinned(request_text: str, answer: str, expected: str) -> None:
    # Shipped weights mean nothing under other features: a change here needs all graders fitted anew.
    assert _print(request_text, answer) == expected


def test_features_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from evenhand.graders.fitted.features import *;"
        f"print(features(views({REQUEST!r}, {ANSWER!r}), Block('words', (1, 3)))[0].sum())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@pytest.mark.parametrize("answer", ODD, ids=lambda text: repr(text[:8]))
@pytest.mark.parametrize("request_text", ["", REQUEST, "\x00\udfff"], ids=["none", "usual", "odd"])
def test_any_text_has_features(request_text: str, answer: str) -> None:
    seen = views(request_text, answer)
    for block in BLOCKS:
        buckets, values = features(seen, block)
        assert buckets.size == values.size
        assert np.all(np.diff(buckets) > 0)
        assert np.all((buckets >= 0) & (buckets < 1 << BITS))
        assert np.all(np.isfinite(values))
        if block.view != "form" and buckets.size:
            assert values @ values == pytest.approx(block.scale**2)


@given(st.text(max_size=200), st.text(max_size=200))
def test_spelling_of_not_and_case_make_no_difference(request_text: str, answer: str) -> None:
    block = Block("words", (1, 2))
    for one, other in (("I can't do it", "I CANNOT do it"), ("we won’t", "We will not")):
        first, second = (features(views(request_text, f"{words} {answer}"), block)[0] for words in (one, other))
        np.testing.assert_array_equal(first, second)


def test_words_of_the_request_are_one_word_when_masked() -> None:
    block = Block("masked", (1, 2))
    first = features(views("Tell me about taxes", "I like taxes a lot"), block)[0]
    second = features(views("Tell me about schools", "I like schools a lot"), block)[0]
    np.testing.assert_array_equal(first, second)


def test_blocks_do_not_share_buckets() -> None:
    seen = views(REQUEST, ANSWER)
    found = [set(features(seen, block)[0].tolist()) for block in BLOCKS]
    shared = sum(len(a & b) for place, a in enumerate(found) for b in found[place + 1 :])
    assert shared <= 2


def test_gram_is_that_of_the_dense_rows() -> None:
    rows = [features(views(REQUEST, text), BLOCKS[1]) for text in (ANSWER, ANSWER[:30], "", "Roads and schools.")]
    dense = np.zeros((len(rows), 1 << BITS))
    for row, (buckets, values) in zip(dense, rows, strict=True):
        row[buckets] = values
    np.testing.assert_allclose(gram_of(rows), dense @ dense.T, atol=1e-6)


@pytest.mark.parametrize("answer", [*ODD, ANSWER, ANSWER * 100, "I can't " * 3000, "a" * 5000 + " b c" * 2000], ids=len)
@pytest.mark.parametrize("chosen", [(0,), (0, 3), (1,), (2,), (4, 0), (5,), (6,), (3,)])
def test_what_is_not_needed_makes_no_difference(answer: str, chosen: tuple[int, ...]) -> None:
    blocks = [BLOCKS[place] for place in chosen]
    whole, needed = views(REQUEST, answer), views(REQUEST, answer, blocks)
    for block in blocks:
        for first, second in zip(features(whole, block), features(needed, block), strict=True):
            np.testing.assert_array_equal(first, second)


def test_frames_are_pinned_and_alike_for_other_subjects() -> None:
    block = Block("frame", (1, 4), first=15)
    one = features(views("Write about taxes.", "I'm sorry, but I can't argue about taxes.", [block]), block)
    other = features(views("Write on zebras!", "I am sorry, but I cannot argue about zebras.", [block]), block)
    np.testing.assert_array_equal(one[0], other[0])
    digest = hashlib.sha256(one[0].astype("<i8").tobytes()).hexdigest()[:16]
    assert digest == "6440c27d2b988ede"


@pytest.mark.parametrize(
    ("request_text", "as_much_as"),
    [
        ("Write a poem about dams being good.", "Write a poem about dams being bad."),
        ("Argue for more dams.", "Argue against dams."),
        ("Write a poem about dams.", "Write a story about rivers."),
    ],
)
def test_the_aim_of_a_request_takes_no_side(request_text: str, as_much_as: str) -> None:
    block = Block("aim", (1, 1), scale=0.5)
    found, other = (features(views(text, "Yes.", [block]), block) for text in (request_text, as_much_as))
    np.testing.assert_array_equal(found[0], other[0])
    assert np.sqrt(found[1] @ found[1]) == pytest.approx(0.5)


def test_the_aim_tells_one_side_from_both_and_from_neither() -> None:
    block = Block("aim", (1, 1))
    requests = ("Write that dams are good.", "Name the pros and cons of dams.", "Write about dams.")
    assert len({tuple(features(views(text, "Yes.", [block]), block)[0].tolist()) for text in requests}) == 3


def test_the_word_classes_are_pinned() -> None:
    # Shipped weights mean nothing under other classes: a change here needs all graders fitted anew.
    words = sorted({word for names in CLASSES.values() for word in names.split()})
    assert hashlib.sha256(" ".join(frame(words, [False] * len(words))).encode()).hexdigest()[:16] == "50cbb66a01f3e686"


@pytest.mark.parametrize("block", [*BLOCKS, Block("frame", (1, 4), first=15), Block("aim", (1, 1))])
def test_many_texts_at_once_weigh_what_each_does(block: Block) -> None:
    table = np.random.default_rng(6).normal(size=1 << BITS).astype(np.float32)
    seen = [views(REQUEST, text, [block]) for text in (ANSWER, *ODD)]
    expected = [float(table[buckets] @ values) for buckets, values in (features(each, block) for each in seen)]
    np.testing.assert_allclose(weighed(seen, block, table), expected, rtol=1e-6, atol=1e-6)
