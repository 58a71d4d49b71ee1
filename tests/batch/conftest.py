"""A server that speaks the batch API, for a file of tests; empty for each of them."""

from collections.abc import Iterator

import pytest

from batch_server import CANARY, BatchServer, batch_server


@pytest.fixture(scope="module")
def running() -> Iterator[BatchServer]:
    with batch_server() as server:
        yield server


@pytest.fixture
def server(running: BatchServer, monkeypatch: pytest.MonkeyPatch) -> BatchServer:
    monkeypatch.setenv("EVENHAND_API_KEY", CANARY)
    running.reset()
    return running
