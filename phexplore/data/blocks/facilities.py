"""Persons, units and facilities of one place put together: what a file lacks is joined or assumed, and said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.aggregation import add_answers
from phexplore.data.blocks.microdata_reading import HOUSING_UNITS_PLACE, QUARTERS_PLACE
from phexplore.data.blocks.population import BlockPopulation, from_filled
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.workload.queries import parse_query

if TYPE_CHECKING:
    from numpy.typing import NDArray

PERSONS_PER_HOUSEHOLD = 2.5
"""Assumed where occupied units are not known; 2.58 in the United States 2010."""


def assume_facilities(persons: BlockPopulation) -> BlockPopulation:
    """Return the population with the facilities its persons need: one of each type with people, and housing units.

    A population that has facilities comes back unchanged. Housing units are people in households over 2.5, rounded up; none is
    vacant.

    Raises:
        ValueError: the schema has no facilities.
    """
    if persons.facilities is not None:
        return persons
    people = people_by_type(persons)
    facilities = np.minimum(people, 1).astype(np.int32)
    facilities[:, 0] = np.ceil(people[:, 0] / PERSONS_PER_HOUSEHOLD)
    remark = "Facilities were assumed: one of each type with people; a housing unit per 2.5 people in households."
    return replace(persons, facilities=facilities, remarks=(*persons.remarks, remark))


def people_by_type(persons: BlockPopulation) -> NDArray[np.int64]:
    """Return the people of every block by type of facility, ``int64[blocks, types]``, households first.

    Raises:
        ValueError: the schema has no facilities.
    """
    bounds = persons.schema.facility_bounds
    if bounds is None:
        raise ValueError(f"the schema {persons.schema.id} has no facilities")
    query = parse_query(persons.schema, bounds.query)
    return add_answers(persons, query, np.arange(persons.blocks), persons.blocks)


def join_units(persons: BlockPopulation, units: BlockPopulation) -> BlockPopulation:
    """Return the persons with the housing units and group quarters of a unit file; blocks of either are kept.

    Units of the DHC say the type of group quarters; production itself does not keep people and facilities of a type together at every
    block, so that as few facilities as possible are added or left out, and the remarks say how many. Units of the redistricting data do
    not say it: in each block every type with people has one facility; the further ones are of the type with the most people, as many
    as it has people, then of the next.

    Args:
        persons: in a schema with facilities.
        units: as `read_population` returns them for a unit file.

    Raises:
        InputProblemsError: blocks where the two cannot both be true.
        ValueError: not persons and units.
    """
    is_detailed = units.schema.id == "dhc_households" and persons.schema.id == "dhc_persons"
    if (
        (units.schema.id != "pl94_units" and not is_detailed)
        or units.facilities is None
        or persons.layout != units.layout
    ):
        raise ValueError(f"persons and units are joined, got {persons.schema.id} and {units.schema.id}")
    geoids = np.union1d(persons.geoids, units.geoids)
    quarters, housing = _aligned(units, geoids)
    rows = np.searchsorted(geoids, persons.geoids)
    people = np.zeros((len(geoids), people_by_type(persons).shape[1]), np.int64)
    people[rows] = people_by_type(persons)
    if is_detailed:
        types, remark = _given_types(units, geoids, people[:, 1:])
    else:
        types, remark = _by_type(people[:, 1:], quarters), _TYPES_OF_PERSONS
    facilities = np.concatenate([housing.sum(axis=1, keepdims=True), types], axis=1)
    _refuse((people[:, 0] > 0) & (facilities[:, 0] == 0), "has people in households but no housing unit")
    return from_filled(
        persons.schema,
        geoids,
        rows=rows[persons.rows()],
        cells=persons.cells,
        counts=persons.counts,
        facilities=facilities.astype(np.int32),
        housing=housing,
        places={name: _places(persons, units, name, geoids) for name in {**persons.places, **units.places}},
        layout=persons.layout,
        remarks=(remark,),
    )


_TYPES_OF_PERSONS = "Persons and units were joined; types of group quarters were taken from the persons in them."


def _given_types(
    units: BlockPopulation, geoids: NDArray[np.str_], people: NDArray[np.int64]
) -> tuple[NDArray[np.int64], str]:
    """Return the facilities of each type that units of the DHC name, ``int64[blocks, types]``, and what was changed of them."""
    given = np.zeros_like(people)
    if units.facilities is not None:
        given[np.searchsorted(geoids, units.geoids)] = units.facilities[:, -people.shape[1] :]
    fitting = np.clip(given, np.minimum(people, 1), people)
    more, fewer = (int(change[change > 0].sum()) for change in (fitting - given, given - fitting))
    changed = (
        f"; {more:,} facilities were added for people in them, {fewer:,} without people left out"
        if more + fewer
        else ""
    )
    return fitting, f"Persons and units were joined{changed}."


def _places(persons: BlockPopulation, units: BlockPopulation, name: str, geoids: NDArray[np.str_]) -> NDArray[np.str_]:
    """Return the codes of a class for all blocks, from the file that has the block."""
    codes = np.full(len(geoids), "", "U15")
    for population in (units, persons):
        if name in population.places:
            codes[np.searchsorted(geoids, population.geoids)] = population.places[name]
    return codes


def _aligned(units: BlockPopulation, geoids: NDArray[np.str_]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return group quarters ``[blocks]`` and vacant, occupied units ``[blocks, 2]`` of all blocks."""
    at = np.searchsorted(geoids, units.geoids)
    quarters = np.zeros(len(geoids), np.int64)
    housing = np.zeros((len(geoids), 2), np.int32)
    if units.facilities is not None and units.schema.id == "pl94_units":
        quarters[at] = units.facilities[:, QUARTERS_PLACE]
    if units.housing is not None:
        housing[at] = units.housing
    elif units.facilities is not None:
        housing[at, 0] = units.facilities[:, HOUSING_UNITS_PLACE]
    return quarters, housing


def _by_type(people: NDArray[np.int64], quarters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split the number of group quarters over the types with people, ``int64[blocks, types]``."""
    present = np.minimum(people, 1)
    rest = quarters - present.sum(axis=1)
    _refuse(rest < 0, "has people in more types of group quarters than it has group quarters")
    _refuse(quarters > people.sum(axis=1), "has more group quarters than people in them")
    room = people - present
    # Largest type first; a stable order makes the rule exact where types are equally large.
    order = np.argsort(-people, axis=1, kind="stable")
    sorted_room = np.take_along_axis(room, order, axis=1)
    before = np.cumsum(sorted_room, axis=1) - sorted_room
    taken = np.clip(rest[:, None] - before, 0, sorted_room)
    further = np.zeros_like(people)
    np.put_along_axis(further, order, taken, axis=1)
    total: NDArray[np.int64] = present + further
    return total


def _refuse(wrong: NDArray[np.bool_], sentence: str) -> None:
    if count := int(wrong.sum()):
        remedy = "Give persons and units of the same run; both are post-processed under the same invariants."
        raise InputProblemsError([Issue(("units",), f"{count:,} of {len(wrong):,} blocks: each {sentence}.", remedy)])
