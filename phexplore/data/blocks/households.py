"""From counts of people by block to the persons and households of the DHC, by a stated and seeded rule that keeps every count.

The rule, in the order it is applied:

1. Group quarters. Every facility of a major type gets a detailed type (`DETAILED_SHARES`, invented). Its people are of the ages of
   ``group_quarters_ages.csv``, inside their half of voting age and where the detailed type admits them; sexes are even, 9 of 10 are
   male in correctional facilities and military quarters.
2. Households. A block draws as many household compositions as it has occupied units from ``household_templates.csv``, with its county's
   sizes of 2010 (its state's where they are not known) and its state's people under 18 (as ``synth sdhc`` does). Its adults and minors take the places of householders first, then of the other
   members in random order; places that are left stay empty; adults that are left become other relatives, roommates or other
   nonrelatives of some household, minors children of some household.
3. Race and ethnicity. The block's people of each group are dealt to households one after the other, householders first; members leave
   the group at the rates of ``race_mixing.csv``.
4. Ages are drawn in the bands of the compositions; those that break a structural zero are drawn again.
5. Tenure follows ``tenure.csv`` by type of household and age of the householder; vacant units follow `VACANCY_SHARES`.

Every count of 2,016 cells, of facilities, and of occupied and vacant units stays what it was; everything else is invented. Compositions
are those of one state's sample, Rhode Island's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.household_cells import (
    ADULT,
    HOUSEHOLDER,
    Households,
    Members,
    households_of,
    person_cells,
)
from phexplore.data.blocks.population import BlockPopulation, from_filled
from phexplore.data.synthetic.plan import plan_state
from phexplore.data.synthetic.tables import (
    AGE_BAND_STARTS,
    AGE_BAND_WIDTHS,
    county_sizes,
    group_quarters_ages,
    puerto_rico_figures,
    reassigned_shares,
    state_figures,
    templates,
    tenure_table,
)
from phexplore.errors import PhexploreError
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

DETAILED_TYPES = ((18, 24), (24, 27), (27, 28), (28, 33), (33, 34), (34, 36), (36, 42))
"""Levels of relgq of each major type, first and behind the last."""

DETAILED_SHARES = (
    (0.05, 0.03, 0.30, 0.40, 0.20, 0.02), (0.60, 0.25, 0.15), (1.0,), (0.35, 0.25, 0.10, 0.20, 0.10), (1.0,), (0.95, 0.05),
    (0.20, 0.45, 0.15, 0.05, 0.05, 0.10),
)  # fmt: skip
"""Shares of detailed types among facilities of a major type. Invented: no source is at hand."""

VACANCY_SHARES = np.array([4_137_567, 206_825, 1_896_796, 421_032, 4_649_298, 24_161, 3_652_759]) / 14_988_438
"""Vacant units of 2010 by type: for rent, rented, for sale, sold, seasonal, migrant, other."""

_MALE_SHARE = 0.9
_INSTITUTIONAL = 33
_LEFTOVER_ADULTS, _LEFTOVER_MINORS = (33, 34, 36), (25, 26, 27, 30)
_LEFTOVER_MINOR_SHARES = (0.85, 0.03, 0.05, 0.07)
_TRIES = 20


@dataclass(frozen=True, slots=True, eq=False)
class DhcPopulations:
    """Exact counts of the two DHC products, of the same blocks.

    Attributes:
        persons: in the schema ``dhc_persons``, with facilities of 25 types.
        households: in the schema ``dhc_households``; its facilities are counts of the schema ``dhc_units``.
    """

    persons: BlockPopulation
    households: BlockPopulation


def with_households(persons: BlockPopulation, seed: int) -> DhcPopulations:
    """Return persons and households of the DHC.

    Args:
        persons: in the schema ``pl94_persons``, with facilities and housing units.
        seed: of every draw; equal seeds give equal populations.

    Raises:
        ValueError: the population is in another schema, or lacks facilities or housing units.
        PhexploreError: a negative seed.
    """
    if seed < 0:
        raise PhexploreError(f"A seed is a whole number of 0 or more, got {seed}.", "Leave out the sign.")
    if persons.schema.id != "pl94_persons" or persons.facilities is None or persons.housing is None:
        raise ValueError(f"pl94_persons with facilities and housing get households, got {persons.schema.id}")
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(2020,))))
    block = np.repeat(persons.rows(), persons.counts)
    place = np.unravel_index(np.repeat(persons.cells.astype(np.int64), persons.counts), persons.schema.shape)
    quarters, adult, hispanic, race = (column.astype(np.int64) for column in place)
    inside = quarters > 0
    facilities, quarter_cells = _group_quarters(
        persons, block[inside], quarters[inside], adult[inside], (hispanic[inside], race[inside]), rng
    )
    at_home = ~inside
    occupied = persons.housing[:, 1].astype(np.int64)
    home, members = _settle(persons, occupied, block[at_home], adult[at_home], (hispanic[at_home], race[at_home]), rng)
    _draw_ages(members, len(home), rng)
    units = households_of(members, len(home))
    tenures = _tenures(units.hht, units.age, rng)
    remark = (
        f"Relationships, ages, sexes, households, tenures and types of facilities and vacancies were invented (seed {seed}) from one "
        "state's sample; all counts of people by facility, voting age, ethnicity and race, and of housing units, are kept."
    )
    person_rows = np.concatenate([block[inside], home[members.household]])
    cells = np.concatenate([quarter_cells, person_cells(members, units.sizes)])
    everybody = from_filled(
        load_schema("dhc_persons"),
        persons.geoids,
        rows=person_rows,
        cells=cells,
        counts=np.ones(len(cells), np.int64),
        facilities=facilities.astype(np.int32),
        housing=persons.housing,
        places=persons.places,
        remarks=(*persons.remarks, remark),
        layout=persons.layout,
    )
    return DhcPopulations(everybody, _household_population(everybody, home, units, tenures, rng))


def _household_population(
    persons: BlockPopulation, home: Ints, units: Households, tenures: Ints, rng: np.random.Generator
) -> BlockPopulation:
    """Return the households, and in the place of facilities the unit histogram of every block."""
    blocks, cells = persons.blocks, units.cells(np.minimum(tenures, 2))
    vacant, occupied = (persons.housing if persons.housing is not None else np.zeros((blocks, 2), np.int32)).T
    counted = np.zeros((blocks, 35), np.int32)
    np.add.at(counted, (home, tenures), 1)
    # Blocks whose people fill fewer households than units are occupied: the rest is one person each, in households only.
    missing = np.repeat(np.arange(blocks), np.maximum(occupied - np.bincount(home, minlength=blocks), 0))
    alone = np.ravel_multi_index((0, 3, 0, 0, 0, 2, 392), load_schema("dhc_households").shape)
    np.add.at(counted[:, 2], missing, 1)
    counted[:, 4:11] = rng.multinomial(vacant, VACANCY_SHARES)
    if persons.facilities is not None:
        counted[:, 11:] = persons.facilities[:, 1:]
    return from_filled(
        load_schema("dhc_households"),
        persons.geoids,
        rows=np.concatenate([home, missing]),
        cells=np.concatenate([cells, np.full(len(missing), alone)]),
        counts=np.ones(len(cells) + len(missing), np.int64),
        facilities=counted,
        places=persons.places,
        remarks=persons.remarks,
        layout=persons.layout,
    )


def _group_quarters(
    persons: BlockPopulation,
    block: Ints,
    quarters: Ints,
    adult: Ints,
    groups: tuple[Ints, Ints],
    rng: np.random.Generator,
) -> tuple[Ints, Ints]:
    """Return facilities by detailed type, ``int64[blocks, 25]``, and the cell of each person in them."""
    schema = load_schema("dhc_persons")
    given = persons.facilities if persons.facilities is not None else np.zeros((persons.blocks, 8), np.int32)
    facilities = np.zeros((persons.blocks, 25), np.int64)
    facilities[:, 0] = given[:, 0]
    relgq = np.zeros(len(block), np.int64)
    for kind, ((first, _last), shares) in enumerate(zip(DETAILED_TYPES, DETAILED_SHARES, strict=True), start=1):
        owner = np.repeat(np.arange(persons.blocks), given[:, kind])
        detailed = first + rng.choice(len(shares), size=len(owner), p=shares)
        np.add.at(facilities, (owner, detailed - 17), 1)
        people = np.flatnonzero(quarters == kind)
        people = people[np.lexsort((rng.random(len(people)), block[people]))]
        rank = np.arange(len(people)) - np.searchsorted(block[people], block[people])
        held = given[block[people], kind].astype(np.int64)
        start = np.searchsorted(owner, block[people])
        # Everybody of a block's facilities in turn: none is left empty.
        relgq[people] = detailed[start + rank % np.maximum(held, 1)] if len(owner) else first
    free = ~schema.structurally_empty().reshape(schema.shape)[:, 0, :, 0, 0]
    ages = np.zeros(len(block), np.int64)
    for kind in np.unique(relgq).tolist():
        cumulative = group_quarters_ages()[37 if kind < _INSTITUTIONAL else 38]
        share = np.repeat(np.diff(cumulative, prepend=0.0) / AGE_BAND_WIDTHS, AGE_BAND_WIDTHS)
        share = np.concatenate([share, np.zeros(116 - len(share))])
        for grown in (0, 1):
            chosen = np.flatnonzero((relgq == kind) & (adult == grown))
            allowed = free[kind] & ((np.arange(116) >= ADULT) == bool(grown))
            weight = np.where(allowed, share + 1e-6 * (np.arange(116) < 100), 0.0)
            if len(chosen):
                ages[chosen] = rng.choice(116, size=len(chosen), p=weight / weight.sum())
    male = np.where(((relgq >= 18) & (relgq < 24)) | (relgq == 34) | (relgq == 35), _MALE_SHARE, 0.5)
    female = (rng.random(len(block)) >= male).astype(np.int64)
    return facilities, np.ravel_multi_index((relgq, female, ages, *groups), schema.shape).astype(np.int64)


def _settle(
    persons: BlockPopulation,
    occupied: Ints,
    block: Ints,
    grown: Ints,
    groups: tuple[Ints, Ints],
    rng: np.random.Generator,
) -> tuple[Ints, Members]:
    """Return the block of each household and its members; their ages are the numbers of their bands until `_draw_ages`."""
    people = np.bincount(block, minlength=persons.blocks)
    households = np.minimum(np.maximum(occupied, people > 0), people)
    home = np.repeat(np.arange(persons.blocks), households)
    drawn = _compositions(persons, home, rng)
    sample = templates()
    adults = np.bincount(block[grown == 1], minlength=persons.blocks)
    places = _places(home, drawn, households, adults, people - adults, rng)
    person = np.empty(len(block), np.int64)
    group = np.where(groups[0] == 1, 7, np.minimum(groups[1], 6))
    for adult in (0, 1):
        mine = np.flatnonzero(places.adult == adult)
        theirs = np.flatnonzero(grown == adult)
        # Households one after the other, householders first; people group by group: a household is of one group but at its edges.
        mine = mine[np.lexsort((places.relship[mine] != HOUSEHOLDER, places.household[mine]))]
        person[mine] = theirs[np.lexsort((rng.random(len(theirs)), group[theirs], block[theirs]))]
        leaves = mine[rng.random(len(mine)) < reassigned_shares()[places.relship[mine]]]
        leaves = leaves[np.argsort(home[places.household[leaves]], kind="stable")]
        person[leaves] = person[leaves[np.lexsort((rng.random(len(leaves)), home[places.household[leaves]]))]]
    female = _sexes(places, sample.female[drawn], rng)
    return home, Members(places.household, places.relship, female, places.band, groups[0][person], groups[1][person])


def _compositions(persons: BlockPopulation, home: Ints, rng: np.random.Generator) -> Ints:
    """Return the composition of each household, ``int64[households]``."""
    found = np.zeros(len(home), np.int64)
    counties = persons.geoids.astype("U5")[home]
    sizes = county_sizes()
    for county in np.unique(counties).tolist():
        own = np.flatnonzero(counties == county)
        cumulative = plan_state(state_figures().get(county[:2]) or puerto_rico_figures()).cumulative
        if county in sizes:
            cumulative = _with_sizes(cumulative, sizes[county])
        points = rng.random(len(own)) * cumulative[-1]
        found[own] = np.clip(np.searchsorted(cumulative, points, side="right") - 1, 0, len(cumulative) - 2)
    return found


def _with_sizes(cumulative: NDArray[np.float64], households: Ints) -> NDArray[np.float64]:
    """Return running sums of compositions' weights with other sizes; inside a size, weights keep their proportions.

    Args:
        cumulative: ``cumulative[compositions + 1]``, of a state.
        households: ``households[7]``, of sizes 1 to 6, and 7 or more.
    """
    size = np.minimum(templates().size, len(households)) - 1
    weight = np.diff(cumulative)
    totals = np.bincount(size, weights=weight, minlength=len(households))
    return np.concatenate([[0.0], np.cumsum(weight * (households / totals)[size])])


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Places of members, as many of adults and of minors in every block as it has people of that age.

    Attributes:
        household: ``int64[people]``.
        relship: ``int64[people]``.
        band: ``int64[people]``, of age.
        adult: ``int64[people]``, 0 or 1.
    """

    household: Ints
    relship: Ints
    band: Ints
    adult: Ints


def _places(home: Ints, drawn: Ints, households: Ints, adults: Ints, minors: Ints, rng: np.random.Generator) -> _Places:
    sample = templates()
    sizes = sample.size[drawn]
    household = np.repeat(np.arange(len(home)), sizes)
    offset = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    member = np.repeat(sample.first[drawn], sizes) + offset
    relship, band = sample.relship[member].astype(np.int64), sample.band[member].astype(np.int64)
    at = home[household]
    head = offset == 0
    # Where a block has fewer adults than households, the last householders are 15 to 17.
    rank = household - (np.cumsum(households) - households)[at]
    young = head & (rank >= adults[at])
    first_adult = int(np.searchsorted(AGE_BAND_STARTS, ADULT))
    band[head] = np.maximum(band[head], first_adult)
    band[young] = first_adult - 1
    parts = []
    for adult, wanted, kinds, shares in (
        (1, adults, _LEFTOVER_ADULTS, None),
        (0, minors, _LEFTOVER_MINORS, _LEFTOVER_MINOR_SHARES),
    ):
        own = np.flatnonzero((band >= first_adult) == bool(adult))
        own = own[np.lexsort((rng.random(len(own)), ~head[own], at[own]))]
        kept = own[_rank_in(at[own]) < wanted[at[own]]]
        left = np.repeat(np.arange(len(wanted)), wanted - np.bincount(at[kept], minlength=len(wanted)))
        start = (np.cumsum(households) - households)[left]
        joins = start + (rng.random(len(left)) * households[left]).astype(np.int64)
        bands = (
            rng.integers(first_adult, first_adult + 10, len(left)) if adult else rng.integers(0, first_adult, len(left))
        )
        codes = rng.choice(kinds, len(left), p=shares)
        parts.append(
            (
                np.concatenate([household[kept], joins]),
                np.concatenate([relship[kept], codes]),
                np.concatenate([band[kept], bands]),
                np.full(len(kept) + len(left), adult),
            )
        )
    return _Places(*(np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True)))


def _rank_in(block: Ints) -> Ints:
    """Return the rank of each entry among equal ones, which lie together."""
    return np.arange(len(block)) - np.searchsorted(block, block)


def _sexes(places: _Places, female: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return who is a woman: householders as in their composition, their couples as their code says, others evenly."""
    head = female[places.household]
    found = rng.random(len(head)) < 0.5
    found = np.where(places.relship == HOUSEHOLDER, head, found)
    found = np.where((places.relship == 21) | (places.relship == 22), ~head, found)
    return np.where((places.relship == 23) | (places.relship == 24), head, found)


def _draw_ages(members: Members, households: int, rng: np.random.Generator) -> None:
    """Replace bands by ages that break no structural zero."""
    schema, units = load_schema("dhc_persons"), load_schema("dhc_households")
    free = ~schema.structurally_empty().reshape(schema.shape)[:, 0, :, 0, 0]
    youngest = free.argmax(axis=1)
    oldest = schema.shape[2] - 1 - free[:, ::-1].argmax(axis=1)
    kind = members.relship - 19  # householders alone and not alone have the same limits
    band = members.age.copy()
    low = np.maximum(
        AGE_BAND_STARTS[band], np.minimum(youngest[kind], np.where(AGE_BAND_STARTS[band] < ADULT, 17, 115))
    )
    high = np.minimum(AGE_BAND_STARTS[band] + AGE_BAND_WIDTHS[band] - 1, oldest[kind])
    # A band beyond the limits of its relationship becomes the age nearest to them.
    high, low = np.maximum(high, low), np.where(high < low, np.minimum(low, oldest[kind]), low)
    high = np.minimum(high, np.maximum(oldest[kind], low))
    members.age[:] = low + (rng.random(len(low)) * (high - low + 1)).astype(np.int64)
    impossible = units.structurally_empty()
    head, grown = members.relship == HOUSEHOLDER, members.age >= ADULT
    couple = (members.relship > HOUSEHOLDER) & (members.relship < 25)
    for middle in (*([0] * _TRIES), 40):
        found = households_of(members, households)
        cells = found.cells(np.zeros(households, np.int64))
        wrong = impossible[np.maximum(cells, 0)]
        if not wrong.any():
            return
        own = wrong[members.household] & (head | couple) & grown
        # Children keep their ages: their parents are of an age to have them.
        members.age[own] = middle or rng.integers(20, 50, int(own.sum()))


def _tenures(hht: Ints, age: Ints, rng: np.random.Generator) -> Ints:
    """Return the tenure of each household, 0 to 3."""
    table = tenure_table()
    row = np.clip(np.searchsorted(table.ages, age, side="right") - 1, 0, None)
    cumulative = table.cumulative[hht, row]
    drawn: Ints = (rng.random(len(hht))[:, None] > cumulative).sum(axis=1).clip(0, 3).astype(np.int64)
    return drawn
