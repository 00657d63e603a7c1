"""Everything that can be said about TopDown parameters before any run: noise, margins and privacy loss."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.margins import Margins, margins_of
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA, EpsilonFigure
from phexplore.model.conventions import Conventions, Conversion, Neighbours
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.noise.distributions import DiscreteGaussian, Noise, TwoSidedGeometric
from phexplore.workload.queries import MarginalQuery, parse_query
from phexplore.workload.schema import load_schema

SENSITIVITY_SQUARED = 2
"""Replacing one record moves two answers of a query group by one each: squared L2 norm 2, L1 norm 2."""

WITHOUT_BLOCKS = (
    "Without blocks nothing is known of a spine but its rule. The margins listed are those of one noisy answer of a unit that has its "
    "level's budget: a unit that was bypassed has more, one that copies its parent none of its own, and estimates join the "
    "measurements of all levels. Every path from the root to a block carries the same ρ on every spine; the proven ε differs a little "
    "where units gave budgets away. Name blocks (--data) for the exact margins of units and areas on this spine."
)
"""What every forecast without blocks says of the spine."""


@dataclass(frozen=True, slots=True)
class LevelQueryForecast:
    """What is known about one query group at one level.

    Attributes:
        key: level and query.
        cells: answers in one geographic unit.
        share: of the level's budget, exact.
        share_of_total: of the whole budget, exact.
        budget: ρ (or ε under pure DP), exact.
        sigma2: σ² of the discrete Gaussian, exact (1/ρ); the variance's exact parameter does not exist under pure DP: None.
        noise: distribution of one answer; None when the budget is 0.
        sigma: scale in people, None when the budget is 0.
        margins: of one answer.
    """

    key: LevelQuery
    cells: int
    share: Fraction
    share_of_total: Fraction
    budget: Fraction
    sigma2: Fraction | None
    noise: Noise | None
    sigma: float | None
    margins: Margins | None


@dataclass(frozen=True, slots=True)
class SemanticLoss:
    """The loss that protects one attribute, or where in a unit somebody lives.

    Attributes:
        name: the attribute, or the level X of "block within X".
        rho: sum over the queries that count, exact; ε under pure DP.
        epsilon: at δ = 1e-10 by the certificates' conversion; equal to `rho` under pure DP.
    """

    name: str
    rho: Fraction
    epsilon: float


@dataclass(frozen=True, slots=True)
class TopDownForecast:
    """All analytic figures of TopDown parameters.

    Attributes:
        conventions: what the figures mean.
        framework: zCDP or pure DP.
        total: ρ or ε, exact, under replace-one neighbours.
        epsilons: (ε, δ) figures of the total.
        entries: one per level and query group, top down.
        attributes: loss per attribute (the queries that tell two of its levels apart).
        block_within: loss of all levels strictly below X, from the narrowest X to the widest.
    """

    conventions: Conventions
    framework: PrivacyFramework
    total: Fraction
    epsilons: tuple[EpsilonFigure, ...]
    entries: tuple[LevelQueryForecast, ...]
    attributes: tuple[SemanticLoss, ...]
    block_within: tuple[SemanticLoss, ...]


@lru_cache(maxsize=4096)
def query_of(schema: str, name: str) -> MarginalQuery:
    """Return the query group of this name, read once.

    Args:
        schema: id.
        name: of the query group.
    """
    return parse_query(load_schema(schema), name)


def forecast_topdown(method: TopDown, conventions: Conventions) -> TopDownForecast:
    """Return all analytic figures; unchanged query groups come from a cache keyed by value.

    The figures of the parameters last asked for are kept: the edit, the table, tiles and pictures ask for the same ones.

    Args:
        method: the parameters.
        conventions: what margins mean.

    Raises:
        PhexploreError: the schema or a query is unknown.
    """
    for asked, agreed, figures in tuple(_RECENT):
        if asked is method and agreed is conventions:
            return figures
    entries = _entries(method, conventions)
    figures = TopDownForecast(
        conventions,
        method.framework,
        method.total,
        _epsilons(method.framework, method.total, conventions),
        entries,
        _per_attribute(method, entries),
        _block_within(method),
    )
    _RECENT.append((method, conventions, figures))
    return figures


_RECENT: deque[tuple[TopDown, Conventions, TopDownForecast]] = deque(maxlen=6)
"""The last parameters and their figures: an edit changes a few of a hundred shares, and the others stay the same objects."""


def _entries(method: TopDown, conventions: Conventions) -> tuple[LevelQueryForecast, ...]:
    """Return the figures of all query groups; those whose shares are the very objects of the last call are taken over.

    Comparing identities costs nothing, and hashing the fractions of a whole scenario costs as much as its figures.
    """
    kept: dict[LevelQuery, LevelQueryForecast] = {}
    before, agreed, figures = _RECENT[-1] if _RECENT else (method, None, None)
    if figures is not None and agreed is conventions and before.total is method.total and _alike(before, method):
        kept = {
            entry.key: entry
            for entry in figures.entries
            if method.query_shares.get(entry.key) is entry.share
            and method.level_shares.get(entry.key.level) is before.level_shares.get(entry.key.level)
        }
    return tuple(
        kept[key] if key in kept else _entry(method, key, share, conventions)
        for key, share in method.query_shares.items()
    )


def _alike(before: TopDown, after: TopDown) -> bool:
    return before.schema == after.schema and before.framework is after.framework and before.levels == after.levels


def _entry(method: TopDown, key: LevelQuery, share: Fraction, conventions: Conventions) -> LevelQueryForecast:
    share_of_total = method.level_shares[key.level] * share
    budget = method.total * share_of_total
    cells = query_of(method.schema, key.query).answers
    if budget == 0:
        return LevelQueryForecast(key, cells, share, share_of_total, budget, None, None, None, None)
    noise, sigma2 = noise_of(method.framework, budget)
    margins = margins_of(noise, 1, conventions.confidence, conventions.z)
    return LevelQueryForecast(
        key, cells, share, share_of_total, budget, sigma2, noise, noise.reported_variance() ** 0.5, margins
    )


@lru_cache(maxsize=4096)
def noise_of(framework: PrivacyFramework, budget: Fraction) -> tuple[Noise, Fraction | None]:
    """Return the noise of one answer with this budget and its exact σ², None under pure DP.

    σ² = Δ₂²/(2ρ) = 1/ρ under zCDP; scale Δ₁/ε = 2/ε under pure DP (TDA paper, §5; production accounting).

    Args:
        framework: zCDP or pure DP.
        budget: ρ or ε, exact.
    """
    if framework is PrivacyFramework.PURE_DP:
        return TwoSidedGeometric(SENSITIVITY_SQUARED / budget), None
    sigma2 = Fraction(SENSITIVITY_SQUARED) / (2 * budget)
    return DiscreteGaussian(sigma2), sigma2


@lru_cache(maxsize=256)
def _epsilons(framework: PrivacyFramework, total: Fraction, conventions: Conventions) -> tuple[EpsilonFigure, ...]:
    if framework is PrivacyFramework.PURE_DP:
        return (EpsilonFigure(None, Neighbours.BOUNDED, None, Fraction(0), float(total)),)
    return tuple(
        EpsilonFigure(conversion, Neighbours.BOUNDED, total, delta, epsilon(total, delta, conversion))
        for delta in sorted({HEADLINE_DELTA, conventions.delta})
        for conversion in Conversion
    )


def _loss(framework: PrivacyFramework, name: str, rho: Fraction) -> SemanticLoss:
    if framework is PrivacyFramework.PURE_DP or rho == 0:
        return SemanticLoss(name, rho, float(rho))
    return SemanticLoss(name, rho, epsilon(rho, HEADLINE_DELTA, Conversion.ZCDP_OPTIMAL_ALPHA))


def _per_attribute(method: TopDown, entries: tuple[LevelQueryForecast, ...]) -> tuple[SemanticLoss, ...]:
    """Return the loss per attribute: only queries that distinguish at least two of its levels tell anything about it."""
    spent: dict[str, Fraction] = {}
    for entry in entries:
        for name in told_apart(method.schema, entry.key.query):
            spent[name] = spent.get(name, Fraction(0)) + entry.budget
    return tuple(
        _loss(method.framework, attribute.name, spent.get(attribute.name, Fraction(0)))
        for attribute in load_schema(method.schema).attributes
    )


@lru_cache(maxsize=4096)
def told_apart(schema: str, name: str) -> tuple[str, ...]:
    """Return the attributes of the schema of which a query tells two levels apart; none for its companion's queries.

    Args:
        schema: id.
        name: of the query group.
    """
    query = query_of(schema, name)
    if query.schema is not load_schema(schema):
        return ()
    return tuple(each.name for each in query.schema.attributes if query.distinguishes(each.name))


@lru_cache(maxsize=4096)
def told_by_companion(schema: str, name: str) -> tuple[str, ...]:
    """Return the attributes of the schema of which a query of its companion tells two levels apart, by what links the two.

    Production's losses of attributes leave these queries out; what is proven counts them.

    Args:
        schema: id.
        name: of the query group.
    """
    own, query = load_schema(schema), query_of(schema, name)
    if query.schema is own:
        return ()
    found = []
    for link in own.links:
        if link.companion_query is None:
            continue
        cells = query_of(query.schema.id, link.companion_query).cell_map()
        pairs = {(int(group), int(answer)) for group, answer in zip(cells, query.cell_map(), strict=True) if group >= 0}
        if len({answer for _, answer in pairs}) > 1 and len({group for group, _ in pairs}) > 1:
            linked = query_of(schema, link.query)
            found += [each.name for each in own.attributes if linked.distinguishes(each.name)]
    return tuple(dict.fromkeys(found))


def _block_within(method: TopDown) -> tuple[SemanticLoss, ...]:
    """Return what is spent strictly below each level: how well the block within that unit is hidden."""
    found, below = [], Fraction(0)
    for level, lower in zip(method.levels[-2::-1], method.levels[:0:-1], strict=True):
        below += method.total * method.level_shares[lower]
        found.append(_loss(method.framework, level, below))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class JointRelease:
    """Persons and units published together.

    Attributes:
        partner: preset id of the other part.
        rho: of both, exact.
        epsilon: of the joint ρ at δ = 1e-10, by the certificates' conversion.
        sum_of_epsilons: of the two parts converted one by one: larger, shown because it is often quoted.
        loose_epsilon: of the joint ρ by ρ + 2√(ρ ln 1/δ), in which the figures of April 2021 were published.
    """

    partner: str
    rho: Fraction
    epsilon: float
    sum_of_epsilons: float
    loose_epsilon: float


def joint_release(method: TopDown, partner_id: str, partner: TopDown) -> JointRelease | None:
    """Return the loss of two parts as one release; None under pure DP, where ε simply adds.

    Args:
        method: the parameters.
        partner_id: name of the other release.
        partner: parameters of the other release.
    """
    if PrivacyFramework.PURE_DP in {method.framework, partner.framework}:
        return None
    parts = [method.total, partner.total]
    joint = sum(parts, Fraction(0))
    separate = [epsilon(rho, HEADLINE_DELTA, Conversion.ZCDP_OPTIMAL_ALPHA) for rho in parts]
    tight, loose = (
        epsilon(joint, HEADLINE_DELTA, conversion)
        for conversion in (Conversion.ZCDP_OPTIMAL_ALPHA, Conversion.BUN_STEINKE)
    )
    return JointRelease(partner_id, joint, tight, sum(separate), loose)
