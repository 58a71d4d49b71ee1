"""What people read: the shape of a summary, and its table for the terminal."""

from evenhand.report.audit_summary import AuditSummary, Cell, Direction, Figure, GraderBlock
from evenhand.report.audit_table import audit_table

__all__ = ["AuditSummary", "Cell", "Direction", "Figure", "GraderBlock", "audit_table"]
