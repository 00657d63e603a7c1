"""The margins of every level of group sizes as a table."""

from __future__ import annotations

from datetime import datetime

from phexplore.files.spreadsheet import csv_bytes
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.systems.group_sizes.forecast import forecast_group_sizes

_COLUMNS = ("LEVEL", "REGIONS", "ANSWERS", "MECHANISM", "FRAMEWORK", "SHARE", "BUDGET", "SENSITIVITY", "NOISE", "SIGMA",
            "MOE_EXACT", "MOE_NORMAL", "ONE_SIZE_MOE_EXACT", "ONE_SIZE_MOE_NORMAL")  # fmt: skip


def forecast_csv(scenario: Scenario, _: Scenario | None = None, __: datetime | None = None) -> bytes:
    """Return a line per level: its budget, noise and margins. RFC 4180, UTF-8."""
    method = scenario.group_sizes
    lines = (
        [
            level.level,
            level.regions,
            level.answers,
            method.mechanism.value,
            method.framework.value,
            exact_text(level.share),
            exact_text(level.budget),
            level.noise.sensitivity,
            level.noise.noise.name,
            f"{level.sigma:.9g}",
            level.answer_margins.exact,
            f"{level.answer_margins.normal:.6f}",
            level.size_margins.exact,
            f"{level.size_margins.normal:.6f}",
        ]
        for level in forecast_group_sizes(method, scenario.conventions).levels
    )
    return csv_bytes([_COLUMNS, *lines])
