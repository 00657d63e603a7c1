"""The error of every answer under subspace privacy, before any run: variance, margins, squared error of the whole release.

Args:
    plan: noise of a release.
    conventions: of the margins.
    noise: of one coordinate.
    angles: ``float64[angles]``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

import numpy as np

from phexplore.accounting.subspace_noise import Conditioned, Contrasted, NoisePlan, Shaped, Spherical
from phexplore.accuracy.margins import NINETY_PERCENT, PAPER_Z, Margins, normal_factor
from phexplore.model.conventions import Conventions
from phexplore.noise.distributions import DiscreteGaussian, Noise, TwoSidedGeometric
from phexplore.workload.subspace.contrasts import contrasts
from phexplore.workload.subspace.exact import Rationals
from phexplore.workload.subspace.spaces import Floats

_LONGEST = 1 << 22
_SHORTENED = 1 << 19
"""Places of a law of Laplace noise; one that is longer is worked out on a coarser lattice."""
_DOUBT = 1e-9
_LATTICE_DOUBT = 1e-5
_GAUSSIAN_REACH = 9.0
_LAPLACE_REACH = 36.0


@dataclass(frozen=True, slots=True)
class AnswerClass:
    """Answers whose noise has the same distribution.

    Attributes:
        first: number of the first of them.
        answers: how many there are.
        unit_variance: Π_N's diagonal, exact: variance where the noise before projection has variance 1.
        variance: of the noise, people².
        margins: half-widths that hold the noise.
    """

    first: int
    answers: int
    unit_variance: Fraction
    variance: float
    margins: Margins


def expected_squared_error(plan: NoisePlan) -> float:
    """Return the sum over answers of the variance of the noise, people².

    For spherical noise it is (n − n_c)σ² (Corollaries 3.5, 3.6).
    """
    return (
        math.fsum(variances(plan).tolist())
        if not isinstance(plan.form, Spherical)
        else _spherical_error(plan, plan.form)
    )


def _spherical_error(plan: NoisePlan, form: Spherical) -> float:
    return (plan.space.size - plan.space.rank) * form.noise.variance() / plan.steps**2


def variances(plan: NoisePlan) -> Floats:
    """Return the variance of every answer's noise, ``float64[n]``, people²."""
    match plan.form:
        case Spherical(noise):
            return plan.space.unit_variances().values * (noise.variance() / plan.steps**2)
        case Contrasted():
            return _contrasted(plan, plan.form)
        case Shaped():
            return _shaped(plan, plan.form)
        case Conditioned(noise):
            return np.full(plan.space.size, _conditioned(noise, plan.space.size).variance)
        case _:
            assert_never(plan.form)


def _contrasted(plan: NoisePlan, form: Contrasted) -> Floats:
    found = np.zeros(plan.space.size)
    order = np.argsort(form.blocks, kind="stable")
    starts = np.flatnonzero(np.diff(form.blocks[order], prepend=-1))
    for cells in np.split(order, starts[1:]):
        basis = contrasts(len(cells), plan.release.basis)
        spread = [
            TwoSidedGeometric(1 / form.rates.rate(len(cells), row)).variance() / norm**2
            for row, norm in enumerate(basis.norms.tolist())
        ]
        found[cells] = (basis.vectors.astype(np.float64) ** 2).T @ np.array(spread)
    return found


def _shaped(plan: NoisePlan, form: Shaped) -> Floats:
    columns = [plan.space.project_floats(column) for column in form.factor.T.astype(np.float64)]
    shaped = (np.array(columns) ** 2).sum(axis=0) * form.inner.variance()
    return np.asarray((shaped + plan.space.unit_variances().values * form.outer.variance()) / plan.steps**2)


@dataclass(frozen=True, slots=True, eq=False)
class _Law:
    """A distribution on the multiples of `step` up to ± reach · step, symmetric.

    Attributes:
        probabilities: ``float64[2·reach + 1]``.
        step: whole numbers that are put together; 1 = the exact law.
    """

    probabilities: Floats
    step: int = 1

    @property
    def variance(self) -> float:
        reach = len(self.probabilities) // 2
        return float((np.arange(-reach, reach + 1) ** 2 * self.probabilities).sum()) * self.step**2

    def coverage(self, m: float) -> float:
        """Return the probability of at most m in size; where numbers are put together it is spread evenly over them."""
        reach, half = len(self.probabilities) // 2, 0.5 - 0.5 / self.step
        place = min(m / self.step, reach) - half  # from the middle of the outermost number to that of its group
        inside = math.floor(place)
        if inside < 0:
            return float(self.probabilities[reach]) * (1 + 2 * place)
        whole = float(self.probabilities[reach - inside : reach + inside + 1].sum())
        part = (place - inside) if self.step > 1 and inside < reach else 0.0
        return whole + part * 2 * float(self.probabilities[min(reach + inside + 1, 2 * reach)])


@lru_cache(maxsize=16)
def _conditioned(noise: TwoSidedGeometric, size: int) -> _Law:
    """Return the law of one of `size` independent noises given that they add to 0: p(x)·P(the others add to −x), normalised."""
    step = _step(_reach([(1, noise, size - 1)]))
    if step > 1:
        noise = TwoSidedGeometric(noise.scale / step)
    sums = _lattice_law([(1, noise, size - 1)])
    reach = len(sums) // 2
    own = np.exp(-np.abs(np.arange(-reach, reach + 1)) / float(noise.scale))
    joint = own * np.maximum(sums, 0)
    return _Law(joint / joint.sum(), step)


def _step(reach: int) -> int:
    """Return how many whole numbers are put together so that a law up to this reach is short enough to be worked out.

    The noise is then so wide that its law on the multiples of the step is that of the same noise, narrower by the step:
    both are the Laplace distribution to within a relative 1/(12·scale²).
    """
    return max(1, -(-2 * reach // _SHORTENED))


def answer_classes(plan: NoisePlan, conventions: Conventions) -> tuple[AnswerClass, ...]:
    """Return the answers by the distribution of their noise, with margins; the smallest variance first.

    Correlated and extended Laplace noise can differ in every answer: answers are put together where variances agree to
    nine digits, and their margins are those of normal noise.

    Args:
        plan: noise of the release.
        conventions: confidence and z of the scenario.
    """
    units = plan.space.unit_variances()
    match plan.form:
        case Spherical(noise):
            return tuple(
                AnswerClass(first, count, unit, float(unit) * noise.variance() / plan.steps**2, margins)
                for unit, count, first in units.kinds()
                for margins in [_spherical_margins(plan, noise, first, unit, conventions)]
            )
        case Conditioned(noise):
            law = _conditioned(noise, plan.space.size)
            margins = _margins(law.variance, law.coverage, conventions)
            return (AnswerClass(0, plan.space.size, units.at(0), law.variance, margins),)
        case Contrasted() | Shaped():
            return _by_variance(variances(plan), units, conventions)
        case _:
            assert_never(plan.form)


def _by_variance(found: Floats, units: Rationals, conventions: Conventions) -> tuple[AnswerClass, ...]:
    rounded = np.array([float(f"{value:.9e}") for value in found.tolist()])
    _, firsts, counts = np.unique(rounded, return_index=True, return_counts=True)
    return tuple(
        AnswerClass(
            first, count, units.at(first), float(found[first]), _normal_margins(float(found[first]), conventions)
        )
        for first, count in zip(firsts.tolist(), counts.tolist(), strict=True)
    )


def _spherical_margins(plan: NoisePlan, noise: Noise, answer: int, unit: Fraction, conventions: Conventions) -> Margins:
    variance = float(unit) * noise.variance() / plan.steps**2
    if unit == 0:
        return Margins(0, 0.0, 0 if conventions.confidence == NINETY_PERCENT else None)
    weights = plan.space.weights(answer)
    scale = math.lcm(*(weight.denominator for weight, _ in weights))
    parts = [(int(abs(weight) * scale), noise, count) for weight, count in weights]
    reach = _reach(parts)
    unit_steps = scale * plan.steps
    if isinstance(noise, TwoSidedGeometric):
        law = _geometric_law(parts, noise)
        doubt = _DOUBT if law.step == 1 else _LATTICE_DOUBT
        return _margins(variance, lambda m: law.coverage(m * unit_steps), conventions, doubt=doubt)
    if 2 * reach > _LONGEST:
        # On so fine a lattice the law is normal noise on a grid of 1/(scale·K) people.
        sigma = math.sqrt(variance)
        return _margins(variance, lambda m: math.erf(m / sigma / math.sqrt(2)), conventions, doubt=_LATTICE_DOUBT)
    law = _Law(_lattice_law(parts))
    return _margins(variance, lambda m: law.coverage(m * unit_steps), conventions)


def _geometric_law(parts: Sequence[tuple[int, Noise, int]], noise: TwoSidedGeometric) -> _Law:
    """Return the law of a weighted sum of Laplace noises, on a coarser lattice where it reaches too far."""
    step = _step(_reach(parts))
    if step == 1:
        return _Law(_lattice_law(parts))
    coarse = [(1, TwoSidedGeometric(weight * noise.scale / step), count) for weight, _, count in parts if weight]
    return _Law(_lattice_law(coarse), step)


def _margins(
    variance: float, coverage: Callable[[float], float], conventions: Conventions, *, doubt: float = _DOUBT
) -> Margins:
    """Return the margins; the whole one is the smallest whose coverage reaches the confidence beyond doubt.

    Where the coverage agrees with the confidence to within `doubt`, the wider one is taken.
    """
    confidence = float(conventions.confidence)
    low, high = -1, max(1, math.ceil(4 * math.sqrt(variance)))
    while coverage(high) - doubt < confidence:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if coverage(middle) - doubt >= confidence else (middle, high)
    normal = _normal_margins(variance, conventions)
    return Margins(high, normal.normal, normal.paper)


def _normal_margins(variance: float, conventions: Conventions) -> Margins:
    sigma = math.sqrt(variance)
    paper = math.floor(float(PAPER_Z) * sigma) if conventions.confidence == NINETY_PERCENT else None
    return Margins(None, float(normal_factor(conventions.confidence, conventions.z)) * sigma, paper)


def _reach(parts: Sequence[tuple[int, Noise, int]]) -> int:
    """Return how far a weighted sum of noises goes, but for less than 1e-13."""
    variance = math.fsum(weight**2 * noise.variance() * count for weight, noise, count in parts)
    tail = max(
        (weight * float(noise.scale) for weight, noise, _ in parts if isinstance(noise, TwoSidedGeometric)), default=0.0
    )
    return math.ceil(_GAUSSIAN_REACH * math.sqrt(variance) + _LAPLACE_REACH * tail) + 1


def _lattice_law(parts: Sequence[tuple[int, Noise, int]]) -> Floats:
    """Return P(Σ weight·noise = x) for |x| ≤ reach, by Fourier inversion of the product of characteristic functions."""
    reach = _reach(parts)
    length = 1 << (2 * reach + 1).bit_length()
    angles = 2 * np.pi * np.arange(length // 2 + 1) / length
    logarithm = np.zeros(len(angles))
    negative = np.zeros(len(angles), dtype=bool)
    for weight, noise, count in parts:
        value = characteristic(noise, angles * weight)
        with np.errstate(divide="ignore"):
            logarithm += count * np.log(np.abs(value))
        negative ^= (value < 0) & (count % 2 == 1)
    values = np.where(negative, -1.0, 1.0) * np.exp(logarithm)
    probabilities = np.fft.irfft(values, length)
    return np.concatenate([probabilities[length - reach :], probabilities[: reach + 1]])


def characteristic(noise: Noise, angles: Floats) -> Floats:
    """Return E cos(tX), ``float64[n]``.

    Args:
        noise: distribution of X.
        angles: ``angles[n]``, t.

    Raises:
        TypeError: a noise of another kind than those here.
    """
    match noise:
        case TwoSidedGeometric(scale):
            q = math.exp(-1 / float(scale))
            return np.asarray((1 - q) ** 2 / ((1 - q) ** 2 + 2 * q * (1 - np.cos(angles))), dtype=np.float64)
        case DiscreteGaussian(sigma2):
            return _theta(angles, float(sigma2)) / _theta(np.zeros(1), float(sigma2))
        case _:
            raise TypeError(f"no characteristic function is known for noise of the kind {type(noise).__name__}")


def _theta(angles: Floats, sigma2: float) -> Floats:
    """Return a multiple of Σ_x e^(−x²/2σ²) cos(tx); by Poisson summation Σ_j e^(−σ²(t − 2πj)²/2) where σ² is not small."""
    if sigma2 < 0.5:
        x = np.arange(1, 12)
        terms = np.exp(-(x**2) / (2 * sigma2))
        return np.asarray(1 + 2 * (np.cos(np.multiply.outer(angles, x)) * terms).sum(axis=-1), dtype=np.float64)
    turned = np.mod(angles + np.pi, 2 * np.pi) - np.pi
    return np.asarray(sum(np.exp(-sigma2 * (turned - 2 * np.pi * j) ** 2 / 2) for j in range(-3, 4)), dtype=np.float64)
