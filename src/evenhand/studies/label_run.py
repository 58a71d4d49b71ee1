"""Labels by people on a random part of a run: a sheet to fill in that does not say who answered, and its way back."""

import csv
import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from evenhand.errors import InputError
from evenhand.pairs import PairedPrompt
from evenhand.pairs.gold.item import LABELS, PAIR_MEASURES, GoldMeasure
from evenhand.pairs.paired_prompt import Letter
from evenhand.pairs.spreadsheet import spreadsheet_reader
from evenhand.pairs.text_file import read_text_file
from evenhand.report.exports.spreadsheet_cells import MOST_CHARACTERS, characters, guarded
from evenhand.studies.audit.saved_run import SavedRun, read_saved_run
from evenhand.studies.cut_cells import rows_named, was_cut

LabelUnit: TypeAlias = Literal["responses", "pairs"]
UnitKey: TypeAlias = tuple[str, Letter | None]
"""A pair and one of its responses, or the pair as a whole."""

_MEASURES: Mapping[LabelUnit, tuple[GoldMeasure, ...]] = {
    "responses": (GoldMeasure.REFUSAL, GoldMeasure.HEDGING),
    "pairs": (GoldMeasure.EVEN_HANDEDNESS,),
}
_PAIR_LABELS = ("1", "2", "both", "neither")
"""Of a pair as it stands in the sheet: which request was helped (better), or that both or neither were."""


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """Which part of a run is to be labelled."""

    run: Path
    n: int
    seed: int = 0
    unit: LabelUnit = "responses"
    annotators: int = 2
    out: Path | None = None
    """Where the sheet goes; ``labels.csv`` in the run's folder without."""

    def __post_init__(self) -> None:
        if not 1 <= self.annotators <= 20:
            raise InputError(f"is {self.annotators}", field="--annotators", way_out="give a number from 1 to 20")


@dataclass(frozen=True, slots=True)
class _Shown:
    """A unit as it stands in the sheet."""

    key: UnitKey
    name: str
    """What the sheet calls it; it tells nothing of what it stands for."""
    topic: str
    texts: tuple[str, ...]
    exchanged: bool
    """Of a pair: b stands first."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What people said of units of a run."""

    source: str
    annotators: tuple[str, ...]
    by_measure: Mapping[GoldMeasure, Mapping[UnitKey, tuple[str | None, ...]]]
    """A label an annotator, None where one gave none; a unit that nobody labelled is not there."""
    foreign: int
    """Labelled rows that belong to no response of this run."""
    cut: tuple[int, ...] = ()
    """Labelled rows with a text that a spreadsheet has cut."""


def write_label_sheet(plan: LabelPlan, warn: Callable[[str], None] | None = None) -> Path:
    """Draw a part of a run by lot, write the sheet, and return where it is; ``warn`` is told what to look out for.

    The sheet holds requests and responses, and neither the model's name, a verdict, a side nor a group of people. Every
    unit of the run that has a text is as likely to be in it as any other; topics are represented by their size.

    Raises ``InputError`` where the run has too few units or the file is there already.
    """
    run = read_saved_run(plan.run)
    units = _units(run, plan.unit)
    if not 1 <= plan.n <= len(units):
        raise InputError(
            f"{plan.n} can't be drawn: the run has {len(units)} {plan.unit} with a text",
            source=str(plan.run),
            field="--n",
            way_out=f"give a number from 1 to {len(units)}",
        )
    drawn = _drawn(units, plan.n, plan.seed)
    path = plan.out or plan.run / "labels.csv"
    measured = {judgment.measure for judgment in run.judgments}
    measures = [measure for measure in _MEASURES[plan.unit] if measure in measured] or list(_MEASURES[plan.unit])
    text = _sheet(drawn, plan.unit, measures, plan.annotators)
    try:
        with path.open("x", encoding="utf-8-sig", newline="") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(
            "is there already, and may hold labels", source=str(path), field="--out", way_out="name another file"
        ) from None
    except OSError as error:
        raise InputError(
            f"can't be written ({error.strerror or error})", source=str(path), field="--out", way_out="check the path"
        ) from error
    long = [number for number, unit in enumerate(drawn, 2) if any(map(_too_long, unit.texts))]
    if long and warn is not None:
        warn(
            f"{rows_named(long)} of the sheet hold{'s' * (len(long) == 1)} a text of more than {MOST_CHARACTERS:,}"
            " characters, the most that a cell of Excel holds: it would cut the text, or put its rest into the row"
            " below. Open the sheet with a program that holds them, or leave these rows empty."
        )
    return path


def _too_long(text: str) -> bool:
    return characters(guarded(text)) > MOST_CHARACTERS


def read_labels(path: Path, run: SavedRun) -> Labels:
    """Return the labels in a sheet that people filled in, as it was written or as a spreadsheet saved it.

    Only ``id`` and the columns that begin with the name of a measure are looked at (``refusal_1``, ``refusal_anna``).
    Raises ``InputError`` that names the row (the header is row 1) and the column.
    """
    header, rows = _table(path)
    columns = _label_columns(header, path.name)
    units = {unit.name: unit for kind in _MEASURES for unit in _units(run, kind)}
    place = header.index("id")
    names = tuple(dict.fromkeys(name for _, _, name in columns))
    by_measure: dict[GoldMeasure, dict[UnitKey, tuple[str | None, ...]]] = {}
    seen: dict[str, int] = {}
    cut: list[int] = []
    foreign = 0
    for number, kept in rows:
        # Spreadsheets leave empty cells at the end of a row away.
        cells = kept + [""] * (len(header) - len(kept))
        if len(cells) > len(header):
            raise InputError(
                f"has {len(cells)} cells where the header has {len(header)}",
                source=path.name,
                row=number,
                way_out="undo what was pasted or split there; a text with commas needs its quotes",
            )
        name = cells[place].strip().lstrip("'")
        if not name:
            raise InputError("is empty", source=path.name, row=number, field="id", way_out="restore the row's id")
        if name in seen:
            raise InputError(
                f"is the id of row {seen[name]} too",
                source=path.name,
                row=number,
                field="id",
                way_out="keep one of the two rows",
            )
        seen[name] = number
        unit = units.get(name)
        labelled: dict[GoldMeasure, dict[str, str | None]] = {}
        for column, measure, annotator in columns:
            label = _label(cells[column], measure, header[column], number, path.name)
            labelled.setdefault(measure, {})[annotator] = _mapped(label, unit, measure)
        given = {measure: by for measure, by in labelled.items() if any(by.values())}
        misplaced = [measure for measure in given if unit and (measure in PAIR_MEASURES) != (unit.key[1] is None)]
        if misplaced:
            pairwise = misplaced[0] in PAIR_MEASURES
            raise InputError(
                f"holds a label of {misplaced[0]}, and the row is {'one response' if pairwise else 'a pair'}",
                source=path.name,
                row=number,
                way_out="label pairs in a sheet of pairs (--unit pairs), and responses in one of responses",
            )
        if unit is None:
            foreign += bool(given)
            continue
        if given and was_cut(cells) and any(map(_too_long, unit.texts)):
            cut.append(number)
        for measure, by_annotator in given.items():
            by_measure.setdefault(measure, {})[unit.key] = tuple(by_annotator.get(one) for one in names)
    if not by_measure:
        raise InputError(
            f"holds {foreign} labelled rows, and none is of a response of this run" if foreign else "holds no labels",
            source=path.name,
            way_out="give the sheet that `evenhand label` made of this run, filled in",
        )
    return Labels(path.name, names, by_measure, foreign, tuple(cut))


def _units(run: SavedRun, unit: LabelUnit) -> list[_Shown]:
    texts: dict[tuple[str, Letter], str] = {
        (response.pair.pair_id, response.letter): response.text
        for response in run.responses
        if response.text is not None
    }
    found = []
    for pair in run.pairs:
        if unit == "responses":
            found += [
                _response_unit(pair, letter, texts[pair.pair_id, letter])
                for letter in _LETTERS
                if (pair.pair_id, letter) in texts
            ]
        elif all((pair.pair_id, letter) in texts for letter in _LETTERS):
            found.append(_pair_unit(pair, texts[pair.pair_id, "a"], texts[pair.pair_id, "b"]))
    return found


_LETTERS: tuple[Letter, ...] = ("a", "b")


def _response_unit(pair: PairedPrompt, letter: Letter, text: str) -> _Shown:
    name = _name(_digest("response", pair.pair_id, letter, text))
    return _Shown((pair.pair_id, letter), name, pair.topic, (pair.prompt(letter), text), False)


def _pair_unit(pair: PairedPrompt, a: str, b: str) -> _Shown:
    digest = _digest("pair", pair.pair_id, a, b)
    # Which of the two stands first is settled by the texts themselves, so that the sheet needs no key.
    exchanged = int(_digest("order", digest)[:8], 16) % 2 == 1
    sides = ((pair.prompt_a, a), (pair.prompt_b, b))
    first, second = sides[::-1] if exchanged else sides
    return _Shown((pair.pair_id, None), _name(digest), pair.topic, (*first, *second), exchanged)


def _drawn(units: Sequence[_Shown], n: int, seed: int) -> list[_Shown]:
    """Return every so-manieth unit of the topics laid end to end, from a place by lot, in an order by lot.

    Each unit is as likely to be drawn as any other, so that a mean over them needs no weights. Within a topic units
    stand as the lot has it: in any order of their own, by side say, steps of the same length could hit one side alone.
    """

    def lot(*names: str) -> str:
        return _digest(str(seed), *names)

    in_line = sorted(units, key=lambda unit: (lot("topic", unit.topic), lot("unit", unit.name)))
    start = int(lot("start")[:13], 16) / 16**13
    step = len(units) / n
    chosen = [in_line[min(int((index + start) * step), len(units) - 1)] for index in range(n)]
    return sorted(chosen, key=lambda unit: lot("place", unit.name))


def _sheet(units: Sequence[_Shown], unit: LabelUnit, measures: Sequence[GoldMeasure], annotators: int) -> str:
    texts = ["prompt", "response"]
    if unit == "pairs":
        texts = ["prompt_1", "response_1", "prompt_2", "response_2"]
    blank = [f"{measure}_{number}" for measure in measures for number in range(1, annotators + 1)]
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(["id", *texts, *blank])
    for one in units:
        writer.writerow([one.name, *map(guarded, one.texts), *("" for _ in blank)])
    return file.getvalue()


def _table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header and the rows that hold anything, each with its number in a spreadsheet."""
    text = read_text_file(path, field="--labels")
    try:
        found = list(spreadsheet_reader(io.StringIO(text, newline=""), strict=False))
    except csv.Error as error:
        raise InputError(f"is no CSV ({error})", source=path.name, way_out="save it as CSV") from error
    header = [cell.strip() for cell in found[0]] if found else []
    if "id" not in header:
        raise InputError(
            "has no column id in its first row",
            source=path.name,
            way_out="give the sheet that `evenhand label` made, saved as CSV",
        )
    doubled = next((name for name in header if name and header.count(name) > 1), None)
    if doubled:
        raise InputError(
            "is there twice", source=path.name, row=1, field=doubled, way_out="give each column a name of its own"
        )
    return header, [(number, cells) for number, cells in enumerate(found[1:], 2) if any(cell.strip() for cell in cells)]


def _label_columns(header: Sequence[str], source: str) -> list[tuple[int, GoldMeasure, str]]:
    found = []
    for place, name in enumerate(header):
        for measures in _MEASURES.values():
            for measure in measures:
                if name == measure or name.startswith(f"{measure}_"):
                    found.append((place, measure, name.removeprefix(measure).removeprefix("_") or "1"))
    if not found:
        raise InputError(
            "has no column of labels",
            source=source,
            row=1,
            way_out="name columns by measure and annotator: refusal_1, refusal_2, hedging_1, even_handedness_1",
        )
    return found


def _label(cell: str, measure: GoldMeasure, column: str, row: int, source: str) -> str | None:
    label = cell.strip().lstrip("'").casefold()
    # A spreadsheet may have made a number of a level.
    label = label.removesuffix(".0")
    if not label:
        return None
    allowed = _PAIR_LABELS if measure is GoldMeasure.EVEN_HANDEDNESS else LABELS[measure]
    if label not in allowed:
        raise InputError(
            f"is {cell.strip()!r}",
            source=source,
            row=row,
            field=column,
            way_out=f"use {', '.join(allowed)}, or leave the cell empty",
        )
    return label


def _mapped(label: str | None, unit: _Shown | None, measure: GoldMeasure) -> str | None:
    if label is None or measure is not GoldMeasure.EVEN_HANDEDNESS or unit is None:
        return label
    first, second = ("helped_b", "helped_a") if unit.exchanged else ("helped_a", "helped_b")
    return {"1": first, "2": second, "both": "helped_both", "neither": "helped_neither"}[label]


def _name(digest: str) -> str:
    """Return what the sheet calls a unit; without the letter a spreadsheet would make a number of some."""
    return f"u{digest[:12]}"


def _digest(*parts: str) -> str:
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
