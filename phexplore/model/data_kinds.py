"""What kind of data a system counts: which reader takes them, and whether they can be records of people."""

from __future__ import annotations

import enum


class DataKind(enum.Enum):
    """One kind of input."""

    POPULATION = "population"
    """Files of persons, units and geography: one line per person or unit."""
    BLOCKS = "blocks"
    """Block-level data: tables of counts per block, or microdata with one line per person or unit."""
    GROUPS = "groups"
    """Groups by size and region, or records they are made of."""
    COUNTS = "counts"
    """A table of counts."""
