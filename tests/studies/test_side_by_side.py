"""Models at work at once: none waits for another, and none begins once one has ended with an error."""

import asyncio
import time
from pathlib import Path

import pytest

from conftest import ScriptedModel
from evenhand.errors import EvenhandError
from evenhand.execution import Ledger, StoppedError, carry_out, drain_running
from evenhand.instruments import Request
from evenhand.models import Model
from evenhand.readings import Reply
from evenhand.studies.side_by_side import side_by_side


def echo(request: Request) -> Reply:
    return Reply(request.prompt, "stop", "m")


class SlowToClose(ScriptedModel):
    def close(self) -> None:
        time.sleep(0.1)


def test_results_are_in_the_order_of_the_models_and_local_ones_take_turns() -> None:
    at_work: list[str] = []
    together: set[tuple[str, ...]] = set()

    async def work(model: Model) -> str:
        at_work.append(model.name)
        for _ in range(20):
            together.add(tuple(sorted(at_work)))
            await asyncio.sleep(0)
        at_work.remove(model.name)
        return model.name

    models = [ScriptedModel(echo, name=name, local=name.startswith("l")) for name in ("l1", "r1", "l2", "r2")]
    assert side_by_side(models, work) == ["l1", "r1", "l2", "r2"]
    assert any({"r1", "r2"} <= set(names) for names in together)
    assert not any({"l1", "l2"} <= set(names) for names in together)


@pytest.mark.parametrize("kind", [ScriptedModel, SlowToClose])
def test_a_model_that_waits_for_its_turn_does_not_begin_after_the_wish_to_stop(
    tmp_path: Path, kind: type[ScriptedModel]
) -> None:
    def stop_then_echo(request: Request) -> Reply:
        drain_running()
        return echo(request)

    one, two = kind(stop_then_echo, name="one", local=True), kind(echo, name="two", local=True)
    with Ledger(tmp_path / "l.sqlite") as ledger:

        async def work(model: Model) -> list[object]:
            return await carry_out([Request(prompt=str(n)) for n in range(5)], model, ledger, lambda answer: answer)

        with pytest.raises(StoppedError):
            side_by_side([one, two], work)
        assert ledger.count() == 1
    assert len(one.asked) == 1
    assert two.asked == []


def test_the_first_error_is_raised_and_the_others_are_asked_to_stop(tmp_path: Path) -> None:
    async def slow(request: Request) -> Reply:
        await asyncio.sleep(0.01)
        return echo(request)

    class Slow(ScriptedModel):
        async def answer(self, request: Request) -> Reply:
            self.asked.append(request)
            return await slow(request)

    fine, bad = Slow(None, name="fine"), ScriptedModel(lambda _: EvenhandError("no key"), name="bad")
    with Ledger(tmp_path / "l.sqlite") as ledger:

        async def work(model: Model) -> list[object]:
            return await carry_out([Request(prompt=str(n)) for n in range(50)], model, ledger, lambda answer: answer)

        with pytest.raises(EvenhandError, match="no key"):
            side_by_side([fine, bad], work)
        assert ledger.count() == len(fine.asked) < 50


@pytest.mark.parametrize(("keep_open", "closed"), [(False, 2), (True, 0)])
def test_models_are_closed_unless_they_are_to_be_kept_open(keep_open: bool, closed: int) -> None:
    class Counted(ScriptedModel):
        closings = 0

        def close(self) -> None:
            type(self).closings += 1

    async def work(model: Model) -> str:
        return model.name

    Counted.closings = 0
    models = [Counted(echo, name=name, local=True) for name in ("one", "two")]
    assert side_by_side(models, work, keep_open=keep_open) == ["one", "two"]
    assert Counted.closings == closed
