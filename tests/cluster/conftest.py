"""A Ray cluster for the tests of this folder."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

_RAY = (sys.executable, "-m", "ray.scripts.scripts")


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """Give the address of a cluster in processes of its own, which outlives the runs that use it."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed (pip install --group ray)")
    os.environ["RAY_AUTH_MODE"] = "disabled"
    command = [*_RAY, "start", "--head", "--port=0", "--num-cpus=4", "--include-dashboard=false"]
    command += ["--object-store-memory=200000000", "--disable-usage-stats"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    yield "auto"
    subprocess.run([*_RAY, "stop", "--force"], check=True, capture_output=True, timeout=120)
