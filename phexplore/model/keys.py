"""The names of what is measured: geographic regions, iterations, population-group levels, queries."""

from __future__ import annotations

import enum
from functools import lru_cache
from typing import NamedTuple, NewType

from phexplore.errors import UnknownNameError

TableId = NewType("TableId", str)
"""A table as production spells it, e.g. ``PH1_num``."""


class Region(enum.Enum):
    """A geographic summary level of the S-DHC, widest first. The value is the prefix used by config.json."""

    NATION = "usa"
    STATE = "state"

    __hash__ = (
        object.__hash__
    )  # members are single: the hash of an enumeration's name is what looking up queries would cost

    @property
    def title(self) -> str:
        """The word for people: Nation, State."""
        return self.name.capitalize()


class Iteration(enum.Enum):
    """A set of race and ethnicity groups a table is repeated for. The value is the suffix used by config.json."""

    ALL = "*"
    MAJOR_RACES = "A-G"
    ETHNICITY = "H,I"

    __hash__ = object.__hash__  # as for regions

    @property
    def title(self) -> str:
        """The word for people, as the paper prints it: Unattributed, A-G, H-I."""
        return {"*": "Unattributed", "A-G": "A-G", "H,I": "H-I"}[self.value]

    @property
    def codes(self) -> tuple[str, ...]:
        """The ITERATION_CODEs of this level, in order."""
        return {"*": ("*",), "A-G": tuple("ABCDEFG"), "H,I": ("H", "I")}[self.value]


class PopulationGroupLevel(NamedTuple):
    """A region level crossed with an iteration: the unit that gets a budget of its own."""

    region: Region
    iteration: Iteration

    @property
    def text(self) -> str:
        """The spelling of config.json, e.g. ``state_A-G``."""
        return f"{self.region.value}_{self.iteration.value}"

    @property
    def title(self) -> str:
        """The spelling of the paper's Table 10, e.g. ``Nation, H-I``."""
        return f"{self.region.title}, {self.iteration.title}"


LEVELS: tuple[PopulationGroupLevel, ...] = tuple(
    PopulationGroupLevel(region, iteration) for region in Region for iteration in Iteration
)
"""All six levels, in the order of Table 10 of the PHSafe paper."""

_BY_TEXT = {level.text: level for level in LEVELS}


def parse_level(text: str) -> PopulationGroupLevel:
    """Read a level as config.json spells it.

    Raises:
        UnknownNameError: no such level; the remedy names the nearest.
    """
    if (level := _BY_TEXT.get(text)) is None:
        raise UnknownNameError("population-group level", text, list(_BY_TEXT))
    return level


class QueryKey(NamedTuple):
    """One measured query: a table at a population-group level. It has one budget."""

    table: TableId
    level: PopulationGroupLevel

    @property
    def text(self) -> str:
        """A path for messages, e.g. ``PH3/state_A-G``."""
        return f"{self.table}/{self.level.text}"

    @property
    def title(self) -> str:
        """The words for people, e.g. ``PH3 (State, A-G)``."""
        return f"{self.table} ({self.level.title})"


@lru_cache(maxsize=256)
def parse_query(text: str) -> QueryKey:
    """Read a query written as ``PH3/state_A-G``.

    Raises:
        UnknownNameError: the level is unknown.
    """
    table, _, level = text.partition("/")
    return QueryKey(TableId(table), parse_level(level))
