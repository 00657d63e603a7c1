from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from phexplore.figures.marks import Box, Fill, Words
from phexplore.model.keys import parse_query
from phexplore.noise.distributions import DiscreteGaussian, NoNoise, TwoSidedGeometric
from phexplore.systems.phsafe.error_figures import (
    ErrorSample,
    bin_edges,
    box_numbers,
    cumulated,
    cumulated_noise,
    cumulated_numbers,
    distribution_summary,
    distribution_title,
    distributions_figure,
    histogram,
    histogram_numbers,
)

QUERY = parse_query("PH3/state_A-G")
NOISES = {
    "narrow": DiscreteGaussian(Fraction(1, 2)),
    "usual": DiscreteGaussian(Fraction(148)),
    "wide": DiscreteGaussian(Fraction(92_400)),
    "geometric": TwoSidedGeometric(Fraction(22)),
}
noises = pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES.keys())


def sample(noise, errors, margin=20.0):
    return ErrorSample(QUERY, "all cells", np.asarray(errors, np.int64), noise, margin, Fraction(9, 10), trials=4)


def drawn(noise, count=4000, seed=3):
    """Errors with about the spread of the noise, drawn by NumPy: only their number matters here."""
    rng = np.random.default_rng(seed)
    return np.rint(rng.normal(0, math.sqrt(noise.variance()), count)).astype(np.int64)


@pytest.mark.parametrize("noise", [NOISES["narrow"], NOISES["usual"], NOISES["geometric"]])
def test_that_cumulated_noise_is_the_sum_of_the_probabilities(noise):
    reach = int(6 * math.sqrt(noise.variance())) + 3
    pmf = {x: math.exp(noise.log_pmf(x)) for x in range(-8 * reach, 8 * reach + 1)}
    for value in (-reach, -3, -1, 0, 1, 2, reach):
        brute = sum(p for x, p in pmf.items() if x <= value)
        assert cumulated_noise(noise, [value])[0] == pytest.approx(brute, abs=1e-12)


@noises
def test_that_bins_are_symmetric_odd_and_hold_the_margin(noise):
    edges = bin_edges(sample(noise, drawn(noise), margin=1.645 * math.sqrt(noise.variance())))
    widths = np.diff(edges)
    assert np.allclose(edges, -edges[::-1])
    assert widths.min() == widths.max()
    assert int(widths[0]) % 2 == 1
    assert edges[-1] > 1.645 * math.sqrt(noise.variance())


@noises
def test_that_the_histogram_counts_every_error_and_expects_nearly_everything(noise):
    errors = drawn(noise)
    found = histogram(sample(noise, errors))
    brute = [np.mean((errors > low) & (errors < high)) for low, high in zip(found.edges, found.edges[1:], strict=False)]
    assert np.allclose(found.shares, brute)
    assert found.expected.sum() > 0.99
    assert (found.low <= found.expected).all()
    assert (found.expected <= found.high).all()


def test_that_bins_stay_while_trials_arrive_and_more_are_added_outside():
    noise = NOISES["usual"]
    few, many = (bin_edges(sample(noise, drawn(noise, count))).tolist() for count in (50, 5000))
    start = many.index(few[0])
    assert many[start : start + len(few)] == few


def test_that_an_error_far_out_widens_the_axis_and_is_not_lost():
    errors = [0] * 99 + [80]
    found = histogram(sample(NOISES["usual"], errors))
    assert found.edges[-1] > 80
    assert found.shares.sum() == pytest.approx(1)


def test_that_the_cumulated_share_is_that_of_the_errors():
    errors = drawn(NOISES["usual"])
    found = cumulated(sample(NOISES["usual"], errors))
    assert np.allclose(found.shares, [(errors <= value).mean() for value in found.values])
    assert found.band == pytest.approx(math.sqrt(math.log(40) / (2 * 4000)))  # ln(2/0.05), n = 4000
    assert np.abs(found.shares - found.expected).max() < found.band


def test_that_a_box_has_the_quantiles_comparable_with_the_margin():
    assert sample(NOISES["usual"], np.arange(-100, 101)).quantiles == [-100, -90, -50, 0, 50, 90, 100]


def test_that_the_title_gives_the_observed_share_with_its_error_against_the_exact_one():
    given = sample(NOISES["usual"], [0] * 90 + [30] * 10)
    exact = NOISES["usual"].coverage(20)
    assert distribution_title(given) == (
        f"PH3 (State, A-G), all cells: 90.0 % of 100 errors lie within ±20 people (expected {exact * 100:.1f} %; standard error 3.0)"
    )
    assert "100 errors from 4 trials, mean +3, largest 30 people; truncation is not included" in (
        distribution_summary(given)
    )


def test_that_a_run_without_noise_is_said_to_have_none():
    given = sample(NoNoise(), [0] * 10, margin=0.0)
    assert distribution_title(given) == "PH3 (State, A-G), all cells: every error is 0, no noise was added"
    assert histogram(given).shares.sum() == 1


def test_that_errors_without_a_known_distribution_are_shown_alone():
    found = histogram(sample(None, drawn(NOISES["usual"])))
    assert found.expected.size == 0
    assert histogram_numbers(found, "people").column("Expected, %") == (None,) * len(found.shares)


def test_that_tables_hold_the_numbers_of_the_pictures():
    given = sample(NOISES["usual"], drawn(NOISES["usual"]))
    bars, steps = histogram(given), cumulated(given)
    assert sum(histogram_numbers(bars, "people").column("Observed, %")) == pytest.approx(100 * bars.shares.sum())
    first, last = histogram_numbers(bars, "people").rows[0], histogram_numbers(bars, "people").rows[-1]
    assert (first[0], last[1]) == (bars.edges[0] + 0.5, bars.edges[-1] - 0.5)
    assert cumulated_numbers(steps, "people").column("Expected, %")[-1] == pytest.approx(steps.expected[-1] * 100)
    assert box_numbers([given]).column("5 %") == (given.quantiles[1],)


def test_that_every_query_has_its_small_distribution_and_bad_noise_is_said():
    wide, tables = NOISES["usual"], ("PH3/state_A-G", "PH3/usa_*", "PH2/usa_*")
    given = [replace(sample(wide, drawn(wide, seed=n)), query=parse_query(name)) for n, name in enumerate(tables)]
    figure = distributions_figure(given)
    assert figure.title.startswith("The noise follows its exact distribution")
    assert [label.name for label in figure.rows] == ["PH3", "PH2"]
    assert figure.row_numbers == (0, 0, 1)
    shares = [part.text for mark in figure.marks for part in mark.parts if isinstance(part, Words)]
    assert shares == [f"{100 * each.coverage.share.value:.1f} %" for each in given]
    for mark, each in zip(figure.marks, given, strict=True):
        bars = [part for part in mark.parts if isinstance(part, Box) and part.fill is Fill.SOFT]
        heights = np.array([part.bottom - part.top for part in bars])
        shares = histogram(each).shares
        assert heights / heights.sum() == pytest.approx(shares[shares > 0] / shares.sum())
    wrong = distributions_figure([replace(each, errors=2 * each.errors) for each in given])
    assert "the noise is not as stated" in wrong.title
    assert len(figure.table.rows) == 3
