"""The first page of a report: what its three sentences count, and of which numbers they speak."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from phexplore.systems import registry
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.report_opening import changes_figure, opening


def drafted(us, **factors):
    """Return parameters with the budgets of some queries multiplied, by their text."""
    draft = replace(us, name="Draft")
    for query, budget in us.phsafe.budgets.items():
        if query.text in factors:
            draft = set_budget(draft, query, budget * factors[query.text])
    return draft


def test_that_changes_are_counted_by_their_kind(us):
    draft = drafted(us, **{"PH1_num/usa_*": Fraction(0), "PH1_num/state_A-G": 3, "PH1_denom/usa_A-G": Fraction(1, 4)})
    changes = opening(draft, us, ()).paragraphs[2]
    assert changes.startswith(
        f"Changes: 3 of 46 margins differ from {us.name}: 1 wider, 1 narrower, 1 not published any more; "
    )
    assert changes.endswith("the largest change is PH1_num (Nation, Unattributed), not published any more, was ±500.")
    back = opening(us, draft, ()).paragraphs[2]
    assert ": 1 wider, 1 narrower, 1 new; the largest change is PH1_num (Nation, Unattributed), new: ±500." in back


def test_that_a_change_of_one_margin_is_told_before_and_now(us):
    changes = opening(drafted(us, **{"PH1_num/state_A-G": Fraction(1, 4)}), us, ()).paragraphs[2]
    assert changes.endswith(": 1 wider; the largest change is PH1_num (State, A-G), ±68.0 before, ±136 (+68) now.")


def test_that_a_margin_in_the_picture_of_changes_is_written_before_and_now(us):
    """The new margin alone stood behind the stroke of the old one."""
    draft = drafted(us, **{"PH1_num/state_A-G": Fraction(1, 4)})
    figure = changes_figure(draft, *(registry.forecast(each) for each in (draft, us)), us.name)
    assert [mark.text for mark in figure.marks] == ["±68.0 → ±136 (+68)"]


def test_that_a_release_of_nothing_spends_nothing(us):
    nothing = drafted(us, **{query.text: Fraction(0) for query in us.phsafe.budgets})
    privacy, accuracy, _ = opening(nothing, us, ()).paragraphs
    assert privacy.startswith(f"Privacy: the whole release spends ρ = 0, 100.0 % less than {us.name}")
    assert accuracy == "Accuracy: nothing is published with noise."


def test_that_the_margins_of_the_first_page_are_those_of_measured_numbers_not_of_their_sums(us):
    accuracy = opening(us, None, ()).paragraphs[1]
    assert accuracy.startswith("Accuracy: noise moves one measured number by at most ±20.0 ")
    widest = max(float(each.margins.normal) for each in forecast(us).derived)
    assert widest > 1000
    assert " to ±500 " in accuracy
