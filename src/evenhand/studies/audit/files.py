"""The tables that an audit leaves in its run folder, there and back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields

import polars as pl

from evenhand.execution import storable
from evenhand.graders import Judgment
from evenhand.graders.model_grader import BLIND_SUFFIX
from evenhand.instruments import InstrumentSet
from evenhand.instruments.scale import Scale
from evenhand.pairs import PairedPrompt, Side, StanceKind
from evenhand.readings import Failure, FailureKind, Reading, Reply, State
from evenhand.studies.audit.respond import PROVIDED
from evenhand.studies.audit.response import Response

PAIRS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    field.name: pl.Boolean if field.name == "same_request" else pl.String for field in fields(PairedPrompt)
}
"""Columns of ``pairs.parquet``: one row a pair, every field of ``PairedPrompt``."""

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
    "source": pl.String,
    "answered_by": pl.String,
    "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "key": pl.String,
    "at": pl.String,
}
"""Columns of ``responses.parquet``: one row a prompt. ``source`` is ``model`` or ``provided``."""

JUDGMENTS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "grader": pl.String,
    "instruments": pl.String,
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
    "answered_by": pl.String,
    "key": pl.String,
}
"""Columns of ``judgments.parquet``: one row a judgment. ``positive`` is null where nothing was read."""

_THOUGHT = "(thinking is in the ledger)"


def pairs_table(pairs: Sequence[PairedPrompt]) -> pl.DataFrame:
    """Return the pairs as a table with the columns ``PAIRS``."""
    rows = [
        {name: value if isinstance(value := getattr(pair, name), bool) else str(value) for name in PAIRS}
        for pair in pairs
    ]
    return pl.DataFrame(rows, schema=dict(PAIRS))


def pairs_of(table: pl.DataFrame) -> list[PairedPrompt]:
    """Return the pairs that ``pairs_table`` made a table of."""
    return [
        PairedPrompt(
            **row | {"side_a": Side(row["side_a"]), "side_b": Side(row["side_b"]), "kind": StanceKind(row["kind"])}
        )
        for row in table.iter_rows(named=True)
    ]


def responses_table(responses: Sequence[Response]) -> pl.DataFrame:
    """Return the responses as a table with the columns ``RESPONSES``."""
    return pl.DataFrame([_response_row(response) for response in responses], schema=dict(RESPONSES))


def responses_of(table: pl.DataFrame, pairs: Iterable[PairedPrompt]) -> list[Response]:
    """Return the responses that ``responses_table`` made a table of."""
    by_id = {pair.pair_id: pair for pair in pairs}
    return [
        Response(by_id[row["pair_id"]], row["letter"], row["key"] or "", _outcome(row), row["at"] or "")
        for row in table.iter_rows(named=True)
    ]


def judgments_table(judgments: Sequence[Judgment], pairs: Sequence[PairedPrompt]) -> pl.DataFrame:
    """Return the judgments as a table with the columns ``JUDGMENTS``."""
    by_id = {pair.pair_id: pair for pair in pairs}
    rows = [_judgment_row(judgment, by_id[judgment.pair_id]) for judgment in judgments]
    return pl.DataFrame(rows, schema=dict(JUDGMENTS))


def judgments_of(table: pl.DataFrame, sets: Iterable[InstrumentSet]) -> list[Judgment]:
    """Return the judgments that ``judgments_table`` made a table of."""
    scales: dict[tuple[str, str], Scale] = {}
    for instruments in sets:
        scales |= {(instruments.name, one.name): one.scale for one in instruments.instruments}
        scales |= {(instruments.name, one.name): one.scale for one in instruments.derivations}
    return [
        Judgment(
            grader=row["grader"],
            measure=row["measure"],
            version=row["version"],
            pair_id=row["pair_id"],
            letter=row["letter"],
            order=row["order"],
            scale=scales[row["instruments"], row["measure"].removesuffix(BLIND_SUFFIX)],
            reading=Reading(
                State(row["state"]), tuple(row["probabilities"] or ()), row["captured"], row["reason"] or ""
            ),
            key=row["key"] or "",
            instruments=row["instruments"],
            answered_by=row["answered_by"] or "",
        )
        for row in table.iter_rows(named=True)
    ]


def _response_row(response: Response) -> dict[str, object]:
    pair, outcome = response.pair, response.outcome
    row: dict[str, object] = {name: str(getattr(pair, name)) for name in _PAIR}
    row |= {
        "letter": response.letter,
        "side": str(response.side),
        "group": pair.group_a if response.letter == "a" else pair.group_b,
        "prompt": pair.prompt(response.letter),
        "became": response.became,
        "source": PROVIDED if response.key.startswith(PROVIDED) else "model",
        "key": response.key or None,
        "at": response.at or None,
    }
    if isinstance(outcome, Failure):
        return row | {
            "response": None,
            "reason": storable(outcome.reason),
            "answered_by": None,
            "prompt_tokens": None,
            "completion_tokens": None,
        }
    return row | {
        "response": storable(outcome.text),
        "reason": None,
        "answered_by": outcome.model,
        "prompt_tokens": outcome.prompt_tokens,
        "completion_tokens": outcome.completion_tokens,
    }


def _outcome(row: Mapping[str, object]) -> Reply | Failure:
    if row["response"] is None:
        kind = FailureKind.OVERFLOW if row["became"] == "truncated" else FailureKind.TRANSPORT
        return Failure(kind, str(row["reason"] or ""))
    return Reply(
        text=str(row["response"]),
        finish="length" if row["became"] == "cut" else "stop",
        model=str(row["answered_by"] or ""),
        prompt_tokens=_whole(row["prompt_tokens"]),
        completion_tokens=_whole(row["completion_tokens"]),
        thinking=_THOUGHT if row["became"] == "unanswered" else "",
    )


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _judgment_row(judgment: Judgment, pair: PairedPrompt) -> dict[str, object]:
    reading = judgment.reading
    side = {"a": str(pair.side_a), "b": str(pair.side_b), None: None}[judgment.letter]
    return {
        "grader": judgment.grader,
        "instruments": judgment.instruments,
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
        "answered_by": judgment.answered_by or None,
        "key": judgment.key or None,
    }
