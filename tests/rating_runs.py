"""Run folders of ratings whose truth is known."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from conftest import shared
from evenhand.studies.rate.files import PAIRS, RATINGS


def rating(pair: int, chosen: float | None, rejected: float | None, **changes: Any) -> dict[str, Any]:
    """Return a row of ratings; -1 is abstained and None unparseable."""
    row = {
        **dict.fromkeys(RATINGS),
        "grader": "g",
        "protocol": "blind",
        "question": "q0",
        "pair_id": f"p{pair}",
        "input_id": f"i{pair}",
        "order": "chosen_first",
        "repeat": 0,
    }
    for name, value in (("chosen", chosen), ("rejected", rejected)):
        row[name] = None if value is None or value < 0 else float(value)
        row[f"{name}_state"] = "unparseable" if value is None else "abstained" if value < 0 else "ok"
    return {**row, **changes}


def pair_row(pair: int, **changes: Any) -> dict[str, Any]:
    row = {**dict.fromkeys(PAIRS), "pair_id": f"p{pair}", "input_id": f"i{pair}", "tie": False}
    return {**row, "chosen_length": 100, "rejected_length": 100, "input": "", "chosen": "", "rejected": "", **changes}


def write_run(
    folder: Path,
    ratings: Sequence[dict[str, Any]],
    pairs: Sequence[dict[str, Any]],
    questions: Sequence[dict[str, Any]] = (),
) -> Path:
    """Write a run folder; questions that are not given are made of the ratings."""
    folder.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(list(ratings), schema=dict(RATINGS)).write_parquet(folder / "ratings.parquet")
    pl.DataFrame(list(pairs), schema=dict(PAIRS)).write_parquet(folder / "pairs.parquet")
    names = dict.fromkeys(row["question"] for row in ratings)
    found = list(questions) or [{"id": name, "text": f"Is it {name}?", "tags": [], "direction": None} for name in names]
    (folder / "questions.json").write_text(json.dumps(found), "utf-8")
    return folder


@dataclass(frozen=True)
class World:
    """Pairs whose preference follows from known weights."""

    qualities: npt.NDArray[np.float64]
    """Shape (pairs, questions, 2): what the chosen and the rejected output deserve, 0 to 10."""
    inputs: npt.NDArray[np.int64]

    def pairs(self, **changes: Any) -> list[dict[str, Any]]:
        return [pair_row(n, input_id=f"i{i}", **changes) for n, i in enumerate(self.inputs.tolist())]

    def ratings(
        self, rate: Callable[[int, int, str], tuple[float, float]], protocol: str = "blind", orders: Sequence[str] = ()
    ) -> Iterator[dict[str, Any]]:
        """Yield a row a pair, question and order, with what ``rate(pair, question, order)`` gives the two outputs."""
        both = orders or (("chosen_first", "rejected_first") if protocol == "blind" else ("chosen_first",))
        for pair, name in enumerate(self.inputs.tolist()):
            for question in range(self.qualities.shape[1]):
                for order in both:
                    yield rating(
                        pair,
                        *rate(pair, question, order),
                        question=f"q{question}",
                        input_id=f"i{name}",
                        order=order,
                        protocol=protocol,
                    )


def world(weights: Sequence[float], pairs: int, *, seed: int = 0, pairs_an_input: int = 1) -> World:
    """Draw outputs and let people choose with log odds of weights x difference of qualities."""
    rng = np.random.default_rng(seed)
    qualities = rng.uniform(0, 10, (pairs, len(weights), 2))
    odds = (qualities[:, :, 0] - qualities[:, :, 1]) @ np.asarray(weights)
    swap = rng.random(pairs) >= 1 / (1 + np.exp(-odds))
    qualities[swap] = qualities[swap][:, :, ::-1]
    return World(qualities, np.arange(pairs) // pairs_an_input)


def llmbar_rows() -> list[dict[str, Any]]:
    path = shared("preferences/llmbar/rating_matrix.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def llmbar_run(folder: Path) -> Path:
    """Seven graders' prompts as seven questions; a pair with an empty rating has no difference."""
    ratings: list[dict[str, Any]] = []
    pairs: dict[str, dict[str, Any]] = {}
    for row in llmbar_rows():
        name = f"{row['subset']} {row['row']}"
        found = (row["raw_1"], row["raw_2"]) if row["label"] == 1 else (row["raw_2"], row["raw_1"])
        values = [float(text) for text in found] if all(found) else [0.0, 0.0]
        ratings.append(
            rating(
                0,
                *values,
                pair_id=name,
                input_id=name,
                question=f"{row['grader']} {row['prompt']}",
                grader="published",
                protocol="single",
                order="single",
            )
        )
        pairs.setdefault(name, pair_row(0, pair_id=name, input_id=name))
    return write_run(folder, ratings, list(pairs.values()))
