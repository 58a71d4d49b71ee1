"""What every study does with its requests: carry them out stage by stage, and count."""

from collections.abc import Sequence

from evenhand.execution import Answered, Ledger, run_requests
from evenhand.instruments import Request
from evenhand.models import Model
from evenhand.studies.watch import StudyWatch


class Carrier:
    """Carries requests out over one ledger, tells a watch, and counts calls and replies."""

    def __init__(self, ledger: Ledger, watch: StudyWatch) -> None:
        """Begin to count."""
        self._ledger, self._watch = ledger, watch
        self.calls = 0
        """Calls of models that this run made; the rest was in the ledger."""
        self.times: list[str] = []
        """When each reply was committed (UTC, ISO 8601)."""

    def __call__(self, stage: str, requests: Sequence[Request], model: Model) -> list[Answered]:
        """Return what each request came to, in the order of the requests."""
        self._watch.stage(stage, len(set(requests)))

        def note(answer: Answered) -> None:
            self.calls += answer.called
            if answer.at:
                self.times.append(answer.at)
            self._watch.advance(called=answer.called)

        return run_requests(requests, model, self._ledger, note)

    @property
    def replies(self) -> int:
        """Replies that the run rests on."""
        return len(self.times)

    def record(self) -> dict[str, int | str | None]:
        """Return what a record says of the replies."""
        return {
            "count": len(self.times),
            "first_at": min(self.times, default=None),
            "last_at": max(self.times, default=None),
        }
