"""TopDown's budgets as solving sees them."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from statistics import median_low
from typing import ClassVar, TypeVar

from phexplore.accuracy.budget_model import LeftOut, Numbers, ScenarioBudgets, middle_of
from phexplore.accuracy.margins import margin_by, normal_factor
from phexplore.accuracy.proven_loss import Answers
from phexplore.errors import ComparisonError
from phexplore.model.conventions import MarginConvention, Neighbours
from phexplore.model.edits import EditRefusedError, set_item
from phexplore.model.goals import Key
from phexplore.model.numbers import Budget
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.topdown.forecast import noise_of, query_of
from phexplore.systems.topdown.ini_writing import exact_scale
from phexplore.systems.topdown.proven_loss import parts_of, possible_halves
from phexplore.systems.topdown.wording import counted, level_title, place_title, query_title

Kind = TypeVar("Kind", bound=Hashable)

SHARE_STEP = Fraction(1, 10**6)
_SCALE_STEP = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class TopDownBudgets(ScenarioBudgets):
    """A TopDown scenario, every query measured by itself: what least squares adds is not in these margins."""

    # What is asked stands in the project alone, budgets are under replaced records already, and shares of a whole make room.
    keeps_targets: ClassVar[bool] = False
    doubles: ClassVar[bool] = False
    gives_way: ClassVar[bool] = True

    @property
    def method(self) -> TopDown:
        """Its parameters."""
        return self.scenario.topdown

    def counted_in(self, key: Key) -> str:
        """Return what the schema counts: the same at every level."""
        return counted_by(self.scenario, key)

    @property
    def framework(self) -> PrivacyFramework:
        """ZCDP or pure DP."""
        return self.method.framework

    @property
    def budgets(self) -> Mapping[Key, Budget]:
        """Absolute budgets."""
        return {key: self.method.budget(key) for key in self.method.query_shares}

    @property
    def total(self) -> Budget:
        """ρ or ε of the whole."""
        return self.method.total

    @property
    def locks(self) -> frozenset[Key]:
        """Locked queries, and all of locked levels."""
        method = self.method
        return frozenset(
            k for k in method.query_shares if k in method.locked_queries or k.level in method.locked_levels
        )

    def spread(self, key: Key) -> Fraction:
        """Return 1: every query group has the same sensitivity."""
        del key
        return Fraction(1)

    def need(self, key: Key, margin: Fraction) -> Fraction:
        """Return the unrounded budget of a margin: ρ = z²/m², since σ² = 1/ρ.

        Args:
            key: level and query group.
            margin: of one answer, in counted units.
        """
        del key
        conventions = self.conventions
        if self.framework is PrivacyFramework.ZCDP and conventions.margin is MarginConvention.NORMAL:
            return (normal_factor(conventions.confidence, conventions.z) / margin) ** 2
        # The smallest multiple of 1/1024 of the rounding step that keeps the margin: margins fall as budgets grow.
        step = conventions.rounding_step / 1024
        low, high = 0, 1
        while self._margin(high * step) > margin:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._margin(middle * step) > margin else (low, middle)
        return high * step

    def margin(self, key: Key, budget: Fraction) -> float:
        """Return the margin of a budget.

        Args:
            key: level and query group.
            budget: ρ or ε, exact.
        """
        del key
        return self._margin(budget)

    def _margin(self, budget: Fraction) -> float:
        noise, _ = noise_of(self.framework, budget)
        return margin_by(noise, self.conventions)

    def noise_price(self, key: Key) -> Fraction:
        """Return 1: σ² = 1/ρ."""
        del key
        return Fraction(1)

    def noise(self, budgets: Mapping[Key, Budget], neighbours: Neighbours) -> Answers:
        """Return two answers per query group: a record is replaced, whatever the neighbours asked for; arguments as in `BudgetModel.noise`."""
        del neighbours
        exact = {key: budget for key in self.method.query_shares if isinstance(budget := budgets.get(key), Fraction)}
        whole = sum(exact.values(), Fraction(0))
        # What a path holds follows from the budgets of all queries alone.
        is_whole = whole > 0 and len(exact) == len(self.method.query_shares)
        halves = possible_halves(_dividing(self.method, exact, whole)) if is_whole else ()
        return Answers(parts_of(self.method, budgets), halves)

    def with_targets(self, changes: Mapping[Key, Fraction | None]) -> Scenario:
        """Return the scenario as it is: it keeps no targets."""
        del changes
        return self.scenario

    def with_lock(self, key: Key, *, locked: bool) -> Scenario:
        """Return the scenario with the share of a query locked or free; it is free when its level is, too.

        Args:
            key: level and query group.
            locked: whether it is to stay.
        """
        if not isinstance(key, LevelQuery):
            raise TypeError(f"{key.text} is no query of TopDown")
        scenario = self.scenario if locked else set_item(self.scenario, "locked_levels", key.level, value=False)
        return set_item(scenario, "locked_queries", key, value=locked)

    def scopes(self) -> Mapping[str, tuple[Key, ...]]:
        """Return all queries, those of every level, and each at all levels."""
        keys = tuple(self.method.query_shares)
        found: dict[str, tuple[Key, ...]] = {"All queries": keys}
        for name in dict.fromkeys(key.level for key in keys):
            found[f"Level {level_title(name)}"] = tuple(key for key in keys if key.level == name)
        for name in dict.fromkeys(key.query for key in keys):
            found[f"{query_title(name)}, all levels"] = tuple(key for key in keys if key.query == name)
        return {title: chosen for title, chosen in found.items() if chosen}

    def with_solved(
        self, budgets: Mapping[Key, Budget], margins: Mapping[Key, Fraction], most: Fraction | None
    ) -> Scenario:
        """Return the scenario with solved budgets as a total and shares.

        Args:
            budgets: absolute, exact.
            margins: what they were solved for.
            most: largest total, None for no limit.
        """
        del margins
        exact = {key: budget for key in self.method.query_shares if isinstance(budget := budgets[key], Fraction)}
        # What a solution did not move may be locked by its goals.
        still = [key for key, budget in exact.items() if budget == self.method.budget(key)]
        if len(still) == len(exact):
            return self.scenario  # a total in another form would change every budget in its last digits
        return replace(self.scenario, method=with_budgets(self.method, exact, most, still))

    def with_traded(self, budgets: Mapping[Key, Fraction]) -> Scenario:
        """Return the scenario with these budgets as a total of the form production's files have, and shares."""
        method = self.method
        by_level = {
            level: {key: budgets.get(key, Fraction(0)) for key in method.query_shares if key.level == level}
            for level in method.levels
        }
        whole = sum((sum(column.values(), Fraction(0)) for column in by_level.values()), Fraction(0))
        factor = whole / method.total
        if all(budgets.get(key) == factor * method.budget(key) for key in method.query_shares if method.budget(key)):
            # All moved together: shares stay as they are written.
            return replace(self.scenario, method=replace(method, total=total_with_scale(whole)))
        if self.locks:
            moved = max((part for key, part in budgets.items() if key not in self.locks), default=Fraction(0))
            # What the form of the total takes away is taken from what may move.
            scaled = total_with_scale(whole)
            total = scaled if whole - scaled < moved else whole
            step = total * SHARE_STEP
            down = {
                key: part if key in self.locks else part // step * step
                for column in by_level.values()
                for key, part in column.items()
            }
            return replace(self.scenario, method=_dividing(method, down, total))
        levels = shares_of({level: sum(column.values(), Fraction(0)) for level, column in by_level.items()})
        shares: dict[LevelQuery, Fraction] = {}
        for column in by_level.values():
            if sum(column.values(), Fraction(0)) > 0:
                shares |= shares_of(column)
            else:
                shares |= {key: method.query_shares[key] for key in column}
        ordered = {key: shares[key] for key in method.query_shares}
        made = replace(method, total=total_with_scale(whole), level_shares=levels, query_shares=ordered)
        return replace(self.scenario, method=made)

    @property
    def committee(self) -> TopDownCommittee:
        """What members of a committee move."""
        return TopDownCommittee(self.scenario)

    @property
    def leaving(self) -> TopDownLeavingOut:
        """What can be left out."""
        return TopDownLeavingOut(self.scenario)


def counted_by(scenario: Scenario, _key: Key | None) -> str:
    """Return what the schema counts; all its queries count the same."""
    return counted(scenario.topdown.schema)


@dataclass(frozen=True, slots=True)
class TopDownCommittee(ScenarioBudgets):
    """A TopDown scenario as a committee moves it."""

    @property
    def method(self) -> TopDown:
        """Its parameters."""
        return self.scenario.topdown

    def numbers(self) -> Numbers:
        """Return the total, level shares and query shares."""
        method = self.method
        found: Numbers = {("total", ""): method.total}
        found |= {("level share", level): method.level_shares[level] for level in method.levels}
        return found | {("query share", key): share for key, share in method.query_shares.items()}

    def confirm_comparable(self, other: Scenario) -> None:
        """Refuse a proposal of other levels, schema or framework."""
        here, there = self.method, other.topdown
        if (here.schema, here.levels, here.framework) != (there.schema, there.levels, there.framework):
            raise ComparisonError(
                f"{other.name!r} has other levels, schema or framework than {self.scenario.name!r}.",
                "Agree on these first; shares of different levels cannot be averaged.",
            )

    def middle(self, proposals: Sequence[Numbers]) -> Scenario:
        """Return the scenario with the lower median of every number; shares are brought back to a sum of exactly 1.

        A total that is a middle keeps the form production's files have if all proposals had it.
        """
        method = self.method
        total = middle_of(proposals, "total", "") or method.total
        levels = {level: middle_of(proposals, "level share", level) or Fraction(0) for level in method.levels}
        keys = dict.fromkeys(key for table in proposals for kind, key in table if kind == "query share")
        shares: dict[LevelQuery, Fraction] = {}
        for level in method.levels:
            # A query that a member does not ask has the share 0 there.
            column = {
                key: median_low([table.get(("query share", key)) or Fraction(0) for table in proposals])
                for key in keys
                if isinstance(key, LevelQuery) and key.level == level
            }
            shares |= _whole(column)
        if exact_scale(total) is None and all(
            exact_scale(table["total", ""] or Fraction(1)) is not None for table in proposals
        ):
            total = total_with_scale(total)
        return replace(
            self.scenario, method=replace(method, total=total, level_shares=_whole(levels), query_shares=shares)
        )


@dataclass(frozen=True, slots=True)
class TopDownLeavingOut(ScenarioBudgets):
    """A TopDown scenario without some of its queries."""

    @property
    def method(self) -> TopDown:
        """Its parameters."""
        return self.scenario.topdown

    def by_level(self) -> tuple[LeftOut, ...]:
        """Return what leaving out each geographic level frees and loses."""
        measured = self._measured
        return self._left_out(
            (level_title(level), tuple(k for k in measured if k.level == level)) for level in self.method.levels
        )

    def by_query(self) -> tuple[LeftOut, ...]:
        """Return what leaving out each measured query frees and loses."""
        return self._left_out((place_title(key), (key,)) for key in self._measured)

    def without(self, queries: Sequence[Key]) -> Scenario:
        """Return the scenario without these queries; the total keeps a form that production's files can say."""
        method = self.method
        gone = {key for key in queries if isinstance(key, LevelQuery)}
        if held := sorted(k.text for k in gone if k in method.locked_queries or k.level in method.locked_levels):
            raise EditRefusedError(f"{held[0]} is locked.", "Unlock it first.")
        budgets = {key: Fraction(0) if key in gone else method.budget(key) for key in method.query_shares}
        if not sum(budgets.values(), Fraction(0)):
            raise EditRefusedError("Nothing would be measured any more.", "Leave out less.")
        return replace(self.scenario, method=with_budgets(method, budgets, method.total))

    @property
    def _measured(self) -> list[LevelQuery]:
        return [key for key in self.method.query_shares if self.method.budget(key) > 0]

    def _left_out(self, groups: Iterable[tuple[str, tuple[LevelQuery, ...]]]) -> tuple[LeftOut, ...]:
        method, found = self.method, []
        for name, keys in groups:
            frees = sum((method.budget(key) for key in keys), Fraction(0))
            answers = sum(query_of(method.schema, key.query).answers for key in keys)
            if keys:
                found.append(LeftOut(name, keys, frees, float(frees / method.total), answers, ()))
        return tuple(found)


def shares_of(parts: Mapping[Kind, Fraction]) -> dict[Kind, Fraction]:
    """Return shares in proportion to the parts: multiples of one millionth that add to exactly 1."""
    whole = sum(parts.values(), Fraction(0))
    shares = {key: part / whole // SHARE_STEP * SHARE_STEP for key, part in parts.items()}
    largest = max(parts, key=lambda key: parts[key])
    shares[largest] += 1 - sum(shares.values(), Fraction(0))
    return shares


def total_with_scale(total: Fraction) -> Fraction:
    """Return the largest ρ = 1/s² not above a total with s a multiple of 1e-6: the form production's files have."""
    steps = math.isqrt(math.ceil(1 / (total * _SCALE_STEP**2)) - 1) + 1
    return 1 / (steps * _SCALE_STEP) ** 2


def _whole(parts: dict[Kind, Fraction]) -> dict[Kind, Fraction]:
    """Return shares that add to exactly 1: as they are where they do, else in proportion."""
    if sum(parts.values(), Fraction(0)) == 1:
        return parts
    if not any(parts.values()):
        raise ComparisonError(
            "The middle of the proposals leaves a level without any share.", "Agree on its queries first."
        )
    return shares_of(parts)


_FINEST_SCALE = 15


def with_budgets(
    method: TopDown,
    budgets: Mapping[LevelQuery, Fraction],
    cap: Fraction | None = None,
    still: Collection[LevelQuery] = (),
) -> TopDown:
    """Return the method with these absolute budgets, or a little more.

    Under zCDP production writes ρ as 1/scale² with a rational scale. The total is raised to the next such number, with the
    coarsest scale that exceeds neither the sum by more than one part in a million nor the cap; the largest query that is
    not locked takes the difference. Where no scale of 15 decimals fits under the cap, the total is the sum itself.

    Args:
        method: asks the same queries.
        budgets: one per query, exact, not all 0.
        cap: the total may not exceed it.
        still: queries that do not take the difference, where others can.
    """
    whole = sum(budgets.values(), Fraction(0))
    total = _with_scale(whole, cap) if method.framework is PrivacyFramework.ZCDP else whole
    return _dividing(method, budgets, total, still)


def _dividing(
    method: TopDown, budgets: Mapping[LevelQuery, Fraction], total: Fraction, still: Collection[LevelQuery] = ()
) -> TopDown:
    """Return the method with a total, of which the largest query that is not locked takes what the budgets differ by."""
    free = [key for key in budgets if key not in method.locked_queries and key.level not in method.locked_levels]
    largest = max([key for key in free if key not in still] or free or budgets, key=lambda key: budgets[key])
    rest = total - sum(budgets.values(), Fraction(0))
    given = {key: budgets[key] + (rest if key == largest else 0) for key in method.query_shares}
    levels = {level: sum((b for key, b in given.items() if key.level == level), Fraction(0)) for level in method.levels}
    shares = {
        key: budget / levels[key.level] if levels[key.level] else method.query_shares[key]
        for key, budget in given.items()
    }
    return replace(
        method,
        total=total,
        level_shares={level: part / total for level, part in levels.items()},
        query_shares=shares,
    )


def _with_scale(total: Fraction, cap: Fraction | None) -> Fraction:
    for digits in range(4, _FINEST_SCALE + 1):
        step = Fraction(1, 10**digits)
        wanted = 1 / total / step**2
        scale = isqrt(wanted.numerator // wanted.denominator) * step  # downward: ρ upward
        if scale > 0:
            found = 1 / scale**2
            if found <= total * (1 + Fraction(1, 10**6)) and (cap is None or found <= cap):
                return found
    return total
