from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.data.synthetic.tables import LARGEST_SIZE, apportion, puerto_rico_figures, state_figures
from phexplore.data.synthetic.targets import (
    PERSONS_PER_PART,
    expected_sizes,
    split_in_parts,
    split_over_states,
    state_target,
    whole_sizes,
)

FIGURES = [*state_figures().values(), puerto_rico_figures()]
SIZES = np.arange(LARGEST_SIZE + 1)


@pytest.mark.parametrize("figures", FIGURES, ids=lambda figures: figures.fips)
def test_that_a_state_of_full_size_has_its_real_figures(figures):
    target = state_target(figures, figures.persons)
    assert target.persons == figures.persons
    assert target.group_quarters_persons == figures.group_quarters_persons
    assert target.households == figures.households
    assert (*target.sizes[1:7].tolist(), int(target.sizes[7:].sum())) == figures.sizes
    assert np.array_equal(target.cells, figures.cells)


def test_that_the_nation_of_full_size_is_that_of_2010():
    figures = list(state_figures().values())
    shares = split_over_states(308_745_538, figures)
    assert shares == [state.persons for state in figures]
    assert sum(state.households for state in figures) == 116_716_292


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200_000), st.sampled_from(FIGURES))
def test_that_any_state_adds_up_and_stays_near_its_shares(persons, figures):
    target = state_target(figures, persons)
    assert target.persons == persons == int(target.cells.sum())
    assert target.sizes.min() >= 0
    assert target.sizes[0] == 0
    scale = Fraction(persons, figures.persons)
    assert np.abs(target.cells - figures.cells * float(scale)).max() < 1
    # Rounding of one household more or less, which a state of a few persons cannot avoid.
    assert abs(target.households - figures.households * scale) < 1
    published = np.append(target.sizes[1:7], target.sizes[7:].sum())
    assert np.abs(published - np.array(figures.sizes) * float(scale)).max() < 1.5
    assert np.abs(target.sizes - expected_sizes(figures) * float(scale)).max() < 4


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3_000_000), st.sampled_from(FIGURES))
def test_that_parts_add_up_to_their_state(persons, figures):
    target = state_target(figures, persons)
    parts = list(split_in_parts(target))
    assert np.array_equal(sum(part.sizes for part in parts), target.sizes)
    assert np.array_equal(sum(part.cells for part in parts), target.cells)
    assert sum(part.group_quarters_persons for part in parts) == target.group_quarters_persons
    assert sum(part.vacant for part in parts) == target.vacant
    for part in parts:
        assert part.persons == part.cells.sum()
        assert part.cells.min() >= 0
        assert part.persons <= PERSONS_PER_PART + LARGEST_SIZE * (LARGEST_SIZE + 1) // 2 + 1
        assert (part.facilities > 0) == (part.group_quarters_persons > 0)


@given(st.integers(1, 10_000_000))
def test_that_states_share_by_largest_remainder(persons):
    figures = list(state_figures().values())
    shares = split_over_states(persons, figures)
    assert sum(shares) == persons
    total = sum(state.persons for state in figures)
    if persons >= len(figures):
        assert min(shares) >= 1
    exact = [Fraction(state.persons * persons, total) for state in figures]
    # Below some 500 persons small states are given one person each, taken from the largest.
    if min(exact) >= 1:
        assert all(abs(share - wanted) < 1 for share, wanted in zip(shares, exact, strict=True))


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=20).filter(any), st.integers(0, 10**6))
def test_that_whole_weights_are_apportioned_exactly(weights, total):
    counts = apportion(np.array(weights, np.int64), total)
    assert counts.sum() == total
    for count, weight in zip(counts.tolist(), weights, strict=True):
        assert abs(count - Fraction(weight * total, sum(weights))) < 1
    assert apportion(np.array(weights, np.int64), sum(weights)).tolist() == weights


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(0, 50), min_size=LARGEST_SIZE, max_size=LARGEST_SIZE), st.integers(0, 400), st.integers(0, 200)
)
def test_that_household_sizes_hold_exactly_the_persons(expected, persons, households):
    counts = whole_sizes(np.array([0.0, *expected]), persons, households)
    assert counts @ SIZES == persons
    assert counts.min() >= 0


@pytest.mark.parametrize("figures", FIGURES, ids=lambda figures: figures.fips)
def test_that_the_tail_holds_the_persons_the_state_leaves_for_it(figures):
    sizes = expected_sizes(figures)
    assert sizes @ SIZES == pytest.approx(figures.persons - figures.group_quarters_persons, rel=1e-9)
    assert sizes[7:].sum() == pytest.approx(figures.sizes[-1], rel=1e-9)
    ratios = sizes[8:] / sizes[7:-1]
    assert ratios == pytest.approx(ratios[0], rel=1e-9)
    assert 0 < ratios[0] < 1
    assert sizes[11:].sum() > 0
