"""How requests are carried out: the ledger, the runner and the run folder."""

from evenhand.execution.ledger import Ledger, LedgerError
from evenhand.execution.run_folder import RunFolder, storable
from evenhand.execution.runner import Answered, run_requests

__all__ = ["Answered", "Ledger", "LedgerError", "RunFolder", "run_requests", "storable"]
