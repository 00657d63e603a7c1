"""What can be chosen in a figure, in the order of a walk through it, and where a key or a pointer leads."""

from __future__ import annotations

import enum
import math
from collections.abc import Hashable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from phexplore.figures.axis import Scale
from phexplore.figures.figure import Figure
from phexplore.figures.map import bounds
from phexplore.figures.marks import AnyMark, Box, Patch, Tip, extent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from phexplore.figures.marks import Floats

NEAR = 14.0
"""Pixels around an item of a plane within which it answers to the pointer."""
Place = tuple[float, float, float, float]
"""Left, right, lower and upper place on the axes."""


class Step(enum.Enum):
    """Where a key leads."""

    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"
    FIRST = "first"
    LAST = "last"
    PAGE_UP = "page up"
    PAGE_DOWN = "page down"


class _Item(NamedTuple):
    """What can be chosen: its mark or its place, its row (0 in a plane), and whether its whole column answers."""

    key: Hashable
    tip: Tip
    where: AnyMark | Place | Patch
    row: int = 0
    is_tall: bool = False


class Items:
    """Everything that can be chosen in a figure, in the order of the walk.

    Attributes:
        keys: what choosing each selects elsewhere; None for nothing.
        rows: the row of each; 0 in a plane.
    """

    def __init__(self, figure: Figure) -> None:
        """Find marks with words or a key, cells row by row, points from left to right, and units of a map."""
        self._figure = figure
        self._items = [*_marks(figure), *_cells(figure), *_points(figure), *_units(figure)]
        self.keys = tuple(item.key for item in self._items)
        self.rows = tuple(item.row for item in self._items)

    def __len__(self) -> int:
        return len(self._items)

    @cached_property
    def boxes(self) -> Floats:
        """``float64[items, 4]``: left, right, lower and upper place of each on the axes, found when first asked for."""
        import numpy as np  # noqa: PLC0415 - an edit is painted without it

        return np.array([self.box(item) for item in range(len(self))], dtype=np.float64).reshape(-1, 4)

    def box(self, item: int) -> Place:
        """Return the place of one item on the axes."""
        found = self._items[item]
        return found.where if isinstance(found.where, tuple) else _place(self._figure, found.where, found.row)

    def words(self, item: int) -> str:
        """Return what an item is, in words."""
        tip = self._items[item].tip
        return tip if isinstance(tip, str) else tip()

    def find(self, key: Hashable) -> int | None:
        """Return the item of a key."""
        return None if key is None or key not in self.keys else self.keys.index(key)

    def step(self, here: int | None, step: Step, page: int) -> int | None:
        """Return the item a key leads to, None where it leads nowhere.

        Args:
            here: where the walk is, None before its beginning.
            step: what the key says.
            page: rows of a page.
        """
        last = len(self) - 1
        if last < 0:
            return None
        if here is None or step in {Step.FIRST, Step.LAST}:
            return last if step is Step.LAST else 0
        moves = {Step.UP: -1, Step.LEFT: -1, Step.DOWN: 1, Step.RIGHT: 1, Step.PAGE_UP: -page, Step.PAGE_DOWN: page}
        if step in {Step.LEFT, Step.RIGHT} or not any(self.rows):
            return min(max(here + moves[step], 0), last)
        row = min(max(self.rows[here] + moves[step], min(self.rows)), max(self.rows))
        left, right, *_ = self.boxes.T
        middle = (left[here] + right[here]) / 2

        def away(item: int) -> tuple[float, float]:
            """How far an item is: not at all below or above the middle; then how far the middles are apart."""
            beside = max(left[item] - middle, middle - right[item], 0.0)
            return beside, abs((left[item] + right[item]) / 2 - middle)

        return min(self._in_row(row), key=away, default=here)

    def nearest(self, x: float, y: float, per_x: float, per_y: float) -> int | None:
        """Return the item under a pointer; in a figure of rows the whole row answers, in a heat table the cell.

        Args:
            x: place of the pointer on the horizontal axis.
            y: place on the vertical axis.
            per_x: pixels per unit of the horizontal axis.
            per_y: pixels per unit of the vertical axis.
        """
        if not len(self):
            return None
        boxes = self.boxes
        if self._figure.has_rows:
            found = min(
                self._in_row(round(-y)), key=lambda item: max(boxes[item, 0] - x, x - boxes[item, 1]), default=None
            )
            is_beside = found is not None and not boxes[found, 0] <= x <= boxes[found, 1]
            return None if is_beside and self._figure.cells else found
        import numpy as np  # noqa: PLC0415 - as above

        across = np.maximum(np.maximum(boxes[:, 0] - x, x - boxes[:, 1]), 0.0) * abs(per_x)
        up = np.maximum(np.maximum(boxes[:, 2] - y, y - boxes[:, 3]), 0.0) * abs(per_y)
        distances = np.hypot(across, np.where(self._is_tall, 0.0, up))
        closest = int(np.argmin(distances))
        return closest if distances[closest] <= NEAR else None

    @cached_property
    def _is_tall(self) -> NDArray[np.bool_]:
        import numpy as np  # noqa: PLC0415 - as above

        return np.array([item.is_tall for item in self._items], dtype=bool)

    def _in_row(self, row: int) -> list[int]:
        return [item for item, own in enumerate(self.rows) if own == row]


def _marks(figure: Figure) -> list[_Item]:
    has_rows = figure.has_rows
    return [
        _Item(
            mark.key,
            mark.tip or f"{mark.group} {mark.name}: {mark.text}".strip(),
            mark,
            row if has_rows else 0,
            not has_rows and any(isinstance(part, Box) for part in mark.parts),
        )
        for row, mark in zip(figure.row_numbers, figure.marks, strict=True)
        if mark.key is not None or mark.tip
    ]


def _cells(figure: Figure) -> list[_Item]:
    return [
        _Item(cell.key, cell.tip, (cell.column, cell.column + 1, -cell.row - 0.5, -cell.row + 0.5), cell.row)
        for cell in figure.cells
        if cell.strength is not None
    ]


def _points(figure: Figure) -> list[_Item]:
    found = [
        (figure.x.position(x), figure.y.position(y), key, tip)
        for each in figure.points
        for x, y, key, tip in zip(
            each.x.tolist(), each.y.tolist(), each.keys or (None,) * len(each.x), each.tips, strict=True
        )
        if figure.y.scale is not Scale.LOG or y > 0
    ]
    found.sort(key=lambda each: each[:2])
    return [_Item(key, tip, (across, across, up, up)) for across, up, key, tip in found]


def _units(figure: Figure) -> list[_Item]:
    first: dict[str, Patch] = {}
    for patch in figure.patches:
        first.setdefault(patch.key, patch)
    return [_Item(key, patch.tip, patch) for key, patch in first.items()]


def _place(figure: Figure, mark: AnyMark | Patch, row: int) -> Place:
    if isinstance(mark, Patch):
        return bounds((mark,))
    xs = [figure.x.position(value) for value in mark.reach if math.isfinite(value)]
    left, right = (min(xs), max(xs)) if xs else (0.0, 0.0)
    if figure.has_rows:
        return left, right, -row - 0.5, -row + 0.5
    ys = [figure.y.position(value) for part in mark.parts for value in extent(part)[1] if math.isfinite(value)]
    return left, right, min(ys, default=0.0), max(ys, default=0.0)
