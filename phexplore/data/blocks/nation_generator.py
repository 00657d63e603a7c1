"""A synthetic nation, a block file per state: as many blocks, tracts and counties as the spine of 2020 has.

The totals are those of the topdown facts, section 10. They are shared out over the states by the population of 2010 (counties: as
many as each state had), which is our choice; real states differ. Blocks without housing or group quarters are no units of that
spine, so few blocks are empty: as many as leave about 331 million people to the whole nation. Tribal parts are whole tracts, one in each of some counties. Block
groups of the spine are made when it is built, so their number comes out near the real one, not at it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.generator import GROUPS_PER_TRACT, areas, populate
from phexplore.data.blocks.geocodes import texts_of_numbers
from phexplore.data.blocks.population import BlockPopulation
from phexplore.data.synthetic.tables import apportion, assumptions, counties_of_states, state_figures
from phexplore.errors import PhexploreError

BLOCKS, TRACTS, COUNTY_NODES = 5_892_698, 84_589, 3_496
"""Units of the spine of 2020 (topdown, section 10); county nodes count a county with a tribal part twice."""

EMPTY = 0.0767
"""With a mean of 60.9 people where there are any this makes 56.2 people a block, as 331,449,281 people in 5,892,698 blocks do."""

WITHOUT_TRIBAL_PART = ("05", "10", "11", "17", "21", "24", "29", "33", "34", "39", "42", "47", "50", "54")
"""States without a tribal part: 14, so that 37 have one (topdown, section 10); which ones is our choice."""

PUERTO_RICO = "72"


@dataclass(frozen=True, slots=True)
class StatePlan:
    """How large a state is made.

    Attributes:
        code: two digits.
        blocks: how many.
        tracts: how many.
        counties: how many.
        tribal: counties with a tribal part.
    """

    code: str
    blocks: int
    tracts: int
    counties: int
    tribal: int


def plan_nation(blocks: int = BLOCKS, *, puerto_rico: bool = False) -> tuple[StatePlan, ...]:
    """Return how large every state is made.

    Args:
        blocks: in all; other totals shrink with them.
        puerto_rico: whether it is Puerto Rico alone, as large beside the states as its population.

    Raises:
        PhexploreError: fewer blocks than there are to be counties, or more than the nation has.
    """
    counties = counties_of_states()
    if not 8 * len(counties) <= blocks <= BLOCKS:
        raise PhexploreError(
            f"A synthetic nation has {8 * len(counties):,} to {BLOCKS:,} blocks, got {blocks:,}.",
            "Choose a number between.",
        )
    persons, share = {code: each.persons for code, each in state_figures().items()}, blocks / BLOCKS
    codes = tuple(sorted(persons))
    if puerto_rico:
        own = round(blocks * assumptions().puerto_rico_persons / sum(persons.values()))
        tracts = max(1, round(own * TRACTS / BLOCKS))
        return (StatePlan(PUERTO_RICO, own, tracts, min(78, tracts), 0),)
    weights = np.array([persons[code] for code in codes], np.int64)
    own_blocks = apportion(weights, blocks)
    own_tracts = np.minimum(own_blocks, np.maximum(2, apportion(weights, max(2 * len(codes), round(TRACTS * share)))))
    own_counties = np.array([counties[code] for code in codes], np.int64)
    if blocks < BLOCKS:
        own_counties = np.maximum(1, np.rint(own_counties * share).astype(np.int64))
    own_counties = np.minimum(own_counties, own_tracts)
    has_part = np.array([code not in WITHOUT_TRIBAL_PART for code in codes])
    tribal = max(int(has_part.sum()), round((COUNTY_NODES - sum(counties.values())) * share))
    own_tribal = np.where(has_part, np.maximum(1, apportion(own_counties * has_part, tribal)), 0)
    return tuple(
        StatePlan(*row)
        for row in zip(
            codes,
            own_blocks.tolist(),
            own_tracts.tolist(),
            own_counties.tolist(),
            np.minimum(own_tribal, own_counties).tolist(),
            strict=True,
        )
    )


def synthesize_state(plan: StatePlan, seed: int) -> BlockPopulation:
    """Return a state of a synthetic nation.

    Args:
        plan: how large it is.
        seed: of the nation, 0 or more.
    """
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(2020, int(plan.code)))))
    county = _cut(plan.tracts, plan.counties, rng)
    per_tract = np.minimum(rng.geometric(1 / GROUPS_PER_TRACT, plan.tracts), 9)
    blocks_of_tract = np.bincount(_cut(plan.blocks, plan.tracts, rng), minlength=plan.tracts)
    # A group has at most 900 blocks, and a tract no more groups than blocks.
    per_tract = np.minimum(np.maximum(per_tract, -(-blocks_of_tract // 450)), blocks_of_tract)
    tract = np.repeat(np.arange(plan.tracts), per_tract)
    # The blocks of a tract are cut into its groups as evenly as can be.
    tract_of_block = np.repeat(np.arange(plan.tracts), blocks_of_tract)
    place = np.arange(plan.blocks) - (np.cumsum(blocks_of_tract) - blocks_of_tract)[tract_of_block]
    within = place * per_tract[tract_of_block] // blocks_of_tract[tract_of_block]
    group = within + (np.cumsum(per_tract) - per_tract)[tract_of_block]
    found = populate(plan.code, group, tract, county, rng, empty=EMPTY)
    places = areas(found, 0.0, seed + int(plan.code))
    tracts_of_county = np.bincount(county, minlength=plan.counties)
    able = np.flatnonzero(tracts_of_county > 1)
    chosen = np.sort(rng.permutation(able)[: plan.tribal])
    last_tract = np.cumsum(tracts_of_county)[chosen] - 1
    codes = np.full(plan.tracts, "", "U4")
    codes[last_tract] = texts_of_numbers(1 + np.arange(len(chosen)) % 4799, 4)
    remark = f"Synthetic blocks of a nation (seed {seed}); no count describes a real place."
    return replace(found, places={**places, "aiannh": codes[tract_of_block]}, remarks=(remark,))


def _cut(items: int, groups: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return which of so many groups each item belongs to, none empty: cuts fall anywhere."""
    cuts = rng.choice(items - 1, groups - 1, replace=False, shuffle=False) + 1 if groups > 1 else np.empty(0, np.int64)
    starts = np.zeros(items, np.int64)
    starts[cuts] = 1
    return np.cumsum(starts)


def synthesize_nation(blocks: int, seed: int, *, puerto_rico: bool = False) -> Iterator[BlockPopulation]:
    """Yield the states of a synthetic nation, one at a time.

    Args:
        blocks: of all states.
        seed: any whole number of 0 or more.
        puerto_rico: see `plan_nation`.

    Raises:
        PhexploreError: a number of blocks or a seed that cannot be.
    """
    if seed < 0:
        raise PhexploreError(f"A seed is a whole number of 0 or more, got {seed}.", "Leave out the sign.")
    for plan in plan_nation(blocks, puerto_rico=puerto_rico):
        yield synthesize_state(plan, seed)
