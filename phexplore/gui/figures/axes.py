"""The axes of a plot: round ticks chosen by functions of the visible range, labels that do not overlap."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple
from weakref import WeakMethod

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from phexplore.figures.axis import Axis as ScaleAxis
from phexplore.figures.figure import RowLabel
from phexplore.gui.figures.pixels import Pixels
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import pixmap
from phexplore.gui.theme.lettering import Lettering, draw_text, lettering
from phexplore.gui.theme.metrics import GAP, HALF

_UPRIGHT = 2
"""A label of so many letters is not turned."""
_HIGHEST = 8
"""Lines of text that an upright name may be high."""
TICK_LENGTH = 4
"""In pixels, outside the plot area."""


LOCK_SIZE = 12
LABEL_PART = 0.55
"""Most of the width that names may take."""
GROUP_PART = 0.24
"""Most of the width that the words of groups may take; longer ones go on beside the next row."""


class Tick(NamedTuple):
    """A labelled place on an axis.

    Attributes:
        position: in axis coordinates.
        text: its label.
    """

    position: float
    text: str


class Axis(ABC):
    """What stands at one side of a plot area.

    Attributes:
        label: quantity and unit, "" for none.
    """

    def __init__(self) -> None:
        self.label = ""
        self._repaint: WeakMethod[Callable[[], None]] | None = None

    def attach(self, repaint: Callable[[], None]) -> None:
        """Say how the axis is painted again; the bound method is not kept alive."""
        self._repaint = WeakMethod(repaint)

    def update(self) -> None:
        """Paint the axis again at the next occasion."""
        if self._repaint is not None and (repaint := self._repaint()) is not None:
            repaint()

    @abstractmethod
    def extent(self, low: float, high: float) -> int:
        """Return the room it takes beside the plot area when this range is visible, in whole pixels."""

    @abstractmethod
    def paint(self, painter: QPainter, room: QRectF, pixels: Pixels) -> None:
        """Paint the axis.

        Args:
            painter: smooth edges are on.
            room: from the plot area to the edge of the picture, and along its whole side.
            pixels: the map of the plot area.
        """


class ValueAxis(Axis):
    """An axis of values."""

    def __init__(self) -> None:
        super().__init__()
        self._axis = ScaleAxis()
        self._known: tuple[tuple[float, float], tuple[Tick, ...]] | None = None

    def use(self, axis: ScaleAxis) -> None:
        """Show the scale and the title of another axis."""
        self._axis, self.label, self._known = axis, axis.caption, None

    def ticks(self, low: float, high: float) -> tuple[Tick, ...]:
        """Return the ticks of a visible range that lie in it, in the order of their values."""
        if self._known is None or self._known[0] != (low, high):
            axis, slack = self._axis, 1e-9 * (high - low)
            found = (Tick(axis.position(value), axis.label(value)) for value in axis.values_between(low, high))
            inside = tuple(tick for tick in found if low - slack <= tick.position <= high + slack)
            self._known = ((low, high), inside)
        return self._known[1]

    def _fitting(self, room: float) -> str:
        """Return the title, without what stands in brackets at its end where there is no room for that."""
        letters = lettering()
        short = self.label.rpartition(" (")[0] if self.label.endswith(")") else self.label
        return self.label if letters.width(self.label) <= room else letters.elided(short, room)


class BottomAxis(ValueAxis):
    """Values from left to right, below the plot area; names of columns stand upright where they have no room beside each other.

    Attributes:
        length: pixels of the plot area.
        names_above: the names stand above the plot area, as over a table: its first rows are seen with them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.length = 0.0
        self.names_above = False
        self._fitted: tuple[tuple[object, ...], tuple[str, ...]] = ((), ())

    def extent(self, low: float, high: float) -> int:
        names = 0 if self.names_above else self._names_height(low, high)
        return round(TICK_LENGTH + HALF + names + (lettering().height if self.label else 0)) + HALF

    def rise(self, low: float, high: float) -> int:
        """Return the room it takes above the plot area when this range is visible, in whole pixels."""
        return round(self._names_height(low, high)) + HALF if self.names_above else 0

    def _names_height(self, low: float, high: float) -> float:
        upright: float = max(map(lettering().width, self._upright(low, high)), default=lettering().height)
        return upright

    def paint(self, painter: QPainter, room: QRectF, pixels: Pixels) -> None:
        colours, letters, area = appearance().colours, lettering(), pixels.area
        names = 0.0
        if not self.names_above:
            self._paint_ticks(painter, pixels)
            self._paint_names(painter, room, pixels)
            names = self._names_height(pixels.view.left(), pixels.view.right())
        if self.label:
            words = self._fitting(room.width() - GAP)
            left = min(
                max(area.center().x() - letters.width(words) / 2, HALF), room.right() - letters.width(words) - HALF
            )
            y = area.bottom() + TICK_LENGTH + HALF / 2 + names + letters.height / 2
            draw_text(painter, QPointF(left, y), words, colours.muted)

    def paint_above(self, painter: QPainter, room: QRectF, pixels: Pixels) -> None:
        """Paint what stands above the plot area.

        Args:
            painter: smooth edges are on.
            room: from the upper edge of the picture to the plot area, and along its whole side.
            pixels: the map of the plot area.
        """
        if self.names_above:
            self._paint_names(painter, room, pixels)

    def _paint_ticks(self, painter: QPainter, pixels: Pixels) -> None:
        painter.setPen(QPen(QColor(appearance().colours.border), 1))
        top = pixels.area.bottom()
        for tick in self.ticks(pixels.view.left(), pixels.view.right()):
            x = round(pixels.x(tick.position)) + 0.5
            painter.drawLine(QPointF(x, top), QPointF(x, top + TICK_LENGTH))

    def _paint_names(self, painter: QPainter, room: QRectF, pixels: Pixels) -> None:
        """Write the names of the ticks, upright where they have no room beside each other."""
        colours, letters, area = appearance().colours, lettering(), pixels.area
        ticks = self.ticks(pixels.view.left(), pixels.view.right())
        middles = [pixels.x(tick.position) for tick in ticks]
        near = area.top() - HALF / 2 if self.names_above else area.bottom() + TICK_LENGTH + HALF / 2
        upright = self._upright(pixels.view.left(), pixels.view.right())
        for x, name in zip(middles, upright, strict=False):
            painter.save()
            painter.translate(x, near)
            painter.rotate(-90)
            draw_text(painter, QPointF(0, 0), name, colours.muted, align=0 if self.names_above else 1)
            painter.restore()
        texts = [] if upright else [tick.text for tick in ticks]
        widths = [letters.width(text) for text in texts]
        lefts = [
            min(max(x - width / 2, room.left() + 1), room.right() - 1 - width)
            for x, width in zip(middles, widths, strict=False)
        ]
        middle = near + letters.height * (-0.5 if self.names_above else 0.5)
        for index in _apart([(left, left + width) for left, width in zip(lefts, widths, strict=True)]):
            draw_text(painter, QPointF(lefts[index], middle), texts[index], colours.muted)

    def _upright(self, low: float, high: float) -> tuple[str, ...]:
        """Return the names of columns where one of them would be missed beside the others, cut to their height."""
        letters, ticks = lettering(), self.ticks(low, high)
        if not ticks or not ticks[0].text[:1].isalpha():
            return ()
        asked = (ticks, self.length, letters.height)
        if self._fitted[0] != asked:
            places = [(tick.position - low) / (high - low) * self.length for tick in ticks]
            room = min((second - first for first, second in pairwise(places)), default=math.inf) - HALF
            pairs = pairwise(letters.width(tick.text) for tick in ticks)
            fits = all(sum(both) / 2 <= room for both in pairs) or room < letters.height
            names = () if fits else tuple(letters.elided(tick.text, _HIGHEST * letters.height) for tick in ticks)
            self._fitted = (asked, names)
        return self._fitted[1]


class LeftValueAxis(ValueAxis):
    """Values from below to above, left of the plot area."""

    def extent(self, low: float, high: float) -> int:
        letters = lettering()
        widest = max((letters.width(tick.text) for tick in self.ticks(low, high)), default=0.0)
        return round(widest + GAP + (letters.height if self.label else 0)) + HALF

    def paint(self, painter: QPainter, room: QRectF, pixels: Pixels) -> None:
        colours, letters, area = appearance().colours, lettering(), pixels.area
        ticks = self.ticks(pixels.view.top(), pixels.view.bottom())
        middles = [pixels.y(tick.position) for tick in ticks]
        half = letters.height / 2
        for index in _apart([(-y - half, -y + half) for y in middles]):
            place = QPointF(area.left() - HALF - 2, middles[index])
            draw_text(painter, place, ticks[index].text, colours.muted, align=1)
        if not self.label:
            return
        painter.save()
        painter.translate(room.left() + half, area.center().y())
        if len(self.label) > _UPRIGHT:
            painter.rotate(-90)
        draw_text(painter, QPointF(0, 0), self._fitting(area.height()), colours.muted, align=0.5)
        painter.restore()


class RowAxis(Axis):
    """The labels of rows: a bold group at its first visible row, a name at every row.

    Attributes:
        labels: what stands before the rows.
        chosen: the row that is marked, None for none.
        least_room: how wide the picture has to be for no label to be shortened.
    """

    def __init__(self) -> None:
        super().__init__()
        self._width, self._names = 0, 0.0
        self.least_room = 0.0
        self.labels: tuple[RowLabel, ...] = ()
        self._room = 1000.0
        self._shown: tuple[str, ...] = ()
        self._groups: dict[str, tuple[str, ...]] = {}
        self.chosen: int | None = None

    def set_room(self, pixels: float) -> None:
        """Say how wide the picture is; long names are shortened so that labels leave most of it to the rows."""
        if pixels != self._room:
            self._room = pixels
            self.fit()

    def set_labels(self, labels: tuple[RowLabel, ...]) -> None:
        """Show these rows and make room for the longest label."""
        if labels != self.labels:
            self.labels = labels
            self.fit()

    def fit(self) -> None:
        """Make room for the longest label in the current font."""
        plain, bold = lettering(), lettering(bold=True)
        counts = Counter(label.group for label in self.labels)
        names = max((plain.width(label.name) for label in self.labels), default=0)
        room = self._room * (GROUP_PART if names else LABEL_PART)
        # Where names leave it, the group of a single row has the room of its words: it cannot go on beside another row.
        alone = max((bold.width(group) for group, rows in counts.items() if rows == 1), default=0)
        room = max(room, min(alone, self._room * LABEL_PART - names))
        self._groups = {group: bold.lines(group, room, rows) for group, rows in counts.items()}
        groups = max((bold.width(each) for lines in self._groups.values() for each in lines), default=0)
        most = max(self._room * LABEL_PART - groups, 8 * plain.height)
        self._shown = _told_apart([each.name for each in self.labels], plain, most)
        names = max((plain.width(name) for name in self._shown), default=0)
        whole = max((plain.width(label.name) for label in self.labels), default=0)
        self.least_room = (whole + max(map(bold.width, counts), default=0)) / LABEL_PART
        around = (LOCK_SIZE if any(label.locked for label in self.labels) else 0) + (4 * GAP if names else 2 * GAP)
        self._width, self._names = round(groups + names + around), names + 2 * GAP
        self.update()

    def extent(self, _low: float, _high: float) -> int:
        return self._width

    def has_bold_room(self, row: int) -> bool:
        """Return whether the name of a row is whole in bold letters, too, when it is chosen; else its colour says so."""
        room: bool = lettering(bold=True).width(self._shown[row]) <= self._names
        return room

    def paint(self, painter: QPainter, room: QRectF, pixels: Pixels) -> None:
        """Draw the labels of the visible rows."""
        colours, area = appearance().colours, pixels.area
        left, right, shown_group, line = room.left() + HALF, room.right() - GAP, "", 0
        first = max(0, math.floor(-pixels.value_y(area.top())) - 1)
        last = math.ceil(-pixels.value_y(area.bottom())) + 1
        for index in range(first, min(last + 1, len(self.labels))):
            label, y = self.labels[index], pixels.y(-index)
            if not area.top() <= y <= area.bottom():
                continue
            chosen = index == self.chosen
            line = line + 1 if label.group == shown_group else 0
            shown_group = label.group
            if line < len(lines := self._groups[label.group]):
                draw_text(painter, QPointF(left, y), lines[line], colours.text, bold=True)
            ink = colours.accent_ink if chosen else colours.text
            name, is_bold = self._shown[index], chosen and self.has_bold_room(index)
            draw_text(painter, QPointF(right, y), name, ink, align=1, bold=is_bold)
            if label.locked:
                width = lettering(bold=is_bold).width(name)
                mark = pixmap("locked", colours.muted, 2 * LOCK_SIZE)
                place = QRectF(right - width - LOCK_SIZE - HALF, y - LOCK_SIZE / 2, LOCK_SIZE, LOCK_SIZE)
                painter.drawPixmap(place, mark, QRectF(mark.rect()))


def _told_apart(names: Sequence[str], letters: Lettering, width: float) -> tuple[str, ...]:
    """Return names no wider than so many pixels: those that only their ends tell apart are shortened where they are not missed."""
    found = {name: letters.elided(name, width) for name in names}
    for mode in (Qt.TextElideMode.ElideMiddle, Qt.TextElideMode.ElideLeft):
        times = Counter(found.values())
        alike = [name for name, text in found.items() if times[text] > 1]
        found |= {name: letters.elided(name, width, mode) for name in alike}
    return tuple(found[name] for name in names)


def _apart(spans: Sequence[tuple[float, float]]) -> range:
    """Return which labels are written: every n-th, with the smallest n at which none touches the next.

    The last one, which is moved inward at the edge of the picture, is given up before others are.

    Args:
        spans: first and last pixel of each label, ascending.
    """
    for step in range(1, len(spans) + 1):
        for last in (len(spans), len(spans) - 1):
            chosen = range(0, last, step)
            if all(spans[second][0] - spans[first][1] >= HALF for first, second in pairwise(chosen)):
                return chosen
    return range(0)
