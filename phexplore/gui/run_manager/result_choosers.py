"""The choosers above a picture of results: made of what the reader offers, shown as far as the picture has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QStringListModel, Signal
from PySide6.QtGui import QAction, QFocusEvent
from PySide6.QtWidgets import QCompleter, QLabel, QMenu, QWidget

from phexplore.catalog.names import Naming, chosen_naming, typed_first
from phexplore.gui.run_manager.run_rows import RunRow, run_words
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser, TextButton, spoken_name
from phexplore.gui.widgets.file_dialogs import ask_to_open
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import describe, field_label
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.number_field import Line
from phexplore.gui.widgets.reading_order import put_in_order
from phexplore.systems.run_results import NAMES, Asks, Choice, Option
from phexplore.systems.run_results import Chooser as Offer

Words = Mapping[str, str]
"""What runs are called, by directory."""


class ListField(Chooser):
    """One of a list, or another run."""

    def __init__(self, offer: Offer, tell: Callable[[Choice], object]) -> None:
        """Make the chooser.

        Args:
            offer: what it is.
            tell: takes what a person chose.
        """
        super().__init__(offer.name, tip=offer.hint, letters=offer.letters, grows=True)
        self.currentIndexChanged.connect(lambda _place: tell(self.currentData() or ""))

    def show_offer(self, offer: Offer, runs: Words) -> None:
        """Show what is offered and chosen, without telling anybody; what did not change stays, also while it is open."""
        entries = [(_words(option, runs), option.value) for option in offer.options]
        self.offer(entries, tips=[option.tip for option in offer.options])
        self.select(offer.chosen)


class RunChooser(Chooser):
    """Which run is shown; it stays chosen while others come."""

    def __init__(self) -> None:
        super().__init__("Run", letters=10)

    @property
    def directory(self) -> Path | None:
        """The chosen run, None when there is none."""
        found = self.currentData()
        return found if isinstance(found, Path) else None

    def show_rows(self, rows: Sequence[RunRow]) -> None:
        """List runs, the newest first; where the chosen one is gone, the newest with trials is chosen. Nothing is told."""
        newest = next((row_.directory for row_ in rows if row_.trials), None)
        self.offer(((run_words(row_), row_.directory) for row_ in rows), first=newest)


class TextField(Line):
    """A name or a code that is typed; names that are known are offered meanwhile.

    Signals:
        names_wanted: somebody is about to type, and no names are known yet.
    """

    names_wanted = Signal()

    def __init__(self, offer: Offer, tell: Callable[[Choice], object]) -> None:
        """Make the field.

        Args:
            offer: what it is.
            tell: takes what a person typed.
        """
        super().__init__()
        self.setPlaceholderText(offer.hint)
        self._known: list[str] = []
        self.names = QStringListModel(self)
        known = QCompleter(self.names, self)
        known.setCompletionMode(
            QCompleter.CompletionMode.UnfilteredPopupCompletion
        )  # the model holds what fits, in order
        known.activated.connect(tell)
        self.textEdited.connect(self._offer_names)
        self.setCompleter(known)
        self.returnPressed.connect(lambda: tell(self.text().strip()))
        appearance().changed.connect(self._fit)
        self._letters = offer.letters
        self._fit()

    def show_offer(self, offer: Offer, _runs: Words) -> None:
        """Show what is looked at, unless somebody is typing; offer the names that are known."""
        self.setAccessibleName(offer.name)
        if not self.hasFocus():
            self.setText(offer.words if offer.words and chosen_naming() is not Naming.CODES else str(offer.chosen))
            self.setCursorPosition(0)  # a long name is read from its beginning
            self._fit()
        names = [option.value for option in offer.options]
        if names != self._known:
            self._known = names
            self._offer_names(self.text())
            known = self.completer()
            popup = None if known is None else known.popup()
            if popup is not None and names:  # the longest name is read whole
                popup.setMinimumWidth(popup.fontMetrics().horizontalAdvance(max(names, key=len)) + 6 * GRID)
            if names and self.hasFocus() and self.text() and known is not None:
                known.setCompletionPrefix(self.text())
                known.complete()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self._known:
            self.names_wanted.emit()

    def _offer_names(self, typed: str) -> None:
        self.names.setStringList(typed_first(typed, self._known))

    def _fit(self, _colours: object = None) -> None:
        """Be as wide as what stands in the field, up to twice the usual width."""
        usual = self._letters * GRID * appearance().scale // 100
        needed = self.fontMetrics().horizontalAdvance(self.text() or self.placeholderText()) + 3 * GRID
        self.setFixedWidth(min(max(usual, needed), 2 * usual))


class FileField(TextButton):
    """A file that is chosen in a dialog."""

    def __init__(self, offer: Offer, tell: Callable[[Choice], object]) -> None:
        """Make the button.

        Args:
            offer: what it is.
            tell: takes the path that was chosen.
        """
        super().__init__("", name=offer.name, run=self._browse)
        self._offer, self._tell = offer, tell

    def show_offer(self, offer: Offer, _runs: Words) -> None:
        """Show the name of the file."""
        self._offer = offer
        self.setText(Path(str(offer.chosen)).name if offer.chosen else offer.options[0].words)
        describe(self, name=spoken_name(self.text(), offer.name))

    def _browse(self) -> None:
        kinds = f"{self._offer.hint};;All files (*)"
        take, now = (lambda path: self._tell(str(path))), str(self._offer.chosen)
        ask_to_open(self, self._offer.name, take, kinds=kinds, folder=now)


class RunsField(TextButton):
    """A menu of other runs with a tick each."""

    def __init__(self, offer: Offer, tell: Callable[[Choice], object]) -> None:
        """Make the button.

        Args:
            offer: what it is.
            tell: takes the directories that have a tick.
        """
        super().__init__("", name=offer.name)
        self._offer, self._tell = offer, tell
        self.runs = QMenu(self)
        self.runs.setAccessibleName(offer.name)
        self.setMenu(self.runs)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The directories with a tick."""
        return tuple(action.data() for action in self.runs.actions() if action.isChecked())

    def show_offer(self, offer: Offer, runs: Words) -> None:
        """Offer runs and tick those that are compared, without telling anybody."""
        self._offer = offer
        entries = [(_words(option, runs), option.value) for option in offer.options]
        if [(action.text(), action.data()) for action in self.runs.actions()] != entries:
            self.runs.clear()
            for text, value in entries:
                action = QAction(text, self.runs)
                action.setData(value)
                action.setCheckable(True)
                action.toggled.connect(self._on_toggled)
                self.runs.addAction(action)
        for action in self.runs.actions():
            blocked = action.blockSignals(True)
            action.setChecked(action.data() in offer.chosen)
            action.blockSignals(blocked)
        self._say()

    def _on_toggled(self, _checked: bool) -> None:
        self._say()
        self._tell(self.chosen)

    def _say(self) -> None:
        count = len(self.chosen)
        self.setText(f"Compare with {count}…" if count else "Compare with…")
        describe(self, name=spoken_name(self.text(), self._offer.name))
        for action in self.runs.actions():
            action.setEnabled(action.isChecked() or count < self._offer.most)


Field = ListField | TextField | FileField | RunsField
_FIELDS: Mapping[Asks, Callable[[Offer, Callable[[Choice], object]], Field]] = {
    Asks.LIST: ListField,
    Asks.RUN: ListField,
    Asks.TEXT: TextField,
    Asks.FILE: FileField,
    Asks.RUNS: RunsField,
}


class ResultChoosers(QWidget):
    """The choosers of the picture in front.

    Signals:
        chosen: id, what a person chose, and which other choices are open again.
    """

    chosen = Signal(object, object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fields: dict[str, Field] = {}
        self._parts: dict[str, QWidget] = {}
        self._labels: dict[str, QLabel] = {}
        self._order: list[str] = []
        self._flow = FlowRow(gap=GRID, between=HALF)
        column(self._flow, of=self, margins=(0, HALF // 2, 0, 0))

    def show_offers(self, offers: Sequence[Offer], runs: Words) -> None:
        """Show what a picture offers; nothing is announced.

        Args:
            offers: of the picture, in their order.
            runs: what runs are called.
        """
        for offer in offers:
            if offer.id not in self.fields:
                self._add(offer)
            self.fields[offer.id].show_offer(offer, runs)
            if offer.id in self._labels:  # what is found on one picture is made up on another
                self._labels[offer.id].setText(offer.label)
        shown = [offer.id for offer in offers]
        self._arrange(shown)
        for name, part in self._parts.items():
            part.setVisible(name in shown)

    def _add(self, offer: Offer) -> None:
        field = _FIELDS[offer.asks](offer, lambda value: self.chosen.emit(offer.id, value, offer.drops))
        if isinstance(field, TextField):
            field.names_wanted.connect(lambda: self.chosen.emit(NAMES, "wanted", ()))
        part = QWidget(self._flow)
        if offer.label:
            self._labels[offer.id] = field_label(offer.label, field)
        row(*([self._labels[offer.id]] if offer.label else []), field, of=part, gap=HALF)
        self.fields[offer.id], self._parts[offer.id] = field, part

    def _arrange(self, shown: list[str]) -> None:
        """Put the choosers of a picture into its order, for the eye and for the Tab key."""
        layout = self._flow.layout()
        if layout is None or [name for name in self._order if name in shown] == shown:
            return
        self._order = [*shown, *(name for name in self._parts if name not in shown)]
        while layout.count():
            layout.takeAt(0)
        for name in self._order:
            layout.addWidget(self._parts[name])
        put_in_order(self)


def _words(option: Option, runs: Words) -> str:
    return option.words or runs.get(option.value, Path(option.value).name)
