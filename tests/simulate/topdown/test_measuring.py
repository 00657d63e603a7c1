"""Statistics here fix their seeds; each states how often it would fail for a right program with a random seed."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, norm
from topdown_worlds import PERSONS, full, world_of

from phexplore.noise.distributions import DiscreteGaussian
from phexplore.simulate.topdown.measuring import PIECE, Draw, DrawnMeasurements, TrialKey, query_columns


def measure(world, number, first, last, draw):
    truth = world.truth[number].part(first, last)
    return DrawnMeasurements(draw).measure(world.design.levels[number], truth, first, np.zeros(last - first, np.int8))


def exact_answers(world, number, first, last):
    return measure(world, number, first, last, Draw(TrialKey(1, 0), exact=True)).answers


def test_that_exact_answers_are_those_of_every_query(full_world):
    level = full_world.design.levels[-1]
    table = full().dense(0, 150)
    found = exact_answers(full_world, -1, 0, 150)
    for query, columns in query_columns(level.plan):
        assert (found[:, columns] == query.tabulate(table)).all()


def test_that_the_noise_of_a_unit_does_not_depend_on_the_range_it_is_drawn_in(full_world):
    draw = Draw(TrialKey(9, 2))
    whole = measure(full_world, -1, 0, 150, draw).answers
    parts = [measure(full_world, -1, first, min(first + 7, 150), draw).answers for first in range(0, 150, 7)]
    assert (np.concatenate(parts) == whole).all()


@pytest.mark.parametrize("other", [Draw(TrialKey(9, 3)), Draw(TrialKey(8, 2))], ids=["trial", "seed"])
def test_that_another_key_gives_other_noise(full_world, other):
    here = measure(full_world, -1, 0, 150, Draw(TrialKey(9, 2))).answers
    there = measure(full_world, -1, 0, 150, other).answers
    # Equal answers are as frequent as independent noise makes them: P(X = Y) < 0.3 at the smallest variance here.
    assert (here != there).mean() > 0.7


def test_that_levels_and_queries_get_noise_of_their_own(full_world):
    draw = Draw(TrialKey(9, 2))
    state = measure(full_world, 0, 0, 1, draw).answers - exact_answers(full_world, 0, 0, 1)
    county = measure(full_world, 1, 0, 1, draw).answers - exact_answers(full_world, 1, 0, 1)
    detailed = query_columns(full_world.design.levels[0].plan)[-1][1]
    correlation = np.corrcoef(np.sign(state[0, detailed]), np.sign(county[0, detailed]))[0, 1]
    # 2,016 independent signs: |r| > 0.1 has a probability below 1e-5.
    assert abs(correlation) < 0.1


@pytest.mark.parametrize("number", [0, -1], ids=["root", "leaves"])
def test_that_noise_has_the_variance_of_its_budget_and_no_bias(full_world, number):
    level = full_world.design.levels[number]
    units = full_world.truth[number].units
    errors = []
    for trial in range(200 if number == 0 else 8):
        draw = Draw(TrialKey(77, trial))
        errors.append(measure(full_world, number, 0, units, draw).answers - exact_answers(full_world, number, 0, units))
    stacked = np.stack(errors).astype(np.float64)
    for (query, columns), noise in zip(query_columns(level.plan), level.measuring.noises, strict=True):
        sample = stacked[:, :, columns].ravel()
        variance = noise.variance()
        deviation = sample.mean() / np.sqrt(variance / sample.size)
        ratio = (sample**2).sum() / variance
        # False alarm 1e-6 per comparison, 44 comparisons. χ² is wider for narrow noise: kurtosis ≤ 3 keeps it below.
        assert abs(deviation) < norm.isf(5e-7), query.name
        spread = (ratio - sample.size) / np.sqrt(2 * sample.size)
        assert abs(spread) < norm.isf(5e-7) * 1.2, query.name


def test_that_noise_follows_its_distribution(full_world):
    """Pearson's χ² of the noise of the detailed query of the leaves against the exact probabilities; false alarm 1e-6."""
    level = full_world.design.levels[-1]
    columns, noise = query_columns(level.plan)[-1][1], level.measuring.noises[-1]
    sample = np.concatenate(
        [
            (measure(full_world, -1, 0, 150, Draw(TrialKey(5, trial))).answers - exact_answers(full_world, -1, 0, 150))[
                :, columns
            ].ravel()
            for trial in range(4)
        ]
    )
    reach = int(3 * noise.variance() ** 0.5)
    values = np.arange(-reach, reach + 1)
    expected = np.exp([noise.log_pmf(int(value)) for value in values]) * sample.size
    observed = np.array([(sample == value).sum() for value in values], float)
    rest = np.array([sample.size - observed.sum(), sample.size - expected.sum()])
    statistic = ((observed - expected) ** 2 / expected).sum() + (rest[0] - rest[1]) ** 2 / rest[1]
    assert statistic < chi2.isf(1e-6, len(values))


def test_that_scenarios_share_signs_and_sizes_grow_with_the_variance():
    cheap, dear = world_of(full(), PERSONS, Fraction(1, 5)), world_of(full(), PERSONS, 1)
    draw = Draw(TrialKey(4, 0))
    wide = measure(cheap, -1, 0, 150, draw).answers - exact_answers(cheap, -1, 0, 150)
    narrow = measure(dear, -1, 0, 150, draw).answers - exact_answers(dear, -1, 0, 150)
    both = (wide != 0) & (narrow != 0)
    assert (np.sign(wide)[both] == np.sign(narrow)[both]).all()
    assert (np.abs(wide) >= np.abs(narrow)).all()


def test_that_coverage_counts_the_noise_within_the_margin(full_world):
    level = full_world.design.levels[-1]
    margins = tuple(range(1, len(level.plan.measured) + 1))
    found = measure(full_world, -1, 0, 150, Draw(TrialKey(4, 0), margins=margins))
    errors = np.abs(found.answers - exact_answers(full_world, -1, 0, 150))
    columns = [columns for _, columns in query_columns(level.plan)]
    within = sum((errors[:, place] <= margin).sum() for place, margin in zip(columns, margins, strict=True))
    assert (found.within, found.numbers) == (within, 150 * level.plan.answers)


def test_that_units_without_a_measurement_get_neither_noise_nor_exact_answers(full_world):
    truth = full_world.truth[-1].part(0, 10)
    classes = np.array([0, -1] * 5, np.int8)
    found = DrawnMeasurements(Draw(TrialKey(4, 0))).measure(full_world.design.levels[-1], truth, 0, classes).answers
    alone = measure(full_world, -1, 0, 10, Draw(TrialKey(4, 0))).answers
    assert exact_answers(full_world, -1, 0, 10)[1::2].any()
    assert not found[1::2].any()
    assert (found[::2] == alone[::2]).all()


def test_that_the_operating_system_gives_fresh_noise(full_world):
    one, other = (measure(full_world, -1, 0, 20, Draw(TrialKey(None, 0))).answers for _ in range(2))
    assert (one != other).any()


def test_that_pieces_stay_aligned_below_the_samplers_own():
    from phexplore.noise import sampler

    assert PIECE <= sampler._CHUNK
    assert PIECE % 8 == 0


def test_that_pure_dp_adds_geometric_noise(pure_method):
    world = world_of(full(), pure_method)
    level = world.design.levels[-1]
    assert all(not isinstance(noise, DiscreteGaussian) for noise in level.measuring.noises)
    sample = (measure(world, -1, 0, 150, Draw(TrialKey(3, 0))).answers - exact_answers(world, -1, 0, 150))[
        :, query_columns(level.plan)[-1][1]
    ].astype(float)
    noise = level.measuring.noises[-1]
    # Excess kurtosis 3 of the Laplace shape: standard error of the variance √(5/n); false alarm 1e-6.
    assert abs((sample**2).mean() / noise.variance() - 1) < norm.isf(5e-7) * np.sqrt(5 / sample.size)
