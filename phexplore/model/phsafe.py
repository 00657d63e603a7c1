"""The parameters of PHSafe: everything its production configuration lets a committee choose."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from phexplore.model.data_kinds import DataKind
from phexplore.model.keys import QueryKey, TableId
from phexplore.model.numbers import Budget, Unlimited, exact_text, is_bounded, require_bounded

Key = TypeVar("Key")
Value = TypeVar("Value")


class PrivacyFramework(enum.Enum):
    """The definition of privacy a run satisfies. The value is the spelling of config.json."""

    ZCDP = "zcdp"
    PURE_DP = "puredp"

    @property
    def symbol(self) -> str:
        """The letter of its budget."""
        return "ρ" if self is PrivacyFramework.ZCDP else "ε"


@dataclass(frozen=True, slots=True, eq=True)
class PhSafe:
    """Parameters of one PHSafe run.

    Attributes:
        budgets: per measured query; 0 = not published. All queries of the product are present.
        thresholds: truncation threshold τ per truncated table, people per household, at least 1.
        states: two-digit codes of the states in the run.
        framework: zero-concentrated or pure differential privacy.
        reader: "csv" or "cef", how production reads its input.
        targets: margin of error aimed at per query, in people, > 0; absent = none.
        locks: queries whose budget must not be changed.
    """

    data_kind: ClassVar[DataKind] = DataKind.POPULATION
    demonstration: ClassVar[str] = ""

    budgets: Mapping[QueryKey, Budget]
    thresholds: Mapping[TableId, int]
    states: tuple[str, ...]
    framework: PrivacyFramework = PrivacyFramework.ZCDP
    reader: str = "csv"
    targets: Mapping[QueryKey, Fraction] = field(default_factory=dict)
    locks: frozenset[QueryKey] = frozenset()

    def __post_init__(self) -> None:
        """Refuse impossible values and freeze the mappings."""
        _require_budgets(self.budgets)
        for table, threshold in self.thresholds.items():
            if threshold < 1:
                raise ValueError(f"the truncation threshold of {table} keeps at least 1 person, got {threshold}")
        for query, target in self.targets.items():
            if target.numerator <= 0:
                raise ValueError(f"the margin target of {query.text} is positive, got {target}")
            if not is_bounded(target):
                require_bounded(target, f"the margin target of {query.text}")
        for name in ("budgets", "thresholds", "targets"):
            object.__setattr__(self, name, MappingProxyType(_copied(getattr(self, name))))

    def __hash__(self) -> int:
        """Hash by content."""
        return hash((frozenset(self.budgets.items()), frozenset(self.thresholds.items()), self.states))

    def __reduce__(self) -> tuple[object, ...]:
        """Let the read-only mappings cross a process border."""
        return (
            PhSafe,
            (
                dict(self.budgets),
                dict(self.thresholds),
                self.states,
                self.framework,
                self.reader,
                dict(self.targets),
                self.locks,
            ),
        )

    def canonical(self) -> dict[str, Any]:
        """Return what the fingerprint is taken of, in plain values; its form never changes."""
        return {
            "method": "phsafe",
            "framework": self.framework.value,
            "budgets": {query.text: exact_text(budget) for query, budget in self.budgets.items()},
            "thresholds": dict(self.thresholds),
            "states": sorted(self.states),
        }

    @property
    def published(self) -> tuple[QueryKey, ...]:
        """The queries with a budget, in catalogue order."""
        return tuple(query for query, budget in self.budgets.items() if budget != 0)

    def with_budgets(self, budgets: Mapping[QueryKey, Budget]) -> PhSafe:
        """Return these parameters with other budgets of some queries.

        Only these are checked, the others were when they came: an edit and a step of a log cost what they change.

        Args:
            budgets: of the queries that get another one, 0 or more.

        Raises:
            ValueError: a budget is negative, or beyond what `require_bounded` allows.
        """
        _require_budgets(budgets)
        made = object.__new__(PhSafe)
        for part in fields(self):
            object.__setattr__(made, part.name, getattr(self, part.name))
        object.__setattr__(made, "budgets", MappingProxyType(_copied(self.budgets) | dict(budgets)))
        return made


def _copied(values: Mapping[Key, Value]) -> dict[Key, Value]:
    """Return a copy; dictionaries and read-only ones copy themselves without hashing every key again."""
    return values.copy() if isinstance(values, dict | MappingProxyType) else dict(values)


def _require_budgets(budgets: Mapping[QueryKey, Budget]) -> None:
    for query, budget in budgets.items():
        if not isinstance(budget, Unlimited) and not (budget.numerator >= 0 and is_bounded(budget)):
            raise _refusal(query, budget)


def _refusal(query: QueryKey, budget: Fraction) -> ValueError:
    if budget < 0:
        return ValueError(f"the budget of {query.text} is negative: {budget}")
    require_bounded(budget, f"the budget of {query.text}")
    raise AssertionError(f"the budget of {query.text} lies within the bounds")
