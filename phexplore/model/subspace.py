"""The parameters of subspace differential privacy: queries released with noise that keeps stated totals exactly.

Gao, Gong and Yu (2022), "Subspace Differential Privacy". A release answers a query A under invariants C: C·M(x) = C·A(x)
always, and only what is orthogonal to the invariants (their null space) is protected. Neighbours replace one record.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from phexplore.model.data_kinds import DataKind
from phexplore.model.fields import Declared, Record, declared, parameter
from phexplore.model.kinds import Choice, Entries, Exact, Listing, Name, OneOf, Pairs, Supplied, Text, Whole, object_of
from phexplore.model.numbers import exact_text
from phexplore.model.shipped_names import ShippedName
from phexplore.text.quoted import quote


class Mechanism(enum.Enum):
    """How the noise of a release is made. The value is the word in files."""

    PROJECTED_LAPLACE = "projected-laplace"
    """Independent Laplace noise, projected into the null space (Corollary 3.8); δ = 0."""
    EXTENDED_LAPLACE = "extended-laplace"
    """Laplace noise on the coordinates of a basis of the null space (Corollary 3.9); δ = 0."""
    PROJECTED_GAUSSIAN = "projected-gaussian"
    """Independent Gaussian noise at the query's own sensitivity, projected (Corollary 3.5)."""
    EXTENDED_GAUSSIAN = "extended-gaussian"
    """Gaussian noise at the sensitivity of the projected query (Algorithm 1, Corollary 3.6)."""
    CORRELATED_GAUSSIAN = "correlated-gaussian"
    """Gaussian noise shaped to the query (Theorem 3.11)."""
    K_NORM = "k-norm"
    """Noise whose density falls with the norm made from the query's sensitivity (§3.4); δ = 0."""

    @property
    def is_gaussian(self) -> bool:
        """Whether it needs δ > 0."""
        return self in {Mechanism.PROJECTED_GAUSSIAN, Mechanism.EXTENDED_GAUSSIAN, Mechanism.CORRELATED_GAUSSIAN}

    @property
    def title(self) -> str:
        """The word for people, e.g. ``projected Laplace``."""
        return {
            "projected-laplace": "projected Laplace",
            "extended-laplace": "extended Laplace",
            "projected-gaussian": "projected Gaussian",
            "extended-gaussian": "extended Gaussian",
            "correlated-gaussian": "correlated Gaussian",
            "k-norm": "k-norm",
        }[self.value]


class Basis(enum.Enum):
    """Orthogonal contrasts of m cells with a fixed total; they matter to the extended Laplace mechanism only."""

    HELMERT = "helmert"
    """Each cell against the mean of those before it."""
    HALVES = "halves"
    """Half of the cells against the other half, and so on within the halves."""


class Calibration(enum.Enum):
    """Where the width of Gaussian noise comes from."""

    EXACT = "exact"
    """The smallest σ whose exact δ(ε) is at most δ, rounded up."""
    PAPER = "paper"
    """σ = Δ(1 + √(1 + ln 1/δ))/ε as the paper prints it, which under-protects from about ε = 1 up; refused there."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """A partition of the levels of an axis, e.g. counties into states.

    Attributes:
        name: e.g. ``state``.
        groups: the group of each level, in their order.
    """

    name: str
    groups: tuple[str, ...]


@declared
class Axis(Declared):
    """One attribute of a histogram.

    Attributes:
        name: e.g. ``county``.
        size: how many levels, at least 1.
        labels: the name of each level; empty when the levels are just numbered from 0.
        groupings: partitions of the levels.
    """

    canonical_form: ClassVar[str] = "list"

    name: str = parameter(Supplied())
    size: int = parameter(Whole(1), title="number of levels of the axis")
    labels: tuple[str, ...] = parameter(Listing(Text()), default=())
    groupings: tuple[Grouping, ...] = parameter(Pairs(Listing(Text()), make=Grouping), default=())

    def agree(self) -> None:
        """Refuse labels and groups that do not fit the size."""
        quote(*self.labels, *(text for grouping in self.groupings for text in (grouping.name, *grouping.groups)))
        if self.labels and len(self.labels) != self.size:
            raise ValueError(f"the axis {self.name} has {self.size} levels but {len(self.labels)} labels")
        if len(set(self.labels)) != len(self.labels):
            raise ValueError(f"two levels of the axis {self.name} have the same label")
        for grouping in self.groupings:
            if len(grouping.groups) != self.size:
                raise ValueError(
                    f"the grouping {grouping.name} names {len(grouping.groups)} groups for {self.size} levels of {self.name}"
                )

    def label(self, level: int) -> str:
        """Return the name of a level."""
        return self.labels[level] if self.labels else str(level)


@declared
class Totals(Declared):
    """All totals by some attributes or groupings are exact: the sums over all cells that agree in `by`.

    Attributes:
        by: names of axes or groupings; empty for the grand total.
    """

    canonical_form: ClassVar[str] = "bare"

    by: tuple[str, ...] = parameter(Listing(Text()), default=(), file_name="totals by")

    def __str__(self) -> str:
        """Return it in words."""
        return f"total per {' × '.join(self.by)}" if self.by else "grand total"


def _cell(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"cells and answers are numbered from 0, got {text!r}")
    return int(text)


@declared
class LinearCount(Declared):
    """A weighted sum of cells or answers, numbered from 0, those of the last attribute running fastest.

    Attributes:
        name: for people.
        coefficients: (number of the cell or answer, its weight), each number once and no weight 0.
    """

    name: str = parameter(Supplied())
    coefficients: tuple[tuple[int, Fraction], ...] = parameter(
        Pairs(Exact(), Name(reads=_cell, pattern=r"^\d+$")), title="weight", file_name="weights"
    )

    def agree(self) -> None:
        """Refuse empty sums, repeated numbers and weights of 0."""
        numbers = [number for number, _ in self.coefficients]
        if not numbers:
            raise ValueError(f"the sum {self.name!r} has no coefficient")
        if len(set(numbers)) != len(numbers):
            raise ValueError(f"the sum {self.name!r} names a cell twice")
        if min(numbers) < 0:
            raise ValueError(f"the sum {self.name!r} names the cell {min(numbers)}; cells are numbered from 0")
        if any(weight == 0 for _, weight in self.coefficients):
            raise ValueError(f"the sum {self.name!r} has a weight of 0; leave that cell out")

    def __str__(self) -> str:
        """Return its name."""
        return self.name


Invariant = Totals | LinearCount
"""What is exact. `Totals` speak of the cells of a histogram, `LinearCount` of the answers of any query."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """The query that asks for every cell."""

    def __str__(self) -> str:
        """Return it in words."""
        return "histogram"


@declared
class LinearQuery(Declared):
    """The query that asks for weighted sums of cells.

    Attributes:
        answers: one per answer.
    """

    canonical_form: ClassVar[str] = "bare"

    answers: tuple[LinearCount, ...] = parameter(Listing(Record(LinearCount)))

    def agree(self) -> None:
        """Refuse a query without answers."""
        if not self.answers:
            raise ValueError("a query has at least one answer")

    def __str__(self) -> str:
        """Return it in words."""
        return f"{len(self.answers)} linear answers"


Query = Histogram | LinearQuery
"""What is asked of the histogram."""


_QUERY = OneOf(
    {
        Histogram: Name(reads=lambda _: Histogram(), writes=str, pattern="^histogram$"),
        LinearQuery: Record(LinearQuery, is_bare=True),
    },
    lambda stated: Histogram if stated == "histogram" else LinearQuery,
)
_INVARIANT = OneOf(
    {Totals: Record(Totals), LinearCount: Record(LinearCount)},
    lambda stated: Totals if "totals by" in object_of(stated) else LinearCount,
)


@declared
class Release(Declared):
    """One query, what is exact in it, and the mechanism.

    Attributes:
        query: what is answered.
        invariants: what is exact in the answers.
        mechanism: how the noise is made.
        share: of the budget: of ε for pure mechanisms; Gaussian ones share what the others leave in proportion.
        basis: of the extended Laplace mechanism.
    """

    query: Query = parameter(_QUERY, absent=Histogram())
    invariants: tuple[Invariant, ...] = parameter(Listing(_INVARIANT), absent=(), file_name="exact")
    mechanism: Mechanism = parameter(Choice(Mechanism))
    share: Fraction = parameter(Exact(above=0, high=1), default=Fraction(1), title="share of a release")
    basis: Basis = parameter(Choice(Basis), default=Basis.HALVES)

    def __str__(self) -> str:
        """Return it in words, as differences show it."""
        exact = "; ".join(str(invariant) for invariant in self.invariants) or "nothing"
        basis = f", basis {self.basis.value}" if self.mechanism is Mechanism.EXTENDED_LAPLACE else ""
        return f"{self.query}, {self.mechanism.title}, share {exact_text(self.share)}, exact: {exact}{basis}"


@declared
class Subspace(Declared):
    """Parameters of subspace differential privacy.

    Attributes:
        axes: of the histogram; its cells are numbered with the last axis running fastest.
        releases: by name, all of the same histogram and together within the budget.
        epsilon: of all releases together, > 0; neighbours replace one record.
        delta: of all releases together, in [0, 1); 0 allows pure mechanisms only.
        calibration: of Gaussian noise.
        table: name of the shipped table with the counts, "" when a run names its data.
    """

    data_kind: ClassVar[DataKind] = DataKind.COUNTS
    demonstration: ClassVar[str] = "tables/illinois_counties_2010.csv"
    file_kind: ClassVar[str] = "subspace"
    file_order: ClassVar[tuple[str, ...]] = ("epsilon", "delta", "calibration", "table", "axes", "releases")

    axes: tuple[Axis, ...] = parameter(Listing(Record(Axis)))
    releases: Mapping[str, Release] = parameter(Entries(Record(Release)), word="release")
    epsilon: Fraction = parameter(Exact(above=0), title="ε")
    delta: Fraction = parameter(Exact(low=0, below=1), default=Fraction(0), title="δ")
    calibration: Calibration = parameter(Choice(Calibration), default=Calibration.EXACT)
    table: str = parameter(ShippedName(folder="tables", ending=".csv"), default="")

    def agree(self) -> None:
        """Refuse a histogram without axes, and names that mean two things."""
        if not self.axes:
            raise ValueError("a histogram has at least one axis")
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"axes and groupings have names of their own, got {', '.join(self.names)}")

    @property
    def cells(self) -> int:
        """The number of cells of the histogram."""
        return math.prod(axis.size for axis in self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        """What totals can be taken by: axes and groupings, in their order."""
        return tuple(name for axis in self.axes for name in (axis.name, *(group.name for group in axis.groupings)))

    def answers(self, release: Release) -> int:
        """Return how many answers a release has."""
        return self.cells if isinstance(release.query, Histogram) else len(release.query.answers)
