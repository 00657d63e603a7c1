"""The tables of the S-DHC as data: universes, cells, who is counted and whose race counts.

Those of production are read once from ``resources/tables/*.toml``. Their facts are those of the PHSafe paper, section 2.4 and
Tables 1-8, as the production program implements them; where its private and its non-private mode differ, both are stated.
Tables of the user's library are written like them and have to keep what the sensitivities are proven for.
"""

from __future__ import annotations

import enum
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

from phexplore.errors import UnknownNameError
from phexplore.library import confirm_id, own_entries, own_text, own_title, until_reread
from phexplore.model.keys import Iteration, PopulationGroupLevel, QueryKey, Region, TableId
from phexplore.resources import resource
from phexplore.text.quoted import quote

CODE_LIMIT = 256
"""Every coded column of the S-DHC inputs is smaller than this; an open range such as ``18-`` ends below it."""

_FILES = (
    "ph1_num",
    "ph1_denom",
    "ph2",
    "ph3",
    "ph4",
    "ph5_num",
    "ph5_denom",
    "ph6",
    "ph7",
    "ph8_num",
    "ph8_denom",
)
"""The order of the paper and of config.json. A new table is one more file and one more line here."""


class Counted(enum.Enum):
    """What one unit of a count is."""

    PERSONS = "persons"
    UNITS = "units"


PEOPLE_OR_HOUSEHOLDS = "people or households"
"""What numbers of several tables count, where they stand together: on an axis, or in a heading."""

_HOUSING_UNITS = "housing units"
"""What households, families and occupied housing units all are."""


class RaceOf(enum.Enum):
    """Whose race and ethnicity decide the iteration a record belongs to."""

    PERSON = "person"
    HOUSEHOLDER = "householder"
    NOBODY = "nobody"
    """The table is not iterated."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A column holds one of the given codes.

    Attributes:
        column: production column name, e.g. ``HHT2``.
        ranges: pairs of first and last code, both included.
    """

    column: str
    ranges: tuple[tuple[int, int], ...]

    def holds(self, code: int) -> bool:
        """Return whether `code` is one of the codes."""
        return any(first <= code <= last for first, last in self.ranges)


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions that all hold: on the person's record and on the unit's record. Empty selects everything."""

    person: tuple[Condition, ...] = ()
    unit: tuple[Condition, ...] = ()

    def holds(self, person: Mapping[str, int], unit: Mapping[str, int]) -> bool:
        """Return whether a person in a unit is selected; the mappings give the code of each named column.

        Args:
            person: code of each column of the person.
            unit: code of each column of the unit.
        """
        return all(c.holds(person[c.column]) for c in self.person) and all(c.holds(unit[c.column]) for c in self.unit)


@dataclass(frozen=True, slots=True)
class Tabulated:
    """How one mode of production counts a table.

    Attributes:
        counted: persons joined to their unit, or units alone.
        universe: records that are counted at all. In private mode its person part is applied before truncation.
        weight: unit column summed instead of counting records, None for a plain count.
    """

    counted: Counted
    universe: Selection
    weight: str | None = None


@dataclass(frozen=True, slots=True)
class TableCell:
    """One number of a table, per region and iteration.

    Attributes:
        code: the data cell number of the output.
        label: the words of the paper's table shell, without its indentation.
        depth: indentation in the table shell, 0 for the total.
        basis: measured with noise in a private run. All other cells exist in non-private output only.
        sum_of: cells of the same table that add up to this one on clean data.
        copy_of: the cell whose count non-private output repeats here, None for a cell of its own.
        sources: for a derived table, the cells of the table it is derived from that add up to this one.
        where: the records of the universe that belong here.
    """

    code: int
    label: str
    depth: int
    basis: bool
    sum_of: tuple[int, ...]
    copy_of: int | None
    sources: tuple[int, ...]
    where: Selection


@dataclass(frozen=True, slots=True)
class TableProduct:
    """One table of the S-DHC, or the numerator or denominator of one.

    Attributes:
        id: as production spells it, e.g. ``PH1_num``.
        title: what it counts, in words.
        universe: who or what is counted, in words.
        source: where the definition is printed.
        counts: persons or units in private mode.
        truncated: people per household are limited by a threshold τ before counting.
        derived_from: the measured table whose noisy counts are post-processed into this one, None if measured.
        iterations: published iterations, in the order of `Iteration`.
        iteration_source: whose race and ethnicity decide the iteration.
        private: how the measurement counts; for a derived table, how its source counts.
        non_private: how exact output counts.
        cells: all cells, by code.
    """

    id: TableId
    title: str
    universe: str
    source: str
    counts: Counted
    truncated: bool
    derived_from: TableId | None
    iterations: tuple[Iteration, ...]
    iteration_source: RaceOf
    private: Tabulated
    non_private: Tabulated
    cells: tuple[TableCell, ...]

    @property
    def measured(self) -> bool:
        """Whether a private run spends budget on this table."""
        return self.derived_from is None

    @property
    def iterated(self) -> bool:
        """Whether there is more than the unattributed iteration, and so an ITERATION_CODE column."""
        return self.iterations != (Iteration.ALL,)

    @property
    def basis_cells(self) -> tuple[TableCell, ...]:
        """The cells a private run measures, by code; they partition the universe."""
        return tuple(cell for cell in self.cells if cell.basis)

    @property
    def counted_in(self) -> str:
        """What a number of the table and its error count: people, or its housing units as the universe calls them."""
        if self.counts is Counted.PERSONS:
            return "people"
        return self.universe.lower() if self.id in production_tables() else _HOUSING_UNITS

    @property
    def totals(self) -> tuple[TableCell, ...]:
        """The cells that are sums of others, by code."""
        return tuple(cell for cell in self.cells if cell.sum_of)

    @property
    def cell_column(self) -> str:
        """Name of the output column that holds the cell code, e.g. ``PH1_NUM_DATA_CELL``."""
        return f"{self.id.upper()}_DATA_CELL"

    @property
    def levels(self) -> tuple[PopulationGroupLevel, ...]:
        """The population-group levels of the table, in the order of Table 10."""
        return tuple(PopulationGroupLevel(region, iteration) for region in Region for iteration in self.iterations)

    @property
    def queries(self) -> tuple[QueryKey, ...]:
        """The measured queries of the table, none for a derived one."""
        return tuple(QueryKey(self.id, level) for level in self.levels) if self.measured else ()

    def cell(self, code: int) -> TableCell:
        """Return the cell with this code.

        Raises:
            UnknownNameError: there is none.
        """
        for cell in self.cells:
            if cell.code == code:
                return cell
        raise UnknownNameError(f"cell of {self.id}", str(code), [str(cell.code) for cell in self.cells])


@lru_cache(maxsize=1)
def production_tables() -> Mapping[TableId, TableProduct]:
    """Return the eleven tables of production by id, in the order of the paper."""
    return MappingProxyType({product.id: product for product in map(_shipped, _FILES)})


@until_reread
def tables() -> Mapping[TableId, TableProduct]:
    """Return all tables by id: the eleven of production, in the order of the paper, then those of the user's library by name."""
    own = {product.id: product for _, product in own_entries("tables", _own, ".toml")}
    return MappingProxyType({**production_tables(), **own})


def own_tables(ids: Iterable[TableId]) -> tuple[TableId, ...]:
    """Return which of some tables are the user's, by name."""
    return tuple(sorted(set(ids) - set(production_tables()) & set(tables())))


def table(table_id: str) -> TableProduct:
    """Return one table.

    Raises:
        UnknownNameError: no such table; the remedy names the nearest.
    """
    if (product := tables().get(TableId(table_id))) is None:
        raise UnknownNameError("table", table_id, list(tables()))
    return product


def counted_in(table_id: str) -> str:
    """Return what a number of a table counts, e.g. people or families; people or households for a table that is gone."""
    product = tables().get(TableId(table_id))
    return PEOPLE_OR_HOUSEHOLDS if product is None else product.counted_in


def counted_together(units: Iterable[str]) -> str:
    """Return what numbers count that stand together: the one unit of all, else a word that holds for each.

    Args:
        units: what each of them counts; nothing may be people or households.
    """
    found = set(units)
    if len(found) == 1:
        return found.pop()
    return _HOUSING_UNITS if found and not found & {"people", PEOPLE_OR_HOUSEHOLDS} else PEOPLE_OR_HOUSEHOLDS


@lru_cache(maxsize=1)
def config_tables() -> tuple[TableProduct, ...]:
    """Return the nine measured tables of production in the order of ``privacy_budget`` in config.json."""
    return tuple(product for product in production_tables().values() if product.measured)


def truncated_tables() -> tuple[TableProduct, ...]:
    """Return the six tables of production with a truncation threshold, in the order of ``tau`` in config.json."""
    return tuple(product for product in config_tables() if product.truncated)


@lru_cache(maxsize=1)
def queries() -> tuple[QueryKey, ...]:
    """Return the 46 measured queries of production in the order of Table 10 of the paper."""
    return tuple(query for product in config_tables() for query in product.queries)


def sensitivity(product: TableProduct, tau: int | None, geo_multiplicity: int = 1) -> int:
    """Return the L1 and L2 sensitivity of one count query, in records, for one person added or removed.

    2τ + 2 for a truncated table (PHSafe paper, Lemma 6 and Theorem 1): one person changes up to 2 rows of the truncated
    person frame, each joined to one unit, and up to 2 rows of the unit frame, each joined to up to τ persons. 2 for a
    denominator (Theorem 2). A derived table has the sensitivity of its source.

    Args:
        product: the table.
        tau: its truncation threshold, ignored (None) where the table is not truncated.
        geo_multiplicity: the most often a MAFID occurs in the public geography. The join repeats a unit so often, which
            multiplies the unit frame's changes: 2τm + 2 and 2m.

    Raises:
        ValueError: a truncated table without a threshold of at least 1, or a multiplicity below 1.
    """
    if geo_multiplicity < 1:
        raise ValueError(f"a MAFID occurs at least once in the geography, got {geo_multiplicity}")
    if not product.truncated:
        return 2 * geo_multiplicity
    if tau is None or tau < 1:
        raise ValueError(f"the truncation threshold of {product.id} keeps at least 1 person, got {tau}")
    return 2 * tau * geo_multiplicity + 2


def parse_codes(text: str) -> tuple[tuple[int, int], ...]:
    """Read a set of codes such as ``20-24, 34-36``, ``3`` or ``18-`` (open upwards) as inclusive ranges.

    Raises:
        ValueError: not such a set, or a code outside 0-255.
    """
    ranges = []
    for part in text.split(","):
        first_text, dash, last_text = (piece.strip() for piece in part.partition("-"))
        if not first_text.isdigit() or (last_text and not last_text.isdigit()):
            raise ValueError(f"{text!r} is not a set of codes; write it like 20-24, 34 or 18-")
        first = int(first_text)
        last = int(last_text) if last_text else (CODE_LIMIT - 1 if dash else first)
        if not first <= last < CODE_LIMIT:
            raise ValueError(f"{text!r} has codes outside 0-{CODE_LIMIT - 1} or a range that ends before it starts")
        ranges.append((first, last))
    return tuple(ranges)


def _shipped(stem: str) -> TableProduct:
    return _product(tomllib.loads(resource(f"tables/{stem}.toml").read_text(encoding="utf-8")))


def _own(path: Path) -> TableProduct | None:
    """Return a table of the user's library; None for one over a schema, which is no table of the S-DHC."""
    entry = tomllib.loads(own_text("tables", path.name) or "")
    if "private" not in entry:
        return None
    confirm_id(path, entry["id"])
    product = _product(entry)
    _confirm_own(product)
    return replace(product, title=own_title(product.title))


def _product(entry: Mapping[str, Any]) -> TableProduct:
    product = TableProduct(
        id=TableId(entry["id"]),
        title=entry["title"],
        universe=entry["universe"],
        source=entry["source"],
        counts=Counted(entry["private"]["counts"]),
        truncated=entry["truncated"],
        derived_from=TableId(entry["derived_from"]) if "derived_from" in entry else None,
        iterations=tuple(Iteration(text) for text in entry["iterations"]),
        iteration_source=RaceOf(entry["race_of"]),
        private=_tabulated(entry["private"]),
        non_private=_tabulated(entry["non_private"]),
        cells=tuple(_cell(cell) for cell in entry["cells"]),
    )
    _check(product)
    return product


def _tabulated(entry: Mapping[str, Any]) -> Tabulated:
    return Tabulated(Counted(entry["counts"]), _selection(entry), entry.get("weight"))


def _cell(entry: Mapping[str, Any]) -> TableCell:
    return TableCell(
        code=entry["code"],
        label=entry["label"],
        depth=entry["depth"],
        basis=entry.get("basis", False),
        sum_of=tuple(entry.get("sum_of", ())),
        copy_of=entry.get("copy_of"),
        sources=tuple(entry.get("sources", ())),
        where=_selection(entry),
    )


def _selection(entry: Mapping[str, Any]) -> Selection:
    return Selection(
        *(
            tuple(Condition(column, parse_codes(codes)) for column, codes in entry.get(part, {}).items())
            for part in ("person", "unit")
        )
    )


def _check(product: TableProduct) -> None:
    codes = [cell.code for cell in product.cells]
    if codes != sorted(set(codes)):
        raise ValueError(f"the cells of {product.id} are not in ascending order without repetition: {codes}")
    if list(product.iterations) != [iteration for iteration in Iteration if iteration in product.iterations]:
        raise ValueError(f"the iterations of {product.id} are not in the order of the model")
    if product.iterated == (product.iteration_source is RaceOf.NOBODY):
        raise ValueError(f"{product.id} is iterated exactly if somebody's race decides the iteration")
    basis = {cell.code for cell in product.cells if cell.basis}
    for cell in product.cells:
        if not cell.basis and not set(cell.sum_of or (cell.copy_of,)) <= basis:
            raise ValueError(f"cell {cell.code} of {product.id} is neither measured nor a sum of measured cells")
        if bool(cell.sources) != (cell.basis and not product.measured):
            raise ValueError(f"cell {cell.code} of {product.id} names its sources exactly if it is derived")


_PERSON_COLUMNS = frozenset({"RTYPE", "QAGE", "CENHISP", "CENRACE", "RELSHIP"})
_UNIT_COLUMNS = frozenset({"RTYPE", "HHSPAN", "HHRACE", "TEN", "HHT", "HHT2", "CPLT", "NPF"})
_MOST_CELLS = 60
_LAST_CODE = 9999
_LONGEST_WORDS = 200
_PRODUCTION = re.compile(r"PH[0-9]", re.IGNORECASE)


def _confirm_own(product: TableProduct) -> None:
    """Pass a table that the sensitivities hold for and that every part of the program can count and show.

    Raises:
        ValueError: which of it does not hold.
    """
    counts, private, exact = product.counts, product.private, product.non_private
    cells, where = product.cells, [private.universe, exact.universe, *(cell.where for cell in product.cells)]
    persons = {condition.column for selection in where for condition in selection.person}
    units = {condition.column for selection in where for condition in selection.unit}
    words = [product.id, product.title, product.universe, product.source, *(cell.label for cell in cells)]
    quote(*words)
    numbers = [number for cell in cells for number in (cell.code, cell.depth, *cell.sum_of)]
    numbers += [cell.copy_of for cell in cells if cell.copy_of is not None]
    owners = {Counted.PERSONS: set(RaceOf), Counted.UNITS: {RaceOf.HOUSEHOLDER, RaceOf.NOBODY}}
    refusals = {
        "names that begin with PH and a digit are those of production": bool(_PRODUCTION.match(product.id)),
        "a table of your own is measured, not derived from another": product.derived_from is not None,
        "who counts persons truncates households (truncated = true), who counts units does not: sensitivities are proven for that": (
            product.truncated is not (counts is Counted.PERSONS)
        ),
        "both modes count the same, persons or units": exact.counted is not counts,
        "private counts are no sums of a column": private.weight is not None,
        "only FINAL_POP can be summed, over units": exact.weight is not None
        and (exact.weight, counts) != ("FINAL_POP", Counted.UNITS),
        "whose race counts among units is the householder's": product.iteration_source not in owners[counts],
        "a table is published for one iteration or more": not product.iterations,
        f"persons have the columns {', '.join(sorted(_PERSON_COLUMNS))}": not persons <= _PERSON_COLUMNS,
        f"units have the columns {', '.join(sorted(_UNIT_COLUMNS))}": not units <= _UNIT_COLUMNS,
        "a count of units asks nothing of persons": counts is Counted.UNITS and bool(persons),
        f"a table has 1 to {_MOST_CELLS} cells, and measures at least one": not 1 <= len(cells) <= _MOST_CELLS
        or not product.basis_cells,
        f"codes, depths and sums are whole numbers from 0 to {_LAST_CODE}": any(
            type(number) is not int or not 0 <= number <= _LAST_CODE for number in numbers
        ),
        f"title, universe, source and labels are texts of one line, at most {_LONGEST_WORDS} letters": any(
            not isinstance(each, str) or not each.isprintable() or not 0 < len(each) <= _LONGEST_WORDS for each in words
        ),
        f"a condition names at most {CODE_LIMIT} ranges of codes": any(
            len(condition.ranges) > CODE_LIMIT
            for selection in where
            for condition in (*selection.person, *selection.unit)
        ),
        "basis is true or false": any(type(cell.basis) is not bool for cell in cells),
    }
    for sentence, is_wrong in refusals.items():
        if is_wrong:
            raise ValueError(sentence)
    for one, other in combinations(product.basis_cells, 2):
        if _meet(private.universe, one.where, other.where):
            raise ValueError(
                f"a record can be in the cells {one.code} and {other.code}, but one record may change one measured cell alone"
            )


def _meet(*selections: Selection) -> bool:
    """Return whether a record can be in all selections: columns take any code, so it cannot where one column has none left."""
    for part in ("person", "unit"):
        left: dict[str, set[int]] = {}
        for condition in (each for selection in selections for each in getattr(selection, part)):
            codes = {code for first, last in condition.ranges for code in range(first, last + 1)}
            left[condition.column] = left.get(condition.column, codes) & codes
        if not all(left.values()):
            return False
    return True
