"""The requests of a run that its ledger has no reply for, into batch files."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from evenhand.errors import InputError
from evenhand.execution import Answered, Budget, BudgetSpentError, Ledger, RunFolder
from evenhand.execution.batch import BatchFile, BatchLimits, BatchWriter, FileState, Manifest, batches_locked, keys_of
from evenhand.execution.batch.manifest import OPEN
from evenhand.execution.batch.outputs import was_refused
from evenhand.execution.forecast import Forecast, StageForecaster
from evenhand.instruments import Request
from evenhand.models import Model, Price
from evenhand.models.replicas import with_batches
from evenhand.readings import Failure, FailureKind, Reply
from evenhand.studies.carrier import Carrier, CarryOut
from evenhand.studies.watch import StudyWatch, UnwatchedStudy

T = TypeVar("T")

_TURN = 64
"""Requests gone through one after another before others get their turn."""


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How batch files are written."""

    limits: BatchLimits = field(default_factory=BatchLimits)
    anew: bool = False
    """Drop the files that were written before and not submitted."""
    retry_refused: bool = False
    """Write requests, too, that the provider has refused."""
    max_cost: float | None = None
    """US dollars that what is written may cost at most."""
    dry_run: bool = False
    """Write nothing, and say what would be written."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, or would be."""

    files: tuple[BatchFile, ...]
    forecast: Forecast
    """Of what is in them, at the price of batches."""
    in_ledger: int
    waiting: int
    """Requests that are in earlier files, not collected yet."""
    refused: int
    """Requests that the provider has refused, and that were left out for that."""
    asked_here: int
    """Requests that models on this machine were asked at once."""
    elsewhere: dict[str, int]
    """Requests that can't be put into a batch file, by the model they are for."""
    dropped: int
    """Earlier files that were not submitted, and are gone."""

    @property
    def requests(self) -> int:
        """How many were written, or would be."""
        return self.forecast.calls


def write(
    run: Path,
    stages: Callable[[CarryOut], object],
    options: WriteOptions | None = None,
    watch: StudyWatch | None = None,
) -> Written:
    """Take a run through its stages, and write what its ledger has no reply for to batch files.

    What a stage asks may depend on the replies of the one before: where those are not there yet, it is left for the
    next time. Models on this machine have no batch files; they are asked at once.

    Args:
        run: the run folder.
        stages: what takes a carrier through the stages of the run.
        options: how.
        watch: told of what models on this machine are asked.
    """
    options = options or WriteOptions()
    if options.dry_run:
        with Ledger.peek(run / "ledger.sqlite") as ledger:
            carrier = _Collecting(ledger, Manifest(run), options)
            stages(carrier)
        return carrier.written((), 0)
    with batches_locked(run) as manifest, Ledger(RunFolder(run).ledger_path) as ledger:
        here = Carrier(ledger, watch or UnwatchedStudy(), Budget(options.max_cost))
        with BatchWriter(manifest, options.limits) as writer:
            carrier = _Collecting(ledger, manifest, options, writer, here)
            stages(carrier)
            carrier.check_cost()
            files = writer.done()
        dropped = manifest.at(FileState.WRITTEN) if options.anew else []
        if files or dropped:
            manifest.put(files, without=dropped)
        manifest.sweep()
    return carrier.written(tuple(files), len(dropped))


class _Collecting:
    """Takes a carrier's place: answers from the ledger, and hands on what is not there.

    In its place stands a failure, so that nothing is asked about it and nothing follows from it.
    """

    def __init__(
        self,
        ledger: Ledger,
        manifest: Manifest,
        options: WriteOptions,
        writer: BatchWriter | None = None,
        here: Carrier | None = None,
    ) -> None:
        self._ledger, self._options, self._writer, self._here = ledger, options, writer, here
        self._waiting = set(_halves_waiting(manifest, options))
        self._called: set[int] = set()
        self._stages: list[tuple[StageForecaster, Price | None]] = []
        self._counts: Counter[str] = Counter()
        self._elsewhere: Counter[str] = Counter()

    async def __call__(
        self, stage: str, requests: Iterable[Request], model: Model, total: int, read: Callable[[Answered], T]
    ) -> list[T]:
        """Return what ``read`` made of each request's outcome, in the order of the requests."""
        if self._here and model.local:
            return await self._here(stage, requests, model, total, read)
        adding = StageForecaster(stage, model, self._ledger, self._called)
        self._stages.append((adding, batch_price(model)))
        results: list[T] = []
        for place, request in enumerate(requests):
            key = request.key(model.identity)
            entry = self._ledger.find(key)
            if entry:
                adding.add(key, request)
                self._counts["in_ledger"] += 1
            outcome: Reply | Failure = entry.reply if entry else self._collected(key, model, request, adding)
            at = entry.at if entry else ""
            results.append(read(Answered(request, key, outcome, at, called=False, place=place)))
            if place % _TURN == 0:
                await asyncio.sleep(0)
        return results

    @property
    def forecast(self) -> Forecast:
        """What is collected, at the price of batches."""
        return Forecast(tuple(replace(stage.forecast(), price=price) for stage, price in self._stages))

    def check_cost(self) -> None:
        """Raise where what is collected could cost more than it may."""
        most = self._options.max_cost
        if most is None:
            return
        forecast = self.forecast
        if forecast.unpriced:
            raise InputError(
                f"can't be kept: the price of {', '.join(forecast.unpriced)} is not known",
                field="--max-cost",
                way_out="give it in a file for --models: price = { input = ..., cached_input = ..., output = ... }",
            )
        if (forecast.most_cost or 0.0) > most:
            raise BudgetSpentError(
                f"the batch files could cost ${forecast.most_cost:.4f}, and the limit is ${most:g}; none was written."
                " The way out: take a smaller --sample, or give a higher --max-cost."
            )

    def written(self, files: tuple[BatchFile, ...], dropped: int) -> Written:
        """Return what it came to."""
        return Written(
            files=files,
            forecast=self.forecast,
            in_ledger=self._counts["in_ledger"],
            waiting=self._counts["waiting"],
            refused=self._counts["refused"],
            asked_here=self._here.calls if self._here else 0,
            elsewhere=dict(self._elsewhere),
            dropped=dropped,
        )

    def _collected(self, key: str, model: Model, request: Request, adding: StageForecaster) -> Failure:
        half = int(key[:16], 16)
        if half in self._waiting:
            self._counts["waiting"] += 1
            return Failure(FailureKind.TRANSPORT, "it is in a batch file that was not collected yet")
        to = with_batches(model)
        if to is None and not model.local:
            self._elsewhere[model.name] += 1
            return Failure(FailureKind.TRANSPORT, "it can't be put into a batch file")
        if not self._options.retry_refused:
            failure = self._ledger.last_failure(key)
            if failure is not None and was_refused(failure):
                self._counts["refused"] += 1
                return failure
        new = half not in self._called
        adding.add(key, request)
        if new and self._writer and to:
            self._writer.add(key, to, request)
        return Failure(FailureKind.TRANSPORT, "it was not asked: it is put into a batch file")


def batch_price(model: Model) -> Price | None:
    """Return what a model costs in batch files; None where its price is not known."""
    price, to = model.price, with_batches(model)
    if price is None or to is None:
        return price
    share = 1 - to.batch_discount
    return Price(price.input * share, price.cached_input * share, price.output * share)


def _halves_waiting(manifest: Manifest, options: WriteOptions) -> Iterator[int]:
    """Yield half of the key of each request that is in a file already; it tells them apart and takes less room."""
    for file in manifest.at(*OPEN):
        if not (options.anew and file.state is FileState.WRITTEN):
            for key in keys_of(manifest.requests_of(file)):
                yield int(key[:16], 16)
