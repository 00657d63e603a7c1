"""A scenario as everything sees it that trades budgets: solving, the trade-off, committees, and what leaving out frees."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass
from fractions import Fraction
from statistics import median_low
from typing import Any, ClassVar, Protocol

from phexplore.accuracy.proven_loss import Answers
from phexplore.catalog.tables import counted_together
from phexplore.model.conventions import Conventions, Neighbours
from phexplore.model.goals import Key
from phexplore.model.numbers import Budget, Unlimited
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario

NumberKey = tuple[str, Hashable]
"""Kind of number and which one: ``("budget", PH3/state_A-G)``."""

Numbers = dict[NumberKey, Fraction | None]
"""What members of a committee can move; None for an unlimited budget."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What leaving out a group of queries frees and loses.

    Attributes:
        name: of the group, e.g. a level.
        queries: left out together.
        frees: budget, exact.
        share: of the total.
        numbers: how many published numbers would be lost (TopDown: answers per unit).
        averages: published averages that need one of the queries.
    """

    name: str
    queries: tuple[Any, ...]
    frees: Fraction
    share: float
    numbers: int
    averages: tuple[str, ...]


class CommitteeModel(Protocol):
    """What members of a committee move in a scenario."""

    def numbers(self) -> Numbers:
        """Return every number a member of a committee can move."""

    def confirm_comparable(self, other: Scenario) -> None:
        """Raise a `ComparisonError` when a proposal cannot be laid over this scenario."""

    def middle(self, proposals: Sequence[Numbers]) -> Scenario:
        """Return this scenario with the lower median of every number of the proposals."""


class LeavingOut(Protocol):
    """What leaving out parts of a scenario frees and loses."""

    def by_level(self) -> tuple[LeftOut, ...]:
        """Return what leaving out each level frees and loses, in the scenario's order."""

    def by_query(self) -> tuple[LeftOut, ...]:
        """Return what leaving out each published query frees and loses, in the scenario's order."""

    def without(self, queries: Sequence[Key]) -> Scenario:
        """Return the scenario without these queries; what they had is saved, not given to others.

        Raises:
            EditRefusedError: a query is locked, or nothing would be left.
        """


class KnownScenario(Protocol):
    """A scenario with what is told of its numbers; a frozen dataclass."""

    @property
    def scenario(self) -> Scenario:
        """The scenario itself."""

    @property
    def conventions(self) -> Conventions:
        """Margins and rounding."""

    def counted_in(self, key: Key) -> str:
        """Return what an answer of a query and its margin count, plural, e.g. people or households."""


class BudgetModel(KnownScenario, Protocol):
    """One scenario with its budgets, and how a budget and a margin go together; a frozen dataclass.

    Attributes:
        keeps_targets: the scenario keeps targets of its own; else the project's goals alone hold what is asked.
        doubles: the bounded loss is twice the sum of the budgets.
        gives_way: queries nobody asks anything of shrink to keep a cap.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    keeps_targets: ClassVar[bool]
    doubles: ClassVar[bool]
    gives_way: ClassVar[bool]

    @property
    def framework(self) -> PrivacyFramework:
        """What the budgets are: ρ or ε."""

    @property
    def budgets(self) -> Mapping[Key, Budget]:
        """Present budget of every query, in the scenario's order."""

    @property
    def total(self) -> Budget:
        """The sum of all budgets."""

    @property
    def targets(self) -> Mapping[Key, Fraction]:
        """Margins the scenario itself aims at."""

    @property
    def locks(self) -> frozenset[Key]:
        """Queries whose budget stays."""

    def spread(self, key: Key) -> Fraction:
        """Return what a budget is in proportion to when queries have equal noise."""

    def noise_price(self, key: Key) -> Fraction:
        """Return σ² times ρ of one answer under zCDP, in people²."""

    def noise(self, budgets: Mapping[Key, Budget], neighbours: Neighbours) -> Answers:
        """Return the answers with discrete Gaussian noise that neighbouring inputs change; empty where nothing is proven from them.

        Args:
            budgets: of the queries that count.
            neighbours: which inputs.
        """

    def need(self, key: Key, margin: Fraction) -> Fraction:
        """Return the unrounded budget of a margin in people.

        Args:
            key: the query.
            margin: in people, above 0.
        """

    def margin(self, key: Key, budget: Fraction) -> float:
        """Return the margin, in people, of a positive budget.

        Args:
            key: the query.
            budget: ρ or ε of the framework, above 0.
        """

    def with_targets(self, changes: Mapping[Key, Fraction | None]) -> Scenario:
        """Return the scenario with these targets in people, None for none; as it is where it keeps none.

        Raises:
            ValueError: a target is not more than 0.
        """

    def with_lock(self, key: Key, *, locked: bool) -> Scenario:
        """Return the scenario with the budget of a query locked or free.

        Args:
            key: the query.
            locked: whether solving must leave its budget alone.
        """

    def scopes(self) -> Mapping[str, tuple[Key, ...]]:
        """Return what goals can be set for at once: everything, a table or level, a level or query of all, by title."""

    def with_solved(
        self, budgets: Mapping[Key, Budget], margins: Mapping[Key, Fraction], most: Fraction | None
    ) -> Scenario:
        """Return the scenario with solved budgets and the margins asked for.

        Args:
            budgets: rounded budget of each query that changes.
            margins: target of each query that has one, in people.
            most: largest sum of budgets that a cap allows, None without a cap.
        """

    def with_traded(self, budgets: Mapping[Key, Fraction]) -> Scenario:
        """Return the scenario with these budgets rounded down to what its files can say; locked ones stay."""

    @property
    def committee(self) -> CommitteeModel:
        """What members of a committee move."""

    @property
    def leaving(self) -> LeavingOut:
        """What can be left out."""


@dataclass(frozen=True, slots=True)
class ScenarioBudgets:
    """What the models of all systems have: a scenario and its conventions."""

    scenario: Scenario

    @property
    def conventions(self) -> Conventions:
        """Margins and rounding."""
        return self.scenario.conventions

    def counted_in(self, key: Key) -> str:
        """Return "people", unless queries of a system count something else."""
        del key
        return "people"

    @property
    def targets(self) -> Mapping[Key, Fraction]:
        """None, unless scenarios of a system keep targets of their own."""
        return {}


def middle_of(proposals: Sequence[Numbers], kind: str, key: Hashable) -> Fraction | None:
    """Return the lower median of one number over all proposals that have it, None when nobody has.

    Args:
        proposals: the numbers of each member.
        kind: of the number, e.g. ``"budget"``.
        key: which one of that kind.
    """
    known = [value for table in proposals if (value := table.get((kind, key))) is not None]
    return median_low(known) if known else None


def unit_of(model: BudgetModel, keys: Iterable[Key]) -> str:
    """Return what the margins of some queries count where they stand together, e.g. people, or people or households.

    Args:
        model: of the scenario.
        keys: of the queries; none stand for all of the scenario.
    """
    return counted_together(map(model.counted_in, tuple(keys) or model.budgets))


def margin_of(model: BudgetModel, key: Key, budget: Budget) -> float | None:
    """Return the margin of a budget in people, None where there is no noise or no number.

    Args:
        model: of the scenario.
        key: whose margin.
        budget: it has.
    """
    return None if isinstance(budget, Unlimited) or budget == 0 else model.margin(key, budget)
