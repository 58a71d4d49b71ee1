"""The audit of preference data as a table for a terminal of 80 columns, and as JSON."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evenhand.pairs.preference_audit import OF_PAIRS, Finding, PreferenceAudit
from evenhand.report.figure_texts import count
from evenhand.statistics import Estimate

_MEANINGS = {
    "identical": "both outputs are the same",
    "prefix": "one output is a prefix of the other",
    "empty": "an output is empty",
    "duplicate": "the same pair again",
    "contradictory": "the same outputs preferred both ways",
    "over_long": "longer than {max_characters:,} characters",
    "unreadable": "the row can't be read",
    "missing_column": "a column is missing",
    "null": "null where text should be",
    "wrong_type": "no text where text should be",
    "unknown_preference": "the preference joins to nothing",
    "no_shared_prompt": "the conversations share no prompt",
    "damaged_text": "characters replaced by U+FFFD",
    "contradicting_scores": "the rejected output scores higher",
}


@dataclass(frozen=True, slots=True)
class DataAudit:
    """What is shown of an audit of preference data."""

    source: str
    format: str
    reason: str
    """What told the format."""
    counts: PreferenceAudit
    longer_chosen: Estimate
    """Share of pairs in which the longer output is the chosen one; ties and equal lengths left out."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        counts = self.counts
        fewest, middle, most = counts.pairs_per_input
        return {
            "source": self.source,
            "format": self.format,
            "reason": self.reason,
            "rows": counts.rows,
            "lost_rows": counts.lost_rows,
            "pairs": counts.pairs,
            "ties": counts.ties,
            "with_strength": counts.with_strength,
            "inputs": counts.inputs,
            "without_input": counts.without_input,
            "pairs_per_input": {"fewest": fewest, "median": middle, "most": most},
            "max_characters": counts.max_characters,
            "findings": {
                finding.kind: {
                    "count": finding.count,
                    "of": _unit(finding),
                    "rows": list(finding.rows),
                    "example": finding.example,
                }
                for finding in counts.findings
            },
            "longer_chosen": self.longer_chosen.as_json() | {"equal_length": counts.equal_length},
        }


def data_audit_table(audit: DataAudit) -> RenderableType:
    """Return what a terminal shows: the counts, each kind of fault with its first rows, and what length predicts."""
    counts = audit.counts
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("Found", width=36)
    table.add_column("n", justify="right", width=9)
    table.add_column("of", width=5)
    table.add_column("first rows", overflow="fold", width=24)
    nothing: list[str] = []
    for finding in counts.findings:
        meaning = _MEANINGS[finding.kind].format(max_characters=counts.max_characters)
        if finding.count:
            rows = ", ".join(map(str, finding.rows)) + (", ..." if finding.count > len(finding.rows) else "")
            table.add_row(meaning, f"{finding.count:,}", _unit(finding), rows)
        else:
            nothing.append(meaning)
    parts: list[RenderableType] = [
        Text(f"Preference data in {audit.source}", style="bold"),
        Text(f"Format {audit.format}: {audit.reason}."),
        Text(),
        *(Text(line) for line in _overview(counts)),
        Text(),
    ]
    if table.row_count:
        parts += [table, *(Text(f"- {line}") for line in _examples(counts))]
    if nothing:
        parts.append(Text(f"Not found: {'; '.join(nothing)}.", style="dim"))
    return Group(*parts, Text(), Text(_length(audit)))


def _unit(finding: Finding) -> str:
    return "pairs" if finding.kind in OF_PAIRS else "rows"


def _overview(counts: PreferenceAudit) -> Iterator[str]:
    lost = f"; {counts.lost_rows:,} gave none" if counts.lost_rows else "; none was lost"
    yield f"{count(counts.rows, 'row')} gave {count(counts.pairs, 'pair')}{lost}."
    yield f"{count(counts.ties, 'tie')}; with a strength: {count(counts.with_strength, 'pair')}."
    fewest, middle, most = counts.pairs_per_input
    each = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    yield f"{count(counts.inputs, 'input')}; pairs an input: {each} (median {middle:g})."
    if counts.without_input:
        yield f"Without an input that could be told: {count(counts.without_input, 'pair')}."


def _examples(counts: PreferenceAudit) -> Iterator[str]:
    for finding in counts.findings:
        if finding.count and finding.example:
            text = finding.example if len(finding.example) <= 200 else f"{finding.example[:197]}..."
            yield f"row {finding.rows[0]}: {text}"


def _length(audit: DataAudit) -> str:
    share = audit.longer_chosen
    if share.value is None:
        return "Length: no pair has a winner and outputs of unequal length."
    interval = (
        f" [{100 * share.low:.1f}, {100 * share.high:.1f}]" if share.low is not None and share.high is not None else ""
    )
    why = "" if interval else f" ({share.method})"
    left_out = f"{audit.counts.ties:,} ties and {audit.counts.equal_length:,} pairs of equal length are left out"
    return (
        f"Length: the longer output is the chosen one in {100 * share.value:.1f}%{interval}{why} of {share.n:,} pairs"
        f" (95% interval that resamples inputs; {left_out}). 50% is what length says where it says nothing."
    )
