from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.decide.comparison_view import ColumnChoice, ComparisonRequest, comparison_view
from phexplore.errors import PhexploreError
from phexplore.figures.table import is_number, shown
from phexplore.figures.wording import letter
from phexplore.model.edits import set_field
from phexplore.model.keys import TableId, parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rules import REDISTRICTING, Bound, Measure, Rule
from phexplore.systems.phsafe.budget_edits import edit_margin, edit_threshold
from phexplore.systems.phsafe.edits import set_budget, set_target
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.registry import preset
from phexplore.systems.report_opening import opening
from phexplore.systems.topdown.edits import set_level_share


@pytest.fixture
def query():
    return parse_query("PH3/state_A-G")


def _view(*scenarios, rules=()):
    choices = tuple(ColumnChoice(str(n), each.name, each) for n, each in enumerate(scenarios))
    return comparison_view(ComparisonRequest(choices, rules))


def test_that_only_differing_parameters_are_listed_with_their_effect_beside_them(us, query) -> None:
    wider = set_target(edit_margin(us, query, Fraction(25)), query, Fraction(25))
    view = _view(us, replace(wider, name="Wider"))
    rows = {row[0]: row for row in view.parameters.rows}
    assert set(rows) == {"Bounded ρ of PH3 (State, A-G)", "Target of PH3 (State, A-G)"}
    assert (
        rows["Bounded ρ of PH3 (State, A-G)"][1] == 2 * us.phsafe.budgets[query]
    )  # as the losses count, and with their digits
    assert shown(rows["Bounded ρ of PH3 (State, A-G)"][1]) == "1.325952"
    assert rows["Bounded ρ of PH3 (State, A-G)"][3] == "PH3 (State, A-G)"
    assert rows["Bounded ρ of PH3 (State, A-G)"][5] == pytest.approx(25, abs=0.01)
    assert view.title == "2 parameters differ and 1 margin differs"


def test_that_a_threshold_shows_the_margin_it_moves_most(us) -> None:
    view = _view(us, edit_threshold(us, TableId("PH4"), 12))
    (row,) = [row for row in view.parameters.rows if row[0] == "Threshold of PH4"]
    before, after = forecast(us), forecast(edit_threshold(us, TableId("PH4"), 12))
    moved = {
        entry.query.title: after.query(entry.query).margins.normal / entry.margins.normal
        for entry in before.queries
        if entry.query.table == "PH4"
    }
    assert moved[row[3]] == pytest.approx(max(moved.values()))


def test_that_equal_scenarios_say_that_nothing_differs(us) -> None:
    view = _view(us, replace(us, name="Copy"))
    assert view.title.startswith("Nothing differs")
    assert view.overlay.rows == ()
    assert view.parameters.rows == ()


def test_that_margins_of_all_are_stated_in_the_conventions_of_the_first(us) -> None:
    wider = replace(us, name="At 99 %", conventions=replace(us.conventions, confidence=Fraction(99, 100)))
    assert _view(us, wider).margins.rows == ()
    assert _view(wider, us).margins.rows == ()
    assert "99 %" in _view(wider, us).sentence


def test_that_what_one_does_not_publish_is_said_so(us, query) -> None:
    view = _view(us, set_budget(us, query, Fraction(0)))
    (row,) = view.margins.rows
    assert row[2] == "not published"
    (mark,) = view.overlay.marks
    assert len(mark.parts) == 1  # the dot of the one that publishes
    assert view.overlay.table.rows[0][2] is None
    assert us.name not in view.overlay.title  # nobody is narrower than a margin that is not published
    unlimited = _view(us, set_budget(us, query, UNLIMITED))
    assert any("∞" in row for row in unlimited.parameters.rows)


def test_that_the_columns_say_loss_and_how_many_margins_are_narrower(us, query) -> None:
    tighter = replace(edit_margin(us, query, Fraction(10)), name="Tighter")
    view = _view(us, tighter)
    first, second = view.columns.rows
    assert (first[0], second[0]) == (us.name, "Tighter")
    assert first[1] == Fraction(2514562, 1000000)
    assert shown(second[4]).startswith("+")
    assert is_number(second[4])
    assert second[5:7] == (1, 0)
    assert first[2] < second[2]  # proven
    assert [shown(value) for value in first[1:4]] == ["2.514562", "16.308", "16.99"]  # as the headline and Overview


def test_that_the_title_names_all_who_have_the_narrowest_margin_most_often(us, query) -> None:
    other = parse_query("PH1_num/usa_*")
    one, two = (replace(edit_margin(us, key, Fraction(10)), name=name) for key, name in ((query, "B"), (other, "C")))
    title = _view(us, one, two).overlay.title
    assert title.args["leaders"] == ("B", "C")
    assert (title.args["most"], title.args["compared"]) == (1, 2)
    title = _view(us, one).overlay.title
    assert title.args["leaders"] == ("B",)
    assert (title.args["most"], title.args["compared"]) == (1, 1)


def test_that_no_mark_hides_another_of_the_same_margin(us, query) -> None:
    wider = edit_margin(us, query, Fraction(25))
    (mark,) = _view(us, replace(wider, name="B"), replace(wider, name="C")).overlay.marks
    _, third, second, first = mark.parts
    assert third.x == second.x
    assert third.size > second.size > first.size


def test_that_systems_are_not_mixed(us) -> None:
    with pytest.raises(PhexploreError, match="different systems"):
        _view(us, preset("pl94-2020-persons-us").scenario)
    with pytest.raises(PhexploreError, match="at least two"):
        _view(us)


def test_that_topdown_shares_lead_to_the_margins_of_their_level() -> None:
    persons = preset("pl94-2020-persons-us").scenario
    view = _view(persons, set_level_share(persons, "County", Fraction(1, 5)))
    county = next(row for row in view.parameters.rows if row[0] == "Share of County")
    assert county[3].startswith("County:")
    assert [shown(value) for value in county[1:3]] == ["10.91 %", "20.00 %"]
    assert view.overlay.rows[0].group == "US"


def test_that_epsilon_of_a_subspace_release_leads_to_the_margin_it_moves() -> None:
    counties = preset("counties-invariant-2010").scenario
    (row,) = _view(counties, set_field(counties, "epsilon", Fraction(1, 2))).parameters.rows
    assert row[3].startswith("counties")
    assert row[4] == pytest.approx(row[5] * 0.5 / 0.192, rel=0.01)


def test_that_rules_are_judged_with_their_distance(us) -> None:
    cheap = Rule(Measure.LOSS, Bound.AT_MOST, Fraction(2))
    view = _view(us, replace(us, name="B"), rules=(cheap, REDISTRICTING))
    assert view.rules.rows[0][1].startswith("✗ ρ 2.5146, 0.51457 over")
    assert view.rules.rows[1][1].startswith("not judged")


def test_that_letters_go_on_after_z() -> None:
    assert [letter(n) for n in (0, 25, 26, 51, 52)] == ["A", "Z", "A2", "Z2", "A3"]


def test_that_a_whole_loss_is_rounded_up() -> None:
    scenario = preset("pl94-2020-persons-us").scenario
    view = _view(scenario, set_field(replace(scenario, name="B"), "total", Fraction(1, 3)))
    assert [shown(row[1]) for row in view.columns.rows] == ["2.556226", "0.333334"]


def test_that_losses_of_two_definitions_are_not_set_against_each_other(us) -> None:
    pure = set_field(replace(us, name="Pure"), "framework", PrivacyFramework.PURE_DP)
    first, other = _view(us, pure).columns.rows
    assert (first[1], other[1]) == ("ρ 2.514562", "ε 2.514562")
    assert other[4] == "another definition"
    assert (shown(first[3]), other[3]) == ("16.99", None)
    columns = _view(pure, replace(pure, name="Copy")).columns
    assert columns.headers[1:3] == ("Privacy loss ε", "Change from baseline")  # nothing is converted, nor rounded twice
    assert columns.rows[1][2] == 0
    (privacy, *_) = opening(pure, us, ()).paragraphs
    assert f"spends ε = 2.514562, by another definition than {us.name}, which does not compare" in privacy


@pytest.mark.parametrize(
    ("name", "neighbours", "header"),
    [
        ("group-sizes-census-2010", "unbounded", "Narrower"),
        ("counties-invariant-2010", "bounded", "Narrower"),
        ("sdhc-2020-us", "bounded", "ε from ρ (δ 10⁻¹⁰)"),
    ],
)
def test_that_neighbours_and_conversion_are_those_of_the_loss(name, neighbours, header) -> None:
    """Group sizes were said to have bounded neighbors, and their ε to be converted from ρ."""
    scenario = preset(name).scenario
    view = _view(scenario, replace(scenario, name="B"))
    assert f", {neighbours} neighbors." in view.sentence
    assert view.columns.headers[3] == header


def test_that_every_difference_is_the_proposal_minus_the_baseline(us, query) -> None:
    proposal = replace(edit_margin(us, query, Fraction(30)), name="Proposal")
    view = _view(us, proposal)
    base, other = view.columns.rows
    # by hand: twice the unbounded budget that this one query gives up
    change = 2 * (proposal.phsafe.budgets[query] - us.phsafe.budgets[query])
    assert change < 0
    assert (base[4], other[4]) == (None, change)
    assert other[5:7] == (0, 1)  # one margin is wider
    assert all(us.name in table.headers[1].replace("\n", " ") for table in (view.parameters, view.margins, view.rules))
    assert not {"A", "B"} & {header for table in (view.columns, view.margins) for header in table.headers}


def test_that_budgets_whose_change_no_margin_shows_are_one_line(us, query) -> None:
    proposal = edit_margin(us, query, Fraction(30))
    budgets = {
        key: budget if key == query or not budget else budget + Fraction(1, 10**12)
        for key, budget in proposal.phsafe.budgets.items()
    }
    proposal = replace(proposal, name="Proposal", method=replace(proposal.phsafe, budgets=budgets))
    hidden = sum(budgets[key] != us.phsafe.budgets[key] for key in budgets) - 1
    assert hidden == 45
    view = _view(us, proposal)
    assert len(view.margins.rows) == len(view.overlay.marks) == 1
    budget, adjusted = (row for row in view.parameters.rows if not row[0].startswith("Target"))
    assert budget[0] == "Bounded ρ of PH3 (State, A-G)"
    assert adjusted[0] == "45 budgets adjusted, margins unchanged"
    assert view.columns.rows[1][5:7] == (0, 1)


def test_that_parameters_are_sorted_by_the_size_of_their_effect(us) -> None:
    factors = (Fraction(3, 2), Fraction(4), Fraction(2))
    keys, proposal = list(us.phsafe.budgets)[:3], us
    for key, factor in zip(keys, factors, strict=True):
        proposal = set_budget(proposal, key, us.phsafe.budgets[key] / factor)
    view = _view(us, replace(proposal, name="Proposal"))
    ratios = [row[-1] / row[-2] for row in view.parameters.rows]
    assert ratios == pytest.approx([2, 2**0.5, 1.5**0.5], rel=1e-3)
    assert [row[2] / row[1] for row in view.margins.rows] == pytest.approx(ratios)
