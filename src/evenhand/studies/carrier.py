"""What every study does with its requests: carry them out stage by stage, and count."""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from evenhand.execution import Answered, Budget, Ledger, carry_out
from evenhand.instruments import Request
from evenhand.models import Model
from evenhand.studies.watch import StudyWatch

T = TypeVar("T")


class CarryOut(Protocol):
    """Has requests answered."""

    async def __call__(
        self, stage: str, requests: Iterable[Request], model: Model, total: int, read: Callable[[Answered], T]
    ) -> list[T]:
        """Return what ``read`` made of the outcome of each request, in the order of the requests.

        ``requests`` is drawn from as there is room; ``total`` is how many they are; ``stage`` is what a watch is told,
        and no two stages of a run have the same.
        """


class Carrier:
    """Carries requests out over one ledger, tells a watch, and counts calls and replies."""

    def __init__(self, ledger: Ledger, watch: StudyWatch, budget: Budget | None = None) -> None:
        """Begin to count."""
        self._ledger, self._watch, self._budget = ledger, watch, budget or Budget()
        self.calls = 0
        """Requests that a model was called for in this run; the rest was in the ledger."""
        self._replies: set[int] = set()
        self._fresh: set[int] = set()
        self._first_at: str | None = None
        self._last_at: str | None = None

    async def __call__(
        self, stage: str, requests: Iterable[Request], model: Model, total: int, read: Callable[[Answered], T]
    ) -> list[T]:
        """Return what ``read`` made of the outcome of each request, in the order of the requests."""

        def note(answer: Answered) -> T:
            self.calls += answer.called
            if answer.at:
                # Half of a key tells a run's replies apart and takes a third of the room.
                short = int(answer.key[:16], 16)
                self._replies.add(short)
                if answer.called:
                    self._fresh.add(short)
                self._first_at = min(self._first_at or answer.at, answer.at)
                self._last_at = max(self._last_at or answer.at, answer.at)
            return read(answer)

        return await carry_out(
            requests, model, self._ledger, note, stage=stage, total=total, watch=self._watch, budget=self._budget
        )

    @property
    def cost(self) -> float:
        """US dollars that calls have cost, as far as prices are known."""
        return self._budget.spent

    @property
    def replies(self) -> int:
        """Replies that the run rests on."""
        return len(self._replies)

    @property
    def found(self) -> int:
        """Replies that were in the ledger before this run; calls that failed left none."""
        return len(self._replies - self._fresh)

    def record(self) -> dict[str, int | str | None]:
        """Return what a record says of the replies."""
        return {"count": len(self._replies), "first_at": self._first_at, "last_at": self._last_at}
