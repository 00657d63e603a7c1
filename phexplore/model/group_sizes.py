"""The parameters of a release of hierarchical group sizes: how many groups of each size there are in every region.

Source of the mechanisms: Fioretto, Van Hentenryck, Zhu, "Differential Privacy of Hierarchical Census Data: An
Optimization Approach", Artificial Intelligence 296 (2021); "the paper" below.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

from phexplore.model.data_kinds import DataKind
from phexplore.model.fields import Column, Declared, Record, declared, parameter
from phexplore.model.kinds import Choice, Entries, Exact, Listing, Members, Optional, Text, Whole
from phexplore.model.phsafe import PrivacyFramework


class SizeMechanism(enum.Enum):
    """How group sizes are measured and made consistent. The value is the word in files and on the command line."""

    RELAXED = "relaxed"
    """Noisy sizes, the quadratic program without integrality, every value rounded by itself (paper, Model 1)."""
    TREE = "tree"
    """Noisy sizes, the nearest consistent whole numbers, exactly (sections 6 and 7)."""
    CUMULATIVE_RELAXED = "cumulative-relaxed"
    """Noisy cumulative sizes, the quadratic program without integrality, rounded (Model 2)."""
    CUMULATIVE_TREE = "cumulative-tree"
    """Noisy cumulative sizes, made monotone region by region, then as TREE (Algorithm 2)."""
    CHAIN = "chain"
    """Noisy cumulative sizes added up along one chain through all sizes and regions, the nearest consistent ones, exactly (Model 3)."""
    TOPDOWN = "topdown"
    """Noisy sizes, estimated and rounded level by level from the top (section 10)."""

    @property
    def is_cumulative(self) -> bool:
        """Whether cumulative sizes are measured."""
        return self in {SizeMechanism.CUMULATIVE_RELAXED, SizeMechanism.CUMULATIVE_TREE, SizeMechanism.CHAIN}

    @property
    def is_exact(self) -> bool:
        """Whether its output is always consistent; the relaxed ones are rounded value by value."""
        return self not in {SizeMechanism.RELAXED, SizeMechanism.CUMULATIVE_RELAXED}


SIZE_MECHANISMS = {
    SizeMechanism.RELAXED: "H, relaxed and rounded (baseline)",
    SizeMechanism.TREE: "H, exact tree",
    SizeMechanism.CUMULATIVE_RELAXED: "C, relaxed and rounded (baseline)",
    SizeMechanism.CUMULATIVE_TREE: "C, approximate (Algorithm 2)",
    SizeMechanism.CHAIN: "C, exact chain",
    SizeMechanism.TOPDOWN: "TopDown, level by level",
}
"""What people call the mechanisms."""


@declared
class HeavyTail(Declared):
    """How sizes above a published open class ("7 or more") are drawn before a simulation.

    Attributes:
        outliers: groups added in every region of the second level, with sizes spread evenly from `smallest` to the largest size.
        smallest: size of the smallest outlier.
        seed: of the draws.
    """

    canonical_form: ClassVar[str] = "list"

    outliers: int = parameter(Whole(0), default=50, title="number of outliers")
    smallest: int = parameter(Whole(1), default=10, title="size of the smallest outlier")
    seed: int = parameter(Whole(0), default=2010)

    def __str__(self) -> str:
        """Name the outliers and the seed."""
        return f"{self.outliers} outliers from {self.smallest}, seed {self.seed}"


@declared
class GroupSizes(Declared):
    """Parameters of hierarchical group sizes.

    Attributes:
        levels: of the regions, widest first.
        regions: how many regions each level has; public.
        total: ε, or ρ under zCDP; neighbours differ by one individual of a group that both have.
        level_shares: of the total, per level; the regions of a level compose in parallel, the levels add up.
        largest: the largest size, N in the paper.
        mechanism: what is measured and how it becomes consistent.
        framework: pure DP with double-geometric noise (the paper), or zCDP with discrete Gaussian noise.
        largest_quantity: the most one individual can add to the size of a group; 1 when sizes count individuals.
        tail: sizes above an open last class of the data, None when the data hold all sizes.
        locked_levels: levels whose share an edit of another must not move.
    """

    data_kind: ClassVar[DataKind] = DataKind.GROUPS
    demonstration: ClassVar[str] = "tables/household_sizes_2010.csv"
    file_kind: ClassVar[str] = "group-sizes"
    file_order: ClassVar[tuple[str, ...]] = (
        "framework", "mechanism", "total", "levels", "largest", "largest_quantity", "tail", "locked_levels",
    )  # fmt: skip
    log_order: ClassVar[tuple[str, ...]] = (
        "level_shares", "locked_levels", "levels", "regions", "total", "largest", "largest_quantity",
    )  # fmt: skip

    levels: tuple[str, ...] = parameter(Listing(Text()), column=Column("levels", "level"))
    regions: tuple[int, ...] = parameter(
        Listing(Whole(1)), column=Column("levels", "regions"), title="numbers of regions"
    )
    total: Fraction = parameter(Exact(above=0), title="total budget")
    level_shares: Mapping[str, Fraction] = parameter(
        Entries(Exact(low=0, high=1)),
        column=Column("levels", "share"),
        word="level share",
        title="share",
        whole=lambda _level: "total",
        locks="locked_levels",
    )
    largest: int = parameter(Whole(1), title="largest size", word="largest size")
    mechanism: SizeMechanism = parameter(Choice(SizeMechanism, SIZE_MECHANISMS), default=SizeMechanism.CUMULATIVE_TREE)
    framework: PrivacyFramework = parameter(
        Choice(PrivacyFramework), default=PrivacyFramework.PURE_DP, title="definition of privacy"
    )
    largest_quantity: int = parameter(Whole(1), default=1)
    tail: HeavyTail | None = parameter(Optional(Record(HeavyTail)), default=None)
    locked_levels: frozenset[str] = parameter(
        Members(Text()), default=frozenset(), word="level lock", title="share", is_identity=False, is_parameter=False
    )

    @property
    def filled_in(self) -> str:
        """What a run adds to its data, "" for nothing."""
        return "" if self.tail is None else "groups above an open last size drawn, and outliers added"

    def agree(self) -> None:
        """Refuse levels without one number of regions and one share each."""
        if not self.levels:
            raise ValueError("there is at least one level")
        if len(self.regions) != len(self.levels) or len(set(self.levels)) != len(self.levels):
            raise ValueError(
                f"every level has one name and one number of regions, got {self.levels} and {self.regions}"
            )
        if set(self.level_shares) != set(self.levels):
            raise ValueError(f"every level has one share, got shares of {sorted(self.level_shares)}")

    def budget(self, level: str) -> Fraction:
        """Return ε (or ρ) of one level."""
        return self.total * self.level_shares[level]

    @property
    def sensitivity(self) -> int:
        """The L1 sensitivity of the answers of a level, which is their squared L2 sensitivity too.

        One individual more moves a group from one size to another (paper, Lemmas 4 and 6). Every count changes by at most 1,
        so both are the number of counts that change: two sizes, or one cumulative size for every unit of quantity.
        The chain is added up from the cumulative sizes of the regions. Noise put on the chain itself, as the paper does
        (section 9.2.2), meets another sensitivity: one individual changes `published_chain_sensitivity` places.
        """
        return self.largest_quantity if self.mechanism.is_cumulative else 2

    @property
    def published_chain_sensitivity(self) -> tuple[int, ...]:
        """How many places of each level's chain one individual changes; the paper calibrates its noise to 1.

        The chain runs through all regions of a level before it comes to the next size, so every region's place between
        the old size and the new one changes.
        """
        return tuple(self.largest_quantity * count for count in self.regions)


def equal_shares(levels: tuple[str, ...]) -> dict[str, Fraction]:
    """Return the paper's division of the budget: ε / L for each of L levels."""
    return {level: Fraction(1, len(levels)) for level in levels}
