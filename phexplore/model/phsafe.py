"""The parameters of PHSafe: everything its production configuration lets a committee choose."""

from __future__ import annotations

import enum
import operator
from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

from phexplore.model.data_kinds import DataKind
from phexplore.model.fields import Declared, declared, parameter
from phexplore.model.keys import QueryKey, TableId, parse_query
from phexplore.model.kinds import Choice, Entries, Exact, Kind, Listing, Members, Text, Whole
from phexplore.model.numbers import Budget
from phexplore.model.shipped_names import TableKey


class PrivacyFramework(enum.Enum):
    """The definition of privacy a run satisfies. The value is the spelling of config.json."""

    ZCDP = "zcdp"
    PURE_DP = "puredp"

    @property
    def symbol(self) -> str:
        """The letter of its budget."""
        return "ρ" if self is PrivacyFramework.ZCDP else "ε"


QUERY = TableKey(reads=parse_query, writes=operator.attrgetter("text"), doc="A query of the S-DHC, e.g. PH3/state_A-G.")


@declared
class PhSafe(Declared):
    """Parameters of PHSafe (S-DHC).

    Attributes:
        budgets: ρ (or ε under pure DP) of every measured query of the product; 0 = not published.
        thresholds: truncation threshold τ per truncated table, in people per household.
        states: two-digit FIPS codes of the states in the run; 72 alone for Puerto Rico.
        framework: zero-concentrated or pure differential privacy.
        reader: "csv" or "cef", how production reads its input.
        targets: margin of error aimed at per query, in people, > 0; absent = none.
        locks: queries whose budget must not be changed.
    """

    data_kind: ClassVar[DataKind] = DataKind.POPULATION
    demonstration: ClassVar[str] = ""
    file_kind: ClassVar[str] = "phsafe"
    query_key: ClassVar[Kind] = QUERY
    file_order: ClassVar[tuple[str, ...]] = (
        "framework", "budgets", "thresholds", "states", "reader", "targets", "locks",
    )  # fmt: skip
    log_order: ClassVar[tuple[str, ...]] = ("budgets", "targets")

    budgets: Mapping[QueryKey, Budget] = parameter(
        Entries(Exact(low=0, unlimited=True), QUERY),
        word="budget",
        title="budget",
    )
    thresholds: Mapping[TableId, int] = parameter(
        Entries(Whole(1), TableKey(reads=TableId)),
        word="threshold",
        title="truncation threshold",
        symbol="τ",
    )
    states: tuple[str, ...] = parameter(Listing(Text(), is_ordered=False))
    framework: PrivacyFramework = parameter(
        Choice(PrivacyFramework), default=PrivacyFramework.ZCDP, title="definition of privacy"
    )
    reader: str = parameter(Text(), default="csv", is_identity=False)
    targets: Mapping[QueryKey, Fraction] = parameter(
        Entries(Exact(above=0), QUERY),
        default={},
        word="target",
        title="margin target",
        is_identity=False,
    )
    locks: frozenset[QueryKey] = parameter(
        Members(QUERY), default=frozenset(), word="lock", title="budget", is_identity=False, is_parameter=False
    )

    @property
    def published(self) -> tuple[QueryKey, ...]:
        """The queries with a budget, in catalogue order."""
        return tuple(query for query, budget in self.budgets.items() if budget != 0)
