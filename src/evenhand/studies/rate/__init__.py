"""What does preference data reward?"""

from evenhand.studies.rate.plan import RatePlan
from evenhand.studies.rate.run import RateResult, rate

__all__ = ["RatePlan", "RateResult", "rate"]
