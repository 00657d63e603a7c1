"""What a forecast says: budget, disclosure, alternatives, words."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.accounting.gaussian_calibration import delta_is_at_most
from phexplore.figures.wording import people
from phexplore.model.conventions import Conventions, Conversion
from phexplore.model.subspace import (
    Axis,
    Basis,
    Histogram,
    LinearCount,
    LinearQuery,
    Mechanism,
    Release,
    Subspace,
    Totals,
)
from phexplore.systems.registry import preset
from phexplore.systems.subspace.figures import margins_figure
from phexplore.systems.subspace.forecast import alternatives, disclosed, forecast_subspace
from phexplore.workload.subspace.shapes import best_shape

GRID = (Axis("age", 3), Axis("zip", 4))
DELTA = Fraction(1, 10**6)


@pytest.fixture
def illinois():
    return preset("counties-invariant-2010").scenario.subspace


def release(*invariants, mechanism=Mechanism.PROJECTED_LAPLACE, share=Fraction(1), query=None):
    return Release(query or Histogram(), invariants, mechanism, share)


def test_that_the_preset_has_the_figures_of_the_paper(illinois):
    found = forecast_subspace(illinois, Conventions())
    (only,) = found.releases
    assert (found.epsilon, found.delta) == (Fraction("0.192"), 0)
    assert (only.plan.space.size, only.plan.space.rank) == (102, 1)
    assert only.plan.form.noise.scale == 2 / Fraction("0.192")
    assert only.squared_error == pytest.approx(101 * only.plan.form.noise.variance())
    assert [(figure.delta, figure.value) for figure in found.epsilons] == [(0, 0.192), (Fraction(1, 10**10), 0.192)]


def test_that_gaussian_releases_state_their_epsilon_at_the_headline_delta():
    method = Subspace(GRID, {"only": release(Totals(), mechanism=Mechanism.PROJECTED_GAUSSIAN)}, Fraction(1), DELTA)
    stated, headline = forecast_subspace(method, Conventions()).epsilons
    assert (stated.delta, stated.value) == (DELTA, 1.0)
    assert headline.conversion is Conversion.GAUSSIAN_CONTINUOUS
    assert headline.delta == Fraction(1, 10**10)
    v = 1 / (2 * headline.rho)
    assert delta_is_at_most(Fraction(headline.value), v, headline.delta)
    assert not delta_is_at_most(Fraction(headline.value) - Fraction(1, 10**9), v, headline.delta)


def test_that_a_delta_that_is_the_headline_is_stated_once():
    method = Subspace(
        GRID, {"only": release(Totals(), mechanism=Mechanism.PROJECTED_GAUSSIAN)}, Fraction(1), Fraction(1, 10**10)
    )
    assert len(forecast_subspace(method, Conventions()).epsilons) == 1


def test_that_alternatives_show_both_laplace_mechanisms_and_their_bases(illinois):
    found = {(other.mechanism, other.basis): other for other in alternatives(illinois, "counties")}
    projected = found[Mechanism.PROJECTED_LAPLACE, None].squared_error
    assert found[Mechanism.EXTENDED_LAPLACE, Basis.HELMERT].squared_error / projected == pytest.approx(7.95, abs=0.02)
    assert found[Mechanism.EXTENDED_LAPLACE, Basis.HALVES].squared_error / projected == pytest.approx(5.12, abs=0.02)
    assert found[Mechanism.PROJECTED_GAUSSIAN, None].why_not == "Gaussian noise needs a δ above 0"


def test_that_extended_gaussian_is_never_worse_in_the_comparison(illinois):
    method = replace(illinois, delta=DELTA)
    found = {other.mechanism: other.squared_error for other in alternatives(method, "counties", shaped=True)}
    assert found[Mechanism.EXTENDED_GAUSSIAN] <= found[Mechanism.PROJECTED_GAUSSIAN]
    assert found[Mechanism.CORRELATED_GAUSSIAN] <= 1.01 * found[Mechanism.EXTENDED_GAUSSIAN]


def test_that_the_chosen_mechanism_has_the_error_in_the_comparison_that_it_has_beside_the_other_releases(illinois):
    each = illinois.releases["counties"]
    mechanisms = [Mechanism.EXTENDED_GAUSSIAN, Mechanism.EXTENDED_GAUSSIAN, Mechanism.PROJECTED_LAPLACE]
    shares = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    named = {
        f"{n}": replace(each, mechanism=m, share=s) for n, (m, s) in enumerate(zip(mechanisms, shares, strict=True))
    }
    method = replace(illinois, delta=DELTA, epsilon=Fraction(1), releases=named)
    for release in forecast_subspace(method, Conventions()).releases:
        own = named[release.plan.name].mechanism
        stated = [other.squared_error for other in alternatives(method, release.plan.name) if other.mechanism is own]
        assert stated == [release.squared_error]


def test_that_the_margin_in_the_title_is_the_widest_of_all_answers_drawn_or_not(illinois):
    each = replace(illinois.releases["counties"], mechanism=Mechanism.EXTENDED_LAPLACE, basis=Basis.HELMERT)
    found = forecast_subspace(replace(illinois, releases={"counties": each}), Conventions())
    figure = margins_figure(found, Conventions())
    assert len(figure.marks) < len(found.releases[0].classes)
    widest = max(kind.margins.normal for kind in found.releases[0].classes)
    assert figure.title == f"No margin of error is wider than ±{people(widest)} people"


def test_that_the_bases_of_large_releases_are_not_compared():
    method = Subspace((Axis("cell", 3000),), {"only": release(Totals())}, Fraction(1))
    found = {other.mechanism: other for other in alternatives(method, "only")}
    assert "not worked out" in found[Mechanism.EXTENDED_LAPLACE].why_not
    assert found[Mechanism.PROJECTED_LAPLACE].squared_error > 0


@pytest.mark.parametrize("mechanism", [Mechanism.PROJECTED_GAUSSIAN, Mechanism.EXTENDED_GAUSSIAN])
@pytest.mark.parametrize(
    "invariants",
    [
        (Totals(),),
        (Totals(("age",)), Totals(("zip",))),
        (LinearCount("few", ((0, Fraction(1)), (5, Fraction(2)))),),
        (),
    ],
)
def test_that_the_factor_to_the_best_gaussian_noise_is_a_true_bound(mechanism, invariants):
    """Against the numerical optimum of the same release."""
    method = Subspace(GRID, {"only": release(*invariants, mechanism=mechanism)}, Fraction(1), DELTA)
    (only,) = forecast_subspace(method, Conventions()).releases
    best = best_shape(method, "only")
    squared = only.plan.sensitivity.squared_projected if mechanism is Mechanism.EXTENDED_GAUSSIAN else 2
    free = only.plan.space.size - only.plan.space.rank
    assert only.approximation.factor >= float(squared) * free / best.error * (1 - 1e-9)
    if invariants == (Totals(),):
        assert only.approximation.factor == pytest.approx(1)


def test_that_running_totals_have_no_factor_without_their_shape():
    answers = LinearQuery(
        tuple(LinearCount(f"up to {k}", tuple((c, Fraction(1)) for c in range(k + 1))) for k in range(4))
    )
    method = Subspace(
        (Axis("cell", 4),), {"only": release(mechanism=Mechanism.PROJECTED_GAUSSIAN, query=answers)}, Fraction(1), DELTA
    )
    (only,) = forecast_subspace(method, Conventions()).releases
    assert only.approximation.factor is None
    assert "correlated Gaussian mechanism works one out" in only.approximation.words


def test_that_composing_invariants_discloses_more_than_each(illinois):
    """§2.3: margins by age and by zip together are a linkage attack."""
    both = {
        "ages": release(Totals(("age",)), share=Fraction(1, 2)),
        "zips": release(Totals(("zip",)), share=Fraction(1, 2)),
    }
    assert disclosed(Subspace(GRID, {"ages": both["ages"]}, Fraction(1))).rank == 3
    assert disclosed(Subspace(GRID, both, Fraction(1))).rank == 3 + 4 - 1
    assert disclosed(illinois).determined == 0


def test_that_sums_that_determine_cells_are_counted():
    cook = LinearCount("Cook", ((0, Fraction(1)),))
    method = Subspace((Axis("county", 3),), {"a": release(Totals()), "b": release(cook)}, Fraction(1))
    found = disclosed(method)
    assert (found.rank, found.determined) == (2, 1)


def test_that_releases_that_fix_every_cell_together_say_so():
    rows = [LinearCount(f"cell {cell}", ((cell, Fraction(1)),)) for cell in range(2)]
    method = Subspace((Axis("county", 2),), {"a": release(rows[0]), "b": release(rows[1])}, Fraction(1))
    assert disclosed(method).determined == 2
    assert "2 of 2 cells" in forecast_subspace(method, Conventions()).not_protected[-1]


def test_that_sums_that_vanish_publish_nothing():
    """State minus its counties is 0 whatever the counts: keeping it exact costs no privacy."""
    answers = tuple(
        LinearCount(name, tuple((cell, Fraction(1)) for cell in cells))
        for name, cells in (("state", (0, 1)), ("a", (0,)), ("b", (1,)))
    )
    zero = LinearCount("state − counties", ((0, Fraction(1)), (1, Fraction(-1)), (2, Fraction(-1))))
    method = Subspace((Axis("county", 2),), {"only": release(zero, query=LinearQuery(answers))}, Fraction(1))
    assert disclosed(method).rank == 0


def test_that_protected_and_unprotected_are_said_in_words(illinois):
    found = forecast_subspace(illinois, Conventions())
    assert "101 of 102 dimensions, is protected within ε = 0.192" in found.protected[0]
    assert "the grand total is published exactly" in found.not_protected[0]
    half = release(Totals(("age",)), share=Fraction(1, 2))
    two = forecast_subspace(Subspace(GRID, {"a": half, "b": half}, Fraction(1)), Conventions())
    assert "Proposition 2.9" in two.protected[-1]


def test_that_the_error_of_extended_laplace_is_explained_by_its_basis():
    method = Subspace(GRID, {"only": release(Totals(("age",)), mechanism=Mechanism.EXTENDED_LAPLACE)}, Fraction(1))
    (only,) = forecast_subspace(method, Conventions()).releases
    assert "depends on the basis" in only.explanation[2]
