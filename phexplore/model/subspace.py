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
from types import MappingProxyType
from typing import Any, ClassVar

from phexplore.model.data_kinds import DataKind
from phexplore.model.numbers import exact_text, require_bounded


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


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension of the histogram.

    Attributes:
        name: e.g. ``county``.
        size: how many levels, at least 1.
        labels: the name of each level; empty when the levels are just numbered from 0.
        groupings: partitions of the levels.
    """

    name: str
    size: int
    labels: tuple[str, ...] = ()
    groupings: tuple[Grouping, ...] = ()

    def __post_init__(self) -> None:
        """Refuse labels and groups that do not fit the size."""
        if self.size < 1:
            raise ValueError(f"the axis {self.name} has at least 1 level, got {self.size}")
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


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums over all cells that agree in `by` are exact.

    Attributes:
        by: names of axes or groupings; empty for the grand total.
    """

    by: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return it in words."""
        return f"total per {' × '.join(self.by)}" if self.by else "grand total"


@dataclass(frozen=True, slots=True)
class LinearCount:
    """A weighted sum of numbered cells or answers.

    Attributes:
        name: for people.
        coefficients: (number of the cell or answer, its weight), each number once and no weight 0.
    """

    name: str
    coefficients: tuple[tuple[int, Fraction], ...]

    def __post_init__(self) -> None:
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
        for _, weight in self.coefficients:
            require_bounded(weight, f"a weight of the sum {self.name!r}")

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


@dataclass(frozen=True, slots=True)
class LinearQuery:
    """The query that asks for weighted sums of cells.

    Attributes:
        answers: one per answer.
    """

    answers: tuple[LinearCount, ...]

    def __post_init__(self) -> None:
        """Refuse a query without answers."""
        if not self.answers:
            raise ValueError("a query has at least one answer")

    def __str__(self) -> str:
        """Return it in words."""
        return f"{len(self.answers)} linear answers"


Query = Histogram | LinearQuery
"""What is asked of the histogram."""


@dataclass(frozen=True, slots=True)
class Release:
    """One query with the invariants of its answers and its noise.

    Attributes:
        query: what is answered.
        invariants: what is exact in the answers.
        mechanism: how the noise is made.
        share: of the budget: of ε for pure mechanisms; Gaussian ones share what the others leave in proportion.
        basis: of the extended Laplace mechanism.
    """

    query: Query
    invariants: tuple[Invariant, ...]
    mechanism: Mechanism
    share: Fraction = Fraction(1)
    basis: Basis = Basis.HALVES

    def __post_init__(self) -> None:
        """Refuse a share outside (0, 1]."""
        if not 0 < self.share <= 1:
            raise ValueError(f"the share of a release lies between 0 and 1, got {self.share}")
        require_bounded(self.share, "the share of a release")

    def __str__(self) -> str:
        """Return it in words, as differences show it."""
        exact = "; ".join(str(invariant) for invariant in self.invariants) or "nothing"
        basis = f", basis {self.basis.value}" if self.mechanism is Mechanism.EXTENDED_LAPLACE else ""
        return f"{self.query}, {self.mechanism.title}, share {exact_text(self.share)}, exact: {exact}{basis}"


@dataclass(frozen=True, slots=True)
class Subspace:
    """Parameters of releases under subspace differential privacy.

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

    axes: tuple[Axis, ...]
    releases: Mapping[str, Release]
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    calibration: Calibration = Calibration.EXACT
    table: str = ""

    def __post_init__(self) -> None:
        """Refuse impossible values and freeze the mapping."""
        if not self.axes:
            raise ValueError("a histogram has at least one axis")
        names = [name for axis in self.axes for name in (axis.name, *(grouping.name for grouping in axis.groupings))]
        if len(set(names)) != len(names):
            raise ValueError(f"axes and groupings have names of their own, got {', '.join(names)}")
        if self.epsilon <= 0:
            raise ValueError(f"ε is positive, got {self.epsilon}")
        if not 0 <= self.delta < 1:
            raise ValueError(f"δ is at least 0 and below 1, got {self.delta}")
        require_bounded(self.epsilon, "ε")
        require_bounded(self.delta, "δ")
        object.__setattr__(self, "releases", MappingProxyType(dict(self.releases)))

    def __hash__(self) -> int:
        """Hash by content."""
        return hash((self.axes, tuple(self.releases.items()), self.epsilon, self.delta, self.calibration, self.table))

    def __reduce__(self) -> tuple[object, ...]:
        """Let the read-only mapping cross a process border."""
        values = (self.axes, dict(self.releases), self.epsilon, self.delta, self.calibration, self.table)
        return Subspace, values

    def canonical(self) -> dict[str, Any]:
        """Return what the fingerprint is taken of, in plain values; its form never changes."""
        return {
            "method": "subspace",
            "axes": [
                [axis.name, axis.size, axis.labels, [[each.name, each.groups] for each in axis.groupings]]
                for axis in self.axes
            ],
            "releases": {name: _canonical_release(release) for name, release in self.releases.items()},
            "epsilon": exact_text(self.epsilon),
            "delta": exact_text(self.delta),
            "calibration": self.calibration.value,
            "table": self.table,
        }

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


def _canonical_release(release: Release) -> dict[str, Any]:
    query = release.query
    return {
        "query": [_canonical_sum(answer) for answer in query.answers]
        if isinstance(query, LinearQuery)
        else "histogram",
        "exact": [each.by if isinstance(each, Totals) else _canonical_sum(each) for each in release.invariants],
        "mechanism": release.mechanism.value,
        "share": exact_text(release.share),
        "basis": release.basis.value,
    }


def _canonical_sum(count: LinearCount) -> dict[str, Any]:
    return {"name": count.name, "weights": [[number, exact_text(weight)] for number, weight in count.coefficients]}
