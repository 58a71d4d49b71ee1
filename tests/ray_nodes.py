"""A real Ray cluster of two nodes, in processes that are told from all others on this machine."""

import contextlib
import importlib.util
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_RAY = (sys.executable, "-m", "ray.scripts.scripts")
_MARK = "EVENHAND_TEST_NODE"
"""A variable by which the processes of a node are told from all others on this machine."""


@dataclass(frozen=True)
class Node:
    """One raylet with its workers: what a machine is to Ray."""

    mark: str

    def processes(self, name: str = "") -> list[int]:
        """Return the ids of its processes whose command begins with a name."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                there = f"{_MARK}={self.mark}".encode() in (folder / "environ").read_bytes().split(b"\0")
                if there and (folder / "cmdline").read_bytes().startswith(name.encode()):
                    found.append(int(folder.name))
        return found

    def kill(self) -> None:
        """Kill all of it at once, as where the machine loses its power."""
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


@dataclass(frozen=True)
class RayCluster:
    """A running cluster."""

    address: str
    head: Node
    second: Node

    def workers(self) -> list[int]:
        """Return the ids of the processes that rate or audit."""
        return [process for node in (self.head, self.second) for process in node.processes("ray::MapWorker")]


@contextmanager
def ray_cluster(environment: Mapping[str, str]) -> Iterator[RayCluster]:
    """Run a cluster for as long as tests need it, with these variables in its environment; skips without Ray."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed (pip install --group ray)")
    os.environ["RAY_AUTH_MODE"] = "disabled"
    mark = secrets.token_hex(8)
    folders = [Path(tempfile.mkdtemp(prefix="ray-")) for _ in range(2)]  # Sockets in them must have short names.
    head, second = Node(f"{mark}-head"), Node(f"{mark}-second")
    try:
        told = _start(head, environment, folders[0], "--head", "--port=0", "--include-dashboard=false")
        found = re.search(r"--address='([\d.:]+)'", told)
        assert found, told
        _start(second, environment, folders[1], f"--address={found[1]}")
        yield RayCluster(found[1], head, second)
    finally:
        for node in (second, head):
            node.kill()
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def _start(node: Node, environment: Mapping[str, str], folder: Path, *options: str) -> str:
    command = [*_RAY, "start", *options, "--num-cpus=2", f"--temp-dir={folder}", "--object-store-memory=100000000"]
    for _ in range(3):  # Ray gives itself half a minute, which a machine that tests keep busy may not have.
        done = subprocess.run(
            [*command, "--disable-usage-stats"],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
            env={**os.environ, **environment, _MARK: node.mark, "NO_COLOR": "1"},
        )
        if done.returncode == 0:
            return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
        node.kill()
    raise AssertionError(done.stdout)
