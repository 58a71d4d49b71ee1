"""The loopback endpoint as a process, for as long as it is needed."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Loopback:
    """A running endpoint."""

    port: int

    def processor_seconds(self) -> float:
        """Return how much processor time it has used so far."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/processor", timeout=30) as response:
            return float(json.loads(response.read()))


@contextmanager
def loopback(latency_ms: float, kind: Literal["choice", "rating"] = "choice") -> Iterator[Loopback]:
    """Run an endpoint of that latency, which answers with a choice or with two ratings."""
    command = [sys.executable, "-m", "bench.http_server", str(latency_ms), kind]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield Loopback(int(server.stdout.readline()))
    finally:
        server.kill()
        server.communicate()
