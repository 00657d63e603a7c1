"""The order of a page, for the Tab key and for screen readers: Qt has the order in which things were made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QFormLayout,
    QGridLayout,
    QLayout,
    QSplitter,
    QTabBar,
    QTabWidget,
    QWidget,
)
from shiboken6 import isValid

_WHOLE = (QAbstractItemView, QAbstractSpinBox, QComboBox)
"""What Qt composes by itself, and tells as one thing."""


_HELD: set[QObject] = set()


def _hold(part: QObject) -> None:
    """Keep what the binding made of a part of Qt's own: with it would go what it is asked for, e.g. a layout of ours.

    Parts of our own classes are kept by their parents.
    """
    if type(part).__module__.startswith("PySide6."):
        _HELD.add(part)


class InReadingOrder(QWidget):
    """A widget in which the Tab key goes on in the order of the page, whatever was made or shown since the last time."""

    def focusNextPrevChild(self, forward: bool) -> bool:
        stops, now = put_in_order(self), self.window().focusWidget()
        here = next((number for number, stop in enumerate(stops) if now is not None and _is_in(now, stop)), None)
        if not stops or here is None:
            return super().focusNextPrevChild(forward)
        reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
        stops[(here + (1 if forward else -1)) % len(stops)].setFocus(reason)
        return True


def put_in_order(root: QWidget) -> list[QWidget]:
    """Put all that is shown within a widget into the order in which it is laid out; return what the Tab key stops at.

    Qt's own order of the Tab key is left alone: it breaks in two where it is set again and again.
    """
    _HELD.intersection_update([part for part in _HELD if isValid(part)])
    return [
        part
        for part in _shown(root)
        if part.focusPolicy() & Qt.FocusPolicy.TabFocus == Qt.FocusPolicy.TabFocus
        if part.focusProxy() is None and part.isVisible() and part.isEnabled()
    ]


def _is_in(part: QWidget, stop: QWidget) -> bool:
    return part is stop or (isinstance(stop, _WHOLE) and stop.isAncestorOf(part))


def put_children_in_order(parent: QWidget) -> list[QWidget]:
    """Let screen readers meet the parts of a widget as they are laid out; return its children in this order."""
    _hold(parent)
    children = [child for child in _children(parent) if not child.isWindow()]
    laid_out = dict.fromkeys(part for part in _parts(parent) if part in children)
    order = [*laid_out, *(child for child in children if child not in laid_out)]  # what floats stays above
    if order != children:
        for child in order:
            child.raise_()
    return order


def _shown(parent: QWidget) -> Iterator[QWidget]:
    """Order the children of a widget and theirs; run through what is shown of them."""
    for child in put_children_in_order(parent):
        if not child.isHidden():
            yield child
            if not isinstance(child, _WHOLE):
                yield from _shown(child)


def _parts(parent: QWidget) -> Iterator[QWidget]:
    if isinstance(parent, QSplitter):
        yield from (part for number in range(parent.count()) if (part := parent.widget(number)) is not None)
    elif isinstance(parent, QTabWidget):
        yield from (child for child in _children(parent) if isinstance(child, QTabBar))
    elif (layout := parent.layout()) is not None:
        yield from _laid_out(layout, _children(parent))


def _children(parent: QWidget) -> list[QWidget]:
    return parent.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)


def _laid_out(layout: QLayout, widgets: Sequence[QWidget]) -> Iterator[QWidget]:
    """Run through those of some widgets that a layout and the layouts in it place.

    Its items are not asked for: the binding believes in them after Qt has deleted them.
    """
    _hold(layout)
    parts: list[QWidget | QLayout] = [*widgets, *(each for each in layout.children() if isinstance(each, QLayout))]
    placed = [part for part in parts if layout.indexOf(part) >= 0]
    for part in sorted(placed, key=lambda part: _place(layout, layout.indexOf(part))):
        if isinstance(part, QLayout):
            yield from _laid_out(part, widgets)
        else:
            yield part


def _place(layout: QLayout, number: int) -> tuple[int, int]:
    """Return the line and the place in it of a part, which a grid and a form know better than the order of adding."""
    if isinstance(layout, QGridLayout):
        line, place, _lines, _places = cast("tuple[int, int, int, int]", layout.getItemPosition(number))
        return line, place
    if isinstance(layout, QFormLayout):
        line, _role = cast("tuple[int, QFormLayout.ItemRole]", layout.getItemPosition(number))
        return line, number
    return number, 0
