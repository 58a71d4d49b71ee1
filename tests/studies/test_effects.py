"""Effects on published ratings and on graders whose truth is known."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import read_json
from evenhand.errors import InputError
from evenhand.report.effects_summary import EffectsSummary, QuestionEffect
from evenhand.statistics.ranks import area_under_curve
from evenhand.studies.effects import effects
from rating_runs import World, llmbar_rows, llmbar_run, pair_row, rating, world, write_run

REFERENCE = {
    "GPT-4 Rating": 0.908,
    "GPT-4 Rating_Metrics": 0.909,
    "GPT-4 Rating_Metrics_Reference": 0.936,
    "GPT-4 Rating_NoRules": 0.846,
    "GPT-4 Rating_Reference": 0.932,
    "ChatGPT Rating": 0.483,
    "ChatGPT Rating_NoRules": 0.481,
}


def by_name(summary: EffectsSummary) -> dict[str, QuestionEffect]:
    (block,) = summary.blocks
    return {question.question: question for question in block.questions}


def value(number: float | None) -> float:
    assert number is not None
    return number


def test_published_areas_for_the_label() -> None:
    """With the outputs in the order of the data, the areas of others to three digits."""
    found: dict[str, list[tuple[float, bool]]] = {}
    for row in llmbar_rows():
        gap = float(row["raw_1"]) - float(row["raw_2"]) if row["raw_1"] and row["raw_2"] else 0.0
        found.setdefault(f"{row['grader']} {row['prompt']}", []).append((gap, row["label"] == 1))
    for name, rows in found.items():
        scores, labels = (np.array(column) for column in zip(*rows, strict=True))
        assert round(area_under_curve(scores.astype(float), labels), 3) == pytest.approx(
            REFERENCE[name], abs=0.0005 + 1e-9
        )


def test_effects_on_published_ratings(tmp_path: Path) -> None:
    """Over random signs the areas are the published ones but for the one drawing of signs that the data are."""
    summary = effects(llmbar_run(tmp_path))
    questions = by_name(summary)
    assert {name: question.pairs for name, question in questions.items()} == dict.fromkeys(REFERENCE, 419)
    for name, question in questions.items():
        assert question.effect.auc.value == pytest.approx(REFERENCE[name], abs=0.0012)
        useless = name.startswith("ChatGPT")
        superiority = question.effect.superiority
        assert (value(superiority.low) <= 0.5 <= value(superiority.high)) == useless
        assert (value(question.effect.q_value) > 0.3) == useless
        equal = value(question.effect.equal)
        assert 0.10 <= equal <= 0.22 if not useless else round(equal, 2) in {0.47, 0.51}
    heads = [question.question for question in questions.values() if question.representative]
    assert heads == ["ChatGPT Rating", "ChatGPT Rating_NoRules", "GPT-4 Rating_Metrics_Reference"]


def test_the_file_is_what_is_returned(tmp_path: Path) -> None:
    made = world([1.0, 0.0], 40)
    run = write_run(tmp_path, list(made.ratings(lambda p, q, o: tuple(made.qualities[p, q]))), made.pairs())
    summary = effects(run)
    assert EffectsSummary.from_json(read_json(run / "effects.json")) == summary
    first = (run / "effects.json").read_bytes()
    effects(run)
    assert (run / "effects.json").read_bytes() == first


def test_figures_by_hand(tmp_path: Path) -> None:
    """Three pairs and a tie; outputs' means over orders and repeats; missing ones counted and never 0."""
    rows = [
        rating(0, 8, 4),
        rating(0, 6, 6, order="rejected_first"),
        rating(0, 7, None, order="rejected_first", repeat=1),
        rating(1, 3, 5),
        rating(2, -1, 5),
        rating(3, 9, 1),
        rating(4, 4, 4),
    ]
    pairs = [pair_row(n, tie=n == 3, chosen_length=100 + n, rejected_length=102) for n in range(5)]
    summary = effects(write_run(tmp_path, rows, pairs))
    question = by_name(summary)["q0"]
    # Pair 0: chosen (8 + 6 + 7) / 3 = 7, rejected (4 + 6) / 2 = 5; pair 1: -2; pair 2 unknown; pair 3 a tie; pair 4: 0.
    assert question.effect.mean_difference.value == pytest.approx(0.0)
    assert question.effect.superiority.value == pytest.approx(0.5)
    assert (question.effect.superiority.n, question.pairs) == (3, 4)
    assert question.effect.equal == pytest.approx(1 / 3)
    assert question.states == {"chosen": {"ok": 6, "abstained": 1}, "rejected": {"ok": 6, "unparseable": 1}}
    assert question.missing("chosen") == {"abstained": pytest.approx(1 / 7)}
    # Length, without the tie: 100, 101, 102 and 104 characters against 102.
    assert summary.length.superiority.value == pytest.approx((0 + 0 + 0.5 + 1) / 4)
    assert summary.ties == 1


def test_what_counts_as_equal(tmp_path: Path) -> None:
    rows = [rating(0, 5.3, 5.0), rating(1, 5.0, 5.5), rating(2, 9.0, 5.0)]
    run = write_run(tmp_path, rows, [pair_row(n) for n in range(3)])
    assert by_name(effects(run))["q0"].effect.superiority.value == pytest.approx(0.5)
    exact = by_name(effects(run, equal_within=0.0))["q0"].effect
    assert exact.superiority.value == pytest.approx(2 / 3)
    assert exact.equal == 0.0
    with pytest.raises(InputError, match="--equal-within: is -1"):
        effects(run, equal_within=-1)


def test_pairs_instead_of_inputs_are_narrower_and_said(tmp_path: Path) -> None:
    """Three pairs an input of one mind: three times the clusters, without three times the knowledge."""
    rows = [rating(n, 6 + 2 * (n // 3 % 2), 7, input_id=f"i{n // 3}") for n in range(120)]
    run = write_run(tmp_path, rows, [pair_row(n, input_id=f"i{n // 3}") for n in range(120)])
    inputs, pairs = effects(run), effects(run, cluster="pair")
    wide, narrow = (by_name(found)["q0"].effect.superiority for found in (inputs, pairs))
    assert (wide.clusters, narrow.clusters) == (40, 120)
    assert value(narrow.high) - value(narrow.low) < 0.7 * (value(wide.high) - value(wide.low))
    assert any("no others" in remark for remark in pairs.remarks)
    with pytest.raises(InputError, match="--cluster: is 'topic'"):
        effects(run, cluster="topic")


def test_reliability_and_the_liking_for_a_place(tmp_path: Path) -> None:
    """Noise as large as the truth in each order, and 1.5 points for standing first."""
    made = world([1.0], 1500, seed=3)
    rng = np.random.default_rng(0)
    quality = (made.qualities[:, 0, 0] - made.qualities[:, 0, 1]) / 2
    noise = rng.normal(0, quality.std(), (1500, 2))

    def rate(pair: int, question: int, order: str) -> tuple[float, float]:
        first = order == "chosen_first"
        gap = quality[pair] + noise[pair, int(first)]
        return 5 + gap / 2 + 1.5 * first, 5 - gap / 2 + 1.5 * (not first)

    found = by_name(effects(write_run(tmp_path, list(made.ratings(rate)), made.pairs())))["q0"].reliability
    assert found.orders.value == pytest.approx(0.5, abs=0.06)
    assert found.both_orders.value == pytest.approx(2 / 3, abs=0.06)
    assert found.order_effect.value == pytest.approx(1.5, abs=0.1)
    assert found.repeats.method == "nothing was asked more than once"


def test_repeats(tmp_path: Path) -> None:
    made = world([1.0], 800, seed=4)
    rng = np.random.default_rng(0)
    gap = made.qualities[:, 0, 0] - made.qualities[:, 0, 1]
    rows = []
    for repeat in range(4):
        for n in range(800):
            half = (gap[n] + rng.normal(0, gap.std())) / 6
            rows.append(rating(n, 5 + half, 5 - half, repeat=repeat, order="single"))
    found = by_name(effects(write_run(tmp_path, rows, made.pairs())))["q0"].reliability
    assert found.repeats.value == pytest.approx(0.5, abs=0.05)
    assert "4 repeats" in found.repeats.method
    assert found.orders.value is None


def test_redundant_questions_share_a_cluster(tmp_path: Path) -> None:
    made = world([1.0, 0.0], 300)
    rng = np.random.default_rng(0)
    near = np.clip(made.qualities[:, 0] + rng.normal(0, 0.5, (300, 2)), 0, 10)
    rows = list(made.ratings(lambda p, q, o: tuple(made.qualities[p, q]), orders=["single"]))
    rows += [rating(n, *near[n], question="near", order="single") for n in range(300)]
    questions = by_name(effects(write_run(tmp_path, rows, made.pairs())))
    assert questions["q0"].cluster == questions["near"].cluster != questions["q1"].cluster
    assert questions["q0"].representative != questions["near"].representative
    assert questions["q1"].representative


def reads_the_label(protocol: str) -> Any:
    """A grader that knows nothing but what it is told, and likes what is called CHOSEN."""
    rng = np.random.default_rng(1)

    def rate(pair: int, question: int, order: str) -> tuple[float, float]:
        one, other = rng.uniform(3, 6, 2)
        if protocol == "labelled":
            return one + 4, other
        return (one, other + 4) if protocol == "label_swap" else (one, other)

    return rate


def blind_one(made: World, place: float = 0.0) -> Any:
    """A grader that judges by quality whatever it is told, and may like the first place."""
    rng = np.random.default_rng(2)

    def rate(pair: int, question: int, order: str) -> tuple[float, float]:
        one, other = made.qualities[pair, question] + rng.normal(0, 1, 2)
        return one + place * (order != "rejected_first"), other + place * (order == "rejected_first")

    return rate


def with_probes(made: World, grader: Any) -> list[dict[str, Any]]:
    protocols = ("blind", "labelled", "label_swap")
    return [row for name in protocols for row in made.ratings(grader(name), protocol=name)]


def test_a_grader_that_reads_the_label_leaks(tmp_path: Path) -> None:
    made = world([0.5, 0.0, 0.2], 60)
    (block,) = effects(write_run(tmp_path, with_probes(made, reads_the_label), made.pairs())).blocks
    assert block.protocol == "blind"
    assert block.leak is not None
    assert block.leak.flagged
    assert value(block.leak.labelled.value) == 1
    assert value(block.leak.swap.value) == pytest.approx(4, abs=0.3)
    assert block.leak_orders == ("chosen_first",)
    for question in block.questions:
        assert question.leak is not None
        assert question.leak.flagged
        assert value(question.effect.superiority.low) < 0.5 < value(question.effect.superiority.high)


@pytest.mark.parametrize("place", [0.0, 3.0])
def test_a_grader_that_does_not_read_the_label_does_not(tmp_path: Path, place: float) -> None:
    """Not even one that likes the first place, where the labelled protocol puts the chosen output."""
    made = world([0.5, 0.0, 0.2], 200)
    rows = with_probes(made, lambda _: blind_one(made, place))
    (block,) = effects(write_run(tmp_path, rows, made.pairs())).blocks
    assert block.leak is not None
    assert not block.leak.flagged
    assert abs(value(block.leak.swap.value)) < 0.3
    assert not any(question.leak is None or question.leak.flagged for question in block.questions)


def test_leaks_of_opposite_directions_add_up(tmp_path: Path) -> None:
    """Of a question of which less is better the label lowers the rating."""
    made = world([0.0, 0.0], 60)
    rng = np.random.default_rng(0)

    def grader(protocol: str) -> Any:
        def rate(pair: int, question: int, order: str) -> tuple[float, float]:
            one, other = rng.uniform(4, 6, 2)
            push = {"blind": 0, "labelled": 3, "label_swap": -3}[protocol] * (1 if question == 0 else -1)
            return one + push / 2, other - push / 2

        return rate

    questions = [
        {"id": "q0", "text": "Is it kind?", "tags": [], "direction": "higher"},
        {"id": "q1", "text": "Is it rude?", "tags": [], "direction": "lower"},
    ]
    (block,) = effects(write_run(tmp_path, with_probes(made, grader), made.pairs(), questions)).blocks
    assert block.leak is not None
    assert block.leak.flagged
    assert value(block.leak.leak.value) > 0.4
    second = block.questions[1].leak
    assert second is not None
    assert value(second.leak.value) < -0.4


def test_without_the_labelled_protocol_no_leak_is_shown(tmp_path: Path) -> None:
    made = world([0.5], 20)
    (block,) = effects(write_run(tmp_path, list(made.ratings(blind_one(made))), made.pairs())).blocks
    assert block.leak is None
    assert any("label leak was not measured" in remark for remark in block.remarks)
    told = list(made.ratings(blind_one(made), protocol="labelled"))
    (block,) = effects(write_run(tmp_path / "told", told, made.pairs())).blocks
    assert block.protocol == "labelled"
    assert any("was told which output was chosen" in remark for remark in block.remarks)
    assert any("in one order only" in remark for remark in block.remarks)


def test_coverage_of_the_effect(tmp_path: Path) -> None:
    """A question with P(chosen higher) = .7 over inputs of three pairs of one mind each, 60 runs of 40 questions."""
    rng = np.random.default_rng(5)
    pairs = [pair_row(n, input_id=f"i{n // 3}") for n in range(180)]
    covered, total = 0, 0
    for trial in range(8):
        rows = []
        for question in range(40):
            mind = np.repeat(rng.beta(3.5, 1.5, 60), 3)
            higher = rng.random(180) < mind
            rows += [
                rating(n, 6 if up else 4, 5, question=f"q{question}", input_id=f"i{n // 3}", order="single")
                for n, up in enumerate(higher.tolist())
            ]
        for question_effect in by_name(effects(write_run(tmp_path / str(trial), rows, pairs))).values():
            found = question_effect.effect.superiority
            covered += value(found.low) <= 0.7 <= value(found.high)
            total += 1
    assert 0.92 <= covered / total <= 0.98


def test_too_little_data_is_not_estimable(tmp_path: Path) -> None:
    rows = [rating(0, 7, 5), rating(1, None, 5), rating(1, 5, None, question="q1")]
    summary = effects(write_run(tmp_path, rows, [pair_row(0), pair_row(1)]))
    questions = by_name(summary)
    assert questions["q0"].effect.superiority.method == "no interval: one cluster"
    assert questions["q0"].effect.p_value is None
    assert questions["q1"].effect.superiority.method == "no rows"
    assert questions["q1"].effect.q_value is None
    assert any("rough" in remark for remark in summary.remarks)


def test_a_grader_of_several(tmp_path: Path) -> None:
    rows = [rating(n, 7, 5, grader=grader) for grader in ("one", "other") for n in range(3)]
    run = write_run(tmp_path, rows, [pair_row(n) for n in range(3)])
    assert [block.grader for block in effects(run).blocks] == ["one", "other"]
    assert [block.grader for block in effects(run, grader="other").blocks] == ["other"]
    with pytest.raises(InputError, match=r"'third' rated nothing .* use one, other"):
        effects(run, grader="third")


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda run: (run / "ratings.parquet").unlink(), "has no ratings.parquet"),
        (lambda run: (run / "questions.json").write_text("{"), "is not a list of questions"),
        (lambda run: (run / "questions.json").write_text("[3]"), "is not a list of questions"),
        (lambda run: (run / "questions.json").write_text("[]"), "question: speaks of one that"),
        (lambda run: (run / "pairs.parquet").write_bytes(b"x"), "can't be read"),
        (lambda run: pl.DataFrame({"pair_id": ["p0"]}).write_parquet(run / "pairs.parquet"), "has no column input_id"),
        (lambda run: write_run(run, [rating(0, 1, 2)], [pair_row(1)]), "pair_id: speaks of one that"),
        (lambda run: write_run(run, [rating(0, 1, 2)], [pair_row(0), pair_row(0)]), "two pairs have the same id"),
        (lambda run: write_run(run, [rating(0, 1, 2, chosen_state="fine")], [pair_row(0)]), "chosen_state"),
        (lambda run: write_run(run, [], [pair_row(0)]), "holds no ratings"),
    ],
)
def test_damaged_folders_are_named(tmp_path: Path, damage: Any, what: str) -> None:
    run = write_run(tmp_path / "run", [rating(0, 7, 5)], [pair_row(0)])
    damage(run)
    with pytest.raises(InputError, match=what):
        effects(run)


def test_no_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="evenhand rate"):
        effects(tmp_path / "absent")
    assert not (tmp_path / "absent").exists()


def test_no_interval_of_an_area_leaves_what_an_area_can_be(tmp_path: Path) -> None:
    # Over three inputs; the approximation alone would go up to 1.11.
    gaps = [-1, 1, 2, 4, 4, 4, 4, 4, 4, -1, 1, -2]
    rows = [
        rating(n, 5 + max(gap, 0), 5 + max(-gap, 0), input_id=f"i{n // 4}", order=order)
        for n, gap in enumerate(gaps)
        for order in ("chosen_first", "rejected_first")
    ]
    run = write_run(tmp_path / "run", rows, [pair_row(n, input_id=f"i{n // 4}") for n in range(len(gaps))])
    summary = effects(run)
    found = [question.effect.auc for block in summary.blocks for question in block.questions]
    assert found
    for auc in found:
        assert auc.low is not None
        assert auc.high is not None
        assert 0 <= auc.low <= auc.high <= 1
