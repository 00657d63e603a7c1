"""TopDown's budgets from margins of the estimates after least squares: a convex program over the budgets.

The variance of an estimate is convex in the budgets (`uniform_spine`), so the smallest total that keeps all margins is found by
any descent; what is found is scaled up until every margin holds, and rounded upward. Queries nobody asks anything of keep their
budget and help; under a cap they shrink in proportion.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from phexplore.accuracy.budget_model import unit_of
from phexplore.accuracy.margins import normal_factor
from phexplore.accuracy.solving_conflict import (
    ConflictKind,
    ConflictPart,
    InfeasibleError,
    Relaxation,
    RelaxationKind,
    short_text,
)
from phexplore.accuracy.solving_groups import Group, Separated, needs_of, sum_under
from phexplore.accuracy.solving_separable import JointSolver
from phexplore.model.conventions import MarginConvention
from phexplore.model.goals import Cap, GoalError, Goals, Key, title_of
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery
from phexplore.systems.topdown.budget_model import TopDownBudgets
from phexplore.systems.topdown.uniform_spine import Answers, UniformSpine

Floats = NDArray[np.float64]

_MOST_STEPS = 200
_SHRINKING = tuple(2.0**-step for step in range(1, 11))
"""Factors tried for queries nobody asks anything of, where a cap demands it."""
_MOST_GROWTH = 1e6
"""Of budgets that ought to suffice as they are."""
_MOST_TARGETS = 24
"""So many targets are tried one by one for whether a conflict needs them."""


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """The convex program.

    Attributes:
        spine: gives variances.
        wanted: answers with a target.
        limits: ``float64[answers]``, largest variances in people².
        groups: what moves together and is free.
        members: ``float64[groups, keys]``, 1 where a group holds a query.
        fixed: ``float64[keys]``, budgets of everything else.
        lowest: ``float64[groups]``, floors.
        start: ``float64[groups]``, budgets that certainly suffice.
    """

    spine: UniformSpine
    wanted: Answers
    limits: Floats
    groups: tuple[Group, ...]
    members: Floats
    fixed: Floats
    lowest: Floats
    start: Floats

    def budgets(self, scales: Floats) -> Floats:
        """Return the budgets of all queries."""
        return np.asarray(self.fixed + scales @ self.members)

    def excess(self, scales: Floats) -> float:
        """Return by which factor the worst variance is above its limit."""
        found, _ = self.spine.variances(self.budgets(scales), self.wanted)
        return float((found / self.limits).max())


def confirm_solvable(system: TopDownBudgets) -> None:
    """Refuse conventions for which least squares has no margins.

    Raises:
        GoalError: pure DP, or margins of another kind than the normal one.
    """
    if system.framework is not PrivacyFramework.ZCDP or system.conventions.margin is not MarginConvention.NORMAL:
        raise GoalError(
            "Margins after least squares are those of a normal distribution under zCDP.",
            "Choose the normal convention and zCDP, or solve every query by itself.",
        )


def spine_needs(system: TopDownBudgets, separated: Separated, goals: Goals, spine: UniformSpine) -> dict[Key, Fraction]:
    """Return the smallest budgets, not rounded, with which every targeted margin is kept after least squares.

    Args:
        system: of the scenario.
        separated: its problem; the budgets it keeps help.
        goals: what is asked.
        spine: gives variances.

    Raises:
        GoalError: a target is about what is not measured, or nothing determines an answer.
    """
    problem = _problem(system, separated, goals, spine)
    if not len(problem.wanted.keys):
        return {}
    scales = _minimised(problem)
    step = float(system.conventions.rounding_step)
    found: dict[Key, Fraction] = {}
    for group, scale in zip(problem.groups, scales.tolist(), strict=True):
        # Upward at a thousandth of a step: what the descent leaves open is far below.
        exact = Fraction(math.ceil(scale / step * 1000)) * system.conventions.rounding_step / 1000
        found |= {m.query: exact for m in group.members if m.query in goals.margins}
    return found


def _problem(system: TopDownBudgets, separated: Separated, goals: Goals, spine: UniformSpine) -> _Problem:
    place = {key: number for number, key in enumerate(spine.keys)}
    if unknown := [key for key in goals.margins if key not in place]:
        raise GoalError(f"{title_of(unknown[0])} tells nothing about these histograms.", "Take out its target.")
    free = tuple(
        group for group in separated.groups if not group.is_locked and any(m.query in place for m in group.members)
    )
    members = np.zeros((len(free), len(spine.keys)))
    for number, group in enumerate(free):
        for member in group.members:
            if isinstance(member.query, LevelQuery) and member.query in place:
                members[number, place[member.query]] = 1.0
    fixed = np.zeros(len(spine.keys))
    held: dict[Key, Fraction] = {q: b for q, b in separated.kept.items() if isinstance(b, Fraction)}
    for group in separated.groups:
        if group.is_locked:
            held |= dict(group.budgets(group.scale({}), separated.conventions))
    for key, number in place.items():
        fixed[number] = 0.0 if members[:, number].any() else float(held.get(key, Fraction(0)))
    z = float(normal_factor(system.conventions.confidence, system.conventions.z))
    targets = {key: margin for key, margin in goals.margins.items() if isinstance(key, LevelQuery)}
    wanted = spine.answers(targets)
    limits = np.array([
        (float(targets[spine.keys[key]]) / z) ** 2 / spine.corrections.get(spine.keys[key], 1.0)
        for key in wanted.keys.tolist()
    ])  # fmt: skip
    lowest = np.array([float(group.base) for group in free])
    start = np.array([float(group.scale(needs_of(separated))) for group in free])
    problem = _Problem(spine, wanted, limits, free, members, fixed, lowest, np.maximum(start, 1e-12))
    if len(wanted.keys) and not math.isfinite(problem.excess(problem.start)):
        raise GoalError(
            "What is measured does not determine an answer with a target.", "Measure the detailed query at its level."
        )
    return problem


def _minimised(problem: _Problem) -> Floats:
    """Return the scales with the smallest sum that keep every limit."""
    from scipy.optimize import Bounds, minimize  # noqa: PLC0415 - takes long to load, and only this needs it

    weights = problem.members.sum(axis=1)
    # In units of the start, on a logarithmic scale: budgets span many orders of magnitude.
    unit = float(weights @ problem.start)

    def total(logs: Floats) -> tuple[float, Floats]:
        scales = problem.start * np.exp(logs)
        return float(weights @ scales) / unit, weights * scales / unit

    known: dict[bytes, tuple[Floats, Floats]] = {}

    def room(logs: Floats) -> tuple[Floats, Floats]:
        """Return log(limit / variance) of every answer, which is at least 0, and its derivatives."""
        if (found := known.get(logs.tobytes())) is None:
            scales = problem.start * np.exp(logs)
            variance, slope = problem.spine.variances(problem.budgets(scales), problem.wanted)
            own = (slope @ problem.members.T) * scales
            found = np.log(problem.limits / variance), -own / variance[:, None]
            known.clear()
            known[logs.tobytes()] = found
        return found

    least = np.log(np.maximum(problem.lowest, 1e-9 * problem.start) / problem.start)
    # The start suffices: nothing gets more than its whole total, beside which the others would be lost in rounding.
    most = np.log(unit / (weights * problem.start))
    result = minimize(
        total,
        np.zeros(len(problem.start)),
        jac=True,
        bounds=Bounds(np.minimum(least, 0.0), most),
        constraints=[{"type": "ineq", "fun": lambda x: room(x)[0], "jac": lambda x: room(x)[1]}],
        method="SLSQP",
        options={"maxiter": _MOST_STEPS, "ftol": 1e-10},
    )
    best = problem.start * np.exp(np.minimum(result.x, 50.0))
    if not np.isfinite(best).all() or problem.excess(best) > 1.01:
        best = problem.start
    return _kept(problem, np.maximum(best, problem.lowest))


def _kept(problem: _Problem, scales: Floats) -> Floats:
    """Return the scales times the smallest factor, found by bisection, with which every limit is kept.

    Raises:
        GoalError: there is none.
    """
    low, high = 1.0, 1.0
    while problem.excess(scales * high) > 1.0:
        low, high = high, high * 1.05
        if high > _MOST_GROWTH:
            raise GoalError(
                "A target is about units that no budget of their own makes more accurate, such as only children level by level.",
                "Ask it of the level above, or fit all at once.",
            )
    for _ in range(40 if high > 1.0 else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if problem.excess(scales * middle) <= 1.0 else (middle, high)
        if high - low < 1e-12:
            break
    return np.maximum(scales * high, problem.lowest)


def on_spine(system: TopDownBudgets, spine: UniformSpine) -> JointSolver:
    """Return the solver of margins after least squares on this spine.

    Args:
        system: the budgets that are solved.
        spine: with the same tree everywhere.
    """

    def joint(separated: Separated, goals: Goals) -> tuple[Separated, Mapping[Key, Fraction]]:
        return solve_on_spine(system, separated, goals, spine)

    return joint


def solve_on_spine(
    system: TopDownBudgets, separated: Separated, goals: Goals, spine: UniformSpine
) -> tuple[Separated, dict[Key, Fraction]]:
    """Return the problem with what makes way for the caps, and the budgets that the targets need.

    Args:
        system: the budgets that are solved.
        separated: goals by query.
        goals: what is asked.
        spine: with the same tree everywhere.

    Raises:
        GoalError: a goal cannot be understood.
        InfeasibleError: no budgets keep all goals.
    """
    confirm_solvable(system)
    needs = spine_needs(system, separated, goals, spine)
    if _fits(separated, needs):
        return separated, needs
    best, least = (separated, needs), _total(separated, needs)
    for factor in _SHRINKING:
        smaller = _shrunk(separated, factor)
        tried = spine_needs(system, smaller, goals, spine)
        if _fits(smaller, tried):
            return smaller, tried
        if (total := _total(smaller, tried)) < least:
            best, least = (smaller, tried), total
    raise _infeasible(system, best[0], goals, spine, best[1])


def _shrunk(separated: Separated, factor: float) -> Separated:
    """Return the problem with the queries nobody asks anything of at a part of their budget, at least one step."""
    step = separated.conventions.rounding_step
    held = {member.query for group in separated.groups for member in group.members}
    kept = {
        key: max(budget * Fraction(factor) // step * step, min(step, budget))
        if key not in held and isinstance(budget, Fraction)
        else budget
        for key, budget in separated.kept.items()
    }
    return replace(separated, kept=kept)


def _fits(separated: Separated, needs: Mapping[Key, Fraction]) -> bool:
    budgets = separated.budgets(needs)
    return all(sum_under(cap, budgets) <= allowed for cap, allowed in separated.caps)


def _total(separated: Separated, needs: Mapping[Key, Fraction]) -> Fraction:
    return sum((b for b in separated.budgets(needs).values() if isinstance(b, Fraction)), Fraction(0))


def _infeasible(
    system: TopDownBudgets, separated: Separated, goals: Goals, spine: UniformSpine, needs: Mapping[Key, Fraction]
) -> InfeasibleError:
    """Return which targets conflict with the tightest cap, and by how much all would have to widen."""
    budgets = separated.budgets(needs)
    cap, allowed = max(separated.caps, key=lambda pair: sum_under(pair[0], budgets) / pair[1])
    needed = sum_under(cap, budgets)
    chosen = _conflicting(system, separated, goals, spine, cap, allowed)
    parts = tuple(
        ConflictPart(
            ConflictKind.TARGET,
            f"{title_of(key)} within {exact_text(goals.margins[key])} {system.counted_in(key)}",
            key,
        )
        for key in chosen
    )
    sentence = (
        f"After least squares the targets need a total ρ of {short_text(needed)}, but {cap.title} allows "
        f"{short_text(allowed)}. {len(parts)} {'target is' if len(parts) == 1 else 'targets are'} in conflict: "
        f"{', '.join(part.text for part in parts[:5])}."
    )
    ways = _widened(system, separated, goals, spine)
    return InfeasibleError(sentence, (*parts, ConflictPart(ConflictKind.CAP, cap.title)), ways, needed, allowed)


def _without(separated: Separated, keys: frozenset[Key]) -> Separated:
    """Return the problem without the targets of these queries; the queries go down to their floors."""
    groups = tuple(
        replace(group, members=tuple(replace(m, need=None) if m.query in keys else m for m in group.members))
        for group in separated.groups
    )
    return replace(separated, groups=groups)


def _conflicting(
    system: TopDownBudgets, separated: Separated, goals: Goals, spine: UniformSpine, cap: Cap, allowed: Fraction
) -> tuple[Key, ...]:
    """Return targets that cannot be kept together: leave any one out and the rest can (up to 24 are tried)."""
    chosen = dict(goals.margins)
    for key in list(goals.margins)[:_MOST_TARGETS]:
        rest = {other: margin for other, margin in chosen.items() if other != key}
        if not rest:
            break
        smaller = _without(separated, frozenset(goals.margins) - frozenset(rest))
        needs = spine_needs(system, smaller, replace(goals, margins=rest), spine)
        if sum_under(cap, smaller.budgets(needs)) > allowed:
            chosen = rest
    return tuple(chosen)


def _widened(system: TopDownBudgets, separated: Separated, goals: Goals, spine: UniformSpine) -> tuple[Relaxation, ...]:
    """Return all targets widened by one factor so that every cap is kept, each rounded up to its step."""
    before = _total(separated, spine_needs(system, separated, goals, spine))
    factor = 1.0
    for _ in range(12):
        margins = {key: _up(margin, factor) for key, margin in goals.margins.items()}
        wider = replace(goals, margins=margins)
        needs = spine_needs(system, separated, wider, spine)
        if factor > 1 and _fits(separated, needs):
            moved: dict[Key, tuple[Fraction, Fraction | None]] = {
                key: (margin, margins[key]) for key, margin in goals.margins.items() if margins[key] != margin
            }
            people = sum((new - old for old, new in moved.values() if new is not None), Fraction(0))
            widening = max(float(margins[key] / margin) for key, margin in goals.margins.items())
            freed = before - _total(separated, needs)
            text = (
                f"all {len(moved)} targets by one factor, at most × {widening:.3f} ({math.ceil(people):,} {unit_of(system, moved)} together) "
                f"frees {short_text(freed)}"
            )
            return (Relaxation(RelaxationKind.IN_PROPORTION, text, moved, freed, people, widening),)
        budgets = separated.budgets(needs)
        over = max(float(sum_under(cap, budgets) / allowed) for cap, allowed in separated.caps)
        # A variance falls as fast as the budgets grow; kept budgets take part of a cap, so a few rounds are needed.
        factor *= max(math.sqrt(over), 1.01)
    return ()


def _up(margin: Fraction, factor: float) -> Fraction:
    step = Fraction(1) if margin.denominator == 1 else Fraction(1, 100)
    return max(margin, Fraction(math.ceil(float(margin) * factor / float(step) - 1e-9)) * step)
