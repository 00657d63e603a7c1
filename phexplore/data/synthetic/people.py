"""Filling the whole numbers of a part of a state with households, persons and units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.cross_field import (
    GROUP_QUARTERS_UNIT,
    HOUSING_UNIT,
    IN_GROUP_QUARTERS,
    IN_HOUSING_UNIT,
)
from phexplore.data.household_types import ADULT_AGE, HOUSEHOLDER, compose, household_types
from phexplore.data.synthetic.plan import KIND_STRIDE, StatePlan, draw_templates
from phexplore.data.synthetic.races import census_codes, correct, draw_groups, mix
from phexplore.data.synthetic.tables import (
    AGE_BAND_STARTS,
    AGE_BAND_WIDTHS,
    assumptions,
    group_quarters_ages,
    reassigned_shares,
    templates,
    tenure_table,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.data.population import Codes
    from phexplore.data.synthetic.targets import Target
    from phexplore.data.writing import CodeColumns

_INSTITUTIONAL, _NON_INSTITUTIONAL = 37, 38
_OWN_CHILD = 25
_OLDEST_CHILD_AGE = 17
_YOUNG_RELATIONSHIPS = (25, 26, 27, 28, 30, 33, 35, 36, 37, 38)
"""Relationships a person under 18 usually has: children, siblings, grandchildren, others."""
_COUPLE_RELATIONSHIPS = (21, 22, 23, 24)


@dataclass(slots=True)
class _People:
    """Persons in the order of their units, while they are being made."""

    unit: NDArray[np.int64]
    relship: Codes
    qage: Codes
    in_quarters: NDArray[np.bool_]


def make_part(
    plan: StatePlan, target: Target, first_mafid: int, rng: np.random.Generator
) -> tuple[CodeColumns, CodeColumns]:
    """Return the columns of persons and units of a part of a state, units in random order, persons by unit.

    Args:
        plan: of the state.
        target: whole numbers to be met.
        first_mafid: of the first unit; the others follow.
        rng: source of randomness.
    """
    sample = templates()
    template = draw_templates(plan, target.sizes, rng)
    facilities = _facility_sizes(target.group_quarters_persons, target.facilities, rng)
    vacant = np.zeros(target.vacant, np.int64)
    order = rng.permutation(target.units)
    size = np.concatenate([sample.size[template], vacant, facilities])[order]
    is_household = (order < len(template)).astype(np.bool_)
    is_facility = order >= len(template) + len(vacant)
    own_template = np.concatenate([template, np.zeros(target.units - len(template), np.int64)])[order]

    people = _gather(own_template, size, is_facility, rng)
    _meet_minors(people, int(target.cells[0].sum()), rng)
    cells = _feasible(target.cells, int((people.qage < ADULT_AGE).sum()))
    group = _groups(plan, people, is_household, cells, rng)
    cenhisp, cenrace = census_codes(group, rng)

    mafid = np.arange(first_mafid, first_mafid + len(size), dtype=np.int64)
    persons: CodeColumns = {
        "RTYPE": np.where(people.in_quarters, IN_GROUP_QUARTERS, IN_HOUSING_UNIT).astype(np.uint8),
        "MAFID": mafid[people.unit],
        "QAGE": people.qage,
        "CENHISP": cenhisp,
        "CENRACE": cenrace,
        "RELSHIP": people.relship,
    }
    female = sample.female[own_template] & is_household
    return persons, _units(people, persons, mafid, size, is_household, is_facility, female, rng)


def _facility_sizes(persons: int, facilities: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return sizes of group quarters, at least 1, by cutting the persons at random places."""
    if facilities == 0:
        return np.empty(0, np.int64)
    cuts = np.sort(rng.choice(persons - 1, facilities - 1, replace=False)) + 1
    return np.diff(np.concatenate([[0], cuts, [persons]]))


def _gather(
    template: NDArray[np.int64], size: NDArray[np.int64], is_facility: NDArray[np.bool_], rng: np.random.Generator
) -> _People:
    """Return persons with relationships and ages, those of templates drawn inside their age bands."""
    sample = templates()
    start = np.cumsum(size) - size
    unit = np.repeat(np.arange(len(size)), size)
    in_quarters = is_facility[unit]
    member = np.arange(len(unit)) - start[unit]
    place = np.where(in_quarters, 0, sample.first[template[unit]] + member)
    relship, band = sample.relship[place], sample.band[place]

    institutional = rng.random(len(size)) < float(assumptions().institutional_share)
    for code, chosen in ((_INSTITUTIONAL, institutional), (_NON_INSTITUTIONAL, ~institutional)):
        residents = np.flatnonzero(in_quarters & chosen[unit])
        relship[residents] = code
        band[residents] = np.searchsorted(group_quarters_ages()[code], rng.random(len(residents)), side="right")
    width = AGE_BAND_WIDTHS.astype(np.float32)[band]
    inside = np.minimum((rng.random(len(unit), dtype=np.float32) * width).astype(np.int64), AGE_BAND_WIDTHS[band] - 1)
    return _People(unit, relship, (AGE_BAND_STARTS[band] + inside).astype(np.uint8), in_quarters)


def _meet_minors(people: _People, wanted: int, rng: np.random.Generator) -> None:
    """Move as few persons as possible over the age of 18 so that exactly `wanted` are younger, where that can be."""
    minor = people.qage < ADULT_AGE
    surplus = int(minor.sum()) - wanted
    if surplus > 0:
        teenage = minor & (people.qage >= 12)
        chosen = _choose([teenage, minor & ~teenage], surplus, rng)
        people.qage[chosen] = ADULT_AGE
    elif surplus < 0:
        young = ~minor & np.isin(people.relship, _YOUNG_RELATIONSHIPS)
        couple = ~minor & np.isin(people.relship, _COUPLE_RELATIONSHIPS)
        other = ~minor & ~young & ~couple & (people.relship != HOUSEHOLDER)
        nearly = young & (people.qage < 25)
        chosen = _choose([nearly, young & ~nearly, other, couple], -surplus, rng)
        # Only tiny populations need a parent or a partner here: he or she becomes a child of the household.
        changed = chosen[(couple | other)[chosen]]
        people.relship[changed] = _OWN_CHILD
        people.qage[chosen] = _OLDEST_CHILD_AGE


def _choose(pools: list[NDArray[np.bool_]], number: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return `number` random positions from the first pool, then the next ones; fewer when all are used up."""
    chosen: list[NDArray[np.int64]] = []
    for pool in pools:
        if number <= 0:
            break
        candidates = np.flatnonzero(pool)
        taken = rng.choice(candidates, min(number, len(candidates)), replace=False)
        chosen.append(taken)
        number -= len(taken)
    return np.concatenate(chosen) if chosen else np.empty(0, np.int64)


def _feasible(cells: NDArray[np.int64], minors: int) -> NDArray[np.int64]:
    """Return the cells with as many minors as there are: the rest of a group's are counted as its adults.

    They differ only in populations of a few households, where no one but householders is left to be a child.
    """
    cells = cells.copy()
    surplus = int(cells[0].sum()) - minors
    while surplus:
        group = int(np.argmax(cells[0] if surplus > 0 else cells[1]))
        step = 1 if surplus > 0 else -1
        cells[0, group] -= step
        cells[1, group] += step
        surplus -= step
    return cells


def _groups(
    plan: StatePlan,
    people: _People,
    is_household: NDArray[np.bool_],
    cells: NDArray[np.int64],
    rng: np.random.Generator,
) -> Codes:
    """Return the race and ethnicity group of each person; the counts are exactly those of `cells`."""
    minor = people.qage < ADULT_AGE
    households = np.flatnonzero(is_household)
    adults = np.bincount(people.unit[~minor], minlength=len(is_household))[households]
    children = np.bincount(people.unit[minor], minlength=len(is_household))[households]
    residents = np.flatnonzero(people.in_quarters)
    kind = np.concatenate(
        [adults * KIND_STRIDE + children, np.where(minor[residents], 1, KIND_STRIDE)],
    )
    drawn = draw_groups(kind, plan.chances, rng)
    of_unit = np.zeros(len(is_household), np.uint8)
    of_unit[households] = drawn[: len(households)]
    group = of_unit[people.unit]
    group[residents] = drawn[len(households) :]
    mixed = rng.random(len(group), dtype=np.float32) < reassigned_shares().astype(np.float32)[people.relship]
    mix(group, minor, mixed, rng)
    correct(group, minor, people.relship != HOUSEHOLDER, cells, rng)
    return group


def _units(
    people: _People,
    persons: CodeColumns,
    mafid: NDArray[np.int64],
    size: NDArray[np.int64],
    is_household: NDArray[np.bool_],
    is_facility: NDArray[np.bool_],
    female: NDArray[np.bool_],
    rng: np.random.Generator,
) -> CodeColumns:
    """Return the columns of units.csv, derived from the persons."""
    composition = compose(people.unit, people.relship, people.qage, len(size))
    types = household_types(composition, female)
    head = np.flatnonzero(people.relship == HOUSEHOLDER)
    span, race, tenure = (np.zeros(len(size), np.uint8) for _ in range(3))
    span[people.unit[head]] = persons["CENHISP"][head]
    race[people.unit[head]] = persons["CENRACE"][head]
    table = tenure_table()
    age = np.maximum(np.searchsorted(table.ages, people.qage[head], side="right") - 1, 0)
    chances = table.cumulative[types.hht[people.unit[head]], age]
    tenure[people.unit[head]] = 1 + (rng.random(len(head))[:, None] >= chances[:, :3]).sum(axis=1)
    return {
        "RTYPE": np.where(is_facility, GROUP_QUARTERS_UNIT, HOUSING_UNIT).astype(np.uint8),
        "MAFID": mafid,
        "FINAL_POP": size,
        "NPF": np.where(is_household, types.npf, 0),
        "HHSPAN": span,
        "HHRACE": race,
        "TEN": tenure,
        "HHT": np.where(is_household, types.hht, 0),
        "HHT2": np.where(is_household, types.hht2, 0),
        "CPLT": np.where(is_household, types.cplt, 0),
    }
