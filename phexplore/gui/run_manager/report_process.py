"""Writing the report or the measurements of a run: the command line does it in a process of its own."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QMenu, QToolButton

from phexplore.catalog.names import chosen_naming, worded
from phexplore.entry import program_command
from phexplore.errors import PhexploreError
from phexplore.gui.binding.process_service import CommandProcess
from phexplore.gui.widgets.file_dialogs import ask_for_folder, ask_to_save
from phexplore.report.export_formats import STEP
from phexplore.runs.store import load_spec
from phexplore.systems.run_results import Choice

_UNFIT = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')
"""What no name of a file may hold."""


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """One line of the export menu.

    Attributes:
        id: as ``phexplore report --format`` takes it.
        title: for people.
        is_folder: whether several files are written into a folder.
        suffix: of the file, "" for a folder.
    """

    id: str
    title: str
    is_folder: bool
    suffix: str = ""


FORMATS = (
    ReportFormat("csv", "Noisy measurements and figures, CSV (folder)…", is_folder=True),
    ReportFormat("html", "Report, HTML…", is_folder=False, suffix=".html"),
    ReportFormat("pdf", "Report, PDF…", is_folder=False, suffix=".pdf"),
    ReportFormat("docx", "Report, Word…", is_folder=False, suffix=".docx"),
    ReportFormat("pptx", "Slides…", is_folder=False, suffix=".pptx"),
    ReportFormat("png", "Figures, PNG (folder)…", is_folder=True),
    ReportFormat("svg", "Figures, SVG (folder)…", is_folder=True),
)


_NOTHING: Mapping[str, Choice] = {}


class ReportProcess(CommandProcess):
    """Writes one report at a time, beside the window.

    Signals:
        written: the `Path` of the file or folder.
    """

    written = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent, work="The report", niceness=0)
        self._out = Path()
        self.done.connect(lambda _answer: self.written.emit(self._out))

    def write(self, directory: Path, form: ReportFormat, out: Path, choices: Mapping[str, Choice] = _NOTHING) -> None:
        """Write a report; refused while another one is being written.

        Args:
            directory: of the run.
            form: what is written.
            out: the file or folder.
            choices: what the page of results shows.
        """
        if not self.is_busy:
            self._out = out
        several = ((name, (value,) if isinstance(value, str) else value) for name, value in choices.items())
        chosen = [text for name, values in several for value in values for text in ("--choose", f"{name}={value}")]
        names = ("--names", chosen_naming().value)
        self.start(program_command("report", str(directory), "--format", form.id, "--out", str(out), *chosen, *names))


class ExportButton(QToolButton):
    """Asks what of a run is to be written and where, and has it written.

    Signals:
        written: the `Path` of the file or folder.
        failed: a `PhexploreError`.
    """

    written = Signal(object)
    failed = Signal(object)

    def __init__(self, directory: Callable[[], Path | None], choices: Callable[[], Mapping[str, Choice]]) -> None:
        """Make the button.

        Args:
            directory: of the run that is shown.
            choices: which of its pictures are shown, by the ids of their choosers.
        """
        super().__init__()
        self._directory, self._choices = directory, choices
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.process, self.printing = ReportProcess(self), ReportProcess(self)
        self.process.written.connect(self.written)
        self.printing.written.connect(self._preview)
        for process in (self.process, self.printing):
            process.failed.connect(self.failed)
            process.busy_changed.connect(self._show_busy)
            process.said.connect(self._show_step)
        self.setAccessibleName("Export the run")
        self.setProperty("look", "bordered")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        for form in FORMATS:
            menu.addAction(form.title, partial(self._choose, form)).setData(form)
        menu.addSeparator()
        menu.addAction("Print the report…", self.print_report)
        self.setMenu(menu)
        self._show_busy(busy=False)

    def write(self, form: ReportFormat, path: Path) -> None:
        """Write the report, the figures or the noisy measurements of the run shown, with its pictures as they are chosen.

        Args:
            form: what is written.
            path: the file or folder.
        """
        if (directory := self._directory()) is not None:
            self.process.write(directory, form, path, self._choices())

    def print_report(self) -> None:
        """Make the PDF of the run's report and show its pages before they are printed."""
        if (directory := self._directory()) is not None:
            pdf = next(form for form in FORMATS if form.id == "pdf")
            self._tidy()
            self._folder = tempfile.TemporaryDirectory(prefix="phexplore-print-")
            self.printing.write(
                directory, pdf, Path(self._folder.name) / f"Report of a run{pdf.suffix}", self._choices()
            )

    def stop(self) -> None:
        """End what is being written, because the window closes."""
        for process in (self.process, self.printing):
            process.shut_down()
        self._tidy()

    def _tidy(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _preview(self, path: Path) -> None:
        from phexplore.gui.widgets.print_preview import PdfPreview

        try:
            PdfPreview(self, path).open()
        except PhexploreError as error:
            self.failed.emit(error)
        self._tidy()  # the preview has read the file

    def _choose(self, form: ReportFormat) -> None:
        if (directory := self._directory()) is None:
            return
        title, take = form.title.rstrip("…"), partial(self.write, form)
        if form.is_folder:
            ask_for_folder(self, title, take, folder=directory)
        else:
            ask_to_save(self, title, take, proposed=_proposed(directory, form))

    def _show_step(self, line: str) -> None:
        """Say on the button how far a report is, and in its tip what is done."""
        step, _, sentence = line.partition(": ")
        if step.startswith(STEP):
            self.setText(f"{step}…")
            self.setToolTip(sentence)

    def _show_busy(self, busy: bool) -> None:
        self.setText("Writing…" if busy else "Export…")
        self.setToolTip("")
        self.setEnabled(not busy)


def _proposed(directory: Path, form: ReportFormat) -> Path:
    """Return a file for a report: named by what was run, beside the project and never among its runs, which may be given up."""
    folder = directory.parent.parent
    places = QStandardPaths.StandardLocation
    if folder.is_relative_to(QStandardPaths.writableLocation(places.AppDataLocation)):
        folder = Path(QStandardPaths.writableLocation(places.DocumentsLocation))
    try:
        name = worded(load_spec(directory).scenario.name)
    except PhexploreError:
        name = "run"
    what = "slides" if form.id == "pptx" else "results"
    return folder / f"{_UNFIT.sub(' ', name).strip()} {what}{form.suffix}"
