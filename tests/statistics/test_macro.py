"""Averages over rows, over stance pairs and over topics."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.statistics import ClusterBootstrap, Estimate
from evenhand.statistics.macro import MacroAverages

Floats = npt.NDArray[np.float64]
ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.floats(0, 1)), min_size=1, max_size=40)


def width(found: Estimate) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


@given(ROWS)
def test_values_against_plain_loops(rows: list[tuple[int, int, float]]) -> None:
    topics = [topic for topic, _, _ in rows]
    stances = [(topic, stance) for topic, stance, _ in rows]
    values = np.array([value for *_, value in rows])
    found = MacroAverages(stances, topics, seed=0, draws=50).of(values)
    by_stance = [values[[s == name for s in stances]].mean() for name in set(stances)]
    by_topic = [values[[t == name for t in topics]].mean() for name in set(topics)]
    assert found.micro.value == pytest.approx(values.mean())
    assert found.stance.value == pytest.approx(np.mean(by_stance))
    assert found.topic.value == pytest.approx(np.mean(by_topic))
    assert (found.stance.clusters, found.topic.clusters) == (len(set(stances)), len(set(topics)))
    assert found.micro.n == found.stance.n == found.topic.n == len(rows)


def test_where_all_groups_have_one_size_the_averages_agree() -> None:
    rng = np.random.default_rng(0)
    stances = np.repeat(np.arange(40), 9)
    values = rng.random(360)
    found = MacroAverages(stances.tolist(), (stances // 2).tolist(), seed=0).of(values)
    assert found.micro.value == pytest.approx(found.stance.value)
    assert found.micro.value == pytest.approx(found.topic.value)
    assert (found.micro.low, found.micro.high) == pytest.approx((found.stance.low, found.stance.high))


def test_the_micro_average_is_that_of_the_bootstrap() -> None:
    rng = np.random.default_rng(1)
    stances = rng.integers(0, 30, 200).tolist()
    values = np.where(rng.random(200) < 0.1, np.nan, rng.random(200))
    averages = MacroAverages(stances, [s // 3 for s in stances], seed=4)
    assert averages.of(values).micro == ClusterBootstrap(stances, seed=4).mean(values)
    where = rng.random(200) < 0.5
    assert averages.of(values, where=where) == averages.of(np.where(where, values, np.nan))


def test_a_topic_with_many_stance_pairs_counts_once() -> None:
    """Eight stance pairs of one topic are 0, two of another are 1."""
    stances = np.repeat(np.arange(10), 3).tolist()
    topics = ["many"] * 24 + ["few"] * 6
    found = MacroAverages(stances, topics, seed=0).of(np.repeat([0.0] * 8 + [1.0] * 2, 3))
    assert (found.micro.value, found.stance.value, found.topic.value) == pytest.approx((0.2, 0.2, 0.5))
    # The few rows that could be read of a stance pair count as much as the many of another.
    holes = np.repeat([0.0] * 8 + [1.0] * 2, 3)
    holes[-2:] = np.nan
    again = MacroAverages(stances, topics, seed=0).of(holes)
    assert again.stance.value == pytest.approx(0.2)
    assert again.micro.value == pytest.approx(4 / 28)


def test_topics_on_request() -> None:
    """Where topics differ, resampling them gives the wider interval; the mean over topics has it anyway."""
    rng = np.random.default_rng(2)
    stances = np.repeat(np.arange(60), 5)
    values = np.repeat(rng.normal(size=20), 15) + rng.normal(size=300) / 5
    stance_names, topics = stances.tolist(), (stances // 3).tolist()
    by_stance = MacroAverages(stance_names, topics, seed=0).of(values)
    by_topic = MacroAverages(stance_names, topics, seed=0, unit="topics").of(values)
    assert width(by_topic.micro) > 1.5 * width(by_stance.micro)
    assert width(by_topic.stance) > 1.5 * width(by_stance.stance)
    assert by_topic.topic == by_stance.topic
    assert by_topic.micro.clusters == 20


def test_no_variation_and_no_rows() -> None:
    averages = MacroAverages(range(8), [0, 0, 1, 1, 2, 2, 3, 3], seed=0)
    ones = averages.of(np.ones(8))
    assert (ones.micro.low, ones.stance.low, ones.topic.low) == pytest.approx((0.6306, 0.6306, 0.025**0.25), abs=5e-5)
    flat = averages.of(np.zeros(8), bounds=(-1, 1))
    assert flat.topic.low == pytest.approx(-(1 - 0.025**0.25))
    assert averages.of(np.full(8, np.nan)).topic == Estimate.missing("no rows")


def test_intervals_of_the_mean_over_topics_hold() -> None:
    """60 topics of two to eight stance pairs, as in the published set: for topics like these, and for just these."""
    rng = np.random.default_rng(3)
    sizes = np.array([2] * 38 + [3] * 19 + [4, 5, 8])
    topic_of_stance = np.repeat(np.arange(60), sizes)
    stances = np.repeat(np.arange(150), 9)
    trials, kept = 600, rng.normal(0, 0.7, 60)

    def share(latent: Floats) -> Floats:
        return np.asarray(1 / (1 + np.exp(-latent)))

    spread = rng.normal(size=200_000)
    truths = {
        "drawn": np.mean(share(1.5 + np.sqrt(0.7**2 + 0.7**2) * spread)),
        "kept": np.mean([np.mean(share(1.5 + level + 0.7 * spread[:20_000])) for level in kept]),
    }
    covered = {"drawn": 0, "kept": 0}
    for trial in range(trials):
        if trial % 30 == 0:
            averages = MacroAverages(stances.tolist(), topic_of_stance[stances].tolist(), seed=trial, draws=1000)
        for name, topics in (("drawn", rng.normal(0, 0.7, 60)), ("kept", kept)):
            level = share(1.5 + topics[topic_of_stance] + rng.normal(0, 0.7, 150))
            values = (rng.random(1350) < level[stances]).astype(float)
            found = averages.of(values).topic
            assert found.low is not None
            assert found.high is not None
            covered[name] += found.low <= truths[name] <= found.high
    assert 0.93 <= covered["drawn"] / trials <= 0.97
    assert covered["kept"] / trials >= 0.95
