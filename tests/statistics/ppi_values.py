# /// script
# requires-python = ">=3.11"
# dependencies = ["ppi-python==0.2.3"]
# ///
"""Writes ppi_values.json: what ppi-python makes of small samples, for test_correction.py to hold ours to.

ppi-python brings pandas, statsmodels and numba, which nothing else here needs. To write the file again, let
``uv run tests/statistics/ppi_values.py`` make an environment of its own.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


def sample(rng: np.random.Generator, labelled: int, rest: int, *, binary: bool) -> dict[str, list[float]]:
    """Return labels, and a grader's values of labelled rows and the rest."""
    truth = (rng.random(labelled + rest) < 0.3).astype(float)
    values = np.clip(0.25 + 0.5 * truth + rng.normal(0, 0.2, truth.size), 0, 1).round(3)
    if binary:
        values = (values > 0.5).astype(float)
    return {
        "labels": truth[:labelled].tolist(),
        "labelled": values[:labelled].tolist(),
        "rest": values[labelled:].tolist(),
    }


def main() -> None:
    """Write the file."""
    ppi: Any = importlib.import_module("ppi_py")
    rng = np.random.default_rng(20231102)
    found = []
    for labelled, rest, binary in [(40, 60, False), (60, 240, True), (25, 25, False), (150, 350, True)]:
        rows = sample(rng, labelled, rest, binary=binary)
        label, value, others = (np.array(rows[name]) for name in ("labels", "labelled", "rest"))
        figures = {}
        for name, strength in (("tuned", None), ("1", 1), ("0.5", 0.5), ("0", 0)):
            point = ppi.ppi_mean_pointestimate(label, value, others, lam=strength)
            low, high = ppi.ppi_mean_ci(label, value, others, alpha=0.05, lam=strength)
            figures[name] = [float(np.squeeze(number)) for number in (point, low, high)]
        found.append({**rows, "figures": figures})
    (HERE / "ppi_values.json").write_text(json.dumps(found) + "\n", "utf-8")


if __name__ == "__main__":
    main()
