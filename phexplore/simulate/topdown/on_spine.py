"""A run on the spine that its scenario chooses: units of their own, in an order of their own, with budgets of their own.

The tree comes from `phexplore.spine`: see the module `phexplore.spine.tree` for what it holds. Errors are reported for
the units of the tabulation all the same, from leaves put back into the order of their codes.

Where tribal parts stand apart, a state's exact total is the sum of two parts and is kept of them together (production's
`aian_sum_constraints`): least squares has one row per state, and the rounder gets whole totals of the parts that add up
to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.geocodes import CENSUS_BLOCKS
from phexplore.data.blocks.population import BlockPopulation
from phexplore.model.topdown import TopDown
from phexplore.noise.distributions import Noise
from phexplore.simulate.topdown.design import Design, DesignError, LevelDesign, Measuring, make_design, measuring
from phexplore.simulate.topdown.driver import World, make_world
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.spine.allocation import allocation_of, bypassed_units
from phexplore.spine.building import build_spine, confirm_one_root
from phexplore.spine.geography import geography_of
from phexplore.spine.settings import settings_for
from phexplore.spine.tree import GeoTree, TreeLevel
from phexplore.spine.variance import AIAN_STATE_CODE
from phexplore.workload.schema import Schema


def world_on_spine(
    full: World, method: TopDown, leaves: BlockPopulation, noise: Callable[[Fraction], Noise]
) -> tuple[World, tuple[str, ...]]:
    """Return the world that a scenario's spine makes of a population, and what was assumed.

    Args:
        full: on the standard spine of the codes; it comes back where the scenario chooses that one.
        method: the scenario's parameters.
        leaves: the exact counts.
        noise: distribution of one answer for a budget.

    Raises:
        DesignError: the scenario cannot be simulated on this spine.
        PhexploreError: the spine cannot be built over this population.
    """
    settings = settings_for(method)
    if leaves.layout is CENSUS_BLOCKS:
        confirm_one_root(map(int, leaves.states))
    if settings.kind == "standard" and settings.bypass == "none":
        return full, ()
    if leaves.layout is not CENSUS_BLOCKS:
        raise DesignError(
            f"The scenario's spine is built over census blocks, the data are {leaves.layout.title}.",
            "Choose the standard spine.",
        )
    spine = build_spine(geography_of(leaves), settings)
    allocation = allocation_of(spine, method)
    design = design_on(allocation.tree, method, leaves.schema, noise, has_facilities=leaves.facilities is not None)
    bypassed = bypassed_units(allocation.bypassed)
    units = ", ".join(f"{level.units:,} {level.name}" for level in allocation.tree.levels)
    remark = f"Spine: {settings.kind}, {units}; {bypassed:,} units bypassed ({allocation.rule})."
    world = make_world(design, allocation.tree, leaves, state_of_part)
    classes = [unit_classes(each, method.total) for each in zip(design.levels, allocation.tree.levels, strict=True)]
    return replace(world, classes=tuple(classes)), (remark, *spine.remarks)


def unit_classes(level: tuple[LevelDesign, TreeLevel], total: Fraction) -> NDArray[np.int8]:
    """Return where each unit's noise is among its level's measurings, ``int8[units]``; -1 for a unit without budget.

    Args:
        level: its design, made by `design_on`, and its units.
        total: ρ or ε of the scenario.
    """
    design, units = level
    if units.shares is None:
        return np.zeros(units.units, np.int8)
    spent = [each.spent for each in design.measurings]
    places = [spent.index(total * share) if total * share in spent else -1 for share in units.shares.values]
    return np.array(places, np.int8)[units.shares.of_unit]


def design_on(
    tree: GeoTree, method: TopDown, schema: Schema, noise: Callable[[Fraction], Noise], *, has_facilities: bool
) -> Design:
    """Return a run's design for a tree whose units have shares of their own.

    Args:
        tree: as `phexplore.spine.allocation.geo_tree` returns it.
        method: the scenario's parameters.
        schema: of the data.
        noise: distribution of one answer for a budget.
        has_facilities: whether the data know how many facilities of each type a leaf has.

    Raises:
        DesignError: the scenario cannot be simulated on this tree.
    """
    names = [level.name for level in tree.levels]
    design = make_design(
        method, schema, names, noise, has_facilities=has_facilities, shared_totals=_shared_totals(tree)
    )
    levels = [
        with_measurings(level, units, method.level_shares[level.name], noise)
        for level, units in zip(design.levels, tree.levels, strict=True)
    ]
    return replace(design, levels=tuple(levels))


def with_measurings(
    level: LevelDesign, units: TreeLevel, own: Fraction, noise: Callable[[Fraction], Noise]
) -> LevelDesign:
    """Return a level with the noise of units whose share is not their level's.

    Args:
        level: with the noise of its own budget.
        units: with their shares.
        own: the level's share.
        noise: distribution of one answer for a budget.
    """
    if units.shares is None:
        return level
    found = [
        _scaled(level.measuring, units.shares.values[place] / own, noise)
        for place in np.unique(units.shares.of_unit).tolist()
        if units.shares.values[place] not in {0, own}
    ]
    return replace(level, measurings=(level.measuring, *found))


def _scaled(base: Measuring, factor: Fraction, noise: Callable[[Fraction], Noise]) -> Measuring:
    return measuring([budget * factor for budget in base.budgets], noise)


def _shared_totals(tree: GeoTree) -> tuple[str, ...]:
    """Return the level of states where their parts stand apart."""
    for number, level in enumerate(tree.levels):
        if level.name == "State" and number and len(str(level.codes[0])) >= AIAN_STATE_CODE:
            states = {state_of_part(str(code)) for code in level.codes.tolist()}
            return ("State",) if len(states) < level.units else ()
    return ()


def state_of_part(code: str) -> str:
    """Return the state whose part a code names: a bit for the tribal part, two digits (topdown, section 10)."""
    return code[1:AIAN_STATE_CODE]


def in_code_order(tree: GeoTree, leaves: Histograms) -> Histograms:
    """Return the leaves of a tree in the order of their codes.

    Args:
        tree: whose leaves they are.
        leaves: histograms in the tree's order.
    """
    if tree.order is None:
        return leaves
    place = np.empty(tree.blocks, np.int64)
    place[tree.order] = np.arange(tree.blocks)
    return leaves.ordered(place)
