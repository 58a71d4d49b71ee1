"""Several configurations audited on a cluster: each is one worker's, in a folder of its own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.execution import RunFolder
from evenhand.execution.cluster import Cluster, connected, over_workers
from evenhand.execution.nodes import check_nodes
from evenhand.studies.audit.plan import AuditPlan
from evenhand.studies.audit.run import audit
from evenhand.studies.configurations import Configurations, audit_configurations
from evenhand.studies.watch import StudyWatch, UnwatchedStudy


def audit_on_cluster(plans: Sequence[AuditPlan], out: Path, cluster: Cluster, watch: StudyWatch) -> Configurations:
    """Carry several audits out on a cluster, compare them, and write the comparison into ``out``.

    The folder must be the same for all machines. A worker that is lost is started anew and goes on from the ledger of
    the audit that it had. Once all are done they are gone through here as well: every reply is in a ledger then, so
    that no model is called, and what is compared is what one machine would have compared.
    """
    if len(plans) < 2:
        raise InputError(
            "is for several configurations, and one is asked for",
            field="--engine ray",
            way_out="repeat --subject or --system-prompt, or leave --engine away",
        )
    if plans[0].max_cost is not None:
        raise InputError(
            "can't be kept by several workers",
            field="--max-cost",
            way_out="leave it away and see with --dry-run what the run will cost, or use one machine",
        )
    watch.say(f"{len(plans)} configurations to {cluster.workers} workers")
    with connected(cluster.address) as ray:
        if cluster.address is not None:
            check_nodes(ray, RunFolder(out).path)
        items = [{"plan": place} for place in range(len(plans))]
        for number, result in enumerate(
            over_workers(ray, items, ConfigurationAuditor, (tuple(plans),), workers=cluster.workers, gpus=cluster.gpus),
            1,
        ):
            watch.say(f"{number} of {len(plans)}: {result['configuration']}, {result['calls']:,} calls")
    return audit_configurations(plans, out, watch)


class ConfigurationAuditor:
    """Audits one configuration after another in a process of its own."""

    def __init__(self, plans: Sequence[AuditPlan]) -> None:
        """Take the plans, which items name by their place."""
        self._plans = plans

    def __call__(self, item: dict[str, Any]) -> dict[str, Any]:
        """Carry an audit out into its folder."""
        plan = self._plans[item["plan"]]
        result = audit(plan, UnwatchedStudy())
        return {"configuration": plan.configuration, "calls": result.calls, "replies": result.replies}
