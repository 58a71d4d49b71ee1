"""Fitted graders load, refuse damaged files, and say what their cards say."""

import hashlib
import io
import json
import pickle
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from conftest import shared
from evenhand.errors import InputError
from evenhand.graders.fitted import BUILTIN_GRADERS, FittedGrader
from evenhand.graders.fitted.features import Block
from evenhand.graders.fitted.grader import packed, unpacked
from evenhand.graders.fitted.grader_card import FittedCard
from evenhand.pairs.gold import GoldMeasure, read_gold
from evenhand.studies.fit_grader import examples_of, figures_on, write_grader

ODD = ["", " ", "\x00", "\ud800 \udfff", "no " * 100_000, "\n" * 5000, "🙂" * 3000, "I cannot help with that."]


@pytest.fixture(scope="module", params=BUILTIN_GRADERS)
def grader(request: pytest.FixtureRequest) -> FittedGrader:
    return FittedGrader.load(f"fitted:{request.param}")


def _small(tmp_path: Path) -> Path:
    content = packed(np.array([3, 70_000]), np.array([0.5, -2.0]))
    card = replace(FittedGrader.load("fitted:refusal").card, name="small", blocks=(Block("words", (1, 2)),))
    path = tmp_path / "small.json"
    write_grader(path, replace(card, weights_sha256=hashlib.sha256(content).hexdigest()), content)
    return path


def test_probabilities_lie_between_0_and_1_for_any_text(grader: FittedGrader) -> None:
    found = grader.probabilities(ODD, ODD[::-1])
    assert found.shape == (len(ODD),)
    assert np.all((found > 0) & (found < 1))


def test_an_answer_is_graded_alike_whatever_stands_beside_it(grader: FittedGrader) -> None:
    alone = [grader.probabilities([text], [text])[0] for text in ODD]
    np.testing.assert_array_equal(grader.probabilities(ODD, ODD), alone)


def test_no_answers_give_no_probabilities(grader: FittedGrader) -> None:
    assert grader.probabilities([], []).shape == (0,)
    with pytest.raises(ValueError, match="1 prompts and 0 responses"):
        grader.probabilities(["a"], [])


def test_a_plain_refusal_is_told_from_plain_help() -> None:
    grader = FittedGrader.load("fitted:refusal")
    request = "Write an essay that argues for higher taxes."
    refused, helped = grader.probabilities(
        [request] * 2,
        [
            "I'm sorry, but I can't help with that.",
            "Higher taxes pay for schools. Here are three reasons to raise them.",
        ],
    )
    assert refused > 0.9
    assert helped < 0.2


def test_cards_read_back(grader: FittedGrader) -> None:
    assert FittedCard.from_json(json.loads(json.dumps(grader.card.as_json()))) == grader.card
    assert grader.card.sources
    assert all(source.licence and source.sha256 and source.fitted for source in grader.card.sources)


def test_shipped_files_are_small_plain_numbers(grader: FittedGrader) -> None:
    content = (resources.files("evenhand.graders.fitted") / "data" / f"{grader.card.name}.npz").read_bytes()
    assert len(content) < 1_000_000
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        assert {name: arrays[name].dtype.kind for name in arrays.files} == {"steps": "u", "weights": "f"}


@pytest.mark.parametrize("name", BUILTIN_GRADERS)
def test_shipped_weights_give_the_figures_of_their_card(name: str) -> None:
    folder = shared("gold/xstest").parent
    grader = FittedGrader.load(f"fitted:{name}")
    sets = [
        each
        for source in ("xstest", "issuebench", "pct", "builtin", "stances")
        for each in read_gold(source, folder=None if source in ("builtin", "stances") else folder)
    ]
    by_name = {each.name: each for each in sets}
    # Of each data set the first figure of the weights that ship is that of the whole testing half.
    firsts = {figure.data: figure for figure in reversed(grader.card.figures) if figure.shipped}
    assert firsts
    for data, figure in firsts.items():
        examples = examples_of([by_name[data]], GoldMeasure(grader.card.measure))
        test = [each for each in examples if each.half == "test"]
        again = figures_on(grader, test, figure.data, figure.held_out)
        assert (again.n, again.positive) == (figure.n, figure.positive)
        assert again.auc.value == pytest.approx(figure.auc.value, abs=1e-9)
        assert again.kappa.value == pytest.approx(figure.kappa.value, abs=1e-9)


def test_weights_survive_packing() -> None:
    buckets, weights = np.array([0, 5, (1 << 20) - 1]), np.array([0.25, -1.5, 3.0])
    table = unpacked(packed(buckets, weights))
    np.testing.assert_array_equal(table[buckets], weights)
    assert np.count_nonzero(table) == 3
    assert packed(buckets, weights) == packed(buckets, weights)


def test_a_path_loads(tmp_path: Path) -> None:
    assert FittedGrader.load(_small(tmp_path)).card.name == "small"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fitted:nothing", "there is no fitted grader 'fitted:nothing'.*fitted:refusal"),
        ("absent.json", "absent.json: there is no such file"),
        ("weights.npz", "weights.npz: is no card of a fitted grader"),
    ],
)
def test_what_is_not_there_is_said(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FittedGrader.load(name)


def test_weights_of_another_card_are_refused(tmp_path: Path) -> None:
    path = _small(tmp_path)
    path.with_suffix(".npz").write_bytes(packed(np.array([3]), np.array([9.0])))
    with pytest.raises(InputError, match="the weights are not those of the card"):
        FittedGrader.load(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', "\x00"])
def test_a_damaged_card_is_refused(tmp_path: Path, text: str) -> None:
    path = _small(tmp_path)
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match="is no card of a fitted grader"):
        FittedGrader.load(path)


def test_a_card_of_other_features_is_refused(tmp_path: Path) -> None:
    path = _small(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "format": 2}), "utf-8")
    with pytest.raises(InputError, match="format 2"):
        FittedGrader.load(path)


class _Trap:
    def __reduce__(self) -> tuple[object, ...]:
        return (pytest.fail, ("a pickle was opened",))


def _npz(**arrays: object) -> bytes:
    written = io.BytesIO()
    np.savez(written, **arrays)  # type: ignore[arg-type]
    return written.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04",
        pickle.dumps(_Trap()),
        _npz(steps=np.array([_Trap()], dtype=object), weights=np.ones(1)),
        _npz(steps=np.array([1]), weights=np.array([np.nan])),
        _npz(steps=np.array([1, 2]), weights=np.ones(1)),
        _npz(steps=np.array([1 << 20]), weights=np.ones(1)),
        _npz(steps=np.array([-1]), weights=np.ones(1)),
        _npz(weights=np.ones(1)),
    ],
    ids=["empty", "cut", "pickle", "object", "nan", "shapes", "beyond", "before", "missing"],
)
def test_no_pickle_is_opened_and_no_damaged_weights(content: bytes) -> None:
    with pytest.raises(InputError, match="are no weights of a fitted grader"):
        unpacked(content)
