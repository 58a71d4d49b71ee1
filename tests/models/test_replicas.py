"""One model at several addresses."""

import asyncio
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.instruments import Request
from evenhand.models import ModelRole, TransportError, Trouble, open_model
from evenhand.models.http import HttpModel
from evenhand.models.replicas import ReplicatedModel
from evenhand.models.settings import ModelSettings, read_model_settings
from evenhand.readings import Reply
from rating_server import rating_server

NAME = "http://a:1/v1#m"


class Scripted(HttpModel):
    """A model that answers when told, or fails."""

    def __init__(self, address: str) -> None:
        super().__init__(NAME, address, "m", "NO_KEY")
        self.answered = 0
        self.trouble: tuple[Trouble, float] | None = None
        self.gate = asyncio.Event()

    async def answer(self, request: Request) -> Reply:
        await self.gate.wait()
        if self.trouble:
            trouble, wait = self.trouble
            raise TransportError("down", trouble=trouble, passing=True, wait=wait)
        self.answered += 1
        return Reply(request.prompt, "stop", "m")


def test_each_call_goes_to_whoever_has_least_to_do() -> None:
    async def run() -> list[int]:
        models = [Scripted(f"http://{host}:1/v1") for host in "abc"]
        pool = ReplicatedModel(models)
        calls = [asyncio.create_task(pool.answer(Request(prompt=str(n)))) for n in range(5)]
        await asyncio.sleep(0.01)  # Two, two and one are under way.
        models[0].gate.set()
        await asyncio.sleep(0.01)  # The first address is done with its two and has least to do for the next ones.
        models[0].gate.clear()
        calls += [asyncio.create_task(pool.answer(Request(prompt=str(n)))) for n in range(5, 7)]
        await asyncio.sleep(0.01)
        for model in models:
            model.gate.set()
        await asyncio.gather(*calls)
        return [model.answered for model in models]

    assert asyncio.run(run()) == [4, 2, 1]


def test_an_address_that_fails_is_passed_over_for_a_while() -> None:
    async def run() -> list[int]:
        now = [0.0]
        models = [Scripted(f"http://{host}:1/v1") for host in "ab"]
        for model in models:
            model.gate.set()
        pool = ReplicatedModel(models, clock=lambda: now[0])
        models[0].trouble = (Trouble.CONNECTION, 5.0)
        with pytest.raises(TransportError) as caught:
            await pool.answer(Request(prompt="x"))
        assert caught.value.wait is None, "the other address need not wait"
        for _ in range(5):
            await pool.answer(Request(prompt="x"))
        models[0].trouble, now[0] = None, 31.0
        await pool.answer(Request(prompt="x"))
        return [model.answered for model in models]

    assert asyncio.run(run()) == [1, 5]


def test_where_all_have_failed_they_are_asked_all_the_same() -> None:
    async def run() -> None:
        models = [Scripted(f"http://{host}:1/v1") for host in "ab"]
        pool = ReplicatedModel(models)
        for model in models:
            model.gate.set()
            model.trouble = (Trouble.RATE_LIMIT, 7.0)
        for _ in range(3):
            with pytest.raises(TransportError) as caught:
                await pool.answer(Request(prompt="x"))
        assert caught.value.wait == 7.0

    asyncio.run(run())


def test_the_identity_is_that_of_the_named_address_so_that_a_ledger_stays_valid() -> None:
    alone = open_model(NAME, ModelRole.GRADER)
    settings = ModelSettings(replicas=("http://b:1/v1", "http://a:1/v1"), concurrency=10)
    pool = open_model(NAME, ModelRole.GRADER, settings={NAME: settings})
    assert pool.identity == alone.identity
    assert pool.concurrency == 20
    assert pool.describe()["endpoints"] == ["http://a:1/v1", "http://b:1/v1"]


def test_both_of_two_servers_are_asked(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with rating_server(tmp_path / "a", 0.02) as a, rating_server(tmp_path / "b", 0.02) as b:
        settings = ModelSettings(replicas=(f"http://127.0.0.1:{b.port}/v1",))
        pool = open_model(a.grader, ModelRole.GRADER, settings={a.grader: settings})

        async def run() -> None:
            from evenhand.instruments import Message

            requests = [Request(messages=(Message("user", f'{n} "rating"'),), max_tokens=9) for n in range(40)]
            await asyncio.gather(*(pool.answer(request) for request in requests))
            await pool.rest()

        asyncio.run(run())
        assert (a.asked().total(), b.asked().total()) == (20, 20)


@pytest.mark.parametrize("value", ['"http://b:1/v1"', '["b:1"]', '["http://key@b:1/v1"]', "[3]"])
def test_what_is_no_list_of_addresses_is_refused(tmp_path: Path, value: str) -> None:
    file = tmp_path / "models.toml"
    file.write_text(f'["{NAME}"]\nreplicas = {value}\n')
    with pytest.raises(InputError, match="replicas: is not a list of addresses") as caught:
        read_model_settings(file)
    assert "key@" not in str(caught.value)


def test_a_settings_file_names_them(tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    file.write_text(f'["{NAME}"]\nreplicas = ["http://b:1/v1/", "http://c:1/v1"]\n')
    assert read_model_settings(file)[NAME].replicas == ("http://b:1/v1", "http://c:1/v1")
