"""Does a model treat opposing sides alike?"""

from evenhand.studies.audit.plan import AnalysisPlan, AuditPlan, GradingPlan
from evenhand.studies.audit.run import AuditResult, audit, forecast_audit

__all__ = ["AnalysisPlan", "AuditPlan", "AuditResult", "GradingPlan", "audit", "forecast_audit"]
