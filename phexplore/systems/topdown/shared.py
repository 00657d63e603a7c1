"""The figures of a TopDown scenario in the form all systems share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from phexplore.catalog.presets import errata_of
from phexplore.model.conventions import Neighbours
from phexplore.model.scenario import Scenario
from phexplore.systems.protocol import Entry, Forecast, Loss
from phexplore.systems.topdown.forecast import JointRelease, forecast_topdown, joint_release
from phexplore.systems.topdown.presets import topdown_presets


def loss(scenario: Scenario) -> Loss:
    """Return the loss when one record is replaced."""
    return Loss(scenario.topdown.framework, scenario.topdown.total, Neighbours.BOUNDED)


def forecast(scenario: Scenario) -> Forecast:
    """Return all figures; entries are query groups at geographic levels."""
    detail = forecast_topdown(scenario.topdown, scenario.conventions)
    entries = tuple(Entry(e.key, e.key.level, e.key.query, e.budget, e.margins) for e in detail.entries)
    exact = tuple(
        f"{level}: {', '.join(names)} published exactly, without any protection."
        for level, names in scenario.topdown.invariants.items()
        if names
    )
    return Forecast(loss(scenario), entries, (), exact, detail, detail.epsilons)


def joint_with_partner(scenario: Scenario) -> JointRelease | None:
    """Return the loss of persons and units as one release, where the preset it started from has a partner."""
    preset = topdown_presets().get(scenario.baseline)
    if preset is None or not preset.partner:
        return None
    return joint_release(scenario.topdown, preset.partner, topdown_presets()[preset.partner].scenario.topdown)


def forecast_json(scenario: Scenario, blocks: Path | None = None) -> dict[str, Any]:
    """Return what ``forecast --json`` prints, with exact margins on the spine over some blocks where they are given."""
    from phexplore.systems.topdown.block_forecast import on_blocks  # noqa: PLC0415 - brings the spine's kernels
    from phexplore.systems.topdown.forecast_json import topdown_json  # noqa: PLC0415 - only JSON needs it

    detail = forecast_topdown(scenario.topdown, scenario.conventions)
    errata = errata_of(topdown_presets(), scenario)
    predicted = None if blocks is None else on_blocks(scenario, blocks, queries=None)
    return topdown_json(scenario, detail, joint_with_partner(scenario), errata, predicted)
