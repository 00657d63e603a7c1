from __future__ import annotations

import math
from fractions import Fraction

import pytest

from phexplore.accuracy.margins import is_met


@pytest.mark.parametrize(
    ("margin", "target", "kept"),
    [
        (500.04, Fraction(500), True),
        (500.5, Fraction(500), True),  # ties go to the even neighbour, as Python and IEEE 754 round
        (501.5, Fraction(501), False),
        (500.51, Fraction(500), False),
        (20, Fraction(20), True),
        (21, Fraction(41, 2), False),
        (19.6, Fraction(197, 10), True),  # within it as it is, although 20 people are not
        (19.8, Fraction(197, 10), False),
        (math.inf, Fraction(10**400), False),
    ],
)
def test_that_a_margin_keeps_its_target_as_it_is_or_to_the_nearest_person(margin, target, kept) -> None:
    assert is_met(margin, target) is kept


def test_that_all_parts_of_the_program_judge_a_target_alike(us) -> None:
    """Check, headline, table and picture: the same two queries are missed, one of them by less than half a person."""
    from phexplore.model.keys import parse_query
    from phexplore.systems.phsafe.edits import set_budget
    from phexplore.systems.phsafe.forecast import forecast
    from phexplore.systems.phsafe.table10 import is_row_met as keeps_row
    from phexplore.systems.phsafe.table10 import table10_rows
    from phexplore.systems.registry import check

    wide, near = parse_query("PH3/state_A-G"), parse_query("PH2/usa_*")
    scenario = set_budget(us, wide, us.phsafe.budgets[wide] / 4)
    scenario = set_budget(scenario, near, us.phsafe.budgets[near] * Fraction(999, 1000))
    named = {issue.path[1] for issue in check(scenario) if issue.path[0] == "targets"}
    rows = table10_rows(scenario, forecast(scenario))
    assert named == {row.query.text for row in rows if keeps_row(row, scenario.conventions) is False} == {wide.text}
