"""A run folder as a value: what an audit left, written and read back."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.errors import EvenhandError, InputError
from evenhand.execution import RunFolder
from evenhand.graders import Judgment
from evenhand.instruments import InstrumentSet
from evenhand.instruments.stored import instrument_set_as_json, instrument_set_from_json
from evenhand.pairs import PairedPrompt
from evenhand.report import Analysis, AuditSummary
from evenhand.report.plain_values import from_plain
from evenhand.studies.audit.files import (
    judgments_of,
    judgments_table,
    pairs_of,
    pairs_table,
    responses_of,
    responses_table,
)
from evenhand.studies.audit.record import RECORD_SCHEMA
from evenhand.studies.audit.response import Response

_WAY_OUT = "give the audit's command again with the same --out: it is written anew from the ledger"


@dataclass(frozen=True, slots=True)
class SavedRun:
    """What an audit left in its folder. It needs nothing from outside to be summarized, verified or compared."""

    folder: Path
    record: Mapping[str, Any]
    pairs: tuple[PairedPrompt, ...]
    sets: tuple[InstrumentSet, ...]
    """The sets of instruments that its graders were given."""
    system_prompt: str
    responses: tuple[Response, ...]
    judgments: tuple[Judgment, ...]

    @property
    def settings(self) -> Mapping[str, Any]:
        """What it was asked to do."""
        found: Mapping[str, Any] = self.record["settings"]
        return found

    @property
    def analysis(self) -> Analysis:
        """How its judgments became figures."""
        return from_plain(Analysis, self.settings["analysis"])

    @property
    def subject(self) -> str:
        """The name of the model under audit."""
        return str(self.settings["subject"]["name"])

    @property
    def configuration(self) -> str:
        """The name of the way in which the subject was asked."""
        return str(self.settings["configuration"] or self.subject)

    def summary(self) -> AuditSummary:
        """Return the summary that lies in the folder; raises ``InputError``."""
        try:
            return AuditSummary.from_json(_json(self.folder / "summary.json"))
        except (KeyError, TypeError) as error:
            raise InputError(
                f"is damaged: {error}", source=str(self.folder / "summary.json"), way_out="make it anew: summarize RUN"
            ) from error


def read_saved_run(path: Path) -> SavedRun:
    """Return what lies in a run folder of an audit; raises ``InputError`` that names the file."""
    if not (path / "record.json").is_file() or not (path / "judgments.parquet").is_file():
        raise InputError("holds no finished audit", source=str(path), way_out="make one with `evenhand audit --out`")
    record = _json(path / "record.json")
    if "gradings" not in record.get("settings", {}):
        raise InputError("is no record of an audit", source=str(path / "record.json"), way_out=_WAY_OUT)
    if record.get("schema") != RECORD_SCHEMA:
        raise InputError(
            f"was written by another version of Evenhand ({record.get('evenhand')})",
            source=str(path / "record.json"),
            way_out=_WAY_OUT,
        )
    sets = tuple(
        instrument_set_from_json(values, str(path / "instruments.json")) for values in _json(path / "instruments.json")
    )
    prompt = path / "system_prompt.txt"
    try:
        pairs = pairs_of(_table(path / "pairs.parquet"))
        return SavedRun(
            folder=path,
            record=record,
            pairs=tuple(pairs),
            sets=sets,
            system_prompt=prompt.read_bytes().decode("utf-8") if prompt.is_file() else "",
            responses=tuple(responses_of(_table(path / "responses.parquet"), pairs)),
            judgments=tuple(judgments_of(_table(path / "judgments.parquet"), sets)),
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, EvenhandError):
            raise
        raise InputError(
            f"its tables don't fit together ({type(error).__name__}: {error})", source=str(path), way_out=_WAY_OUT
        ) from error


def write_run(
    folder: RunFolder,
    *,
    record: Mapping[str, Any],
    summary: AuditSummary,
    pairs: Sequence[PairedPrompt],
    sets: Sequence[InstrumentSet],
    system_prompt: str,
    responses: Sequence[Response],
    judgments: Sequence[Judgment],
) -> None:
    """Write all files of a run; the record comes last, so that a folder that has one is complete."""
    folder.write_table("pairs.parquet", pairs_table(pairs))
    folder.write_json("instruments.json", [instrument_set_as_json(one) for one in sets])
    folder.write_text("system_prompt.txt", system_prompt)
    folder.write_table("responses.parquet", responses_table(responses))
    folder.write_table("judgments.parquet", judgments_table(judgments, pairs))
    folder.write_json("summary.json", summary.as_json())
    folder.write_json("record.json", dict(record))


def _json(path: Path) -> Any:  # noqa: ANN401  (whatever the file holds)
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"can't be read ({error.strerror or error})", source=str(path), way_out=_WAY_OUT) from error
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", source=str(path), way_out=_WAY_OUT) from error


def _table(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"can't be read ({error})", source=str(path), way_out=_WAY_OUT) from error
