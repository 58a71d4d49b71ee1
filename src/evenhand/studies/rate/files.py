"""The tables that a rating run leaves in its run folder."""

from collections.abc import Mapping, Sequence

import polars as pl

from evenhand.execution import storable
from evenhand.graders.rating import PairRating
from evenhand.pairs.preference_pair import PreferencePair

PAIRS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "pair_id": pl.String,
    "input_id": pl.String,
    "tie": pl.Boolean,
    "strength": pl.Float64,
    "chosen_length": pl.Int64,
    "rejected_length": pl.Int64,
    "input": pl.String,
    "chosen": pl.String,
    "rejected": pl.String,
}
"""Columns of ``pairs.parquet``: one row a preference pair; lengths in characters."""

RATINGS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "grader": pl.String,
    "protocol": pl.String,
    "question": pl.String,
    "pair_id": pl.String,
    "input_id": pl.String,
    "order": pl.String,
    "repeat": pl.Int32,
    "chosen": pl.Float64,
    "rejected": pl.Float64,
    "chosen_state": pl.String,
    "rejected_state": pl.String,
    "chosen_captured": pl.Float64,
    "rejected_captured": pl.Float64,
    "key": pl.String,
}
"""Columns of ``ratings.parquet``: one row a grader, protocol, question, pair, order and repeat."""


def pairs_table(pairs: Sequence[PreferencePair]) -> pl.DataFrame:
    """Return the pairs as a table with the columns ``PAIRS``."""
    rows = [
        {
            "pair_id": pair.pair_id,
            "input_id": pair.input_id,
            "tie": pair.tie,
            "strength": pair.strength,
            "chosen_length": len(pair.chosen),
            "rejected_length": len(pair.rejected),
            "input": storable(pair.input),
            "chosen": storable(pair.chosen),
            "rejected": storable(pair.rejected),
        }
        for pair in pairs
    ]
    return pl.DataFrame(rows, schema=dict(PAIRS))


def ratings_table(rows: Sequence[PairRating]) -> pl.DataFrame:
    """Return the ratings as a table with the columns ``RATINGS``."""
    return pl.DataFrame(
        [
            {
                "grader": row.grader,
                "protocol": str(row.protocol),
                "question": row.question,
                "pair_id": row.pair_id,
                "input_id": row.input_id,
                "order": row.order,
                "repeat": row.repeat,
                "chosen": row.chosen.value,
                "rejected": row.rejected.value,
                "chosen_state": str(row.chosen.state),
                "rejected_state": str(row.rejected.state),
                "chosen_captured": row.chosen.captured,
                "rejected_captured": row.rejected.captured,
                "key": row.key,
            }
            for row in rows
        ],
        schema=dict(RATINGS),
    )
