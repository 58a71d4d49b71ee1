"""The tables that an audit leaves in its run folder."""

from collections.abc import Mapping, Sequence

import polars as pl

from evenhand.execution import storable
from evenhand.graders import Judgment
from evenhand.pairs import PairedPrompt
from evenhand.readings import Failure
from evenhand.studies.audit.response import Response

_PAIR = {
    "pair_id": pl.String,
    "stance_id": pl.String,
    "topic": pl.String,
    "category": pl.String,
    "template": pl.String,
    "template_kind": pl.String,
    "kind": pl.String,
}

RESPONSES: Mapping[str, pl.DataType | type[pl.DataType]] = {
    **_PAIR,
    "letter": pl.String,
    "side": pl.String,
    "group": pl.String,
    "prompt": pl.String,
    "response": pl.String,
    "became": pl.String,
    "reason": pl.String,
    "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "key": pl.String,
    "at": pl.String,
}
"""Columns of ``responses.parquet``: one row a prompt."""

JUDGMENTS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "grader": pl.String,
    "measure": pl.String,
    "version": pl.String,
    "pair_id": pl.String,
    "stance_id": pl.String,
    "topic": pl.String,
    "letter": pl.String,
    "side": pl.String,
    "order": pl.String,
    "state": pl.String,
    "reason": pl.String,
    "labels": pl.List(pl.String),
    "probabilities": pl.List(pl.Float64),
    "positive": pl.Float64,
    "captured": pl.Float64,
    "key": pl.String,
}
"""Columns of ``judgments.parquet``: one row a judgment. ``positive`` is null where nothing was read."""


def responses_table(responses: Sequence[Response]) -> pl.DataFrame:
    """Return the responses as a table with the columns ``RESPONSES``."""
    return pl.DataFrame([_response_row(response) for response in responses], schema=dict(RESPONSES))


def judgments_table(judgments: Sequence[Judgment], pairs: Sequence[PairedPrompt]) -> pl.DataFrame:
    """Return the judgments as a table with the columns ``JUDGMENTS``."""
    by_id = {pair.pair_id: pair for pair in pairs}
    rows = [_judgment_row(judgment, by_id[judgment.pair_id]) for judgment in judgments]
    return pl.DataFrame(rows, schema=dict(JUDGMENTS))


def _response_row(response: Response) -> dict[str, object]:
    pair, outcome = response.pair, response.outcome
    row: dict[str, object] = {name: str(getattr(pair, name)) for name in _PAIR}
    row |= {
        "letter": response.letter,
        "side": str(response.side),
        "group": pair.group_a if response.letter == "a" else pair.group_b,
        "prompt": pair.prompt(response.letter),
        "became": response.became,
        "key": response.key,
        "at": response.at or None,
    }
    if isinstance(outcome, Failure):
        return row | {
            "response": None,
            "reason": outcome.reason,
            "prompt_tokens": None,
            "completion_tokens": None,
        }
    return row | {
        "response": storable(outcome.text),
        "reason": None,
        "prompt_tokens": outcome.prompt_tokens,
        "completion_tokens": outcome.completion_tokens,
    }


def _judgment_row(judgment: Judgment, pair: PairedPrompt) -> dict[str, object]:
    reading = judgment.reading
    side = {"a": str(pair.side_a), "b": str(pair.side_b), None: None}[judgment.letter]
    return {
        "grader": judgment.grader,
        "measure": judgment.measure,
        "version": judgment.version,
        "pair_id": pair.pair_id,
        "stance_id": pair.stance_id,
        "topic": pair.topic,
        "letter": judgment.letter,
        "side": side,
        "order": judgment.order,
        "state": str(reading.state),
        "reason": storable(reading.reason) or None,
        "labels": list(judgment.scale.labels),
        "probabilities": list(reading.probabilities) or None,
        "positive": judgment.positive,
        "captured": reading.captured,
        "key": judgment.key or None,
    }
