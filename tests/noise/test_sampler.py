"""The sampler against the distribution itself, digit by digit, and against another exact algorithm."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from functools import lru_cache

import mpmath
import numpy as np
import pytest
from noise.known_noises import KNOWN
from scipy import stats

from phexplore.noise import _kernels
from phexplore.noise.distributions import DiscreteGaussian, NoNoise, TwoSidedGeometric
from phexplore.noise.entropy import OsEntropy, SeededEntropy
from phexplore.noise.sampler import BlockSampler, TableSampler, ZeroSampler, sampler_for
from phexplore.noise.tables import Law

NOISY = {name: noise for name, noise in KNOWN.items() if noise.variance() > 0}
NARROW = {
    "Gaussian, one person": Law(Fraction(1, 2), Fraction(0)),
    "Gaussian, thirty people": Law(Fraction(1, 1800), Fraction(0)),
    "Gaussian, all but certain": Law(Fraction(500), Fraction(0)),
    "geometric": Law(Fraction(0), Fraction(1, 9)),
    "one-sided": Law(Fraction(1, 500), Fraction(0), two_sided=False),
}


class RecordedEntropy:
    """A seeded stream that remembers what it gave, request by request."""

    is_reproducible = True

    def __init__(self, seed: int) -> None:
        self._stream = SeededEntropy(seed)
        self.given: list[list[int]] = []

    def fill(self, buffer) -> None:
        self._stream.fill(buffer)
        self.given.append(buffer.tolist())


class ScriptedEntropy:
    """Gives the stated 64-bit words, then fails."""

    is_reproducible = True

    def __init__(self, *words: int) -> None:
        self._words = iter(words)

    def fill(self, buffer) -> None:
        for i in range(buffer.size):
            buffer[i] = next(self._words)


@lru_cache
def boundaries(law: Law, digits: int = 900) -> list[int]:
    """Return floor(2^600 F(j)) for j = 0, 1, …, by adding up the definition."""
    with mpmath.workprec(digits):
        weights = [mpmath.mpf(1)]
        while weights[-1] > mpmath.mpf(2) ** -digits:
            x = len(weights)
            energy = law.quadratic * x * x + law.linear * x
            weights.append(mpmath.exp(-mpmath.mpf(energy.numerator) / energy.denominator))
        copies = 2 if law.two_sided else 1
        total, running, result = weights[0] + copies * mpmath.fsum(weights[1:]), mpmath.mpf(0), []
        for x, weight in enumerate(weights):
            for _ in range(copies if x else 1):
                running += weight / total
                # F(j) < 1, also where 900 digits no longer show it.
                result.append(min(int(mpmath.floor(running * mpmath.mpf(2) ** 600)), 2**600 - 1))
        return result


def outcome_of(law: Law, edges: list[int], digits: int, bits: int) -> int | None:
    """Return the outcome of every U in [digits, digits + 1) / 2^bits, or None when there are several."""
    low, high = digits << (600 - bits), ((digits + 1) << (600 - bits)) - 1
    first, last = bisect_right(edges, low), bisect_right(edges, high)
    return law.outcome(first) if first == last else None


@pytest.mark.parametrize("law", NARROW.values(), ids=NARROW.keys())
@pytest.mark.parametrize("bits", [17, 18, 24, 64])
def test_that_every_sample_is_the_exact_inverse_of_its_random_bits(law, bits):
    """Few stored digits make ties frequent; the bits each sample consumed decide it alone, whatever was stored."""
    sampler = TableSampler(law, bits)
    ties = sum(ties_in_checked_samples(sampler, law, bits, seed) for seed in range(6 if bits == 17 else 1))
    assert bits > 17 or law.quadratic > 1 or ties > 0


def ties_in_checked_samples(sampler: TableSampler, law: Law, bits: int, seed: int) -> int:
    """Repeat what the sampler did with its random bits, by the distribution function in 600 digits."""
    entropy, out = RecordedEntropy(seed), np.zeros(10_000, dtype=np.int64)
    sampler.fill(entropy, out)
    edges = boundaries(law)
    prefixes, *rest = entropy.given
    words = iter(rest[0] if rest else [])
    more = iter([word for (word,) in rest[1:]])
    ties = 0
    for sample, prefix in zip(out.tolist(), prefixes, strict=True):
        expected, digits, places = outcome_of(law, edges, prefix, 16), prefix, 16
        if expected is None:
            digits, places = (prefix << 48 | next(words) >> 16) >> (64 - bits), bits
            expected = outcome_of(law, edges, digits, places)
        while expected is None:
            ties += 1
            digits, places = (digits << 64) | next(more), places + 64
            expected = outcome_of(law, edges, digits, places)
        assert sample == expected
    # Every random word was used, and used once.
    assert next(words, None) is None
    assert next(more, None) is None
    return ties


@pytest.mark.parametrize("law", NARROW.values(), ids=NARROW.keys())
def test_that_a_tie_of_all_stored_digits_is_broken_by_the_next_ones(law):
    sampler = TableSampler(law)
    edges = boundaries(law)
    for index in (0, 1, 2, 7):
        if index >= len(edges) - 1 or edges[index] >> 536 == (1 << 64) - 1:
            continue
        first, second, third = (edges[index] >> shift & (1 << 64) - 1 for shift in (536, 472, 408))
        # U as the sampler asks for it: 16 digits, a word for the next 48, then whole words.
        start = (first >> 48, (first & (1 << 48) - 1) << 16)
        for tail, place in (
            ((second - 1,), index),
            ((second + 1,), index + 1),
            ((second, third - 1), index),
            ((second, third + 1), index + 1),
        ):
            out = np.zeros(1, dtype=np.int64)
            sampler.fill(ScriptedEntropy(*start, *tail), out)
            assert out[0] == law.outcome(place)


@pytest.mark.parametrize("law", NARROW.values(), ids=NARROW.keys())
def test_that_the_stored_tables_hold_the_exact_probabilities(law):
    """Count what each of the 2^64 stored digits selects: the mass differs from the truth by ties alone."""
    sampler = TableSampler(law)
    mass: Counter[int] = Counter()
    edges = boundaries(law)
    starts = [0, *(int(t) + 1 for t in sampler._thresholds)]
    for index, threshold in enumerate(sampler._thresholds.tolist()):
        mass[law.outcome(index)] = max(threshold - starts[index], 0)
    for index in range(len(starts) - 1):
        exact = edges[index] - (edges[index - 1] if index else 0)
        assert abs((mass[law.outcome(index)] << 536) - exact) <= 2 << 536
    decided = np.flatnonzero(sampler._table != _kernels.UNDECIDED)
    for prefix in decided.tolist():
        assert outcome_of(law, edges, prefix, 16) == sampler._table[prefix]
    for prefix in set(range(1 << 16)) - set(decided.tolist()):
        assert outcome_of(law, edges, prefix, 16) is None


def p_value(samples: np.ndarray, noise) -> float:
    """Return the p-value of Pearson's χ² over cells of at least 20 expected samples."""
    reach = noise.margin(1 - Fraction(20, samples.size))
    # Wide noise: cells of neighbouring outcomes, at most some 4000 of them.
    width = 1 + 2 * reach // 4000
    cells = range(-reach, reach + 1, width)
    if width == 1:
        expected = np.exp([noise.log_pmf(x) for x in cells])
    else:
        below = [_distribution_function(noise, x - 1) for x in (*cells, cells[-1] + width)]
        expected = np.diff(below)
    inside = (samples >= cells[0]) & (samples < cells[-1] + width)
    counted = np.bincount((samples[inside] - cells[0]) // width, minlength=len(cells))
    observed = np.append(counted, samples.size - counted.sum())
    expected = np.append(expected, max(1 - expected.sum(), 0)) * samples.size
    order = np.argsort(expected)[::-1]
    observed, expected = observed[order], expected[order]
    enough = int(np.searchsorted(-expected, -20))
    observed = np.append(observed[:enough], observed[enough:].sum())
    expected = np.append(expected[:enough], expected[enough:].sum())
    if expected[-1] < 5:
        observed = np.append(observed[:-2], observed[-2:].sum())
        expected = np.append(expected[:-2], expected[-2:].sum())
    if observed.size == 1:
        return 1.0
    return float(stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue)


def _distribution_function(noise, x: int) -> float:
    return (1 + noise.coverage(x)) / 2 if x >= 0 else (1 - noise.coverage(-x - 1)) / 2


# The seeds are fixed. A correct sampler fails a χ² test below for one seed in a million.
FALSE_ALARM = 1e-6


@pytest.mark.parametrize("noise", NOISY.values(), ids=NOISY.keys())
class TestEverySampler:
    def test_that_the_samples_pass_chi_squared(self, noise):
        samples = sampler_for(noise).sample(SeededEntropy(2020), 1_000_000)
        assert p_value(samples, noise) > FALSE_ALARM

    def test_that_a_seed_gives_the_same_samples_again(self, noise):
        one, again = (sampler_for(noise).sample(SeededEntropy(1, (2,)), 70_000) for _ in range(2))
        assert (one == again).all()

    def test_that_narrow_integers_hold_the_same_samples(self, noise):
        sampler = sampler_for(noise)
        wide = sampler.sample(SeededEntropy(3), 70_000)
        for kind in (np.int16, np.int32, np.int64):
            if np.dtype(kind).itemsize >= sampler.dtype.itemsize:
                narrow = np.zeros(70_000, dtype=kind)
                sampler.fill(SeededEntropy(3), narrow)
                assert (narrow == wide).all()
            else:
                with pytest.raises(TypeError, match=f"{sampler.dtype} or wider"):
                    sampler.fill(SeededEntropy(3), np.zeros(1, dtype=kind))

    def test_that_none_and_few_samples_can_be_asked_for(self, noise):
        assert sampler_for(noise).sample(OsEntropy(), 0).shape == (0,)
        assert sampler_for(noise).sample(OsEntropy(), 3).dtype == np.int64

    def test_that_the_sampler_of_equal_noise_is_built_once(self, noise):
        twin = type(noise)(*(getattr(noise, name) for name in noise.__slots__))
        assert sampler_for(twin) is sampler_for(noise)

    def test_that_samples_a_chunk_apart_are_not_the_same_bits(self, noise):
        samples = sampler_for(noise).sample(SeededEntropy(8), 1 << 17)
        parts = {samples[i : i + (1 << 15)].tobytes() for i in range(0, 1 << 17, 1 << 15)}
        assert len(parts) == 4 or noise.variance() < 1e-6


def test_that_chi_squared_notices_a_variance_wrong_by_two_percent():
    samples = sampler_for(DiscreteGaussian(Fraction(10))).sample(SeededEntropy(2020), 1_000_000)
    assert p_value(samples, DiscreteGaussian(Fraction(102, 10))) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("sigma2", ["2/5", "1", "10", "1000", "1000000", "100000000"])
def test_that_a_billion_samples_pass_chi_squared(sigma2):
    noise, sampler = DiscreteGaussian(Fraction(sigma2)), sampler_for(DiscreteGaussian(Fraction(sigma2)))
    reach = noise.margin(1 - Fraction(1, 10**8))
    width = 1 + 2 * reach // 200_000
    counts = np.zeros(2 * reach // width + 2, dtype=np.int64)
    for part in range(100):
        samples = sampler.sample(SeededEntropy(2020, (part,)), 10**7)
        counts += np.bincount((np.clip(samples, -reach, reach) + reach) // width, minlength=counts.size)
    edges = [-reach + width * i for i in range(1, counts.size)]
    below = np.array([_distribution_function(noise, x - 1) for x in edges])
    expected = np.diff(np.concatenate([[0.0], below, [1.0]])) * 1e9
    keep = expected > 100
    statistic = ((counts[keep] - expected[keep]) ** 2 / expected[keep]).sum()
    assert stats.chi2.sf(statistic, int(keep.sum()) - 1) > FALSE_ALARM
    assert abs(counts[~keep].sum() - expected[~keep].sum()) < 6 * math.sqrt(expected[~keep].sum() + 1)


# --- blocks ---------------------------------------------------------------------------------------------------------


BLOCKS = {
    "Gaussian": (DiscreteGaussian(Fraction(900)), Law(Fraction(1, 1800), Fraction(0))),
    "geometric": (TwoSidedGeometric(Fraction(25)), Law(Fraction(0), Fraction(1, 25))),
}


@pytest.mark.parametrize(("noise", "law"), BLOCKS.values(), ids=BLOCKS.keys())
@pytest.mark.parametrize("shift", [0, 2, 5])
@pytest.mark.parametrize("bits", [17, 64])
def test_that_blocks_of_any_size_give_the_same_distribution(noise, law, shift, bits):
    samples = BlockSampler(law, shift, bits).sample(SeededEntropy(shift), 500_000)
    assert p_value(samples, noise) > FALSE_ALARM


@pytest.mark.parametrize("shift", [4, 20, 40])
def test_that_acceptance_is_decided_by_as_many_digits_as_it_takes(shift):
    law = Law(Fraction(1, 2 << (2 * shift + 10)), Fraction(0))
    sampler = BlockSampler(law, shift)
    block, offset, places = 37, (1 << shift) - 3, 63 - shift
    energy = [law.quadratic * x * x for x in ((block << shift), (block << shift) + offset)]
    with mpmath.workprec(600):
        difference = energy[1] - energy[0]
        chance = mpmath.exp(-mpmath.mpf(difference.numerator) / difference.denominator)
        first, second, third = (
            int(mpmath.floor(chance * mpmath.mpf(2) ** (places + 64 * k))) & ((1 << (64 if k else places)) - 1)
            for k in range(3)
        )

    def accepts(digits: int, *more: int) -> bool:
        return sampler._accepts(ScriptedEntropy(*more), block, digits << (shift + 1) | offset)

    assert accepts(first - 1)
    assert not accepts(first + 1)
    assert accepts(first, second - 1)
    assert not accepts(first, second + 1)
    assert accepts(first, second, third - 1)
    assert not accepts(first, second, third + 1)


def test_that_the_compiled_acceptance_leaves_what_floats_cannot_decide():
    shift, quadratic = 10, 1.0 / (2 << 30)
    block, offset = 37, 1000
    decay = quadratic * offset * (2 * (block << shift) + offset)
    places = 63 - shift
    middle = int(math.exp(-decay) * 2**places)
    digits = [0, middle - (1 << 20), middle, middle + (1 << 20), (1 << places) - 1]
    words = np.array([d << (shift + 1) | offset for d in digits], dtype=np.uint64)
    out, pending, ties = (np.zeros(5, dtype=np.int64) for _ in range(3))
    rejected, undecided = _kernels.spread(
        np.full(5, block, dtype=np.int32), words, shift, quadratic, 0.0, out, pending, ties
    )
    assert ties[:undecided].tolist() == [2]
    assert pending[:rejected].tolist() == [3, 4]
    assert out[:2].tolist() == [(block << shift) + offset] * 2


def test_that_zero_is_accepted_with_one_sign_only():
    words = np.array([0, 1 << 4], dtype=np.uint64)
    out, pending, ties = (np.zeros(2, dtype=np.int64) for _ in range(3))
    result = _kernels.spread(np.zeros(2, dtype=np.int32), words, 4, 1e-3, 0.0, out, pending, ties)
    assert (result, pending[0]) == ((1, 0), 1)


def test_that_very_wide_noise_has_its_spread_and_fits():
    noise = DiscreteGaussian(Fraction(2**96))
    samples = sampler_for(noise).sample(SeededEntropy(4), 200_000)
    # Standard error of the variance: √(2/n) = 0.0032; 6 of them.
    assert np.var(samples.astype(np.float64)) / 2.0**96 == pytest.approx(1, abs=0.019)
    assert len(np.unique(samples & 0xFFFF)) > 60_000


# --- another exact algorithm ----------------------------------------------------------------------------------------


class RationalSampler:
    """Canonne, Kamath and Steinke 2020, Algorithms 1 to 3, in whole numbers: slow, and nothing to round."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def _bernoulli(self, chance: Fraction) -> bool:
        return self._random.randrange(chance.denominator) < chance.numerator

    def _bernoulli_exp(self, exponent: Fraction) -> bool:
        while exponent > 1:
            if not self._bernoulli_exp(Fraction(1)):
                return False
            exponent -= 1
        k = 1
        while self._bernoulli(exponent / k):
            k += 1
        return k % 2 == 1

    def laplace(self, scale: Fraction) -> int:
        s, t = scale.denominator, scale.numerator
        while True:
            u = self._random.randrange(t)
            if not self._bernoulli_exp(Fraction(u, t)):
                continue
            v = 0
            while self._bernoulli_exp(Fraction(1)):
                v += 1
            magnitude, negative = (u + t * v) // s, self._bernoulli(Fraction(1, 2))
            if magnitude or not negative:
                return -magnitude if negative else magnitude

    def gaussian(self, sigma2: Fraction) -> int:
        t = math.isqrt(sigma2.numerator // sigma2.denominator) + 1
        while True:
            y = self.laplace(Fraction(t))
            if self._bernoulli_exp((abs(y) - sigma2 / t) ** 2 / (2 * sigma2)):
                return y


@pytest.mark.parametrize("sigma2", ["2/5", "10", "500/3"])
def test_that_the_gaussian_sampler_and_the_rational_one_draw_from_one_distribution(sigma2):
    rational, noise = RationalSampler(5), DiscreteGaussian(Fraction(sigma2))
    slow = np.array([rational.gaussian(noise.sigma2) for _ in range(5000)])
    fast = sampler_for(noise).sample(SeededEntropy(5), 5000)
    assert two_samples(slow, fast) > FALSE_ALARM
    assert p_value(slow, noise) > FALSE_ALARM


def test_that_the_geometric_sampler_and_the_rational_one_draw_from_one_distribution():
    rational, noise = RationalSampler(6), TwoSidedGeometric(Fraction(20, 3))
    slow = np.array([rational.laplace(noise.scale) for _ in range(5000)])
    assert two_samples(slow, sampler_for(noise).sample(SeededEntropy(6), 5000)) > FALSE_ALARM
    assert p_value(slow, noise) > FALSE_ALARM


def two_samples(one: np.ndarray, other: np.ndarray) -> float:
    """Return the p-value of the χ² test of homogeneity over cells of at least 20 samples."""
    cells = sorted({int(np.quantile(one, q)) for q in np.linspace(0, 1, 40)})
    table = np.array([np.histogram(part, [-np.inf, *cells, np.inf])[0] for part in (one, other)])
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) >= 20]).pvalue)


def test_that_no_noise_is_zeros_without_randomness():
    assert isinstance(sampler_for(NoNoise()), ZeroSampler)
    assert sampler_for(NoNoise()).sample(ScriptedEntropy(), 4).tolist() == [0, 0, 0, 0]
    filled = np.ones(3, dtype=np.int16)
    sampler_for(NoNoise()).fill(ScriptedEntropy(), filled)
    assert not filled.any()


def test_that_noise_of_another_kind_is_refused_by_name():
    class Strange:
        pass

    with pytest.raises(TypeError, match="Strange"):
        sampler_for(Strange())


def test_that_arrays_that_cannot_be_filled_are_refused():
    sampler = sampler_for(DiscreteGaussian(Fraction(1)))
    for refused in (np.zeros((2, 2), dtype=np.int64), np.zeros(8, dtype=np.int64)[::2]):
        with pytest.raises(TypeError, match="contiguous"):
            sampler.fill(OsEntropy(), refused)
    for refused in (np.zeros(2), np.zeros(2, dtype=np.uint64), np.zeros(2, dtype=np.int8)):
        with pytest.raises(TypeError, match="wider"):
            sampler.fill(OsEntropy(), refused)
