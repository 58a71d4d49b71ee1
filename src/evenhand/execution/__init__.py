"""How requests are carried out: the ledger, the runner and the run folder."""

from evenhand.errors import StoppedError
from evenhand.execution.answered import Answered
from evenhand.execution.budget import Budget, BudgetSpentError
from evenhand.execution.draining import drain_running
from evenhand.execution.ledger import Ledger, LedgerError
from evenhand.execution.retries import Patience
from evenhand.execution.run_folder import RunFolder, UnwritableError, keeping, storable
from evenhand.execution.runner import carry_out, run_requests
from evenhand.execution.watch import RunWatch, UnwatchedRun

__all__ = [
    "Answered",
    "Budget",
    "BudgetSpentError",
    "Ledger",
    "LedgerError",
    "Patience",
    "RunFolder",
    "RunWatch",
    "StoppedError",
    "UnwatchedRun",
    "UnwritableError",
    "carry_out",
    "drain_running",
    "keeping",
    "run_requests",
    "storable",
]
