"""phexplore: tune, forecast, simulate and hand over disclosure-avoidance parameters."""

__version__ = "0.1.0"
