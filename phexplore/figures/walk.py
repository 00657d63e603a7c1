"""The items of a figure one by one: where each is, what it is in words, and where a key or a pointer leads."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.axis import Scale
from phexplore.figures.figure import Figure
from phexplore.figures.map import bounds
from phexplore.figures.marks import AnyMark, Box, Patch, extent
from phexplore.figures.steps import Step

NEAR = 14.0
"""Pixels around an item of a plane within which it answers to the pointer."""


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Everything that can be chosen in a figure, in the order of the walk.

    Attributes:
        boxes: ``float64[items, 4]``: left, right, lower and upper place of each on the axes.
        keys: what choosing each selects elsewhere; None for nothing.
        tips: each in words.
        rows: ``int64[items]``, its row; 0 in a plane.
        is_tall: ``bool[items]``: it answers in its whole column.
    """

    boxes: NDArray[np.float64]
    keys: tuple[Hashable, ...]
    tips: tuple[str, ...]
    rows: NDArray[np.int64]
    is_tall: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.keys)

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
        if step in {Step.LEFT, Step.RIGHT} or not self.rows.any():
            return min(max(here + moves[step], 0), last)
        return self._in_row(int(min(max(self.rows[here] + moves[step], self.rows.min()), self.rows.max())), here)

    def _in_row(self, row: int, here: int) -> int:
        """Return the item of a row that lies nearest below or above another."""
        inside = np.flatnonzero(self.rows == row)
        if not len(inside):
            return here
        middles = self.boxes[inside, :2].mean(axis=1)
        return int(inside[np.argmin(np.abs(middles - self.boxes[here, :2].mean()))])

    def nearest(self, x: float, y: float, per_x: float, per_y: float, *, in_rows: bool) -> int | None:
        """Return the item under a pointer.

        Args:
            x: place of the pointer on the horizontal axis.
            y: place on the vertical axis.
            per_x: pixels per unit of the horizontal axis.
            per_y: pixels per unit of the vertical axis.
            in_rows: the whole row answers.
        """
        if not len(self):
            return None
        if in_rows:
            inside = np.flatnonzero(self.rows == round(-y))
            if not len(inside):
                return None
            away = np.maximum(self.boxes[inside, 0] - x, x - self.boxes[inside, 1])
            return int(inside[np.argmin(away)])
        across = np.maximum(np.maximum(self.boxes[:, 0] - x, x - self.boxes[:, 1]), 0.0) * abs(per_x)
        up = np.maximum(np.maximum(self.boxes[:, 2] - y, y - self.boxes[:, 3]), 0.0) * abs(per_y)
        distances = np.hypot(across, np.where(self.is_tall, 0.0, up))
        found = int(np.argmin(distances))
        return found if distances[found] <= NEAR else None


def items_of(figure: Figure) -> Items:
    """Return the items of a figure: marks with words or a key, points from left to right, cells row by row."""
    boxes: list[tuple[float, float, float, float]] = []
    keys: list[Hashable] = []
    tips: list[str] = []
    rows: list[int] = []
    tall: list[bool] = []
    for number, mark in zip(figure.row_numbers, figure.marks, strict=True):
        if mark.key is None and not mark.tip:
            continue
        boxes.append(_place(figure, mark, number))
        keys.append(mark.key)
        tips.append(mark.tip or f"{mark.group} {mark.name}: {mark.text}".strip())
        rows.append(number if figure.has_rows else 0)
        tall.append(not figure.has_rows and any(isinstance(part, Box) for part in mark.parts))
    for cell in figure.cells:
        if cell.strength is not None:
            boxes.append((cell.column, cell.column + 1, -cell.row - 0.5, -cell.row + 0.5))
            keys.append(cell.key)
            tips.append(cell.tip)
            rows.append(cell.row)
            tall.append(False)
    if figure.points:
        places = [
            (figure.x.position(x), figure.y.position(y), key, tip)
            for each in figure.points
            for x, y, key, tip in zip(
                each.x.tolist(), each.y.tolist(), each.keys or (None,) * len(each.x), each.tips, strict=True
            )
            if figure.y.scale is not Scale.LOG or y > 0
        ]
        for across, up, key, tip in sorted(places, key=lambda place: place[:2]):
            boxes.append((across, across, up, up))
            keys.append(key)
            tips.append(tip)
            rows.append(0)
            tall.append(False)
    first: dict[str, Patch] = {}
    for patch in figure.patches:
        first.setdefault(patch.key, patch)
    for key, patch in first.items():
        left, right, bottom, top = bounds((patch,))
        boxes.append((left, right, bottom, top))
        keys.append(key)
        tips.append(patch.tip)
        rows.append(0)
        tall.append(False)
    return Items(
        np.array(boxes, dtype=np.float64).reshape(-1, 4),
        tuple(keys),
        tuple(tips),
        np.array(rows, dtype=np.int64),
        np.array(tall, dtype=bool),
    )


def _place(figure: Figure, mark: AnyMark, row: int) -> tuple[float, float, float, float]:
    xs = [figure.x.position(value) for value in mark.reach if math.isfinite(value)]
    left, right = (min(xs), max(xs)) if xs else (0.0, 0.0)
    if figure.has_rows:
        return left, right, -row - 0.5, -row + 0.5
    ys = [figure.y.position(value) for part in mark.parts for value in extent(part)[1] if math.isfinite(value)]
    return left, right, min(ys, default=0.0), max(ys, default=0.0)
