"""A scenario made ready for a tree and a schema: what is measured at each level with which noise, and how it is estimated.

The rule for data of a smaller schema: every query becomes its image, equal images are merged and their budgets added,
queries over absent attributes give their share to `detailed`. Levels above the data's root are dropped, their budget
stays unspent. What the data cannot express is left out and said in `remarks`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.model.topdown import LevelQuery, Passes, TopDown
from phexplore.noise.distributions import Noise
from phexplore.optimize.plan import LevelPlan, Queries
from phexplore.workload.queries import MarginalQuery, detailed_query, parse_query, total_query
from phexplore.workload.schema import Schema, load_schema
from phexplore.workload.schema_reduction import project_passes, project_shares

FACILITY_CONSTRAINTS = ("hhgq_total_lb", "hhgq_total_ub")
"""Production's names of the bounds on people per facility."""

FACILITY_COUNTS = "gq_vect"
"""Production's name of the exact number of facilities of each type in the unit histogram."""

TOTAL_INVARIANT, TOTAL_CONSTRAINT = "tot", "total"
"""Production's names of the exact total of a unit, as a count that is kept and as a constraint."""


NARROWEST = 1e-6
"""Variances below this count as this: such noise is 0 but once in a million draws, and the variance of ever larger budgets is 0."""


class DesignError(PhexploreError):
    """A scenario that cannot be simulated on this data."""


@dataclass(frozen=True, slots=True)
class Measuring:
    """The noise of some units of a level.

    Attributes:
        budgets: ρ (or ε) per measured query, exact; 0 for a query that these units are not asked.
        noises: per measured query, None where the budget is 0.
        weights: inverse variance per measured query, people⁻²; 0 where the budget is 0.
    """

    budgets: tuple[Fraction, ...]
    noises: tuple[Noise | None, ...]
    weights: tuple[float, ...]

    @property
    def spent(self) -> Fraction:
        """The budget of one unit."""
        return sum(self.budgets, Fraction(0))


@dataclass(frozen=True, slots=True)
class LevelDesign:
    """One level of a run.

    Attributes:
        name: of the level.
        plan: of its estimation.
        measurings: what units are measured with; units of level budgets have the first.
        exact_total: whether the total of every unit is kept.
        least: whether a facility holds at least its fewest people.
        most: whether facilities hold at most so many, and where none are nobody lives.
        zeros: structural zeros that are kept.
        shared_total: whether totals are kept of groups of units together (the two parts of a state), not of each.
        beside: queries of the schema's companion, measured after those of the plan.
        orders: per outer pass, the measured queries of its least squares and the queries of its rounder; empty where there is
            one pass, which the plan has.
    """

    name: str
    plan: LevelPlan
    measurings: tuple[Measuring, ...]
    exact_total: bool
    least: bool
    most: bool
    zeros: tuple[str, ...]
    shared_total: bool = False
    beside: Queries = ()
    orders: tuple[tuple[Queries, Queries], ...] = ()

    @property
    def measured(self) -> Queries:
        """Everything that has noisy answers, in the order of budgets and noises."""
        return self.plan.measured + self.beside

    @property
    def measuring(self) -> Measuring:
        """What the level's own budget measures."""
        return self.measurings[0]


@dataclass(frozen=True, slots=True)
class Design:
    """A scenario on a tree.

    Attributes:
        schema: of the data.
        levels: the root first.
        dropped: levels that the tree does not have, with their budget.
        spent: of the scenario's total.
        images: of each (level, query) of the scenario the query that receives its share, where it is another one.
        remarks: what was left out or replaced, in words.
    """

    schema: Schema
    levels: tuple[LevelDesign, ...]
    dropped: tuple[tuple[str, Fraction], ...]
    spent: Fraction
    images: tuple[tuple[LevelQuery, str], ...]
    remarks: tuple[str, ...]

    @property
    def has_outer_passes(self) -> bool:
        """Whether levels are estimated in several outer passes, on counts of an earlier release."""
        return any(level.orders for level in self.levels)

    @property
    def unspent(self) -> Fraction:
        """The budget of the dropped levels."""
        return sum((budget for _, budget in self.dropped), Fraction(0))

    def possible(self) -> NDArray[np.bool_]:
        """Return the cells that no structural zero rules out, ``bool[cells]``."""
        names = sorted({name for level in self.levels for name in level.zeros})
        possible: NDArray[np.bool_] = ~self.schema.structurally_empty(names)
        return possible


def make_design(
    method: TopDown,
    schema: Schema,
    levels: Sequence[str],
    noise: Callable[[Fraction], Noise],
    *,
    has_facilities: bool,
    shared_totals: Sequence[str] = (),
) -> Design:
    """Return what a run does.

    Args:
        method: the scenario's parameters.
        schema: of the data.
        levels: of the tree, the root first.
        noise: distribution of one answer for a budget.
        has_facilities: whether the data know how many facilities of each type a leaf has.
        shared_totals: levels whose exact totals are kept of groups of units together, not of each unit, unless the units below
            keep theirs.

    Raises:
        DesignError: the scenario cannot be simulated on this data.
        NoImageError: the data's schema does not arise from the scenario's.
        PlanError: an ordering of queries that cannot be carried out.
    """
    if schema.analytic_only:
        raise DesignError(schema.analytic_only, "Choose another scenario.")
    missing = [level for level in levels if level not in method.levels]
    if missing:
        raise DesignError(
            f"The data have the level {missing[0]}, for which the scenario has no budget.",
            f"The scenario's levels are {', '.join(method.levels)}.",
        )
    source = load_schema(method.schema)
    remarks: list[str] = []
    zeros = _zeros(method, schema, levels, remarks)
    least, most = _facilities(method, schema, levels, remarks, has_facilities=has_facilities)
    exact = _exact_totals(method, levels)
    # Where the units below keep their totals, so does each unit of a group.
    kept_below = dict(zip(levels, [exact[level] for level in levels[1:]], strict=False))
    shared = {level: exact[level] and level in shared_totals and not kept_below.get(level) for level in levels}
    images: list[tuple[LevelQuery, str]] = []
    found = []
    for level in levels:
        if _outer(method, level) > 1:
            outer = _outer_level(method, schema, level, noise)
            found.append(replace(outer, least=least[level], most=most[level], zeros=zeros[level]))
            continue
        measured = _measured(method, source, schema, level, images)
        bounded: tuple[MarginalQuery, ...] = (total_query(schema),) if exact[level] else ()
        own_total = exact[level] and not shared[level]
        if (least[level] or most[level]) and schema.facility_bounds is not None:
            bounded += (parse_query(schema, schema.facility_bounds.query),)
        plan = replace(_plan(method, source, schema, level, tuple(measured), bounded), shares_totals=shared[level])
        budgets = tuple(measured.values())
        found.append(
            LevelDesign(
                name=level,
                plan=plan,
                measurings=(measuring(budgets, noise),),
                exact_total=own_total,
                least=least[level],
                most=most[level],
                zeros=zeros[level],
                shared_total=shared[level],
            )
        )
    dropped = tuple(
        (level, method.total * method.level_shares[level]) for level in method.levels if level not in levels
    )
    if dropped:
        names = ", ".join(name for name, _ in dropped)
        remarks.append(f"Dropped levels, their budget unspent: {names}.")
    spent = sum((level.measuring.spent for level in found), Fraction(0))
    return Design(schema, tuple(found), dropped, spent, tuple(images), tuple(remarks))


def _outer(method: TopDown, level: str) -> int:
    """Return how many outer passes a level has."""
    order = method.passes.get(level)
    return 1 if order is None else max(len(order.least_squares), len(order.rounder))


def _outer_level(method: TopDown, schema: Schema, level: str, noise: Callable[[Fraction], Noise]) -> LevelDesign:
    """Return a level with several outer passes: nothing is merged or replaced, its data have the scenario's schema."""
    order = method.passes[level]
    if schema.id != method.schema:
        raise DesignError(
            f"{level} has {_outer(method, level)} outer passes, and the data are in {schema.id}, not in {method.schema}.",
            "Give data that say everything the scenario counts, or --expand SEED, which invents what is missing.",
        )
    if len(order.least_squares) != len(order.rounder) or any(
        len(inner) != 1 for inner in (*order.least_squares, *order.rounder)
    ):
        raise DesignError(
            f"{level} has outer passes with several inner ones, or without a rounder of their own.",
            "Give each outer pass one inner pass of least squares and one of the rounder.",
        )
    budget = method.total * method.level_shares[level]
    shares = {
        parse_query(schema, name): method.query_shares[LevelQuery(level, name)] for name in method.queries_at(level)
    }
    measured = {query: budget * share for query, share in shares.items() if share > 0}
    own = tuple(query for query in measured if query.schema == schema)
    beside = tuple(query for query in measured if query.schema != schema)
    orders = tuple(
        (
            tuple(query for query in dict.fromkeys(parse_query(schema, name) for name in fits[0]) if query in measured),
            tuple(dict.fromkeys(parse_query(schema, name) for name in rounds[0])),
        )
        for fits, rounds in zip(order.least_squares, order.rounder, strict=True)
    )
    if any(not queries for queries, _ in orders):
        raise DesignError(
            f"An outer pass of {level} measures nothing.", "Give one of its queries a share, or take out the pass."
        )
    ours = [(queries, rounds) for queries, rounds in orders if queries[0].schema == schema]
    plan = LevelPlan(schema, own, tuple(queries for queries, _ in ours), tuple(rounds for _, rounds in ours))
    each = measuring([measured[query] for query in (*own, *beside)], noise)
    return LevelDesign(level, plan, (each,), False, False, False, (), beside=beside, orders=orders)  # noqa: FBT003


def measuring(budgets: Sequence[Fraction], noise: Callable[[Fraction], Noise]) -> Measuring:
    """Return the noise of units with these budgets per query.

    Args:
        budgets: ρ or ε of each query, 0 for one that is not measured.
        noise: gives the distribution of a budget above 0.
    """
    noises = tuple(noise(budget) if budget > 0 else None for budget in budgets)
    weights = tuple(0.0 if each is None else 1.0 / max(each.variance(), NARROWEST) for each in noises)
    return Measuring(tuple(budgets), noises, weights)


def _measured(
    method: TopDown, source: Schema, schema: Schema, level: str, images: list[tuple[LevelQuery, str]]
) -> dict[MarginalQuery, Fraction]:
    """Return the budget of every query measured at a level, in the data's schema."""
    shares: dict[MarginalQuery, Fraction] = {}
    for name in method.queries_at(level):
        share = method.query_shares[LevelQuery(level, name)]
        query = parse_query(source, name)
        if query.schema != source:
            raise DesignError(
                f"{level} measures {name}, which belongs to {query.schema.id}: that needs an outer pass of its own.",
                "Remove the query, or give it an outer pass.",
            )
        if share > 0:
            shares[query] = shares.get(query, Fraction(0)) + share
    projection = project_shares(shares, schema)
    for query, image in projection.images.items():
        if query.name != image.name:
            images.append((LevelQuery(level, query.name), image.name))
    budget = method.total * method.level_shares[level]
    if budget == 0:
        raise DesignError(
            f"{level} has no budget, so its units cannot be estimated.",
            "Give it a share, or take the level out of the spine.",
        )
    if detailed_query(schema) not in projection.shares:
        raise DesignError(
            f"The detailed query is not measured at {level}: many histograms would fit equally well.",
            "Measure `detailed` with a share above 0.",
        )
    return {query: budget * share for query, share in projection.shares.items()}


def _plan(
    method: TopDown,
    source: Schema,
    schema: Schema,
    level: str,
    measured: Queries,
    bounded: Queries,
) -> LevelPlan:
    """Return the estimation of a level; without an ordering everything is estimated at once and rounded by cell."""
    order = method.passes.get(level)
    if order is None:
        return LevelPlan(schema, measured, (measured,), ((detailed_query(schema),),), bounded)
    least_squares, rounder = _inner(order, source, schema)
    passes = tuple(
        kept for queries in least_squares if (kept := tuple(query for query in queries if query in measured))
    )
    return LevelPlan(schema, measured, passes, rounder, bounded)


def _inner(order: Passes, source: Schema, schema: Schema) -> tuple[tuple[Queries, ...], tuple[Queries, ...]]:
    least_squares, rounder = (
        project_passes([[parse_query(source, name) for name in names] for names in kind[0]], schema)
        for kind in (order.least_squares, order.rounder)
    )
    return least_squares, rounder


def _names_below(named: dict[str, tuple[str, ...]], method: TopDown, level: str) -> set[str]:
    """Return the names that stand at this level or at one below it: what holds for parts holds for their sum."""
    below = method.levels[method.levels.index(level) :]
    return {name for each in below for name in named.get(each, ())}


def _zeros(method: TopDown, schema: Schema, levels: Sequence[str], remarks: list[str]) -> dict[str, tuple[str, ...]]:
    constraints = dict(method.constraints)
    known = {zero.name for zero in schema.structural_zeros}
    named = {level: _names_below(constraints, method, level) for level in levels}
    # A constraint is a structural zero, or a family of them: `size2` stands for `size2_eld0` and the others.
    found = {
        level: tuple(sorted(zero for zero in known if any(f"{zero}_".startswith(f"{name}_") for name in names)))
        for level, names in named.items()
    }
    linked = {link.constraint for link in schema.links} | {FACILITY_COUNTS}
    if schema.companion is not None:
        linked |= {link.constraint for link in load_schema(schema.companion).links}
    left_out = {
        name
        for name in _names_below(constraints, method, method.levels[0])
        - linked
        - {*FACILITY_CONSTRAINTS, TOTAL_CONSTRAINT}
        if not any(f"{zero}_".startswith(f"{name}_") for zero in known)
    }
    if left_out and schema.id == method.schema:
        raise DesignError(
            f"The constraint {min(left_out)} is not known to the schema {schema.id}.",
            f"Known are {', '.join([TOTAL_CONSTRAINT, *FACILITY_CONSTRAINTS, *sorted(known)])}.",
        )
    if left_out:
        remarks.append(f"Edit constraints that the data's schema cannot express: {', '.join(sorted(left_out))}.")
    return found


def _facilities(
    method: TopDown, schema: Schema, levels: Sequence[str], remarks: list[str], *, has_facilities: bool
) -> tuple[dict[str, bool], dict[str, bool]]:
    """Return at which levels facilities have fewest and most people."""
    constraints = dict(method.constraints)
    wanted = {level: _names_below(constraints, method, level) & set(FACILITY_CONSTRAINTS) for level in levels}
    if any(wanted.values()) and (schema.facility_bounds is None or not has_facilities):
        remarks.append("Facility bounds are left out: the data do not say where people live in facilities.")
        wanted = {level: set() for level in levels}
    lower, upper = FACILITY_CONSTRAINTS
    return {level: lower in names for level, names in wanted.items()}, {
        level: upper in names for level, names in wanted.items()
    }


def _exact_totals(method: TopDown, levels: Sequence[str]) -> dict[str, bool]:
    """Return at which levels the total of every unit is kept: where it is invariant, and above."""
    invariants, constraints = dict(method.invariants), dict(method.constraints)
    return {
        level: TOTAL_INVARIANT in _names_below(invariants, method, level)
        or TOTAL_CONSTRAINT in _names_below(constraints, method, level)
        for level in levels
    }
