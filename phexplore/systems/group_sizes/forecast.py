"""Everything that can be said about a release of group sizes before any run: noise, margins, privacy loss, and its meaning.

Margins are those of the noisy answers. Post-processing (consistency, whole numbers) has no closed formula: it makes most
errors smaller, and biased where counts are near 0; a run shows them.

Args:
    method: the parameters.
    conventions: of the margins.
    scenario: to judge.
    reference: what it is compared with, None for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from phexplore.accounting.composition import Part
from phexplore.accounting.group_sizes_noise import LevelNoise, level_noises
from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.absurd_values import total_warnings
from phexplore.accuracy.margins import Margins, margins_of
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA, EpsilonFigure
from phexplore.model.conventions import Conventions, Conversion, Neighbours
from phexplore.model.group_sizes import GroupSizes, SizeMechanism
from phexplore.model.issues import Issue
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import DiscreteGaussian
from phexplore.systems.protocol import Entry, Forecast, Loss


@dataclass(frozen=True, slots=True)
class LevelForecast:
    """What is known about the answers of one level.

    Attributes:
        level: its name.
        regions: how many it has.
        answers: measured at it: regions times sizes.
        share: of the total, exact.
        budget: ε or ρ, exact.
        noise: of one answer, with its sensitivity.
        sigma: standard deviation of one answer.
        answer_margins: of one answer: groups of one size, or of at most one size.
        size_margins: of the number of groups of one size as the answers give it, before post-processing.
    """

    level: str
    regions: int
    answers: int
    share: Fraction
    budget: Fraction
    noise: LevelNoise
    sigma: float
    answer_margins: Margins
    size_margins: Margins


@dataclass(frozen=True, slots=True)
class GroupSizesForecast:
    """All analytic figures of a release of group sizes.

    Attributes:
        conventions: what the figures mean.
        framework: pure DP or zCDP.
        total: ε or ρ, exact.
        epsilons: as (ε, δ) figures.
        levels: widest first.
        protected: what the figures promise, in sentences.
        not_protected: what they do not.
        published_chain_total: what the paper's own noise on the chain would cost at this budget; None for other mechanisms.
    """

    conventions: Conventions
    framework: PrivacyFramework
    total: Fraction
    epsilons: tuple[EpsilonFigure, ...]
    levels: tuple[LevelForecast, ...]
    protected: tuple[str, ...]
    not_protected: tuple[str, ...]
    published_chain_total: Fraction | None


def forecast_group_sizes(method: GroupSizes, conventions: Conventions) -> GroupSizesForecast:
    """Return all analytic figures.

    Raises:
        BudgetMismatchError: the shares do not add up.
        NoiseOutOfRangeError: noise that no count needs.
    """
    return GroupSizesForecast(
        conventions,
        method.framework,
        method.total,
        _epsilons(method, conventions),
        tuple(_level(method, place, noise, conventions) for place, noise in enumerate(level_noises(method))),
        _protected(method),
        _not_protected(method),
        published_chain_total(method) if method.mechanism is SizeMechanism.CHAIN else None,
    )


def _level(method: GroupSizes, place: int, noise: LevelNoise, conventions: Conventions) -> LevelForecast:
    level, regions = method.levels[place], method.regions[place]
    one = margins_of(noise.noise, 1, conventions.confidence, conventions.z)
    # A size is the difference of two cumulative answers; size 1 of one alone.
    size = (
        one if not method.mechanism.is_cumulative else margins_of(noise.noise, 2, conventions.confidence, conventions.z)
    )
    return LevelForecast(
        level,
        regions,
        regions * method.largest,
        method.level_shares[level],
        method.budget(level),
        noise,
        noise.noise.variance() ** 0.5,
        one,
        size,
    )


def published_chain_total(method: GroupSizes) -> Fraction:
    """Return what noise calibrated as the paper calibrates its chain costs in truth: Σ regions × the level's budget."""
    parts = zip(method.levels, method.regions, strict=True)
    return sum((regions * method.budget(level) for level, regions in parts), Fraction(0))


def _epsilons(method: GroupSizes, conventions: Conventions) -> tuple[EpsilonFigure, ...]:
    deltas = sorted({HEADLINE_DELTA, conventions.delta})
    if method.framework is PrivacyFramework.PURE_DP:
        # ε holds at every δ.
        return tuple(
            EpsilonFigure(None, Neighbours.UNBOUNDED, None, delta, float(method.total))
            for delta in (Fraction(0), *deltas)
        )
    return tuple(
        EpsilonFigure(conversion, Neighbours.UNBOUNDED, method.total, delta, epsilon(method.total, delta, conversion))
        for delta in deltas
        for conversion in Conversion
    )


def _protected(method: GroupSizes) -> tuple[str, ...]:
    budget = f"{method.framework.symbol} = {exact_text(method.total)}"
    most = (
        "one individual more or less"
        if method.largest_quantity == 1
        else f"one individual more or less, who adds up to {method.largest_quantity:,} to its size"
    )
    return (
        f"Whether a group has {most} is protected within {budget}, over all levels and sizes together.",
        "Only the sizes of groups are used, nothing about their members.",
    )


def _not_protected(method: GroupSizes) -> tuple[str, ...]:
    groups = (
        f"The number of all groups is published exactly, and so are the regions and the largest size {method.largest:,}. "
        "Whether a group exists at all is therefore not protected: an individual who is a group alone is protected as a "
        "member of it, not as a group more or less."
    )
    pure = method.framework is PrivacyFramework.PURE_DP
    cost = f"ε = {exact_text(2 * method.total)}" if pure else f"ρ = {exact_text(4 * method.total)}"
    return groups, f"Moving one individual from one group to another is two such steps: {cost}."


def loss(scenario: Scenario) -> Loss:
    """Return the loss when one individual of a group is added or removed."""
    return Loss(scenario.group_sizes.framework, scenario.group_sizes.total, Neighbours.UNBOUNDED)


def forecast(scenario: Scenario) -> Forecast:
    """Return all figures; entries are levels, with the margin of the number of groups of one size."""
    detail = forecast_group_sizes(scenario.group_sizes, scenario.conventions)
    entries = tuple(Entry(e.level, e.level, "one size", e.budget, e.size_margins) for e in detail.levels)
    noise = {
        Neighbours.UNBOUNDED: tuple(
            Part(each.noise.noise.sigma2, 1, each.noise.sensitivity)
            for each in detail.levels
            if isinstance(each.noise.noise, DiscreteGaussian)
        )
    }
    return Forecast(loss(scenario), entries, detail.protected, detail.not_protected, detail, detail.epsilons, noise)


def absurd_values(scenario: Scenario, reference: Scenario | None) -> Iterator[Issue]:
    """Yield a warning when the total is far from the reference's."""
    if reference is not None and loss(reference).framework is loss(scenario).framework:
        yield from total_warnings(scenario.group_sizes.total, reference.group_sizes.total)
