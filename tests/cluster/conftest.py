"""A Ray cluster for the tests of this folder, and a store that its workers reach."""

import importlib.util
from collections.abc import Iterator

import pytest

from ray_nodes import RayCluster, ray_cluster
from store_servers import Store, running_store


@pytest.fixture(scope="module")
def store() -> Iterator[Store | None]:
    """Give an S3 server, or None where there is none to run."""
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("ray") is None:
        yield None
        return
    with running_store("s3") as found:
        yield found


@pytest.fixture(scope="module")
def cluster(store: Store | None) -> Iterator[RayCluster]:
    """Give a cluster whose workers find the store by their environment; it outlives the runs that use it."""
    with ray_cluster(store.environment() if store else {}) as found:
        yield found
