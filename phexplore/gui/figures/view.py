"""A figure in the window: title, picture or data table, key, menu, files, full page. One class shows every figure."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QFrame,
    QMenu,
    QMessageBox,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from phexplore.errors import PhexploreError
from phexplore.figures.figure import Figure
from phexplore.figures.marks import AnyMark
from phexplore.figures.style import FigureFormat
from phexplore.figures.table import Table
from phexplore.figures.table_files import write_table
from phexplore.figures.wording import sentence
from phexplore.files.atomic_files import write_atomically
from phexplore.gui.figures.data_table import NumbersTable, TableTwin
from phexplore.gui.figures.plot import Plot
from phexplore.gui.figures.sheet import PictureError, Sheet, wrong_suffix
from phexplore.gui.theme.metrics import GAP, HALF
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.file_dialogs import ask_to_save
from phexplore.gui.widgets.labels import Paragraph, Text, describe, stand_on_card
from phexplore.gui.widgets.layout import column, row

TITLE_SIZE, EMPTY_SIZE = 1.3, 1.1
COPY_TIP = "Copy or save the picture or its numbers (also by a right click)"
TABLE_FILTERS = "Comma-separated (*.csv);;Workbook (*.xlsx);;JSON (*.json)"
PICTURE_FILTERS = (
    "Picture (*.png);;Vector graphic (*.svg);;PDF (*.pdf);;Slide (*.pptx);;Workbook with picture and numbers (*.xlsx)"
)


class FigureView(QFrame):
    """Shows a `Figure`, its data table, or what will be here.

    Signals:
        failed: a `PhexploreError` of an action of the menu, e.g. a file that cannot be written.
        key_selected: key of the mark the user chose.
        key_activated: key of the mark to look into (Enter, double click).
        key_hovered: key under the pointer, or None.
        handle_dragged: key and value, while a handle moves; merge these edits.
        handle_released: key; the drag ended.
        drag_cancelled: key; Escape was pressed while dragging.
    """

    failed = Signal(object)
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
        super().__init__(parent)
        self.name, self._teaching = name, teaching
        self.plot = Plot()
        self.canvas = self.plot.canvas
        self.setObjectName(name.lower().replace(" ", "_"))
        self.setAccessibleName(name)
        self.setProperty("look", "card")
        self._title = Paragraph(relative=TITLE_SIZE, bold=True)
        self.sentence = Paragraph(look="muted")
        stand_on_card(self._title, self.sentence)
        self._empty = Text(relative=EMPTY_SIZE, look="muted", wrap=True)
        self._empty.setAccessibleName(f"{name}: nothing to show yet")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.canvas.setAccessibleName(f"{name}, picture")
        self.controls = row(gap=GAP)
        self._table_button = _bordered_button(
            self, "Table", f"{name}: show as table", "Show the same numbers as a table"
        )
        self._table_button.setCheckable(True)
        self._table_button.toggled.connect(self._show_page)
        self._copy_button = _bordered_button(self, "Copy", f"{name}: copy", COPY_TIP)
        self._copy_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._all_button = _bordered_button(
            self, "Show all", f"{name}: show all", "Show the whole picture again (0, or a double click)"
        )
        self._all_button.clicked.connect(self.plot.viewport.show_all)
        self._all_button.hide()
        self.plot.viewport.zoomed.connect(self._all_button.setVisible)
        self._stack = QStackedWidget(self)
        self._twin = TableTwin(f"{name}, table", self._stack)
        self.menu = FigureMenu(self)
        self._copy_button.setMenu(self.menu)
        top = Qt.AlignmentFlag.AlignTop
        buttons = (self._all_button, self._table_button, self._copy_button)
        heading = row(self._title, *((button, top) for button in buttons), gap=GAP)
        heading.setStretch(0, 1)
        heading.setAlignment(self._title, top)
        for page in (self.plot, self._empty):
            self._stack.addWidget(page)
        parts = (heading, self.sentence, self.controls, (self._stack, 1))
        column(*parts, of=self, gap=HALF, margins=(GAP, GAP, GAP, GAP))
        self.plot.chosen.connect(self._announce)
        self.plot.gestures.activated.connect(self.key_activated)
        self.plot.gestures.hovered.connect(self.key_hovered)
        self.plot.gestures.page_wanted.connect(self.menu.show_full_page)
        self.plot.drag.dragged.connect(self.handle_dragged)
        self.plot.drag.released.connect(self.handle_released)
        self.plot.drag.cancelled.connect(self.drag_cancelled)
        self._twin.key_chosen.connect(self.plot.choose_found)
        self._twin.key_activated.connect(self.key_activated)
        self.show_empty()

    # What is shown

    @property
    def title(self) -> str:
        """The finding."""
        return self._title.text()

    @property
    def summary(self) -> str:
        """One sentence that says what the picture shows."""
        return self.sentence.text()

    @property
    def marks(self) -> tuple[AnyMark, ...]:
        """The marks that are shown."""
        figure = self.plot.figure
        return figure.marks if figure is not None and not self.is_empty else ()

    @property
    def chosen_key(self) -> Hashable:
        """Key of the chosen mark, None for none."""
        return None if self.is_empty else self.plot.chosen_key

    @property
    def table(self) -> NumbersTable:
        """The table twin, made when somebody first looks at it or copies it."""
        return self._twin.table

    @property
    def numbers(self) -> Table:
        """The numbers of the table twin."""
        return self.table.numbers

    @property
    def sheet(self) -> Sheet:
        """Title, sentence and picture as they leave the window."""
        return Sheet((self._title, self.sentence), self.canvas)

    @property
    def is_empty(self) -> bool:
        """Whether the empty state is shown."""
        return self._stack.currentWidget() is self._empty

    def show_figure(self, figure: Figure) -> None:
        """Show another figure; where nothing is drawn its summary says why."""
        if figure.is_empty:
            self.show_empty(figure.summary)
            return
        self.plot.show_figure(figure)
        self._say(figure.title, figure.summary, f"{sentence(figure.title)} {figure.summary}".strip(), figure)
        self._show_page()

    def show_empty(self, sentence: str = "") -> None:
        """Show what will be here and what fills it."""
        self._empty.setText(sentence or self._teaching)
        self._say(self.name, "", sentence or self._teaching, None)
        self._stack.setCurrentWidget(self._empty)

    def select_key(self, key: Hashable) -> None:
        """Show this mark as chosen elsewhere; nothing is announced."""
        self.plot.choose_key(key)
        self._twin.choose(self.plot.chosen_key)

    @property
    def shows_table(self) -> bool:
        """Whether the data table stands where the picture was."""
        return self._table_button.isChecked()

    def show_table(self, *, visible: bool) -> None:
        """Show the table twin instead of the picture, or the picture."""
        self._table_button.setChecked(visible)

    def hold_back(self, reason: str) -> None:
        """Let neither picture nor numbers leave by copying or saving, for a reason; "" lets them again."""
        self.menu.held_back = reason
        self._copy_button.setToolTip(reason or COPY_TIP)
        self._copy_button.setEnabled(not reason and self._table_button.isEnabled())
        self._twin.hold_back(reason)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer everything that can be done with the figure, also by the menu key."""
        if self._copy_button.isEnabled():
            self.plot.gestures.pointer_left()  # what is saved from the menu has no row that only the pointer marked
            self.menu.popup(event.globalPos())
            event.accept()

    def heightForWidth(self, width: int) -> int:
        """Return what the figure needs, not what it would like: else a page at twice the text size outgrows the screen."""
        layout = self.layout()
        return -1 if layout is None else layout.totalMinimumHeightForWidth(width)

    def _say(self, title: str, summary: str, description: str, figure: Figure | None) -> None:
        self._title.setText(title)
        self.sentence.setText(summary)
        self._table_button.setEnabled(figure is not None)
        self._copy_button.setEnabled(figure is not None and not self.menu.held_back)
        self._twin.use(figure, description)
        self._twin.choose(self.plot.chosen_key)
        for widget in (self, self.canvas):
            describe(widget, more=description)

    def _show_page(self) -> None:
        if self._table_button.isEnabled():
            focused = QApplication.focusWidget()
            held = focused if focused is not None and self._stack.isAncestorOf(focused) else None
            if held is not None:  # what is hidden with the focus passes it on, and the page scrolls to the next control
                held.clearFocus()
            self._stack.setCurrentWidget(self.table if self.shows_table else self.plot)
            if self.shows_table:
                self.menu.switch_by_key(self.table)
            if held is not None:
                (self.table if self.shows_table else self.canvas).setFocus()

    def _announce(self, key: Hashable) -> None:
        self._twin.choose(key)
        if key is not None:
            self.key_selected.emit(key)


class FigureMenu(QMenu):
    """Everything that can be done with a figure: it leaves by the clipboard and as files, is explained, fills the window.

    Attributes:
        held_back: why neither picture nor numbers may leave, "" where they may.
    """

    def __init__(self, view: FigureView) -> None:
        """Offer it; the keys work in the picture, too."""
        super().__init__(view)
        self.held_back = ""
        self._offer("Copy &numbers", self.copy_numbers, "Ctrl+Shift+C")
        self._offer("Copy &picture", self.copy_picture, "Ctrl+C")
        pictures = PICTURE_FILTERS
        self._offer("&Save picture…", partial(self._ask, ".png", pictures, self.save_picture))
        self._offer("Save for s&lides, 16 : 9…", partial(self._ask, "_16x9.png", pictures, self.save_slide))
        self._offer("Save &data…", partial(self._ask, ".csv", TABLE_FILTERS, self.save_table))
        self.addSeparator()
        self._switch = self._offer("Data &table", self._switch_table, "T")
        self._offer("&Explain…", self.explain, "E")
        self._offer("Co&mment…", self.comment)
        self._offer("&Full page\tF", self.show_full_page)
        self._offer("Show &all\t0", view.plot.viewport.show_all)

    @property
    def view(self) -> FigureView:
        """Whose menu it is; asked of Qt, because a cycle of widgets is torn down in the wrong order."""
        view = self.parent()
        if not isinstance(view, FigureView):
            raise TypeError("the menu belongs to a figure")
        return view

    def copy_picture(self) -> None:
        """Put the picture on the clipboard, unless it is held back."""
        if not self.held_back and not self.view.is_empty:
            QGuiApplication.clipboard().setPixmap(self.view.sheet.image(2.0))

    def copy_numbers(self) -> None:
        """Put the table twin on the clipboard, tab-separated with headers."""
        if not self.view.is_empty:
            self.view.table.copy_all()

    def save_picture(self, path: Path) -> None:
        """Write the picture as PNG, SVG or PDF, as a slide, or with its numbers as a workbook, by the suffix.

        Raises:
            PictureError: another suffix, the file cannot be written, or the picture is held back.
            WriteError: the file cannot be written.
        """
        self._require_free("pictures")
        figure, suffix = self.view.plot.figure, path.suffix.lower()
        if figure is None or suffix not in {".pptx", ".xlsx"}:
            self.view.sheet.save(path)
            return
        from phexplore.report.picture_files import picture_slide, picture_workbook

        write_atomically(path, picture_slide(figure) if suffix == ".pptx" else picture_workbook(figure))

    def save_slide(self, path: Path) -> None:
        """Write the figure as PNG, SVG, PDF or a slide in the light theme, 16 : 9, by the suffix.

        Raises:
            PictureError: another suffix, or the picture is held back.
            WriteError: the file cannot be written.
        """
        if path.suffix.lower() == ".pptx":
            self.save_picture(path)
            return
        self._require_free("pictures")
        figure = self.view.plot.figure
        form = {form.value: form for form in FigureFormat}.get(path.suffix.lower().removeprefix("."))
        if form is None or figure is None:
            raise wrong_suffix(path.suffix)
        from phexplore.figures.to_matplotlib import figure_bytes

        write_atomically(path, figure_bytes(figure, form, wide=True))

    def save_table(self, path: Path) -> None:
        """Write the data table as CSV, XLSX or JSON, by the suffix.

        Raises:
            PhexploreError: another suffix, the file cannot be written, or the numbers are held back.
        """
        self._require_free("numbers")
        write_table(self.view.numbers, path)

    def attempt(self, save: Callable[[Path], None], path: Path) -> None:
        """Save a file; the figure tells what stands in its way.

        Args:
            save: takes the file.
            path: the file.
        """
        try:
            save(path)
        except PhexploreError as error:
            self.view.failed.emit(error)

    def explain(self) -> None:
        """Say what the figure shows, how it is computed, and what the chosen mark is."""
        view, figure = self.view, self.view.plot.figure
        if figure is None or view.is_empty:
            return
        box = QMessageBox(view)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle(view.name)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(localised(figure.title))
        box.setInformativeText(localised(figure.explained(view.plot.chosen_words)))
        box.open()

    def show_full_page(self) -> None:
        """Show the same figure as large as the window; Escape closes it."""
        view, figure = self.view, self.view.plot.figure
        if figure is not None and not view.is_empty and not isinstance(view.parent(), FullPage):
            FullPage(view, figure).open()

    def comment(self) -> None:
        """Let somebody comment on the figure, where the window takes comments."""
        action = self.view.window().findChild(QAction, "edit.comment")
        if isinstance(action, QAction):
            self.view.canvas.setFocus()
            action.trigger()

    def switch_by_key(self, table: QWidget) -> None:
        """Let the key that leads to the data table lead back from it."""
        table.addAction(self._switch)

    def _offer(self, text: str, act: Callable[[], None], keys: str = "") -> QAction:
        action = self.addAction(text, act)
        if keys:
            action.setShortcut(QKeySequence(keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            self.view.canvas.addAction(action)
        return action

    def _ask(self, ending: str, filters: str, save: Callable[[Path], None]) -> None:
        view = self.view
        take = partial(self.attempt, save)
        ask_to_save(view, f"Save {view.name.lower()}", take, kinds=filters, proposed=f"{view.objectName()}{ending}")

    def _switch_table(self) -> None:
        self.view.show_table(visible=not self.view.shows_table)

    def _require_free(self, what: str) -> None:
        if self.held_back:
            raise PictureError(self.held_back, f"Run on synthetic or published data to share {what}.")


class FullPage(QDialog):
    """A figure as large as the window it came from."""

    def __init__(self, origin: FigureView, figure: Figure) -> None:
        super().__init__(origin.window())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(origin.name)
        self.view = FigureView(origin.name, "", self)
        self.view.hold_back(origin.menu.held_back)
        self.view.failed.connect(origin.failed)
        column(self.view, of=self)
        self.resize(origin.window().size())
        self.view.show_figure(figure)
        self.view.select_key(origin.chosen_key)
        self.view.canvas.setFocus()


def _bordered_button(parent: QWidget, text: str, name: str, tip: str) -> QToolButton:
    button = QToolButton(parent)
    button.setText(text)
    button.setProperty("look", "bordered")
    button.setToolTip(tip)
    button.setAccessibleName(name)
    return button
