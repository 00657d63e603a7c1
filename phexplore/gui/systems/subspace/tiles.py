"""The figures of releases under exact sums read from six metres away, each with its change. No Qt."""

from __future__ import annotations

import math

from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import budget_text, people, power_text
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.tiles import UNKNOWN, difference
from phexplore.model.scenario import Scenario
from phexplore.systems.registry import absurd_epsilon


def subspace_tiles(shown: ScenarioView) -> tuple[TileContent, ...]:
    """Return ε and δ, what is published exactly, and the expected error of an answer."""
    method, figures = shown.scenario.subspace, shown.figures
    before = shown.reference.scenario.subspace if shown.reference is not None else None
    change, tone = "one record replaced", Tone.NEUTRAL
    if before is not None:
        change, tone = difference(method.epsilon - before.epsilon, before.epsilon)
    if said := absurd_epsilon(shown.scenario):
        change, tone = said, Tone.ATTENTION
    beside = f"δ = {power_text(method.delta)}" if method.delta else "pure, no δ"
    loss = TileContent("Privacy loss ε", budget_text(method.epsilon), beside, change, tone)
    if figures is None:
        missing = TileContent("Published exactly", UNKNOWN, "", "see the issues", Tone.REFUSED)
        return loss, missing, TileContent("Expected error", UNKNOWN, "", "see the issues", Tone.REFUSED)
    seen = figures.disclosure
    exact = TileContent(
        "Published exactly",
        UNKNOWN if seen.rank is None else f"{seen.rank:,}",
        f"of {seen.cells:,} dimensions",
        "not protected by any ε: see the overview"
        if not seen.determined
        else f"{seen.determined:,} cells follow from them",
        Tone.ATTENTION if seen.determined else Tone.NEUTRAL,
    )
    return loss, exact, _error_tile(shown.scenario, shown)


def _error_tile(scenario: Scenario, shown: ScenarioView) -> TileContent:
    figures = shown.figures
    if figures is None or not figures.releases:
        return TileContent("Expected error", UNKNOWN)
    first = figures.releases[0]
    error = math.sqrt(first.squared_error / first.plan.space.size)
    change, tone = first.plan.release.mechanism.title, Tone.NEUTRAL
    if shown.reference is not None:
        from phexplore.errors import PhexploreError
        from phexplore.systems.subspace.forecast import forecast_subspace

        try:
            other = forecast_subspace(shown.reference.scenario.subspace, shown.reference.scenario.conventions).releases[
                0
            ]
        except (PhexploreError, IndexError):
            other = None
        if other is not None and other.plan.space.size == first.plan.space.size:
            was = math.sqrt(other.squared_error / other.plan.space.size)
            if abs(error - was) < 0.0005 * max(was, 1e-12):
                change = "as in the reference"
            else:
                change = f"{'+' if error > was else '−'}{people(abs(error - was))} against the reference"
                tone = Tone.ATTENTION if error > was else Tone.GOOD
    name = "" if len(scenario.subspace.releases) == 1 else f", {first.plan.name}"
    return TileContent(f"Expected error of an answer{name}", f"{people(error)}", "root mean square", change, tone)
