from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.data.synthetic.plan import KIND_STRIDE, plan_state
from phexplore.data.synthetic.races import census_codes, correct, draw_groups, fit_groups, mix
from phexplore.data.synthetic.tables import GROUPS, race_expansion, state_figures

KINDS = np.array([[1, 0], [2, 0], [2, 1], [2, 2], [1, 1], [1, 3], [4, 4], [0, 1]])
WEIGHT = np.array([30.0, 30.0, 12.0, 10.0, 4.0, 1.0, 0.5, 0.2])


@pytest.mark.parametrize("fips", ["15", "35", "36", "49", "50", "11"])
def test_that_every_group_gets_its_adults_and_children_on_average(fips):
    cells = state_figures()[fips].cells
    chances = fit_groups(KINDS, WEIGHT, cells)
    found = np.einsum("k,kg,kd->gd", WEIGHT, chances, KINDS)
    wanted = cells[::-1].T / cells[::-1].sum(axis=1) * (WEIGHT @ KINDS)
    assert np.abs(found - wanted).max() < 1e-6 * WEIGHT.sum()
    assert chances.sum(axis=1) == pytest.approx(1)
    # The nearest distribution to the shares is an exponential family: log-odds against them are linear in the kind.
    share = wanted.sum(axis=1) / wanted.sum()
    odds = np.log(chances / share) - np.log(chances / share)[:, :1]
    fitted, *_ = np.linalg.lstsq(KINDS.astype(float), odds, rcond=None)
    assert odds == pytest.approx(KINDS @ fitted, abs=1e-5)


def test_that_a_plan_gives_every_group_its_persons_on_average():
    figures = state_figures()["44"]
    plan = plan_state(figures)
    assert plan.chances.shape == (KIND_STRIDE**2, len(GROUPS))
    assert plan.chances.sum(axis=1) == pytest.approx(1)


def test_that_each_kind_gets_its_groups_to_within_one_household():
    chances = fit_groups(KINDS, WEIGHT, state_figures()["06"].cells)
    kind = np.repeat(np.arange(len(KINDS)), [1000, 800, 1, 60, 0, 7, 3, 2])
    groups = draw_groups(kind, chances, np.random.default_rng(3))
    for row in range(len(KINDS)):
        counts = np.bincount(groups[kind == row], minlength=len(GROUPS))
        assert np.abs(counts - chances[row] * counts.sum()).max() < 1 + 1e-9


def test_that_groups_are_drawn_without_bias():
    """4,000 draws of one household: shares within 5 standard deviations (false alarm below 1e-5 in all 8)."""
    chances = np.array([[0.6, 0.2, 0.1, 0.05, 0.03, 0.01, 0.006, 0.004]])
    rng = np.random.default_rng(4)
    drawn = np.array([draw_groups(np.zeros(1, np.int64), chances, rng)[0] for _ in range(4000)])
    shares = np.bincount(drawn, minlength=8) / 4000
    assert (np.abs(shares - chances[0]) < 5 * np.sqrt(chances[0] * (1 - chances[0]) / 4000)).all()


def test_that_mixing_keeps_the_groups_of_each_age_class_and_of_those_not_chosen():
    rng = np.random.default_rng(5)
    group = rng.integers(0, 8, 1000).astype(np.uint8)
    minor, chosen = rng.random(1000) < 0.3, rng.random(1000) < 0.5
    before = group.copy()
    mix(group, minor, chosen, rng)
    for own in (minor, ~minor):
        assert np.array_equal(np.bincount(group[own], minlength=8), np.bincount(before[own], minlength=8))
    assert np.array_equal(group[~chosen], before[~chosen])
    assert (group != before).any()


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 200))
def test_that_correcting_meets_the_cells_with_the_fewest_changes(seed, persons):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 8, persons).astype(np.uint8)
    minor = rng.random(persons) < 0.3
    changeable = rng.random(persons) < 0.5
    cells = np.stack([rng.multinomial(own.sum(), [0.125] * 8) for own in (minor, ~minor)])
    before = group.copy()
    correct(group, minor, changeable, cells, rng)
    needed = 0
    for row, own in ((0, minor), (1, ~minor)):
        assert np.array_equal(np.bincount(group[own], minlength=8), cells[row])
        needed += np.maximum(np.bincount(before[own], minlength=8) - cells[row], 0).sum()
    assert (group != before).sum() == needed


def test_that_householders_are_changed_last():
    group, minor = np.zeros(10, np.uint8), np.zeros(10, bool)
    changeable = np.arange(10) >= 4
    cells = np.zeros((2, 8), np.int64)
    cells[1, :2] = 4, 6
    correct(group, minor, changeable, cells, np.random.default_rng(0))
    assert group.tolist() == [0] * 4 + [1] * 6


def test_that_one_race_alone_keeps_its_code_and_the_others_follow_the_table():
    """40,000 draws each; shares of the common codes within 5 standard deviations (false alarm below 1e-5)."""
    group = np.repeat(np.arange(8, dtype=np.uint8), 40_000)
    hispanic, race = census_codes(group, np.random.default_rng(6))
    for place in range(6):
        assert set(race[group == place].tolist()) == {place + 1}
    assert set(hispanic[group == 7].tolist()) == {2}
    assert set(hispanic[group < 7].tolist()) == {1}
    assert race[group == 6].min() >= 7
    for place in (6, 7):
        share = np.diff(race_expansion()[place], prepend=0)
        counts = np.bincount(race[group == place], minlength=64)
        assert (np.abs(counts / 40_000 - share) <= 5 * np.sqrt(share * (1 - share) / 40_000) + 1e-12).all()


def test_that_every_code_of_several_races_can_occur():
    for place in (6, 7):
        assert (np.diff(race_expansion()[place])[7 - 1 :] > 0).all()
        assert race_expansion()[place][-1] == 1
