"""The published layouts of census microdata: their columns, their codes, and the cells the codes stand for.

A layout is recognised by the names in its header, whatever the delimiter, the order, and further columns. Codes are
compared as numbers, so ``1`` and ``01`` are the same code; everything else is strict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

VALID_STATES = frozenset(
    (*range(1, 3), *range(4, 7), *range(8, 14), *range(15, 43), *range(44, 52), *range(53, 57), 72)
)
"""State codes of the microdata specification: 50 states, the District of Columbia, Puerto Rico."""


@dataclass(frozen=True, slots=True)
class GeographyColumn:
    """One part of a block's code.

    Attributes:
        name: of the column.
        width: digits.
        low: smallest number.
        high: largest number.
        only: the legal numbers where a range does not say it, else None.
    """

    name: str
    width: int
    low: int
    high: int
    only: frozenset[int] | None = None

    def number(self, text: str) -> int | None:
        """Return the number of a text, None where it is no legal code."""
        number = whole(text, self.width)
        if number is None or not self.low <= number <= self.high:
            return None
        return number if self.only is None or number in self.only else None

    @property
    def legal(self) -> str:
        """The legal codes in words."""
        if self.only is not None:
            return "the code of a state, of the District of Columbia or of Puerto Rico"
        return f"a code from {self.low:0{self.width}d} to {self.high:0{self.width}d}"


@dataclass(frozen=True, slots=True)
class AttributeColumn:
    """The column that holds one attribute of the schema.

    Attributes:
        name: of the column.
        attribute: of the schema.
        width: digits of a code as written.
        levels: from code to level.
    """

    name: str
    attribute: str
    width: int
    levels: Mapping[int, int]

    def number(self, text: str) -> int | None:
        """Return the level of a text, None where it is no legal code."""
        number = whole(text, self.width)
        return None if number is None else self.levels.get(number)

    @property
    def legal(self) -> str:
        """The legal codes in words."""
        codes = sorted(self.levels)
        if codes == list(range(codes[0], codes[-1] + 1)):
            return f"a code from {codes[0]:0{self.width}d} to {codes[-1]:0{self.width}d}"
        return "one of " + ", ".join(f"{code:0{self.width}d}" for code in codes)


@dataclass(frozen=True, slots=True)
class Layout:
    """Microdata: what its columns are, and those of them that tell the cell.

    Attributes:
        id: for files and messages.
        title: words for people.
        source: where the layout is written down.
        schema: of the cells.
        columns: all columns in the published order.
        geography: state, county, tract, block group, block.
        attributes: columns that tell the cell; others may be missing.
        recognised_by: columns that no other layout has together.
    """

    id: str
    title: str
    source: str
    schema: str
    columns: tuple[str, ...]
    geography: tuple[GeographyColumn, ...]
    attributes: tuple[AttributeColumn, ...]
    recognised_by: frozenset[str]

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (
            *(column.name for column in self.geography),
            "RTYPE",
            *(column.name for column in self.attributes),
        )


@dataclass(frozen=True, slots=True)
class PersonLayout(Layout):
    """One record per person, one column per attribute in the order of the schema.

    Attributes:
        quarters: the attribute whose level 0 is a household: it must agree with RTYPE.
    """

    quarters: str = "hhgq"


class UnitLayout(Layout):
    """One record per housing unit or group quarters; whether it is occupied stands in HH_STATUS."""

    __slots__ = ()

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (*super().needed, "HH_STATUS")


class DhcLayout(Layout):
    """One record per person or unit of the DHC; several columns make one attribute."""

    __slots__ = ()


def whole(text: str, width: int) -> int | None:
    """Return a text of one to `width` ASCII digits as a number, None for anything else.

    Args:
        text: a field of a file.
        width: most digits.
    """
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= width else None


def _geography(tract: str, group: str) -> tuple[GeographyColumn, ...]:
    return (
        GeographyColumn("TABBLKST", 2, 1, 72, VALID_STATES),
        GeographyColumn("TABBLKCOU", 3, 1, 840),
        GeographyColumn(tract, 6, 100, 998_999),
        GeographyColumn(group, 1, 0, 9),
        GeographyColumn("TABBLK", 4, 1, 9_999),
    )


def _ascending(first: int, levels: int) -> Mapping[int, int]:
    return MappingProxyType({first + level: level for level in range(levels)})


_PL94_ATTRIBUTES = (
    AttributeColumn("GQTYPE_PL", "hhgq", 1, _ascending(0, 8)),
    AttributeColumn("VOTING_AGE", "votingage", 1, _ascending(1, 2)),
    AttributeColumn("CENHISP", "hispanic", 1, _ascending(1, 2)),
    AttributeColumn("CENRACE", "cenrace", 2, _ascending(1, 63)),
)
_BLOCK = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLKGRPCE", "TABBLK")

PL94_PERSONS = PersonLayout(
    "pl94-2020-persons",
    "P.L. 94-171 2020 microdata, persons",
    "2020 microdata detail file specification, person record of the redistricting data",
    "pl94_persons",
    ("SCHEMA_TYPE_CODE", "SCHEMA_BUILD_ID", *_BLOCK, "EPNUM", "RTYPE", "GQTYPE_PL", "VOTING_AGE", "CENHISP", "CENRACE"),
    _geography("TABTRACTCE", "TABBLKGRPCE"),
    _PL94_ATTRIBUTES,
    frozenset({"TABTRACTCE", "GQTYPE_PL", "VOTING_AGE"}),
)
PL94_DEMONSTRATION_2021 = PersonLayout(
    "pl94-2021-04-demonstration-persons",
    "P.L. 94-171 demonstration data of April 2021, persons",
    "Privacy-protected microdata file of 28 April 2021",
    "pl94_persons",
    (
        *("VINTAGE", "TABBLKST", "TABBLKCOU", "TABTRACT", "TABBLKGRP", "TABBLK"),
        *("RTYPE", "GQTYPE_PL", "VOTING_AGE", "CENHISP", "CENRACE"),
    ),
    _geography("TABTRACT", "TABBLKGRP"),
    _PL94_ATTRIBUTES,
    frozenset({"TABTRACT", "GQTYPE_PL", "VOTING_AGE"}),
)
DEMONSTRATION_2010_PERSONS = PersonLayout(
    "demonstration-2010-persons",
    "2010 demonstration data of October 2019, persons",
    "2010 demonstration data products, person record (17 columns)",
    "demonstration_2010_persons",
    (
        *("SCHEMA_TYPE_CODE", "SCHEMA_BUILD_ID", *_BLOCK, "EPNUM", "RTYPE", "GQTYPE", "RELSHIP", "QSEX", "QAGE"),
        *("CENHISP", "CENRACE", "CITIZEN", "LIVE_ALONE"),
    ),
    _geography("TABTRACTCE", "TABBLKGRPCE"),
    (
        # Major types only: the writer of 2019 gave each the first code of its range.
        AttributeColumn("GQTYPE", "hhgq", 3, MappingProxyType({0: 0} | {100 * kind + 1: kind for kind in range(1, 8)})),
        AttributeColumn("QSEX", "sex", 1, _ascending(1, 2)),
        AttributeColumn("QAGE", "age", 3, _ascending(0, 116)),
        AttributeColumn("CENHISP", "hispanic", 1, _ascending(1, 2)),
        AttributeColumn("CENRACE", "cenrace", 2, _ascending(1, 63)),
        AttributeColumn("CITIZEN", "citizen", 1, MappingProxyType({1: 1, 2: 0})),
    ),
    frozenset({"TABTRACTCE", "GQTYPE", "QAGE", "CITIZEN"}),
)
PL94_UNITS = UnitLayout(
    "pl94-2020-units",
    "P.L. 94-171 2020 microdata, units",
    "2020 microdata detail file specification, unit record of the redistricting data",
    "pl94_units",
    ("SCHEMA_TYPE_CODE", "SCHEMA_BUILD_ID", *_BLOCK, "RTYPE", "HH_STATUS"),
    _geography("TABTRACTCE", "TABBLKGRPCE"),
    (),
    frozenset({"TABTRACTCE", "HH_STATUS"}),
)
PL94_DEMONSTRATION_2021_UNITS = UnitLayout(
    "pl94-2021-04-demonstration-units",
    "P.L. 94-171 demonstration data of April 2021, units",
    "Privacy-protected microdata file of 28 April 2021",
    "pl94_units",
    ("VINTAGE", "TABBLKST", "TABBLKCOU", "TABTRACT", "TABBLKGRP", "TABBLK", "RTYPE", "HH_STATUS"),
    _geography("TABTRACT", "TABBLKGRP"),
    (),
    frozenset({"TABTRACT", "HH_STATUS"}),
)

FACILITY_CODES = (
    "101", "102", "103", "104", "105", "106", "201", "202", "203", "301", "401", "402", "403", "404", "405", "501", "601",
    "602", "701", "801", "802", "900", "901", "997",
)  # fmt: skip
"""GQTYPE of the 24 types of group quarters, in the order of the schemas."""


def _coded(name: str, last: int, width: int = 1, first: int = 0) -> AttributeColumn:
    return AttributeColumn(name, "", width, MappingProxyType({code: code for code in range(first, last + 1)}))


_GQTYPE = AttributeColumn(
    "GQTYPE", "", 3, MappingProxyType({0: 0} | {int(code): place for place, code in enumerate(FACILITY_CODES, 1)})
)
DHC_PERSONS = DhcLayout(
    "dhc-2020-persons",
    "DHC 2020 microdata, persons",
    "2020 microdata detail file specification, person record of the Demographic and Housing Characteristics file (16 columns)",
    "dhc_persons",
    (
        *("SCHEMA_TYPE_CODE", "SCHEMA_BUILD_ID", *_BLOCK, "EPNUM", "RTYPE", "GQTYPE", "RELSHIP", "QSEX", "QAGE"),
        *("CENHISP", "CENRACE", "LIVE_ALONE"),
    ),
    _geography("TABTRACTCE", "TABBLKGRPCE"),
    (
        _GQTYPE,
        _coded("RELSHIP", 38, 2, 20),
        AttributeColumn("QSEX", "sex", 1, _ascending(1, 2)),
        AttributeColumn("QAGE", "age", 3, _ascending(0, 116)),
        AttributeColumn("CENHISP", "hispanic", 1, _ascending(1, 2)),
        AttributeColumn("CENRACE", "cenrace", 2, _ascending(1, 63)),
        _coded("LIVE_ALONE", 2),
    ),
    frozenset({"TABTRACTCE", "GQTYPE", "RELSHIP", "QAGE", "LIVE_ALONE"}),
)
DHC_UNITS = DhcLayout(
    "dhc-2020-units",
    "DHC 2020 microdata, units",
    "2020 microdata detail file specification, unit record of the Demographic and Housing Characteristics file (27 columns)",
    "dhc_households",
    (
        *(
            "SCHEMA_TYPE_CODE",
            "SCHEMA_BUILD_ID",
            *_BLOCK,
            "RTYPE",
            "GQTYPE",
            "TEN",
            "VACS",
            "HHSIZE",
            "HHT",
            "HHT2",
            "CPLT",
        ),
        *("UPART", "MULTG", "THHLDRAGE", "THHSPAN", "THHRACE", "PAOC", "TP18", "TP60", "TP65", "TP75", "PAC", "HHSEX"),
    ),
    _geography("TABTRACTCE", "TABBLKGRPCE"),
    (
        _GQTYPE,
        *(_coded(name, last) for name, last in (("TEN", 4), ("VACS", 7), ("HHSIZE", 7), ("HHT", 7), ("CPLT", 5))),
        *(_coded(name, last) for name, last in (("MULTG", 2), ("THHLDRAGE", 9), ("THHSPAN", 2))),
        _coded("THHRACE", 7, 2),
        *(_coded(name, last) for name, last in (("PAOC", 4), ("TP18", 1), ("TP60", 1), ("TP65", 1), ("TP75", 1))),
        *(_coded(name, last) for name, last in (("PAC", 4), ("HHSEX", 2))),
    ),
    frozenset({"TABTRACTCE", "HHSIZE", "THHLDRAGE"}),
)

PERSON_LAYOUTS = (PL94_PERSONS, PL94_DEMONSTRATION_2021, DEMONSTRATION_2010_PERSONS, DHC_PERSONS)
"""Person layouts, the most particular first."""
UNIT_LAYOUTS = (PL94_UNITS, PL94_DEMONSTRATION_2021_UNITS, DHC_UNITS)
LAYOUTS: tuple[Layout, ...] = (*PERSON_LAYOUTS, *UNIT_LAYOUTS)

UNREAD = (
    (
        frozenset({"TABBLKST", "SUPDIST", "ENUMDIST", "QAGE"}),
        "This is output of the 1940 demonstration run. It lacks citizenship, which the schema of 1940 needs.",
        "Read the 1940 full count (records H and P) instead.",
    ),
    (
        frozenset({"TABBLKST", "HHSIZE"}),
        "These are records of households without the columns of 2020 (THHLDRAGE and others with a T).",
        "Use DHC units of 2020 (27 columns), or units of the redistricting data (HH_STATUS).",
    ),
    (
        frozenset({"MAFID"}),
        "This is a file of the S-DHC inputs (persons, units or geo).",
        "Give its directory to a scenario of S-DHC.",
    ),
)
"""Layouts that are known and not read: columns, what the file is, what to do."""
