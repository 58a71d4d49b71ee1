"""A report of runs: what kind of run lies in a folder, and the page made of it."""

from evenhand.studies.report.build import Report, report

__all__ = ["Report", "report"]
