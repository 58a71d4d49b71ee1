"""Options that say on how many machines a command works."""

from collections.abc import Callable
from typing import Any

import click

from evenhand.errors import InputError
from evenhand.execution.cluster import Cluster


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--engine`` and what belongs to it; ``cluster_of`` takes their values."""
    for option in (
        click.option(
            "--ray-gpus", type=float, metavar="N", help="GPUs of each worker, for vllm: graders (default: 0)."
        ),
        click.option("--ray-workers", type=int, metavar="N", help="Processes that work at the same time (default: 2)."),
        click.option("--ray-address", metavar="ADDRESS", help="Of a running cluster (default: begin one here)."),
        click.option(
            "--engine",
            type=click.Choice(["local", "ray"]),
            default="local",
            show_default=True,
            help="local: this process; ray: a Ray cluster (evenhand[ray]).",
        ),
    ):
        command = option(command)
    return command


def cluster_of(options: dict[str, Any]) -> Cluster | None:
    """Take the engine's options out of a command's, and return the cluster that they name; None for this process."""
    engine, address, workers, gpus = (
        options.pop(name) for name in ("engine", "ray_address", "ray_workers", "ray_gpus")
    )
    if engine == "ray":
        return Cluster(address, 2 if workers is None else workers, gpus or 0.0)
    for name, value in (("--ray-address", address), ("--ray-workers", workers), ("--ray-gpus", gpus)):
        if value is not None:
            raise InputError("is given without a cluster", field=name, way_out="add --engine ray, or leave it away")
    return None
