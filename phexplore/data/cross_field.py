"""Rules between columns and files that production's validation lacks.

Errors are records that fit no basis cell: on these production's private mode stops in the middle of a run, and its
non-private mode counts them in totals only. Warnings are contradictions that production tabulates without a word.
"In the universe" means that the geography file calls the unit a housing unit, which is what production goes by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.data.household_types import (
    ADULT_AGE,
    HOUSEHOLDER,
    OWN_CHILDREN,
    Composition,
    compose,
    household_types,
)
from phexplore.data.problems import Phase, ProblemLog, Rule, report
from phexplore.model.issues import Severity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.data.reading import Table

HOUSING_UNIT, GROUP_QUARTERS_UNIT = 2, 4
IN_HOUSING_UNIT, IN_GROUP_QUARTERS = 3, 5
GROUP_QUARTERS_RELATIONSHIPS = (37, 38)
HHT2_WITH_OWN_CHILDREN = (1, 3, 6, 10)
_LARGEST_FAMILY_HHT = 3
_FEMALE_HHT, _FEMALE_HHT2, _MALE_HHT, _MALE_HHT2 = (3, 6, 7), (5, 6, 7, 8), (2, 4, 5), (9, 10, 11, 12)

_DERIVE = "Derive the column again from the relationships, or correct the person records."


@dataclass(frozen=True, slots=True, eq=False)
class Linked:
    """The three tables with their rows matched by MAFID.

    Attributes:
        persons: person rows.
        units: unit rows.
        geo: geography rows.
        unit_of_person: ``int32[persons]``, row of the unit.
        geo_of_unit: ``int32[units]``, row of the geography.
    """

    persons: Table
    units: Table
    geo: Table
    unit_of_person: NDArray[np.int32]
    geo_of_unit: NDArray[np.int32]


def check_records(linked: Linked, log: ProblemLog) -> None:
    """Record every contradiction between columns, errors and warnings.

    Args:
        linked: persons, units and geography, matched by MAFID.
        log: receives the problems.
    """
    _Checks(linked, log).run()


class _Checks:
    """The rules with what they share: columns by name, composition of the units, the universe."""

    def __init__(self, linked: Linked, log: ProblemLog) -> None:
        self.log, self.linked = log, linked
        self.persons, self.units, self.geo = (
            linked.persons.columns,
            linked.units.columns,
            linked.geo.columns,
        )
        self.unit = linked.unit_of_person
        self.is_housing = self.geo["rtype"][linked.geo_of_unit] == HOUSING_UNIT
        count = len(linked.units)
        self.composition: Composition = compose(self.unit, self.persons["relship"], self.persons["qage"], count)
        self.in_household = self.persons["rtype"] == IN_HOUSING_UNIT
        residents = np.bincount(self.unit[self.in_household], minlength=count) > 0
        occupied = (self.units["rtype"] == HOUSING_UNIT) & (self.units["hht"] != 0)
        self.in_universe = self.is_housing & (residents | occupied)
        # PH4 asks for no record type: it counts householder, spouse and relatives where HHT is 0 to 3.
        relatives = self.composition.relatives + self.composition.householders > 0
        self.in_ph4 = self.is_housing & relatives & (self.units["hht"] <= _LARGEST_FAMILY_HHT)
        # Neither does the denominator of PH5, which counts units of HHT 1 to 3 even where nobody lives.
        self.in_ph5_denominator = self.is_housing & (self.units["hht"] > 0) & (self.units["hht"] <= _LARGEST_FAMILY_HHT)

    def run(self) -> None:
        self._units_without_cell()
        self._persons_without_cell()
        self._record_types()
        self._counts()
        self._householders()
        self._types()
        self._not_in_universe()

    def _unit(
        self, name: str, column: str, found: NDArray[np.bool_], sentence: str, remedy: str,
        severity: Severity = Severity.ERROR,
    ) -> None:  # fmt: skip
        rule = Rule(name, Phase.RECORDS, column, remedy, severity)
        report(self.log, rule, self.linked.units.place, found, sentence=sentence)

    def _person(
        self, name: str, column: str, found: NDArray[np.bool_], sentence: str, remedy: str,
        severity: Severity = Severity.ERROR,
    ) -> None:  # fmt: skip
        rule = Rule(name, Phase.RECORDS, column, remedy, severity)
        report(self.log, rule, self.linked.persons.place, found, sentence=sentence)

    def _units_without_cell(self) -> None:
        units = self.units
        hht2, cplt = units["hht2"], units["cplt"]
        self._unit(
            "household type 2 missing",
            "HHT2",
            self.in_universe & (hht2 == 0),
            "The occupied housing unit has no household type (HHT2): its persons fit no cell of PH2.",
            "Give the unit its household type 01-12, or mark it as vacant and move its persons.",
        )
        for codes, legal, words in (((1, 2), (1, 2), "married"), ((3, 4), (3, 4), "cohabiting")):
            self._unit(
                f"couple type of {words} couples",
                "CPLT",
                self.in_universe & np.isin(hht2, codes) & ~np.isin(cplt, legal),
                f"HHT2 is the code of a {words} couple, but CPLT is not: no cell of PH2 fits.",
                f"CPLT of a {words} couple is {legal[0]} or {legal[1]}; correct CPLT or HHT2.",
            )
        self._unit(
            "tenure missing",
            "TEN",
            self.in_universe & (units["ten"] == 0),
            "The occupied housing unit has no tenure (TEN): no cell of PH7 and PH8 fits.",
            "Give the tenure, 1-4.",
        )
        self._unit(
            "householder's race missing",
            "HHRACE",
            (self.in_universe | self.in_ph4 | self.in_ph5_denominator) & (units["hhrace"] == 0),
            "The householder of the occupied housing unit has no race (HHRACE): the unit is in no group A-G.",
            "Give the race code of the householder, 01-63.",
        )

    def _persons_without_cell(self) -> None:
        persons, relship = self.persons, self.persons["relship"]
        hht2 = self.units["hht2"][self.unit]
        child = (relship >= OWN_CHILDREN[0]) & (relship <= OWN_CHILDREN[-1]) & (persons["qage"] < ADULT_AGE)
        self._person(
            "own child in a household without own children",
            "RELSHIP",
            child & self.is_housing[self.unit] & ~np.isin(hht2, HHT2_WITH_OWN_CHILDREN),
            "RELSHIP and QAGE are those of an own child under 18, but HHT2 of the unit is not: no cell of PH3 and PH6 fits.",
            "HHT2 of a household with own children under 18 is 01, 03, 06 or 10.",
        )
        self._person(
            "group-quarters relationship in a housing unit",
            "RELSHIP",
            self.in_household & np.isin(relship, GROUP_QUARTERS_RELATIONSHIPS),
            "RELSHIP is that of group quarters, but RTYPE 3 is a housing unit: PH3 has no cell.",
            "Set RTYPE to 5, or give the relationship to the householder, 20-36.",
        )

    def _record_types(self) -> None:
        persons, units = self.persons, self.units
        warning = Severity.WARNING
        unit_type = units["rtype"]
        geo_type = self.geo["rtype"][self.linked.geo_of_unit]
        self._unit(
            "record type of units and geography",
            "RTYPE",
            unit_type != geo_type,
            "RTYPE differs from RTYPE in the geography file, which production uses.",
            "Give the unit the same RTYPE in both files.",
            warning,
        )
        wanted = np.where(unit_type == HOUSING_UNIT, IN_HOUSING_UNIT, IN_GROUP_QUARTERS)[self.unit]
        self._person(
            "record type of persons and units",
            "RTYPE",
            persons["rtype"] != wanted,
            "RTYPE of the person does not fit RTYPE of the unit.",
            "Persons of RTYPE 3 live in units of RTYPE 2, those of RTYPE 5 in units of RTYPE 4.",
            warning,
        )
        relship = persons["relship"]
        self._person(
            "household relationship in group quarters",
            "RELSHIP",
            (persons["rtype"] == IN_GROUP_QUARTERS) & ~np.isin(relship, GROUP_QUARTERS_RELATIONSHIPS),
            "RELSHIP is that of a household, but RTYPE 5 is group quarters.",
            "Set RELSHIP to 37 or 38, or RTYPE to 3.",
            warning,
        )

    def _counts(self) -> None:
        persons, stated = self.composition.persons, self.units["final_pop"]
        self._unit(
            "number of persons",
            "FINAL_POP",
            stated != persons,
            "FINAL_POP differs from the number of persons of the unit on file.",
            "Correct FINAL_POP: non-private PH8 sums it, private PH8 counts persons.",
            Severity.WARNING,
        )

    def _householders(self) -> None:
        households = (self.units["rtype"] == HOUSING_UNIT) & (self.composition.persons > 0)
        heads, couples = self.composition.householders, self.composition.couples
        warning = Severity.WARNING
        self._unit(
            "one householder",
            "MAFID",
            households & (heads != 1),
            "The household has no householder (RELSHIP 20), or more than one.",
            "Give every household exactly one.",
            warning,
        )
        self._unit(
            "one spouse or partner",
            "MAFID",
            households & (couples > 1),
            "The household has more than one spouse or partner (RELSHIP 21-24).",
            "A householder has at most one spouse or partner.",
            warning,
        )
        head = np.flatnonzero(self.persons["relship"] == HOUSEHOLDER)
        comparable = households & (heads == 1)
        for column, own, words in (("hhrace", "cenrace", "race"), ("hhspan", "cenhisp", "Hispanic origin")):
            expected: NDArray[Any] = np.zeros(len(self.linked.units), np.uint8)
            expected[self.unit[head]] = self.persons[own][head]
            stated = self.units[column]
            self._unit(
                f"householder's {words}",
                column.upper(),
                comparable & (stated != expected),
                f"{column.upper()} differs from {own.upper()} of the householder.",
                "Copy it from the householder's record: tables iterate by the unit's columns.",
                warning,
            )

    def _types(self) -> None:
        units, composition, warning = self.units, self.composition, Severity.WARNING
        # Sex is not in the files; the types themselves say it, so only their agreement can be checked.
        female_by_hht = np.isin(units["hht"], _FEMALE_HHT)
        female = female_by_hht | np.isin(units["hht2"], _FEMALE_HHT2) & ~np.isin(units["hht"], _MALE_HHT)
        expected = household_types(composition, female)
        households = (units["rtype"] == HOUSING_UNIT) & (composition.persons > 0) & (composition.householders == 1)
        male_by_hht2 = np.isin(units["hht2"], _MALE_HHT2)
        female_by_hht2 = np.isin(units["hht2"], _FEMALE_HHT2)
        clash = (female_by_hht & male_by_hht2) | (np.isin(units["hht"], _MALE_HHT) & female_by_hht2)
        self._unit(
            "sex of the householder",
            "HHT2",
            households & clash,
            "HHT and HHT2 give the householder different sexes.",
            "Correct HHT or HHT2.",
            warning,
        )
        for column, found in (
            ("hht", expected.hht != units["hht"]),
            ("hht2", (expected.hht2 != units["hht2"]) & ~clash),
            # A person alone is outside the universe of CPLT; some files write "all other" instead.
            ("cplt", (expected.cplt != units["cplt"]) & ~((composition.persons == 1) & (units["cplt"] == 5))),
            ("npf", expected.npf != units["npf"]),
        ):
            self._unit(
                f"{column.upper()} by relationships",
                column.upper(),
                households & found,
                f"{column.upper()} differs from what the relationships in the unit imply.",
                _DERIVE,
                warning,
            )

    def _not_in_universe(self) -> None:
        units = self.units
        empty = (units["rtype"] == GROUP_QUARTERS_UNIT) | (self.composition.persons == 0)
        for column in ("npf", "hhspan", "hhrace", "ten", "hht", "hht2", "cplt"):
            stated = units[column]
            self._unit(
                f"{column.upper()} outside its universe",
                column.upper(),
                empty & (stated != 0),
                f"{column.upper()} is not 0, but the unit is vacant or group quarters.",
                "Set it to 0, or add the persons that are missing.",
                Severity.WARNING,
            )
