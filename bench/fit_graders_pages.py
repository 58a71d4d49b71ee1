"""The pages that ``bench.fit_graders`` writes."""

from collections.abc import Sequence
from typing import Protocol

from evenhand.graders.fitted.grader_card import FittedCard, HeldOut
from evenhand.statistics.estimate import Estimate

SECOND_TITLE = "# The second round"
THIRD_TITLE = "# The third round: questions to an embedded model"
FOURTH_TITLE = "# The fourth round: texts written to take a side or none"


class TriedRecipe(Protocol):
    """What was tried."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def sources(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def practice(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def eligible(self) -> str: ...  # noqa: D102


class TriedLine(Protocol):
    """What it came to."""

    @property
    def task(self) -> str: ...  # noqa: D102
    @property
    def recipe(self) -> TriedRecipe: ...  # noqa: D102
    @property
    def figures(self) -> HeldOut: ...  # noqa: D102
    @property
    def loss(self) -> float: ...  # noqa: D102


class ComparedLine(TriedLine, Protocol):
    """What it came to, beside another choice on the same rows."""

    @property
    def asked(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def auc_gain(self) -> Estimate | None: ...  # noqa: D102
    @property
    def kappa_gain(self) -> Estimate | None: ...  # noqa: D102


class QuestionLine(Protocol):
    """How well a question ranks by itself."""

    @property
    def question(self) -> str: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def positive(self) -> int: ...  # noqa: D102
    @property
    def auc(self) -> Estimate: ...  # noqa: D102


class TestedFigure(Protocol):
    """A figure, and what it was meant to reach."""

    @property
    def figure(self) -> HeldOut: ...  # noqa: D102
    @property
    def aim(self) -> str: ...  # noqa: D102


def experiments_page(lines: Sequence[TriedLine], remarks: str) -> str:
    """Return docs/validation/experiments.md."""
    parts = [
        "# What was tried for the fitted graders\n",
        "Made by `python -m bench.fit_graders GOLD_FOLDER experiments`; not edited by hand. Every line rests on the"
        " fitting halves alone. The penalty and the probabilities of each fit were chosen on groups left out of it; the"
        " threshold is 0.5. The rows that a line is about took no part in its fit; where makers of models are left out,"
        " other makers' answers to the same requests did. The last column is the mean log loss.",
        remarks,
        *_tables(lines),
    ]
    return "\n".join(parts) + "\n"


def second_round_part(lines: Sequence[TriedLine], remarks: str) -> str:
    """Return what the page says of the second round."""
    return "\n".join([SECOND_TITLE, remarks, *_tables(lines)]) + "\n"


def third_round_part(lines: Sequence[ComparedLine], alone: Sequence[QuestionLine], model: str, remarks: str) -> str:
    """Return what the page says of the third round."""
    parts = [
        THIRD_TITLE,
        "\nMade by `python -m bench.question_features GOLD_FOLDER REPLIES_FOLDER`, which puts the questions to"
        f" `{model}`, and `python -m bench.fit_graders GOLD_FOLDER questions --replies REPLIES_FOLDER`. A table is of"
        " the rows about which every question named above it was answered, by lot as far as time went; answers that"
        " begin with the same 200 characters share one, so short stock phrases are more of them. The fits are those of"
        " the second round; what has no answer, practice among it, has the mean for one. Gains are over the first line"
        " of a table, on the same rows, with 95% intervals of the paired differences over requests or issues.",
        remarks,
        "\n## Each question by itself\n\n| question | rows | n (positive) | AUC of its log odds |",
        "| --- | --- | --- | --- |",
    ]
    parts += [f"| {one.question} | {one.source} | {one.auc.n} ({one.positive}) | {_figure(one.auc)} |" for one in alone]
    for task in dict.fromkeys(line.task for line in lines):
        mine = [line for line in lines if line.task == task]
        parts.append(f"\n## {task}, with questions\n\nAsked: {'; '.join(mine[0].asked)}.\n")
        parts.append("| features | n (positive) | AUC | kappa | loss | gain in AUC | gain in kappa |")
        parts.append("| --- | --- | --- | --- | --- | --- | --- |")
        for line in mine:
            gains = " | ".join("" if gain is None else _figure(gain) for gain in (line.auc_gain, line.kappa_gain))
            parts.append(
                f"| {line.recipe.name} | {line.figures.n} ({line.figures.positive}) | {_figure(line.figures.auc)} |"
                f" {_figure(line.figures.kappa)} | {line.loss:.3f} | {gains} |"
            )
    return "\n".join(parts) + "\n"


def fourth_round_part(lines: Sequence[TriedLine], remarks: str) -> str:
    """Return what the page says of the fourth round."""
    return "\n".join([FOURTH_TITLE, remarks, *_tables(lines)]) + "\n"


def _tables(lines: Sequence[TriedLine]) -> list[str]:
    parts: list[str] = []
    for task in dict.fromkeys(line.task for line in lines):
        parts.append(f"\n## {task}\n")
        parts.append("| features | fitted to | n | AUC | kappa | loss |\n| --- | --- | --- | --- | --- | --- |")
        barred = []
        for line in (line for line in lines if line.task == task):
            mark = "" if not line.recipe.eligible else " *"
            if line.recipe.eligible:
                barred.append(line.recipe.eligible)
            parts.append(
                f"| {line.recipe.name}{mark} | {_sources(line.recipe)} | {line.figures.n} |"
                f" {_figure(line.figures.auc)} | {_figure(line.figures.kappa)} | {line.loss:.3f} |"
            )
        parts += [f"\n\\* Does not ship, whatever its figures: it {why}." for why in dict.fromkeys(barred)]
    return parts


def _sources(recipe: TriedRecipe) -> str:
    return ", ".join(f"({name})" if name in recipe.practice else name for name in recipe.sources)


def figures_table(figures: Sequence[HeldOut], aims: Sequence[str]) -> str:
    """Return a table of figures on data that a fit had not seen, the aim of each in the last column."""
    lines = [
        "| labels | what was held out | n (positive) | AUC | kappa | aim |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for figure, aim in zip(figures, aims, strict=True):
        lines.append(
            f"| {figure.data} | {figure.held_out} | {figure.n} ({figure.positive}) | {_figure(figure.auc)} |"
            f" {_figure(figure.kappa)} | {aim} |"
        )
    return "\n".join(lines)


def sources_table(cards: Sequence[FittedCard]) -> str:
    """Return a table of what the graders were fitted to."""
    lines = ["| grader | labels | rows | licence | source | SHA-256 |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [
        f"| `fitted:{card.name}` | {source.name} | {source.fitted} | {source.licence} | {source.source} |"
        f" {source.sha256[:16]}... |"
        for card in cards
        for source in card.sources
    ]
    return "\n".join(lines)


def _figure(figure: Estimate) -> str:
    if figure.value is None:
        return "-"
    if figure.low is None or figure.high is None:
        return f"{figure.value:.3f}"
    return f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]"


def embedded_page(
    refusal: tuple[FittedCard, Sequence[TestedFigure], Sequence[str]],
    hedging: tuple[FittedCard, Sequence[TestedFigure], Sequence[str]],
    people: str,
    remarks: str,
) -> str:
    """Return docs/validation/embedded.md."""
    parts = [
        "# How right the graders are that come with the package\n",
        "Made by `python -m bench.fit_graders GOLD_FOLDER`; not edited by hand. Weights, probabilities and thresholds"
        " come from the fitting halves of the labels, the figures below from the testing halves. Intervals are 95%,"
        " over requests or issues. `fitted:refusal` gives the probability that an answer refuses, `fitted:hedging` the"
        " probability that it gives both sides and takes none.\n",
        remarks,
    ]
    for title, (card, found, notes) in (("Refusal", refusal), ("Hedging", hedging)):
        parts.append(f"\n## {title}: `fitted:{card.name}`\n")
        parts.append(figures_table([each.figure for each in found], [each.aim for each in found]))
        parts.append(
            f"\nFitted to {card.rows} answers; penalty {card.penalty}, threshold {card.threshold:.3f}; weights"
            f" {card.weights_sha256[:16]}...; features: {'; '.join(block.name for block in card.blocks)}."
        )
        parts += [f"\n{note}" for note in notes]
    parts += ["\n## People, for scale\n", people]
    parts += ["\n## What the graders were fitted to\n", sources_table([refusal[0], hedging[0]])]
    return "\n".join(parts) + "\n"
