"""The frame of every chart: a title that states the finding, the picture, its table twin, copying, an empty state."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMarginsF, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QPageLayout,
    QPageSize,
    QPaintDevice,
    QPainter,
    QPdfWriter,
    QPixmap,
)
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from phexplore.errors import PhexploreError
from phexplore.figures.table import Table
from phexplore.figures.table_files import write_table
from phexplore.gui.figures.canvas import Canvas
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.colours import Colours
from phexplore.gui.theme.metrics import GAP, HALF, MARGIN
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.labels import Paragraph

SHEET_DPI = 96
"""Vector files use the resolution of the screen: recorded parts of a plot are scaled by the ratio of the two."""
TITLE_SIZE = 1.3
COPY_TIP = "Copy or save the picture or its numbers (also by a right click)"
TABLE_FILTERS = "Comma-separated (*.csv);;Workbook (*.xlsx);;JSON (*.json)"
PICTURE_FILTERS = "Picture (*.png);;Vector graphic (*.svg);;PDF (*.pdf)"


class PictureError(PhexploreError):
    """A picture could not be written."""


class ChartFrame(QFrame):
    """A chart with everything around it. Subclasses add their picture and call `show_finding`.

    Signals:
        failed: a `PhexploreError` of an action of the frame, e.g. a file that cannot be written.
        table_row_chosen: the row (int) the user moved to in the table twin.
    """

    failed = Signal(object)
    table_row_chosen = Signal(object)

    def __init__(
        self, name: str, teaching: str, canvas: Canvas, parent: QWidget | None = None, *, page: QWidget | None = None
    ) -> None:
        """Build the frame.

        Args:
            name: what the chart is, for screen readers and file names, e.g. "Margins of error".
            teaching: what will be here and the one action that fills it.
            canvas: the plot area.
            parent: owner.
            page: a widget around the canvas that the table twin takes the place of; the canvas itself by default.
        """
        super().__init__(parent)
        self.name = name
        self.canvas = canvas
        self._page = page or canvas
        self._numbers_source: Callable[[], Table] | None = None
        self._teaching = teaching
        self._held_back = ""
        self.setObjectName(name.lower().replace(" ", "_"))
        self.setAccessibleName(name)
        self.setProperty("look", "card")
        self._title = Paragraph(relative=TITLE_SIZE, bold=True)
        self._summary = Paragraph(look="muted")
        self._empty = _wrapping_label(f"{name}: nothing to show yet")
        self._empty.setProperty("look", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._table: NumbersTable | None = None
        self.canvas.setAccessibleName(f"{name}, picture")
        self.controls = QHBoxLayout()
        self.controls.setSpacing(GAP)
        self._table_button = self._make_table_button()
        self._copy_button = self._make_copy_button()
        self._stack = QStackedWidget(self)
        self._lay_out()
        self._set_fonts()
        self.show_empty(teaching)
        appearance().changed.connect(self._follow_theme)

    # What is shown

    @property
    def title(self) -> str:
        """The finding."""
        return self._title.text()

    @property
    def summary(self) -> str:
        """One sentence that says what the picture shows."""
        return self._summary.text()

    @property
    def table(self) -> NumbersTable:
        """The table twin, made when somebody first looks at it or copies it."""
        if self._table is None:
            self._table = NumbersTable(self._stack)
            self._table.setAccessibleName(f"{self.name}, table")
            self._table.setAccessibleDescription(self.accessibleDescription())
            self._table.row_chosen.connect(self.table_row_chosen)
            self._table.hold_back(self._held_back)
            self._stack.addWidget(self._table)
            self.table_made(self._table)
        return self._table

    @property
    def numbers(self) -> Table:
        """The numbers of the table twin."""
        self._fill_table()
        return self.table.numbers

    @property
    def is_empty(self) -> bool:
        """Whether the empty state is shown."""
        return self._stack.currentWidget() is self._empty

    def show_finding(self, title: str, summary: str, numbers: Callable[[], Table]) -> None:
        """Show the picture.

        Args:
            title: what the picture says.
            summary: one sentence.
            numbers: gives the table twin; asked only when somebody looks at it or copies it.
        """
        self._title.setText(title)
        self._summary.setText(summary)
        self._numbers_source = numbers
        self._describe(f"{title}. {summary}")
        self._enable(True)
        self._show_page()

    def show_empty(self, sentence: str = "") -> None:
        """Show what will be here and what fills it."""
        self._title.setText(self.name)
        self._summary.setText("")
        self._empty.setText(sentence or self._teaching)
        self._numbers_source = _no_numbers
        if self._table is not None:
            self._fill_table()
        self._describe(sentence or self._teaching)
        self._enable(False)
        self._stack.setCurrentWidget(self._empty)

    @property
    def shows_table(self) -> bool:
        """Whether the data table stands where the picture was."""
        return self._table_button.isChecked()

    def show_table(self, *, visible: bool) -> None:
        """Show the table twin instead of the picture, or the picture."""
        self._table_button.setChecked(visible)

    # Copies

    @property
    def held_back(self) -> str:
        """Why neither picture nor numbers may leave, "" where they may."""
        return self._held_back

    def hold_back(self, reason: str) -> None:
        """Let neither picture nor numbers leave by copying or saving, for a reason; "" lets them again."""
        self._held_back = reason
        self._copy_button.setToolTip(reason or COPY_TIP)
        self._copy_button.setEnabled(not reason and self._table_button.isEnabled())
        if self._table is not None:
            self._table.hold_back(reason)

    def picture(self, scale: float = 2.0) -> QPixmap:
        """Return title, sentence and picture as an image.

        Args:
            scale: pixels per screen pixel.
        """
        image = QPixmap(self._sheet_size() * scale)
        image.setDevicePixelRatio(scale)
        painter = QPainter(image)
        self._paint_sheet(painter)
        painter.end()
        return image

    def copy_picture(self) -> None:
        """Put the picture on the clipboard, unless it is held back."""
        if not self._held_back:
            QGuiApplication.clipboard().setPixmap(self.picture())

    def copy_numbers(self) -> None:
        """Put the table twin on the clipboard, tab-separated with headers."""
        self._fill_table()
        self.table.copy_all()

    def save_picture(self, path: Path) -> None:
        """Write the picture as PNG, SVG or PDF, by the suffix.

        Raises:
            PictureError: another suffix, the file cannot be written, or the picture is held back.
        """
        if self._held_back:
            raise PictureError(self._held_back, "Run on synthetic or published data to share pictures.")
        match path.suffix.lower():
            case ".png":
                done = self.picture(3.0).save(str(path))
            case ".svg":
                done = self._save_svg(path)
            case ".pdf":
                done = self._save_pdf(path)
            case suffix:
                raise PictureError(f"A picture cannot be saved as {suffix!r}.", "Choose .png, .svg or .pdf.")
        if not done:
            raise PictureError(f"{path} could not be written.", "Choose another folder, or free some space.")

    # Building

    def recolour(self, colours: Colours) -> None:
        """Use the colours of the theme; subclasses with curves extend it."""
        self.canvas.recolour(colours)

    def _lay_out(self) -> None:
        heading = QHBoxLayout()
        heading.setSpacing(GAP)
        heading.addWidget(self._title, 1, Qt.AlignmentFlag.AlignTop)
        heading.addWidget(self._table_button, 0, Qt.AlignmentFlag.AlignTop)
        heading.addWidget(self._copy_button, 0, Qt.AlignmentFlag.AlignTop)
        for page in (self._page, self._empty):
            self._stack.addWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(GAP, GAP, GAP, GAP)
        whole.setSpacing(HALF)
        whole.addLayout(heading)
        whole.addWidget(self._summary)
        whole.addLayout(self.controls)
        whole.addWidget(self._stack, 1)

    def _make_table_button(self) -> QToolButton:
        button = QToolButton(self)
        button.setText("Table")
        button.setProperty("look", "bordered")
        button.setCheckable(True)
        button.setToolTip("Show the same numbers as a table")
        button.setAccessibleName(f"{self.name}: show as table")
        button.toggled.connect(self._show_page)
        return button

    def _make_copy_button(self) -> QToolButton:
        button = QToolButton(self)
        button.setText("Copy")
        button.setProperty("look", "bordered")
        button.setToolTip(COPY_TIP)
        button.setAccessibleName(f"{self.name}: copy")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = self.menu = QMenu(button)
        menu.addAction("Copy &numbers", self.copy_numbers)
        menu.addAction("Copy &picture", self.copy_picture)
        menu.addAction("&Save picture…", self._ask_for_picture)
        menu.addAction("Save &data…", self._ask_for_table)
        button.setMenu(menu)
        return button

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer everything that can be done with the figure, also by the menu key."""
        if self._copy_button.isEnabled():
            self.menu.popup(event.globalPos())
            event.accept()

    def ask_for_file(self, ending: str, filters: str, save: Callable[[str], None]) -> None:
        """Ask where a file is to be saved.

        Args:
            ending: of the proposed name, e.g. ``.png``.
            filters: kinds of files.
            save: takes the chosen name; a bound method.
        """
        dialog = QFileDialog(self, f"Save {self.name.lower()}", f"{self.objectName()}{ending}", filters)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(ending.rpartition(".")[2])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(save)
        dialog.open()

    def save_table(self, path: Path) -> None:
        """Write the data table as CSV, XLSX or JSON, by the suffix.

        Raises:
            PhexploreError: another suffix, the file cannot be written, or the numbers are held back.
        """
        if self._held_back:
            raise PictureError(self._held_back, "Run on synthetic or published data to share numbers.")
        write_table(self.numbers, path)

    def _ask_for_picture(self) -> None:
        self.ask_for_file(".png", PICTURE_FILTERS, self._save_chosen)

    def _ask_for_table(self) -> None:
        self.ask_for_file(".csv", TABLE_FILTERS, self._save_table_chosen)

    def _save_table_chosen(self, name: str) -> None:
        self.try_to(partial(self.save_table, Path(name)))

    def try_to(self, act: Callable[[], None]) -> None:
        """Do something; what stands in its way is told by `failed`."""
        try:
            act()
        except PhexploreError as error:
            self.failed.emit(error)

    def _save_chosen(self, name: str) -> None:
        self.try_to(partial(self.save_picture, Path(name)))

    def _save_svg(self, path: Path) -> bool:
        from PySide6.QtSvg import QSvgGenerator

        size = self._sheet_size()
        device = QSvgGenerator()
        device.setFileName(str(path))
        device.setResolution(SHEET_DPI)
        device.setSize(size)
        device.setViewBox(QRect(QPoint(0, 0), size))
        device.setTitle(self.title)
        device.setDescription(self.summary)
        return self._paint_on(device)

    def _save_pdf(self, path: Path) -> bool:
        size = self._sheet_size()
        device = QPdfWriter(str(path))
        device.setResolution(SHEET_DPI)
        device.setTitle(self.title)
        points = QSize(round(size.width() * 0.75), round(size.height() * 0.75))
        device.setPageLayout(QPageLayout(QPageSize(points), QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0)))
        return self._paint_on(device)

    def _paint_on(self, device: QPaintDevice) -> bool:
        painter = QPainter()
        if not painter.begin(device):
            return False
        self._paint_sheet(painter)
        return painter.end()

    def _sheet_size(self) -> QSize:
        heading = self._heading_rectangles()[-1].bottom()
        return QSize(self.canvas.width() + 2 * MARGIN, heading + HALF + self.canvas.height() + MARGIN)

    def _heading_rectangles(self) -> tuple[QRect, QRect]:
        """Return where title and summary go on a sheet as wide as the plot."""
        width = self.canvas.width()
        top, found = MARGIN, []
        for label in (self._title, self._summary):
            area = QRect(MARGIN, top, width, 10_000)
            used = QFontMetrics(label.font()).boundingRect(area, Qt.TextFlag.TextWordWrap, localised(label.text()))
            found.append(QRect(MARGIN, top, width, used.height()))
            top += used.height() + HALF
        return found[0], found[1]

    def _paint_sheet(self, painter: QPainter) -> None:
        colours = appearance().colours
        painter.fillRect(QRect(QPoint(0, 0), self._sheet_size()), QColor(colours.base))
        rectangles = self._heading_rectangles()
        for label, area, colour in zip(
            (self._title, self._summary), rectangles, (colours.text, colours.muted), strict=True
        ):
            painter.setFont(label.font())
            painter.setPen(QColor(colour))
            painter.drawText(area, Qt.TextFlag.TextWordWrap, localised(label.text()))
        painter.save()
        painter.translate(MARGIN, rectangles[-1].bottom() + HALF)
        self.canvas.paint_on(painter)
        painter.restore()

    def _enable(self, enabled: bool) -> None:
        self._table_button.setEnabled(enabled)
        self._copy_button.setEnabled(enabled and not self._held_back)

    def _show_page(self) -> None:
        if self._table_button.isChecked():
            self._fill_table()
        if self._table_button.isEnabled():
            self._stack.setCurrentWidget(self.table if self._table_button.isChecked() else self._page)

    def _fill_table(self) -> None:
        """Bring the table up to the picture; the place of the choice in it stays."""
        source, self._numbers_source = self._numbers_source, None
        if source is not None:
            self.table.set_numbers(source())
            self.table_filled()

    def choose_table_row(self, row: int | None) -> None:
        """Move to a row of the table twin without announcing it; nothing before there is one."""
        if self._table is not None:
            self._table.choose_row(row)

    def table_made(self, table: NumbersTable) -> None:
        """Say that there is a table now; subclasses join what they need of it."""

    def table_filled(self) -> None:
        """Say that the table has new numbers; subclasses mark the chosen row."""

    def _describe(self, sentence: str) -> None:
        for widget in (self, self.canvas, self._table):
            if widget is not None:
                widget.setAccessibleDescription(sentence)

    def _follow_theme(self, colours: Colours) -> None:
        self._set_fonts()
        self.recolour(colours)

    def _set_fonts(self) -> None:
        self._empty.setFont(appearance().font(relative=1.1))


def _no_numbers() -> Table:
    return Table(())


def _wrapping_label(name: str) -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.setAccessibleName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
