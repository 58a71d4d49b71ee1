"""Rates and their intervals. Numbers in, numbers out: nothing here knows what was measured."""

from evenhand.statistics.bootstrap import ClusterBootstrap
from evenhand.statistics.estimate import Estimate

__all__ = ["ClusterBootstrap", "Estimate"]
