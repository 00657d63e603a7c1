"""What one parameter does to one target: leverage, safe ranges, and what leaving a level out frees and loses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from phexplore.accuracy.margins import keeps_target, unrounded_budget
from phexplore.accuracy.solving_systems import margin_at, reach_of, system_of
from phexplore.accuracy.solving_topdown import with_budgets
from phexplore.accuracy.topdown_forecast import query_of
from phexplore.catalog.tables import tables
from phexplore.model.edits import EditRefusedError, set_budget
from phexplore.model.goals import Key
from phexplore.model.keys import LEVELS, PopulationGroupLevel, QueryKey, Region, TableId
from phexplore.model.numbers import Unlimited, round_exact
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown

WIDEST_THRESHOLD = 10_000
"""A threshold nobody asks beyond: households are smaller."""


@dataclass(frozen=True, slots=True)
class Leverage:
    """How a parameter moves a margin.

    Attributes:
        parameter: ``budget PH3/state_A-G`` or ``threshold PH3``.
        query: whose margin, a table at a level or a query of TopDown.
        margin: present, in people.
        per_percent: people by which it changes when the parameter grows by 1 % (a threshold: by one person).
    """

    parameter: str
    query: Key
    margin: float
    per_percent: float


@dataclass(frozen=True, slots=True)
class SafeRange:
    """Where a parameter can go with every target kept and no cap exceeded.

    Attributes:
        low: smallest value; None where the present value is already outside.
        high: largest value; None where nothing bounds it.
        present: the value now.
    """

    low: Fraction | None
    high: Fraction | None
    present: Fraction


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What it means not to publish something.

    Attributes:
        name: a level, or a query.
        queries: which would go.
        frees: budget, exact; PHSafe: unbounded.
        share: of the total.
        numbers: how many numbers are lost, sums and copies not counted; TopDown: answers in one geographic unit.
        averages: names of the averages that can no longer be published.
    """

    name: str
    queries: tuple[Key, ...]
    frees: Fraction
    share: float
    numbers: int
    averages: tuple[str, ...]


def leverages(scenario: Scenario) -> tuple[Leverage, ...]:
    """Return, for every measured query with noise, what its budget and its threshold do to its margin, largest first."""
    system = system_of(scenario)
    found: list[Leverage] = []
    for key, budget in system.budgets.items():
        if isinstance(budget, Unlimited) or budget == 0:
            continue
        margin, more = system.margin(key, budget), system.margin(key, budget * Fraction(101, 100))
        found.append(Leverage(f"budget {key.text}", key, margin, more - margin))
        if isinstance(key, QueryKey) and key.table in scenario.phsafe.thresholds:
            reach = reach_of(scenario.phsafe, key)
            # One more person per household: Δ = 2τ + 2 grows by 2, and the margin with it.
            found.append(Leverage(f"threshold {key.table}", key, margin, margin * 2 / reach))
    return tuple(sorted(found, key=lambda entry: -abs(entry.per_percent)))


def budget_range(scenario: Scenario, query: QueryKey, cap: Fraction | None = None) -> SafeRange:
    """Return where the budget of a query can go: from what its target needs to what a cap leaves.

    Args:
        scenario: gives targets and the other budgets.
        query: whose budget.
        cap: on the unbounded total, None for none.
    """
    method = scenario.phsafe
    present = method.budgets[query]
    now = Fraction(0) if isinstance(present, Unlimited) else present
    low: Fraction | None = Fraction(0)
    if (target := method.targets.get(query)) is not None:
        needed = unrounded_budget(target, reach_of(method, query), method.framework, scenario.conventions)
        low = round_exact(needed, scenario.conventions.rounding_step, scenario.conventions.rounding)
    high = None
    if cap is not None:
        others = sum((b for q, b in method.budgets.items() if q != query and isinstance(b, Fraction)), Fraction(0))
        high = cap - others
        if low is not None and high < low:
            low = None
    return SafeRange(low, high, now)


def threshold_range(scenario: Scenario, table: TableId) -> SafeRange:
    """Return where τ of a table can go with its budgets as they are and every target of the table kept to a person."""
    method = scenario.phsafe
    aimed = [query for query in method.published if query.table == table and query in method.targets]

    def keeps(people: int) -> bool:
        changed = _with_threshold(scenario, table, people)
        for query in aimed:
            budget = method.budgets[query]
            if isinstance(budget, Fraction) and not keeps_target(
                margin_at(changed, query, budget), method.targets[query]
            ):
                return False
        return True

    present = Fraction(method.thresholds[table])
    if not aimed:
        return SafeRange(Fraction(1), None, present)
    if not keeps(1):
        return SafeRange(None, None, present)
    low, high = 1, 2
    while keeps(high) and high < WIDEST_THRESHOLD:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return SafeRange(Fraction(1), Fraction(low), present)


def _with_threshold(scenario: Scenario, table: TableId, people: int) -> Scenario:
    method = scenario.phsafe
    return replace(scenario, method=replace(method, thresholds={**method.thresholds, table: people}))


def left_out_levels(scenario: Scenario) -> tuple[LeftOut, ...]:
    """Return what leaving out each level of all tables (TopDown: each geographic level) frees and loses, most freed first."""
    if isinstance(scenario.method, TopDown):
        topdown = scenario.method
        measured = [key for key in topdown.query_shares if topdown.budget(key) > 0]
        return _ranked_topdown(
            topdown, {level: tuple(k for k in measured if k.level == level) for level in topdown.levels}
        )
    method = scenario.phsafe
    groups = {level.title: tuple(q for q in method.published if q.level == level) for level in LEVELS}
    return _ranked(method, groups)


def left_out_queries(scenario: Scenario) -> tuple[LeftOut, ...]:
    """Return what leaving out each published query frees and loses, most freed first."""
    if isinstance(scenario.method, TopDown):
        topdown = scenario.method
        return _ranked_topdown(topdown, {k.text: (k,) for k in topdown.query_shares if topdown.budget(k) > 0})
    method = scenario.phsafe
    return _ranked(method, {query.title: (query,) for query in method.published})


def _ranked_topdown(method: TopDown, groups: Mapping[str, tuple[LevelQuery, ...]]) -> tuple[LeftOut, ...]:
    found = []
    for name, keys in groups.items():
        frees = sum((method.budget(key) for key in keys), Fraction(0))
        answers = sum(query_of(method.schema, key.query).answers for key in keys)
        if keys:
            found.append(LeftOut(name, keys, frees, float(frees / method.total), answers, ()))
    return tuple(sorted(found, key=lambda entry: -entry.frees))


def leave_out(scenario: Scenario, queries: tuple[Key, ...]) -> Scenario:
    """Return the scenario without these queries; what they had is saved, not given to others.

    Raises:
        EditRefusedError: a query is locked, or nothing would be left.
    """
    if isinstance(scenario.method, TopDown):
        method = scenario.method
        gone = {key for key in queries if isinstance(key, LevelQuery)}
        if held := sorted(k.text for k in gone if k in method.locked_queries or k.level in method.locked_levels):
            raise EditRefusedError(f"{held[0]} is locked.", "Unlock it first.")
        budgets = {key: Fraction(0) if key in gone else method.budget(key) for key in method.query_shares}
        if not sum(budgets.values(), Fraction(0)):
            raise EditRefusedError("Nothing would be measured any more.", "Leave out less.")
        return replace(scenario, method=with_budgets(method, budgets, method.total))
    for query in queries:
        if isinstance(query, QueryKey):
            scenario = set_budget(scenario, query, Fraction(0))
    return scenario


def _ranked(method: PhSafe, groups: Mapping[str, tuple[QueryKey, ...]]) -> tuple[LeftOut, ...]:
    total = sum((b for b in method.budgets.values() if isinstance(b, Fraction)), Fraction(0))
    found = [_left_out(method, name, queries, total) for name, queries in groups.items() if queries]
    return tuple(sorted(found, key=lambda entry: -entry.frees))


def _left_out(method: PhSafe, name: str, queries: tuple[QueryKey, ...], total: Fraction) -> LeftOut:
    frees = sum((b for q in queries if isinstance(b := method.budgets[q], Fraction)), Fraction(0))
    numbers = sum(_numbers(method, query) for query in queries)
    return LeftOut(name, queries, frees, float(frees / total) if total else 0.0, numbers, _averages(method, queries))


def _numbers(method: PhSafe, query: QueryKey) -> int:
    areas = 1 if query.level.region is Region.NATION else len(method.states)
    return areas * len(query.level.iteration.codes) * len(tables()[query.table].basis_cells)


_AVERAGES = {"PH1": ("PH1_num", "PH1_denom"), "PH5": ("PH4", "PH5_denom"), "PH8": ("PH7", "PH8_denom")}


def _averages(method: PhSafe, queries: tuple[QueryKey, ...]) -> tuple[str, ...]:
    lost: list[str] = []
    levels: dict[PopulationGroupLevel, set[str]] = {}
    for query in queries:
        levels.setdefault(query.level, set()).add(query.table)
    published = set(method.published)
    for level, gone in levels.items():
        for name, parts in _AVERAGES.items():
            whole = all(QueryKey(TableId(part), level) in published for part in parts)
            if whole and gone & set(parts):
                lost.append(f"{name} ({level.title})")
    return tuple(lost)


def reliable_from(margin: float, relative: Fraction) -> int:
    """Return the smallest count whose margin is at most this part of it, e.g. 1/20: "reliable from N people".

    Args:
        margin: half-width in people at the scenario's confidence.
        relative: largest margin as a part of the count, in (0, 1].

    Raises:
        ValueError: the part is not in (0, 1].
    """
    if not 0 < relative <= 1:
        raise ValueError(f"a relative margin lies in (0, 1], got {relative}")
    return max(1, math.ceil(Fraction(margin) / relative))
