"""A limit on what a run may cost is never passed, and used as far as it goes."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ScriptedModel
from evenhand.errors import InputError
from evenhand.execution import Budget, BudgetSpentError, Ledger, run_requests
from evenhand.instruments import Request
from evenhand.models import Price
from evenhand.readings import Reply

PRICE = Price(input=1000.0, cached_input=1000.0, output=1000.0)


class Billing(ScriptedModel):
    """Bills ten tokens a call, after a while."""

    async def answer(self, request: Request) -> Reply:
        self.asked.append(request)
        await asyncio.sleep(0)
        return Reply("x", "stop", "m", prompt_tokens=9, completion_tokens=1)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.0, 2.0), st.integers(1, 20))
def test_the_limit_is_never_passed(most: float, concurrency: int) -> None:
    model = Billing(None, concurrency=concurrency, price=PRICE)
    budget = Budget(most)
    with Ledger(Path(":memory:")) as ledger:
        requests = [Request(prompt=str(number)) for number in range(300)]
        with pytest.raises(BudgetSpentError, match="--max-cost"):
            run_requests(requests, model, ledger, budget=budget)
        kept = ledger.count()
    assert budget.spent == pytest.approx(kept * 0.01)
    assert budget.spent <= most
    # What is set aside for a call is more than it costs, so a little is left.
    assert most - budget.spent < 0.2


def test_a_price_that_nobody_knows_is_an_error_before_anything_is_asked(tmp_path: Path) -> None:
    model = Billing(None)
    with Ledger(tmp_path / "l.sqlite") as ledger, pytest.raises(InputError, match=r"price of scripted.*--models"):
        run_requests([Request(prompt="a")], model, ledger, budget=Budget(1.0))
    assert model.asked == []


def test_several_stages_share_one_budget(tmp_path: Path) -> None:
    budget = Budget(0.5)
    with Ledger(tmp_path / "l.sqlite") as ledger:
        run_requests([Request(prompt="a")], Billing(None, price=PRICE), ledger, budget=budget)
        run_requests([Request(prompt="b")], Billing(None, price=PRICE, name="other"), ledger, budget=budget)
    assert budget.spent == pytest.approx(0.02)
