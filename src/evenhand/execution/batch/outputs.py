"""What came back in a batch's output: replies into the ledger, everything else counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.execution.batch.requests_kept import KeptRequests
from evenhand.execution.ledger import Ledger, Paid
from evenhand.execution.run_folder import storable
from evenhand.models import Trouble
from evenhand.models.batch_lines import Failed, outcome, read_line
from evenhand.models.http import HttpModel
from evenhand.readings import Failure, FailureKind

_TOGETHER = 500
"""Replies that are committed at once."""
_REFUSED = f"{Trouble.REFUSED}, "
"""What the reason of a failure begins with where asking again is of no use; the runner's begin with the class, too."""


@dataclass(slots=True)
class Tally:
    """What the lines of a batch's output came to."""

    replies: int = 0
    """Requests whose reply is in the ledger."""
    duplicates: int = 0
    """Further lines of requests that had one already; the first reply counts."""
    unknown: int = 0
    """Lines of no request in the file."""
    unreadable: int = 0
    """Lines that are no JSON, or name no request."""
    missing: int = 0
    """Requests without a line."""
    known: int = 0
    """Requests without a reply here whose reply is in the ledger all the same, from elsewhere."""
    again: Counter[str] = field(default_factory=Counter)
    """Requests that failed for something that may pass, by class; they are sent again, as those that are missing."""
    refused: Counter[str] = field(default_factory=Counter)
    """Requests that failed for good, by class; noted in the ledger as failures."""
    reasons: dict[str, str] = field(default_factory=dict)
    """The first reason of each class."""

    def add(self, other: "Tally") -> None:
        """Add another batch's."""
        for name in ("replies", "duplicates", "unknown", "unreadable", "missing", "known"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.again += other.again
        self.refused += other.refused
        self.reasons = other.reasons | self.reasons

    def counts(self) -> dict[str, int]:
        """Return the numbers alone, those that are 0 left out."""
        found = {
            "replies": self.replies,
            "duplicates": self.duplicates,
            "unknown": self.unknown,
            "unreadable": self.unreadable,
            "missing": self.missing,
            "known": self.known,
            **{f"again_{kind}": count for kind, count in sorted(self.again.items())},
            **{f"refused_{kind}": count for kind, count in sorted(self.refused.items())},
        }
        return {name: count for name, count in found.items() if count}


def take_in(
    outputs: Sequence[Path], requests: KeptRequests, model: HttpModel, ledger: Ledger, tries: int
) -> tuple[Tally, list[str]]:
    """Put the replies of a batch into the ledger, and return what its lines came to and which requests go again.

    Lines may come in any order and in any of the files. To do it again changes nothing.

    Args:
        outputs: output and error files, as they were downloaded.
        requests: what the batch file was made of.
        model: whom they were for.
        ledger: where replies and failures are kept.
        tries: how often the requests were sent.
    """
    tally = Tally()
    answered: set[str] = set()
    failed: dict[str, Failed] = {}
    paid: list[Paid] = []
    for path in outputs:
        with path.open("rb") as file:
            for raw in file:
                if not raw.strip():
                    continue
                line = read_line(raw)
                if line is None or line.custom_id not in requests:
                    tally.unreadable += line is None
                    tally.unknown += line is not None
                    continue
                key = line.custom_id
                tally.duplicates += key in answered or key in failed
                if key in answered:
                    continue
                request = requests[key]
                found = outcome(line, model, request)
                if isinstance(found, Failed):
                    failed.setdefault(key, found)
                    continue
                answered.add(key)
                paid.append(Paid(key, model.identity, request, found, tries))
                if len(paid) >= _TOGETHER:
                    ledger.keep_all(paid)
                    paid = []
    if paid:
        ledger.keep_all(paid)
    tally.replies = len(answered)
    open_ones = unanswered([key for key in requests.places if key not in answered], ledger)
    tally.known = len(requests.places) - len(answered) - len(open_ones)
    again = _settled(tally, open_ones, failed)
    for key in set(open_ones) - set(again):
        _note(key, failed[key], model, ledger, tries)
    return tally, again


def unanswered(keys: Sequence[str], ledger: Ledger) -> list[str]:
    """Return those keys, in their order, under which the ledger has no reply."""
    found: list[str] = []
    for start in range(0, len(keys), _TOGETHER):
        some = keys[start : start + _TOGETHER]
        known = ledger.find_all(some)
        found += [key for key in some if key not in known]
    return found


def was_refused(failure: Failure | None) -> bool:
    """Tell whether a request failed in a way that asking again does not mend."""
    return failure is not None and (failure.kind is FailureKind.OVERFLOW or failure.reason.startswith(_REFUSED))


def _settled(tally: Tally, keys: Sequence[str], failed: Mapping[str, Failed]) -> list[str]:
    """Count the requests without a reply, and return those that go again."""
    again: list[str] = []
    for key in keys:
        failure = failed.get(key)
        if failure is None:
            tally.missing += 1
            again.append(key)
            continue
        tally.reasons.setdefault(failure.kind, failure.reason)
        (tally.again if failure.passing else tally.refused)[failure.kind] += 1
        if failure.passing:
            again.append(key)
    return again


def _note(key: str, failed: Failed, model: HttpModel, ledger: Ledger, tries: int) -> None:
    kind = FailureKind.OVERFLOW if failed.kind == "overflow" else FailureKind.TRANSPORT
    failure = Failure(kind, storable(f"{_REFUSED}in a batch: {failed.reason}"))
    # Once is enough, however often a batch is collected.
    if ledger.last_failure(key) != failure:
        ledger.note_failure(key, model.identity, failure, tries)
