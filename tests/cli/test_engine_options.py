"""Which cluster the options of a command name."""

from typing import Any

import pytest

from evenhand.cli.engine_options import cluster_of
from evenhand.errors import InputError
from evenhand.execution.cluster import Cluster

NOTHING: dict[str, Any] = {"engine": "local", "ray_address": None, "ray_workers": None, "ray_gpus": None}


@pytest.mark.parametrize(
    ("given", "cluster"),
    [
        ({}, None),
        ({"engine": "ray"}, Cluster(None, 2, 0.0)),
        ({"engine": "ray", "ray_workers": 8, "ray_gpus": 1.0}, Cluster(None, 8, 1.0)),
        ({"engine": "ray", "ray_address": "auto", "ray_gpus": 0.5}, Cluster("auto", 2, 0.5)),
    ],
)
def test_options_name_a_cluster(given: dict[str, Any], cluster: Cluster | None) -> None:
    options = {**NOTHING, **given, "other": 1}
    assert cluster_of(options) == cluster
    assert options == {"other": 1}


@pytest.mark.parametrize("name", ["ray_address", "ray_workers", "ray_gpus"])
def test_without_a_cluster_they_mean_nothing(name: str) -> None:
    with pytest.raises(InputError, match=r"is given without a cluster.*--engine ray"):
        cluster_of({**NOTHING, name: 1})


@pytest.mark.parametrize("gpus", [-1.0, 1.5, float("nan"), float("inf")])
def test_a_worker_has_whole_gpus_or_a_share_of_one(gpus: float) -> None:
    with pytest.raises(InputError, match="--ray-gpus"):
        Cluster(gpus=gpus)
