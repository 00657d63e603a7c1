"""The parameters of TopDown: a total budget split over geographic levels and queries, and how it is post-processed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from phexplore.model.data_kinds import DataKind
from phexplore.model.numbers import exact_text, is_bounded, require_bounded
from phexplore.model.phsafe import PrivacyFramework


class LevelQuery(NamedTuple):
    """One measured query group at one geographic level, e.g. ``("Block", "hispanic * cenrace")``."""

    level: str
    query: str

    @property
    def text(self) -> str:
        """A path for messages, e.g. ``Block/hispanic * cenrace``."""
        return f"{self.level}/{self.query}"


@dataclass(frozen=True, slots=True)
class Passes:
    """The order in which post-processing uses the queries of one level (TDA paper, §7.1.2).

    Attributes:
        least_squares: outer passes, each a sequence of inner passes, each a set of measured queries.
        rounder: the same for the controlled rounding.
    """

    least_squares: tuple[tuple[tuple[str, ...], ...], ...]
    rounder: tuple[tuple[tuple[str, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class SpineChoice:
    """Which geographic spine is used and how it is optimised.

    Attributes:
        kind: ``standard``, ``aian``, ``optimised`` or ``prim`` (the spine of DHC).
        settings: further switches of the production configuration, as text.
    """

    kind: str
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TopDown:
    """Parameters of one TopDown run.

    Attributes:
        schema: id of the histogram's schema, e.g. ``pl94_persons``.
        levels: geographic levels, widest first; a share list never stands beside a level list.
        total: ρ under neighbours that replace one record, or ε under pure DP.
        level_shares: of the total, per level; the budgets of one level compose in parallel over its areas.
        query_shares: of the level's budget, per measured query group; they add to 1 in every level.
        framework: zCDP or pure DP.
        passes: per level.
        invariants: per level, counts that are published exactly.
        constraints: per level, what post-processing must keep.
        spine: the geography.
        locked_levels: levels whose share an edit of another must not move.
        locked_queries: the same for query shares.
    """

    data_kind: ClassVar[DataKind] = DataKind.BLOCKS
    demonstration: ClassVar[str] = "synthetic/demo-blocks.csv.gz"

    schema: str
    levels: tuple[str, ...]
    total: Fraction
    level_shares: Mapping[str, Fraction]
    query_shares: Mapping[LevelQuery, Fraction]
    framework: PrivacyFramework = PrivacyFramework.ZCDP
    passes: Mapping[str, Passes] = field(default_factory=dict)
    invariants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    constraints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spine: SpineChoice = SpineChoice("standard")
    locked_levels: frozenset[str] = frozenset()
    locked_queries: frozenset[LevelQuery] = frozenset()

    def __post_init__(self) -> None:
        """Refuse impossible values and freeze the mappings."""
        if self.total <= 0:
            raise ValueError(f"the total budget is positive, got {self.total}")
        require_bounded(self.total, "the total budget")
        for key, share in (*self.level_shares.items(), *self.query_shares.items()):
            if not 0 <= share.numerator <= share.denominator:  # whole numbers: an edit checks a hundred shares
                raise ValueError(f"the share of {key} lies between 0 and 1, got {share}")
            if not is_bounded(share):
                require_bounded(share, f"the share of {key}")
        for name in ("level_shares", "query_shares", "passes", "invariants", "constraints"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __hash__(self) -> int:
        """Hash by content."""
        return hash((self.schema, self.levels, self.total, frozenset(self.query_shares.items())))

    def __reduce__(self) -> tuple[object, ...]:
        """Let the read-only mappings cross a process border."""
        return (
            TopDown,
            (
                self.schema,
                self.levels,
                self.total,
                dict(self.level_shares),
                dict(self.query_shares),
                self.framework,
                dict(self.passes),
                dict(self.invariants),
                dict(self.constraints),
                self.spine,
                self.locked_levels,
                self.locked_queries,
            ),
        )

    def canonical(self) -> dict[str, Any]:
        """Return what the fingerprint is taken of, in plain values; its form never changes."""
        return {
            "method": "topdown",
            "framework": self.framework.value,
            "schema": self.schema,
            "levels": list(self.levels),
            "total": exact_text(self.total),
            "level_shares": {level: exact_text(share) for level, share in self.level_shares.items()},
            "query_shares": {key.text: exact_text(share) for key, share in self.query_shares.items()},
            "passes": {level: [p.least_squares, p.rounder] for level, p in self.passes.items()},
            "invariants": {level: sorted(names) for level, names in self.invariants.items()},
            "constraints": {level: sorted(names) for level, names in self.constraints.items()},
            "spine": [self.spine.kind, sorted(self.spine.settings)],
        }

    def budget(self, key: LevelQuery) -> Fraction:
        """Return ρ (or ε) of one query group at one level: total x level share x query share."""
        return self.total * self.level_shares[key.level] * self.query_shares[key]

    def queries_at(self, level: str) -> tuple[str, ...]:
        """Return the measured query groups of a level, in their order."""
        return tuple(key.query for key in self.query_shares if key.level == level)
