"""Drawing the noise of a release exactly: whole numbers, projected to fractions, nothing rounded on the way.

What is released is A(x) + noise with C·noise = 0 as an identity of fractions, so invariants hold to the last bit. Only
the extended Laplace mechanism has fractions too long to print: its released numbers are those fractions rounded to
multiples of 2^-20 people, the last cell of each total taking what the rounding leaves. That is a function of the
unrounded release, so it tells nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

import numpy as np

from phexplore.accounting.subspace_noise import Conditioned, Contrasted, NoisePlan, Shaped, Spherical
from phexplore.noise.distributions import Noise, TwoSidedGeometric
from phexplore.noise.enclosure import Enclosure, exp_negative
from phexplore.noise.entropy import Entropy, SeededEntropy
from phexplore.noise.sampler import sampler_for
from phexplore.workload.subspace.contrasts import RATE_BITS, contrasts
from phexplore.workload.subspace.exact import Exact, Integers, Rationals, integers, largest
from phexplore.workload.subspace.releases import common_denominator, true_answers

PRINTED_STEPS = 1 << 20
"""Released numbers of the extended Laplace mechanism are multiples of 2^-20 people."""

_LARGEST = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The answers of one release.

    Attributes:
        truth: exact, times `scale`.
        scale: smallest number that makes them whole.
    """

    truth: Integers
    scale: int

    @classmethod
    def of(cls, plan: NoisePlan, counts: Integers) -> Answers:
        """Return the answers of a release.

        Args:
            plan: of the release.
            counts: ``counts[cells]``, the histogram.
        """
        return cls(true_answers(plan.release.query, counts), common_denominator(plan.release.query))

    @property
    def exact(self) -> Rationals:
        """The answers as fractions."""
        return Rationals(self.truth, np.array(self.scale, dtype=np.int64))


def draw_noise(plan: NoisePlan, entropy: Entropy) -> Rationals:
    """Return the noise of one trial in people: exact fractions that the invariants map to 0.

    Args:
        plan: of the release.
        entropy: where the random bits come from.
    """
    match plan.form:
        case Spherical(noise):
            return _people(plan, plan.space.project(_sampled(noise, entropy, plan.space.size)))
        case Shaped():
            return _people(plan, plan.space.project(_correlated(plan.form, entropy)))
        case Contrasted():
            return _contrasted(plan, plan.form, entropy)
        case Conditioned(noise):
            return Rationals(_adding_to_zero(noise, entropy, plan.space.size), np.array(1, dtype=np.int64))
        case _:
            assert_never(plan.form)


def released(answers: Answers, noise: Rationals) -> Rationals:
    """Return answers plus noise, exactly, over the denominators of the noise.

    Args:
        answers: exact answers with their scale.
        noise: of one trial, in people.
    """
    factors = noise.denominators // answers.scale if _divides(answers.scale, noise) else noise.denominators
    scale = 1 if _divides(answers.scale, noise) else answers.scale
    bound = largest(answers.truth) * int(np.max(factors)) + largest(noise.numerators) * scale
    truth = integers(answers.truth, bound)
    numerators = truth * factors + integers(noise.numerators, bound) * scale
    return Rationals(numerators, noise.denominators * scale)


def _divides(scale: int, noise: Rationals) -> bool:
    return scale == 1 or bool(np.all(noise.denominators % scale == 0))


def noise_share(plan: NoisePlan, seed: int, trial: int, answers: Sequence[int]) -> list[Fraction]:
    """Return one agent's part of the common noise: of its own answers only, in people.

    Agents who hold different answers and share a secret seed draw the same noise and add each its own part. Together
    their releases keep the invariants, although nobody has seen all answers (Gao, Gong and Yu 2022, §4). Whoever knows
    the seed can take the noise away: it must be long, random, known to the agents alone, and used once.

    Args:
        plan: of the release, equal for all agents.
        seed: at least 2^128, from the operating system's random source (`secrets.randbits(256)`).
        trial: number of the release under this seed.
        answers: numbers of the agent's own answers.

    Raises:
        ValueError: the seed can be guessed.
    """
    if seed < 2**128:
        raise ValueError("a common seed has at least 129 bits: draw it with secrets.randbits(256)")
    noise = draw_noise(plan, SeededEntropy(seed, (trial,)))
    return [noise.at(answer) for answer in answers]


def _sampled(noise: Noise, entropy: Entropy, size: int) -> Integers:
    return np.asarray(sampler_for(noise).sample(entropy, size))


def _people(plan: NoisePlan, steps: Rationals) -> Rationals:
    """Turn steps of 1/K people into people."""
    widest = int(np.max(steps.denominators)) * plan.steps
    denominators = integers(np.asarray(steps.denominators), widest)
    return Rationals(steps.numerators, denominators * plan.steps)


def _correlated(form: Shaped, entropy: Entropy) -> Integers:
    inner = _sampled(form.inner, entropy, form.factor.shape[1])
    outer = _sampled(form.outer, entropy, form.factor.shape[0])
    reach = int(np.abs(form.factor).sum(axis=1).max()) * largest(inner) + largest(outer)
    if reach >= _LARGEST:
        raise OverflowError(f"correlated noise of {reach} steps leaves 64 bits")
    return np.asarray(form.factor @ inner + outer)


def _contrasted(plan: NoisePlan, form: Contrasted, entropy: Entropy) -> Rationals:
    total = np.zeros(plan.space.size, dtype=np.int64)
    order = np.argsort(form.blocks, kind="stable")
    starts = np.flatnonzero(np.diff(form.blocks[order], prepend=-1))
    for cells in np.split(order, starts[1:]):
        if len(cells) < 2:
            continue
        basis = contrasts(len(cells), plan.release.basis)
        coordinates = [one_geometric(entropy, rate) for rate in form.rates.rates[len(cells)].tolist()]
        exact, common = _combined(basis.vectors, basis.norms, coordinates)
        printed = [_nearest(value * PRINTED_STEPS, common) for value in exact[:-1]]
        total[cells] = [*printed, -sum(printed)]
    return Rationals(total, np.array(PRINTED_STEPS, dtype=np.int64))


def _combined(vectors: Integers, norms: Integers, coordinates: Sequence[int]) -> tuple[list[int], int]:
    """Return Σ_i z_i b_i / |b_i|² as whole numerators over one denominator."""
    common = math.lcm(*norms.tolist())
    factors = np.array(
        [z * (common // norm) for z, norm in zip(coordinates, norms.tolist(), strict=True)], dtype=object
    )
    return factors.dot(vectors.astype(object)).tolist(), common


def _nearest(numerator: int, denominator: int) -> int:
    """Return the nearest whole number, halves away from 0, so that the law stays symmetric."""
    size = (2 * abs(numerator) + denominator) // (2 * denominator)
    return size if numerator >= 0 else -size


def _adding_to_zero(noise: TwoSidedGeometric, entropy: Entropy, size: int) -> Exact:
    """Return independent noise given that it adds to 0: the last cell is what the others leave, kept with chance q^|it|."""
    while True:
        values = _sampled(noise, entropy, size)
        last = -int(values[:-1].sum())
        if _happens(entropy, Fraction(abs(last)) / noise.scale):
            values[-1] = last
            return values


def one_geometric(entropy: Entropy, rate: int) -> int:
    """Return one sample of P(z) ∝ exp(−|z|·rate/2^40) on the whole numbers, exactly.

    Every coordinate has a rate of its own, so the tables of `noise.sampler` would be made for a single sample each.
    Canonne, Kamath and Steinke (2020), Algorithm 2: X = U + tV has P(X = x) ∝ e^(−x/t) for U below t kept with chance
    e^(−U/t) and V the number of successes of chance e^−1; ⌊X/s⌋ falls by e^(−s/t) a step; a sign, and 0 only once.

    Args:
        entropy: where the random bits come from.
        rate: of the decay in units of 2^-40, at least 1.
    """
    spread = 1 << RATE_BITS
    while True:
        below = _word(entropy) >> (64 - RATE_BITS)
        if not _happens(entropy, Fraction(below, spread)):
            continue
        turns = 0
        while _happens(entropy, Fraction(1)):
            turns += 1
        size = (below + spread * turns) // rate
        negative = bool(_word(entropy) & 1)
        if size or not negative:
            return -size if negative else size


def _word(entropy: Entropy) -> int:
    word = np.empty(1, dtype=np.uint64)
    entropy.fill(word)
    return int(word[0])


def _happens(entropy: Entropy, exponent: Fraction) -> bool:
    """Return True with probability e^-exponent exactly: bits of U and of the chance until they part."""
    digits, bits = 0, 0
    while True:
        digits, bits = (digits << 64) | _word(entropy), bits + 64
        chance = exp_negative(Enclosure.of(exponent, bits + 16))
        if (digits + 1) << 16 <= chance.low:
            return True
        if digits << 16 >= chance.high:
            return False
