"""The noise of releases under subspace privacy: from one budget to exact distributions on whole numbers.

**Budget.** ε adds over releases (Proposition 2.9). A pure release gets its share of ε. The Gaussian ones together get what
their shares leave of ε, and all of δ; among themselves they split μ² in proportion to their shares, which composes exactly:
several Gaussian mechanisms with μ₁, μ₂, … have the curve of one with μ² = Σ μ_i² (Dong, Roth and Su 2022, Corollary 3.3).

**Lattice.** Noise is drawn on the multiples of 1/K, never as a float, so that projected noise is a fraction and invariants
hold to the last bit. Discrete Laplace noise spends exactly ε there. For Gaussian noise the lattice costs a little: discrete
Gaussian noise of parameter σ² + s²/K², s² ≥ 5, differs from continuous noise of variance σ², rounded at random, by a factor
of at most (1 + η)/(1 − η) in every probability,

    η ≤ (1 + 3q)^n − 1,   q = e^(−2π²s²) ≤ e^(−98),

because sums of e^(−(k−y)²/2s²) over the whole numbers hardly depend on y (Poisson summation). Below 10¹⁵ answers η < 2^-70, and
a handful of such factors, with ε and δ lowered by 2^-60 of their size, changes nothing. Where the noise is narrower than the
query's own sensitivity would ask for (extended and correlated mechanisms), what is cut away along the invariants must hide
as well: the multiples of 1/K times whole combinations of the rows B of the invariants are a lattice whose sums hardly depend
on the place either, if K²σ² ≥ 5·Λ with Λ at least the largest eigenvalue of B·Bᵀ. K is chosen to keep both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from phexplore.accounting.gaussian_calibration import delta_is_at_most, paper_constant, smallest_variance
from phexplore.errors import BudgetMismatchError, PhexploreError
from phexplore.model.subspace import Calibration, Histogram, Mechanism, Release, Subspace, Totals
from phexplore.noise.distributions import DiscreteGaussian, Noise, TwoSidedGeometric
from phexplore.text.messages import msg
from phexplore.workload.subspace.contrasts import ContrastRates, contrast_rates
from phexplore.workload.subspace.exact import Integers
from phexplore.workload.subspace.margin_space import MarginSpace
from phexplore.workload.subspace.releases import Sensitivity, common_denominator, null_space, sensitivity
from phexplore.workload.subspace.shapes import best_shape, differences, reach_bound
from phexplore.workload.subspace.spaces import NullSpace

SMOOTH = 5
"""s² of the module's text: the least variance, in steps, that hides where on the lattice a sum is taken."""

FINENESS = 1 << 20
"""The lattice adds at most this fraction of the variance of Gaussian noise."""

_SLACK = Fraction(1, 2**60)
_LARGEST_STEPS = 1 << 40
_SHAPE_SPREAD = 1 << 10
_SHAPE_REACH = 1 << 28
_MOST_CONDITIONED = 20_000


class NoisePlanError(PhexploreError):
    """A release whose noise cannot be made; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Spherical:
    """The same noise on every answer, then projected.

    Attributes:
        noise: of one answer before projection, in steps of 1/K.
    """

    noise: Noise


@dataclass(frozen=True, slots=True)
class Contrasted:
    """Noise of its own on every coordinate of a basis of what disjoint totals leave free.

    Attributes:
        rates: of the coordinates.
        blocks: ``int64[n]``, the total each cell is in.
    """

    rates: ContrastRates
    blocks: Integers


@dataclass(frozen=True, slots=True)
class Shaped:
    """Correlated noise: F·w + e, then projected; all in steps of 1/K.

    Attributes:
        factor: F, ``int64[n, r]``.
        inner: of each of the r numbers w.
        outer: of each answer's e, which makes every lattice point possible.
        approximation: at most how many times the least squared error of Gaussian noise this is.
    """

    factor: Integers
    inner: DiscreteGaussian
    outer: DiscreteGaussian
    approximation: float


@dataclass(frozen=True, slots=True)
class Conditioned:
    """Whole noise of each cell given that it adds to 0: the k-norm mechanism of one grand total.

    The polytope of the differences of two records is {v : Σv = 0, |v|₁ ≤ 2}, its norm |v|₁/2, and noise of density e^(−ε|v|₁/2)
    among the whole vectors that add to 0 is independent discrete Laplace noise of scale 2/ε under that condition.

    Attributes:
        noise: of one cell before the condition.
    """

    noise: TwoSidedGeometric


Form = Spherical | Contrasted | Shaped | Conditioned
"""How noise is drawn. A closed union: consumers match it to the end."""


@dataclass(frozen=True, slots=True, eq=False)
class NoisePlan:
    """The noise of one release.

    Attributes:
        name: of the release.
        release: its parameters.
        space: where its noise lives.
        sensitivity: of its query.
        epsilon: what a pure release spends; of a Gaussian one, what all Gaussian ones spend together.
        delta: of all Gaussian releases together, 0 for a pure one.
        squared_mu: μ² of a Gaussian release, None for a pure one.
        squared_sigma: σ² of the continuous Gaussian noise, people², before anything is rounded to the lattice.
        steps: K; noise is drawn in multiples of 1/K people.
        form: how it is drawn.
    """

    name: str
    release: Release
    space: NullSpace
    sensitivity: Sensitivity
    epsilon: Fraction
    delta: Fraction
    squared_mu: Fraction | None
    squared_sigma: Fraction | None
    steps: int
    form: Form


@lru_cache(maxsize=64)
def noise_plans(method: Subspace) -> tuple[NoisePlan, ...]:
    """Return the noise of every release.

    Raises:
        InvariantError: invariants cannot be kept or leave nothing to protect.
        NoisePlanError, CalibrationError: noise of this kind cannot be made.
    """
    return tuple(noise_plan(method, name) for name in method.releases)


@lru_cache(maxsize=64)
def noise_plan(method: Subspace, name: str) -> NoisePlan:
    """Return the noise of one release.

    Args:
        method: the scenario: its releases, their invariants, and (ε, δ).
        name: key of the release in `method.releases`.

    Raises:
        InvariantError: its invariants cannot be kept or leave nothing to protect.
        NoisePlanError, CalibrationError: noise of this kind cannot be made.
    """
    release = method.releases[name]
    space, reach = null_space(method, release), sensitivity(method, name)
    if reach.l1 == 0:
        raise NoisePlanError(
            msg("No answer of {name!r} distinguishes two records, so there is nothing to protect.", name=name),
            msg("Choose another query."),
        )
    if release.mechanism.is_gaussian:
        return _gaussian(method, name, space, reach)
    epsilon, common = method.epsilon * release.share, common_denominator(release.query)
    form: Form
    match release.mechanism:
        case Mechanism.EXTENDED_LAPLACE:
            form = _contrasted(release, space, epsilon)
        case Mechanism.K_NORM:
            form = _conditioned(release, space, epsilon)
        case _:
            form = Spherical(TwoSidedGeometric(reach.l1 * common / epsilon))
    return NoisePlan(name, release, space, reach, epsilon, Fraction(0), None, None, common, form)


def confirm_budget(method: Subspace, plans: Sequence[NoisePlan]) -> None:
    """Work out from the noise itself what it spends, and refuse it unless that is what was declared.

    Args:
        method: the scenario that declares (ε, δ).
        plans: the noise of every release, from `noise_plan`.

    Raises:
        BudgetMismatchError: it is not; nothing may be released.
    """
    pure = sum((_pure_loss(plan) for plan in plans if plan.squared_mu is None), Fraction(0))
    if pure + gaussian_budget(method) != method.epsilon:
        raise BudgetMismatchError(
            msg(
                "The noise uses ε = {pure}, and {gaussian} for Gaussian noise, but {declared} is declared.",
                pure=pure,
                gaussian=gaussian_budget(method),
                declared=method.epsilon,
            )
        )
    gaussian = sum((_squared_reach(plan) for plan in plans if plan.squared_mu is not None), Fraction(0))
    if gaussian and not delta_is_at_most(gaussian_budget(method), 1 / gaussian, method.delta):
        raise BudgetMismatchError(
            msg(
                "The Gaussian noise does not satisfy δ = {delta} at ε = {epsilon}.",
                delta=method.delta,
                epsilon=gaussian_budget(method),
            )
        )


def _pure_loss(plan: NoisePlan) -> Fraction:
    """Return the ε of a pure release by its noise."""
    match plan.form:
        case Spherical(TwoSidedGeometric(scale)):
            return plan.sensitivity.l1 * plan.steps / scale
        case Conditioned(noise):
            # A difference of two records moves two cells by one each; its norm |v|₁/2 is 1.
            return 2 / noise.scale
        case Contrasted():
            return plan.epsilon  # proven when the rates were made
        case _:
            raise BudgetMismatchError(
                msg("The noise of {name!r} does not satisfy pure differential privacy.", name=plan.name)
            )


def _squared_reach(plan: NoisePlan) -> Fraction:
    """Return μ² of a Gaussian release by its noise, what hides the lattice left out."""
    match plan.form:
        case Spherical(DiscreteGaussian(sigma2)):
            extended = plan.release.mechanism is Mechanism.EXTENDED_GAUSSIAN
            squared = plan.sensitivity.squared_projected if extended else plan.sensitivity.squared_l2
            return squared * plan.steps**2 / (sigma2 - SMOOTH)
        case Shaped() if plan.squared_mu is not None:
            return plan.squared_mu  # proven when the shape was made
        case _:
            raise BudgetMismatchError(msg("The noise of {name!r} is not Gaussian.", name=plan.name))


def gaussian_budget(method: Subspace) -> Fraction:
    """Return ε of all Gaussian releases together."""
    shares = [release.share for release in method.releases.values() if release.mechanism.is_gaussian]
    return method.epsilon * sum(shares, Fraction(0))


def squared_mu(method: Subspace, release: Release) -> Fraction:
    """Return μ² of a Gaussian release under the scenario's calibration, rounded down.

    Args:
        method: the scenario: its calibration, (ε, δ), and the shares of its Gaussian releases.
        release: the Gaussian release, one of `method.releases`.

    Raises:
        CalibrationError: ε or δ is out of range.
        NoisePlanError: the paper's constant is asked for where it does not keep (ε, δ).
    """
    shares = [each.share for each in method.releases.values() if each.mechanism.is_gaussian]
    epsilon = gaussian_budget(method)
    v = smallest_variance(epsilon * (1 - _SLACK), method.delta * (1 - _SLACK))
    if method.calibration is Calibration.PAPER:
        printed = paper_constant(epsilon, method.delta)
        if printed.v < v:
            raise NoisePlanError(
                msg(
                    "The constant printed in the paper does not satisfy (ε, δ) = ({epsilon:g}, {delta:g}): its noise has {factor:.3g} times that δ.",
                    epsilon=float(epsilon),
                    delta=float(method.delta),
                    factor=printed.factor,
                ),
                msg("Choose the exact calibration."),
            )
        v = printed.v
    return release.share / sum(shares, Fraction(0)) / v


def _gaussian(method: Subspace, name: str, space: NullSpace, reach: Sensitivity) -> NoisePlan:
    release = method.releases[name]
    mu2 = squared_mu(method, release)
    common = common_denominator(release.query)
    epsilon = gaussian_budget(method)
    if release.mechanism is Mechanism.CORRELATED_GAUSSIAN:
        steps, form = _shaped(method, name, space, mu2, common)
        return NoisePlan(name, release, space, reach, epsilon, method.delta, mu2, None, steps, form)
    extended = release.mechanism is Mechanism.EXTENDED_GAUSSIAN
    squared = (reach.squared_projected if extended else reach.squared_l2) / mu2
    if squared == 0:
        raise NoisePlanError(
            msg("The invariants of {name!r} publish everything in its answers, so no noise remains.", name=name),
            msg("Remove an invariant."),
        )
    least = max(SMOOTH * FINENESS, SMOOTH * space.row_norm_bound() if extended else 0)
    steps = _steps(least / squared, common)
    sigma2 = squared * steps**2 + SMOOTH
    return NoisePlan(
        name, release, space, reach, epsilon, method.delta, mu2, squared, steps, Spherical(DiscreteGaussian(sigma2))
    )


def _steps(least_squared: Fraction, common: int) -> int:
    """Return the smallest common × 2^k whose square is at least this.

    Raises:
        NoisePlanError: the noise is too narrow for any lattice here.
    """
    steps = common
    while steps * steps < least_squared:
        steps *= 2
        if steps > _LARGEST_STEPS:
            raise NoisePlanError(
                msg("The noise of this budget is too narrow."), msg("Choose a smaller ε or a larger δ.")
            )
    return steps


def _contrasted(release: Release, space: NullSpace, epsilon: Fraction) -> Contrasted:
    if not isinstance(space, MarginSpace) or not space.is_one_partition:
        raise NoisePlanError(
            msg(
                "The extended Laplace mechanism requires a histogram with disjoint totals (one of the invariants implies all others)."
            ),
            msg("Choose the projected Laplace mechanism, whose error is also smaller."),
        )
    blocks = space.finest_blocks()
    return Contrasted(contrast_rates(np.bincount(blocks).tolist(), release.basis, epsilon), blocks)


def _conditioned(release: Release, space: NullSpace, epsilon: Fraction) -> Conditioned:
    if not isinstance(release.query, Histogram) or release.invariants != (Totals(),):
        raise NoisePlanError(
            msg(
                "The k-norm mechanism is sampled exactly only for a histogram whose grand total is its only invariant. For other invariants, the paper sketches an approximate sampler."
            ),
            msg("Use the grand total as the only invariant, or choose the projected Laplace mechanism."),
        )
    if space.size > _MOST_CONDITIONED:
        raise NoisePlanError(
            msg(
                "Noise of {size:,} cells that adds to 0 is sampled by rejection, which is too slow above {limit:,} cells.",
                size=space.size,
                limit=_MOST_CONDITIONED,
            ),
            msg("Choose the projected Laplace mechanism."),
        )
    return Conditioned(TwoSidedGeometric(2 / epsilon))


def _shaped(method: Subspace, name: str, space: NullSpace, mu2: Fraction, common: int) -> tuple[int, Shaped]:
    """Return F·w + e: w of spread 1024, F whole, e just wide enough to hide the lattice of F and that of the invariants."""
    shape = best_shape(method, name)
    found = differences(method, name)
    v = 1 / float(mu2)
    # Room for what the proof of the reach gives away.
    real = shape.factor * math.sqrt(v * (1 + 1e-3))
    widest = float(np.linalg.norm(real, 2))
    steps = _steps(max(_SHAPE_REACH**2, 64 * FINENESS * space.row_norm_bound()) / Fraction(widest**2), common)
    factor = np.rint(real * steps / _SHAPE_SPREAD).astype(np.int64)
    inner = DiscreteGaussian(Fraction(_SHAPE_SPREAD**2))
    gram = np.abs(factor.astype(object).T.dot(factor.astype(object)))
    norm = int(gram.sum(axis=1).max())
    # Half of e counts as continuous noise, half hides the lattice: 10 = 2·SMOOTH for each of the two sums it is in.
    half = 2 * SMOOTH * max(norm, space.row_norm_bound(), 1)
    reached = reach_bound(factor, half / _SHAPE_SPREAD**2, found) / _SHAPE_SPREAD**2
    if Fraction(reached) * steps**2 > mu2:
        raise NoisePlanError(
            msg("The program cannot prove that this shape of the noise satisfies the budget."),
            msg("Choose the extended Gaussian mechanism."),
        )
    outer = DiscreteGaussian(Fraction(2 * half))
    return steps, Shaped(factor, inner, outer, shape.approximation)
