"""The published table of corrections on real graders comes out, within the error of its 500 random splits."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from conftest import shared
from evenhand.statistics.correction import humans_alone, labelled_run, ppi_mean, raw, rogan_gladen

Floats = npt.NDArray[np.float64]
SPLITS, LABELLED = 500, 150
ROUNDING = 0.0005
"""Of the table's figures."""


@dataclass(frozen=True)
class Row:
    """Bias and root mean squared error by estimate, of the share among the rows without a label."""

    share: str
    grader: str
    raw: tuple[float, float]
    rogan_gladen: tuple[float, float]
    ppi: tuple[float, float]
    humans: tuple[float, float] | None


PEOPLE = (0.001, 0.032)
TABLE = [
    Row("refusal", "gpt-4o-2024-08-06|templ-6", (-0.002, 0.003), (0.001, 0.008), (0.0, 0.008), PEOPLE),
    Row("refusal", "gpt-4o-mini-2024-07-18|templ-1", (-0.044, 0.045), (0.003, 0.031), (0.0, 0.021), PEOPLE),
    Row("refusal", "Llama-3.1-8B-Instruct|templ-2", (-0.070, 0.071), (0.007, 0.051), (-0.001, 0.025), PEOPLE),
    Row("refusal", "gemma-2-27b-it|templ-1", (-0.092, 0.093), (0.024, 0.106), (-0.001, 0.028), PEOPLE),
    Row("3", "gpt-4o-mini-2024-07-18|templ-6", (-0.081, 0.081), (0.006, 0.058), (-0.002, 0.031), None),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.share}, {row.grader}")
def test_every_row_of_the_table(row: Row) -> None:
    label, verdict = of_the_grader(row.share, row.grader)
    rng = np.random.default_rng(150350)
    errors: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(SPLITS):
        order = rng.permutation(label.size)
        mine, others = order[:LABELLED], order[LABELLED:]
        run = labelled_run(label[mine], verdict[mine], verdict[others])
        full, people = ppi_mean(run, tuning=1.0), humans_alone(run)
        of_rest, of_all = float(label[others].mean()), float(label.mean())
        for name, estimate, truth in (
            ("raw", raw(run), of_rest),
            ("rogan_gladen", rogan_gladen(run), of_rest),
            ("ppi", full, of_rest),
            ("humans", people, of_rest),
            # The best lambda is the best for the whole run.
            ("tuned", ppi_mean(run), of_all),
            ("ppi of all", full, of_all),
            ("humans of all", people, of_all),
        ):
            if estimate.value is not None:  # 150 labels may hold no answer that a weak grader got right
                errors[name].append(estimate.value - truth)
    assert len(errors["rogan_gladen"]) >= 0.98 * SPLITS
    for name in ("raw", "rogan_gladen", "ppi", "humans"):
        if (expected := getattr(row, name)) is not None:
            within_monte_carlo_error(np.array(errors[name]), *expected)
    assert rmse(errors["tuned"]) <= 1.03 * min(rmse(errors["ppi of all"]), rmse(errors["humans of all"]))
    assert rmse(errors["tuned"]) < rmse(errors["humans of all"])


def rmse(errors: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def within_monte_carlo_error(errors: Floats, bias: float, rmse: float) -> None:
    """Both figures have been computed from 500 splits of their own, so their difference has twice the variance."""
    apart = 3 * np.sqrt(2)
    spread = float(errors.std()) / np.sqrt(errors.size)
    assert abs(errors.mean() - bias) <= ROUNDING + apart * spread
    draws = np.random.default_rng(1).integers(errors.size, size=(1000, errors.size))
    of_rmse = float(np.sqrt(np.mean(errors[draws] ** 2, axis=1)).std())
    assert abs(np.sqrt(np.mean(errors**2)) - rmse) <= ROUNDING + apart * of_rmse


def of_the_grader(share: str, grader: str) -> tuple[Floats, Floats]:
    """Return people's labels and the grader's verdicts, 0 and 1, over the 500 texts."""
    table = pl.read_csv(shared("gold/issuebench/judge_labels.csv"), infer_schema=False)
    label, verdict = ((table[name] == share).cast(pl.Float64).to_numpy() for name in ("human_final", grader))
    assert label.size == SPLITS
    return label, verdict
