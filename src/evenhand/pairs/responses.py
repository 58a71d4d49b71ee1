"""Responses from elsewhere: what another system answered to the prompts of a set of pairs."""

from collections.abc import Sequence
from pathlib import Path

from evenhand.errors import InputError
from evenhand.pairs.fit_text import fit
from evenhand.pairs.paired_prompt import Letter, PairedPrompt, Side
from evenhand.pairs.preferences.problem import RowFaultError
from evenhand.pairs.preferences.records import read_records
from evenhand.pairs.preferences.row import Row

PAIR_COLUMNS = ("pair_id", "pair")
PROMPT_COLUMNS = ("prompt", "input")
SIDE_COLUMNS = ("letter", "side")
TEXT_COLUMNS = ("response", "text", "output", "completion", "answer")
_WAY_OUT = "mend or remove the row"


def read_responses(path: Path, pairs: Sequence[PairedPrompt]) -> dict[tuple[str, Letter], str]:
    """Return the responses in a JSONL, JSON, CSV or Parquet file, by the pair and the prompt that they answer.

    A row names its prompt by the column ``pair_id`` with ``side`` (``a``, ``b``, ``left``, ``right``), or by
    ``prompt``, the prompt's text to the letter, with a ``side`` where both prompts of a pair are the same. The text is
    in ``response`` (or ``text``, ``output``, ``completion``, ``answer``); what no text can hold becomes U+FFFD.

    Raises ``InputError`` that names the row: for a prompt that is not in the set, for one that is answered twice, for
    a row without text, and where the file answers none. A wrong match would be worse than none.
    """
    reader = _Reader(pairs, path.name)
    texts: dict[tuple[str, Letter], str] = {}
    rows: dict[tuple[str, Letter], int] = {}
    for record in read_records(path):
        if record.problem or record.values is None:
            message = record.problem.message if record.problem else "is no row"
            raise InputError(message, source=path.name, row=record.row, way_out=_WAY_OUT)
        row = Row(record.row, record.values)
        try:
            place, text = reader.read(row)
        except RowFaultError as error:
            raise InputError(str(error), source=path.name, row=record.row, way_out=_WAY_OUT) from error
        if place in texts:
            raise InputError(
                f"answers {place[0]}, prompt {place[1]}, which row {rows[place]} has answered",
                source=path.name,
                row=record.row,
                way_out="keep one of the two",
            )
        texts[place], rows[place] = text, record.row
    if not texts:
        raise InputError("has no rows", source=path.name, way_out="give the responses to grade")
    return texts


class _Reader:
    """Finds the prompt that a row answers."""

    def __init__(self, pairs: Sequence[PairedPrompt], source: str) -> None:
        self._source = source
        self._pairs = {pair.pair_id: pair for pair in pairs}
        self._by_prompt: dict[str, list[tuple[str, Letter]]] = {}
        for pair in pairs:
            self._by_prompt.setdefault(pair.prompt_a, []).append((pair.pair_id, "a"))
            self._by_prompt.setdefault(pair.prompt_b, []).append((pair.pair_id, "b"))

    def read(self, row: Row) -> tuple[tuple[str, Letter], str]:
        text = fit(row.text(self._column(row, TEXT_COLUMNS, "the response")))
        pair_column = next((name for name in PAIR_COLUMNS if name in row.values), None)
        if pair_column:
            pair_id = row.text(pair_column)
            if pair_id not in self._pairs:
                self._fail(row, pair_column, f"there is no pair {pair_id!r} in the set")
            return (pair_id, self._letter(row, self._pairs[pair_id])), text
        column = self._column(row, PROMPT_COLUMNS, "the prompt")
        places = self._by_prompt.get(row.text(column), [])
        if not places:
            self._fail(row, column, "is not a prompt of the set, to the letter")
        if len({pair_id for pair_id, _ in places}) > 1:
            self._fail(row, column, "is the prompt of several pairs; name the pair by its pair_id")
        if len(places) == 1:
            return places[0], text
        pair_id = places[0][0]
        return (pair_id, self._letter(row, self._pairs[pair_id])), text

    def _letter(self, row: Row, pair: PairedPrompt) -> Letter:
        column = self._column(row, SIDE_COLUMNS, "the side (a, b, left or right)")
        name = row.text(column).strip().casefold()
        by_name: dict[str, Letter] = {"a": "a", "b": "b"}
        if pair.sided:
            by_name |= {"left": "a", "right": "b"} if pair.side_a is Side.LEFT else {"left": "b", "right": "a"}
        if name not in by_name:
            self._fail(row, column, f"is {name!r} and not one of {', '.join(by_name)}")
        return by_name[name]

    def _column(self, row: Row, names: Sequence[str], what: str) -> str:
        found = next((name for name in names if name in row.values), None)
        if found is None:
            raise InputError(
                f"has no column for {what} (it has: {', '.join(row.values)})",
                source=self._source,
                row=row.at,
                way_out=f"call it one of {', '.join(names)}",
            )
        return found

    def _fail(self, row: Row, column: str, problem: str) -> None:
        raise InputError(
            problem, source=self._source, row=row.at, field=column, way_out="give the set of pairs that was answered"
        )
