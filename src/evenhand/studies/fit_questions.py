"""The questions of a fitted grader, put to an embedded model while the grader is fitted."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evenhand.execution import Ledger
from evenhand.graders.fitted.features import Floats
from evenhand.graders.fitted.question_part import SCALE, LogOdds, QuestionPart, Standard, weighed_questions
from evenhand.graders.fitted.questions import EmbeddedQuestion
from evenhand.graders.fitted.training import Mask
from evenhand.models import Model, ModelRole, open_model
from evenhand.studies.carrier import Carrier
from evenhand.studies.fitted_questions import ask_questions, weights_sha256
from evenhand.studies.side_by_side import side_by_side
from evenhand.studies.watch import StudyWatch


@dataclass(frozen=True, slots=True)
class FitAnswers:
    """What a model answered about the rows of a fit."""

    model: str
    model_sha256: str
    questions: tuple[EmbeddedQuestion, ...]
    values: Floats
    """Log odds, shape (rows, questions); NaN where nothing was asked, or nothing could be read."""

    @property
    def known(self) -> Mask:
        """Rows about which every question was answered."""
        return np.asarray(~np.isnan(self.values).any(axis=1))

    def part(self, standard: Standard, shares: Floats, scale: float = SCALE) -> QuestionPart:
        """Return what a card says of the questions, given the weights of their features."""
        return QuestionPart(self.model, self.model_sha256, weighed_questions(self.questions, standard, shares, scale))

    def of_rows(self, rows: npt.NDArray[np.int64]) -> LogOdds:
        """Return the answers about some rows."""
        return LogOdds(self.values[rows], (None,) * rows.size)


def ask_about(
    units: Sequence[tuple[str, str]],
    asked: Mask,
    questions: Sequence[EmbeddedQuestion],
    *,
    name: str,
    ledger_path: Path,
    watch: StudyWatch,
) -> FitAnswers:
    """Ask a model about some rows; what the ledger has a reply for is not asked again.

    Args:
        units: request and response of every row.
        asked: the rows to ask about.
        questions: what to ask.
        name: of an embedded model.
        ledger_path: where replies are kept.
        watch: told of everything.

    Raises:
        InputError: there is no such embedded model.
    """
    model = open_model(name, ModelRole.GRADER, watch)
    sha256 = weights_sha256(model)
    rows = np.flatnonzero(asked)
    with Ledger(ledger_path) as ledger:
        carry_out = Carrier(ledger, watch)

        async def answers(model: Model) -> LogOdds:
            chosen = [units[row] for row in rows.tolist()]
            return await ask_questions(questions, chosen, model, carry_out, f"{name} answers about labelled texts")

        (found,) = side_by_side([model], answers)
    values = np.full((len(units), len(questions)), np.nan)
    values[rows] = found.values
    return FitAnswers(name, sha256, tuple(questions), values)
