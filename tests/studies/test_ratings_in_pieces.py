"""Runs too large for memory: read in pieces, in any order of rows, they give the figures of a run read at once."""

import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import read_json
from evenhand.errors import InputError
from evenhand.execution import RunFolder
from evenhand.execution.shards import list_shards, write_shard
from evenhand.readings import State
from evenhand.studies import effects as effects_module
from evenhand.studies import fit as fit_module
from evenhand.studies import rating_run as rating_run_module
from evenhand.studies.effects import effects
from evenhand.studies.fit import fit
from evenhand.studies.rating_matrices import Rated, RatingBlock, Ratings
from evenhand.studies.rating_run import RatingRun
from evenhand.studies.run_pairs import LEFT_OUT, UNKNOWN, PairPlaces
from rating_runs import World, llmbar_run, pair_row, rating, world, write_run


def noisy_rows(made: World, seed: int = 0, **changes: Any) -> list[dict[str, Any]]:
    """Some outputs abstained on, some unreadable."""
    rng = np.random.default_rng(seed)

    def rate(pair: int, question: int, order: str) -> tuple[float | None, float | None]:
        values = np.clip(made.qualities[pair, question] + rng.normal(0, 1, 2), 0, 10)
        one, other = (
            -1 if luck < 0.1 else None if luck < 0.13 else value
            for luck, value in zip(rng.random(2), values, strict=True)
        )
        return one, other

    return [{**row, **changes} for row in made.ratings(rate, changes.get("protocol", "blind"))]  # type: ignore[arg-type]


def varied_run(folder: Path, *, repeats: int = 1) -> Path:
    """Two graders, all protocols, ties, strengths, a rating that is no number, and outputs shown in both orders."""
    made = world([0.5, 0.0, 0.2], 120, pairs_an_input=2)
    rows = [row for repeat in range(repeats) for row in noisy_rows(made, repeat, repeat=repeat)]
    rows += noisy_rows(made, 7, protocol="labelled")[:150] + noisy_rows(made, 8, protocol="label_swap")[:150]
    rows += noisy_rows(made, 9, grader="other", protocol="single", order=None)
    rows[4]["chosen"] = float("nan")
    pairs = [
        {**row, "tie": n % 9 == 0, "strength": n % 3 if n % 4 else None, "chosen_length": 90 + n}
        for n, row in enumerate(made.pairs())
    ]
    questions: list[dict[str, Any]] = [
        {"id": f"q{n}", "text": f"Is it {n}?", "tags": [], "direction": direction}
        for n, direction in enumerate(("higher", "lower", None))
    ]
    return write_run(folder, rows, pairs, questions)


def in_shards(run: Path, folder: Path, seed: int) -> Path:
    """The same run with its rows shuffled over shards of unequal size."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    listed = {}
    for table in ("pairs", "ratings"):
        (folder / table).mkdir()
        rows = pl.read_parquet(run / f"{table}.parquet")
        rows = rows[rng.permutation(rows.height)]
        ends = sorted({0, rows.height, *rng.integers(0, rows.height, 6).tolist()})
        listed[table] = [
            write_shard(folder / table, f"part-{start:06}", rows[start:end]) for start, end in pairwise(ends)
        ]
    list_shards(RunFolder(folder), listed)
    (folder / "questions.json").write_bytes((run / "questions.json").read_bytes())
    return folder


def in_tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating_run_module, "BLOCK_BYTES", 1)
    monkeypatch.setattr(rating_run_module, "_CHUNK", 97)


def numbers(found: Any) -> list[float]:
    """All numbers in plain values, in their order."""
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, (list, tuple)):
        return [number for value in found for number in numbers(value)]
    return [found] if isinstance(found, (int, float)) else []


def test_figures_of_published_ratings_stay_what_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they came out before ratings were read in pieces."""
    in_tiny_pieces(monkeypatch)
    run = llmbar_run(tmp_path)
    effect = effects(run).blocks[0].questions[0].effect
    assert (effect.superiority.value, effect.superiority.low, effect.superiority.high) == pytest.approx(
        (0.4880668257756563, 0.4522673031026253, 0.5202863961813843), abs=1e-12
    )
    assert (effect.auc.value, effect.auc.low, effect.auc.high, effect.q_value) == pytest.approx(
        (0.48385310205433313, 0.4304789827682679, 0.5335834637037375, 0.4866251083813757), abs=1e-12
    )
    question = fit(run).questions[2]
    assert (question.centre, question.weight, question.estimate.low) == pytest.approx(
        (6.094272076372315, 0.25519141089373804, 0.01921571199242009), abs=1e-7
    )


@pytest.mark.parametrize("repeats", [1, 3])
def test_pieces_give_the_figures_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repeats: int) -> None:
    run = varied_run(tmp_path / "run", repeats=repeats)
    effects(run)
    fit(run, grader="g")
    whole = [(run / name).read_bytes() for name in ("effects.json", "spec.json")]
    in_tiny_pieces(monkeypatch)
    effects(run)
    fit(run, grader="g")
    assert [(run / name).read_bytes() for name in ("effects.json", "spec.json")] == whole
    (block, _) = read_json(run / "effects.json")["blocks"]
    assert block["leak"]["blind"]["n"] > 0
    assert (block["questions"][0]["reliability"]["repeats"]["value"] is not None) == (repeats > 1)


@pytest.mark.parametrize("repeats", [1, 3])
def test_rows_in_any_order_over_any_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repeats: int) -> None:
    run = varied_run(tmp_path / "run", repeats=repeats)
    in_tiny_pieces(monkeypatch)
    expected = effects(run, grader="g").as_json()
    for seed in range(3):
        found = effects(in_shards(run, tmp_path / str(seed), seed), grader="g").as_json()
        found["made_from"] = expected["made_from"]
        if repeats < 3:
            assert found["length"] == expected["length"]
            assert found["blocks"] == expected["blocks"]
        # Sums of three and more may differ in their last digit.
        assert numbers(found) == pytest.approx(numbers(expected), abs=1e-12)


def test_fit_to_rows_in_any_order(tmp_path: Path) -> None:
    run = varied_run(tmp_path / "run")
    expected, found = (fit(one, grader="g").as_json() for one in (run, in_shards(run, tmp_path / "shards", 0)))
    del expected["provenance"], found["provenance"]
    assert found == expected


def test_no_more_than_a_block_of_questions_is_held() -> None:
    read: list[range] = []

    def block(questions: range) -> RatingBlock:
        read.append(questions)
        states = np.zeros((len(questions), 2, len(State)), dtype=np.int64)
        states[:, 0, list(State).index(State.OK)] = np.arange(questions.start, questions.stop)
        none = np.zeros((len(questions), 0), dtype=np.uint16)
        return RatingBlock(questions, {}, {}, states, (none, none))

    # A pair and question take 2 (8 + 2) bytes in each order and 4 whatever the orders.
    ratings = Ratings(
        block, Rated(("chosen_first", "rejected_first"), repeated=False), 7, 10, block_bytes=3 * 440 + 439
    )
    assert [ratings.states_of(question, 0).get("ok", 0) for question in range(7) for _ in range(2)] == [
        question for question in range(7) for _ in range(2)
    ]
    assert read == [range(3), range(3, 6), range(6, 7)]


def test_memory_does_not_grow_with_the_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating_run_module, "BLOCK_BYTES", 1)
    monkeypatch.setattr(effects_module, "SAMPLE", 50)
    peaks = []
    for count in (2, 24):
        run = wide_run(tmp_path / str(count), questions=count, pairs=4000)
        tracemalloc.start()
        effects(run, draws=2)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def wide_run(folder: Path, *, questions: int, pairs: int) -> Path:
    """Many questions about pairs, blind and labelled."""
    run = write_run(folder, [rating(0, 1, 2)], [pair_row(n) for n in range(pairs)], [])
    names = [f"q{n}" for n in range(questions)]
    (run / "questions.json").write_text(
        "[" + ",".join(f'{{"id": "{name}", "text": "Is it?"}}' for name in names) + "]", "utf-8"
    )
    rows = pl.read_parquet(run / "ratings.parquet").drop("pair_id", "question", "protocol")
    rows = pl.DataFrame({"pair_id": [f"p{n}" for n in range(pairs)]}).join(rows, how="cross")
    rows = rows.join(pl.DataFrame({"question": names}), how="cross")
    rows = rows.join(pl.DataFrame({"protocol": ["blind", "labelled"]}), how="cross")
    rows = rows.with_columns(pl.Series("chosen", np.random.default_rng(0).uniform(0, 10, rows.height)))
    rows.write_parquet(run / "ratings.parquet")
    return run


def test_a_fit_to_very_many_pairs_rests_on_a_sample_of_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = world([0.4, 0.0], 1500, pairs_an_input=3)
    rows = list(made.ratings(lambda pair, question, _: tuple(made.qualities[pair, question])))
    run = write_run(tmp_path, rows, made.pairs())
    whole = fit(run)
    monkeypatch.setattr(fit_module, "FITTED_CELLS", 2 * 902)
    some = fit(run)
    assert (whole.pairs, some.pairs, some.inputs) == (1500, 900, 300)
    assert not any("rests on" in remark for remark in whole.remarks)
    assert "the fit rests on 900 of 1500 pairs: whole inputs, drawn at random" in some.remarks
    for one, other in zip(whole.questions, some.questions, strict=True):
        assert one.weight == pytest.approx(other.weight, abs=0.05)
    assert fit(run) == some
    assert fit(run, seed=1).questions[0].weight != some.questions[0].weight


def test_a_pair_that_the_run_does_not_hold_is_named_though_only_a_sample_is_fitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = world([0.4], 200)
    rows = list(made.ratings(lambda pair, question, _: tuple(made.qualities[pair, question])))
    run = write_run(tmp_path, [*rows, rating(999, 3, 4)], made.pairs())
    monkeypatch.setattr(fit_module, "FITTED_CELLS", 100)
    with pytest.raises(InputError, match="pair_id: speaks of one that the run folder does not hold"):
        fit(run)


def test_pairs_are_found_by_their_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = pl.Series([f"pair {n}" for n in range(1000)])
    places = PairPlaces.of(ids)
    asked = np.random.default_rng(0).integers(0, 1000, 3000)
    assert places.find(ids.gather(asked)).tolist() == asked.tolist()
    assert places.find(pl.Series(["pair 3", "pair 3", "none", "pair 0", None])).tolist() == [3, 3, UNKNOWN, 0, UNKNOWN]
    assert places.find(pl.Series([], dtype=pl.String)).tolist() == []
    assert PairPlaces.of(ids.head(0)).find(ids.head(2)).tolist() == [UNKNOWN, UNKNOWN]
    some = places.among(np.arange(1000) >= 998)
    assert some.find(pl.Series(["pair 998", "pair 999", "pair 0", "none"])).tolist() == [0, 1, LEFT_OUT, UNKNOWN]

    real = pl.Series.hash

    def colliding(self: pl.Series, seed: int = 0) -> pl.Series:
        return real(self, seed) if seed else pl.Series([7] * len(self), dtype=pl.UInt64)

    monkeypatch.setattr(pl.Series, "hash", colliding)
    places = PairPlaces.of(ids)
    assert places.seed == 1
    assert places.find(ids).tolist() == list(range(1000))


def test_questions_of_the_same_id_are_refused(tmp_path: Path) -> None:
    question: dict[str, Any] = {"id": "q0", "text": "Is it?", "tags": [], "direction": None}
    run = write_run(tmp_path, [rating(0, 7, 5)], [pair_row(0)], [question, question])
    with pytest.raises(InputError, match="two questions have the same id"):
        RatingRun(run)
