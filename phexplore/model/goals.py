"""What a committee asks of budgets: margins to keep, caps, floors, ties."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from phexplore.errors import PhexploreError
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import decimal_text, exact_text
from phexplore.model.topdown import LevelQuery

Key = QueryKey | LevelQuery
"""What has a budget of its own: a table at a population-group level, or a query at a geographic level."""


class GoalError(PhexploreError):
    """A wish that cannot be understood: it contradicts itself or names what is not measured."""


def title_of(key: Key) -> str:
    """Return a query in words, e.g. ``PH3 (State, A-G)`` or ``Block: hispanic × cenrace``."""
    return key.title if isinstance(key, QueryKey) else f"{key.level}: {key.query.replace(' * ', ' × ')}"


def level_title(key: Key) -> str:
    """Return the level of a query in words."""
    return key.level.title if isinstance(key, QueryKey) else key.level


class CapOn(enum.Enum):
    """What a cap limits. The value is the key in a file of targets."""

    UNBOUNDED = "rho"
    """The sum of the budgets: ρ unbounded, or ε unbounded under pure DP."""
    BOUNDED = "bounded_rho"
    """Twice that sum; for TopDown the sum itself, which is under replaced records already."""
    EPSILON = "epsilon"
    """ε of the sum at a δ; under pure DP the bounded ε, which is the bounded sum."""
    PROVEN = "proven_epsilon"
    """ε at a δ as the discrete Gaussian noise proves it; under pure DP as `EPSILON`."""

    @property
    def is_epsilon(self) -> bool:
        """Whether δ and neighbours belong to it."""
        return self in {CapOn.EPSILON, CapOn.PROVEN}


@dataclass(frozen=True, slots=True)
class Cap:
    """An upper limit on the privacy loss of some queries together.

    Attributes:
        on: what is limited.
        limit: at most this much, > 0.
        queries: of which queries; None for all.
        neighbours: whose ρ or noise gives ε; used by ε alone.
        delta: of ε.
        conversion: of ρ to ε; a proven ε has none.
    """

    on: CapOn
    limit: Fraction
    queries: frozenset[Key] | None = None
    neighbours: Neighbours = Neighbours.BOUNDED
    delta: Fraction = Fraction(1, 10**10)
    conversion: Conversion = Conversion.ZCDP_OPTIMAL_ALPHA

    def __post_init__(self) -> None:
        """Refuse a cap that nothing can keep."""
        if self.limit <= 0:
            raise GoalError(f"A cap is more than 0, got {exact_text(self.limit)}.", "Leave the cap out, or raise it.")

    @property
    def title(self) -> str:
        """The cap in words, e.g. ``bounded ρ ≤ 2.5``."""
        limit = decimal_text(self.limit) or f"{self.limit.numerator}/{self.limit.denominator}"
        part = "" if self.queries is None else f" over {len(self.queries)} queries"
        match self.on:
            case CapOn.UNBOUNDED:
                return f"unbounded budget ≤ {limit}{part}"
            case CapOn.BOUNDED:
                return f"bounded budget ≤ {limit}{part}"
            case CapOn.EPSILON:
                return (
                    f"ε ≤ {limit} ({self.neighbours.value}, δ = {float(self.delta):g}, {self.conversion.value}){part}"
                )
            case CapOn.PROVEN:
                return f"proven ε ≤ {limit} ({self.neighbours.value}, δ = {float(self.delta):g}){part}"


class TiedBy(enum.Enum):
    """What tied queries have in common. The value is the word in a file of targets."""

    MARGIN = "margin"
    """The same noise, so the same margin; budgets are in proportion to the squared sensitivity (ε: to the sensitivity)."""
    BUDGET = "budget"
    """The same budget."""


@dataclass(frozen=True, slots=True)
class Tie:
    """Queries that move together.

    Attributes:
        queries: at least two, in the order of the scenario.
        equal: what they have in common.
    """

    queries: tuple[Key, ...]
    equal: TiedBy = TiedBy.MARGIN

    @property
    def title(self) -> str:
        """The tie in words."""
        first, last = title_of(self.queries[0]), title_of(self.queries[-1])
        return f"{len(self.queries)} queries tied by {self.equal.value}, {first} to {last}"


@dataclass(frozen=True, slots=True)
class Goals:
    """Everything asked of the budgets at once.

    Attributes:
        margins: largest margin of error per query, in people, > 0.
        floors: smallest budget per query, unbounded.
        caps: upper limits.
        ties: queries that move together; a query is in one tie at most.
        locks: queries whose present budget stays, beside those locked in the scenario.
    """

    margins: Mapping[Key, Fraction] = field(default_factory=dict)
    floors: Mapping[Key, Fraction] = field(default_factory=dict)
    caps: tuple[Cap, ...] = ()
    ties: tuple[Tie, ...] = ()
    locks: frozenset[Key] = frozenset()

    def __post_init__(self) -> None:
        """Refuse what contradicts itself and freeze the mappings."""
        for query, margin in self.margins.items():
            if margin <= 0:
                raise GoalError(
                    f"A margin of error is more than 0, got {exact_text(margin)} for {title_of(query)}.",
                    "Enter a positive number, or leave the query out.",
                )
        for query, floor in self.floors.items():
            if floor < 0:
                raise GoalError(
                    f"A floor is 0 or more, got {exact_text(floor)} for {title_of(query)}.", "Enter a positive number."
                )
        tied: set[Key] = set()
        for tie in self.ties:
            if len(tie.queries) < 2:
                raise GoalError("A tie holds at least two queries.", "Name more of them, or leave the tie out.")
            if repeated := tied & set(tie.queries) or len(set(tie.queries)) < len(tie.queries):
                name = min(map(title_of, repeated)) if isinstance(repeated, set) else title_of(tie.queries[0])
                raise GoalError(f"{name} is tied twice.", "Join the two ties, or take the query out of one.")
            tied |= set(tie.queries)
        for name in ("margins", "floors"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
