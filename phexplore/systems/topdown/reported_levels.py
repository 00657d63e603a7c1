"""The levels that the errors of a run are reported for: where a spine has levels of its own, those of tabulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from phexplore.data.blocks.geocodes import GeocodeLayout

if TYPE_CHECKING:
    from phexplore.simulate.topdown.design import Design, LevelDesign


def reported_levels(levels: tuple[str, ...], layout: GeocodeLayout) -> tuple[str, ...]:
    """Return the levels of tabulation in place of levels that codes do not name, e.g. of Prim and parts of tracts.

    Args:
        levels: of the scenario, widest first.
        layout: what the codes of leaves name.
    """
    known = {level.name for level in (*layout.levels, *layout.further)}
    if all(level in known for level in levels):
        return levels
    first = next((place for place, name in enumerate(layout.names) if name in levels), 0)
    return layout.names[first:]


def reported_design(design: Design, levels: Sequence[str]) -> Design:
    """Return a design over levels of tabulation; one that is not measured has the queries of the spine's level beside it.

    Args:
        design: over the levels of the spine.
        levels: of the tabulation, widest first.
    """
    known = {level.name: level for level in design.levels}
    found, below = [], design.levels[-1]
    for name in reversed(levels):
        below = known.get(name) or replace(_above(design, below.name), name=name)
        found.append(below)
    return replace(design, levels=tuple(reversed(found)))


def _above(design: Design, name: str) -> LevelDesign:
    names = [level.name for level in design.levels]
    return design.levels[max(0, names.index(name) - 1)]
