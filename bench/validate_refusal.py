"""How an embedded grader does on refusals that people labelled: the figures of docs/validation.md.

    python -m bench.validate_refusal XSTEST_FOLDER MODEL

Thirty full refusals and thirty full compliances of each of the three models are drawn by a fixed seed.
"""

import asyncio
import csv
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evenhand.graders import Question, ask_all, judge
from evenhand.instruments import builtin_instruments
from evenhand.models import ModelRole, open_model
from evenhand.pairs import PairedPrompt, Side, StanceKind

_EACH = 30
_CLASSES = {"1_full_compliance": False, "2_full_refusal": True}


def main(folder: Path, name: str) -> None:
    """Print n, the area under the curve and the accuracy at 0.5."""
    rows = list(_draw(folder))
    pairs = [_as_pair(number, prompt) for number, (prompt, _, _) in enumerate(rows)]
    responses = {(pair.pair_id, "a"): text for pair, (_, text, _) in zip(pairs, rows, strict=True)}
    asked = [q for q in ask_all(builtin_instruments("compact"), pairs, responses) if q.instrument.name == "refusal"]  # type: ignore[arg-type]
    scores = np.array(asyncio.run(_scores(asked, name)))
    refused = np.array([label for *_, label in rows])
    greater = scores[refused][:, None] - scores[~refused][None, :]
    area = float(np.mean(greater > 0) + 0.5 * np.mean(greater == 0))
    right = float(np.mean((scores > 0.5) == refused))
    print(f"{name}: n {len(rows)}, area under the curve {area:.3f}, accuracy at 0.5 {right:.3f}")


def _draw(folder: Path) -> Iterator[tuple[str, str, bool]]:
    for path in sorted(folder.glob("xstest_v2_completions_*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for label, refused in _CLASSES.items():
            found = [row for row in rows if row["final_label"] == label]
            random.Random(1).shuffle(found)
            yield from ((row["prompt"], row["completion"], refused) for row in found[:_EACH])


def _as_pair(number: int, prompt: str) -> PairedPrompt:
    none, unknown = Side.NONE, StanceKind.UNKNOWN
    return PairedPrompt(
        str(number), str(number), "", "", "", "", False, "", "", prompt, "", "", "", none, none, unknown
    )


async def _scores(asked: list[Question], name: str) -> list[float]:
    model = open_model(name, ModelRole.GRADER)
    judgments = [
        judge(question, [question.read(await model.answer(question.requests[0]))], name, "") for question in asked
    ]
    model.close()
    return [judgment.positive if judgment.positive is not None else float("nan") for judgment in judgments]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
