"""Exact margins on the spine of a scenario, over blocks that a user names."""

from __future__ import annotations

from pathlib import Path

from phexplore.model.scenario import Scenario
from phexplore.report.terminal import say
from phexplore.spine.geography_reading import read_geography
from phexplore.systems.topdown.spine_forecast import SpineComparison, forecast_on_blocks


def on_blocks(scenario: Scenario, blocks: Path, *, queries: list[str] | None) -> SpineComparison:
    """Return the exact margins on the scenario's spine over some blocks; what is odd about the file is said.

    Raises:
        PhexploreError: the blocks cannot be read.
    """
    geography = read_geography(blocks)
    for issue in geography.warnings:
        say(f"{issue.place}: {issue.severity.value}: {issue.sentence} {issue.remedy}")
    return forecast_on_blocks(geography, scenario.topdown, scenario.conventions, queries=queries)
