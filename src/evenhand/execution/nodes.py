"""Whether the machines of a cluster share what a run needs; found out before anything is asked of a model."""

import importlib
import secrets
import socket
from pathlib import Path
from typing import Any

import evenhand
from evenhand.errors import EvenhandError

_PATIENCE = 120.0
"""Seconds for a machine to start a process and answer."""


def check_nodes(ray: Any, folder: Path) -> int:  # noqa: ANN401  (the module)
    """Return how many machines work; raises ``EvenhandError`` where one of them does not share what it must.

    Every machine reads a file in the run folder that this one wrote, and writes one that this one then finds.

    Args:
        ray: what ``connected`` gave.
        folder: the run folder, which is there.
    """
    folder, token = folder.absolute(), secrets.token_hex(8)
    affinity = importlib.import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) > 0]
    look = ray.remote(num_cpus=0, max_retries=0)(_look)
    mark = folder / f".cluster-{token}"
    mark.write_text(token)
    try:
        asked = [
            look.options(scheduling_strategy=affinity(node["NodeID"], soft=False)).remote(
                str(mark), str(place), str(Path.cwd())
            )
            for place, node in enumerate(nodes)
        ]
        for place, (node, answer) in enumerate(zip(nodes, asked, strict=True)):
            problem = _problem(ray, answer, mark.with_name(f"{mark.name}.{place}"))
            if problem:
                raise EvenhandError(f"{node['NodeManagerAddress']}, a machine of the cluster, {problem}")
    finally:
        for path in folder.glob(f"{mark.name}*"):
            path.unlink(missing_ok=True)
    return len(nodes)


def _look(mark: str, place: str, working: str) -> dict[str, Any]:
    """Say what is seen on the machine that this runs on."""
    path, problem = Path(mark), ""
    try:
        path.with_name(f"{path.name}.{place}").write_text(path.read_text())
    except OSError as error:
        problem = f"{error.strerror or error}"
    return {
        "host": socket.gethostname(),
        "version": evenhand.__version__,
        "folder": problem,
        "working": Path(working).is_dir(),
    }


def _problem(ray: Any, answer: Any, mark: Path) -> str:  # noqa: ANN401
    """Return what is wrong with a machine, by its own word or by the mark that it should have left."""
    try:
        return _wrong(ray.get(answer, timeout=_PATIENCE), mark)
    except ray.exceptions.GetTimeoutError:
        return f"did not answer within {_PATIENCE:.0f} seconds. The way out: see with `ray status` whether it is busy."
    except (ray.exceptions.TaskUnschedulableError, ray.exceptions.NodeDiedError):
        return ""  # It was lost a moment ago, before the cluster had noticed: it takes no part.
    except ray.exceptions.RayError as error:
        missing = "No module named 'evenhand'" in str(error)
        why = "it is not installed" if missing else str(error).strip().splitlines()[-1][:300]
        return f"can't run Evenhand ({why}). The way out: pip install 'evenhand[ray]' on every machine of the cluster."


def _wrong(seen: dict[str, Any], mark: Path) -> str:
    host = seen["host"]
    if seen["folder"]:
        return f"({host}) can't use the run folder ({seen['folder']}). {_SHARE}"
    if not seen["working"]:
        return f"({host}) has no folder {Path.cwd()}, where this command was given. {_SHARE}"
    if seen["version"] != evenhand.__version__:
        ours = f"{seen['version']}, and this one has {evenhand.__version__}"
        return f"({host}) has Evenhand {ours}. The way out: install the same version on every machine."
    return "" if mark.exists() else f"({host}) has another folder than this machine at {mark.parent}. {_SHARE}"


_SHARE = (
    "The way out: give the command in a folder that all machines of the cluster share, with --out in it or in another;"
    " no model was asked."
)
