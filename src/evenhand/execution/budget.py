"""A limit on what a run may cost, kept before a call is made and not after."""

import asyncio

from evenhand.errors import EvenhandError, InputError
from evenhand.models import Model


class BudgetSpentError(EvenhandError):
    """The next call could cost more than is left."""


class Budget:
    """What calls may cost and have cost, in US dollars.

    Before a call the most that it can cost is set aside; a call for which that is not left waits until those under
    way have shown what they really cost, and if it is then still too much, the run ends.
    """

    def __init__(self, most: float | None = None) -> None:
        """Take the limit; None is no limit."""
        self.most = most
        self.spent = 0.0
        self._set_aside = 0.0
        self._changed = asyncio.Event()

    @property
    def limited(self) -> bool:
        """There is a limit."""
        return self.most is not None

    def check(self, model: Model) -> None:
        """Raise ``InputError`` where there is a limit and the model's price is not known."""
        if self.limited and model.price is None:
            raise InputError(
                f"can't be kept: the price of {model.name} is not known",
                field="--max-cost",
                way_out=f'give it in a file for --models, under ["{model.name}"]:'
                " price = { input = ..., cached_input = ..., output = ... } (US dollars a million tokens)",
            )

    async def set_aside(self, cost: float) -> None:
        """Return once so much is set aside; raises ``BudgetSpentError`` if it is not left."""
        while self.most is not None and self.spent + self._set_aside + cost > self.most:
            if self._set_aside <= 1e-12:
                raise BudgetSpentError(
                    f"the limit of ${self.most:g} is reached: ${self.spent:.4f} are spent and the next call may cost"
                    f" ${cost:.4f}. Every reply is kept. The way out: give the same command with a higher --max-cost."
                )
            self._changed.clear()
            await self._changed.wait()
        self._set_aside += cost

    def settle(self, cost: float, paid: float) -> None:
        """Tell what a call has really cost, for which ``cost`` was set aside."""
        self._set_aside = max(0.0, self._set_aside - cost)
        self.spent += paid
        self._changed.set()
