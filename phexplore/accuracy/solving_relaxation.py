"""Why goals cannot all be kept: the smallest set of goals in conflict, and what the cheapest ways out cost in people.

Budgets follow from targets by the closed form of `solving_separable` (PHSafe paper, Corollary 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from phexplore.accuracy.budget_model import BudgetModel, unit_of
from phexplore.accuracy.solving_conflict import (
    InfeasibleError,
    Ledger,
    Relaxation,
    RelaxationKind,
    cap_conflict,
    lock_conflict,
    short_text,
)
from phexplore.accuracy.solving_groups import Group, Separated, sum_under
from phexplore.model.conventions import MarginConvention
from phexplore.model.goals import Cap, CapOn, Goals, Key, level_title, title_of
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import Budget, exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.text.messages import Number, msg, plural

_WidthsAt = Callable[[float], Mapping[Key, float]]

MOST_RELAXATIONS = 6
"""More ways out than anybody reads."""

_FIRST_WIDENING, _FINEST_WIDENING, _LARGEST_WIDENING = 1 / 16, 1e-5, 1e6
"""Factors by which all targets are widened together: where the search begins, how fine it is, where it gives up."""

_STEPS_OF_A_WALK = 64
"""A guessed margin is corrected one step at a time; rounding moves it by a few steps at most."""


def confirm_feasible(
    system: BudgetModel,
    goals: Goals,
    separated: Separated,
    needs: Mapping[Key, Fraction],
    budgets: Mapping[Key, Budget],
) -> None:
    """Pass when the smallest budgets keep every goal.

    Args:
        system: whose goals they are.
        goals: all of them.
        separated: the problem taken apart.
        needs: unrounded budgets of the targets.
        budgets: the smallest rounded ones.

    Raises:
        InfeasibleError: they do not.
    """
    confirm_locks(system, goals, separated)
    violated = [(cap, allowed) for cap, allowed in separated.caps if sum_under(cap, budgets) > allowed]
    if violated:
        errors = [cap_conflict(system, goals, separated, needs, cap, allowed) for cap, allowed in violated]
        smallest = min(errors, key=lambda error: len(error.conflict))
        relaxations = _ways_out(system, goals, separated, needs)
        raise InfeasibleError(
            smallest.sentence, smallest.conflict, relaxations, smallest.needed, smallest.allowed
        )  # the sentence is about one cap, the ways out keep all of them


def confirm_locks(system: BudgetModel, goals: Goals, separated: Separated) -> None:
    """Pass when no lock stands against a goal of its own query or tie.

    Args:
        system: the scenario that is solved.
        goals: all that is asked of it.
        separated: the problem taken apart.

    Raises:
        InfeasibleError: one does.
    """
    conflicts = [found for group in separated.groups if (found := lock_conflict(system, goals, group)) is not None]
    if conflicts:
        raise min(conflicts, key=lambda error: len(error.conflict))


class _Trial:
    """Tests changed margins against all caps, recomputing only the groups they touch."""

    def __init__(self, system: BudgetModel, goals: Goals, separated: Separated, needs: Mapping[Key, Fraction]) -> None:
        self.system = system
        self.goals = goals
        self.separated = separated
        self.needs = needs
        self.ledger = Ledger(separated)
        self.sums = [self.ledger.sum_of(cap, needs) for cap, _ in separated.caps]
        self.everything = sum((b for b in separated.budgets(needs).values() if isinstance(b, Fraction)), Fraction(0))
        conventions = system.conventions
        self.is_proportional = (
            system.framework is PrivacyFramework.ZCDP and conventions.margin is MarginConvention.NORMAL
        )
        self.step = float(conventions.rounding_step)
        self.rough_sums = [float(total) for total in self.sums]
        self.widths = {query: float(margin) for query, margin in goals.margins.items()}
        self.rough_groups = {id(group): _rough(group) for group in separated.groups}
        self.rough_limits = [float(allowed) for _, allowed in separated.caps]
        self.group_sums = [
            {id(group): self.ledger.group_sum(cap, group, needs) for group in separated.groups}
            for cap, _ in separated.caps
        ]
        self.rough_group_sums = [{key: float(value) for key, value in sums.items()} for sums in self.group_sums]

    def need(self, query: Key, margin: Fraction) -> Fraction:
        """Return the unrounded budget of a margin."""
        if self.is_proportional:
            return self.needs[query] * (self.goals.margins[query] / margin) ** 2  # ρ = z²Δ²/(2m²)
        return self.system.need(query, margin)

    def changed(self, margins: Mapping[Key, Fraction | None]) -> dict[Key, Fraction]:
        """Return all needs after these margins were changed; None leaves a target out."""
        found = dict(self.needs)
        for query, margin in margins.items():
            if margin is None:
                found.pop(query, None)
            else:
                found[query] = self.need(query, margin)
        return found

    def excess(self, margins: Mapping[Key, Fraction | None]) -> Fraction:
        """Return by how much the most violated cap is exceeded after a change, at most 0 when all are kept."""
        needs = self.changed(margins)
        groups = self.ledger.groups_of(margins)
        excesses = []
        for (cap, allowed), total, known in zip(self.separated.caps, self.sums, self.group_sums, strict=True):
            moved = sum((self.ledger.group_sum(cap, g, needs) - known[id(g)] for g in groups), Fraction(0))
            excesses.append(total + moved - allowed)
        return max(excesses)

    def keeps(self, margins: Mapping[Key, Fraction | None]) -> bool:
        """Return whether every cap is kept after a change: by floats where rounding cannot matter, else exactly."""
        factors = {q: None if new is None else float(new) / self.widths[q] for q, new in margins.items()}
        return self.keeps_roughly(factors, lambda: margins)

    def keeps_roughly(
        self, factors: Mapping[Key, float | None], exactly: Callable[[], Mapping[Key, Fraction | None]]
    ) -> bool:
        """Return whether every cap is kept when targets widen by these factors.

        Args:
            factors: new margin over the old one; None leaves a target out.
            exactly: the new margins, asked for where floats cannot tell.
        """
        groups = self.ledger.groups_of(factors)
        for number, (cap, _) in enumerate(self.separated.caps):
            total = self.rough_total(number, cap, factors, groups)
            # Each budget moves by a step at most; floats add relative errors far below 1e-9.
            slack = self.step * len(self.needs) + 1e-9 * total
            if total > self.rough_limits[number] + slack:
                return False
            if total > self.rough_limits[number] - slack or not self.is_proportional:
                return self.excess(exactly()) <= 0
        return True

    def rough_total(self, number: int, cap: Cap, factors: Mapping[Key, float | None], groups: Sequence[Group]) -> float:
        """Return about what a cap counts when the targets of these groups widen by these factors."""
        total = self.rough_sums[number]
        for group in groups:
            base, members = self.rough_groups[id(group)]
            scale = base
            if not group.is_locked:
                for query, ratio, _, _ in members:
                    if ratio and (widened := factors.get(query, 1.0)) is not None:
                        scale = max(scale, ratio / (widened * widened))
            for query, _, weight, floor in members:
                if cap.queries is None or query in cap.queries:
                    total += max(scale * weight, floor)
            total -= self.rough_group_sums[number][id(group)]
        return total

    def freed(self, margins: Mapping[Key, Fraction | None]) -> Fraction:
        """Return how much smaller the sum of all budgets becomes."""
        after = self.separated.budgets(self.changed(margins)).values()
        return self.everything - sum((b for b in after if isinstance(b, Fraction)), Fraction(0))


def _rough(group: Group) -> tuple[float, tuple[tuple[Key, float, float, float], ...]]:
    """Return the base of a group and, per member, query, need per weight (0 without a target), weight and floor."""
    members = tuple(
        (m.query, float(m.need / m.weight) if m.need is not None else 0.0, float(m.weight), float(m.floor))
        for m in group.members
    )
    return float(group.base), members


def _ways_out(
    system: BudgetModel, goals: Goals, separated: Separated, needs: Mapping[Key, Fraction]
) -> tuple[Relaxation, ...]:
    """Return relaxations after which every cap is kept, the gentlest widening first."""
    trial = _Trial(system, goals, separated, needs)
    found: list[Relaxation] = []
    for level, queries in _by_level(goals).items():
        found += _one_for_all(trial, queries, RelaxationKind.LEVEL, level)
    for query in goals.margins:
        found += _one_for_all(trial, (query,), RelaxationKind.ONE_TARGET, None)
    found.sort(key=lambda way: (way.widening, way.people))
    joint = [*_in_proportion(trial), *_fewest_people(trial)]
    left_out = _left_out(trial)
    known: set[tuple[tuple[Key, Fraction | None], ...]] = set()
    ways: list[Relaxation] = []
    for way in [*found[:3], *joint, *left_out, *found[3:]]:
        key = tuple((query, new) for query, (_, new) in way.margins.items())
        if key not in known:
            known.add(key)
            ways.append(way)
    return tuple(ways[:MOST_RELAXATIONS])


def _by_level(goals: Goals) -> dict[tuple[str, Fraction], tuple[Key, ...]]:
    found: dict[tuple[str, Fraction], tuple[Key, ...]] = {}
    for query, margin in goals.margins.items():
        place = (level_title(query), margin)
        found[place] = (*found.get(place, ()), query)
    return {place: queries for place, queries in found.items() if len(queries) > 1}


def _one_for_all(
    trial: _Trial,
    queries: Sequence[Key],
    kind: RelaxationKind,
    level: tuple[str, Fraction] | None,
) -> list[Relaxation]:
    """Return the smallest common margin of these queries that keeps every cap, none when no margin does."""
    nothing: dict[Key, Fraction | None] = dict.fromkeys(queries)
    if not trial.keeps(nothing):
        return []
    old = trial.goals.margins[queries[0]]
    step = step_of(old)
    affected = sum((trial.needs[q] for q in queries if q in trial.needs), Fraction(0))
    left = affected - trial.excess(dict.fromkeys(queries, old))
    start = float(old) * math.sqrt(float(affected) / float(left)) if left > 0 else float(old) * 1024
    margin = max(old + step, Fraction(math.ceil(start / step)) * step)
    settled = _settled(trial, queries, old, margin, step)
    if settled is None:
        return []
    margins: dict[Key, Fraction | None] = dict.fromkeys(queries, settled)
    if level is None:
        name = title_of(queries[0])
    elif isinstance(queries[0], QueryKey):
        name = plural("{level} in {n} table", "{level} in {n} tables", n=len(queries), level=level[0])
    else:
        name = plural("{level} in {n} query", "{level} in {n} queries", n=len(queries), level=level[0])
    return [_relaxation(trial, kind, name, margins)]


def _settled(trial: _Trial, queries: Sequence[Key], old: Fraction, margin: Fraction, step: Fraction) -> Fraction | None:
    """Return the smallest multiple of the step from a guess on that keeps every cap."""
    jump = step
    for _ in range(_STEPS_OF_A_WALK):
        if trial.keeps(dict.fromkeys(queries, margin)):
            break
        margin, jump = margin + jump, 2 * jump
    else:
        return None
    low, high = old, margin
    while high - low > step:
        middle = low + ((high - low) / step // 2) * step
        if trial.keeps(dict.fromkeys(queries, middle)):
            high = middle
        else:
            low = middle
    return high


def step_of(margin: Fraction) -> Fraction:
    """Return in which steps a margin is moved: whole people, or hundredths where it is not whole."""
    return Fraction(1) if margin.denominator == 1 else Fraction(1, 100)


def _relaxation(trial: _Trial, kind: RelaxationKind, name: str, margins: Mapping[Key, Fraction | None]) -> Relaxation:
    moved = {query: (trial.goals.margins[query], new) for query, new in margins.items()}
    people = sum((new - old for old, new in moved.values() if new is not None), Fraction(0))
    widening = max((float(new / old) if new is not None else math.inf for old, new in moved.values()), default=1.0)
    freed = trial.freed(margins)
    freed_text = _freed_text(trial, freed)
    first = next(iter(moved.values()))
    match kind:
        case RelaxationKind.ONE_TARGET | RelaxationKind.LEVEL:
            old, new = first
            text = msg(
                "{name} {old} → {new} frees {freed}",
                name=name,
                old=Number(exact_text(old)),
                new=Number(exact_text(new or old)),
                freed=freed_text,
            )
        case RelaxationKind.UNPUBLISHED:
            text = msg("leave {name} unpublished, which frees {freed}", name=name, freed=freed_text)
        case _:
            text = plural(
                "{name} ({n} target, {people:,} {unit} together, at most × {widening:.3f}) frees {freed}",
                "{name} ({n} targets, {people:,} {unit} together, at most × {widening:.3f}) frees {freed}",
                n=len(moved),
                name=name,
                people=math.ceil(people),
                unit=unit_of(trial.system, moved),
                widening=widening,
                freed=freed_text,
            )
    return Relaxation(kind, text, moved, freed, people, widening)


def _freed_text(trial: _Trial, freed: Fraction) -> str:
    """Return a freed budget as the caps count it: whoever caps the bounded loss is answered in it."""
    if not trial.system.doubles:
        return Number(short_text(freed))
    is_bounded = any(cap.on is CapOn.BOUNDED for cap, _ in trial.separated.caps)
    named: dict[str, str] = {
        "symbol": trial.system.framework.symbol,
        "budget": Number(short_text(2 * freed if is_bounded else freed)),
    }
    return msg("bounded {symbol} {budget}", **named) if is_bounded else msg("unbounded {symbol} {budget}", **named)


def _joint_targets(trial: _Trial) -> dict[Key, Fraction]:
    """Return the targets that can move: those in groups no lock holds."""
    free = {m.query for group in trial.separated.groups if not group.is_locked for m in group.members}
    return {query: margin for query, margin in trial.goals.margins.items() if query in free}


def _in_proportion(trial: _Trial) -> list[Relaxation]:
    """Return all targets widened by one factor, each rounded up to whole people."""
    targets = _joint_targets(trial)
    return _smallest(
        trial,
        targets,
        lambda factor: {query: trial.widths[query] * factor for query in targets},
        msg("all targets by one factor"),
        RelaxationKind.IN_PROPORTION,
    )


def _fewest_people(trial: _Trial) -> list[Relaxation]:
    """Return the widening with the fewest people in all: min Σ m subject to Σ A/m² ≤ B has m³ in proportion to A."""
    targets = _joint_targets(trial)
    roots = {query: (float(trial.needs[query]) * trial.widths[query] ** 2) ** (1 / 3) for query in targets}
    unit = min((trial.widths[query] / root for query, root in roots.items() if root), default=1.0)
    return _smallest(
        trial,
        targets,
        lambda factor: {query: max(trial.widths[query], factor * unit * root) for query, root in roots.items()},
        msg("the fewest {unit} in all", unit=unit_of(trial.system, targets)),
        RelaxationKind.FEWEST_PEOPLE,
    )


def _smallest(
    trial: _Trial, targets: Mapping[Key, Fraction], widths_at: _WidthsAt, name: str, kind: RelaxationKind
) -> list[Relaxation]:
    """Return the relaxation of the smallest factor that keeps every cap, by bisection: margins grow with the factor.

    Margins are counted in steps (whole people), because fractions are slow and a search tries a hundred settings.
    """
    steps = {query: step_of(margin) for query, margin in targets.items()}
    sizes = {query: float(step) for query, step in steps.items()}

    def counts_at(factor: float) -> dict[Key, int]:
        widths = widths_at(factor)
        return {query: math.ceil(width / sizes[query] - 1e-9) for query, width in widths.items()}

    def exactly(counts: Mapping[Key, int]) -> dict[Key, Fraction | None]:
        return {query: max(targets[query], count * steps[query]) for query, count in counts.items()}

    def keeps(counts: Mapping[Key, int]) -> bool:
        widths = trial.widths
        factors: dict[Key, float | None] = {q: max(1.0, n * sizes[q] / widths[q]) for q, n in counts.items()}
        return trial.keeps_roughly(factors, lambda: exactly(counts))

    low, high = 1.0, 1.0 + _FIRST_WIDENING
    while not keeps(counts_at(high)):
        low, high = high, 1 + 2 * (high - 1) if high < 2 else high * 2
        if high > _LARGEST_WIDENING:
            return []
    least, most = counts_at(low), counts_at(high)
    while high - low > _FINEST_WIDENING * low and least != most:
        middle = (low + high) / 2
        tried = counts_at(middle)
        if keeps(tried):
            high, most = middle, tried
        else:
            low, least = middle, tried
    margins = {query: new for query, new in exactly(most).items() if new != targets[query]}
    return [_relaxation(trial, kind, name, margins)] if margins else []


def _left_out(trial: _Trial) -> list[Relaxation]:
    """Return the cheapest single query whose absence keeps every cap: the least accurate of those that suffice."""
    alone = [
        group.members[0].query
        for group in trial.separated.groups
        if len(group.members) == 1 and not group.is_locked and group.members[0].query in trial.needs
    ]
    enough = [query for query in alone if trial.keeps({query: None})]
    if not enough:
        return []
    query = min(enough, key=lambda q: trial.needs[q])
    return [_relaxation(trial, RelaxationKind.UNPUBLISHED, title_of(query), {query: None})]
