"""A figure in the window: title, picture or data table, key, menu, files, full page. One class shows every figure."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QMessageBox, QVBoxLayout, QWidget

from phexplore.figures.figure import Figure
from phexplore.figures.marks import AnyMark
from phexplore.figures.style import FigureFormat
from phexplore.files.atomic_files import write_atomically
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.figures.frame import PICTURE_FILTERS, ChartFrame, PictureError
from phexplore.gui.figures.plot import Plot
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.number_style import localised


class FigureView(ChartFrame):
    """Shows a `Figure`.

    Signals:
        key_selected: key of the mark the user chose.
        key_activated: key of the mark to look into (Enter, double click).
        key_hovered: key under the pointer, or None.
        handle_dragged: key and value, while a handle moves; merge these edits.
        handle_released: key; the drag ended.
        drag_cancelled: key; Escape was pressed while dragging.
    """

    key_selected = Signal(object)
    key_activated = Signal(object)
    key_hovered = Signal(object)
    handle_dragged = Signal(object, object)
    handle_released = Signal(object)
    drag_cancelled = Signal(object)

    def __init__(self, name: str, teaching: str, parent: QWidget | None = None) -> None:
        """Build the frame.

        Args:
            name: what the figure is, for screen readers and file names.
            teaching: what will be here and the one action that fills it.
            parent: owner.
        """
        self.plot = plot = Plot()
        super().__init__(name, teaching, plot.canvas, parent, page=plot)
        plot.chosen.connect(self._announce)
        plot.gestures.activated.connect(self.key_activated)
        plot.gestures.hovered.connect(self.key_hovered)
        plot.gestures.page_wanted.connect(self.show_full_page)
        plot.drag.dragged.connect(self.handle_dragged)
        plot.drag.released.connect(self.handle_released)
        plot.drag.cancelled.connect(self.drag_cancelled)
        self.table_row_chosen.connect(self._choose_table_row)
        self.menu.insertAction(self.menu.actions()[3], self._action("Save for s&lides, 16 : 9…", self._ask_for_slide))
        self.menu.addSeparator()
        self.menu.addAction(self._action("Data &table", self._switch_table))
        self.menu.addAction(self._action("&Explain…", self.explain))
        self.menu.addAction(self._action("&Full page\tF", self.show_full_page))
        self.menu.addAction(self._action("Show &all\t0", plot.viewport.show_all))

    @property
    def marks(self) -> tuple[AnyMark, ...]:
        """The marks that are shown."""
        figure = self.plot.figure
        return figure.marks if figure is not None and not self.is_empty else ()

    @property
    def chosen_key(self) -> Hashable:
        """Key of the chosen mark, None for none."""
        return None if self.is_empty else self.plot.chosen_key

    def show_figure(self, figure: Figure) -> None:
        """Show another figure; where nothing is drawn its summary says why."""
        if figure.is_empty:
            self.show_empty(figure.summary)
            return
        self.plot.show_figure(figure)
        self.show_finding(figure.title, figure.summary, lambda: figure.table)
        self._follow_choice()

    def select_key(self, key: Hashable) -> None:
        """Show this mark as chosen elsewhere; nothing is announced."""
        self.plot.choose_key(key)
        self._follow_choice()

    def show_full_page(self) -> None:
        """Show the same figure as large as the window; Escape closes it."""
        figure = self.plot.figure
        if figure is None or self.is_empty or isinstance(self.parent(), FullPage):
            return
        FullPage(self, figure).open()

    def save_slide(self, path: Path) -> None:
        """Write the figure as PNG, SVG or PDF in the light theme, 16 : 9, by the suffix.

        Raises:
            PictureError: another suffix, the file cannot be written, or the picture is held back.
        """
        if self.held_back:
            raise PictureError(self.held_back, "Run on synthetic or published data to share pictures.")
        forms = {form.value: form for form in FigureFormat}
        form = forms.get(path.suffix.lower().removeprefix("."))
        if form is None or self.plot.figure is None:
            raise PictureError(f"A picture cannot be saved as {path.suffix!r}.", "Choose .png, .svg or .pdf.")
        from phexplore.figures.to_matplotlib import figure_bytes

        try:
            write_atomically(path, figure_bytes(self.plot.figure, form, wide=True))
        except OSError as error:
            raise PictureError(f"{path} could not be written.", "Choose another folder, or free some space.") from error

    def explain(self) -> None:
        """Say what the figure shows, how it is computed, and what the chosen mark is."""
        figure = self.plot.figure
        if figure is None or self.is_empty:
            return
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle(self.name)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(localised(figure.title))
        box.setInformativeText(localised(explanation(figure, self.plot.chosen_words)))
        box.open()

    def _action(self, text: str, act: Callable[[], None]) -> QAction:
        action = QAction(text, self)
        action.triggered.connect(act)
        return action

    def _switch_table(self) -> None:
        self.show_table(visible=not self.shows_table)

    def _ask_for_slide(self) -> None:
        self.ask_for_file("_16x9.png", PICTURE_FILTERS, self._save_slide_chosen)

    def _save_slide_chosen(self, name: str) -> None:
        self.try_to(partial(self.save_slide, Path(name)))

    def recolour(self, colours: Colours) -> None:
        super().recolour(colours)
        self.plot.axis.fit()
        self.plot.fit()

    def table_made(self, table: NumbersTable) -> None:
        table.activated.connect(self._activate_row)

    def table_filled(self) -> None:
        self._follow_choice()

    def _announce(self, key: Hashable) -> None:
        self._follow_choice()
        if key is not None:
            self.key_selected.emit(key)

    def _activate_row(self, index: QModelIndex) -> None:
        keys = self._row_keys()
        if index.row() < len(keys) and keys[index.row()] is not None:
            self.key_activated.emit(keys[index.row()])

    def _choose_table_row(self, row: int) -> None:
        keys = self._row_keys()
        if row < len(keys) and (found := self.plot.items.find(keys[row])) is not None:
            self.plot.choose_item(found)

    def _follow_choice(self) -> None:
        """Bring the data table to the chosen mark."""
        keys, chosen = self._row_keys(), self.plot.chosen_key
        if chosen is not None and chosen in keys:
            self.choose_table_row(keys.index(chosen))

    def _row_keys(self) -> list[Hashable]:
        """Return the key of the mark of every row of the data table; empty where there is no table or it has other rows."""
        figure = self.plot.figure
        if self._table is None or figure is None or len(figure.marks) != len(self._table.numbers.rows):
            return []
        return [mark.key for mark in figure.marks]


def explanation(figure: Figure, chosen: str = "") -> str:
    """Return what a figure shows in words.

    Args:
        figure: to be explained.
        chosen: the chosen mark, "" for none.
    """
    lines = [figure.summary]
    if figure.x.title:
        lines.append(f"Across: {figure.x.title}.")
    if figure.y.title:
        lines.append(f"Upward: {figure.y.title}.")
    if figure.key:
        lines.append("Signs: " + "; ".join(entry.text for entry in figure.key) + ".")
    lines += [each for each in (figure.explain, chosen and f"Chosen: {chosen}") if each]
    return "\n\n".join(lines)


class FullPage(QDialog):
    """A figure as large as the window it came from."""

    def __init__(self, origin: FigureView, figure: Figure) -> None:
        super().__init__(origin.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(origin.name)
        self.view = FigureView(origin.name, "", self)
        self.view.hold_back(origin.held_back)
        self.view.failed.connect(origin.failed)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        self.resize(origin.window().size())
        self.view.show_figure(figure)
        self.view.canvas.setFocus()
