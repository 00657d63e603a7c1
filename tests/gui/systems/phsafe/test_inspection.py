from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.gui.binding.inspection import margin_lines
from phexplore.gui.binding.scenario_view import shown
from phexplore.gui.systems.phsafe.inspection import (
    derived_lines,
    inspect,
    issues_of,
    query_of,
    subtitle,
    topics,
)
from phexplore.gui.systems.phsafe.summary import change_lines, total_line
from phexplore.model.edits import set_field
from phexplore.model.keys import parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.workbook import Workbook, compare_with
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.edits import set_budget


def _shown(scenario):
    return shown(Workbook((scenario,), scenario.name, "sdhc-2020-us"))


def test_that_three_margins_are_shown_side_by_side(us, query) -> None:
    lines = margin_lines(_shown(us).figures.query(query).margins, us.conventions.margin)
    assert [(line.word, line.is_chosen) for line in lines] == [("exact", False), ("normal", True), ("paper", False)]
    assert [round(line.people) for line in lines] == [20, 20, 19]


def test_that_an_unpublished_query_has_no_margins(us, query) -> None:
    now = _shown(set_budget(us, query, Fraction(0)))
    assert margin_lines(now.figures.query(query).margins, us.conventions.margin) == ()


def test_that_explanations_carry_the_numbers(us, query) -> None:
    found = {topic.name: topic.explanation for topic in topics(_shown(us), query)}
    assert next(iter(found)) == "Margin, normal"
    assert "2 × 6 + 2" in found["Sensitivity Δ"].filled
    assert all(explanation.source for explanation in found.values())


def test_that_the_whole_scenario_explains_its_loss_in_both_frameworks(us) -> None:
    names = [topic.name for topic in topics(_shown(us), None)]
    assert names[0] == "Privacy loss"
    assert len(names) == 7  # three conversions for two kinds of neighbours
    pure = [topic.name for topic in topics(_shown(set_field(us, "framework", PrivacyFramework.PURE_DP)), None)]
    assert len(pure) == 3


def test_that_sums_and_copies_of_a_query_are_listed(us) -> None:
    labels = [(line.table, line.label) for line in derived_lines(_shown(us), parse_query("PH4/state_*"))]
    assert ("PH4", "Total") in labels
    assert any(table == "PH5_num" for table, _ in labels)


def test_that_the_history_of_a_field_lists_only_its_steps(session, query) -> None:
    other = parse_query("PH7/usa_*")
    session.edit("Margin", lambda s: edit_margin(s, query, Fraction(25)))
    session.edit("Other", lambda s: set_budget(s, other, Fraction(1, 10)))
    session.edit("Budget", lambda s: set_budget(s, query, Fraction(1, 4)))
    steps = inspect(session.shown, query, session.project).history
    assert [step.label for step in steps] == ["Budget", "Margin", "New project"]
    assert [step.is_current for step in steps] == [True, False, False]
    assert [step.number for step in steps] == [3, 1, 0]
    session.go_to(1)
    assert [step.label for step in inspect(session.shown, query, session.project).history] == ["Margin", "New project"]


def test_that_issues_find_their_query(us, query) -> None:
    now = _shown(set_budget(us, query, Fraction(1, 3)))
    issues = issues_of(now, query)
    assert issues
    assert {query_of(issue) for issue in issues} == {query}
    assert issues_of(now, parse_query("PH7/usa_*")) == ()


def test_that_an_issue_without_a_query_has_none(us) -> None:
    nothing = _shown(us)
    for query in us.method.budgets:
        us = set_budget(us, query, Fraction(0))
    issues = shown(Workbook((us,), us.name)).issues
    assert any(query_of(issue) is None for issue in issues)
    assert nothing.issues == ()


def test_that_changes_read_like_sentences(session, query) -> None:
    assert change_lines(session.shown) == ()
    session.edit("Margin", lambda s: edit_margin(s, query, Fraction(25)))
    lines = change_lines(session.shown)
    assert {line.key for line in lines} == {query}
    assert any("0.662976 → 0.424305" in line.text for line in lines)
    session.edit("No noise", lambda s: set_budget(s, query, UNLIMITED))
    assert any(line.text.endswith("unbounded ρ 0.662976 → ∞") for line in change_lines(session.shown))
    session.edit_workbook("Alone", lambda book: compare_with(book, ""))
    assert change_lines(session.shown) == ()


def test_that_a_budget_of_another_definition_is_named_by_its_own_symbol(session, query) -> None:
    session.edit("Pure", lambda s: set_field(s, "framework", PrivacyFramework.PURE_DP))
    assert total_line(session.shown).startswith("Total: bounded ε 2.514562, not comparable")
    session.edit("Budget", lambda s: set_budget(s, query, Fraction(1, 2)))
    assert total_line(session.shown).startswith("Total: bounded ε 2.188610, not comparable")
    (line,) = [line for line in change_lines(session.shown) if line.key == query]
    assert line.text.endswith("unbounded ρ 0.662976 → ε 0.5")


def test_that_a_table_says_what_it_counts(query) -> None:
    assert "under 18" in subtitle(query)


@pytest.mark.defect("minor 16")
def test_that_changes_name_people_first_and_say_what_they_cost_together(session, query) -> None:
    assert total_line(session.shown) == "Total: bounded ρ 2.514562, as in the reference"
    session.edit("Budget", lambda s: set_budget(s, query, Fraction(1, 2)))
    (line,) = change_lines(session.shown)
    assert line.text.startswith(f"{query.title}: margin 20.0 people → ")
    assert total_line(session.shown) == "Total: bounded ρ 2.514562 → 2.188610; −0.325952 (−13.0 %)"


@pytest.mark.defect("M5")
def test_that_targets_a_file_cannot_hold_are_one_change(session) -> None:
    session.edit("Import", lambda s: replace(s, method=replace(s.phsafe, targets={})))
    assert [line.text for line in change_lines(session.shown)] == ["Margin targets: 46 → none"]


def test_that_the_history_of_a_field_has_the_budget_that_the_table_shows(session, query) -> None:
    session.edit("Budget", lambda s: set_budget(s, query, Fraction(1, 6)))
    assert inspect(session.shown, query, session.project).history[0].value == "bounded ρ 0.333333…, target 20"
