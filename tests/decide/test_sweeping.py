"""Sweeps: every combination once, exact values, losses at the point's own conventions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import pytest

from phexplore.accounting.zcdp import epsilon
from phexplore.decide.sweeping import column_title, read_grid, sweep, sweep_figure
from phexplore.figures.table import shown
from phexplore.metrics.errors import figure_title
from phexplore.model.conventions import Conversion
from phexplore.model.paths import parameters
from phexplore.model.subspace import Histogram, Mechanism, Release, Totals
from phexplore.systems.registry import preset


@pytest.fixture
def persons():
    return preset("pl94-2020-persons-us").scenario


def test_that_points_are_the_product_in_order(persons) -> None:
    found = sweep(persons, {"total": [1, 2], "level share US": ["0.1", "0.2", "0.3"]})
    assert [tuple(point.values.values()) for point in found.points] == [
        (total, Fraction(share, 10)) for total in (1, 2) for share in (1, 2, 3)
    ]
    assert [point.total for point in found.points] == [1, 1, 1, 2, 2, 2]


def test_that_no_two_columns_have_one_name(persons) -> None:
    found = sweep(persons, {"total": [1, 2]}).table()
    assert found.headers == ("total", "whole loss", "epsilon")
    subspace = sweep(preset("counties-invariant-2010").scenario, {"epsilon": [1, 2]}).table()
    assert len(set(subspace.headers)) == len(subspace.headers)


def test_that_epsilon_reads_rounded_up(persons) -> None:
    table = sweep(persons, {"total": [Fraction("3.869511"), Fraction("2.556226")]}).table()
    assert all(Fraction(shown(value)) >= Fraction(value) for value in table.column("epsilon"))
    assert [shown(value) for value in table.column("epsilon")] == ["21.892", "17.144"]


def test_that_epsilon_is_at_the_delta_of_the_point(persons) -> None:
    found = sweep(persons, {"conventions: delta": ["1e-5", "1e-10"]})
    assert [point.epsilon for point in found.points] == [
        epsilon(persons.topdown.total, Fraction(1, 10**power), Conversion.ZCDP_OPTIMAL_ALPHA) for power in (5, 10)
    ]
    assert len({point.folder for point in found.points}) == 2  # their runs differ in what they judge


def test_that_numbers_of_a_grid_stay_exact() -> None:
    assert read_grid('{"total": [0.10000000000000000000001, 1e-3, 2]}', "g")["total"] == [
        "0.10000000000000000000001",
        "1e-3",
        2,
    ]


def test_that_epsilon_of_an_epsilon_and_delta_is_not_taken_for_that_of_a_smaller_delta() -> None:
    """ε = 1 at δ = 1e-5 stood in the column of ε at 1e-10."""
    releases = {"counties": Release(Histogram(), (Totals(()),), Mechanism.PROJECTED_GAUSSIAN)}
    scenario = preset("counties-invariant-2010").scenario
    method = replace(scenario.subspace, releases=releases, epsilon=Fraction(1), delta=Fraction(1, 10**5))
    found = sweep(replace(scenario, method=method), {"conventions: delta": ["1e-3", "1e-5", "1e-10", "1e-12"]})
    wide, own, headline, unknown = (point.epsilon for point in found.points)
    assert (wide, own, unknown) == (1.0, 1.0, None)
    assert headline == pytest.approx(_epsilon_of_gaussian(1.0, 1e-5, 1e-10), rel=1e-6)
    pure = replace(method, releases={"counties": replace(releases["counties"], mechanism=Mechanism.PROJECTED_LAPLACE)})
    (point,) = sweep(replace(scenario, method=pure), {"conventions: delta": ["1e-10"]}).points
    assert point.epsilon == 1.0


def _epsilon_of_gaussian(epsilon_: float, delta: float, other: float) -> float:
    """Return ε at another δ of the Gaussian noise that has (ε, δ) exactly: Balle and Wang 2018, Theorem 8."""
    normal = NormalDist()

    def curve(mu: float, at: float) -> float:
        return normal.cdf(mu / 2 - at / mu) - math.exp(at) * normal.cdf(-mu / 2 - at / mu)

    def bisect(low: float, high: float, is_low: Callable[[float], bool]) -> float:
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if is_low(middle) else (low, middle)
        return low

    mu = bisect(1e-6, 10, lambda tried: curve(tried, epsilon_) < delta)
    return bisect(0, 50, lambda tried: curve(mu, tried) > other)


@pytest.mark.parametrize(
    "grid", [{"total": [1, 2]}, {"framework": ["zcdp"]}, {"total": [1, 2], "level share US": [0.1, 0.2]}]
)
def test_that_the_picture_has_a_mark_per_point(persons, grid) -> None:
    found = sweep(persons, grid, ["County/total"])
    figure = sweep_figure(found)
    assert sum(len(each.x) for each in figure.points) + len(figure.marks) == len(found.points)
    assert not figure.is_empty


def test_that_a_line_goes_from_left_to_right(persons) -> None:
    """It went back and forth in the order the values were given."""
    figure = sweep_figure(sweep(persons, {"total": [4, 1, 2]}))
    (points,) = figure.points
    assert points.x.tolist() == [1.0, 2.0, 4.0]
    assert sorted(points.y.tolist()) == points.y.tolist()
    assert figure.summary.startswith("3 of 3 points. Only the dots were computed: what lies between two dots need not ")


def test_that_columns_are_called_what_they_are(persons) -> None:
    found = sweep(persons, {"total": [1, 2]}, ["County/total"])
    titles = [column_title(found, column) for column in ("whole loss", "epsilon", "County/total")]
    assert titles == ["Privacy loss", "ε, converted from ρ", "Margin of County: total"]
    pure = sweep(preset("group-sizes-census-2010").scenario, {"total": [1, 2]})
    assert column_title(pure, "epsilon") == "ε"


def test_that_the_picture_has_a_table_without_codes(persons) -> None:
    path = "query share US/votingage * hispanic"
    share = parameters(persons)[path]
    figure = sweep_figure(sweep(persons, {"total": [1, 2], path: [share]}, ["County/votingage * hispanic"]))
    assert figure.table.headers == (
        "Total privacy loss",
        "Share of US: votingage × hispanic",
        "Privacy loss",
        "ε, converted from ρ",
        "Margin of County: votingage × hispanic",
    )


def test_that_figures_of_runs_are_called_what_they_are() -> None:
    found = sweep(preset("group-sizes-census-2010").scenario, {"total": [1, 2]}, ["County/one size"])
    found = replace(found, measured=({"County/one size/rmse": 0.7}, {"County/one size/rmse": 0.5}))
    assert column_title(found, "County/one size/rmse") == f"{figure_title('rmse')}, County: one size"
    assert sweep_figure(found).title.startswith(f"{figure_title('rmse')}, County: one size: 0.5 to 0.7")
