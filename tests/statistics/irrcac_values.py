# /// script
# requires-python = ">=3.11"
# dependencies = ["irrCAC==0.4.4"]
# ///
"""Writes irrcac_values.json: what irrCAC makes of tables and ratings, for test_agreement.py to hold ours to.

irrCAC asks for SciPy 1.12, and so for NumPy 1, and can't live in the environment of the tests. To write the file
again, let ``uv run tests/statistics/irrcac_values.py`` make an environment of its own.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
NAMED_TABLES = {
    "two graders on even-handedness": [[1225, 27], [36, 41]],
    "perfect": [[7, 0], [0, 5]],
    "every item different": [[0, 4], [9, 0]],
    "prevalence paradox": [[440, 0], [59, 1]],
    "abstractors of Gwet's handbook": [[13, 0, 0], [0, 20, 7], [0, 4, 56]],
}
# Four graders, twelve units (Krippendorff 2004, figure 11.3), 0 where missing; the unit with one rating is left out.
FOUR_GRADERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1],
]


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(1)
    tables = dict(NAMED_TABLES)
    for k in range(2, 7):
        tables[f"random, {k} labels"] = (rng.integers(0, 20, (k, k)) + np.diag(rng.integers(0, 60, k))).tolist()
    ratings = {"four graders": FOUR_GRADERS}
    for graders, k in ((2, 3), (3, 2), (4, 5), (5, 4)):
        truth = rng.integers(1, k + 1, 60)
        drawn = np.where(rng.random((graders, 60)) < 0.6, truth, rng.integers(1, k + 1, (graders, 60)))
        drawn[rng.random((graders, 60)) < 0.2] = 0
        ratings[f"random, {graders} graders, {k} labels"] = drawn[:, (drawn > 0).sum(axis=0) >= 2].tolist()
    found = {
        "tables": {name: {"table": table, **of_table(table)} for name, table in tables.items()},
        "ratings": {name: {"ratings": rows, **of_ratings(rows)} for name, rows in ratings.items()},
    }
    kinds = (
        f'"{kind}": {{\n'
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(case)}" for name, case in cases.items())
        + "\n}"
        for kind, cases in found.items()
    )
    (HERE / "irrcac_values.json").write_text("{\n" + ",\n".join(kinds) + "\n}\n", "utf-8")


def of_table(table: list[list[int]]) -> dict[str, float]:
    """Return the coefficients of a table of two graders."""
    names = [str(index) for index in range(len(table))]
    frame = importlib.import_module("pandas").DataFrame(table, index=names, columns=names)
    judged = importlib.import_module("irrCAC.table").CAC(frame)
    return {
        "observed": judged.gwet()["est"]["pa"],
        "kappa": _value(judged.cohen()),
        "ac1": _value(judged.gwet()),
        "alpha": _value(judged.krippendorff()),
    }


def of_ratings(rows: list[list[int]]) -> dict[str, float]:
    """Return the coefficients of ratings, one row a grader, 0 where missing."""
    values = np.array(rows, dtype=float).T
    values[values == 0] = np.nan
    judged = importlib.import_module("irrCAC.raw").CAC(importlib.import_module("pandas").DataFrame(values))
    return {
        "observed": judged.gwet()["est"]["pa"],
        "ac1": _value(judged.gwet()),
        "fleiss": _value(judged.fleiss()),
        "alpha": _value(judged.krippendorff()),
    }


def _value(found: dict[str, Any]) -> float:
    return float(found["est"]["coefficient_value"])


if __name__ == "__main__":
    main()
