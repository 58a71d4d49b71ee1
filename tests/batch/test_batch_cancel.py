"""Batches that are cancelled, and models at several addresses."""

import json
from pathlib import Path

import pytest

from batch_runs import QUICK, everything_in, rate_plan, rows, said
from batch_server import CANARY, BatchServer
from evenhand.errors import InputError
from evenhand.execution.batch import BatchLimits, FileState, Manifest
from evenhand.models import AccessError
from evenhand.studies.batch import WriteOptions, cancel, collect, status, submit, write
from evenhand.studies.rate import rate
from evenhand.studies.rate.run import stages_of_rate


@pytest.fixture
def run(tmp_path: Path, server: BatchServer) -> Path:
    """A run folder with three batch files of eight requests, two of them submitted and under way."""
    plan = rate_plan(tmp_path, server)
    write(plan.out, stages_of_rate(plan), WriteOptions(limits=BatchLimits(requests=8)))
    server.set(status="in_progress")
    submit(plan.out, limit=2, patience=QUICK)
    return plan.out


def states(run: Path) -> list[tuple[str, str]]:
    return [(str(file.state), file.status) for file in Manifest(run).files]


def test_what_was_answered_is_kept_and_the_rest_waits(run: Path, server: BatchServer) -> None:
    found = cancel(run, patience=QUICK)
    assert [file.name for file in found.files] == ["0001.jsonl", "0002.jsonl"]
    assert ([file.name for file in found.not_submitted], found.ended, found.problems) == (["0003.jsonl"], (), ())
    assert states(run) == [("submitted", "cancelling"), ("submitted", "cancelling"), ("written", "")]
    server.set(cancelling=2, faults={str(place): "batch_cancelled" for place in range(3, 8)})
    assert collect(run, patience=QUICK).under_way == 2, "a batch takes its time to end"
    got = collect(run, patience=QUICK)
    assert got.total.counts() == {"replies": 6, "again_not_run": 10}
    assert states(run)[:2] == [("collected", "cancelled")] * 2
    assert len(server.seen()["batches"]) == 2, "nothing is sent again by itself"
    server.set(status="completed", faults={})
    submit(run, patience=QUICK)
    assert collect(run, patience=QUICK).total.counts() == {"replies": 18}
    assert rate(rate_plan(run.parent, server)).calls == 0


def test_to_cancel_twice_changes_nothing(run: Path, server: BatchServer) -> None:
    server.set(cancelling=100)
    cancel(run, patience=QUICK)
    before = everything_in(run)
    again = cancel(run, patience=QUICK)
    assert ([file.status for file in again.files], again.problems) == (["cancelling"] * 2, ())
    assert everything_in(run) == before


def test_one_file_alone(run: Path) -> None:
    found = cancel(run, names=["0002.jsonl"], patience=QUICK)
    assert ([file.name for file in found.files], found.not_submitted) == (["0002.jsonl"], ())
    assert [one.status for one in status(run, patience=QUICK)][1:] == ["cancelled", "written"]
    with pytest.raises(InputError, match=r"--file: there is no batch file '0009.jsonl'.*name one of 0001.jsonl, 0002"):
        cancel(run, names=["0009.jsonl"], patience=QUICK)


def test_a_batch_that_had_ended_is_told_and_left(run: Path, server: BatchServer) -> None:
    server.set(status="completed")
    found = cancel(run, patience=QUICK)
    assert (found.files, [file.status for file in found.ended]) == ((), ["completed"] * 2)
    assert collect(run, patience=QUICK).total.replies == 16


def test_a_batch_whose_making_was_cut_off_is_looked_for(run: Path, server: BatchServer) -> None:
    manifest = Manifest(run)
    first, second, _ = manifest.files
    manifest.change(first, state=FileState.CREATING, batch="")
    manifest.change(second, state=FileState.CREATING, batch="", input_file="file-99")
    found = cancel(run, patience=QUICK)
    assert [file.batch for file in found.files] == [first.batch]
    assert "0002.jsonl: the provider's list has no batch of it so far" in found.problems[0]
    assert [state for state, _ in states(run)] == ["submitted", "creating", "written"]


def test_one_that_fails_keeps_nobody_from_the_others(run: Path) -> None:
    manifest = Manifest(run)
    manifest.change(manifest.files[0], batch="batch_99")
    found = cancel(run, patience=QUICK)
    assert ([file.name for file in found.files], len(found.problems)) == (["0002.jsonl"], 1)
    assert "404" in found.problems[0]


def test_the_command_says_what_it_did(run: Path, server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(capsys, "batch", "cancel", run, "--file", "0001.jsonl", "--quiet")
    text = " ".join(text.split())
    assert code == 0
    assert "0001.jsonl: batch_0 is cancelling" in text
    assert "1 batch cancelled. What was answered until then is paid for. Next, in some minutes:" in text
    assert f"evenhand batch collect {run}" in text
    server.set(status="completed")
    code, text = said(capsys, "batch", "cancel", run, "--json", "--quiet")
    (found,) = json.loads(text)["runs"]
    assert code == 0
    assert [one["file"] for one in found["cancelled"] + found["ended"]] == ["0001.jsonl", "0002.jsonl"]
    assert found["not_submitted"] == ["0003.jsonl"]
    manifest = Manifest(run)
    manifest.change(manifest.files[1], batch="batch_99")
    code, text = said(capsys, "batch", "cancel", run, "--quiet")
    assert code == 1
    assert "Error: 0002.jsonl" in text
    assert CANARY not in text


def test_a_limit_of_the_provider_says_what_to_do(
    run: Path, server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    limit = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached. Limit: 90,000 enqueued tokens."}
    server.set(status="failed", errors=[limit])
    code, text = said(capsys, "batch", "status", run)
    assert "0001.jsonl: token_limit_exceeded: Enqueued token limit reached." in " ".join(text.split())
    code, text = said(capsys, "batch", "collect", run, "--quiet")
    text = " ".join(text.split())
    assert code == 0
    assert "For a limit, so these wait to be submitted again: 0001.jsonl, 0002.jsonl." in text
    assert "--limit 1" in text
    assert "--anew and --max-requests" in text
    server.set(status="completed")
    smaller = WriteOptions(limits=BatchLimits(requests=4), anew=True)
    written = write(run, stages_of_rate(rate_plan(run.parent, server)), smaller)
    assert (written.dropped, [file.requests for file in written.files]) == (3, [4] * 6)
    submit(run, limit=1, patience=QUICK)
    assert collect(run, patience=QUICK).total.replies == 4


def test_an_output_that_is_cut_and_says_it_is_whole(run: Path, server: BatchServer) -> None:
    """Between two lines, the provider's counts tell; within one, its last. Nothing is sent again for it."""
    server.set(status="completed", short=1, by=0)
    assert collect(run, patience=QUICK).total.counts() == {"replies": 16}
    server.set(short=100, by=7)
    submit(run, patience=QUICK)
    found = collect(run, patience=QUICK)
    assert (found.files, found.under_way) == ((), 1)
    assert "ends in the middle of a line" in found.problems[0]
    server.set(short=0)
    assert collect(run, patience=QUICK).total.counts() == {"replies": 8}


def test_an_endpoint_without_batches_is_told(tmp_path: Path, server: BatchServer) -> None:
    plan = rate_plan(tmp_path, server)
    write(plan.out, stages_of_rate(plan))
    server.set(none=True)
    stopped = submit(plan.out, patience=QUICK).stopped
    assert isinstance(stopped, AccessError)
    assert "answered 404" in str(stopped)
    assert "it seems to have no batch API. The way out: have it asked online" in str(stopped)
    assert [file.state for file in Manifest(plan.out).files] == ["written"]


def test_a_model_at_several_addresses_goes_to_the_first(tmp_path: Path, server: BatchServer) -> None:
    """Its batches are there, and its replies serve the run that asks all of them."""
    models = tmp_path / "models.toml"
    models.write_text(
        f'["{server.name}"]\nreplicas = ["http://127.0.0.1:9/v1"]\nprice = {{ input = 2.0, output = 8.0 }}\n', "utf-8"
    )
    plan = rate_plan(tmp_path, server, models=models)
    written = write(plan.out, stages_of_rate(plan))
    assert (written.elsewhere, [file.requests for file in written.files]) == ({}, [24])
    one = rate_plan(tmp_path, server, out=tmp_path / "one")
    write(one.out, stages_of_rate(one))
    assert (plan.out / "batches" / "0001.jsonl").read_bytes() == (one.out / "batches" / "0001.jsonl").read_bytes()
    from evenhand.studies.rate import forecast_rate

    online = forecast_rate(rate_plan(tmp_path, server, models=models, out=tmp_path / "none"))
    assert written.forecast.cost == pytest.approx((online.cost or 0) / 2)
    submit(plan.out, models, patience=QUICK)
    server.set(status="in_progress")
    assert [file.name for file in cancel(plan.out, models, patience=QUICK).files] == ["0001.jsonl"]
    assert collect(plan.out, models, patience=QUICK).total.counts() == {"replies": 24}
    assert rate(plan).calls == 0
    rate(rate_plan(tmp_path, server, out=tmp_path / "online"))
    assert rows(plan.out / "ratings.parquet") == rows(tmp_path / "online" / "ratings.parquet")
