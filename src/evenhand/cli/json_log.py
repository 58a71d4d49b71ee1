"""The log of a run for machines: a JSON object a line, written as things happen."""

import json
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import evenhand
from evenhand.errors import InputError
from evenhand.execution import Answered
from evenhand.execution.traffic import StageMeter, Traffic, together
from evenhand.models import Model, Trouble
from evenhand.readings import Failure

LOG_FORMAT = 1
_SECONDS_BETWEEN_LINES = 5.0
_LONGEST_TEXT = 500
"""Characters of a text that somebody else wrote."""
# ASCII escapes leave nothing in a line that a terminal, or whatever reads lines, could take for more than text.
_ENCODER = json.JSONEncoder(ensure_ascii=True, allow_nan=False)


@dataclass(slots=True)
class _Stage:
    model: str
    meter: StageMeter
    told_at: float

    def read(self) -> dict[str, Any]:
        return {"model": self.model, **self.meter.read().as_json()}


class JsonLog:
    """Appends to a file what happens in a run.

    Every line is written whole and at once, so that two runs may write to one file; their ids tell them apart.
    Prompts, replies and keys are not in it: of a request there are the figures, and the key under which the ledger has
    it.
    """

    def __init__(
        self, path: Path, complain: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Open the file and write the first line.

        Args:
            path: the file; its folder is made if it is not there.
            complain: told once if the file can't be written to any longer; the run goes on without it.
            clock: seconds.

        Raises ``InputError`` where the file can't be written.
        """
        self._path, self._complain, self._clock = path, complain, clock
        self._run = uuid.uuid4().hex[:12]
        self._lock = threading.RLock()
        self._stages: dict[str, _Stage] = {}
        self._past: list[Traffic] = []
        self._began = clock()
        self._fetch: tuple[str, int, int | None] | None = None
        self._lost = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            broken = _is_broken(path)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise InputError(
                f"can't be written ({error.strerror or error})",
                source=str(path),
                field="--log",
                way_out="name a file that can be",
            ) from error
        if broken:
            self._file.write(b"\n")
        self._write("run", evenhand=evenhand.__version__, format=LOG_FORMAT)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stage in list(self._stages):
            self.ended(stage)
        self._write_fetch()
        figures = together(self._past).as_json() | {"seconds": round(self._clock() - self._began, 3)}
        self._write("end", error=kind.__name__ if kind else None, **figures)
        self._file.close()

    def fetched(self, name: str, done: int, total: int | None) -> None:
        """Note how far a download is; its end is written."""
        if self._fetch is not None and self._fetch[0] != name:
            self._write_fetch()
        self._fetch = (name, done, total)
        if done == total:
            self._write_fetch()

    def say(self, text: str) -> None:
        """Write what a user is told."""
        self._write_fetch()
        self._write("say", text=text[:_LONGEST_TEXT])

    def began(self, stage: str, model: Model, total: int | None) -> None:
        """Write that a stage begins."""
        self._write_fetch()
        now = self._clock()
        self._stages[stage] = _Stage(model.name, StageMeter(total, self._clock), now)
        self._write("began", stage=stage, model=model.name, total=total or None)

    def answered(self, stage: str, answer: Answered) -> None:
        """Count; write a failure at once, and how far the stage is if it is time."""
        at = self._stages[stage]
        at.meter.answered(answer)
        if isinstance(answer.outcome, Failure):
            self._write(
                "failure",
                stage=stage,
                model=at.model,
                key=answer.key,
                kind=answer.outcome.kind,
                reason=answer.outcome.reason[:_LONGEST_TEXT],
                tries=answer.tries,
            )
        self._write_if_due(stage, at)

    def tried_in_vain(self, stage: str, trouble: Trouble, wait: float) -> None:
        """Write that a call is made again."""
        at = self._stages[stage]
        at.meter.tried_in_vain(trouble)
        self._write("retry", stage=stage, model=at.model, trouble=trouble, wait=round(wait, 3))
        self._write_if_due(stage, at)

    def draining(self, stage: str, in_flight: int) -> None:
        """Write that a stage waits for its last calls."""
        self._write("draining", stage=stage, model=self._stages[stage].model, in_flight=in_flight)

    def ended(self, stage: str) -> None:
        """Write the totals of a stage."""
        at = self._stages.pop(stage)
        at.meter.end()
        self._past.append(at.meter.read())
        self._write("ended", stage=stage, **at.read())

    def _write_if_due(self, stage: str, at: _Stage) -> None:
        now = self._clock()
        if now - at.told_at >= _SECONDS_BETWEEN_LINES:
            at.told_at = now
            self._write("progress", stage=stage, **at.read())

    def _write_fetch(self) -> None:
        if self._fetch is not None:
            (name, done, total), self._fetch = self._fetch, None
            self._write("fetched", name=name, bytes=done, of=total)

    def _write(self, event: str, **values: Any) -> None:  # noqa: ANN401  (plain values)
        if self._lost:
            return
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = _ENCODER.encode({"time": at, "run": self._run, "event": event, **values})
        try:
            with self._lock:
                self._file.write(f"{line}\n".encode())
        except OSError as error:
            self._lost = True
            self._complain(f"{self._path}: can't be written any more ({error.strerror or error}); the run goes on")


def _is_broken(path: Path) -> bool:
    """Tell whether the last line of a file has no end: the disk was full, or something else wrote it."""
    if not path.is_file() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) != b"\n"
