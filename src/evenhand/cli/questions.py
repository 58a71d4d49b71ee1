"""``evenhand questions``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.markup import escape
from rich.table import Table

from evenhand.cli.audit_output import show_forecast
from evenhand.cli.completion import model_names, question_sets
from evenhand.cli.inspect_data import columns_of_options, reading_options
from evenhand.cli.json_output import json_option, print_json
from evenhand.cli.options import SEED, models_option
from evenhand.cli.terminal import terminal
from evenhand.cli.watching import watching, watching_options
from evenhand.instruments.near_duplicates import near_duplicates
from evenhand.instruments.questions import BUILTIN_QUESTIONS, Question, builtin_tags, questions_as_toml, read_questions
from evenhand.pairs.preferences import collected
from evenhand.studies.preference_source import open_preferences, source_record
from evenhand.studies.suggest_questions import (
    QUESTIONS_FILE,
    Suggestions,
    SuggestPlan,
    forecast_suggestions,
    suggest_questions,
)

_HELD_BACK = 10
"""How many lines of a kind are printed; suggestions.json has them all."""


@click.group("questions")
def questions_command() -> None:
    """What is asked about outputs: list the built-in questions, show a set, let a model suggest new ones."""


@questions_command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the built-in questions by tag. `builtin` is all of them, `builtin:TAG,TAG` those with any of the tags."""
    if as_json:
        print_json(
            {"name": BUILTIN_QUESTIONS, "questions": len(read_questions(BUILTIN_QUESTIONS)), "tags": builtin_tags()}
        )
        return
    click.echo(f"{BUILTIN_QUESTIONS:<28} {len(read_questions(BUILTIN_QUESTIONS)):>3} questions")
    for tag, count in builtin_tags().items():
        click.echo(f"{f'{BUILTIN_QUESTIONS}:{tag}':<28} {count:>3}")


@questions_command.command("show")
@click.argument("questions", default=BUILTIN_QUESTIONS, shell_complete=question_sets)
@click.option("--toml", "as_toml", is_flag=True, help="Print a TOML file, to edit and to give to --questions.")
@json_option
def show_command(questions: str, as_toml: bool, as_json: bool) -> None:
    """Show QUESTIONS (default: builtin) and say which ask nearly the same.

    QUESTIONS is builtin, builtin:TAG,TAG, or the path of a YAML, TOML, JSON or text file; a file that can't be used
    is told with its fault.
    """
    if as_toml and as_json:
        raise click.UsageError("Give one of --toml and --json.")
    found = read_questions(questions)
    if as_toml:
        click.echo(questions_as_toml(found), nl=False)
    elif as_json:
        print_json([question.as_json() for question in found])
    else:
        _show(found)
    for alike in near_duplicates([question.text for question in found]):
        click.echo(
            f"{found[alike.first].id} and {found[alike.second].id} ask nearly the same ({alike.similarity:.2f}).",
            err=True,
        )


@questions_command.command("suggest")
@click.argument("pairs")
@click.option(
    "--model",
    required=True,
    metavar="MODEL",
    shell_complete=model_names,
    help="The model to ask; see `evenhand models list`.",
)
@click.option("--number", type=int, default=12, show_default=True, metavar="N", help="How many questions are wanted.")
@click.option("--sample", type=int, default=20, show_default=True, metavar="N", help="How many pairs the model sees.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the sample, the order and the model.")
@reading_options
@click.option(
    "--known",
    default=BUILTIN_QUESTIONS,
    show_default=True,
    metavar="Q",
    shell_complete=question_sets,
    help="Questions that need not be suggested again: builtin, builtin:TAG,TAG, or the path of a file.",
)
@click.option("--temperature", type=float, default=0.0, show_default=True, help="Of the model's sampling.")
@click.option("--max-tokens", type=int, default=1024, show_default=True, help="Longest reply, in tokens.")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FOLDER", help="The run folder.")
@click.option("--dry-run", is_flag=True, help="Say what it would take (calls, tokens, cost, hours), and stop.")
@models_option
@json_option
@watching_options
def suggest_command(
    pairs: str,
    known: str,
    *,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
    log: Path | None,
    **options: Any,  # noqa: ANN401  (what click hands over)
) -> None:
    """Let a model suggest questions from a sample of the preference pairs in PAIRS.

    The model sees each input with its two outputs in varied order and is not told which was chosen. Suggestions
    that ask nearly the same as a known question, or as one another, are dropped and listed. The run folder gets
    questions.toml (to edit, and to give to --questions), suggestions.json (all that was suggested, and why it was
    left away) and ledger.sqlite.

    \b
    Example:
      evenhand questions suggest pairs.jsonl --model gguf:model.gguf --number 12 --out runs/questions
    """
    columns = columns_of_options(options)
    name = options.pop("format")
    plan = SuggestPlan(**options)
    known_questions = read_questions(known)
    found = collected(open_preferences(pairs, format=name, columns=columns))
    source = source_record(pairs, found.format)
    with watching(quiet=quiet, log=log) as watch:
        watch.say(f"{pairs}: {len(found.pairs)} preference pairs, read as {found.format}")
        if dry_run:
            show_forecast([forecast_suggestions(found.pairs, known_questions, plan, watch)], as_json=as_json)
            return
        suggestions = suggest_questions(found.pairs, known_questions, plan, watch, source)
    if as_json:
        print_json(suggestions.as_json() | {"out": str(plan.out / QUESTIONS_FILE)})
    else:
        _show(suggestions.questions)
    _tell(suggestions, plan.out)


def _show(questions: Sequence[Question]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for header, width in (("id", 22), ("better", None), ("tags", 12), ("question", None)):
        table.add_column(header, overflow="fold", max_width=width)
    for question in questions:
        table.add_row(*map(escape, (question.id, question.direction or "-", ", ".join(question.tags), question.text)))
    terminal().print(table)


def _tell(suggestions: Suggestions, out: Path) -> None:
    groups = {
        "near-duplicates dropped": [
            f"{one.text} (like: {one.like}, {one.similarity:.2f})" for one in suggestions.dropped
        ],
        "more than were wanted": list(suggestions.surplus),
        "lines that are no usable question": [f"{one.line} ({one.reason})" for one in suggestions.unusable],
        "requests without a reply": list(suggestions.failures),
    }
    console = terminal(stderr=True, soft_wrap=True)
    for name, lines in groups.items():
        if lines:
            console.print(f"{len(lines)} {name}:")
        for line in lines[:_HELD_BACK]:
            console.print(f"  {line}", markup=False)
        if len(lines) > _HELD_BACK:
            console.print(f"  and {len(lines) - _HELD_BACK} more in {out / 'suggestions.json'}", markup=False)
    if suggestions.cut:
        console.print(
            f"Replies cut off at the token limit: {suggestions.cut}; a larger --max-tokens gets more of them."
        )
    console.print(
        f"{len(suggestions.questions)} questions from {suggestions.shown} pairs are in {out / QUESTIONS_FILE}:"
        f" edit it and give it to --questions. {suggestions.calls} calls of the model.",
        markup=False,
        style="dim",
    )
