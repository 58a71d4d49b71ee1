"""Put the short questions of fitted graders to an embedded model, on the fitting halves of the gold alone.

    python -m bench.question_features GOLD_FOLDER REPLIES_FOLDER [MINUTES]

Question by question, so that the worked examples stay in the prefix cache. REPLIES_FOLDER keeps every reply: what was
asked is not asked again, and the run may be stopped at any time. ``python -m bench.fit_graders`` makes tables of what
was asked so far. On two quiet cores all of it takes a little more than an hour.
"""

import asyncio
import hashlib
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from bench.fit_graders_recipes import BOTH_SIDES, BUILTIN, ISSUES, LEVELS, PCT, STANCES, XSTEST
from evenhand.execution import Answered, Ledger, carry_out
from evenhand.graders.fitted.questions import QUESTIONS, EmbeddedQuestion
from evenhand.models import Model, ModelRole, open_model
from evenhand.pairs.gold import GoldMeasure, read_gold
from evenhand.studies.fit_grader import Example, examples_of
from evenhand.studies.fit_questions import FitAnswers
from evenhand.studies.fitted_questions import ask_questions, weights_sha256
from evenhand.studies.from_ledger import LedgerCarrier

MODEL = "qwen2.5-coder-0.5b"
SETS = ("xstest", "issuebench", "pct", "builtin")
_TURNS = (
    ("hedging", ("is an argument",), (STANCES,)),
    ("refusal", ("refuses",), (XSTEST, ISSUES)),
    ("hedging", ("takes a side", "for, against or both", "both sides"), (STANCES,)),
    ("refusal", ("objects", "refuses, request shown", "does what was asked"), (XSTEST, ISSUES)),
    ("refusal", tuple(question.name for question in QUESTIONS["refusal"]), (PCT, BUILTIN)),
    ("hedging", tuple(question.name for question in QUESTIONS["hedging"]), (BOTH_SIDES, LEVELS)),
)
"""What is asked first, should time be short: what tells most of whether it pays."""
FEWEST = 60
"""Rows with an answer, below which a question takes part in nothing."""
_AT_ONCE = 50
"""Rows that are asked before the clock is looked at."""


def asked_rows(examples: Sequence[Example], *, clear: bool) -> list[Example]:
    """Return rows of the fitting halves by lot, those whose label is one or the other, or those in between."""
    found = [
        each
        for each in examples
        if each.half == "fit" and not np.isnan(each.target) and (each.target in (0.0, 1.0)) == clear
    ]
    return sorted(found, key=lambda each: hashlib.sha256(f"asked {each.item_id}".encode()).hexdigest())


def main(folder: Path, kept: Path, minutes: float) -> None:
    """Ask."""
    kept.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + 60 * minutes
    sets = [each for name in SETS for each in read_gold(name, folder=None if name == "builtin" else folder)]
    examples = {measure: examples_of(sets, GoldMeasure(measure)) for measure in QUESTIONS}
    model = open_model(MODEL, ModelRole.GRADER)
    with Ledger(kept / "ledger.sqlite") as ledger:
        for question, part, told in _parts(examples):
            if time.monotonic() > until:
                break
            print(f"{told}, {asyncio.run(_ask(question, part, model, ledger))} new", flush=True)
    model.close()


def _parts(examples: dict[str, list[Example]]) -> Iterator[tuple[EmbeddedQuestion, list[Example], str]]:
    for clear, (measure, names, sources) in product((True, False), _TURNS):
        named = {question.name: question for question in QUESTIONS[measure]}
        chosen = [row for row in asked_rows(examples[measure], clear=clear) if row.source in sources]
        for name, start in product(names, range(0, len(chosen), _AT_ONCE)):
            part = chosen[start : start + _AT_ONCE]
            told = f"{measure}, {name}, {' and '.join(sources)}: {start + len(part)} of {len(chosen)}"
            yield named[name], part, told


def stored_answers(examples: Sequence[Example], measure: str, kept: Path) -> FitAnswers:
    """Return what is stored of the questions about the fitting halves; nobody is asked.

    Questions with fewer than ``FEWEST`` answers are left away.
    """
    model, questions = open_model(MODEL, ModelRole.GRADER), QUESTIONS[measure]
    rows = np.array([place for place, each in enumerate(examples) if each.half == "fit"])
    units = [(examples[row].request, examples[row].response) for row in rows]
    with Ledger.peek(kept / "ledger.sqlite") as ledger:
        found = asyncio.run(ask_questions(questions, units, model, LedgerCarrier(ledger), "what is stored"))
    model.close()
    values = np.full((len(examples), len(questions)), np.nan)
    values[rows] = found.values
    asked = np.flatnonzero((~np.isnan(values)).sum(axis=0) >= FEWEST)
    return FitAnswers(MODEL, weights_sha256(model), tuple(questions[place] for place in asked), values[:, asked])


async def _ask(question: EmbeddedQuestion, rows: Sequence[Example], model: Model, ledger: Ledger) -> int:
    requests = (question.request(row.request, row.response) for row in rows)

    def read(answer: Answered) -> int:
        return int(answer.called)

    return sum(await carry_out(requests, model, ledger, read, stage=question.name, total=len(rows)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else np.inf)
