"""Batches that are under way at a provider, ended early."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import EvenhandError, InputError
from evenhand.execution import Patience
from evenhand.execution.batch import BatchFile, FileState, Manifest, batches_locked
from evenhand.execution.retries import answer_with_patience
from evenhand.models import ModelSettings
from evenhand.models.batch_api import ENDED, STOPPING, Batch, BatchApi
from evenhand.studies.batch.folders import model_of
from evenhand.studies.inputs import load_model_settings
from evenhand.studies.watch import StudyWatch, UnwatchedStudy


@dataclass(frozen=True, slots=True)
class Cancelled:
    """What was cancelled, and what was not."""

    files: tuple[BatchFile, ...]
    """Batches that the provider is ending now, or has ended at our word."""
    ended: tuple[BatchFile, ...]
    """Batches that had ended before."""
    not_submitted: tuple[BatchFile, ...]
    """Files of which no batch was made: nothing is under way, and nothing is paid for."""
    problems: tuple[str, ...]
    """What kept batches from being cancelled."""


def cancel(
    run: Path,
    models: Path | None = None,
    *,
    names: Sequence[str] = (),
    patience: Patience | None = None,
    watch: StudyWatch | None = None,
) -> Cancelled:
    """Have the provider end the batches of a run folder that are under way.

    What was answered until then is paid for, and is had by ``collect``, which writes the rest into new files that wait
    to be submitted. To cancel twice changes nothing.

    Args:
        run: the run folder.
        models: a file with settings of models, the same as when the files were written.
        names: of batch files; all that there are where none is named.
        patience: how often and how long to wait for what may pass.
        watch: told of batches whose making was cut off, and that were found.
    """
    Manifest.there(run)
    settings = load_model_settings(models)
    with batches_locked(run) as manifest:
        work = _Cancellation(manifest, settings, patience or Patience(), watch or UnwatchedStudy())
        done: list[BatchFile] = []
        ended: list[BatchFile] = []
        problems: list[str] = []
        for file in _named(manifest, names, FileState.SUBMITTED, FileState.CREATING):
            try:
                changed, before = asyncio.run(work.cancelled(file))
            except EvenhandError as error:
                problems.append(f"{file.name}: {error}")
                continue
            (ended if before else done).append(changed)
        left = _named(manifest, names, FileState.WRITTEN, FileState.UPLOADED)
        return Cancelled(tuple(done), tuple(ended), tuple(left), tuple(problems))


def _named(manifest: Manifest, names: Sequence[str], *states: FileState) -> list[BatchFile]:
    every = [file.name for file in manifest.files]
    for name in names:
        if name not in every:
            raise InputError(
                f"there is no batch file {name!r}", field="--file", way_out=f"name one of {', '.join(every)}"
            )
    return [file for file in manifest.at(*states) if not names or file.name in names]


@dataclass(frozen=True, slots=True)
class _Cancellation:
    manifest: Manifest
    settings: Mapping[str, ModelSettings]
    patience: Patience
    watch: StudyWatch

    async def cancelled(self, file: BatchFile) -> tuple[BatchFile, bool]:
        """Cancel a file's batch, and return the file with whether its batch had ended by itself."""
        async with BatchApi(model_of(file, self.settings)) as api:
            if file.state is FileState.CREATING:
                found, _ = await answer_with_patience(lambda: api.find(file.input_file, file.mark), self.patience)
                if found is None:
                    raise EvenhandError(
                        "the provider's list has no batch of it so far; it was asked for one, and the answer was lost."
                        " The way out: give the same command again in a minute, or look there by hand."
                    )
                self.watch.say(f"{file.name}: the provider has it, as {found.id}")
                file = self.manifest.change(file, state=FileState.SUBMITTED, batch=found.id, status=found.status)

            async def once() -> Batch:
                # It may end at any time, and to cancel what has ended is an error.
                batch = await api.retrieve(file.batch)
                return batch if batch.status in (*ENDED, *STOPPING) else await api.cancel(file.batch)

            batch, _ = await answer_with_patience(once, self.patience)
        return self.manifest.change(file, status=batch.status), batch.status not in STOPPING
