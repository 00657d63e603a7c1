"""From 16 public cells per block to the full schema of P.L. 94-171, by a stated and seeded rule that keeps every margin.

The rule, in the order it is applied to every block:

1. Race. A non-Hispanic group of one race is that race. Non-Hispanic people of two or more races and Hispanic people get one
   of the codes that fit, each person independently, with the shares of ``resources/synthetic/race_expansion.csv``.
2. Group quarters. Every block with at least 20 adults has a facility with a probability that makes about 2 % of the
   populated blocks hold one, growing with the number of adults. Its type follows the national shares of facilities; it
   takes a share between 5 % and 95 % of the block's people of the ages the type admits (no minors in nursing facilities, only
   minors in juvenile ones), at least one person. People are taken over the cells in proportion.
3. Housing. Occupied units are the household population over 2.5 people, rounded up; vacant ones follow a share of 11 %.

Every published count of the 16 cells, of every block and all their sums are kept exactly. The rest is invented.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.population import BlockPopulation
from phexplore.data.blocks.states import states_together
from phexplore.data.synthetic.tables import GROUPS as EXPANSION_GROUPS
from phexplore.data.synthetic.tables import race_expansion
from phexplore.errors import PhexploreError
from phexplore.workload.schema import load_schema

FACILITY_SHARES = np.array([0.04, 0.04, 0.20, 0.02, 0.10, 0.02, 0.58])
"""Rough shares of the seven types among facilities; most are small group homes (type 7)."""

SHARE_OF_BLOCKS = 0.02
PERSONS_PER_HOUSEHOLD = 2.5
VACANCY = 0.11
LEAST_ADULTS = 20
_NURSING, _JUVENILE = 3, 2


@dataclass(frozen=True, slots=True)
class _Entries:
    """One filled cell of the full schema: block, voting age, Hispanic, race, people."""

    block: NDArray[np.int64]
    adult: NDArray[np.int64]
    hispanic: NDArray[np.int64]
    race: NDArray[np.int64]
    people: NDArray[np.int64]


def expand(blocks: BlockPopulation, seed: int, *, is_one_of_several: bool = False) -> BlockPopulation:
    """Return the population in the full schema, with facilities and housing units.

    Several states are expanded one by one, each with draws of its own, so that it is the same whether they are read together or not.

    Args:
        blocks: in the schema ``pl94_reduced16``; or in ``pl94_persons`` with everybody in a household, which keeps its races.
        seed: of every draw; equal seeds give equal populations.
        is_one_of_several: whether these are the blocks of one state of a population of several.

    Raises:
        ValueError: the population is in another schema, or not everybody is in a household.
        PhexploreError: a negative seed.
    """
    if seed < 0:
        raise PhexploreError(f"A seed is a whole number of 0 or more, got {seed}.", "Leave out the sign.")
    if blocks.schema.id not in {"pl94_reduced16", "pl94_persons"}:
        raise ValueError(f"only pl94_reduced16 and pl94_persons can be expanded, got {blocks.schema.id}")
    if blocks.schema.id == "pl94_persons" and (blocks.cells >= blocks.schema.cells // 8).any():
        raise ValueError("people of pl94_persons whose group quarters are known are not expanded")
    states = blocks.geoids.astype("U2")
    if not is_one_of_several and len(codes := blocks.states) > 1:
        edges = [*np.searchsorted(states, codes).tolist(), blocks.blocks]
        parts = (blocks.part(first, last) for first, last in pairwise(edges))
        return states_together([expand(part, seed, is_one_of_several=True) for part in parts])
    key = (94, int(states[0])) if is_one_of_several else (94,)
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=key)))
    entries = _race(blocks, rng) if blocks.schema.id == "pl94_reduced16" else _known(blocks)
    facility, share = _facilities(blocks, rng)
    inside = _inside(entries, facility, share)
    table = _assemble(blocks, entries, facility, inside)
    units = np.zeros((blocks.blocks, 8), np.int32)
    occupied, vacant = _housing(blocks, entries, inside, rng)
    units[:, 0] = occupied + vacant
    housed = np.bincount(entries.block, weights=inside, minlength=blocks.blocks) > 0
    units[np.flatnonzero(housed), facility[housed]] = 1
    invented = "Races, group quarters" if blocks.schema.id == "pl94_reduced16" else "Group quarters"
    return BlockPopulation(
        load_schema("pl94_persons"),
        blocks.geoids,
        *table,
        facilities=units,
        housing=np.stack([vacant, occupied], axis=1).astype(np.int32),
        places=blocks.places,
        remarks=(
            *blocks.remarks,
            f"{invented} and housing units were invented (seed {seed}); margins are kept.",
        ),
    )


def _known(blocks: BlockPopulation) -> _Entries:
    """Return the filled cells of people in households as they are."""
    rest, race = np.divmod(blocks.cells.astype(np.int64), 63)
    adult, hispanic = np.divmod(rest, 2)
    return _Entries(blocks.rows(), adult, hispanic, race, blocks.counts.astype(np.int64))


def _race(blocks: BlockPopulation, rng: np.random.Generator) -> _Entries:
    """Split every filled cell over the races that fit it."""
    block = np.repeat(np.arange(blocks.blocks), np.diff(blocks.starts))
    adult, group = np.divmod(blocks.cells.astype(np.int64), 8)
    people = blocks.counts.astype(np.int64)
    parts: list[tuple[NDArray[np.int64], ...]] = []
    cumulative = race_expansion()
    for number in range(8):
        chosen = np.flatnonzero(group == number)
        shares = np.diff(cumulative[_EXPANSION_ROW[number]], prepend=0.0)[1:]
        codes = np.flatnonzero(shares > 0)
        drawn = rng.multinomial(people[chosen], shares[codes] / shares[codes].sum())
        row, column = np.nonzero(drawn)
        at = chosen[row]
        hispanic = np.full(len(at), int(number == 0))
        parts.append((block[at], adult[at], hispanic, codes[column], drawn[row, column]))
    merged = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.lexsort(tuple(merged[3::-1]))
    return _Entries(*(column[order] for column in merged))


_NAMES = ("hisp", "white", "black", "aian", "asian", "nhpi", "other", "two")
_EXPANSION_ROW = tuple(EXPANSION_GROUPS.index(name) for name in _NAMES)


def _facilities(blocks: BlockPopulation, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw which blocks hold a facility, of which type, and what share of the block lives in it."""
    block = np.repeat(np.arange(blocks.blocks), np.diff(blocks.starts))
    first_adult = 8 if blocks.schema.id == "pl94_reduced16" else 126
    adults = np.bincount(block, weights=blocks.counts * (blocks.cells >= first_adult), minlength=blocks.blocks)
    eligible = adults >= LEAST_ADULTS
    weight = np.where(eligible, np.sqrt(adults), 0.0)
    populated = int((blocks.totals() > 0).sum())
    chance = np.minimum(1.0, weight * (SHARE_OF_BLOCKS * populated / max(weight.sum(), 1.0)))
    holds = rng.random(blocks.blocks) < chance
    kind = np.where(holds, 1 + rng.choice(7, size=blocks.blocks, p=FACILITY_SHARES), 0)
    return kind, np.where(holds, rng.uniform(0.05, 0.95, blocks.blocks), 0.0)


def _inside(entries: _Entries, facility: NDArray[np.int64], share: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many people of each entry live in the block's facility, at least one where anybody may."""
    kind = facility[entries.block]
    admitted = (kind > 0) & ~((kind == _NURSING) & (entries.adult == 0)) & ~((kind == _JUVENILE) & (entries.adult == 1))
    inside = np.where(admitted, np.floor(entries.people * share[entries.block]), 0).astype(np.int64)
    placed = np.bincount(entries.block, weights=inside, minlength=len(facility))
    lacking = admitted & (placed[entries.block] == 0)
    first = np.flatnonzero(lacking)[np.unique(entries.block[lacking], return_index=True)[1]]
    inside[first] = 1
    return inside


def _assemble(
    blocks: BlockPopulation, entries: _Entries, facility: NDArray[np.int64], inside: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Return starts, cells and counts of the full histogram."""
    within = (entries.adult * 2 + entries.hispanic) * 63 + entries.race
    size = 2 * 2 * 63
    cells = np.concatenate([within, facility[entries.block] * size + within])
    counts = np.concatenate([entries.people - inside, inside])
    block = np.concatenate([entries.block, entries.block])
    kept = counts > 0
    order = np.lexsort((cells[kept], block[kept]))
    starts = np.concatenate([[0], np.cumsum(np.bincount(block[kept], minlength=blocks.blocks))]).astype(np.int64)
    return starts, cells[kept][order].astype(np.int32), counts[kept][order].astype(np.int32)


def _housing(
    blocks: BlockPopulation, entries: _Entries, inside: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    people = np.bincount(entries.block, weights=entries.people - inside, minlength=blocks.blocks)
    occupied = np.ceil(people / PERSONS_PER_HOUSEHOLD).astype(np.int64)
    vacant = rng.poisson(occupied * (VACANCY / (1 - VACANCY)) + 0.05).astype(np.int64)
    return occupied, vacant
