"""Synthetic block files of any size, as sparse and as skewed as real ones.

Shapes follow Rhode Island 2010 (25,181 blocks: 31 per block group, 3.3 block groups per tract, 49 tracts per county; 30
% of the blocks empty; populated blocks with a median of 33 people and a long tail). Race and ethnicity vary from county
to tract to block around the shares of the United States 2010; a household is of one group. No count describes a real
place.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.geocodes import CENSUS_BLOCKS, texts_of_numbers
from phexplore.data.blocks.layouts import VALID_STATES, whole
from phexplore.data.blocks.marks import MARK_COLUMN, SYNTHETIC
from phexplore.data.blocks.population import BlockPopulation, from_dense
from phexplore.data.blocks.reading import GROUPS
from phexplore.data.blocks.states import states_together
from phexplore.data.blocks.whole_file import whole_file
from phexplore.errors import PhexploreError
from phexplore.workload.schema import load_schema

SHARES_2010 = np.array([0.1635, 0.6375, 0.1221, 0.0073, 0.0469, 0.0016, 0.0020, 0.0191])
"""Shares of the eight groups in the United States 2010 (P.L. 94-171), in the order of `GROUPS`."""

BLOCKS_PER_GROUP, GROUPS_PER_TRACT, TRACTS_PER_COUNTY = 31, 3.34, 49
COUNTY_CONCENTRATION, TRACT_CONCENTRATION, BLOCK_CONCENTRATION = 20.0, 8.0, 6.0
"""How close shares stay to those around them; chosen for the number of filled cells of real blocks."""

EMPTY = 0.30
PERSONS_PER_HOUSEHOLD = 2.5
ADULTS_AMONG_OTHERS = 0.6
"""With a first adult in every household this makes 76 % adults, as in the United States 2010."""
MOST_BLOCKS = 1_000_000
TRACTS_PER_TOWN = 6.2
"""As in Rhode Island 2010: 244 tracts, 39 towns."""
PLACE_IN_TOWN = 0.45
"""Share of a town's blocks that lie in its place."""


def synthesize_blocks(blocks: int, seed: int, state: str = "44") -> BlockPopulation:
    """Return a synthetic population in the schema ``pl94_reduced16``.

    Args:
        blocks: how many, at least 1.
        seed: any whole number of 0 or more.
        state: two digits in front of every code.

    Raises:
        PhexploreError: a number of blocks, a seed or a state that cannot be.
    """
    if not 1 <= blocks <= MOST_BLOCKS:
        raise PhexploreError(
            f"A block file has 1 to {MOST_BLOCKS:,} blocks, got {blocks:,}.", "Choose a number between."
        )
    if len(state) != 2 or whole(state, 2) not in VALID_STATES:
        raise PhexploreError(f"A state is a code of two digits, got {state!r}.", "Write e.g. 44 for Rhode Island.")
    if seed < 0:
        raise PhexploreError(f"A seed is a whole number of 0 or more, got {seed}.", "Leave out the sign.")
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(blocks,))))
    group = _clumps(blocks, BLOCKS_PER_GROUP, 900, rng)
    tract = _clumps(int(group[-1]) + 1, GROUPS_PER_TRACT, 9, rng)
    county = _clumps(int(tract[-1]) + 1, TRACTS_PER_COUNTY, 1_000, rng)
    remark = f"Synthetic blocks (seed {seed}); no count describes a real place."
    return replace(populate(state, group, tract, county, rng), remarks=(remark,))


def populate(
    state: str,
    group: NDArray[np.int64],
    tract: NDArray[np.int64],
    county: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    empty: float = EMPTY,
) -> BlockPopulation:
    """Return people for the blocks of a state.

    Args:
        state: two digits.
        group: ``group[blocks]``, of each block, ascending from 0.
        tract: ``tract[groups]``, of each block group.
        county: ``county[tracts]``, of each tract.
        rng: of all draws.
        empty: share of the blocks without people.
    """
    blocks = len(group)
    geoids = _codes(state, group, tract, county)
    people = _people(blocks, empty, rng)
    shares = _shares(county, tract, group, rng)
    # People of a household are of one group here, and one of them is an adult: that is what makes real blocks sparse.
    households = np.ceil(people / PERSONS_PER_HOUSEHOLD).astype(np.int64)
    heads = rng.multinomial(households, shares)
    others = rng.multinomial(people - households, heads / np.maximum(households, 1)[:, None])
    by_group = heads + others
    adults = heads + rng.binomial(others, ADULTS_AMONG_OTHERS)
    cells = np.concatenate([by_group - adults, adults], axis=1)
    return from_dense(load_schema("pl94_reduced16"), geoids, cells)


def synthesize_states(blocks: int, seed: int, states: Sequence[str], *, tribal: float = 0.0) -> BlockPopulation:
    """Return synthetic blocks of several states, as equally many of each as can be, with codes of their areas.

    Every state is `synthesize_blocks` with a seed of its own. In a state of its own share, whole block groups lie in a
    federally recognised tribal area (AIANNHCE 0001 to 4799), neighbouring ones in the same; a town is a run of tracts,
    and its place is a part of it that does not end where tracts end.

    Args:
        blocks: in all, at least one per state.
        seed: any whole number of 0 or more.
        states: codes of two digits, each once.
        tribal: share of the block groups in tribal areas, 0 to 1.

    Raises:
        PhexploreError: a number of blocks, a seed, a share or a state that cannot be.
    """
    if not states or len(set(states)) != len(states) or blocks < len(states):
        raise PhexploreError(
            f"{blocks:,} blocks cannot be spread over the states {', '.join(states) or 'named: none'}.",
            "Name each state once, and ask for at least one block of each.",
        )
    if not 0 <= tribal <= 1:
        raise PhexploreError(f"A share lies between 0 and 1, got {tribal}.", "Write e.g. 0.05.")
    parts = []
    for place, state in enumerate(sorted(states)):
        part = synthesize_blocks(blocks // len(states) + (place < blocks % len(states)), seed + place, state)
        parts.append(replace(part, places=areas(part, tribal, seed + place)))
    if len(parts) == 1:
        return parts[0]
    remark = f"Synthetic blocks of {len(parts)} states (seed {seed}); no count describes a real place."
    return replace(states_together(parts), remarks=(remark,))


def areas(part: BlockPopulation, tribal: float, seed: int) -> dict[str, NDArray[np.str_]]:
    """Return the town, the tribal area and the place of every block of a state, ``U[blocks]``, "" = none.

    Args:
        part: the state.
        tribal: share of the block groups in tribal areas.
        seed: of all draws.
    """
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(part.blocks, 4799))))
    group = np.unique(part.geoids.astype("U12"), return_inverse=True)[1]
    tract = np.unique(part.geoids.astype("U11"), return_inverse=True)[1]
    groups = int(group[-1]) + 1
    inside = rng.random(groups) < tribal
    area = 1 + np.cumsum(np.diff(inside.astype(np.int64), prepend=0) > 0) % 4799
    codes = np.where(inside, texts_of_numbers(area, 4), "")[group]
    town = np.cumsum(rng.random(int(tract[-1]) + 1) < 1 / TRACTS_PER_TOWN)[tract]
    # A place is what lies together in its town, wherever tracts end.
    first = np.searchsorted(town, town)
    within = (np.arange(part.blocks) - first + 0.5) / np.bincount(town)[town]
    begin = rng.uniform(0, 1 - PLACE_IN_TOWN, size=int(town[-1]) + 1)[town]
    place = np.where((within >= begin) & (within < begin + PLACE_IN_TOWN), texts_of_numbers(7 * (town + 1), 5), "")
    return {"cousub": texts_of_numbers(5 * (town + 1), 5), "aiannh": codes, "place": place}


def _clumps(items: int, mean: float, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return which clump each item belongs to: sizes are geometric around the mean, between 1 and `most`."""
    sizes = np.minimum(rng.geometric(1 / mean, size=int(2 * items / mean) + 10), most)
    ends = np.cumsum(sizes)
    while ends[-1] < items:
        ends = np.concatenate([ends, ends[-1] + np.cumsum(np.minimum(rng.geometric(1 / mean, size=100), most))])
    return np.searchsorted(ends, np.arange(items), side="right")


def _codes(
    state: str, group: NDArray[np.int64], tract: NDArray[np.int64], county: NDArray[np.int64]
) -> NDArray[np.str_]:
    """Return ascending 15-digit codes that nest like the clumps."""
    tract_of = tract[group]
    county_of = county[tract_of]
    digit = group - _first(tract)[tract_of] + 1
    number = np.arange(len(group)) - _first(group)[group]
    tract_number = tract_of - _first(county)[county_of] + 1
    numbers = (2 * county_of + 1) * 10**10 + 100 * tract_number * 10**4 + digit * 1000 + number
    return texts_of_numbers(int(state) * 10**13 + numbers, CENSUS_BLOCKS.public_length)


def _first(clump: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first item of each clump."""
    return np.searchsorted(clump, np.arange(int(clump[-1]) + 1))


def _people(blocks: int, empty: float, rng: np.random.Generator) -> NDArray[np.int64]:
    people = np.ceil(rng.lognormal(np.log(33), 1.1, blocks)).astype(np.int64)
    return np.where(rng.random(blocks) < empty, 0, np.minimum(people, 5_000))


def _shares(
    county: NDArray[np.int64], tract: NDArray[np.int64], group: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the shares of the groups per block: Dirichlet around the tract's, its around the county's, that around 2010's.

    Every step keeps the mean, so all blocks together come near the shares of the nation.

    Args:
        county: of each tract.
        tract: of each block group.
        group: of each block.
        rng: of all draws.
    """
    of_county = _spread(np.broadcast_to(SHARES_2010, (int(county[-1]) + 1, 8)), COUNTY_CONCENTRATION, rng)
    of_tract = _spread(of_county[county], TRACT_CONCENTRATION, rng)
    return _spread(of_tract[tract[group]], BLOCK_CONCENTRATION, rng)


def _spread(means: NDArray[np.float64], concentration: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw shares around the means, ``float64[rows, 8]``; where every draw underflows the mean itself is taken."""
    weights = rng.standard_gamma(means * concentration)
    sums = weights.sum(axis=1, keepdims=True)
    return np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), means)


def block_file(blocks: BlockPopulation) -> bytes:
    """Return a population of the schema ``pl94_reduced16`` with its areas as a CSV block file, the layout `read_population` reads.

    Raises:
        ValueError: the population is in another schema.
    """
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it
    from pyarrow import csv  # noqa: PLC0415 - as above

    if blocks.schema.id != "pl94_reduced16":
        raise ValueError(f"a block file holds pl94_reduced16, got {blocks.schema.id}")
    table = blocks.dense(0, blocks.blocks)
    minors, adults = table[:, :8], table[:, 8:]
    people = minors + adults
    names = ["geoid", "pop", *(f"pop_{g}" for g in GROUPS), "vap", *(f"vap_{g}" for g in GROUPS)]
    numbers = np.concatenate([people.sum(1, keepdims=True), people, adults.sum(1, keepdims=True), adults], axis=1)
    columns = [pa.array(blocks.geoids), *(pa.array(np.ascontiguousarray(column)) for column in numbers.T)]
    names += list(blocks.places)
    columns += [pa.array(codes) for codes in blocks.places.values()]
    names.append(MARK_COLUMN)
    columns.append(pa.array(np.full(blocks.blocks, SYNTHETIC)))
    file = io.BytesIO()
    file.write((",".join(names) + "\n").encode())
    csv.write_csv(pa.table(columns, names=names), file, csv.WriteOptions(include_header=False, quoting_style="none"))
    return file.getvalue()


def write_block_file(blocks: BlockPopulation, path: Path) -> None:
    """Write a block file, gzip-compressed when its name ends in ``.gz``.

    Args:
        blocks: the population.
        path: of the file, replaced as a whole.

    Raises:
        PhexploreError: it cannot be written.
    """
    content = block_file(blocks)
    with whole_file(path) as file:
        file.write(gzip.compress(content, 6, mtime=0) if path.suffix == ".gz" else content)
