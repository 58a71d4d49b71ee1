"""From a folder that the user names to the runs in it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from evenhand.errors import EvenhandError, InputError
from evenhand.execution.shards import table_files
from evenhand.report import AuditSummary
from evenhand.report.compare_summary import Comparison
from evenhand.report.corrected_summary import CorrectedSummary
from evenhand.report.effects_summary import EffectsSummary
from evenhand.report.scoring_spec import ScoringSpec
from evenhand.report.validity_card import ValidityCard
from evenhand.statistics.thresholds import ThresholdPoint, threshold_curve
from evenhand.studies.configurations import COMPARISON
from evenhand.studies.report.runs import AuditRun, ComparisonRun, RateRun, Run, ValidationRun
from evenhand.studies.validate import VALIDATION

MOST_RATED = 20_000
"""Pairs of a rating run whose texts go into a page; the reader says how many more there are."""
_AGAIN = "give the command that made the run once more: it is written anew from the ledger"
_KINDS = (
    "name the folder of a finished run: it holds summary.json and record.json (evenhand audit), comparison.json"
    " (several configurations, evenhand compare), effects.json (evenhand rate, evenhand effects) or validation.json"
    " (evenhand validate)"
)

Shape = TypeVar("Shape")


def read_runs(path: Path) -> tuple[Run, ...]:
    """Return the runs in a folder, or in a ``comparison.json`` or ``validation.json``: a comparison before its runs.

    Raises:
        InputError: there is none, or it is damaged; names the file and the way out.
    """
    if path.is_file():
        return tuple(_of_file(path))
    if not path.is_dir():
        raise InputError("isn't there", source=str(path), way_out=_KINDS)
    found: list[Run] = []
    if (path / COMPARISON).is_file():
        found += _comparison(path / COMPARISON)
    if (path / "summary.json").is_file() and (path / "judgments.parquet").is_file():
        found.append(_audit(path))
    if (path / "questions.json").is_file() and table_files(path, "ratings"):
        found.append(_rate(path))
    if (path / VALIDATION).is_file():
        found.append(_validation(path / VALIDATION))
    if not found:
        raise _no_run(path)
    return tuple(found)


def _no_run(path: Path) -> InputError:
    if (path / "ledger.sqlite").is_file():
        return InputError(
            "holds a run that has not come to its end",
            source=str(path),
            way_out="give the command that began it once more: it goes on from the ledger",
        )
    return InputError("holds no run", source=str(path), way_out=_KINDS)


def _of_file(path: Path) -> Iterator[Run]:
    if path.name == VALIDATION:
        yield _validation(path)
        return
    values = _mapping(path)
    if "configurations" in values and "baseline" in values:
        yield from _comparison(path)
    elif "cards" in values:
        yield _validation(path)
    else:
        raise InputError("is no file that a report can be made of", source=str(path), way_out=_KINDS)


def _audit(folder: Path) -> AuditRun:
    saved = _mapping(folder / "summary.json")
    labels = folder / "corrected.json"
    return AuditRun(
        folder=folder,
        record=_mapping(folder / "record.json"),
        summary=_shaped(folder / "summary.json", saved, AuditSummary.from_json),
        saved=saved,
        corrected=_shaped(labels, _mapping(labels), CorrectedSummary.from_json) if labels.is_file() else None,
        pairs=_rows([folder / "pairs.parquet"]),
        responses=_rows([folder / "responses.parquet"]),
        judgments=_rows([folder / "judgments.parquet"]),
    )


def _comparison(path: Path) -> Iterator[Run]:
    saved = _mapping(path)
    comparison = _shaped(path, saved, Comparison.from_json)
    yield ComparisonRun(path.parent, comparison, saved)
    for configuration in comparison.configurations:
        folder = _run_folder(path.parent, configuration.run)
        if folder is not None:
            yield _audit(folder)


def _run_folder(parent: Path, named: str) -> Path | None:
    """Return where a run that was compared lies: where it was, or in the comparison's own folder if both were moved."""
    for folder in (parent / Path(named).name, Path(named)):
        if (folder / "summary.json").is_file() and (folder / "judgments.parquet").is_file():
            return folder
    return None


def _rate(folder: Path) -> RateRun:
    effects, spec = folder / "effects.json", folder / "spec.json"
    if not effects.is_file():
        raise InputError("isn't there", source=str(effects), way_out=f"work it out: evenhand effects {folder}")
    saved = _mapping(effects)
    files = table_files(folder, "pairs")
    pairs = _rows(files, most=MOST_RATED)
    some = [row["pair_id"] for row in pairs]
    return RateRun(
        folder=folder,
        record=_mapping(folder / "record.json"),
        effects=_shaped(effects, saved, EffectsSummary.from_json),
        saved=saved,
        spec=ScoringSpec.from_json(_json(spec), source=str(spec)) if spec.is_file() else None,
        questions=_list(folder / "questions.json"),
        pairs=pairs,
        all_pairs=_length(files),
        ratings=_rows(table_files(folder, "ratings"), only=("pair_id", some)),
    )


def _validation(path: Path) -> ValidationRun:
    saved = _mapping(path)
    cards = _shaped(path, saved, lambda values: tuple(ValidityCard.from_json(card) for card in values["cards"]))
    items = path.parent / "validation.parquet"
    record = saved.get("record")
    return ValidationRun(
        folder=path.parent,
        cards=cards,
        record=record if isinstance(record, Mapping) else {},
        saved=saved,
        curves=[_curve(card, _rows([items])) for card in cards] if items.is_file() else (),
    )


def _curve(card: ValidityCard, items: Sequence[Mapping[str, Any]]) -> tuple[ThresholdPoint, ...]:
    """Return a card's threshold curve over the items that it was made of."""
    counted = [
        (row["probability"], row["label"] in card.positive)
        for row in items
        if (row["grader"], row["gold"], row["measure"]) == (card.grader, card.gold, card.measure)
        and row["probability"] is not None
        and row["label"] in {*card.positive, *card.negative}
        and card.split in {"", row["split"]}
    ]
    return threshold_curve([score for score, _ in counted], [is_so for _, is_so in counted]) if counted else ()


def _json(path: Path) -> Any:  # noqa: ANN401  (whatever the file holds)
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"can't be read ({error.strerror or error})", source=str(path), way_out=_AGAIN) from error
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", source=str(path), way_out=_AGAIN) from error


def _mapping(path: Path) -> Mapping[str, Any]:
    values = _json(path)
    if not isinstance(values, dict):
        raise InputError("is not a JSON object", source=str(path), way_out=_AGAIN)
    return values


def _list(path: Path) -> list[Mapping[str, Any]]:
    values = _json(path)
    if not isinstance(values, list) or not all(isinstance(one, dict) for one in values):
        raise InputError("is not a list of JSON objects", source=str(path), way_out=_AGAIN)
    return values


def _shaped(path: Path, values: Mapping[str, Any], shape: Callable[[dict[str, Any]], Shape]) -> Shape:
    """Return what a file says as a value; an error names the file."""
    try:
        return shape(dict(values))
    except InputError as error:
        raise InputError(error.problem, source=str(path), way_out=error.way_out) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, EvenhandError):
            raise
        raise InputError(f"is damaged ({type(error).__name__}: {error})", source=str(path), way_out=_AGAIN) from error


def _rows(
    paths: Sequence[Path], *, only: tuple[str, Sequence[object]] | None = None, most: int | None = None
) -> list[dict[str, Any]]:
    """Return the rows of tables: those with certain values in a column, or the first ones."""
    found: list[dict[str, Any]] = []
    for path in paths:
        rows = pl.scan_parquet(path)
        if only is not None:
            rows = rows.filter(pl.col(only[0]).is_in(pl.Series(only[1], dtype=pl.String).implode()))
        if most is not None:
            rows = rows.head(most - len(found))
        found += _collected(path, rows).rows(named=True)
    return found


def _length(paths: Sequence[Path]) -> int:
    return sum(int(_collected(path, pl.scan_parquet(path).select(pl.len())).item()) for path in paths)


def _collected(path: Path, rows: pl.LazyFrame) -> pl.DataFrame:
    try:
        return rows.collect()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"can't be read ({error})", source=str(path), way_out=_AGAIN) from error
