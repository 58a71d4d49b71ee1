"""Rating on many machines: the same functions as on one, put to blocks of pairs by Ray Data."""

from evenhand.studies.rate.cluster.run import rate_on_cluster

__all__ = ["rate_on_cluster"]
