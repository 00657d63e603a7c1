"""The order of post-processing as it is edited: which query groups each pass uses, and what that means.

Args:
    method: the parameters, which hold the order.
    level: the geographic level, of which every one has its own order.
    levels: the levels that receive the order.
    passes: the passes of a level.
    stage: the stage of post-processing, least squares or rounding.
    query: the query group.
    place: the outer pass and the pass in it, both counted from 0.
    by: −1 for earlier, +1 for later.
    what: the name of the step in the history.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace

from phexplore.model.edits import EditRefusedError, set_item
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import Passes, TopDown
from phexplore.systems.topdown.share_cells import query_rows
from phexplore.systems.topdown.wording import level_title
from phexplore.workload.queries import catalogue
from phexplore.workload.schema import load_schema

Nested = tuple[tuple[tuple[str, ...], ...], ...]


class Stage(enum.Enum):
    """The two stages of post-processing, named as the fields of `Passes`. The value is the title."""

    LEAST_SQUARES = "Least squares"
    ROUNDER = "Rounding"

    @property
    def about(self) -> str:
        """What the stage does."""
        if self is Stage.LEAST_SQUARES:
            return (
                "Non-negative fractions that fit the noisy answers best. Answers of a pass are kept, within the smallest "
                "possible tolerance, by the passes after it."
            )
        return (
            "Whole numbers next to the fractions. Answers of a pass are kept exactly by the passes after it; groups that "
            "refine each other keep the problem easy."
        )


@dataclass(frozen=True, slots=True)
class PassColumn:
    """One pass of a stage.

    Attributes:
        place: number of the outer pass, and within it, from 0.
        title: "Pass 2", or "Pass 2.1" where there are several outer passes.
        queries: names, in their order.
    """

    place: tuple[int, int]
    title: str
    queries: tuple[str, ...]


def passes_of(method: TopDown, level: str) -> Passes:
    """Return the passes of a level; without an order, one pass of all measured groups, and all cells rounded at once."""
    if level in method.passes:
        return method.passes[level]
    return Passes(((method.queries_at(level),),), ((("detailed",),),))


def has_order(method: TopDown, level: str) -> bool:
    """Return whether an order was set for a level."""
    return level in method.passes


def columns(passes: Passes, stage: Stage) -> tuple[PassColumn, ...]:
    """Return the passes of a stage in the order they are made."""
    outer_passes = _nested(passes, stage)
    several = len(outer_passes) > 1
    return tuple(
        PassColumn((outer, inner), f"Pass {outer + 1}.{inner + 1}" if several else f"Pass {inner + 1}", queries)
        for outer, each in enumerate(outer_passes)
        for inner, queries in enumerate(each)
    )


def rows(method: TopDown, level: str, stage: Stage) -> tuple[str, ...]:
    """Return the query groups a stage can use at a level: what it uses, what is measured, and what the schema offers."""
    used = [query for column in columns(passes_of(method, level), stage) for query in column.queries]
    offered = query_rows(method)
    if stage is Stage.ROUNDER:
        schema = load_schema(method.schema)
        offered = (*offered, *(query.name for query in catalogue(schema)))
    else:
        measured = set(method.queries_at(level))
        offered = tuple(name for name in offered if name in measured)
    return tuple(dict.fromkeys([*used, *offered]))


def alike(method: TopDown, level: str) -> tuple[str, ...]:
    """Return the levels with the same order as this one, itself included."""
    mine = passes_of(method, level) if has_order(method, level) else None
    return tuple(
        other
        for other in method.levels
        if other == level or (mine is not None and has_order(method, other) and method.passes[other] == mine)
    )


def toggled(method: TopDown, level: str, stage: Stage, query: str, place: tuple[int, int]) -> Passes:
    """Return the passes with a query group put into one pass, or taken out of it; it is in one pass of a stage at most."""
    passes = passes_of(method, level)

    def changed(here: tuple[int, int], queries: tuple[str, ...]) -> tuple[str, ...]:
        if here == place and query not in queries:
            return (*queries, query)
        return tuple(name for name in queries if name != query)

    found = tuple(
        tuple(changed((outer, inner), queries) for inner, queries in enumerate(each))
        for outer, each in enumerate(_nested(passes, stage))
    )
    return _replaced(passes, stage, found)


def with_pass(method: TopDown, level: str, stage: Stage) -> Passes:
    """Return the passes with one more, empty, at the end of the last outer pass.

    Raises:
        EditRefusedError: the last pass is still empty.
    """
    passes = passes_of(method, level)
    *before, last = _nested(passes, stage) or (((),),)
    if last and not last[-1]:
        raise EditRefusedError("The last pass is still empty.", "Put a query group into it first.")
    return _replaced(passes, stage, (*before, (*last, ())))


def without_empty(passes: Passes, stage: Stage) -> Passes:
    """Return the passes of a stage without empty ones."""
    kept = tuple(tuple(queries for queries in outer if queries) for outer in _nested(passes, stage))
    return _replaced(passes, stage, tuple(outer for outer in kept if outer) or (((),),))


def moved(method: TopDown, level: str, stage: Stage, place: tuple[int, int], by: int) -> Passes:
    """Return the passes with one moved earlier (−1) or later (+1) within its outer pass.

    Raises:
        EditRefusedError: it is the first or the last.
    """
    passes, (outer, inner) = passes_of(method, level), place
    found = list(_nested(passes, stage))
    inners = list(found[outer])
    target = inner + by
    if not 0 <= target < len(inners):
        raise EditRefusedError("There is no pass on that side to change places with.", "Add a pass first.")
    inners[inner], inners[target] = inners[target], inners[inner]
    found[outer] = tuple(inners)
    return _replaced(passes, stage, tuple(found))


def order_edit(levels: tuple[str, ...], passes: Passes, what: str) -> tuple[str, Callable[[Scenario], Scenario]]:
    """Return name and edit that give several levels this order."""

    def edit(scenario: Scenario) -> Scenario:
        for level in levels:
            scenario = set_item(scenario, "passes", level, passes)
        return scenario

    where = level_title(levels[0]) if len(levels) == 1 else f"{len(levels)} levels"
    return f"{what} at {where}", edit


def _nested(passes: Passes, stage: Stage) -> Nested:
    found: Nested = getattr(passes, stage.name.lower())
    return found


def _replaced(passes: Passes, stage: Stage, found: Nested) -> Passes:
    return replace(passes, **{stage.name.lower(): found})
