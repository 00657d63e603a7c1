"""From the members of households to the cells of the DHC: relationship cells of persons, the 522 types of households."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from phexplore.resources import resource
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

MOST_SIZE = 7
"""Households of so many members and more are of one size."""

HOUSEHOLDER, ADULT = 20, 18
_COUPLES = {21: 1, 23: 2, 22: 3, 24: 4}
_COUPLE_NAMES = {"none": 0, "married_opp": 1, "married_same": 2, "cohab_opp": 3, "cohab_same": 4}
_CHILDREN_NAMES = {"none": 0, "u6": 1, "6-17": 2, "both": 3}
_OLD = (60, 65, 75)
_AGES_OF_HOUSEHOLDER = np.array([25, 35, 45, 55, 60, 65, 75, 85])


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Who lives in households, in any order.

    Attributes:
        household: ``int64[n]``, number of the household of each.
        relship: ``int64[n]``, RELSHIP 20 to 36.
        female: ``bool[n]``.
        age: ``int64[n]``, years.
        hispanic: ``int64[n]``, 0 or 1.
        race: ``int64[n]``, 0 to 62.
    """

    household: Ints
    relship: Ints
    female: NDArray[np.bool_]
    age: Ints
    hispanic: Ints
    race: Ints


@lru_cache(maxsize=1)
def household_types() -> dict[tuple[int, ...], int]:
    """Return the number of each of the 522 types, by size, generations, couple, own children, other children, relatives, any child."""
    with resource("schemas/dhc_household_types.csv").open(encoding="utf-8", newline="") as file:
        return {
            (
                int(row["size"]),
                int(row["multigenerational"]),
                _COUPLE_NAMES[row["couple"]],
                _CHILDREN_NAMES[row["own_child_u18"]],
                _CHILDREN_NAMES[row["child_u18_excl_hh_spouse_partner"]],
                int(row["with_relatives"]),
                int(row["any_child_u18"]),
            ): int(row["index"])
            for row in csv.DictReader(file)
        }


@lru_cache(maxsize=1)
def type_columns() -> NDArray[np.int64]:
    """Return what defines each of the 522 types, ``int64[522, 7]``; columns as in `household_types`."""
    table = np.zeros((len(household_types()), 7), np.int64)
    for key, place in household_types().items():
        table[place] = key
    return table


_STRIDES = np.array([2 * 5 * 4 * 4 * 2 * 2, 5 * 4 * 4 * 2 * 2, 4 * 4 * 2 * 2, 4 * 2 * 2, 2 * 2, 2, 1])


def type_numbers(definitions: Ints) -> Ints:
    """Return the number of the type of each ``definitions[n, 7]``, columns as in `household_types`; -1 where there is none."""
    found: Ints = _type_by_key()[definitions @ _STRIDES]
    return found


@lru_cache(maxsize=1)
def _type_by_key() -> Ints:
    table = np.full((MOST_SIZE + 1) * int(_STRIDES[0]), -1, np.int64)
    table[type_columns() @ _STRIDES] = np.arange(len(type_columns()))
    return table


def person_cells(members: Members, sizes: Ints) -> Ints:
    """Return the cell of each member in the schema of DHC persons, ``int64[n]``.

    Args:
        members: of households.
        sizes: ``sizes[households]``, members of each.
    """
    relgq = members.relship - 19
    head = members.relship == HOUSEHOLDER
    relgq[head] = np.where(sizes[members.household[head]] == 1, 0, 1)
    shape = load_schema("dhc_persons").shape
    place = (relgq, members.female.astype(np.int64), members.age, members.hispanic, members.race)
    return np.ravel_multi_index(place, shape).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Households:
    """What the cells of households are made of.

    Attributes:
        sizes: ``int64[households]``.
        female: ``bool[households]``, the householder.
        age: ``int64[households]``, of the householder.
        hispanic: ``int64[households]``.
        race: ``int64[households]``, 0 to 6: six races alone, two or more.
        elderly: ``int64[households]``, 0 to 3.
        kind: ``int64[households]``, of the 522; -1 where the members fit none.
        hht: ``int64[households]``, HHT 1 to 7.
    """

    sizes: Ints
    female: NDArray[np.bool_]
    age: Ints
    hispanic: Ints
    race: Ints
    elderly: Ints
    kind: Ints
    hht: Ints

    def cells(self, tenure: Ints) -> Ints:
        """Return the cell of each household, ``int64[households]``, given ``tenure[households]`` 0 to 2; -1 without a type."""
        ages = np.searchsorted(_AGES_OF_HOUSEHOLDER, self.age, side="right")
        place = (
            self.female.astype(np.int64), ages, self.hispanic, self.race, self.elderly, tenure, np.maximum(self.kind, 0)
        )  # fmt: skip
        cells = np.ravel_multi_index(place, load_schema("dhc_households").shape)
        return np.where(self.kind < 0, -1, cells).astype(np.int64)


def households_of(members: Members, households: int) -> Households:
    """Return what households are, from their members; each has one householder.

    Args:
        members: of all of them.
        households: how many.
    """
    unit, relship, age = members.household, members.relship, members.age

    def having(chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.bincount(unit[chosen], minlength=households) > 0

    head = np.zeros(households, np.int64)
    is_head = relship == HOUSEHOLDER
    head[unit[is_head]] = np.flatnonzero(is_head)
    couple = np.zeros(households, np.int64)
    for code, number in _COUPLES.items():
        couple[unit[relship == code]] = number
    minor = age < ADULT
    own = minor & (relship >= 25) & (relship <= 27)
    others = minor & (relship > 24)
    children = [
        np.where(having(chosen & (age < 6)), 1, 0) + np.where(having(chosen & (age >= 6)), 2, 0)
        for chosen in (own, others)
    ]
    relative = having((relship >= 25) & (relship <= 33) | (relship == 21) | (relship == 23))
    child = having((relship >= 25) & (relship <= 27) | (relship == 32))
    generations = (having((relship == 29) | (relship == 31)) & (child | having(relship == 30))) | (
        child & having(relship == 30)
    )
    sizes = np.bincount(unit, minlength=households)
    size = np.minimum(sizes, MOST_SIZE)
    key = np.stack([size, generations & (size > 2), couple, *children, relative, having(minor)], axis=1).astype(
        np.int64
    )
    kind = type_numbers(key)
    # Members that only nearly make a type of three generations are of the same type without.
    key[:, 1] = 0
    kind = np.where(kind < 0, type_numbers(key), kind)
    female = members.female[head]
    alone = sizes == 1
    hht = np.where(
        (couple == 1) | (couple == 2),
        1,
        np.where(relative, np.where(female, 3, 2), np.where(female, np.where(alone, 6, 7), np.where(alone, 4, 5))),
    )
    return Households(
        sizes,
        female,
        age[head],
        members.hispanic[head],
        np.minimum(members.race[head], 6),
        np.stack([having(age >= old) for old in _OLD]).sum(axis=0),
        kind,
        hht,
    )
