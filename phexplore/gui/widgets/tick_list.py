"""A list to tick: each entry has a key, and ticks stay where they were while the list is renewed."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.buttons import TICK_SIDE, tick_side
from phexplore.gui.widgets.cell_text import WrappedText
from phexplore.gui.widgets.labels import describe

_KEY = Qt.ItemDataRole.UserRole
_TICKED, _FREE = Qt.CheckState.Checked, Qt.CheckState.Unchecked


@dataclass(frozen=True, slots=True)
class TickEntry:
    """A line.

    Attributes:
        key: names it, None for a heading.
        title: on the line.
        tip: shown when the pointer rests on it, the title if "".
        is_open: whether it can be ticked.
    """

    key: Hashable
    title: str
    tip: str = ""
    is_open: bool = True


class TickList(QListWidget):
    """Lines with a tick each, under headings.

    Signals:
        ticked: the user set a tick or took one away.
    """

    ticked = Signal()

    def __init__(self, name: str) -> None:
        """Make the list.

        Args:
            name: for people who do not see it.
        """
        super().__init__()
        self._entries: tuple[TickEntry, ...] = ()
        describe(self, name=name)
        self.setWordWrap(True)
        self.setItemDelegate(WrappedText(self))
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemChanged.connect(lambda _item: self.ticked.emit())
        appearance().changed.connect(self._restyle)
        self._restyle()

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """The keys that are ticked, from top to bottom."""
        return tuple(item.data(_KEY) for item in self._items() if item.checkState() is _TICKED)

    def show_entries(self, entries: Sequence[TickEntry], ticked: Collection[Hashable]) -> None:
        """Show other lines, of which exactly these are ticked; nobody is told.

        Args:
            entries: the lines, headings among them.
            ticked: their keys.
        """
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            place = self.currentRow()
            with QSignalBlocker(self):
                self.clear()
                for entry in entries:
                    self.addItem(_item(entry))
                self.setCurrentRow(place)
        self.tick(ticked)

    def tick(self, keys: Collection[Hashable]) -> None:
        """Tick exactly these lines; nobody is told."""
        with QSignalBlocker(self):
            for item, entry in zip(self._items(), self._entries, strict=True):
                if entry.key is not None:
                    item.setCheckState(_TICKED if entry.is_open and entry.key in keys else _FREE)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Begin with the first line that has a tick: the toolkit stays nowhere where a heading comes first."""
        if self.currentRow() < 0:
            self.setCurrentRow(next((row for row, entry in enumerate(self._entries) if entry.key is not None), -1))
        super().focusInEvent(event)

    def rewrite(self) -> None:
        """Show the same lines again, after another style of numbers or names was chosen."""
        with QSignalBlocker(self):
            for item, entry in zip(self._items(), self._entries, strict=True):
                _write(item, entry)

    def _items(self) -> Iterator[QListWidgetItem]:
        return (self.item(place) for place in range(self.count()))

    def _restyle(self, _colours: object = None) -> None:
        side, border = tick_side(), 2
        rule = f"::indicator {{ width: {side - border}px; height: {side - border}px; }}" if side > TICK_SIDE else ""
        if self.styleSheet() != rule:
            self.setStyleSheet(rule)
        with QSignalBlocker(self):
            for item, entry in zip(self._items(), self._entries, strict=True):
                if entry.key is None:
                    item.setFont(appearance().font(relative=0.92, bold=True))
        self.scheduleDelayedItemsLayout()


def _item(entry: TickEntry) -> QListWidgetItem:
    item = QListWidgetItem()
    _write(item, entry)
    if entry.key is None:
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setFont(appearance().font(relative=0.92, bold=True))
        return item
    item.setData(_KEY, entry.key)
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable if entry.is_open else Qt.ItemFlag.ItemIsSelectable)
    item.setCheckState(_FREE)
    return item


def _write(item: QListWidgetItem, entry: TickEntry) -> None:
    item.setText(localised(entry.title))
    if entry.key is not None:
        item.setToolTip(localised(entry.tip or entry.title))
