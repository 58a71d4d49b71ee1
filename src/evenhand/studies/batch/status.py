"""How far the batches of a run folder are."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.errors import EvenhandError
from evenhand.execution import Patience
from evenhand.execution.batch import BatchFile, FileState, Manifest
from evenhand.execution.retries import answer_with_patience
from evenhand.models import ModelSettings
from evenhand.models.batch_api import Batch, BatchApi
from evenhand.studies.batch.folders import model_of
from evenhand.studies.inputs import load_model_settings


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A batch file, and what the provider says of its batch."""

    file: BatchFile
    status: str
    """What the provider says, or what the manifest does where there is no batch to ask about."""
    counts: dict[str, int] = field(default_factory=dict)
    """The provider's: total, completed, failed."""
    problem: str = ""
    """Why nothing could be learnt, or why the batch was turned down."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "file": self.file.name,
            "model": self.file.model,
            "endpoint": self.file.endpoint,
            "requests": self.file.requests,
            "bytes": self.file.bytes,
            "attempt": self.file.attempt,
            "state": str(self.file.state),
            "batch": self.file.batch,
            "status": self.status,
            "counts": self.counts,
            "collected": self.file.counts,
            "problem": self.problem or self.file.note,
        }


def status(run: Path, models: Path | None = None, *, patience: Patience | None = None) -> list[FileStatus]:
    """Ask the provider about every batch that is not collected yet. Nothing is changed."""
    manifest = Manifest.there(run)
    settings = load_model_settings(models)
    return asyncio.run(_all(manifest, settings, patience or Patience()))


async def _all(manifest: Manifest, settings: Mapping[str, ModelSettings], patience: Patience) -> list[FileStatus]:
    found = []
    for file in manifest.files:
        if file.state is not FileState.SUBMITTED:
            found.append(FileStatus(file, file.status or str(file.state)))
            continue
        try:
            batch = await _asked(file, settings, patience)
        except EvenhandError as error:
            found.append(FileStatus(file, "unknown", problem=str(error)))
            continue
        found.append(FileStatus(file, batch.status, batch.counts, problem_of(batch)))
    return found


def problem_of(batch: Batch) -> str:
    """Return why a batch was turned down; empty where it was not."""
    return "; ".join(dict.fromkeys(f"{code}: {message}" if code else message for code, message in batch.errors))[:500]


async def _asked(file: BatchFile, settings: Mapping[str, ModelSettings], patience: Patience) -> Batch:
    async with BatchApi(model_of(file, settings)) as api:
        batch, _ = await answer_with_patience(lambda: api.retrieve(file.batch), patience)
        return batch
