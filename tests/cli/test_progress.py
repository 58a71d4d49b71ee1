"""What a user sees of a run: on a terminal, in a pipe, and with --quiet."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from conftest import ScriptedModel, environment
from evenhand.cli.figures import printable, shortened
from evenhand.cli.live import LiveWatch
from evenhand.cli.outlet import outlet
from evenhand.cli.progress import PlainWatch
from evenhand.execution import Answered
from evenhand.instruments import Request
from evenhand.models import Trouble
from evenhand.readings import Failure, FailureKind, Reply
from evenhand.studies.watch import StudyWatch

REQUEST = Request(prompt="p")
MODEL = ScriptedModel(None)
LONG = "http://gpu-17.example.org:8000/v1#meta-llama/Llama-3.3-70B-Instruct [bold]rates, labelled"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def by_call(cost: float | None = 0.5) -> Answered:
    reply = Reply("t", "stop", "m", prompt_tokens=900, completion_tokens=100, cached_tokens=450)
    return Answered(REQUEST, "key", reply, "now", called=True, tries=1, cost=cost)


def from_ledger() -> Answered:
    return Answered(REQUEST, "key", Reply("t", "stop", "m"), "then", called=False)


def failure(reason: str = "server, 6 calls: busy") -> Answered:
    return Answered(REQUEST, "key", Failure(FailureKind.TRANSPORT, reason), "", called=True, tries=6, cost=None)


def plain() -> tuple[PlainWatch, io.StringIO, Clock]:
    stream, clock = io.StringIO(), Clock()
    return PlainWatch(stream, clock), stream, clock


def test_plain_lines_are_few_and_have_the_figures() -> None:
    watch, stream, clock = plain()
    with watch:
        watch.began("one", MODEL, 1000)
        watch.began("two", MODEL, 3)
        for _ in range(400):
            clock.now += 0.125
            watch.answered("one", by_call())
        watch.tried_in_vain("one", Trouble.RATE_LIMIT, 2.0)
        watch.ended("one")
        watch.ended("two")
    lines = stream.getvalue().splitlines()
    assert lines[:2] == ["one: 1,000 requests", "two: 3 requests"]
    assert len(lines) == 2 + 5 + 2, "fifty seconds, and two ends"
    assert lines[2] == "one: 80 of 1,000 done, 1:55 left, 8.0 calls/s, 8,000 tokens/s, 50% cached, $40.00", (
        "the rates of the last half minute"
    )
    assert lines[-2] == (
        "one: 400 of 1,000 done, in 0:50, 8.0 calls/s, 360.0k tokens in, 40.0k out, 50% cached, $200.00,"
        " 1 retry: 1 rate limit"
    )
    assert lines[-1] == "two: 0 of 3 done, in 0:50"


@pytest.mark.parametrize(
    ("total", "answers", "last"),
    [
        (4, [from_ledger()] * 4, "s: 4 of 4 done, in 0:04, all from the ledger"),
        (3, [from_ledger(), by_call(None)], "s: 2 of 3 done, in 0:02, 900 tokens in, 100 out, 50% cached,"
         " 1 from the ledger, cost unknown"),
        (2, [failure(), failure("server:\n\x1b[2J[red]" + "x" * 999)], "s: 2 of 2 done, in 0:02, 1.0 calls/s,"
         " cost unknown, 2 failed; the latest failure: server: ?[2J[red]" + "x" * 103),
        (None, [by_call()] * 2, "s: 2 done, in 0:02, 1.0 calls/s, 1,800 tokens in, 200 out, 50% cached, $1.00"),
        (0, [], "s: 0 done, in 0:00"),
    ],
)  # fmt: skip
def test_the_last_line_of_a_stage(total: int | None, answers: Sequence[Answered], last: str) -> None:
    watch, stream, clock = plain()
    with watch:
        watch.began("s", MODEL, total)
        for answer in answers:
            clock.now += 1
            watch.answered("s", answer)
    assert stream.getvalue().splitlines()[-1] == last, "also where nobody ended the stage"


def test_stopping_is_said_once_in_full() -> None:
    watch, stream, _ = plain()
    with watch:
        for stage in ("one", "two"):
            watch.began(stage, MODEL, 9)
        watch.draining("one", 1)
        watch.draining("two", 64)
    assert stream.getvalue().splitlines()[2:4] == [
        "Stopping: waiting for 1 call under way and keeping their replies. Press Ctrl-C again to end at once.",
        "... and for 64 of: two",
    ]


def test_plain_downloads() -> None:
    watch, stream, clock = plain()
    with watch:
        for done in range(0, 100_000_000, 1_000_000):
            clock.now += 0.25
            watch.fetched("weights.gguf", done, 99_000_000)
        watch.fetched("other", 5_000_000, None)
        watch.say("served by\x07 [somebody]")
    assert stream.getvalue().splitlines() == [
        "Fetching weights.gguf: 0 of 99 MB",
        "Fetching weights.gguf: 40 of 99 MB",
        "Fetching weights.gguf: 80 of 99 MB",
        "Fetching other: 5 MB",
        "served by? [somebody]",
    ]


def test_a_reader_who_went_away_does_not_end_the_run() -> None:
    read, write = os.pipe()
    stream = os.fdopen(write, "w")
    with PlainWatch(outlet(stream)) as watch:
        os.close(read)
        watch.began("s", MODEL, 1)
        watch.answered("s", by_call())
        watch.ended("s")
    with pytest.raises(BrokenPipeError):
        stream.close()


@pytest.mark.parametrize("width", [3, 20, 30, 60])
@pytest.mark.parametrize("text", [LONG, "模型名称很长很长很长很长很长很长很长很长很长 rates", "short"])
def test_a_shortened_text_fits_and_keeps_its_ends(text: str, width: int) -> None:
    found = shortened(text, width)
    assert cell_len(found) <= width
    if cell_len(text) <= width:
        assert found == text
    elif width >= 20:
        head, tail = found.split("...")
        assert text.startswith(head)
        assert text.endswith(tail)


def test_what_is_printed_does_nothing_to_a_terminal() -> None:
    every = "".join(map(chr, range(0x250))) + "\u202e\u2028\ud800"
    assert all(letter.isprintable() or letter == "\n" for letter in printable(every))
    assert printable("Zoë, 模型") == "Zoë, 模型"


class Screen:
    """What a terminal shows of what was written to it: enough of one for what a live view writes."""

    def __init__(self, written: bytes) -> None:
        self.rows = [""]
        self.cursor_shown = True
        row = column = 0
        text = written.decode("utf-8")
        for token in re.findall(r"\x1b\[\??[0-9;]*[A-Za-z]|[\s\S]", text):
            if token == "\n":
                row, column = row + 1, 0
                self.rows += [""] * (row == len(self.rows))
            elif token == "\r":
                column = 0
            elif token in ("\x1b[?25l", "\x1b[?25h"):
                self.cursor_shown = token.endswith("h")
            elif token.endswith("A") and token.startswith("\x1b"):
                row -= int(token[2:-1] or 1)
                assert row >= 0
            elif token == "\x1b[2K":
                self.rows[row] = ""
            elif not token.startswith("\x1b"):
                before = self.rows[row]
                self.rows[row] = before[:column].ljust(column) + token + before[column + 1 :]
                column += 1
            else:
                assert token.endswith("m"), f"{token!r} is neither a colour nor known here"
        self.rows = [row.rstrip() for row in self.rows]

    @property
    def text(self) -> str:
        return "\n".join(self.rows).rstrip()


def on_a_terminal(arguments: Sequence[str], *, width: int = 80, **changes: str) -> bytes:
    """Run Python on a pseudo terminal and return all that it wrote there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    settings = environment(**{"TERM": "xterm-256color", **changes})
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        settings.pop(name, None)
    with subprocess.Popen([sys.executable, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=settings) as it:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux's way to say that the other end is closed.
                break
            if not part:
                break
            written += part
    os.close(ours)
    assert it.returncode == 0, written.decode()
    return written


RUN = '''
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from conftest import ScriptedModel
from evenhand.cli.watching import watching
from evenhand.execution import Ledger, carry_out
from evenhand.instruments import Request
from evenhand.models import Price, TransportError, Trouble
from evenhand.readings import Reply
from evenhand.execution.retries import Patience

class Slow(ScriptedModel):
    async def answer(self, request):
        await asyncio.sleep(0.02)
        if self.asked.count(request) == 0 and request.prompt.endswith("7"):
            self.asked.append(request)
            raise TransportError("busy", trouble=Trouble.SERVER, passing=True)
        if request.prompt.endswith("99"):
            raise TransportError("it will not [bold]have[/bold] it \\x1b[2J")
        return Reply("t", "stop", "m", prompt_tokens=1000, completion_tokens=50, cached_tokens=750)

def reads(answer): return answer

async def both(watch, ledger):
    def stage(name, model, count):
        asked = [Request(prompt=f"{name} {number}") for number in range(count)]
        return carry_out(asked, model, ledger, reads, stage=name, total=count, watch=watch,
                         patience=Patience(first_wait=0.01))
    await asyncio.gather(
        stage("[red]openai:gpt-4.1 rates, blind", Slow(None, concurrency=2, price=Price(2.0, 0.5, 8.0)), 100),
        stage("http://gpu-17.example.org:8000/v1#meta-llama/Llama-3.3-70B rates, blind", Slow(None), 40),
    )

with Ledger(Path(sys.argv[1])) as ledger, watching(quiet="quiet" in sys.argv) as watch:
    watch.say("pairs.jsonl: 70 preference pairs")
    asyncio.run(both(watch, ledger))
print("the table")
'''  # fmt: skip


@pytest.fixture
def run_script(tmp_path: Path) -> list[str]:
    script = tmp_path / "run.py"
    script.write_text(RUN)
    return [str(script), str(tmp_path / "ledger.sqlite"), str(Path(__file__).parent.parent)]


def test_live_view_of_stages_side_by_side(run_script: list[str]) -> None:
    written = on_a_terminal(run_script)
    assert b"\x1b[2J" not in written
    seen = written.decode()
    for part in (
        "All together",
        "calls/s",
        "tokens/s",
        "75% cached",
        "retries: ",
        " server",
        " left",
        "$0.0",
        "cost unknown",
    ):
        assert part in seen, part
    final = Screen(written)
    assert final.cursor_shown
    rows = final.text.splitlines()
    assert max(map(len, rows)) <= 80
    assert rows[0] == "pairs.jsonl: 70 preference pairs"
    ends = sorted(row for row in rows if " in 0:0" in row)
    assert [row.split(" in 0:0")[0].split() for row in ends] == [
        ["[red]openai:gpt-4.1", "rates,", "blind", "━" * 20, "100/100"],
        ["http://gpu...3.3-70B", "rates,", "blind", "━" * 20, "40/40"],
    ]
    text = final.text
    assert "75% cached · $0.13 · 1 failed" in text
    assert "99.0k tokens in, 4,950 out" in text
    assert "10 retries: 10 server" in text
    assert "it will not [bold]have[/bold] it ?[2J" in text
    assert "left" not in text
    assert "All together" not in text
    assert rows[-1] == "the table"
    again = Screen(on_a_terminal(run_script)).text
    assert again.count("all from the ledger") == 1
    assert "99 from the ledger" in again


def test_live_view_does_not_grow_with_what_it_draws(run_script: list[str]) -> None:
    """Standard output and standard error are one terminal here, and the next line is where it belongs."""
    rows = Screen(on_a_terminal(run_script, width=60)).rows
    text = "\n".join(rows).rstrip().splitlines()
    assert max(map(len, text)) <= 60
    assert "" not in text


def test_a_pipe_gets_plain_lines_even_where_colours_are_forced(run_script: list[str]) -> None:
    settings = environment(FORCE_COLOR="1")
    command = [sys.executable, *run_script]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=settings)
    assert found.stdout == "the table\n"
    assert "\x1b" not in found.stderr
    lines = found.stderr.splitlines()
    assert len(lines) == 5
    assert lines[0] == "pairs.jsonl: 70 preference pairs"
    assert lines[1] == "[red]openai:gpt-4.1 rates, blind: 100 requests"
    assert "100 of 100 done" in found.stderr
    assert "10 retries: 10 server; the latest failure: refused, 1 call: it will not" in found.stderr
    quiet = subprocess.run([*command, "quiet"], capture_output=True, text=True, check=True, env=settings)
    assert (quiet.stdout, quiet.stderr) == ("the table\n", "")


def test_a_dumb_terminal_gets_plain_lines(run_script: list[str]) -> None:
    written = on_a_terminal(run_script, TERM="dumb")
    assert b"\x1b" not in written
    assert b"100 of 100 done" in written


def drawn(width: int = 80) -> tuple[LiveWatch, io.StringIO, Console, Clock]:
    stream, clock = io.StringIO(), Clock()
    console = Console(file=stream, force_terminal=True, width=width, height=40, color_system=None, highlight=False)
    return LiveWatch(console, clock), stream, console, clock


def shown(watch: LiveWatch, console: Console) -> list[str]:
    """Return the view as it would be drawn now."""
    page = Console(file=io.StringIO(), width=console.width, height=40, color_system=None)
    page.print(watch._view())
    assert isinstance(page.file, io.StringIO)
    return page.file.getvalue().rstrip().splitlines()


def test_live_view_counts_down_while_stopping_and_gives_the_cursor_back() -> None:
    watch, stream, console, clock = drawn()
    with watch:
        for stage in ("one", "two"):
            watch.began(stage, MODEL, 1000)
            for _ in range(10):
                clock.now += 0.1
                watch.answered(stage, by_call())
        watch.draining("one", 3)
        assert Screen(stream.getvalue().encode()).cursor_shown, "the next Ctrl-C ends the process as it is"
        watch.draining("two", 5)
        watch.answered("two", by_call())
        watch.answered("two", from_ledger())
        assert any(row.startswith("Stopping: waiting for 7 calls under way") for row in shown(watch, console))
        watch.ended("one")
        assert any(row.startswith("Stopping: waiting for 4 calls under way") for row in shown(watch, console))
        watch.ended("two")
        assert shown(watch, console) == []


@pytest.mark.parametrize("width", [24, 40, 80, 200])
def test_live_view_fits_any_width(width: int) -> None:
    watch, _, console, clock = drawn(width)
    with watch:
        for stage, total in ((LONG, 2_000_000), ("short", 0), ("模型名称" * 9, 5)):
            watch.began(stage, MODEL, total)
            for answer in (by_call(), by_call(None), failure(), from_ledger()):
                clock.now += 1
                watch.answered(stage, answer)
            for trouble in Trouble:
                watch.tried_in_vain(stage, trouble, 1.0)
        rows = shown(watch, console)
        assert max(map(cell_len, rows)) <= width
        assert "\n".join(rows).count("server, 6 ca") == 3
        assert ("2/2,000,000" if width < 40 else "4/2,000,000") in "\n".join(rows) or width == 24


def test_live_download_is_drawn_and_gone_when_it_is_over() -> None:
    watch, stream, console, _ = drawn()
    with watch:
        watch.fetched("qwen2.5-coder-0.5b-instruct-q4_k_m-abcdef123456.gguf", 10_000_000, 98_000_000)
        (row,) = shown(watch, console)
        assert row.startswith("Fetching qwen2....ef123456.gguf ")
        assert "10.0/98.0 MB" in row
        watch.fetched("qwen2.5-coder-0.5b-instruct-q4_k_m-abcdef123456.gguf", 98_000_000, 98_000_000)
        assert shown(watch, console) == []
        watch.fetched("of unknown size", 1_000, None)
        watch.say("[b]here[/b]")
        watch.began("stage", MODEL, 3)
        assert len(shown(watch, console)) == 1
    assert Screen(stream.getvalue().encode()).rows[0] == "[b]here[/b]"


def test_a_terminal_that_was_closed_does_not_end_the_run() -> None:
    ours, theirs = pty.openpty()
    stream = os.fdopen(theirs, "w")
    watch = LiveWatch(Console(file=outlet(stream), width=80))
    with watch:
        watch.began("s", MODEL, 2)
        os.close(ours)
        watch.answered("s", by_call())
        watch.say("nobody hears")
        watch.draining("s", 1)
        watch.ended("s")
    with pytest.raises(OSError, match="Input/output error"):
        stream.close()


def test_both_are_watches() -> None:
    watches: list[StudyWatch] = [plain()[0], drawn()[0]]
    assert len(watches) == 2
