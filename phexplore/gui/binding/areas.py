"""The areas of the window."""

from __future__ import annotations

import enum
from collections.abc import Collection


class Area(enum.Enum):
    """One question per place. The value is the title."""

    OVERVIEW = "Overview"
    BUDGETS = "Budgets"
    LEVELS = "Levels and thresholds"
    SPINE = "Spine"
    TARGETS = "Targets"
    SCENARIO = "Scenario"
    EXPERIMENT = "Experiments"
    RUNS = "Runs"
    RESULTS = "Results"
    DECISION = "Decision"
    HISTORY = "History"


AREAS = tuple(Area)


_MOST_KEYS = 9


def area_keys(hidden: Collection[Area]) -> dict[Area, str]:
    """Return the keys of the areas that are not hidden: Ctrl+1 to Ctrl+9 in order, "" beyond."""
    shown = (area for area in AREAS if area not in hidden)
    return {area: f"Ctrl+{number}" if number <= _MOST_KEYS else "" for number, area in enumerate(shown, start=1)}
