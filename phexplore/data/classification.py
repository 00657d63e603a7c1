"""Records to table cells by look-up: every condition of the catalogue, evaluated once per class of equal records.

No table reads more than a few columns, and no condition tells apart more than a few codes of a column. Codes that no
condition distinguishes share a class; a record's class numbers then decide, for all tables at once, whether it is in
the universe and which cells it belongs to. The tables stay data: nothing here knows one of them.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.catalog.races import iteration_levels
from phexplore.catalog.tables import CODE_LIMIT, Condition, Counted, TableProduct, production_tables, tables
from phexplore.errors import PhexploreError
from phexplore.model.keys import Iteration, TableId

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.data.population import Codes

OUTSIDE = -1
"""The atom of a record that a table does not count."""

GROUP_ITERATIONS = tuple(iteration for iteration in Iteration if iteration is not Iteration.ALL)
"""The iterations that divide the population: the axes of a group number."""


_MOST_CLASSES = 1 << 16
_MOST_PAIRS = 1 << 21
"""Kinds of units times kinds of persons: a look-up table has a byte for each and every table of persons."""


class TooManyClassesError(PhexploreError):
    """Tables that distinguish more than can be looked up."""

    def __init__(self, own: tuple[TableId, ...]) -> None:
        super().__init__(
            f"{', '.join(own)} and the tables of production together distinguish too many kinds of records.",
            "Divide ages and other codes into fewer groups, or leave a table of your own out.",
        )


class Mode(enum.Enum):
    """Which of production's two programs is followed."""

    PRIVATE = "private"
    """What a private run measures: basis cells, truncated."""
    NON_PRIVATE = "non-private"
    """Exact counts with totals, not truncated."""


@dataclass(frozen=True, slots=True, eq=False)
class CodeClasses:
    """Classes of equal records by the codes of some columns.

    Attributes:
        columns: production names of the columns; the arrays have the lower-case name.
        summands: ``uint16[columns, 256]``: a record's grid index is the sum over columns of ``summands[c, code]``.
        class_of: ``uint16[grid]``: class of a grid index.
    """

    columns: tuple[str, ...]
    summands: NDArray[np.uint16]
    class_of: NDArray[np.uint16]

    def arrays(self, frame: object) -> tuple[Codes, ...]:
        """Return the columns of a frame of the population, ``uint8[n]`` each, contiguous."""
        return tuple(np.ascontiguousarray(getattr(frame, column.lower())) for column in self.columns)

    def of(self, frame: Any) -> NDArray[np.uint16]:
        """Return the class of every record of a frame: ``uint16[n]``."""
        index = np.zeros(len(frame), np.uint16)
        for summand, codes in zip(self.summands, self.arrays(frame), strict=True):
            index += summand[codes]
        return self.class_of[index]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Population groups by race and Hispanic origin: one number for the place in every dividing iteration.

    Attributes:
        summands: ``uint16[2, 256]``: a record's group is ``summands[0, race] + summands[1, hispanic]`` looked up in
            `group_of`.
        group_of: ``uint8[grid]``: group number, row-major over `shape`.
        shape: places per iteration of `GROUP_ITERATIONS`; the last place of each axis means "none of its codes".
    """

    summands: NDArray[np.uint16]
    group_of: NDArray[np.uint8]
    shape: tuple[int, ...]

    def of(self, race: Codes, hispanic: Codes) -> NDArray[np.uint8]:
        """Return the group of every record: ``uint8[n]``.

        Args:
            race: ``race[n]``, CENRACE.
            hispanic: ``hispanic[n]``, CENHISP.
        """
        numbers: NDArray[np.uint8] = self.group_of[self.summands[0][race] + self.summands[1][hispanic]]
        return numbers

    @property
    def count(self) -> int:
        """How many groups there are."""
        return int(np.prod(self.shape))


@dataclass(frozen=True, slots=True, eq=False)
class Classification:
    """Where every record counts, for some tables in one mode.

    An atom of a table is a set of cells that some record belongs to; atoms are numbered per table. In private mode
    there is one atom per basis cell and a last one, `unfit`, for records of the universe that fit no basis cell.

    Attributes:
        mode: which program is followed.
        person_tables: tables that count persons joined to units.
        unit_tables: tables that count or sum units.
        persons: classes of person records.
        units: classes of unit records.
        person_atoms: ``int8[unit classes, person classes, person tables]``: atom, or -1 outside the universe.
        unit_atoms: ``int8[unit classes, unit tables]``.
        person_in: ``bool[person classes, person tables]``: in the part of the universe that is cut before truncation.
        unit_in: ``bool[unit classes, person tables]``: the unit part of the universe.
        membership: per table ``int64[atoms, cells]``: 1 where the atom belongs to the cell.
        unfit: per table, the atom of records that fit no basis cell; -1 in non-private mode.
        groups: population groups by race and Hispanic origin.
    """

    mode: Mode
    person_tables: tuple[TableProduct, ...]
    unit_tables: tuple[TableProduct, ...]
    persons: CodeClasses
    units: CodeClasses
    person_atoms: NDArray[np.int8]
    unit_atoms: NDArray[np.int8]
    person_in: NDArray[np.bool_]
    unit_in: NDArray[np.bool_]
    membership: Mapping[TableId, NDArray[np.int64]]
    unfit: Mapping[TableId, int]
    groups: Groups


@lru_cache(maxsize=2 * len(Mode))
def classification(mode: Mode, own: tuple[TableId, ...] = ()) -> Classification:
    """Return the classification of all tables of production a mode counts itself, and of some of the user's.

    Derived tables are not counted in private mode; their source is.

    Args:
        mode: private or non-private.
        own: tables of the user's library, by name.

    Raises:
        TooManyClassesError: the tables together distinguish more kinds of records than can be told apart.
    """
    known = [*production_tables().values(), *(tables()[name] for name in own)]
    chosen = [product for product in known if product.measured or mode is Mode.NON_PRIVATE]
    tabulated = {product.id: product.private if mode is Mode.PRIVATE else product.non_private for product in chosen}
    person_tables = tuple(product for product in chosen if tabulated[product.id].counted is Counted.PERSONS)
    unit_tables = tuple(product for product in chosen if tabulated[product.id].counted is Counted.UNITS)
    person_grid = _Grid([c for p in chosen for s in _selections(p, mode) for c in s.person])
    unit_grid = _Grid([c for p in chosen for s in _selections(p, mode) for c in s.unit])
    if max(unit_grid.size, person_grid.size) > _MOST_CLASSES or unit_grid.size * person_grid.size > _MOST_PAIRS:
        raise TooManyClassesError(own)
    membership: dict[TableId, NDArray[np.int64]] = {}
    unfit: dict[TableId, int] = {}
    atoms: dict[TableId, NDArray[np.int8]] = {}
    for product in chosen:
        atoms[product.id], membership[product.id], unfit[product.id] = _atoms(product, mode, unit_grid, person_grid)
    unit_shape, person_shape = unit_grid.size, person_grid.size
    person_full = np.zeros((unit_shape, person_shape, len(person_tables)), np.int8)
    unit_full = np.zeros((unit_shape, len(unit_tables)), np.int8)
    unit_in = np.ones((unit_shape, len(person_tables)), bool)
    person_in = np.ones((person_shape, len(person_tables)), bool)
    for position, product in enumerate(person_tables):
        person_full[:, :, position] = atoms[product.id]
        unit_in[:, position] = unit_grid.select(tabulated[product.id].universe.unit)
        person_in[:, position] = person_grid.select(tabulated[product.id].universe.person)
    for position, product in enumerate(unit_tables):
        if not (atoms[product.id] == atoms[product.id][:, :1]).all():
            raise ValueError(f"{product.id} counts units, but a condition reads the person's record")
        unit_full[:, position] = atoms[product.id][:, 0]
    # Merge grid points that no table distinguishes, so that the look-up table stays in the processor's cache.
    unit_keep, unit_class = _merge(np.column_stack([person_full.reshape(unit_shape, -1), unit_full, unit_in]))
    person_keep, person_class = _merge(
        np.column_stack([person_full.transpose(1, 0, 2).reshape(person_shape, -1), person_in])
    )
    return Classification(
        mode=mode,
        person_tables=person_tables,
        unit_tables=unit_tables,
        persons=person_grid.classes(person_class),
        units=unit_grid.classes(unit_class),
        person_atoms=np.ascontiguousarray(person_full[unit_keep][:, person_keep]),
        unit_atoms=unit_full[unit_keep],
        person_in=person_in[person_keep],
        unit_in=unit_in[unit_keep],
        membership=MappingProxyType(membership),
        unfit=MappingProxyType(unfit),
        groups=_groups(mode),
    )


class _Grid:
    """All combinations of column classes: the points at which conditions are evaluated."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self.columns = tuple(sorted({condition.column for condition in conditions}))
        self._class_of_code: list[NDArray[np.intp]] = []
        self._codes: list[NDArray[np.intp]] = []
        for column in self.columns:
            masks = [_mask(condition) for condition in conditions if condition.column == column]
            _, codes, classes = np.unique(np.array(masks), axis=1, return_index=True, return_inverse=True)
            self._codes.append(codes)
            self._class_of_code.append(classes.ravel())
        self.shape = tuple(len(codes) for codes in self._codes)
        self.size = math.prod(self.shape)

    def select(self, conditions: Sequence[Condition]) -> NDArray[np.bool_]:
        """Return where all conditions hold: ``bool[size]``."""
        held = np.ones(self.shape, bool)
        for condition in conditions:
            axis = self.columns.index(condition.column)
            here = _mask(condition)[self._codes[axis]]
            held &= here.reshape([-1 if other == axis else 1 for other in range(len(self.shape))])
        return held.ravel()

    def classes(self, class_of: NDArray[np.uint16]) -> CodeClasses:
        strides = [int(np.prod(self.shape[axis + 1 :])) for axis in range(len(self.shape))]
        summands = np.zeros((len(self.columns), CODE_LIMIT), np.uint16)
        for axis, stride in enumerate(strides):
            summands[axis] = self._class_of_code[axis] * stride
        return CodeClasses(self.columns, summands, class_of)


def _mask(condition: Condition) -> NDArray[np.bool_]:
    mask = np.zeros(CODE_LIMIT, bool)
    for first, last in condition.ranges:
        mask[first : last + 1] = True
    return mask


def _selections(product: TableProduct, mode: Mode) -> list[Any]:
    universe = (product.private if mode is Mode.PRIVATE else product.non_private).universe
    return [universe, *(cell.where for cell in _cells(product, mode))]


def _cells(product: TableProduct, mode: Mode) -> tuple[Any, ...]:
    return product.basis_cells if mode is Mode.PRIVATE else product.cells


def _atoms(
    product: TableProduct, mode: Mode, unit_grid: _Grid, person_grid: _Grid
) -> tuple[NDArray[np.int8], NDArray[np.int64], int]:
    def both(selection: Any) -> NDArray[np.bool_]:
        selected: NDArray[np.bool_] = unit_grid.select(selection.unit)[:, None] & person_grid.select(selection.person)
        return selected

    universe = both((product.private if mode is Mode.PRIVATE else product.non_private).universe)
    belongs = np.stack([universe & both(cell.where) for cell in _cells(product, mode)], axis=-1)
    atoms = np.full(universe.shape, OUTSIDE, np.int8)
    cells = belongs.shape[-1]
    if mode is Mode.PRIVATE:
        if (belongs.sum(axis=-1) > 1).any():
            raise ValueError(f"a record of {product.id} would belong to two basis cells")
        for position in range(cells):
            atoms[belongs[..., position]] = position
        atoms[universe & ~belongs.any(axis=-1)] = cells
        return atoms, np.eye(cells + 1, cells, dtype=np.int64), cells
    sets = belongs @ (1 << np.arange(cells, dtype=np.int64))
    counted, numbers = np.unique(sets[sets > 0], return_inverse=True)
    atoms[sets > 0] = numbers.ravel()
    return atoms, counted[:, None] >> np.arange(cells, dtype=np.int64) & 1, OUTSIDE


def _merge(rows: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.uint16]]:
    first: dict[bytes, int] = {}
    keep: list[int] = []
    merged = np.empty(len(rows), np.uint16)
    for position, row in enumerate(rows):
        if (number := first.setdefault(row.tobytes(), len(keep))) == len(keep):
            keep.append(position)
        merged[position] = number
    return np.array(keep), merged


def _groups(mode: Mode) -> Groups:
    levels = [iteration_levels()[iteration] for iteration in GROUP_ITERATIONS]
    codes = [code for level in levels for code in level.codes]
    race_of_class, race_class = _distinct([_mask(code.race) for code in codes])
    hispanic_of_class, hispanic_class = _distinct([_mask(code.hispanic) for code in codes])
    shape = tuple(len(level.codes) + 1 for level in levels)
    group_of = np.zeros(len(race_of_class) * len(hispanic_of_class), np.uint8)
    for position, race in enumerate(race_of_class):
        for offset, hispanic in enumerate(hispanic_of_class):
            places = [level.place(int(race), int(hispanic), private=mode is Mode.PRIVATE) for level in levels]
            located = [len(level.codes) if at is None else at for level, at in zip(levels, places, strict=True)]
            group_of[position * len(hispanic_of_class) + offset] = np.ravel_multi_index(located, shape)
    return Groups(np.stack([race_class * len(hispanic_of_class), hispanic_class]).astype(np.uint16), group_of, shape)


def _distinct(masks: list[NDArray[np.bool_]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    _, codes, classes = np.unique(np.array(masks), axis=1, return_index=True, return_inverse=True)
    return codes, classes.ravel()
