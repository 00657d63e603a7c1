from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.decide.committee import committee_matrix, consensus
from phexplore.errors import ComparisonError
from phexplore.model.edits import rename, set_field
from phexplore.model.keys import parse_query
from phexplore.model.topdown import LevelQuery
from phexplore.systems.phsafe.edits import set_budget, set_threshold
from phexplore.systems.protocol import UnsupportedError
from phexplore.systems.registry import preset
from phexplore.systems.topdown.edits import set_level_share, set_query_share

CHILDREN = parse_query("PH3/state_A-G")
PERSONS = preset("pl94-2020-persons-us").scenario


def test_that_the_matrix_says_who_wants_what_and_who_left_it_alone(us):
    members = [
        rename(set_budget(us, CHILDREN, Fraction("0.4")), "Ada"),
        rename(set_threshold(us, "PH2", 8), "Grace"),
        rename(set_budget(us, CHILDREN, Fraction("0.5")), "Alan"),
    ]
    matrix = committee_matrix(members, us)
    assert matrix.members == ("Ada", "Grace", "Alan")
    assert [(row.kind, row.path, row.untouched) for row in matrix.rows] == [
        ("budget", "PH3/state_A-G", 1),
        ("threshold", "PH2", 2),
    ]
    row = matrix.rows[0]
    assert (row.low, row.middle, row.high) == (Fraction("0.4"), Fraction("0.5"), Fraction("0.662976"))
    assert row.agreement == pytest.approx(0.4 / 0.662976)
    assert row.is_open


def test_that_a_draft_takes_the_middle_of_every_number(us):
    members = [set_budget(us, CHILDREN, Fraction(value)) for value in ("0.4", "0.9", "0.5")]
    draft = consensus(committee_matrix(members, us), members)
    assert draft.phsafe.budgets[CHILDREN] == Fraction("0.5")
    assert {q for q, b in draft.phsafe.budgets.items() if b != us.phsafe.budgets[q]} == {CHILDREN}
    assert "The middle of 3 proposals" in draft.note


def test_that_members_who_agree_get_what_they_agree_on(us):
    matrix = committee_matrix([us, us], us)
    assert matrix.rows == ()
    assert consensus(matrix, [us, us]).method == us.method


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.fractions(0, 1, max_denominator=100), st.fractions(0, 1, max_denominator=100)),
        min_size=1,
        max_size=5,
    )
)
def test_that_a_draft_of_shares_adds_to_one_exactly(choices):
    members = []
    for level, query in choices:
        changed = set_level_share(PERSONS, "Block", level)
        members.append(set_query_share(changed, LevelQuery("Tract", "total"), query))
    draft = consensus(committee_matrix(members, PERSONS), members)
    for level in draft.topdown.levels:
        assert sum(share for key, share in draft.topdown.query_shares.items() if key.level == level) == 1
    assert sum(draft.topdown.level_shares.values()) == 1


def test_that_a_middle_total_keeps_the_form_of_productions_files():
    members = [set_field(PERSONS, "total", Fraction(value)) for value in ("4", "1", "9/4")]
    assert consensus(committee_matrix(members, PERSONS), members).topdown.total == Fraction(9, 4)


@pytest.mark.parametrize("other", ["sdhc-2020-us", "pl94-2020-units-us", "pl94-2020-persons-pr"])
def test_that_proposals_of_something_else_are_refused(other):
    with pytest.raises(ComparisonError):
        committee_matrix([preset(other).scenario], PERSONS)


def test_that_nobody_is_no_committee(us):
    with pytest.raises(ComparisonError, match="Nobody"):
        committee_matrix([], us)
    pure = replace(us, method=replace(us.phsafe, framework=type(us.phsafe.framework).PURE_DP))
    with pytest.raises(ComparisonError, match="framework"):
        committee_matrix([pure], us)


def test_that_a_system_without_a_matrix_is_named(us):
    other = preset("group-sizes-census-2010").scenario
    for proposals, baseline in (([other], other), ([us], other)):
        with pytest.raises(UnsupportedError, match="Hierarchical group sizes"):
            committee_matrix(proposals, baseline)
    for proposals, baseline in (([us], PERSONS), ([other], us)):
        with pytest.raises(ComparisonError, match="does not belong"):
            committee_matrix(proposals, baseline)


@pytest.mark.defect("M5")
def test_that_a_proposal_that_cannot_hold_targets_moves_none(us):
    silent = replace(us, name="From config.json", method=replace(us.method, targets={}))
    moved = set_threshold(set_budget(silent, CHILDREN, Fraction(1, 2)), "PH2", 8)
    other = rename(us, "Ada")
    matrix = committee_matrix([moved, other], us)
    assert [(row.kind, row.moved) for row in matrix.rows] == [("budget", (True, False)), ("threshold", (True, False))]
    assert consensus(matrix, [moved, other]).phsafe.targets == us.phsafe.targets
    assert consensus(committee_matrix([moved, moved], us), [moved, moved]).phsafe.targets == us.phsafe.targets
    assert [row.kind for row in committee_matrix([other, moved], silent).rows] == ["budget", "threshold"]
