"""Noise of every mechanism: invariants to the last bit, unbiased, squared errors as the formulas say."""

from __future__ import annotations

import itertools
import math
import secrets
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from phexplore.accounting.subspace_noise import noise_plan
from phexplore.model.subspace import (
    Axis,
    Basis,
    Grouping,
    Histogram,
    LinearCount,
    LinearQuery,
    Mechanism,
    Release,
    Subspace,
    Totals,
)
from phexplore.noise.distributions import TwoSidedGeometric
from phexplore.noise.entropy import SeededEntropy
from phexplore.simulate.subspace.drawing import PRINTED_STEPS, Answers, draw_noise, noise_share, one_geometric, released
from phexplore.systems.subspace.errors import expected_squared_error
from phexplore.workload.subspace.contrasts import RATE_BITS

COUNTIES = Axis("county", 9, groupings=(Grouping("state", tuple("aaaabbbcc")),))
STATES, TOTAL = Totals(("state",)), Totals()


def method(release, *axes, epsilon=Fraction(1)):
    delta = Fraction(1, 10**6) if release.mechanism.is_gaussian else Fraction(0)
    return Subspace(axes or (COUNTIES,), {"only": release}, epsilon, delta)


def linear(mechanism):
    rows = [[1, Fraction(1, 2), 0, 0], [0, 1, Fraction(1, 3), 0], [0, 0, 1, 1]]
    answers = tuple(
        LinearCount(f"answer {k}", tuple((cell, Fraction(w)) for cell, w in enumerate(row) if w))
        for k, row in enumerate(rows)
    )
    exact = LinearCount("exact", ((0, Fraction(1)), (2, Fraction(-2))))
    return method(Release(LinearQuery(answers), (exact,), mechanism), Axis("cell", 4))


def histogram(mechanism, *invariants, **changes):
    return method(replace(Release(Histogram(), invariants, mechanism), **changes))


GRID = (Axis("a", 3), Axis("b", 4))
MARGINS = (Totals(("a",)), Totals(("b",)))
CASES = {
    "projected Laplace, states": histogram(Mechanism.PROJECTED_LAPLACE, STATES),
    "projected Laplace, nothing exact": histogram(Mechanism.PROJECTED_LAPLACE),
    "extended Laplace, states, halves": histogram(Mechanism.EXTENDED_LAPLACE, STATES, basis=Basis.HALVES),
    "extended Laplace, states, Helmert": histogram(Mechanism.EXTENDED_LAPLACE, STATES, TOTAL, basis=Basis.HELMERT),
    "projected Gaussian, states": histogram(Mechanism.PROJECTED_GAUSSIAN, STATES),
    "extended Gaussian, margins": method(Release(Histogram(), MARGINS, Mechanism.EXTENDED_GAUSSIAN), *GRID),
    "correlated Gaussian, states": histogram(Mechanism.CORRELATED_GAUSSIAN, STATES),
    "k-norm, total": histogram(Mechanism.K_NORM, TOTAL),
    "projected Laplace, fractions": linear(Mechanism.PROJECTED_LAPLACE),
    "projected Gaussian, fractions": linear(Mechanism.PROJECTED_GAUSSIAN),
    "extended Gaussian, fractions": linear(Mechanism.EXTENDED_GAUSSIAN),
    "correlated Gaussian, fractions": linear(Mechanism.CORRELATED_GAUSSIAN),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def chosen(request):
    return request.param


def drawn(chosen, trials, seed=1):
    plan = noise_plan(chosen, "only")
    return plan, [draw_noise(plan, SeededEntropy(seed, (trial,))) for trial in range(trials)]


def test_that_invariants_hold_to_the_last_bit(chosen):
    plan, noises = drawn(chosen, 20)
    counts = np.random.default_rng(3).integers(0, 10**7, chosen.cells)
    answers = Answers.of(plan, counts)
    for noise in noises:
        values = released(answers, noise)
        scaled = replace(values, numerators=values.numerators * answers.scale)
        assert plan.space.broken(scaled, answers.truth) == 0
        assert np.allclose(values.values - answers.truth / answers.scale, noise.values, atol=1e-6)


def test_that_noise_is_unbiased_and_its_squared_error_the_formula(chosen):
    """False alarms: about 1 in 10⁵ per case (4.5 standard errors on each of up to 12 means, and on the squared error)."""
    trials = 500
    plan, noises = drawn(chosen, trials, seed=7)
    errors = np.array([noise.values for noise in noises])
    spread = np.sqrt(errors.var(axis=0) / trials)
    moving = spread > 0
    assert (np.abs(errors.mean(axis=0))[moving] <= 4.5 * spread[moving]).all()
    squared = (errors**2).sum(axis=1)
    assert abs(squared.mean() - expected_squared_error(plan)) <= 4.5 * squared.std() / np.sqrt(trials)


def test_that_spherical_error_is_the_number_of_free_dimensions_times_the_variance():
    """Corollary 3.5: (n − n_c)σ²."""
    plan = noise_plan(histogram(Mechanism.PROJECTED_GAUSSIAN, STATES), "only")
    assert expected_squared_error(plan) == pytest.approx((9 - 3) * float(plan.squared_sigma), rel=1e-5)


def test_that_projected_spherical_noise_is_conditioned_noise():
    """Theorem 4.2, by an independent road: Gaussian noise conditioned one coordinate after the other on its total.

    Two-sample Kolmogorov-Smirnov at 1e-4 on three functionals.
    """
    sigma, cells, samples = 1.0, 4, 20_000
    random = np.random.default_rng(11)
    projected = random.standard_normal((samples, cells))
    projected -= projected.mean(axis=1, keepdims=True)
    conditioned = np.zeros((samples, cells))
    left = np.zeros(samples)
    for place in range(cells - 1):
        # Given that what remains adds to −left: mean −left/m, variance σ²(m − 1)/m for m coordinates.
        remaining = cells - place
        spread = sigma * np.sqrt((remaining - 1) / remaining)
        conditioned[:, place] = -left / remaining + spread * random.standard_normal(samples)
        left += conditioned[:, place]
    conditioned[:, -1] = -left
    for functional in (lambda v: v[:, 0], lambda v: v[:, 1] - v[:, 3], lambda v: (v**2).sum(axis=1)):
        assert stats.ks_2samp(functional(projected), functional(conditioned)).pvalue > 1e-4


def test_that_drawn_gaussian_noise_follows_the_conditioned_law():
    """Theorem 4.2 for what is drawn: each cell normal with variance σ²(1 − 1/m). Kolmogorov-Smirnov at 1e-4."""
    plan, noises = drawn(histogram(Mechanism.PROJECTED_GAUSSIAN, STATES), 1000, seed=5)
    sigma = float(plan.squared_sigma) ** 0.5
    errors = np.array([noise.values for noise in noises])
    for cell, size in ((0, 4), (4, 3), (8, 2)):
        assert stats.kstest(errors[:, cell] / (sigma * np.sqrt(1 - 1 / size)), "norm").pvalue > 1e-4


def test_that_a_release_splits_into_private_noise_and_exact_totals_and_back():
    """Theorem 3.3 both ways: M(x) − Π_R A(x) lies in the null space, and adding Π_R A(x) gives M(x) back."""
    plan, (noise, *_) = drawn(histogram(Mechanism.PROJECTED_LAPLACE, STATES), 1)
    counts = np.arange(9) * 1000
    values = released(Answers.of(plan, counts), noise).fractions()
    inside = plan.space.project(counts).fractions()
    along = [Fraction(int(count)) - free for count, free in zip(counts, inside, strict=True)]
    private = [value - exact for value, exact in zip(values, along, strict=True)]
    for first, last in ((0, 4), (4, 7), (7, 9)):
        assert sum(private[first:last]) == 0
    assert [part + exact for part, exact in zip(private, along, strict=True)] == values
    assert private == [free + moved for free, moved in zip(inside, noise.fractions(), strict=True)]


def test_that_k_norm_noise_is_whole_and_follows_its_law():
    """χ² of a cell's noise against enumeration over three cells; false alarm 1e-4."""
    chosen = method(Release(Histogram(), (TOTAL,), Mechanism.K_NORM), Axis("cell", 3), epsilon=Fraction(3))
    plan, noises = drawn(chosen, 1500, seed=3)
    scale = float(plan.form.noise.scale)
    reach = range(-40, 41)
    weights = {x: sum(np.exp(-(abs(x) + abs(y) + abs(x + y)) / scale) for y in reach) for x in reach}
    total = sum(weights.values())
    seen = np.array([noise.numerators for noise in noises])
    assert (seen.sum(axis=1) == 0).all()
    observed = [int((seen[:, 0] == x).sum()) for x in range(-2, 3)]
    expected = [1500 * weights[x] / total for x in range(-2, 3)]
    observed.append(1500 - sum(observed))
    expected.append(1500 - sum(expected))
    assert stats.chisquare(observed, expected).pvalue > 1e-4


@pytest.mark.parametrize("scale", [0.4, 3.0, 700.0])
def test_that_single_geometric_samples_follow_their_law(scale):
    """χ² against the probabilities on seven intervals; false alarm 1e-4 each."""
    rate = round(2**RATE_BITS / scale)
    entropy = SeededEntropy(9, (int(scale * 10),))
    samples = np.array([one_geometric(entropy, rate) for _ in range(1500)])
    law = TwoSidedGeometric(Fraction(2**RATE_BITS, rate))
    edges = [round(scale * cut) for cut in (-2, -1, -0.3, 0.3, 1, 2)]
    cuts = sorted(set(edges))
    bounds = [-math.inf, *cuts, math.inf]
    reach = round(40 * scale) + 5
    weights = {x: math.exp(law.log_pmf(x)) for x in range(-reach, reach + 1)}
    pairs = list(itertools.pairwise(bounds))
    observed = [int(((samples > low) & (samples <= high)).sum()) for low, high in pairs]
    expected = [1500 * sum(w for x, w in weights.items() if low < x <= high) for low, high in pairs]
    assert stats.chisquare(observed, np.array(expected) * 1500 / sum(expected)).pvalue > 1e-4


def test_that_extended_laplace_numbers_are_printed_on_their_grid():
    _, noises = drawn(histogram(Mechanism.EXTENDED_LAPLACE, STATES), 3)
    assert all(int(noise.denominators) == PRINTED_STEPS for noise in noises)


def test_that_equal_seeds_give_equal_noise_and_others_do_not(chosen):
    plan, (first, second) = drawn(chosen, 2)
    again = draw_noise(plan, SeededEntropy(1, (0,)))
    assert first.fractions() == again.fractions()
    assert first.fractions() != second.fractions()


def test_that_agents_with_a_common_secret_keep_the_totals_together():
    """§4: nobody sees the counts of others, and the totals of all are exact."""
    plan = noise_plan(histogram(Mechanism.PROJECTED_LAPLACE, STATES), "only")
    secret = secrets.randbits(256) | 1 << 255
    counts = [Fraction(count) for count in range(100, 109)]
    agents = {"north": [0, 5, 8], "south": [1, 2, 3, 4, 6, 7]}
    published = {}
    for answers in agents.values():
        for answer, part in zip(answers, noise_share(plan, secret, 0, answers), strict=True):
            published[answer] = counts[answer] + part
    for first, last in ((0, 4), (4, 7), (7, 9)):
        assert sum(published[cell] for cell in range(first, last)) == sum(counts[first:last])
    assert published != dict(enumerate(counts))


def test_that_a_secret_that_can_be_guessed_is_refused():
    plan = noise_plan(histogram(Mechanism.PROJECTED_LAPLACE, STATES), "only")
    with pytest.raises(ValueError, match="129 bits"):
        noise_share(plan, 2020, 0, [0])


def test_that_counts_beyond_64_bits_stay_exact():
    plan, (noise, *_) = drawn(histogram(Mechanism.PROJECTED_GAUSSIAN, STATES), 1)
    counts = np.full(9, 2**58, dtype=np.int64)
    values = released(Answers.of(plan, counts), noise)
    assert values.numerators.dtype == object
    assert sum(values.fractions()[:4]) == 4 * 2**58


@pytest.mark.slow
def test_that_millions_of_cells_are_drawn_without_a_matrix():
    axes = (Axis("a", 200), Axis("b", 200), Axis("c", 100))
    chosen = method(Release(Histogram(), (Totals(("a", "b")), Totals(("c",))), Mechanism.PROJECTED_GAUSSIAN), *axes)
    plan, (noise, *_) = drawn(chosen, 1)
    assert plan.space.size == 4_000_000
    assert plan.space.broken(noise, np.zeros(plan.space.size, dtype=np.int64)) == 0
