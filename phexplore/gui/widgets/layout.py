"""Widgets below and beside each other: one call says what fills a place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLayout,
    QSizePolicy,
    QSplitter,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import invalidate

from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.labels import field_label
from phexplore.gui.widgets.reading_order import put_children_in_order

Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int | Qt.AlignmentFlag]
"""A widget or a layout, with how much of the free room it takes or the side it stands on; a number is free room itself."""

Margins = tuple[int, int, int, int]
"""Left, top, right, bottom."""

NONE: Margins = (0, 0, 0, 0)
_Box = TypeVar("_Box", bound=QBoxLayout)


class Lean(QWidget):
    """As high as its parts need, not as they would like: pictures share the height of the window.

    One whose policy is to be ignored, a page behind others, needs nothing.
    """

    def heightForWidth(self, width: int) -> int:
        layout, policy = self.layout(), self.sizePolicy().verticalPolicy()
        if layout is None or policy is QSizePolicy.Policy.Ignored:
            return -1
        return layout.minimumHeightForWidth(width)


class Form(QFormLayout):
    """Labelled fields below each other, each as high as it needs to be at the width it has."""

    def setGeometry(self, room: QRect) -> None:
        # Qt gives the rows the heights of the width it measured last, and remembers the answer of another one without
        # measuring again: a paragraph that was once tried narrow took its second line from the fields below it.
        for width in (room.width() + 1, room.width()):
            self.heightForWidth(width)
        super().setGeometry(room)


def column(*parts: Part, of: QWidget | None = None, gap: int = GRID, margins: Margins = NONE) -> QVBoxLayout:
    """Return parts below each other.

    Args:
        parts: from top to bottom.
        of: the widget they fill, None for a layout within another one.
        gap: between them.
        margins: around them.
    """
    return filled(QVBoxLayout() if of is None else QVBoxLayout(of), parts, gap, margins)


def row(*parts: Part, of: QWidget | None = None, gap: int = GRID, margins: Margins = NONE) -> QHBoxLayout:
    """Return parts beside each other.

    Args:
        parts: from left to right.
        of: the widget they fill, None for a layout within another one.
        gap: between them.
        margins: around them.
    """
    return filled(QHBoxLayout() if of is None else QHBoxLayout(of), parts, gap, margins)


def stacked(*parts: Part, gap: int = GRID, margins: Margins = NONE) -> QWidget:
    """Return a widget with parts below each other.

    Args:
        parts: from top to bottom.
        gap: between them.
        margins: around them.
    """
    place = QWidget()
    column(*parts, of=place, gap=gap, margins=margins)
    return place


def card(*parts: Part, gap: int = GRID, margins: Margins = (GRID, GRID, GRID, GRID)) -> QFrame:
    """Return a framed widget with parts below each other.

    Args:
        parts: from top to bottom.
        gap: between them.
        margins: around them.
    """
    place = QFrame()
    place.setProperty("look", "card")
    column(*parts, of=place, gap=gap, margins=margins)
    return place


def form(
    *rows: tuple[str, QWidget | QLayout, QWidget] | tuple[str, QWidget] | QWidget, of: QWidget | None = None
) -> QFormLayout:
    """Return labelled fields below each other; a letter behind & in a label leads to its field.

    Args:
        rows: a label and its field, where that stands within something else the latter between them; or one wide widget.
        of: the widget they fill, None for a layout within another one.
    """
    found = Form() if of is None else Form(of)
    if of is not None:
        found.setContentsMargins(0, 0, 0, 0)
    found.setHorizontalSpacing(2 * GRID)
    found.setVerticalSpacing(GRID)
    found.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
    found.setRowWrapPolicy(
        QFormLayout.RowWrapPolicy.WrapLongRows
    )  # a label stands above its field where there is no room
    for each in rows:
        if isinstance(each, QWidget):
            found.addRow(each)
        else:
            found.addRow(field_label(each[0], each[-1]), each[1])
    return found


def split(
    *parts: QWidget, shares: Sequence[int] = (), sizes: Iterable[int] = (), is_vertical: bool = False
) -> QSplitter:
    """Return parts with lines between them that the user moves.

    Args:
        parts: beside each other.
        shares: of further room, one per part.
        sizes: of the parts in pixels, where nobody has moved a line.
        is_vertical: below each other.
    """
    splitter = QSplitter(Qt.Orientation.Vertical if is_vertical else Qt.Orientation.Horizontal)
    splitter.setChildrenCollapsible(False)
    for part in parts:
        splitter.addWidget(part)
    for number, share in enumerate(shares):
        splitter.setStretchFactor(number, share)
    if sizes:
        splitter.setSizes(list(sizes))
    return splitter


def emptied(layout: QLayout) -> None:
    """Take everything out of a layout and off the screen."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()


def filled(box: _Box, parts: Sequence[Part], gap: int, margins: Margins) -> _Box:
    """Put parts into a layout.

    Args:
        box: empty.
        parts: in their order.
        gap: between them.
        margins: around them.
    """
    box.setContentsMargins(*margins)
    box.setSpacing(gap)
    for part in parts:
        if isinstance(part, int):
            box.addStretch(part)
            continue
        item, how = part if isinstance(part, tuple) else (part, 0)
        if isinstance(item, QLayout):
            box.addLayout(item, how if isinstance(how, int) else 0)
            _let_go(item)
        elif isinstance(how, Qt.AlignmentFlag):
            box.addWidget(item, 0, how)
        else:
            box.addWidget(item, how)
    if (owner := box.parentWidget()) is not None:
        put_children_in_order(owner)
    return box


def _let_go(inner: QLayout) -> None:
    """Make the binding forget the items of an added layout.

    The binding keeps what it made of each until the outer layout is gone. Qt deletes an item with its widget and does not
    tell the binding, which then takes the next object at that address for the item: the program crashes.
    """
    for number in range(inner.count()):
        item = inner.itemAt(number)
        if isinstance(item, QLayout):
            _let_go(item)
        elif item is not None:
            invalidate(item)
