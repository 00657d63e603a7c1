"""Everything that can be said about releases under subspace privacy before any run: errors, budget, what is not protected.

Args:
    method: the parameters.
    conventions: of the margins.
    scenario: to judge.
    reference: what it is compared with, None for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from phexplore.accounting.gaussian_calibration import PaperConstant, paper_constant
from phexplore.accounting.subspace_noise import Contrasted, NoisePlan, Shaped, gaussian_budget, noise_plan
from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.absurd_values import total_warnings
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA, EpsilonFigure
from phexplore.errors import PhexploreError
from phexplore.model.conventions import Conventions, Conversion, Neighbours
from phexplore.model.issues import Issue
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import Toward, percent
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import (
    Basis,
    Histogram,
    Invariant,
    LinearCount,
    LinearQuery,
    Mechanism,
    Release,
    Subspace,
    Totals,
)
from phexplore.systems.protocol import Entry, Forecast, Loss
from phexplore.systems.subspace.errors import AnswerClass, answer_classes, expected_squared_error
from phexplore.workload.subspace.matrix_space import MatrixSpace
from phexplore.workload.subspace.releases import expand, null_space
from phexplore.workload.subspace.shapes import MOST_ANSWERS
from phexplore.workload.subspace.spaces import InvariantError

MOST_COMPARED = 2000
"""Answers up to which the extended Laplace mechanism is worked out beside the chosen one."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """What another mechanism would give on the same release and budget.

    Attributes:
        mechanism: which one.
        basis: of the extended Laplace mechanism, else None.
        squared_error: expected, people²; None where it cannot be used.
        why_not: the reason then, "" otherwise.
    """

    mechanism: Mechanism
    basis: Basis | None
    squared_error: float | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Approximation:
    """How far a mechanism may be from the best one.

    Attributes:
        factor: at most this many times the least squared error of its kind; None where no number is known.
        words: what it is compared with.
    """

    factor: float | None
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseForecast:
    """What is known about one release.

    Attributes:
        plan: its noise.
        classes: its answers by the distribution of their noise.
        squared_error: expected sum of squared errors, people².
        approximation: how far from the best.
        explanation: where its sensitivity comes from, in sentences.
    """

    plan: NoisePlan
    classes: tuple[AnswerClass, ...]
    squared_error: float
    approximation: Approximation
    explanation: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What the invariants of all releases together publish of the counts.

    Attributes:
        rank: independent sums of cells published exactly; None when it is too large to be worked out.
        determined: cells whose exact count follows from them; None likewise.
        cells: of the histogram.
    """

    rank: int | None
    determined: int | None
    cells: int


@dataclass(frozen=True, slots=True, eq=False)
class SubspaceForecast:
    """All analytic figures of releases under subspace privacy.

    Attributes:
        conventions: what the figures mean.
        epsilon: ε of everything together, exact, under replace-one neighbours.
        delta: δ of everything together, exact.
        epsilons: the same as figures.
        releases: one by one.
        disclosure: what is published exactly.
        protected: what the figures promise, in sentences.
        not_protected: what they do not.
        paper: what the paper's constant would give, None without Gaussian noise.
    """

    conventions: Conventions
    epsilon: Fraction
    delta: Fraction
    epsilons: tuple[EpsilonFigure, ...]
    releases: tuple[ReleaseForecast, ...]
    disclosure: Disclosure
    protected: tuple[str, ...]
    not_protected: tuple[str, ...]
    paper: PaperConstant | None


@lru_cache(maxsize=32)
def forecast_subspace(method: Subspace, conventions: Conventions) -> SubspaceForecast:
    """Return all analytic figures.

    Args:
        method: the parameters.
        conventions: of margins, conversion and rounding.

    Raises:
        InvariantError: invariants cannot be kept or leave nothing to protect.
        NoisePlanError, CalibrationError: a release's noise cannot be made.
    """
    releases = tuple(_release(method, name, conventions) for name in method.releases)
    disclosure = disclosed(method)
    return SubspaceForecast(
        conventions=conventions,
        epsilon=method.epsilon,
        delta=method.delta,
        epsilons=_epsilons(method, releases),
        releases=releases,
        disclosure=disclosure,
        protected=_protected(method, releases),
        not_protected=_not_protected(releases, disclosure),
        paper=paper_constant(gaussian_budget(method), method.delta) if gaussian_budget(method) else None,
    )


def _epsilons(method: Subspace, releases: Sequence[ReleaseForecast]) -> tuple[EpsilonFigure, ...]:
    """Return ε at the δ of the scenario and at the headline δ, which pure releases keep at any δ."""
    stated = EpsilonFigure(None, Neighbours.BOUNDED, None, method.delta, _rounded_up(method.epsilon))
    if method.delta == HEADLINE_DELTA:
        return (stated,)
    gaussian = sum((each.plan.squared_mu for each in releases if each.plan.squared_mu is not None), Fraction(0))
    if not gaussian:
        return stated, replace(stated, delta=HEADLINE_DELTA)
    # ε adds over pure releases and the curve of all Gaussian ones together, whose ρ is Σμ²/2.
    rho, conversion = gaussian / 2, Conversion.GAUSSIAN_CONTINUOUS
    value = _rounded_up(method.epsilon - gaussian_budget(method)) + epsilon(rho, HEADLINE_DELTA, conversion)
    return stated, EpsilonFigure(conversion, Neighbours.BOUNDED, rho, HEADLINE_DELTA, value * (1 + 2**-50))


def _rounded_up(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(repr(near)) >= value else near * (1 + 2**-52)


def _release(method: Subspace, name: str, conventions: Conventions) -> ReleaseForecast:
    plan = noise_plan(method, name)
    return ReleaseForecast(
        plan, answer_classes(plan, conventions), expected_squared_error(plan), _approximation(plan), _explained(plan)
    )


def _approximation(plan: NoisePlan) -> Approximation:
    if isinstance(plan.form, Shaped):
        return Approximation(
            plan.form.approximation,
            "of the least squared error any Gaussian noise can have; within O(log²(n − n_c) log 1/δ) of every mechanism "
            "(Theorem 3.11)",
        )
    if plan.release.mechanism.is_gaussian and isinstance(plan.release.query, Histogram):
        return Approximation(_gaussian_factor(plan), "of the least squared error any Gaussian noise can have")
    match plan.release.mechanism:
        case Mechanism.K_NORM:
            words = "within O(log²(n − n_c)) of every pure mechanism after the recursion of Bhaskara et al. (2012), not used here"
        case Mechanism.EXTENDED_GAUSSIAN | Mechanism.PROJECTED_GAUSSIAN:
            words = "how close this is to the least possible error is not known in general; the correlated Gaussian mechanism works one out for up to "
            words += f"{MOST_ANSWERS} answers"
        case _:
            words = "how close this is to the least possible error is not known"
    return Approximation(None, words)


def _gaussian_factor(plan: NoisePlan) -> float:
    """Return a bound of the error of spherical noise on a histogram over the least of any Gaussian noise.

    All pairs of cells with equal weights bound the least error at μ = 1 from below by (tr M^½)²
    (`workload.subspace.shapes`), M = 2/(n − 1)·(Π_N − Π_N 11ᵀ Π_N / n): eigenvalue 2/(n − 1) on N, times 1 − |Π_N 1|²/n
    along Π_N 1.
    """
    space, reach = plan.space, plan.sensitivity
    size, free = space.size, space.size - space.rank
    along = float((space.project_floats(np.ones(size)) ** 2).sum()) / size
    roots = free if along < 1e-9 else free - 1 + math.sqrt(max(0.0, 1 - along))
    squared = reach.squared_projected if plan.release.mechanism is Mechanism.EXTENDED_GAUSSIAN else reach.squared_l2
    return float(squared) * free * (size - 1) / (2 * roots * roots)


def _explained(plan: NoisePlan) -> tuple[str, ...]:
    reach = plan.sensitivity
    bound = "" if reach.is_exact else " (a bound: there are too many kinds of records to try all pairs)"
    if isinstance(plan.release.query, Histogram):
        first = "Neighbours replace one record: one cell loses one and another gains one, so Δ₁ = 2 and Δ₂ = √2."
    else:
        first = (
            f"Neighbours replace one record; over all pairs of records the answers move by at most Δ₁ = {exact_text(reach.l1)} "
            f"and Δ₂ = √({exact_text(reach.squared_l2)}){bound}."
        )
    saved = 1 - reach.squared_projected / reach.squared_l2
    second = (
        f"In the null space of the invariants Δ₂ is √({exact_text(reach.squared_projected)})"
        f"{bound if isinstance(plan.release.query, LinearQuery) else ''}: "
        + (
            f"extending instead of projecting saves {percent(saved, toward=Toward.DOWN)} of the squared error of Gaussian noise."
            if saved
            else "some replacements change no invariant, so extending saves nothing over projecting."
        )
    )
    if not isinstance(plan.form, Contrasted):
        return first, second
    third = (
        f"On the basis “{plan.release.basis.value}” Δ₁ of the coordinates is {plan.form.rates.delta_1:.4f}: Laplace noise is "
        "not round, so the error depends on the basis."
    )
    return first, second, third


def alternatives(method: Subspace, name: str, *, shaped: bool = False) -> tuple[Alternative, ...]:
    """Return what every mechanism would give on the same release and budget.

    Args:
        method: all parameters.
        name: of the release.
        shaped: whether correlated noise is worked out as well, which takes seconds.
    """
    found = []
    for mechanism in Mechanism:
        if mechanism is Mechanism.CORRELATED_GAUSSIAN and not shaped:
            continue
        bases = tuple(Basis) if mechanism is Mechanism.EXTENDED_LAPLACE else (None,)
        found += [_alternative(method, name, mechanism, basis) for basis in bases]
    return tuple(found)


def _alternative(method: Subspace, name: str, mechanism: Mechanism, basis: Basis | None) -> Alternative:
    release = method.releases[name]
    if method.answers(release) > MOST_COMPARED and mechanism is Mechanism.EXTENDED_LAPLACE:
        return Alternative(mechanism, basis, None, f"not worked out beyond {MOST_COMPARED:,} answers")
    if mechanism.is_gaussian and method.delta == 0:
        return Alternative(mechanism, basis, None, "Gaussian noise needs a δ above 0")
    other = replace(release, mechanism=mechanism, basis=basis or release.basis)
    # Beside the other releases: Gaussian ones together have more than each has of its share alone.
    changed = replace(method, releases={**method.releases, name: other})
    try:
        return Alternative(mechanism, basis, expected_squared_error(noise_plan(changed, name)))
    except PhexploreError as error:
        return Alternative(mechanism, basis, None, error.sentence)


@lru_cache(maxsize=32)
def disclosed(method: Subspace) -> Disclosure:
    """Return what the invariants of all releases together publish: composing them can tell more than each alone.

    Proposition 2.9 speaks of the answers of each release; about the counts behind them, exact sums of several releases
    add up like tables in a linkage attack (§2.3).
    """
    cells = method.cells
    joint = [row for release in method.releases.values() for row in _on_cells(release)]
    if not joint:
        return Disclosure(0, 0, cells)
    try:
        totals = tuple(each for each in joint if isinstance(each, Totals))
        if len(totals) == len(joint):
            space = null_space(method, Release(Histogram(), tuple(dict.fromkeys(totals)), Mechanism.PROJECTED_LAPLACE))
        else:
            rows = [r for each in joint for r in (expand(method.axes, each) if isinstance(each, Totals) else [each])]
            space = MatrixSpace(cells, rows)
    except InvariantError as error:
        if "fix all" in error.sentence:
            return Disclosure(cells, cells, cells)
        return Disclosure(None, None, cells)
    return Disclosure(space.rank, space.determined(), cells)


def _on_cells(release: Release) -> list[Invariant]:
    """Return the invariants of a release as sums of cells."""
    if isinstance(release.query, Histogram):
        return list(release.invariants)
    found: list[Invariant] = []
    for invariant in release.invariants:
        if not isinstance(invariant, LinearCount):
            continue
        total: dict[int, Fraction] = {}
        for answer, weight in invariant.coefficients:
            for cell, own in release.query.answers[answer].coefficients:
                total[cell] = total.get(cell, Fraction(0)) + weight * own
        kept = tuple((cell, weight) for cell, weight in sorted(total.items()) if weight)
        if kept:  # a sum that is 0 whatever the counts are publishes nothing
            found.append(LinearCount(invariant.name, kept))
    return found


def _protected(method: Subspace, releases: Sequence[ReleaseForecast]) -> tuple[str, ...]:
    budget = f"ε = {exact_text(method.epsilon)}" + (f", δ = {exact_text(method.delta)}" if method.delta else "")
    sentences = []
    for each in releases:
        space = each.plan.space
        sentences.append(
            f"{each.plan.name}: what its {space.size:,} answers tell beyond the invariants, "
            f"{space.size - space.rank:,} of {space.size:,} dimensions, is protected within {budget} when one record is "
            "replaced by another."
        )
    if len(releases) > 1:
        sentences.append(
            f"Together the {len(releases)} releases spend {budget}; what is protected is the null space of all of them side by "
            "side (Proposition 2.9), and every part of it (Proposition 2.7)."
        )
    return tuple(sentences)


def _worded(invariant: Invariant) -> str:
    if isinstance(invariant, Totals):
        return f"every {invariant}" if invariant.by else f"the {invariant}"
    return f"the sum {invariant}"


def _not_protected(releases: Sequence[ReleaseForecast], disclosure: Disclosure) -> tuple[str, ...]:
    sentences = []
    for each in releases:
        exact = "; ".join(map(_worded, each.plan.release.invariants))
        if exact:
            sentences.append(
                f"{each.plan.name}: {exact} is published exactly (independent sums: {each.plan.space.rank:,}), and so is "
                "everything that can be computed from them. No ε or δ describes that: replacing a record so that these sums change "
                "is visible in what is published."
            )
    if disclosure.determined:
        sentences.append(
            f"From the exact sums alone the true count of {disclosure.determined:,} of {disclosure.cells:,} cells follows."
        )
    elif disclosure.determined is None:
        sentences.append(
            "Whether the exact sums of all releases together determine single cells was too large to work out."
        )
    return tuple(sentences)


def loss(scenario: Scenario) -> Loss:
    """Return (ε, δ) of all releases together when one record is replaced."""
    method = scenario.subspace
    stated = None
    if method.delta:
        figures = forecast_subspace(method, scenario.conventions).epsilons
        stated = next(figure.value for figure in figures if figure.delta == HEADLINE_DELTA)
    return Loss(PrivacyFramework.PURE_DP, method.epsilon, Neighbours.BOUNDED, method.delta, stated)


def forecast(scenario: Scenario) -> Forecast:
    """Return all figures; entries are the narrowest and the widest answer of every release."""
    detail = forecast_subspace(scenario.subspace, scenario.conventions)
    entries = tuple(entry for release in detail.releases for entry in _ends(release, scenario))
    return Forecast(loss(scenario), entries, detail.protected, detail.not_protected, detail, detail.epsilons)


def _ends(release: ReleaseForecast, scenario: Scenario) -> Iterator[Entry]:
    name, convention = release.plan.name, scenario.conventions.margin
    budget = scenario.subspace.epsilon * scenario.subspace.releases[name].share
    by_margin = sorted(release.classes, key=lambda kind: kind.margins.by(convention))
    yield Entry(name, "widest", name, budget, by_margin[-1].margins, name_first=True)
    yield Entry(name, "narrowest", name, None, by_margin[0].margins, name_first=True)


def absurd_values(scenario: Scenario, reference: Scenario | None) -> Iterator[Issue]:
    """Yield a warning when the total is far from the reference's.

    Args:
        scenario: to look at.
        reference: to compare it with, None for none.
    """
    if reference is not None and loss(reference).framework is loss(scenario).framework:
        yield from total_warnings(scenario.subspace.epsilon, reference.subspace.epsilon)
