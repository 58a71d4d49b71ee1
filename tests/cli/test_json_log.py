"""The log for machines: every line whole, on its own, and with nothing in it that is not for others."""

import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import pytest

from conftest import ScriptedModel, environment
from evenhand.cli.json_log import JsonLog
from evenhand.cli.root import evenhand_command
from evenhand.cli.watches import Watches
from evenhand.cli.watching import watching
from evenhand.errors import InputError
from evenhand.execution import Answered, Ledger, run_requests
from evenhand.execution.retries import Patience
from evenhand.instruments import Request
from evenhand.models import Price, TransportError, Trouble
from evenhand.readings import Failure, FailureKind, Reply
from evenhand.studies.watch import StudyWatch, UnwatchedStudy

EVENHAND = [sys.executable, "-c", "from evenhand.cli import main; main()"]
MODEL = ScriptedModel(None, name="openai:gpt-4.1")
REQUEST = Request(prompt="CANARY of a prompt")


def by_call() -> Answered:
    reply = Reply("CANARY of a reply", "stop", "m", prompt_tokens=900, completion_tokens=100, cached_tokens=450)
    return Answered(REQUEST, "0123abcd", reply, "now", called=True, tries=1, cost=0.25)


def failure(reason: str) -> Answered:
    return Answered(REQUEST, "0123abcd", Failure(FailureKind.TRANSPORT, reason), "", called=True, tries=6, cost=None)


def complain(text: str) -> None:
    raise AssertionError(text)


def lines(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    assert data.endswith(b"\n")
    assert all(byte == 10 or 32 <= byte < 127 for byte in data), "plain ASCII, nothing that a terminal obeys"
    return [json.loads(line) for line in data.splitlines()]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_run_from_its_first_line_to_its_last(tmp_path: Path) -> None:
    path, clock = tmp_path / "not there yet" / "log.jsonl", Clock()
    with JsonLog(path, complain, clock) as log:
        log.fetched("weights.gguf", 5, 10)
        log.fetched("weights.gguf", 10, 10)
        log.fetched("of unknown size", 7, None)
        log.say("served by somebody")
        log.began("stage one", MODEL, 40)
        for _ in range(24):
            clock.now += 0.5
            log.answered("stage one", by_call())
        log.tried_in_vain("stage one", Trouble.RATE_LIMIT, 2.00049)
        log.answered("stage one", failure("busy \x1b[31m\u2028\ud800" + "x" * 999))
        log.draining("stage one", 3)
        log.ended("stage one")
    found = lines(path)
    assert [line["event"] for line in found] == [
        *("run", "fetched", "fetched", "say", "began", "progress", "progress", "retry", "failure", "draining", "ended"),
        "end",
    ]
    assert len({line["run"] for line in found}) == 1
    for line in found:
        at = datetime.fromisoformat(line["time"])
        assert at.utcoffset() == UTC.utcoffset(None)
    by_event = {line["event"]: line for line in found}
    assert by_event["run"]["format"] == 1
    assert by_event["run"]["evenhand"].startswith("0.")
    assert [(line["name"], line["bytes"], line["of"]) for line in found[1:3]] == [
        ("weights.gguf", 10, 10),
        ("of unknown size", 7, None),
    ]
    assert by_event["began"]["model"] == "openai:gpt-4.1"
    assert by_event["began"]["total"] == 40
    assert [line["done"] for line in found if line["event"] == "progress"] == [10, 20], "every five seconds"
    progress = by_event["progress"]
    assert (progress["calls_per_second"], progress["tokens_per_second"], progress["seconds_left"]) == (
        2.0,
        2000.0,
        10.0,
    )
    assert (by_event["retry"]["trouble"], by_event["retry"]["wait"]) == ("rate_limit", 2.0)
    told = by_event["failure"]
    assert (told["key"], told["kind"], told["tries"], len(told["reason"])) == ("0123abcd", "transport", 6, 500)
    assert by_event["draining"]["in_flight"] == 3
    ended, end = by_event["ended"], by_event["end"]
    for total in (ended, end):
        assert (total["done"], total["by_call"], total["failed"], total["calls"]) == (25, 24, 1, 26)
        assert (total["prompt_tokens"], total["completion_tokens"], total["cached_tokens"]) == (21600, 2400, 10800)
        assert total["retries"] == {"rate_limit": 1}
        assert total["cost"] is None, "the price of the failed call is not known"
        assert total["seconds"] == 12.0
    assert (end["error"], ended["stage"]) == (None, "stage one")
    assert b"CANARY" not in path.read_bytes()


def test_an_error_is_named_and_what_was_under_way_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with pytest.raises(KeyboardInterrupt), JsonLog(path, complain) as log:
        log.began("one", MODEL, 9)
        log.answered("one", by_call())
        raise KeyboardInterrupt
    assert [line["event"] for line in lines(path)] == ["run", "began", "ended", "end"]
    assert lines(path)[-1]["error"] == "KeyboardInterrupt"
    assert lines(path)[-1]["cost"] == 0.25


def test_runs_are_appended_and_told_apart_also_after_a_broken_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with JsonLog(path, complain), JsonLog(path, complain) as other:
        other.say("at the same time")
    assert [line["event"] for line in lines(path)] == ["run", "run", "say", "end", "end"]
    with path.open("ab") as file:
        file.write(b'{"time": "20')
    with JsonLog(path, complain):
        pass
    *_, broken, first, last = path.read_text().splitlines()
    assert broken == '{"time": "20'
    runs = [json.loads(line)["run"] for line in (*path.read_text().splitlines()[:2], first, last)]
    assert len(set(runs)) == 3


def test_a_line_is_there_as_soon_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with JsonLog(path, complain) as log:
        for number in range(5):
            log.say(str(number))
            assert lines(path)[-1]["text"] == str(number)


@pytest.mark.parametrize("where", ["a folder", "below a file"])
def test_a_file_that_cannot_be_written_is_named_with_its_option(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path if where == "a folder" else tmp_path / "file" / "log.jsonl"
    with pytest.raises(InputError) as error, watching(log=path):
        pass
    assert str(path) in str(error.value)
    assert "--log: can't be written" in str(error.value)
    assert "The way out: " in str(error.value)


def test_a_full_disk_is_told_once_and_does_not_end_the_run() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    told: list[str] = []
    with JsonLog(full, told.append) as log:
        log.say("one")
        log.began("s", MODEL, 1)
        log.answered("s", by_call())
        log.ended("s")
    assert told == ["/dev/full: can't be written any more (No space left on device); the run goes on"]


def test_what_the_runner_tells_adds_up(tmp_path: Path) -> None:
    """A run over a ledger with calls that fail, calls that pass the second time, repeats, and a second run."""
    seen: set[str] = set()

    def answer(request: Request) -> Reply | Exception:
        number = int(request.prompt or "")
        if number % 10 == 3:
            return TransportError("CANARY of a key was masked: ***")
        if number % 10 == 7 and request.prompt not in seen:
            seen.add(request.prompt or "")
            return TransportError("busy", trouble=Trouble.SERVER, passing=True)
        return Reply("t", "stop", "m", prompt_tokens=100, completion_tokens=10)

    path = tmp_path / "log.jsonl"
    asked = [Request(prompt=str(number)) for number in (*range(50), *range(20))]
    model = ScriptedModel(answer, concurrency=4, price=Price(1.0, 0.0, 10.0))
    totals = []
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        for _ in range(2):
            with watching(quiet=True, log=path) as watch:
                run_requests(
                    asked, model, ledger, stage="s", total=70, watch=watch, patience=Patience(first_wait=0.001)
                )
            totals.append(lines(path)[-1])
    first, second = totals
    assert (first["done"], first["by_call"], first["from_ledger"], first["failed"]) == (70, 45, 18, 7)
    assert first["calls"] == 45 + 5 + 5
    assert first["retries"] == {"server": 5}
    assert first["cost"] == pytest.approx(45 * 200e-6)
    assert (second["done"], second["by_call"], second["from_ledger"], second["failed"]) == (70, 0, 63, 7)
    assert second["calls"] == 5
    assert second["cost"] == 0
    events = [line["event"] for line in lines(path)]
    assert events.count("failure") == 14
    assert events.count("retry") == 5


def test_several_watches_are_told_the_same_in_their_order(tmp_path: Path) -> None:
    told: list[tuple[int, str, tuple[Any, ...]]] = []

    class Recorder(UnwatchedStudy):
        def __init__(self, number: int) -> None:
            self._number = number

        def __getattribute__(self, name: str) -> Any:
            if name.startswith("_"):
                return super().__getattribute__(name)
            return lambda *values: told.append((self._number, name, values))

    watch: StudyWatch = Watches(Recorder(1), Recorder(2))
    answer = by_call()
    watch.fetched("f", 1, None)
    watch.say("text")
    watch.began("s", MODEL, 3)
    watch.answered("s", answer)
    watch.tried_in_vain("s", Trouble.TIMEOUT, 1.5)
    watch.draining("s", 2)
    watch.ended("s")
    expected = [
        ("fetched", ("f", 1, None)),
        ("say", ("text",)),
        ("began", ("s", MODEL, 3)),
        ("answered", ("s", answer)),
        ("tried_in_vain", ("s", Trouble.TIMEOUT, 1.5)),
        ("draining", ("s", 2)),
        ("ended", ("s",)),
    ]
    assert told == [(number, name, values) for name, values in expected for number in (1, 2)]


def _commands(command: click.Command, name: str = "evenhand") -> list[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        return [(name, command)]
    context = click.Context(command)
    inside = [(sub, command.get_command(context, sub)) for sub in command.list_commands(context)]
    return [found for sub, it in inside if it for found in _commands(it, f"{name} {sub}")]


def test_a_command_that_can_be_quiet_can_log() -> None:
    names = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in _commands(evenhand_command)
    }
    watched = {name for name, options in names.items() if "--quiet" in options}
    assert watched >= {"evenhand audit", "evenhand rate", "evenhand score", "evenhand demo", "evenhand models fetch"}
    assert watched == {name for name, options in names.items() if "--log" in options}


AUDIT = [
    *("audit", "--pairs", "builtin:us", "--sample", "4", "--seed", "1", "--subject", "smollm2-135m"),
    *("--grader", "smollm2-135m", "--instruments", "compact", "--max-tokens", "16", "--quiet"),
]


@pytest.mark.embedded
def test_an_audit_with_a_log_and_one_that_is_killed(tmp_path: Path, subject_weights: Path) -> None:
    path = tmp_path / "log.jsonl"
    command = [*EVENHAND, *AUDIT, "--out", str(tmp_path / "run"), "--log", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    while process.poll() is None and not (path.exists() and b'"began"' in path.read_bytes()):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert lines(path)[-1]["event"] != "end"
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    assert (found.returncode, found.stderr) == (0, "")
    logged = lines(path)
    first, second = dict.fromkeys(line["run"] for line in logged)
    assert [line["run"] for line in logged] == [first] * sum(line["run"] == first for line in logged) + [second] * sum(
        line["run"] == second for line in logged
    )
    end = logged[-1]
    assert (end["event"], end["error"], end["failed"], end["cost"]) == ("end", None, 0, 0)
    with Ledger(tmp_path / "run" / "ledger.sqlite") as ledger:
        assert end["done"] == ledger.count()
    stages = [line for line in logged if line["event"] == "ended" and line["run"] == second]
    assert sum(stage["prompt_tokens"] for stage in stages) == end["prompt_tokens"] > 0
    assert all(earlier["time"] <= later["time"] for earlier, later in pairwise(logged))


def test_every_event_and_field_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with JsonLog(path, complain) as log:
        log.fetched("f", 1, 1)
        log.say("t")
        log.began("s", MODEL, 2)
        log.tried_in_vain("s", Trouble.SERVER, 1.0)
        log.answered("s", failure("why"))
        log.draining("s", 1)
        log.ended("s")
    page = (Path(__file__).parent.parent.parent / "docs" / "watching.md").read_text("utf-8")
    for line in lines(path):
        assert f"| `{line['event']}` |" in page
        assert not [name for name in line if f"`{name}`" not in page]
