"""Noise by address: independent of order and of what else is drawn, and of the exact distribution."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from phexplore.noise.addressed import AddressedNoise
from phexplore.noise.distributions import DiscreteGaussian, TwoSidedGeometric

NOISES = [DiscreteGaussian(Fraction(7, 3)), TwoSidedGeometric(Fraction(3)), DiscreteGaussian(Fraction(1 << 22))]


@pytest.mark.parametrize("noise", NOISES)
def test_a_part_in_any_order_has_the_numbers_of_the_whole(noise):
    source = AddressedNoise(5, 0, "County", "sex * age")
    place, answer = (column.ravel() for column in np.meshgrid(np.arange(7), np.arange(30), indexing="ij"))
    whole = source.samples(noise, place, answer)
    chosen = np.random.default_rng(2).permutation(len(whole))[:40]
    assert (
        AddressedNoise(5, 0, "County", "sex * age").samples(noise, place[chosen], answer[chosen]) == whole[chosen]
    ).all()
    for other in (AddressedNoise(6, 0, "County", "sex * age"), AddressedNoise(5, 1, "County", "sex * age")):
        assert (other.samples(noise, place, answer) != whole).any()


def test_samples_follow_the_distribution():
    noise = DiscreteGaussian(Fraction(7, 3))
    drawn = AddressedNoise(1, 0, "a", "b").samples(noise, np.zeros(400_000, np.int64), np.arange(400_000))
    support = np.arange(-6, 7)
    weight = np.exp(-(support**2) / (2 * 7 / 3))
    expected = weight / np.exp(-(np.arange(-60, 61) ** 2) / (2 * 7 / 3)).sum() * len(drawn)
    counted = np.array([(drawn == value).sum() for value in support])
    # 13 classes: χ² beyond 45 has a probability below 1e-5.
    assert ((counted - expected) ** 2 / expected).sum() < 45
