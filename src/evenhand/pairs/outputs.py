"""Outputs to be scored: a file with an input and an output a row."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import InputError
from evenhand.pairs.preference_pair import text_id
from evenhand.pairs.preferences.problem import RowFaultError
from evenhand.pairs.preferences.records import read_records
from evenhand.pairs.preferences.row import Row

INPUT_COLUMNS = ("input", "prompt", "instruction", "question")
OUTPUT_COLUMNS = ("output", "response", "completion", "answer", "text")


@dataclass(frozen=True, slots=True)
class Output:
    """One output and the input that it answers."""

    row: int
    """As an editor or a spreadsheet counts."""
    input: str
    output: str

    @property
    def output_id(self) -> str:
        """The same for the same texts."""
        return text_id(self.input, self.output)


def read_outputs(path: Path, *, input_column: str | None = None, output_column: str | None = None) -> list[Output]:
    """Return the outputs of a JSONL, JSON, CSV or Parquet file; texts or conversations.

    Without names the columns are the first of ``INPUT_COLUMNS`` and ``OUTPUT_COLUMNS`` that are there; a file without a
    column of inputs has empty ones.

    Raises ``InputError`` that names the row and the column; a score for a row that is not there would be worse.
    """
    outputs: list[Output] = []
    names: tuple[str | None, str] | None = None
    for record in read_records(path):
        if record.problem or record.values is None:
            raise InputError(
                record.problem.message if record.problem else "is no row",
                source=path.name,
                row=record.row,
                way_out="mend or remove the row",
            )
        names = names or _columns(list(record.values), path.name, input_column, output_column)
        row = Row(record.row, record.values)
        try:
            source = row.text(names[0]) if names[0] else ""
            outputs.append(Output(record.row, source, row.text(names[1])))
        except RowFaultError as error:
            raise InputError(str(error), source=path.name, row=record.row, way_out="mend or remove the row") from error
    if not outputs:
        raise InputError("has no rows", source=path.name, way_out="give at least one output")
    return outputs


def _columns(
    there: Sequence[str], source: str, given_input: str | None, given_output: str | None
) -> tuple[str | None, str]:
    for flag, name in (("--input", given_input), ("--output", given_output)):
        if name is not None and name not in there:
            raise InputError(
                f"names the column {name!r}, which {source} does not have (it has: {', '.join(there)})",
                field=flag,
                way_out="name one of them",
            )
    output = given_output or next((name for name in OUTPUT_COLUMNS if name in there), None)
    if output is None:
        raise InputError(
            f"has no column of outputs (it has: {', '.join(there)})",
            source=source,
            way_out=f"name it with --output, or call it one of {', '.join(OUTPUT_COLUMNS)}",
        )
    return given_input or next((name for name in INPUT_COLUMNS if name in there), None), output
