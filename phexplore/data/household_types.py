"""Household types from who lives together: HHT, HHT2, CPLT and NPF as the census defines them.

Used three ways, so that all agree: the generator and the converter derive the types, the validation compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.data.population import Codes

HOUSEHOLDER = 20
SPOUSES = (21, 23)
PARTNERS = (22, 24)
OWN_CHILDREN = (25, 26, 27)
RELATIVES = (25, 26, 27, 28, 29, 30, 31, 32, 33)
"""Relatives of the householder other than a spouse."""
ADULT_AGE = 18

_MALE_HHT2_OFFSET = 4
_COUPLE_TYPE = {21: 1, 23: 2, 22: 3, 24: 4}


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """Who lives in each unit, as counts.

    Attributes:
        persons: ``int64[units]``, all persons.
        householders: ``int64[units]``, with RELSHIP 20.
        couple: ``uint8[units]``, RELSHIP of the spouse or partner, 0 when there is none; the smallest of several.
        couples: ``int64[units]``, spouses and partners.
        relatives: ``int64[units]``, related to the householder, spouses included.
        own_children: ``int64[units]``, biological, adopted and stepchildren under 18.
    """

    persons: NDArray[np.int64]
    householders: NDArray[np.int64]
    couple: Codes
    couples: NDArray[np.int64]
    relatives: NDArray[np.int64]
    own_children: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class HouseholdTypes:
    """The derived columns of units.csv, ``uint8[units]`` each, 0 for units without persons."""

    npf: Codes
    hht: Codes
    hht2: Codes
    cplt: Codes


def compose(unit: NDArray[np.integer], relship: Codes, qage: Codes, units: int) -> Composition:
    """Count the members of each unit.

    Args:
        unit: ``int[n]``, the unit of each person, 0-based.
        relship: ``uint8[n]``.
        qage: ``uint8[n]``.
        units: how many units there are.
    """

    def count(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(unit[chosen], minlength=units)

    couple = np.zeros(units, np.uint8)
    couples = np.zeros(units, np.int64)
    for code in sorted((*SPOUSES, *PARTNERS), reverse=True):
        present = count(relship == code)
        couple[present > 0] = code
        couples += present
    spouses = count((relship == SPOUSES[0]) | (relship == SPOUSES[1]))
    children = (relship >= OWN_CHILDREN[0]) & (relship <= OWN_CHILDREN[-1])
    return Composition(
        persons=np.bincount(unit, minlength=units),
        householders=count(relship == HOUSEHOLDER),
        couple=couple,
        couples=couples,
        relatives=count((relship >= RELATIVES[0]) & (relship <= RELATIVES[-1])) + spouses,
        own_children=count(children & (qage < ADULT_AGE)),
    )


def household_types(composition: Composition, female: NDArray[np.bool_]) -> HouseholdTypes:
    """Derive the types of households.

    HHT: 1 married; 2, 3 other family with male, female householder; 4, 5 male alone, not alone; 6, 7 female.
    HHT2: couples 01-04 by marriage and own children under 18; 05-08 female, 09-12 male householder without spouse or
    partner: alone, own children, relatives only, nonrelatives only. CPLT 5 is any other household of two or more; a
    person alone has 0, as in the 2020 microdata detail file. NPF counts householder and relatives, if more than one.

    Args:
        composition: of each unit.
        female: ``bool[units]``, the householder is a woman.
    """
    alone = composition.persons == 1
    lived_in = composition.persons > 0
    married = np.isin(composition.couple, SPOUSES)
    partnered = np.isin(composition.couple, PARTNERS)
    family = composition.relatives > 0
    with_children = composition.own_children > 0

    hht = np.where(alone, 4, 5) + 2 * female
    hht = np.where(family, 2 + female, hht)
    hht = np.where(married, 1, hht)

    single = np.where(alone, 5, np.where(with_children, 6, np.where(family, 7, 8)))
    hht2 = np.where(female, single, single + _MALE_HHT2_OFFSET)
    hht2 = np.where(partnered, np.where(with_children, 3, 4), hht2)
    hht2 = np.where(married, np.where(with_children, 1, 2), hht2)

    cplt = np.where(alone, 0, 5)
    for relship, code in _COUPLE_TYPE.items():
        cplt = np.where(composition.couple == relship, code, cplt)
    npf = np.where(family, 1 + composition.relatives, 0)
    return HouseholdTypes(*(np.where(lived_in, codes, 0).astype(np.uint8) for codes in (npf, hht, hht2, cplt)))
