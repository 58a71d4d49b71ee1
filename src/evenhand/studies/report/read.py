"""From a folder that the user names to the runs in it."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from evenhand.studies.audit import files as audit_files
from evenhand.studies.audit.validity import VALIDATION
from evenhand.studies.configurations import COMPARISON
from evenhand.studies.made_from import made_from
from evenhand.studies.rate import files as rate_files
from evenhand.studies.report.of_this_run import Origin, origin_of_correction, origin_of_effects, origin_of_spec
from evenhand.studies.report.runs import AuditRun, ComparisonRun, RateRun, Run, ValidationRun

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
    audited = (path / "summary.json").is_file() and (path / "judgments.parquet").is_file()
    rated = (path / "questions.json").is_file() and bool(table_files(path, "ratings"))
    if audited and rated:
        raise InputError(
            "holds files of an audit and of a rating run, and pairs.parquet and record.json can be those of one alone",
            source=str(path),
            way_out="make the run that you want in another folder; with a copy of ledger.sqlite in it no model is"
            " called again",
        )
    if audited:
        found.append(_audit(path))
    if rated:
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
    try:
        values = _mapping(path)
    except InputError as error:
        raise InputError("is no file that a report can be made of", source=str(path), way_out=_KINDS) from error
    if "configurations" in values and "baseline" in values:
        yield from _comparison(path)
    elif "cards" in values:
        yield _validation(path)
    else:
        raise InputError("is no file that a report can be made of", source=str(path), way_out=_KINDS)


def _audit(folder: Path) -> AuditRun:
    saved = _mapping(folder / "summary.json")
    summary = _shaped(folder / "summary.json", saved, AuditSummary.from_json)
    labels = folder / "corrected.json"
    corrected = _shaped(labels, _mapping(labels), CorrectedSummary.from_json) if labels.is_file() else None
    origin = origin_of_correction(corrected, summary.analysis, folder) if corrected else Origin()
    return AuditRun(
        folder=folder,
        record=_mapping(folder / "record.json"),
        summary=summary,
        saved=saved,
        corrected=corrected if origin.shown else None,
        pairs=_rows([folder / "pairs.parquet"], needs=audit_files.PAIRS),
        responses=_rows([folder / "responses.parquet"], needs=audit_files.RESPONSES),
        judgments=_rows([folder / "judgments.parquet"], needs=audit_files.JUDGMENTS),
        remarks=_remarks(origin),
    )


def _remarks(*origins: Origin) -> tuple[str, ...]:
    return tuple(origin.remark for origin in origins if origin.remark)


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
    path, fitted = folder / "effects.json", folder / "spec.json"
    if not path.is_file():
        raise InputError("isn't there", source=str(path), way_out=f"work it out: evenhand effects {folder}")
    files = table_files(folder, "pairs")
    if not files:
        raise InputError("isn't there", source=str(folder / "pairs.parquet"), way_out=_AGAIN)
    there = made_from(folder)
    saved = _mapping(path)
    effects = _shaped(path, saved, EffectsSummary.from_json)
    of_effects = origin_of_effects(effects, there, folder)
    spec = ScoringSpec.from_json(_json(fitted), source=str(fitted)) if fitted.is_file() else None
    of_spec = origin_of_spec(spec, there, folder) if spec else Origin()
    pairs = _rows(files, most=MOST_RATED, needs=rate_files.PAIRS)
    some = [row["pair_id"] for row in pairs]
    return RateRun(
        folder=folder,
        record=_mapping(folder / "record.json"),
        effects=effects,
        saved=saved,
        spec=spec if of_spec.shown else None,
        questions=_list(folder / "questions.json"),
        pairs=pairs,
        all_pairs=_length(files),
        ratings=_rows(table_files(folder, "ratings"), only=("pair_id", some), needs=rate_files.RATINGS),
        remarks=_remarks(of_effects, of_spec),
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
    if not isinstance(values, list) or not all(
        isinstance(one, dict) and {"id", "text"} <= one.keys() for one in values
    ):
        raise InputError("is not a list of questions with id and text", source=str(path), way_out=_AGAIN)
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
    paths: Sequence[Path],
    *,
    only: tuple[str, Sequence[object]] | None = None,
    most: int | None = None,
    needs: Iterable[str] = (),
) -> list[dict[str, Any]]:
    """Return the rows of tables: those with certain values in a column, or the first ones."""
    found: list[dict[str, Any]] = []
    for path in paths:
        rows = pl.scan_parquet(path)
        there = _collected(path, rows.head(0)).columns
        missing = [name for name in needs if name not in there]
        if missing:
            raise InputError(f"has no column {', '.join(missing)}", source=str(path), way_out=_AGAIN)
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
