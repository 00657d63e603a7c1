"""What explanations and reports say of ε and δ, and of a margin: never less ε than there is, the δ it holds at, one number."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from report_fixtures import NOW, unlimited

from phexplore.accuracy.privacy_loss import EpsilonFigure
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.diff import diff, parameters_only
from phexplore.report.provenance import conventions_section, epsilon_name, epsilon_text
from phexplore.report.terminal import print_epsilons
from phexplore.systems.phsafe.changes import change_sentence
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.explain import explain_epsilon, explain_total, frequency_sentence
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.scenario_document import scenario_document
from phexplore.systems.phsafe.snapshot import scenario_snapshot

DELTA = Fraction(25, 10**11)


def figure(value):
    rho = Fraction(2514562, 10**6)
    return EpsilonFigure(Conversion.ZCDP_OPTIMAL_ALPHA, Neighbours.BOUNDED, rho, DELTA, value)


@pytest.mark.parametrize(("value", "shown"), [(16.980112, "16.9802"), (2.5, "2.5000")])
def test_that_an_epsilon_said_to_be_rounded_up_is(value, shown):
    assert f"ε = {shown} " in explain_epsilon(figure(value)).result


def test_that_reports_round_up_in_words():
    one = figure(17.87839448)
    assert epsilon_text(one).startswith("17.878395 at ")
    assert epsilon_name(one) == "ε, bounded (zCDP, optimal α)"


def test_that_the_delta_is_the_one_of_the_scenario(us, capsys):
    print_epsilons([figure(17.5)])
    explained = explain_epsilon(figure(17.5))
    conventions = replace(us.conventions, delta=DELTA)
    told = dict(conventions_section(conventions, us.phsafe.framework).entries)["δ of the headline ε"]
    for text in (capsys.readouterr().out, explained.title, epsilon_text(figure(17.5)), told):
        assert "2.5e-10" in text


def test_that_the_sentence_of_a_margin_says_the_number_that_stands_above_it(us):
    sentence = frequency_sentence(23.5, us.conventions, "people")
    assert "within 23.5 people" in sentence
    assert "within 150 people" in frequency_sentence(150.49, us.conventions, "people")


def test_that_a_budget_without_bound_has_no_finite_total(us):
    snapshot = scenario_snapshot(unlimited(us), NOW, us)
    explained = explain_total(snapshot.forecast)
    assert (explained.filled, explained.result) == ("46 queries have no finite total", "∞")
    (part,) = (part for part in scenario_document(snapshot).parts if part.id == "changes")
    assert part.paragraphs[0].startswith("Bounded ρ is ∞; in ")


def test_that_a_margin_that_reads_the_same_is_not_said_to_change(us):
    key = next(key for key, budget in us.phsafe.budgets.items() if budget)
    moved = set_budget(us, key, us.phsafe.budgets[key] + Fraction(1, 10**9))
    (change,) = parameters_only(diff(us, moved))
    said = change_sentence(change, forecast(us), forecast(moved))
    assert ": margin still " in said
    assert " → " in said.split("; unbounded")[1]
