"""A provider that hangs keeps nobody from working, and neither does a model that computes in this process."""

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from conftest import environment
from evenhand.execution import Answered, Ledger, carry_out
from evenhand.instruments import Message, Request
from evenhand.models import EMBEDDED_MODELS, Model, ModelRole, open_model
from evenhand.readings import Reply
from evenhand.studies.side_by_side import side_by_side
from fault_server import fault_server

pytestmark = pytest.mark.embedded

AUDIT = ["audit", "--pairs", "builtin:us", "--sample", "4", "--instruments", "compact", "--max-tokens", "24"]
RESPONSES, GRADED = 8, 16


def replies(ledger: Path, identity: str) -> int:
    """Return how many replies are kept of models with this in their identity."""
    if not ledger.exists():
        return 0
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'replies'").fetchall():
            return 0
        (count,) = db.execute("SELECT count(*) FROM replies WHERE model LIKE ?", (f"%{identity}%",)).fetchone()
    return int(count)


def test_an_embedded_grader_finishes_while_a_provider_hangs(tmp_path: Path, subject_weights: Path) -> None:
    ledger = tmp_path / "run" / "ledger.sqlite"
    embedded = EMBEDDED_MODELS["smollm2-135m"].sha256
    with fault_server(tmp_path / "log", allowed=RESPONSES) as server:
        command = [sys.executable, "-c", "from evenhand.cli import main; main()", *AUDIT, "--out", str(ledger.parent)]
        # The one that hangs comes first, so that whoever waits for it never gets to the other.
        command += ["--subject", f"{server.url}#subject", "--grader", f"{server.url}#slow", "--grader", "smollm2-135m"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
        try:
            deadline = time.monotonic() + 120
            while replies(ledger, embedded) < GRADED:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
            kinds = [event.kind for event in server.events()]
            assert (kinds.count("asked"), kinds.count("answered")) == (RESPONSES + GRADED, RESPONSES)
            assert replies(ledger, "") == RESPONSES + GRADED
            server.set(allowed=None)
            _, errors = process.communicate(timeout=120)
            assert process.returncode == 0, errors
        finally:
            process.kill()
            process.communicate()
    assert replies(ledger, "") == RESPONSES + 2 * GRADED


def test_answers_are_kept_while_an_embedded_model_computes(tmp_path: Path, subject_weights: Path) -> None:
    """The provider begins to answer once the embedded model is at work on a long text, and is done before it."""
    calls, done = 50, list[str]()
    with fault_server(tmp_path / "log", allowed=0) as server, Ledger(tmp_path / "l.sqlite") as ledger:
        short, long = (Request(prompt="1, 2, 3, 4, 5,", max_tokens=tokens) for tokens in (1, 600))

        def read(answer: Answered) -> Answered:
            if answer.request == short:
                server.set(allowed=None)
            return answer

        async def work(model: Model) -> list[Answered]:
            requests = (
                [short, long]
                if model.local
                else [Request(messages=(Message("user", f"request {n}"),)) for n in range(calls)]
            )
            model.concurrency = 1 if model.local else 8
            answers = await carry_out(requests, model, ledger, read, stage=model.name)
            done.append(model.name)
            return answers

        models = [open_model("smollm2-135m", ModelRole.SUBJECT), open_model(f"{server.url}#m", ModelRole.GRADER)]
        ours, theirs = side_by_side(models, work)
    assert done == [models[1].name, models[0].name]
    assert [isinstance(answer.outcome, Reply) for answer in [*ours, *theirs]] == [True] * (2 + calls)
    assert isinstance(ours[1].outcome, Reply)
    assert ours[1].outcome.completion_tokens == 600
