"""The commands as a user runs them: in a process of their own."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from conftest import environment, shared

EVENHAND = [sys.executable, "-c", "from evenhand.cli import main; main()"]


def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    settings = environment(COLUMNS="80", NO_COLOR="1", **changes)
    return subprocess.run([*EVENHAND, *arguments], capture_output=True, text=True, check=False, env=settings)


def test_help_and_version() -> None:
    assert "audit" in run("--help").stdout
    assert run("--version").stdout.startswith("evenhand, version 0.")


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (["audit"], 2, "Missing option '--pairs'"),
        (["audti"], 2, "No such command 'audti'"),
        (["models", "path", "gpt-5"], 1, "there is no embedded model 'gpt-5'"),
        (
            ["audit", "--pairs", "x.csv", "--subject", "smollm2-135m", "--grader", "smollm2-135m", "--out", "r"],
            1,
            "x.csv: can't be read",
        ),
    ],
)
def test_errors_are_one_message_without_a_traceback(
    tmp_path: Path, arguments: list[str], code: int, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(*arguments)
    assert found.returncode == code
    assert what in found.stderr
    assert "Traceback" not in found.stderr
    assert found.stdout == ""


def test_a_full_disk_gives_one_message() -> None:
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            [*EVENHAND, "gold", "list", "--json"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert found.returncode == 1
    assert "No space left on device" in found.stderr
    assert "Traceback" not in found.stderr


def test_it_runs_as_a_module_too() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "evenhand", "--version"], capture_output=True, text=True, check=True, env=environment()
    )
    assert found.stdout.startswith("evenhand, version 0.")


def test_models_list_and_path(own_cache: Path) -> None:
    assert "qwen2.5-coder-0.5b" in run("models", "list").stdout
    rows = json.loads(run("models", "list", "--json").stdout)
    assert {row["fetched"] for row in rows} == {False}
    found = run("models", "path", "smollm2-135m")
    assert found.returncode == 1
    assert "evenhand models fetch smollm2-135m" in found.stderr


@pytest.mark.embedded
def test_models_fetch(subject_weights: Path) -> None:
    assert run("models", "fetch", "smollm2-135m").stdout.strip() == str(subject_weights)
    assert run("models", "path", "smollm2-135m").stdout.strip() == str(subject_weights)


def test_instruments_list_and_show() -> None:
    listed = run("instruments", "list").stdout
    assert "rubric" in listed
    assert "compact" in listed
    assert "{boundary}" in run("instruments", "show", "rubric", "refusal").stdout
    assert run("instruments", "show", "rubric", "reftusal").returncode == 2


def test_published_files_from_a_folder(own_cache: Path, tmp_path: Path) -> None:
    """Without the network: what the folder has is taken and checked, and what it lacks is said."""
    folder = shared("published")
    found = run("published", "fetch", "--from", str(folder))
    assert found.returncode == 1
    assert "CC BY 4.0" in found.stderr
    assert "Cite: " in found.stderr
    assert "eval_set.csv is in the cache" in found.stderr
    assert "prompts.py could not be fetched" in found.stderr
    assert "evenhand published fetch --from FOLDER" in found.stderr
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    (wrong / "eval_set.csv").write_bytes((folder / "eval_set.csv").read_bytes())
    (wrong / "prompts.py").write_text("REFUSAL_PROMPT = ''")
    assert (
        "89251a9454841d842d2182a23d2a31deee8198e2cbfba45f77c9cc1a47bd2ce7 was expected"
        in run("published", "fetch", "--from", str(wrong)).stderr
    )
    audit = run(
        *("audit", "--pairs", "published", "--instruments", "published", "--subject", "smollm2-135m"),
        *("--grader", "smollm2-135m", "--out", str(tmp_path / "r")),
    )
    assert "the published prompts.py is not in the cache" in audit.stderr


AUDIT = [
    *("audit", "--pairs", "builtin:us", "--sample", "3", "--seed", "1", "--subject", "smollm2-135m"),
    *("--grader", "smollm2-135m", "--instruments", "compact", "--max-tokens", "24"),
]


def replies(path: Path) -> int:
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            return int(db.execute("SELECT count(*) FROM replies").fetchone()[0])
    except sqlite3.Error:
        return 0


class Refusing(BaseHTTPRequestHandler):
    """Turns every request down."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(422)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_subject_that_answers_nothing_is_no_measurement(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        subject = f"http://127.0.0.1:{server.server_port}/v1#m"
        given = ["--sample", "2", "--subject", subject, "--grader", "fitted:builtin", "--out", str(tmp_path / "run")]
        found = run("audit", "--pairs", "builtin:us", *given)
        server.shutdown()
    assert found.returncode == 1, found.stderr
    assert f"nothing could be measured of {subject}" in " ".join(found.stderr.split())
    assert "0 responses; 4 more without a text" in " ".join(found.stdout.split())
    assert "4 calls of models; 0 replies were in the ledger" in found.stdout


@pytest.mark.embedded
@pytest.mark.parametrize(("how", "after"), [(signal.SIGKILL, 3), (signal.SIGKILL, 9), (signal.SIGINT, 4)])
def test_stopped_in_mid_run_and_gone_on(tmp_path: Path, subject_weights: Path, how: signal.Signals, after: int) -> None:
    """Every committed reply is used again, whether the run was killed while the subject or the grader was at work."""
    out = tmp_path / "run"
    command = [*EVENHAND, *AUDIT, "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 240
    while replies(out / "ledger.sqlite") < after and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL), errors
    if how == signal.SIGINT:
        assert "the same command goes on from here" in errors
    kept = replies(out / "ledger.sqlite")
    assert kept >= after
    assert not (out / "summary.json").exists()
    found = run(*AUDIT, "--out", str(out))
    assert found.returncode == 0, found.stderr
    asked = 6 + 12
    assert replies(out / "ledger.sqlite") == asked
    assert f"{asked - kept} calls of models; {kept} replies were in the ledger" in found.stdout


@pytest.mark.embedded
def test_table_fits_80_columns_and_json_is_the_summary(tmp_path: Path, subject_weights: Path) -> None:
    out = tmp_path / "run"
    found = run(*AUDIT, "--out", str(out))
    assert found.returncode == 0, found.stderr
    assert max(map(len, found.stdout.splitlines())) <= 80
    assert "\x1b" not in found.stdout + found.stderr
    for part in ("Even-handed", "Refusal", "Hedging", "  left", "  right", "helped neither", "right minus left"):
        assert part in found.stdout
    as_json = run(*AUDIT, "--out", str(out), "--json", "--quiet")
    assert as_json.stderr == ""
    assert json.loads(as_json.stdout) == json.loads((out / "summary.json").read_text("utf-8"))
    assert sorted(path.name for path in out.iterdir()) == [
        "instruments.json",
        "judgments.parquet",
        "ledger.sqlite",
        "pairs.parquet",
        "record.json",
        "responses.parquet",
        "summary.json",
    ]
