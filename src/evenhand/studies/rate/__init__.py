"""What does preference data reward?"""

from evenhand.studies.rate.plan import RatePlan
from evenhand.studies.rate.run import RateResult, forecast_rate, rate

__all__ = ["RatePlan", "RateResult", "forecast_rate", "rate"]
