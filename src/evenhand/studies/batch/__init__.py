"""A run by way of a provider's batch files: written, submitted, and what comes back put into the ledger."""

from evenhand.studies.batch.cancel import Cancelled, cancel
from evenhand.studies.batch.collect import Collected, collect
from evenhand.studies.batch.status import FileStatus, status
from evenhand.studies.batch.submit import Submitted, submit
from evenhand.studies.batch.write import WriteOptions, Written, write

__all__ = [
    "Cancelled",
    "Collected",
    "FileStatus",
    "Submitted",
    "WriteOptions",
    "Written",
    "cancel",
    "collect",
    "status",
    "submit",
    "write",
]
