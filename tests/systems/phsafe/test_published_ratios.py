from __future__ import annotations

import numpy as np
import pytest

from phexplore.systems.phsafe import published_ratios
from phexplore.systems.phsafe.published_ratios import publish_age_ratios, publish_tenure_ratios


def groups(count, seed, homes=(200, 5000), size=2.6):
    random = np.random.default_rng(seed)
    denominator = random.integers(*homes, count).astype(float)
    people = denominator * random.uniform(size - 0.6, size + 0.6, count)
    young = people * random.uniform(0.2, 0.35, count)
    return np.stack([young.round(), (people - young).round(), denominator], axis=1)


def test_that_clear_groups_keep_their_ratio_and_parts_add_up():
    noisy = groups(30, 1)
    found = publish_age_ratios(noisy, np.full(noisy.shape, 25.0), least=1, seed=1, draws=2000)
    assert found.exact.all()
    assert np.allclose(found.ratio, found.noisy, rtol=0.05)
    assert np.allclose(found.ratio[:, 0], found.ratio[:, 1] + found.ratio[:, 2])
    assert np.allclose(found.numerator[:, 0], found.numerator[:, 1] + found.numerator[:, 2])


def test_that_nine_of_ten_intervals_hold_the_true_average():
    # 600 groups: standard error 0.012; ±0.06 is five of them.
    truth = groups(600, 2)
    random = np.random.default_rng(3)
    variance = np.tile([41.0**2, 41.0**2, 41.0**2 / 121], (600, 1))
    noisy = truth + random.normal(0, np.sqrt(variance)).round()
    found = publish_age_ratios(noisy, variance, least=1, seed=4, draws=2000)
    ratio = truth[:, 0] / truth[:, 2]
    held = ((found.low[:, 1] <= ratio) & (ratio <= found.high[:, 1])).mean()
    assert 0.84 < held < 0.96
    error = np.abs(found.ratio[:, 1] - ratio).mean()
    assert error <= np.abs(found.noisy[:, 1] - ratio).mean() * 1.02


HARD = np.array([[-60.0, 30.0, 40.0], [5.0, 300.0, 20.0], [2.0, 1.0, -15.0]])
HARD_VARIANCE = np.full((3, 3), 100.0)


def by_brute_force(noisy, variance, least, most=10):
    """Return mean and quantiles of the under-18 ratio by plain rejection with many draws."""
    random = np.random.default_rng(6)
    kept = []
    spread = np.sqrt(variance)
    young, old, homes = noisy
    people, v_people = young + old, variance[0] + variance[1]
    top = [
        young + 6 * spread[0], old + 6 * spread[1], homes + 6 * spread[2],
        people - least * homes + 6 * np.sqrt(v_people + least**2 * variance[2]),
        most * homes - people + 6 * np.sqrt(v_people + most**2 * variance[2]),
    ]  # fmt: skip
    for _ in range(200):
        y = random.normal(noisy, spread, (500_000, 3))
        a, b, c = y.T
        inside = (a >= 0) & (b >= 0) & (c >= 1) & (a + b >= least * c) & (most * c >= a + b)
        inside &= (
            (a <= top[0]) & (b <= top[1]) & (c <= top[2]) & (a + b - least * c <= top[3]) & (most * c - a - b <= top[4])
        )
        kept.append((a / c)[inside])
        if sum(map(len, kept)) > 20_000:
            break
    return np.concatenate(kept)


def test_that_a_hard_group_agrees_with_brute_force():
    found = publish_age_ratios(HARD[[1]], HARD_VARIANCE[[1]], least=1, seed=3, draws=20_000)
    direct = by_brute_force(HARD[1], HARD_VARIANCE[1], 1)
    # 20 000 draws each: the mean within 2 %, the 95 % quantile within 4 %.
    assert found.ratio[0, 1] == pytest.approx(direct.mean(), rel=0.02)
    assert found.high[0, 1] == pytest.approx(np.quantile(direct, 0.95), rel=0.04)


def test_that_gibbs_sampling_agrees_with_rejection_where_both_work(monkeypatch):
    noisy, variance = np.array([[30.0, 80.0, 45.0]]), np.full((1, 3), 400.0)
    exact = publish_age_ratios(noisy, variance, least=1, seed=1, draws=4000)
    assert exact.exact[0]
    monkeypatch.setattr(published_ratios, "_LEAST_ACCEPTANCE", 2.0)
    chain = publish_age_ratios(noisy, variance, least=1, seed=2, draws=4000)
    assert not chain.exact[0]
    # A chain of 4 000 correlated draws: within 6 % of the mean, within 12 % of the quantiles.
    assert np.allclose(chain.ratio, exact.ratio, rtol=0.06)
    assert np.allclose(chain.high, exact.high, rtol=0.12)


def test_that_what_cannot_be_is_moved_to_what_can():
    found = publish_age_ratios(HARD[:2], HARD_VARIANCE[:2], least=2, seed=1, draws=500)
    assert found.possible.all()
    whole = found.ratio[:, 0]
    assert (whole >= 2).all()
    assert (whole <= 10).all()
    assert (found.ratio[:, 1:] >= 0).all()


def test_that_a_group_without_any_possible_counts_is_named_not_guessed():
    impossible = np.array([[-500.0, -500.0, -500.0]])
    found = publish_age_ratios(impossible, np.full((1, 3), 1.0), least=1, seed=1, draws=100)
    assert not found.possible[0]
    assert np.isnan(found.ratio).all()


def test_that_tenure_averages_are_modelled_cell_by_cell():
    homes = np.array([[900.0, 600.0, 300.0]])
    people = np.array([[2300.0, 1700.0, 600.0]])
    v = np.array([[200.0, 100.0, 100.0]])
    found = publish_tenure_ratios(people, v, homes, v / 100, seed=1, draws=3000)
    assert found.cells == (1, 2, 3)
    assert np.allclose(found.ratio, people / homes, rtol=0.02)
    assert ((found.low < found.ratio) & (found.ratio < found.high)).all()


def test_that_no_noise_is_a_point_and_seeds_repeat():
    exact = publish_age_ratios(np.array([[20.0, 50.0, 30.0]]), np.zeros((1, 3)), least=1, seed=1, draws=50)
    assert exact.ratio[0, 0] == pytest.approx(70 / 30)
    assert (exact.low == exact.high).all()
    noisy = groups(3, 5)
    first, second = (publish_age_ratios(noisy, np.full((3, 3), 9.0), least=1, seed=7, draws=200) for _ in range(2))
    assert (first.ratio == second.ratio).all()


def test_that_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="groups, 3"):
        publish_age_ratios(np.zeros((2, 2)), np.zeros((2, 2)), least=1, seed=1)
    with pytest.raises(ValueError, match="one shape"):
        publish_tenure_ratios(np.zeros((1, 3)), np.zeros((1, 2)), np.zeros((1, 3)), np.zeros((1, 3)), seed=1)
