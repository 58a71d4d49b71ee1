"""What came of a run folder's batches, into its ledger; the rest into files that are sent again."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.errors import EvenhandError, InputError
from evenhand.execution import Ledger, Patience
from evenhand.execution.batch import (
    BatchFile,
    BatchLimits,
    BatchWriter,
    FileState,
    KeptRequests,
    Manifest,
    Tally,
    batches_locked,
    take_in,
)
from evenhand.execution.retries import answer_with_patience
from evenhand.models import ModelSettings
from evenhand.models.batch_api import ENDED, Batch, BatchApi
from evenhand.models.http import HttpModel
from evenhand.studies.batch.folders import model_of
from evenhand.studies.batch.status import problem_of
from evenhand.studies.inputs import load_model_settings
from evenhand.studies.watch import StudyWatch, UnwatchedStudy


@dataclass(frozen=True, slots=True)
class Collected:
    """What was collected."""

    files: tuple[tuple[BatchFile, Tally], ...]
    """Each batch that had ended, with what its lines came to."""
    under_way: int
    """Batches that have not ended."""
    to_submit: int
    """Files that wait to be submitted, those with what is sent again among them."""
    rejected: tuple[tuple[BatchFile, str], ...]
    """Files that the provider turned down as wholes, and why."""
    postponed: tuple[str, ...]
    """Names of those among them that came too soon, for a limit of the provider's, and wait to be submitted again."""
    problems: tuple[str, ...]
    """What kept batches from being collected."""

    @property
    def total(self) -> Tally:
        """All of it together."""
        total = Tally()
        for _, tally in self.files:
            total.add(tally)
        return total


def collect(
    run: Path,
    models: Path | None = None,
    *,
    give_up: Sequence[str] = (),
    limits: BatchLimits | None = None,
    patience: Patience | None = None,
    watch: StudyWatch | None = None,
) -> Collected:
    """Fetch what came of the batches that have ended, and put every reply into the run folder's ledger.

    Requests without a reply that may be answered another time go into new batch files; those that the provider has
    refused are noted in the ledger. A batch is collected once: to do it again changes nothing.

    Args:
        run: the run folder.
        models: a file with settings of models, the same as when the files were written.
        give_up: names of files whose batches can't be had any more; their requests may then be written again.
        limits: of the files with what is sent again.
        patience: how often and how long to wait for what may pass.
        watch: told of each batch.
    """
    Manifest.there(run)
    settings = load_model_settings(models)
    with batches_locked(run) as manifest, Ledger(run / "ledger.sqlite") as ledger:
        work = _Collection(
            manifest, ledger, settings, limits or BatchLimits(), patience or Patience(), watch or UnwatchedStudy()
        )
        _give_up(manifest, give_up)
        found: list[tuple[BatchFile, Tally]] = []
        rejected: list[tuple[BatchFile, str]] = []
        problems: dict[str, None] = {}
        for file in manifest.at(FileState.SUBMITTED):
            try:
                result = asyncio.run(work.collected(file))
            except EvenhandError as error:
                problems[f"{file.name}: {error}"] = None
                continue
            if isinstance(result, Tally):
                found.append((file, result))
            elif result:
                rejected.append((file, result))
        manifest.sweep()
        return Collected(
            files=tuple(found),
            under_way=len(manifest.at(FileState.SUBMITTED)),
            to_submit=len(manifest.at(FileState.WRITTEN, FileState.UPLOADED, FileState.CREATING)),
            rejected=tuple(rejected),
            postponed=tuple(
                file.name for file in manifest.at(FileState.WRITTEN) if file.name in {one.name for one, _ in rejected}
            ),
            problems=tuple(problems),
        )


def _give_up(manifest: Manifest, names: Sequence[str]) -> None:
    at_the_provider = manifest.at(FileState.UPLOADED, FileState.CREATING, FileState.SUBMITTED)
    there = {file.name: file for file in at_the_provider}
    for name in names:
        if name not in there:
            raise InputError(
                f"there is no file {name!r} at the provider",
                field="--give-up",
                way_out=f"name one of {', '.join(there)}" if there else "leave it away",
            )
    for name in names:
        manifest.change(there[name], state=FileState.REJECTED, note="given up")


@dataclass(frozen=True, slots=True)
class _Collection:
    manifest: Manifest
    ledger: Ledger
    settings: Mapping[str, ModelSettings]
    limits: BatchLimits
    patience: Patience
    watch: StudyWatch

    async def collected(self, file: BatchFile) -> Tally | str:
        """Return what a batch came to, why it was turned down as a whole, or an empty text if it has not ended."""
        model = model_of(file, self.settings)
        async with BatchApi(model) as api:
            batch, _ = await answer_with_patience(lambda: api.retrieve(file.batch), self.patience)
            if batch.status not in ENDED:
                return ""
            if batch.status == "failed" and not batch.output_file:
                return self._turned_down(file, batch)
            if batch.completed and not batch.output_file:
                raise EvenhandError(
                    f"the batch {batch.id} has {batch.completed:,} replies, and its output is not there yet. The way"
                    " out: give the same command again later."
                )
            outputs = await self._downloaded(api, file, batch)
            if sum(map(_lines, outputs)) < batch.completed + batch.failed:
                # Cut off between two lines, it may be. If it is as short again, it is all that there is.
                outputs = await self._downloaded(api, file, batch)
        with KeptRequests(self.manifest.requests_of(file), file.identity) as requests:
            tally, again = take_in(outputs, requests, model, self.ledger, file.attempt)
            self._settle(file, model, batch, tally, [(key, requests) for key in again])
        for path in outputs:
            path.unlink(missing_ok=True)
        return tally

    async def _downloaded(self, api: BatchApi, file: BatchFile, batch: Batch) -> list[Path]:
        async def download(kind: str, output: str) -> Path:
            path = self.manifest.folder / f"{file.name.removesuffix('.jsonl')}.{kind}.jsonl"
            await answer_with_patience(lambda: api.download(output, path), self.patience)
            return path

        kinds = (("output", batch.output_file), ("errors", batch.error_file))
        return [await download(kind, output) for kind, output in kinds if output]

    def _settle(
        self, file: BatchFile, model: HttpModel, batch: Batch, tally: Tally, again: Sequence[tuple[str, KeptRequests]]
    ) -> None:
        """Write what is sent again, and mark the batch as collected, in one step of the manifest."""
        earlier = self._earlier(file, len(again)) if again else None
        attempt = max(file.attempt, earlier.attempt - 1 if earlier else 0) + 1
        with BatchWriter(self.manifest, self.limits, attempt) as writer:
            if earlier:
                with KeptRequests(self.manifest.requests_of(earlier), earlier.identity) as kept:
                    for key in kept.places:
                        writer.add(key, model, kept[key])
            for key, requests in again:
                writer.add(key, model, requests[key])
            files = writer.done()
        collected = replace(file, state=FileState.COLLECTED, status=batch.status, counts=tally.counts())
        self.manifest.put([collected, *files], without=[earlier] if earlier else [])

    def _earlier(self, file: BatchFile, more: int) -> BatchFile | None:
        """Return a file of requests that are sent again in which so many more have room; few files are better."""
        there = [
            one
            for one in self.manifest.at(FileState.WRITTEN)
            if one.attempt > 1
            and (one.identity, one.endpoint) == (file.identity, file.endpoint)
            and one.requests + more <= self.limits.requests
            and 2 * one.bytes <= self.limits.bytes
        ]
        return there[-1] if there else None

    def _turned_down(self, file: BatchFile, batch: Batch) -> str:
        problem = problem_of(batch) or "the provider does not say why"
        if batch.came_too_soon:
            self.manifest.change(
                file,
                state=FileState.WRITTEN,
                attempt=file.attempt + 1,
                input_file="",
                batch="",
                status="",
                note=problem,
            )
        else:
            self.manifest.change(file, state=FileState.REJECTED, status=batch.status, note=problem)
        return problem


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for line in file if line.strip())
