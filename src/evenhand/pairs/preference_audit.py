"""What is wrong with preference data, counted before anything is spent on them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from evenhand.pairs.preference_pair import PreferencePair, text_id
from evenhand.pairs.preferences import ProblemKind, RowOutcome

DEFAULT_MAX_CHARACTERS = 20_000
_EXAMPLES = 5

IDENTICAL = "identical"
PREFIX = "prefix"
EMPTY = "empty"
DUPLICATE = "duplicate"
CONTRADICTORY = "contradictory"
OVER_LONG = "over_long"
OF_PAIRS = (IDENTICAL, PREFIX, EMPTY, DUPLICATE, CONTRADICTORY, OVER_LONG)
"""What is found in pairs; the other findings are the kinds of ``Problem``, found in rows."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of fault and where it is."""

    kind: str
    count: int
    """Pairs for a kind of ``OF_PAIRS``, else rows."""
    rows: tuple[int, ...]
    """The first few rows that have it."""
    example: str = ""
    """The message of the first of them, where there is one."""


@dataclass(frozen=True, slots=True)
class LengthChoice:
    """Whether the longer of two outputs of unequal length was chosen."""

    input_id: str
    longer_chosen: bool


@dataclass(frozen=True, slots=True)
class PreferenceAudit:
    """The counts over a source."""

    rows: int
    pairs: int
    lost_rows: int
    """Rows that gave no pair."""
    ties: int
    with_strength: int
    inputs: int
    """Distinct inputs; pairs without an input count as one input for each two outputs."""
    without_input: int
    pairs_per_input: tuple[int, float, int]
    """Fewest, median and most."""
    max_characters: int
    findings: tuple[Finding, ...]
    """One for every kind of ``OF_PAIRS`` and of ``ProblemKind``, also where nothing was found."""
    equal_length: int
    """Pairs that are no tie and whose outputs have the same number of characters."""
    length_choices: tuple[LengthChoice, ...]
    """One for each pair that is no tie and whose outputs differ in length (in characters)."""

    def finding(self, kind: str) -> Finding:
        """Return the finding of a kind."""
        return next(finding for finding in self.findings if finding.kind == kind)


class _Found:
    """Counts and first rows, kind by kind."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._rows: dict[str, list[int]] = {}
        self._examples: dict[str, str] = {}

    def add(self, kind: str, row: int, message: str = "") -> None:
        self._counts[kind] += 1
        rows = self._rows.setdefault(kind, [])
        if len(rows) < _EXAMPLES and row not in rows:
            rows.append(row)
        self._examples.setdefault(kind, message)

    def findings(self) -> tuple[Finding, ...]:
        return tuple(
            Finding(kind, self._counts[kind], tuple(self._rows.get(kind, ())), self._examples.get(kind, ""))
            for kind in (*OF_PAIRS, *map(str, ProblemKind))
        )


def audit_preferences(
    outcomes: Iterable[RowOutcome], *, max_characters: int = DEFAULT_MAX_CHARACTERS
) -> PreferenceAudit:
    """Count what is wrong with the rows of a source, going through them once.

    Args:
        outcomes: what became of each row, as ``PreferenceStream.outcomes`` gives it.
        max_characters: a pair is over-long where its input and its outputs together have more characters.

    A pair is a duplicate where the same input, outputs and preference came before; pairs are contradictory where the
    same two outputs for the same input are preferred both ways, and every pair that takes part counts. An output is a
    prefix of the other, or empty, with the white space round it taken off.
    """
    found = _Found()
    rows = pairs = lost = ties = strengths = equal = without_input = 0
    inputs: Counter[str] = Counter()
    lengths: list[LengthChoice] = []
    seen: dict[str, _Directions] = {}
    for outcome in outcomes:
        rows += 1
        lost += not outcome.pairs
        for problem in outcome.problems:
            found.add(problem.kind, problem.row, problem.message)
        for pair in outcome.pairs:
            pairs += 1
            ties += pair.tie
            strengths += pair.strength is not None
            without_input += not pair.input
            inputs[pair.input_id] += 1
            _look_at_texts(pair, outcome.row, found, max_characters)
            _look_for_repeats(pair, outcome.row, found, seen)
            if not pair.tie:
                longer = len(pair.chosen) - len(pair.rejected)
                if longer:
                    lengths.append(LengthChoice(pair.input_id, longer > 0))
                else:
                    equal += 1
    counts = inputs.values()
    return PreferenceAudit(
        rows=rows,
        pairs=pairs,
        lost_rows=lost,
        ties=ties,
        with_strength=strengths,
        inputs=len(inputs),
        without_input=without_input,
        pairs_per_input=(min(counts), float(median(counts)), max(counts)) if inputs else (0, 0.0, 0),
        max_characters=max_characters,
        findings=found.findings(),
        equal_length=equal,
        length_choices=tuple(lengths),
    )


def _look_at_texts(pair: PreferencePair, row: int, found: _Found, max_characters: int) -> None:
    chosen, rejected = pair.chosen.strip(), pair.rejected.strip()
    if not chosen or not rejected:
        found.add(EMPTY, row)
    elif pair.chosen == pair.rejected:
        found.add(IDENTICAL, row)
    elif chosen.startswith(rejected) or rejected.startswith(chosen):
        found.add(PREFIX, row)
    if len(pair.input) + len(pair.chosen) + len(pair.rejected) > max_characters:
        found.add(OVER_LONG, row)


@dataclass(slots=True)
class _Directions:
    """In which ways the same two outputs for the same input were preferred so far."""

    first: list[int]
    """The rows of each way, until the ways contradict each other and the rows are counted."""
    ways: dict[str, int]


def _look_for_repeats(pair: PreferencePair, row: int, found: _Found, seen: dict[str, _Directions]) -> None:
    low, high = sorted((pair.chosen, pair.rejected))
    way = "tie" if pair.tie or low == high else "low" if pair.chosen == low else "high"
    before = seen.setdefault(text_id(pair.input, low, high), _Directions([], {}))
    if before.ways.get(way):
        found.add(DUPLICATE, row)
    before.ways[way] = before.ways.get(way, 0) + 1
    if way == "tie":
        return
    before.first.append(row)
    if {"low", "high"} <= before.ways.keys():
        for each in before.first:
            found.add(CONTRADICTORY, each)
        before.first.clear()
