"""Requests in batch files: written, kept with what they were made of, and settled with what came back."""

from evenhand.execution.batch.manifest import BatchFile, FileState, Manifest, batches_locked
from evenhand.execution.batch.outputs import Tally, take_in
from evenhand.execution.batch.requests_kept import KeptRequests, keys_of
from evenhand.execution.batch.writer import BatchLimits, BatchWriter

__all__ = [
    "BatchFile",
    "BatchLimits",
    "BatchWriter",
    "FileState",
    "KeptRequests",
    "Manifest",
    "Tally",
    "batches_locked",
    "keys_of",
    "take_in",
]
