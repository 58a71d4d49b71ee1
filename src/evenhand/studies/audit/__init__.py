"""Does a model treat opposing sides alike?"""

from evenhand.studies.audit.plan import AuditPlan
from evenhand.studies.audit.run import AuditResult, audit

__all__ = ["AuditPlan", "AuditResult", "audit"]
