"""Run folders that have batch files, and the models that the files are for."""

from collections.abc import Mapping
from pathlib import Path

from evenhand.errors import InputError
from evenhand.execution.batch import BatchFile, Manifest
from evenhand.execution.batch.manifest import FOLDER, MANIFEST
from evenhand.models import ModelRole, ModelSettings, open_model
from evenhand.models.http import HttpModel
from evenhand.models.replicas import with_batches


def runs_with_batches(folder: Path) -> list[Path]:
    """Return the run folder itself, or those in it where it holds several configurations.

    Raises ``InputError`` where there are no batch files in any.
    """
    if (folder / FOLDER / MANIFEST).is_file():
        return [folder]
    inside = sorted(path.parent.parent for path in folder.glob(f"*/{FOLDER}/{MANIFEST}"))
    if not inside:
        Manifest.there(folder)
    return inside


def model_of(file: BatchFile, settings: Mapping[str, ModelSettings]) -> HttpModel:
    """Return the model that a file is for, opened with the settings it was written with.

    Raises ``InputError`` where other settings make another model of it: its replies would go under other keys.
    """
    model = with_batches(open_model(file.model, ModelRole.GRADER, settings=settings))
    if model is None or model.identity != file.identity:
        raise InputError(
            f"{file.name} was written with other settings of {file.model}",
            field="--models",
            way_out="give the same file of settings as to `evenhand batch write`, or write the requests anew with"
            " --anew",
        )
    return model
