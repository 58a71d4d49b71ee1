"""Batch files go to the provider once, wherever the submission is cut off."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from batch_runs import QUICK, audit_of, begun, everything_in, rate_plan, said
from batch_server import CANARY, BatchServer
from evenhand.errors import InputError
from evenhand.execution.batch import BatchLimits, FileState, Manifest
from evenhand.models import AccessError, TransportError
from evenhand.studies.batch import WriteOptions, collect, status, submit, write
from evenhand.studies.rate import rate
from evenhand.studies.rate.run import stages_of_rate


@pytest.fixture
def run(tmp_path: Path, server: BatchServer) -> Path:
    """A run folder with three batch files."""
    plan = rate_plan(tmp_path, server)
    write(plan.out, stages_of_rate(plan), WriteOptions(limits=BatchLimits(requests=8)))
    return plan.out


def states(run: Path) -> list[str]:
    return [str(file.state) for file in Manifest(run).files]


@pytest.mark.parametrize("hold", ["before", "after"])
def test_killed_between_upload_and_batch(run: Path, server: BatchServer, hold: str) -> None:
    """Whether the provider had made the batch by then or not: in the end there is one of each file."""
    server.set(hold=hold)
    process = begun("batch", "submit", run, "--quiet")
    deadline = time.monotonic() + 120
    while states(run)[0] != "creating" or (hold == "after" and not server.seen()["batches"]):
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert states(run) == ["creating", "written", "written"]
    assert len(server.seen()["batches"]) == (hold == "after")
    server.set(hold="")
    found = submit(run, patience=QUICK)
    assert (len(found.files), found.left, found.stopped) == (3, 0, None)
    seen = server.seen()
    assert sorted(batch["input_file_id"] for batch in seen["batches"]) == ["file-0", "file-1", "file-2"]
    assert seen["names"] == ["0001.jsonl", "0002.jsonl", "0003.jsonl"], "nothing is uploaded twice"
    assert collect(run, patience=QUICK).total.replies == 24


def cut_off(run: Path) -> None:
    """Leave the first file as a process does that was killed after it had asked for a batch."""
    manifest = Manifest(run)
    manifest.change(manifest.files[0], state=FileState.CREATING, input_file="file-9", batch="")


def test_where_it_cannot_be_told_it_is_not_submitted_again(run: Path, server: BatchServer) -> None:
    cut_off(run)
    server.set(lists=False)
    for _ in range(2):
        found = submit(run, patience=QUICK)
        assert (found.files, found.left) == ((), 3)
        assert "It can't be told whether a batch was made of 0001.jsonl" in str(found.stopped)
        assert "--create-again" in str(found.stopped)
    assert server.seen()["batches"] == []
    assert states(run)[0] == "creating"
    manifest = Manifest(run)
    manifest.change(manifest.files[0], state=FileState.UPLOADED)
    assert submit(run, patience=QUICK).stopped is None


def test_the_user_may_know_better(run: Path, server: BatchServer) -> None:
    cut_off(run)
    server.set(lists=False)
    assert len(submit(run, create_again=True, patience=QUICK).files) == 3
    assert len(server.seen()["batches"]) == 3


def test_an_answer_that_is_lost_makes_no_second_batch(run: Path, server: BatchServer) -> None:
    server.set(lose=2)
    found = submit(run, patience=QUICK)
    assert (len(found.files), found.stopped) == (3, None)
    assert len(server.seen()["batches"]) == 3


def test_a_batch_is_found_on_a_later_page(tmp_path: Path, server: BatchServer) -> None:
    plan = rate_plan(tmp_path, server)
    write(plan.out, stages_of_rate(plan), WriteOptions(limits=BatchLimits(requests=4)))
    submit(plan.out, patience=QUICK)
    manifest = Manifest(plan.out)
    first = manifest.files[0]
    manifest.change(first, state=FileState.CREATING, batch="")
    server.set(page=2)
    (found,) = submit(plan.out, patience=QUICK).files
    assert (found.batch, len(server.seen()["batches"])) == (first.batch, 6)


def test_to_submit_twice_submits_once(run: Path, server: BatchServer) -> None:
    submit(run, patience=QUICK)
    before = everything_in(run)
    assert submit(run, patience=QUICK).files == ()
    assert everything_in(run) == before
    assert len(server.seen()["batches"]) == 3


def test_what_was_answered_meanwhile_is_not_sent(tmp_path: Path, server: BatchServer) -> None:
    """Nor sent again, where a batch that was under way then expired."""
    plan = rate_plan(tmp_path, server, count=2, leak_sample=0)
    more = rate_plan(tmp_path, server, count=4, leak_sample=0)
    write(plan.out, stages_of_rate(more), WriteOptions(limits=BatchLimits(requests=6)))
    submit(plan.out, limit=1, patience=QUICK)
    rate(rate_plan(tmp_path, server, count=2, leak_sample=0))
    assert len(submit(plan.out, patience=QUICK).files) == 2
    sent = server.seen()["files"].values()
    assert [text.count("custom_id") for text in sent] == [6, 4, 4], "two of the second file were asked online"
    server.set(status="expired", faults={str(place): "batch_expired" for place in range(1, 6)})
    found = collect(plan.out, patience=QUICK)
    assert found.total.counts() == {"replies": 3, "known": 5, "again_not_run": 6}
    assert [file.requests for file in Manifest(plan.out).at(FileState.WRITTEN)] == [6]


def test_a_file_whose_requests_are_all_answered_is_gone(tmp_path: Path, server: BatchServer) -> None:
    plan = rate_plan(tmp_path, server)
    write(plan.out, stages_of_rate(plan))
    rate(plan)
    found = submit(plan.out, patience=QUICK)
    assert (found.files, found.left, Manifest(plan.out).files) == ((), 0, ())
    assert server.seen()["names"] == []


def test_a_few_at_a_time(run: Path, server: BatchServer) -> None:
    assert (len(submit(run, limit=2, patience=QUICK).files), len(submit(run, limit=2, patience=QUICK).files)) == (2, 1)
    with pytest.raises(InputError, match="--limit: is 0"):
        submit(run, limit=0)


def test_a_limit_is_waited_for(run: Path, server: BatchServer) -> None:
    server.set(limit=2)
    assert len(submit(run, patience=QUICK).files) == 3
    assert len(server.seen()["batches"]) == 3


def test_a_limit_that_stays_is_told(run: Path, server: BatchServer) -> None:
    submit(run, limit=1, patience=QUICK)
    server.set(limit=100)
    found = submit(run, patience=QUICK)
    assert isinstance(found.stopped, TransportError)
    assert "429" in str(found.stopped)
    assert (found.left, states(run)) == (2, ["submitted", "uploaded", "written"])
    server.set(limit=0)
    assert len(submit(run, patience=QUICK).files) == 2
    assert server.seen()["names"] == ["0001.jsonl", "0002.jsonl", "0003.jsonl"]


def test_a_wrong_key_ends_it(run: Path, server: BatchServer) -> None:
    server.set(key="another")
    found = submit(run, patience=QUICK)
    assert isinstance(found.stopped, AccessError)
    assert "EVENHAND_API_KEY" in str(found.stopped)
    assert (states(run), server.seen()["names"]) == (["written"] * 3, [])
    server.set(key=CANARY)
    assert len(submit(run, patience=QUICK).files) == 3


def test_a_file_that_was_changed_is_not_sent(run: Path, server: BatchServer) -> None:
    path = run / "batches" / "0001.jsonl"
    path.write_text(path.read_text().replace("polite", "rude"))
    assert "0001.jsonl: is not there as it was written" in str(submit(run, patience=QUICK).stopped)
    path.unlink()
    assert "0001.jsonl: is not there as it was written" in str(submit(run, patience=QUICK).stopped)
    assert server.seen()["names"] == []


def test_status_says_how_far_it_is(run: Path, server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert [one.status for one in status(run, patience=QUICK)] == ["written"] * 3
    submit(run, limit=2, patience=QUICK)
    server.set(status="in_progress")
    before = everything_in(run)
    assert [one.status for one in status(run, patience=QUICK)] == ["validating", "validating", "written"]
    server.set(status="expired", faults={"0": "batch_expired"})
    code, text = said(capsys, "batch", "status", run)
    assert code == 0
    assert text.count("expired") == 2
    assert "batch_1" in text
    assert f"evenhand batch collect {run}" in " ".join(text.split())
    code, text = said(capsys, "batch", "status", run, "--json")
    first = json.loads(text)["runs"][0]["files"][0]
    assert (first["status"], first["state"], first["batch"]) == ("expired", "submitted", "batch_0")
    assert first["counts"] == {"total": 8, "completed": 7, "failed": 1}
    assert everything_in(run) == before, "status changes nothing"
    server.set(status="failed", errors=[{"code": "invalid", "message": "red: \x1b[31m"}])
    submit(run, patience=QUICK)
    code, text = said(capsys, "batch", "status", run)
    assert "0003.jsonl: invalid: red: ?[31m" in text


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"id": 7}', "<html>", '{"id": "b", "status": 7, "request_counts": [1], "errors": "no"}'],
)
def test_answers_that_are_no_batch_change_nothing(run: Path, server: BatchServer, text: str) -> None:
    submit(run, patience=QUICK)
    server.set(retrieve=text)
    before = everything_in(run)
    assert {one.status for one in status(run, patience=QUICK)} == {"unknown"}
    found = collect(run, patience=QUICK)
    assert (found.files, found.under_way) == ((), 3)
    assert everything_in(run) == before


def test_an_output_that_is_not_there_yet_is_waited_for(run: Path, server: BatchServer) -> None:
    submit(run, patience=QUICK)
    batch: dict[str, Any] = {"id": "b", "status": "completed", "request_counts": {"total": 8, "completed": 8}}
    server.set(retrieve=json.dumps(batch))
    found = collect(run, patience=QUICK)
    assert len(found.problems) == 3
    assert "its output is not there yet" in found.problems[0]
    assert states(run) == ["submitted"] * 3


def test_a_batch_that_is_gone_keeps_nobody_from_the_others(run: Path, server: BatchServer) -> None:
    submit(run, patience=QUICK)
    manifest = Manifest(run)
    manifest.change(manifest.files[1], batch="batch_99")
    found = collect(run, patience=QUICK)
    assert (found.total.replies, found.under_way) == (16, 1)
    assert "0002.jsonl" in found.problems[0]
    assert "404" in found.problems[0]
    with pytest.raises(InputError, match=r"--give-up: there is no file '0001.jsonl' at the provider.*0002.jsonl"):
        collect(run, give_up=["0001.jsonl"], patience=QUICK)
    assert collect(run, give_up=["0002.jsonl"], patience=QUICK).under_way == 0
    assert write(run, stages_of_rate(rate_plan(run.parent, server))).requests == 8


def test_a_download_that_ends_in_the_middle_is_made_again(run: Path, server: BatchServer) -> None:
    submit(run, patience=QUICK)
    server.set(cut=2)
    found = collect(run, patience=QUICK)
    assert found.total.counts() == {"replies": 24}
    assert list((run / "batches").glob("*.jsonl")) == []


def test_the_commands_for_several_configurations(
    tmp_path: Path, server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has a run folder of its own; one command submits and collects all of them."""
    prompt = tmp_path / "bot.txt"
    prompt.write_text("You are a bot.")
    plan = audit_of(tmp_path, server)
    options = ["--pairs", plan.pairs, "--subject", server.name, "--grader", server.name, "--draws", "100"]
    options += ["--system-prompt", "none", "--system-prompt", str(prompt), "--out", str(plan.out)]
    for _ in range(2):
        code, text = said(capsys, "batch", "write", "audit", *options)
        assert code == 0, text
        assert "evenhand batch submit" in text
        code, text = said(capsys, "batch", "submit", plan.out)
        assert (code, "2 files submitted." in text) == (0, True), text
        code, text = said(capsys, "batch", "collect", plan.out)
        assert (code, "Nothing is under way" in text) == (0, True), text
    code, text = said(capsys, "batch", "write", "audit", *options)
    assert "Every reply is in the ledger" in text
    code, text = said(capsys, "audit", *options, "--quiet")
    assert (code, server.seen()["online"]) == (0, 0), text


def test_the_commands_for_a_rating_run(tmp_path: Path, server: BatchServer, capsys: pytest.CaptureFixture[str]) -> None:
    models = tmp_path / "models.toml"
    models.write_text(f'["{server.name}"]\nprice = {{ input = 2000.0, output = 8000.0 }}\n')
    plan = rate_plan(tmp_path, server, models=models)
    options = ["rate", plan.pairs, "--questions", plan.questions, "--grader", server.name, "--leak-sample", "2"]
    options += ["--out", str(plan.out), "--models", str(models)]
    code, text = said(capsys, "batch", "write", *options, "--dry-run", "--json", "--quiet")
    dry = json.loads(text)
    assert (code, dry["written"], dry["runs"][0]["requests"], plan.out.exists()) == (0, False, 24, False)
    code, text = said(capsys, "batch", "write", *options, "--max-requests", "20", "--max-megabytes", "1")
    assert "written: 24 requests, " in " ".join(text.split())
    assert "at the price of batches" in " ".join(text.split())
    assert [file.requests for file in Manifest(plan.out).files] == [20, 4]
    assert said(capsys, "batch", "submit", plan.out, "--models", models, "--json", "--quiet")[0] == 0
    code, text = said(capsys, "batch", "collect", plan.out, "--models", models, "--json", "--quiet")
    (found,) = json.loads(text)["runs"]
    assert [file["replies"] for file in found["files"]] == [20, 4]
    assert (found["under_way"], found["to_submit"], found["problems"]) == (0, 0, [])
    assert rate(plan).calls == 0


@pytest.mark.parametrize("command", ["submit", "status", "collect"])
def test_a_folder_without_batch_files_is_told(tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(capsys, "batch", command, tmp_path)
    assert code == 1
    assert "has no batch files. The way out: write them first" in " ".join(text.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["rate", "audit"])
def test_write_takes_what_the_run_itself_takes(kind: str) -> None:
    from evenhand.cli.audit import audit_command
    from evenhand.cli.batch import write_audit_command, write_rate_command
    from evenhand.cli.rate import rate_command

    run, written = {"rate": (rate_command, write_rate_command), "audit": (audit_command, write_audit_command)}[kind]
    names = {each.name for each in written.params}
    assert {each.name for each in run.params} - names <= {"gates", "engine", "ray_address", "ray_workers", "ray_gpus"}
    assert len(names) == len(written.params), "none is there twice"
