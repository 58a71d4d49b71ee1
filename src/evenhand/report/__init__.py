"""What people read: the shape of a summary, and its table for the terminal."""

from evenhand.report.audit_names import named_estimates
from evenhand.report.audit_sensitivity import (
    BlindFigure,
    GroupFigure,
    LengthFigure,
    Sensitivity,
    ThresholdPoint,
)
from evenhand.report.audit_summary import (
    Analysis,
    AuditSummary,
    Cell,
    Direction,
    Figure,
    GraderBlock,
    OrderFigure,
    Position,
)
from evenhand.report.audit_table import audit_table

__all__ = [
    "Analysis",
    "AuditSummary",
    "BlindFigure",
    "Cell",
    "Direction",
    "Figure",
    "GraderBlock",
    "GroupFigure",
    "LengthFigure",
    "OrderFigure",
    "Position",
    "Sensitivity",
    "ThresholdPoint",
    "audit_table",
    "named_estimates",
]
