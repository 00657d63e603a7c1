"""Edits of goals: pure functions that return new goals. Nothing is solved here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from phexplore.model.goals import Cap, Goals, Key, Tie, TiedBy


def with_margins(goals: Goals, changes: Mapping[Key, Fraction | None]) -> Goals:
    """Return the goals with these margins in people; None leaves a query without one.

    Args:
        goals: what is asked of the budgets of one system.
        changes: margin in people, above 0, by query.

    Raises:
        GoalError: a margin is not more than 0.
    """
    return replace(goals, margins=_changed(goals.margins, changes))


def with_floors(goals: Goals, changes: Mapping[Key, Fraction | None]) -> Goals:
    """Return the goals with these smallest budgets; None leaves a query without one.

    Args:
        goals: what is asked of the budgets of one system.
        changes: smallest budget, 0 or more, by query.

    Raises:
        GoalError: a floor is below 0.
    """
    return replace(goals, floors=_changed(goals.floors, changes))


def _changed(before: Mapping[Key, Fraction], changes: Mapping[Key, Fraction | None]) -> dict[Key, Fraction]:
    joined: dict[Key, Fraction | None] = {**before, **changes}
    return {key: value for key, value in joined.items() if value is not None}


def tied(goals: Goals, queries: Iterable[Key], equal: TiedBy) -> Goals:
    """Return the goals with these queries tied; they leave the ties they were in.

    Args:
        goals: what is asked of the budgets of one system.
        queries: two or more.
        equal: what is equal in the tie, margins or budgets.

    Raises:
        GoalError: fewer than two queries.
    """
    chosen = tuple(dict.fromkeys(queries))
    return replace(untied(goals, chosen), ties=(*untied(goals, chosen).ties, Tie(chosen, equal)))


def untied(goals: Goals, queries: Collection[Key]) -> Goals:
    """Return the goals with these queries out of their ties; a tie of one is none.

    Args:
        goals: what is asked of the budgets of one system.
        queries: that leave their ties.
    """
    left = (replace_queries(tie, tuple(key for key in tie.queries if key not in queries)) for tie in goals.ties)
    return replace(goals, ties=tuple(tie for tie in left if tie is not None))


def replace_queries(tie: Tie, queries: tuple[Key, ...]) -> Tie | None:
    """Return a tie of these queries, None when there are fewer than two.

    Args:
        tie: whose queries to replace.
        queries: the new ones.
    """
    return Tie(queries, tie.equal) if len(queries) > 1 else None


def with_cap(goals: Goals, cap: Cap) -> Goals:
    """Return the goals with one more cap; one on the same quantity of the same queries is replaced.

    Args:
        goals: what is asked of the budgets of one system.
        cap: the new cap.
    """
    kept = tuple(each for each in goals.caps if (each.on, each.queries) != (cap.on, cap.queries))
    return replace(goals, caps=(*kept, cap))


def without_cap(goals: Goals, number: int) -> Goals:
    """Return the goals without the cap at this place.

    Args:
        goals: what is asked of the budgets of one system.
        number: index of the cap in `goals.caps`.
    """
    return replace(goals, caps=goals.caps[:number] + goals.caps[number + 1 :])


def restricted(goals: Goals, known: Collection[Key]) -> Goals:
    """Return the goals as far as they concern these queries: a project's goals outlive the levels of a scenario.

    Args:
        goals: what is asked of the budgets of one system.
        known: queries that the scenario measures.
    """
    ties = (replace_queries(tie, tuple(key for key in tie.queries if key in known)) for tie in goals.ties)
    caps = []
    for cap in goals.caps:
        counted = None if cap.queries is None else frozenset(key for key in cap.queries if key in known)
        if counted is None or counted:
            caps.append(replace(cap, queries=counted))
    return Goals(
        {key: margin for key, margin in goals.margins.items() if key in known},
        {key: floor for key, floor in goals.floors.items() if key in known},
        tuple(caps),
        tuple(tie for tie in ties if tie is not None),
        frozenset(key for key in goals.locks if key in known),
    )
