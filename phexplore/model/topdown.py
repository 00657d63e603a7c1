"""The parameters of TopDown: a total budget split over geographic levels and queries, and how it is post-processed."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, NamedTuple

from phexplore.model.data_kinds import DataKind
from phexplore.model.fields import Column, Declared, Record, declared, parameter
from phexplore.model.kinds import Choice, Entries, Exact, Listing, Members, Name, Pairs, Text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.shipped_names import ShippedName


class LevelQuery(NamedTuple):
    """One measured query group at one geographic level, e.g. ``("Block", "hispanic * cenrace")``."""

    level: str
    query: str

    @property
    def text(self) -> str:
        """A path for messages, e.g. ``Block/hispanic * cenrace``."""
        return f"{self.level}/{self.query}"


def parse_level_query(text: str) -> LevelQuery:
    """Read ``Block/hispanic * cenrace``.

    Raises:
        ValueError: it names no level, or no query.
    """
    level, stroke, query = text.partition("/")
    if not stroke:
        raise ValueError(f"{text!r} is no level and query")
    return LevelQuery(level, query)


LEVEL_QUERY = Name(
    reads=parse_level_query, writes=operator.attrgetter("text"), doc="A level and a query, e.g. Block/total."
)
_PASSES = Listing(Listing(Listing(Text())))


@declared
class Passes(Declared):
    """Passes over groups of queries, in order: a list of passes, each a list of groups, each a list of query names.

    Post-processing uses the queries of a level in this order (TDA paper, §7.1.2).

    Attributes:
        least_squares: outer passes, each a sequence of inner passes, each a set of measured queries.
        rounder: the same for the controlled rounding.
    """

    canonical_form: ClassVar[str] = "list"

    least_squares: tuple[tuple[tuple[str, ...], ...], ...] = parameter(_PASSES)
    rounder: tuple[tuple[tuple[str, ...], ...], ...] = parameter(_PASSES)


@declared
class SpineChoice(Declared):
    """The chosen spine: its preset and what differs from it.

    Attributes:
        kind: ``standard``, ``aian``, ``optimised`` or ``prim`` (the spine of DHC).
        settings: further switches of the production configuration, as text.
    """

    canonical_form: ClassVar[str] = "list"

    kind: str = parameter(Text())
    settings: tuple[tuple[str, str], ...] = parameter(Pairs(Text(), is_ordered=False), default=())


_SHARES = Exact(low=0, high=1)
_NAMES_BY_LEVEL = Entries(Listing(Text(), is_ordered=False))


@declared
class TopDown(Declared):
    """Parameters of TopDown.

    Attributes:
        schema: id of the histogram's schema, e.g. ``pl94_persons``.
        levels: geographic levels, from the root of the spine downwards.
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
    file_kind: ClassVar[str] = "topdown"
    file_order: ClassVar[tuple[str, ...]] = (
        "framework", "schema", "total", "levels", "passes", "invariants", "constraints", "spine",
        "locked_levels", "locked_queries",
    )  # fmt: skip

    schema: str = parameter(ShippedName(folder="schemas"))
    levels: tuple[str, ...] = parameter(Listing(Text()), column=Column("levels", "level"))
    total: Fraction = parameter(
        Exact(above=0),
        title="total budget",
    )
    level_shares: Mapping[str, Fraction] = parameter(
        Entries(_SHARES),
        column=Column("levels", "share"),
        word="level share",
        title="share",
        whole=lambda _level: "total",
        locks="locked_levels",
    )
    query_shares: Mapping[LevelQuery, Fraction] = parameter(
        Entries(_SHARES, LEVEL_QUERY),
        column=Column("levels", "queries", LevelQuery),
        word="query share",
        title="share",
        whole=operator.attrgetter("level"),
        locks="locked_queries",
    )
    framework: PrivacyFramework = parameter(
        Choice(PrivacyFramework), default=PrivacyFramework.ZCDP, title="definition of privacy"
    )
    passes: Mapping[str, Passes] = parameter(Entries(Record(Passes)), default={})
    invariants: Mapping[str, tuple[str, ...]] = parameter(_NAMES_BY_LEVEL, default={})
    constraints: Mapping[str, tuple[str, ...]] = parameter(_NAMES_BY_LEVEL, default={})
    spine: SpineChoice = parameter(Record(SpineChoice), default=SpineChoice("standard"))
    locked_levels: frozenset[str] = parameter(
        Members(Text()), default=frozenset(), word="level lock", title="share", is_identity=False, is_parameter=False
    )
    locked_queries: frozenset[LevelQuery] = parameter(
        Members(LEVEL_QUERY),
        default=frozenset(),
        word="query lock",
        title="share",
        is_identity=False,
        is_parameter=False,
    )

    def budget(self, key: LevelQuery) -> Fraction:
        """Return ρ (or ε) of one query group at one level: total x level share x query share."""
        return self.total * self.level_shares[key.level] * self.query_shares[key]

    def queries_at(self, level: str) -> tuple[str, ...]:
        """Return the measured query groups of a level, in their order."""
        return tuple(key.query for key in self.query_shares if key.level == level)
