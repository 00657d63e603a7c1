"""phexplore: tune, forecast, simulate and hand over disclosure-avoidance parameters."""

import sys

sys.set_int_max_str_digits(50_000)
"""Exact numbers are bounded where they are read (`model.numbers`); what is computed from them has more digits than Python shows."""

__version__ = "0.1.0"
