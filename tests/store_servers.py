"""Stores on the loopback, each in a process of its own: S3 by moto, and an emulator of Google's."""

import importlib.util
import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

CANARY_ID, CANARY = "AKIACANARY0123456789", "canary/0123456789abcdef+secret"
NO_AWS = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3", "AWS_CONFIG_FILE")
"""What must not be in the environment when a test says what is."""

_S3 = """
import time
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
time.sleep(36000)
"""
_GOOGLE = """
import sys, time
from gcp_storage_emulator.server import create_server
server = create_server("127.0.0.1", 0, in_memory=True)
server.start()
print(server._api._httpd.server_address[1], flush=True)
time.sleep(36000)
"""


@dataclass(frozen=True)
class Store:
    """A running store, seen from a test."""

    scheme: str
    url: str

    def environment(self) -> dict[str, str]:
        """Return what a user sets to reach it."""
        if self.scheme == "gs":
            return {"STORAGE_EMULATOR_HOST": self.url}
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": CANARY_ID,
            "AWS_SECRET_ACCESS_KEY": CANARY,
            "AWS_REGION": "eu-west-3",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def make_bucket(self, name: str) -> None:
        if self.scheme == "gs":
            self._ask("POST", "/storage/v1/b", json.dumps({"name": name}).encode(), "application/json")
        else:
            self._ask("PUT", f"/{name}", b"")

    def put(self, bucket: str, name: str, data: bytes) -> None:
        """Store a file; the emulator of Google's can't take one of no bytes."""
        if self.scheme == "gs":
            data = data or b"\n"
            self._ask("POST", f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={quote(name, safe='')}", data)
        else:
            self._ask("PUT", f"/{bucket}/{quote(name)}", data)

    def put_folder(self, bucket: str, name: str, folder: Path) -> str:
        """Store the files of a folder, and return its address."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(bucket, f"{name}/{path.relative_to(folder).as_posix()}", path.read_bytes())
        return f"{self.scheme}://{bucket}/{name}/"

    @contextmanager
    def asking_who(self) -> Iterator[None]:
        """Have S3 look at credentials, none of which it knows."""
        self._ask("POST", "/moto-api/reset-auth", b"0")
        try:
            yield
        finally:
            self._ask("POST", "/moto-api/reset-auth", b"inf")

    def _ask(self, method: str, path: str, data: bytes, kind: str = "application/octet-stream") -> None:
        headers = {"Content-Type": kind}
        if self.scheme == "s3":  # Moto looks whether there is a name, and lets the nameless replace nothing.
            headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={CANARY_ID}/20260101/us-east-1/s3/aws4_request"
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        try:
            urllib.request.urlopen(request, timeout=60).close()
        except urllib.error.HTTPError as error:
            error.close()
            raise AssertionError(f"{method} {path}: {error.code}") from None


@contextmanager
def running_store(scheme: str) -> Iterator[Store]:
    """Run a store for as long as a test needs it; skips where it, or PyArrow, is not installed."""
    module, program = {"s3": ("moto", _S3), "gs": ("gcp_storage_emulator", _GOOGLE)}[scheme]
    for needed in ("pyarrow", module):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed (pip install --group ray)")
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        port = process.stdout.readline().strip()
        while port and not port.isdecimal():
            port = process.stdout.readline().strip()
        assert port, f"{module} did not start"
        yield Store(scheme, f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.communicate()
