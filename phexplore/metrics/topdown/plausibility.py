"""The 23 checks for impossible and improbable results of the census metrics, as far as redistricting data can answer them.

Source: sheet "Impossible & Improbable Metrics" of the detailed summary metrics (workbook of 2023-04-03). Each check counts units
that look impossible or improbable among those it applies to, in the truth and in the published data. Thirteen need sex, age,
relationship or household records, which the redistricting data do not have; they are named with what they need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.topdown.shapes import Integers

Booleans = NDArray[np.bool_]

MOST_PER_HOUSEHOLD = 10
ADULT_QUARTERS = (1, 3, 6)
"""Types of group quarters that are for adults: correctional, nursing, military."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitFigures:
    """What is known of the units of one level, ``int64[units]`` each; None where the data do not tell.

    Attributes:
        people: in all.
        minors: under 18.
        household_people: in households.
        quarters_people: in group quarters.
        quarters_minors: of them under 18.
        adult_quarters: facilities of `ADULT_QUARTERS`.
        other_quarters: facilities of the other types.
        occupied: housing units.
        vacant: housing units.
        has_people: whether people were counted; of housing units alone `people` says nothing.
    """

    people: Integers
    minors: Integers | None = None
    household_people: Integers | None = None
    quarters_people: Integers | None = None
    quarters_minors: Integers | None = None
    adult_quarters: Integers | None = None
    other_quarters: Integers | None = None
    occupied: Integers | None = None
    vacant: Integers | None = None
    has_people: bool = True


def figures_of_persons(by_type_and_age: Integers, facilities: Integers | None, housing: Integers | None) -> UnitFigures:
    """Return the figures of the full schema.

    Args:
        by_type_and_age: answers of ``hhgq * votingage``: ``int64[units, 16]``.
        facilities: by type, housing units first, ``int64[units, 8]``; None where unknown.
        housing: vacant and occupied, ``int64[units, 2]``; None where unknown.

    Raises:
        ValueError: another number of answers.
    """
    if by_type_and_age.shape[1:] != (16,):
        raise ValueError(f"hhgq * votingage has 16 answers, got {by_type_and_age.shape}")
    table = by_type_and_age.reshape(-1, 8, 2)
    adult = np.array([kind in ADULT_QUARTERS for kind in range(8)])
    other = ~adult
    other[0] = False
    return UnitFigures(
        people=table.sum(axis=(1, 2)),
        minors=table[:, :, 0].sum(axis=1),
        household_people=table[:, 0].sum(axis=1),
        quarters_people=table[:, 1:].sum(axis=(1, 2)),
        quarters_minors=table[:, 1:, 0].sum(axis=1),
        adult_quarters=None if facilities is None else facilities[:, adult].sum(axis=1),
        other_quarters=None if facilities is None else facilities[:, other].sum(axis=1),
        occupied=None if housing is None else housing[:, 1],
        vacant=None if housing is None else housing[:, 0],
    )


def figures_of_ages(by_age: Integers) -> UnitFigures:
    """Return the figures of data that tell minors from adults and nothing of where they live.

    Args:
        by_age: answers of ``votingage``: ``int64[units, 2]``, minors first.

    Raises:
        ValueError: another number of answers.
    """
    if by_age.shape[1:] != (2,):
        raise ValueError(f"votingage has 2 answers, got {by_age.shape}")
    return UnitFigures(people=by_age.sum(axis=1), minors=by_age[:, 0])


def with_housing(figures: UnitFigures, vacant: Integers, occupied: Integers) -> UnitFigures:
    """Return the figures of people with those of housing units of the same units, ``int64[units]`` each.

    Args:
        figures: of the people of these units.
        vacant: ``vacant[units]``, vacant housing units.
        occupied: ``occupied[units]``, occupied housing units.
    """
    return replace(figures, vacant=vacant, occupied=occupied)


def figures_of_housing(vacant: Integers, occupied: Integers) -> UnitFigures:
    """Return the figures of data on housing units alone; nobody is counted, so totals of people are not compared.

    Args:
        vacant: ``vacant[units]``, vacant housing units.
        occupied: ``occupied[units]``, occupied housing units.
    """
    return UnitFigures(np.zeros(len(vacant), np.int64), vacant=vacant, occupied=occupied, has_people=False)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found.

    Attributes:
        number: 1 to 23, as in the workbook.
        level: of the units.
        title: what is counted.
        applies_truth: units it applies to in the truth; None where it was not computed.
        found_truth: of them impossible or improbable; None where the check compares the two.
        applies_published: the same of the published data.
        found_published: the same.
        missing: why it was not computed, "" if it was.
        note: how it differs from the workbook, "" if it does not.
        odd_truth: which units were found in the truth, ``bool[units]``; None where the check compares the two, or was not computed.
        odd_published: the same of the published data; None where it was not computed.
    """

    number: int
    level: str
    title: str
    applies_truth: int | None
    found_truth: int | None
    applies_published: int | None
    found_published: int | None
    missing: str = ""
    note: str = ""
    odd_truth: Booleans | None = field(default=None, compare=False, repr=False)
    odd_published: Booleans | None = field(default=None, compare=False, repr=False)


_Rule = Callable[[UnitFigures], "tuple[Booleans, Booleans] | None"]
"""Returns which units a check applies to and which of them look wrong; None where the data do not tell."""


@dataclass(frozen=True, slots=True)
class _Check:
    number: int
    level: str
    title: str
    needs: str
    rule: _Rule | None = None
    note: str = ""


def plausibility(truth: Mapping[str, UnitFigures], published: Mapping[str, UnitFigures]) -> tuple[CheckResult, ...]:
    """Return the result of all 23 checks in their order.

    Args:
        truth: figures by level, as far as the run has that level: ``State``, ``Tract``, ``Block``.
        published: the same levels and units.

    Raises:
        ValueError: a level has other units in the two.
    """
    for level in set(truth) & set(published):
        if len(truth[level].people) != len(published[level].people):
            raise ValueError(f"truth and published data have the same units, not so at {level}")
    return tuple(_result(check, truth.get(check.level), published.get(check.level)) for check in _CHECKS)


def _result(check: _Check, truth: UnitFigures | None, published: UnitFigures | None) -> CheckResult:
    def missing(reason: str) -> CheckResult:
        return CheckResult(check.number, check.level, check.title, None, None, None, None, reason, check.note)

    if check.rule is None and check.number not in _COMPARISONS:
        return missing(f"needs {check.needs}, which runs do not keep")
    if truth is None or published is None:
        return missing(f"the run has no level {check.level}")
    if check.number in _COMPARISONS:
        compared = _COMPARISONS[check.number](truth, published)
        if compared is None:
            return missing(f"needs {check.needs}, which this run does not have")
        applies, found = compared
        return CheckResult(
            check.number,
            check.level,
            check.title,
            _count(applies),
            None,
            _count(applies),
            _count(applies & found),
            "",
            check.note,
            None,
            applies & found,
        )
    one, other = (check.rule(figures) if check.rule else None for figures in (truth, published))
    if one is None or other is None:
        return missing(f"needs {check.needs}, which this run does not have")
    note = check.note
    if check.number == _EVERYONE_A_MINOR and truth.quarters_people is None:
        note = "Group quarters are unknown, so blocks with them are not left out."
    return CheckResult(
        check.number,
        check.level,
        check.title,
        _count(one[0]),
        _count(one[0] & one[1]),
        _count(other[0]),
        _count(other[0] & other[1]),
        "",
        note,
        one[0] & one[1],
        other[0] & other[1],
    )


def _count(where: Booleans) -> int:
    return int(np.count_nonzero(where))


def _more_households_than_people(figures: UnitFigures) -> tuple[Booleans, Booleans] | None:
    if figures.occupied is None or figures.household_people is None:
        return None
    return np.ones(len(figures.people), bool), figures.occupied > figures.household_people


def _more_households_where_there_are_some(figures: UnitFigures) -> tuple[Booleans, Booleans] | None:
    if figures.occupied is None or figures.household_people is None:
        return None
    return figures.occupied >= 1, figures.occupied > figures.household_people


def _people_without_household(figures: UnitFigures) -> tuple[Booleans, Booleans] | None:
    if figures.occupied is None or figures.household_people is None:
        return None
    return figures.household_people >= 1, figures.occupied == 0


def _household_without_people(figures: UnitFigures) -> tuple[Booleans, Booleans] | None:
    if figures.occupied is None or figures.household_people is None:
        return None
    return figures.occupied >= 1, figures.household_people == 0


def _everyone_a_minor(figures: UnitFigures) -> tuple[Booleans, Booleans] | None:
    if figures.minors is None:
        return None
    applies = figures.people > 0
    if figures.quarters_people is not None:
        applies &= figures.quarters_people == 0
    return applies, figures.minors == figures.people


def _crowded(figures: UnitFigures) -> tuple[Booleans, Booleans] | None:
    if figures.occupied is None or figures.household_people is None:
        return None
    return figures.occupied >= 1, figures.household_people > MOST_PER_HOUSEHOLD * figures.occupied


def _minors_among_adults(figures: UnitFigures) -> tuple[Booleans, Booleans] | None:
    if figures.adult_quarters is None or figures.other_quarters is None or figures.quarters_minors is None:
        return None
    return (figures.adult_quarters > 0) & (figures.other_quarters == 0), figures.quarters_minors > 0


def _other_total(truth: UnitFigures, published: UnitFigures) -> tuple[Booleans, Booleans] | None:
    if not (truth.has_people and published.has_people):
        return None
    return np.ones(len(truth.people), bool), truth.people != published.people


def _falsely_full(truth: UnitFigures, published: UnitFigures) -> tuple[Booleans, Booleans] | None:
    if truth.vacant is None or truth.occupied is None or published.vacant is None or published.occupied is None:
        return None
    applies = truth.vacant + truth.occupied > 0
    return applies, (published.vacant == 0) & (published.occupied > 0) & (truth.vacant > 0)


def _falsely_empty(truth: UnitFigures, published: UnitFigures) -> tuple[Booleans, Booleans] | None:
    if truth.vacant is None or truth.occupied is None or published.vacant is None or published.occupied is None:
        return None
    applies = truth.vacant + truth.occupied > 0
    return applies, (published.occupied == 0) & (published.vacant > 0) & (truth.occupied > 0)


_COMPARISONS = {1: _other_total, 22: _falsely_full, 23: _falsely_empty}
_EVERYONE_A_MINOR = 18
_UNITS = "occupied housing units and people by household or group quarters"
_HOUSEHOLDERS = "householders by"

_CHECKS = (
    _Check(1, "State", "States whose total population is not the enumerated one", "totals"),
    _Check(
        2,
        "Tract",
        "Tracts with more occupied housing units than people in households",
        _UNITS,
        _more_households_than_people,
        "The second half of the check, people by household size, needs household records.",
    ),
    _Check(
        3,
        "Block",
        "Blocks with occupied housing units that outnumber the people in households",
        _UNITS,
        _more_households_where_there_are_some,
    ),
    _Check(
        4, "Block", "Blocks with people in households and no occupied housing unit", _UNITS, _people_without_household
    ),
    _Check(
        5, "Block", "Blocks with occupied housing units and nobody in households", _UNITS, _household_without_people
    ),
    _Check(6, "Tract", "Tracts with more householders than people of a race", f"{_HOUSEHOLDERS} race"),
    _Check(7, "Tract", "Tracts with more Hispanic householders than Hispanic people", f"{_HOUSEHOLDERS} ethnicity"),
    _Check(8, "Tract", "Tracts with more householders than people of an age group", f"{_HOUSEHOLDERS} age"),
    _Check(9, "Tract", "Tracts with more female householders than females", f"{_HOUSEHOLDERS} sex"),
    _Check(10, "Tract", "Tracts with more households with minors than minors", "households with minors"),
    _Check(11, "Tract", "Tracts with more opposite-sex married couples than males", "couples and sex"),
    _Check(12, "Tract", "Tracts with more opposite-sex married couples than females", "couples and sex"),
    _Check(13, "Tract", "Tracts with more spouses than people of 15 or older", "couples and age"),
    _Check(14, "Tract", "Tracts and counties with five small children and no woman of 18 to 44", "sex and age"),
    _Check(15, "Tract", "The same by race and ethnicity", "sex and age"),
    _Check(16, "Tract", "Tracts of five or more people who are all of one sex", "sex"),
    _Check(17, "Tract", "Tracts with over 200 minors and a year of age without any", "single years of age"),
    _Check(
        18,
        "Block",
        "Blocks without group quarters where everyone is under 18",
        "people by voting age",
        _everyone_a_minor,
    ),
    _Check(19, "Block", "Blocks with more than ten people per occupied housing unit", _UNITS, _crowded),
    _Check(20, "Tract", "Tracts and counties whose men and women differ by 20 years of median age", "sex and age"),
    _Check(
        21,
        "Tract",
        "Tracts with group quarters for adults only where somebody under 18 lives in them",
        "facilities by type and people by type and age",
        _minors_among_adults,
        "Quarters for adults are taken to be correctional facilities for adults, nursing facilities and military quarters.",
    ),
    _Check(22, "Block", "Blocks published as fully occupied that are not", "occupied and vacant housing units"),
    _Check(23, "Block", "Blocks published as fully vacant that are not", "occupied and vacant housing units"),
)
