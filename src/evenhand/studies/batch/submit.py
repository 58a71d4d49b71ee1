"""Batch files to the provider, none of them twice."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    batches_locked,
    keys_of,
)
from evenhand.execution.batch.outputs import unanswered
from evenhand.execution.retries import answer_with_patience
from evenhand.fetching import sha256_of_file
from evenhand.models import AccessError, ModelSettings, TransportError, Trouble
from evenhand.models.batch_api import Batch, BatchApi
from evenhand.studies.batch.folders import model_of
from evenhand.studies.inputs import load_model_settings
from evenhand.studies.watch import StudyWatch, UnwatchedStudy

_TO_DO = (FileState.CREATING, FileState.UPLOADED, FileState.WRITTEN)


@dataclass(frozen=True, slots=True)
class Submitted:
    """What was submitted, and what was not."""

    files: tuple[BatchFile, ...]
    left: int
    """Files that are still to be submitted."""
    stopped: EvenhandError | None = None
    """Why it ended before the last file; what was submitted before stays submitted."""


def submit(
    run: Path,
    models: Path | None = None,
    *,
    limit: int | None = None,
    create_again: bool = False,
    patience: Patience | None = None,
    watch: StudyWatch | None = None,
) -> Submitted:
    """Upload the batch files of a run folder, and have a batch made of each.

    Before anything is sent, the manifest says what is about to happen: where a submission was cut off, the provider is
    asked whether it has the batch before it is asked to make one.

    Args:
        run: the run folder.
        models: a file with settings of models, the same as when the files were written.
        limit: how many files at most.
        create_again: where a submission was cut off, make a batch without asking whether there is one.
        patience: how often and how long to wait for what may pass.
        watch: told of waits.
    """
    if limit is not None and limit < 1:
        raise InputError(f"is {limit}", field="--limit", way_out="give 1 or more")
    Manifest.there(run)
    settings = load_model_settings(models)
    with batches_locked(run) as manifest:
        work = _Submission(manifest, settings, patience or Patience(), watch or UnwatchedStudy(), create_again)
        done: list[BatchFile] = []
        stopped: EvenhandError | None = None
        try:
            for file in work.to_do():
                if limit is None or len(done) < limit:
                    done.append(asyncio.run(work.submitted(file)))
        except EvenhandError as error:
            stopped = error
        return Submitted(tuple(done), len(manifest.at(*_TO_DO)), stopped)


@dataclass(frozen=True, slots=True)
class _Submission:
    manifest: Manifest
    settings: Mapping[str, ModelSettings]
    patience: Patience
    watch: StudyWatch
    create_again: bool

    def to_do(self) -> Iterator[BatchFile]:
        """Yield the files to submit, without the requests that the ledger got a reply for since they were written."""
        with Ledger.peek(self.manifest.folder.parent / "ledger.sqlite") as ledger:
            for file in self.manifest.at(*_TO_DO):
                if file.state is not FileState.WRITTEN:
                    yield file
                    continue
                keys = list(keys_of(self.manifest.requests_of(file)))
                missing = unanswered(keys, ledger)
                if len(missing) == len(keys):
                    yield file
                else:
                    self.watch.say(f"{file.name}: {len(keys) - len(missing):,} requests have a reply by now; left out")
                    yield from self._rewritten(file, missing)

    def _rewritten(self, file: BatchFile, keys: Sequence[str]) -> list[BatchFile]:
        """Put a file with these requests alone in a file's place."""
        model = model_of(file, self.settings)
        with (
            BatchWriter(self.manifest, BatchLimits(), file.attempt) as writer,
            KeptRequests(self.manifest.requests_of(file), file.identity) as kept,
        ):
            for key in keys:
                writer.add(key, model, kept[key])
            files = writer.done()
        self.manifest.put(files, without=[file])
        self.manifest.sweep()
        return files

    async def submitted(self, file: BatchFile) -> BatchFile:
        async with BatchApi(model_of(file, self.settings)) as api:
            if file.state is FileState.WRITTEN:
                file = await self._uploaded(file, api)
            unsure = file.state is FileState.CREATING and not self.create_again
            file = self.manifest.change(file, state=FileState.CREATING, note="")
            batch = await self._created(file, api, unsure=unsure)
        return self.manifest.change(file, state=FileState.SUBMITTED, batch=batch.id, status=batch.status)

    async def _uploaded(self, file: BatchFile, api: BatchApi) -> BatchFile:
        path = self.manifest.path_of(file)
        if not path.is_file() or sha256_of_file(path) != file.sha256:
            raise InputError(
                "is not there as it was written",
                source=str(path),
                way_out="write the requests anew: the same `evenhand batch write` with --anew",
            )
        uploaded, _ = await answer_with_patience(lambda: api.upload(path), self.patience, self._in_vain(file))
        return self.manifest.change(file, state=FileState.UPLOADED, input_file=uploaded)

    async def _created(self, file: BatchFile, api: BatchApi, *, unsure: bool) -> Batch:
        async def once() -> Batch:
            nonlocal unsure
            if unsure:
                found = await self._found(file, api)
                if found:
                    return found
                unsure = False
            try:
                return await api.create(file.input_file, file.endpoint, file.mark)
            except TransportError as error:
                # A limit says that nothing was made. After anything else that may pass, a batch may be there.
                unsure = error.trouble not in (Trouble.RATE_LIMIT, Trouble.REFUSED)
                raise

        try:
            batch, _ = await answer_with_patience(once, self.patience, self._in_vain(file))
        except EvenhandError as error:
            if not unsure:
                # The upload itself may be what was not liked, or be gone by the next time.
                state = FileState.WRITTEN if isinstance(error, AccessError) else FileState.UPLOADED
                self.manifest.change(file, state=state, note=_shortened(str(error)))
                raise
            raise EvenhandError(
                f"{error} It can't be told whether a batch was made of {file.name} (upload {file.input_file}). The way"
                " out: give the same command again; if the provider can't list its batches, look there by hand, and"
                " give --create-again only if there is none."
            ) from None
        return batch

    async def _found(self, file: BatchFile, api: BatchApi) -> Batch | None:
        found = await api.find(file.input_file, file.mark)
        if found is None:
            # A list may lag behind.
            await asyncio.sleep(self.patience.first_wait)
            found = await api.find(file.input_file, file.mark)
        if found:
            self.watch.say(f"{file.name}: the provider has it already, as {found.id}")
        return found

    def _in_vain(self, file: BatchFile) -> Callable[[Trouble, float], None]:
        return lambda trouble, wait: self.watch.say(f"{file.name}: {trouble}; trying again in {wait:.0f} s")


def _shortened(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:299]}…"
