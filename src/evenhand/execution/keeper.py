"""Keeping replies: those that come back at the same time are committed in one go."""

import asyncio

from evenhand.execution.ledger import Entry, Ledger, Paid
from evenhand.instruments import Request
from evenhand.readings import Reply

_TOGETHER = 0.003
"""Seconds that a reply waits for others to be committed with it: a commit costs as much for one as for ten."""


class Keeper:
    """Commits what comes back; a reply counts only once its commit is done."""

    def __init__(self, ledger: Ledger, model: str) -> None:
        """Take the ledger and the model's identity."""
        self._ledger, self._model = ledger, model
        self._waiting: list[tuple[Paid, asyncio.Future[Entry]]] = []

    async def keep(self, key: str, request: Request, reply: Reply, tries: int) -> Entry:
        """Return what the ledger has under the key once the reply is committed."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Entry] = loop.create_future()
        if not self._waiting:
            loop.call_later(_TOGETHER, self._commit)
        self._waiting.append((Paid(key, self._model, request, reply, tries), done))
        return await done

    def _commit(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            entries = self._ledger.keep_all([paid for paid, _ in waiting])
        except Exception as error:  # Whatever it is: who waits must not wait for ever.
            for _, done in waiting:
                if not done.done():
                    done.set_exception(error)
            return
        for (_, done), entry in zip(waiting, entries, strict=True):
            if not done.done():
                done.set_result(entry)
