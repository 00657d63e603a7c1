"""The exports of the window as actions: files and reports of the scenario, and its report on paper, each with a word on its progress."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtWidgets import QWidget

from phexplore.errors import PhexploreError
from phexplore.gui.binding.room import Action
from phexplore.gui.binding.settings import FOLDER
from phexplore.gui.main.exporting import ExportFormat, Exports, export_formats
from phexplore.gui.main.notices import STOP, Notices
from phexplore.gui.widgets.file_dialogs import ask_to_save, fit_for_file
from phexplore.systems.registry import system_of

if TYPE_CHECKING:
    from phexplore.decide.bundle_jobs import Began
    from phexplore.gui.binding.room import News
    from phexplore.gui.binding.session import Session
    from phexplore.gui.binding.settings import Settings
    from phexplore.gui.main.project_files import ProjectFiles

_PRINTED = "pdf"


class ExportingWindow(Protocol):
    """What the exports need of the window."""

    session: Session
    settings: Settings
    news: News
    files: ProjectFiles
    exports: Exports
    notice: Notices


class ExportControls:
    """Asks for files and has them written."""

    def __init__(self, window: ExportingWindow, parent: QWidget) -> None:
        """Prepare.

        Args:
            window: whose scenario is written.
            parent: the same window as a widget, owner of dialogs.
        """
        self._window, self._parent = window, parent
        self.formats = export_formats()
        self.prints = Exports(parent)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        window.exports.written.connect(lambda made: window.notice.tell_written(made.files[0], *made.said))
        self.prints.written.connect(lambda made: self._preview(made.files[0]))
        for exports in (window.exports, self.prints):
            exports.failed.connect(self._fail)
            exports.progressed.connect(partial(self._follow, exports))

    def actions(self) -> list[Action]:
        """Return an action per format, and printing."""
        window = self._window

        def is_offered(form: ExportFormat) -> bool:
            return system_of(window.session.scenario).id in form.formats

        exports = [
            Action(
                f"file.export-{form.id}", f"{form.title}…", partial(self._choose, form),
                shortcut="" if number else "Ctrl+E", enabled=lambda: not window.exports.is_busy,
                shown=partial(is_offered, form), group="&Export",
                hint=f"phexplore export {{this}} --format {next(iter(form.formats.values()))} --out FILE",
            )
            for number, form in enumerate(self.formats)
        ]  # fmt: skip
        hint = f"phexplore export {{this}} --format {_PRINTED} --out report.pdf"
        able = lambda: not self.prints.is_busy  # noqa: E731 - asked each time
        return [*exports, Action("file.print", "&Print the report…", self.print_report, "Ctrl+P", able, hint=hint)]

    def export(self, form: ExportFormat, path: Path) -> None:
        """Write a file beside the window."""
        self._window.settings.keep(FOLDER, str(path.parent))
        self._window.news.said.emit(f"Writing {path.name}…")
        self._write(self._window.exports, form, path)

    def print_report(self) -> None:
        """Make the PDF of the report and show its pages before they are printed."""
        form = next(form for form in self.formats if form.id == _PRINTED)
        self._folder = tempfile.TemporaryDirectory(prefix="phexplore-print-")
        self._write(self.prints, form, Path(self._folder.name) / self._proposed(form))

    def stop(self) -> None:
        """End what is being written, because the window closes."""
        self.prints.stop()
        self._tidy()

    def _write(self, exports: Exports, form: ExportFormat, path: Path) -> None:
        session = self._window.session
        exports.start(form, session.shown, path, session.project.decisions)

    def _choose(self, form: ExportFormat) -> None:
        take, kinds = partial(self.export, form), f"{form.title} (*{form.suffix})"
        proposed = self._window.files.folder() / self._proposed(form)
        ask_to_save(self._parent, form.title, take, kinds=kinds, proposed=proposed)

    def _proposed(self, form: ExportFormat) -> str:
        if not form.is_report:
            return form.file_name
        what = "report" if form.suffix == f".{form.id}" and form.id not in {"svg", "png"} else "charts"
        return f"{fit_for_file(self._window.session.scenario.name)} {what}{form.suffix}"

    def _follow(self, exports: Exports, began: Began) -> None:
        self._window.notice.follow_report(began, exports.cancel)

    def _fail(self, error: BaseException) -> None:
        self._tidy()
        self._window.news.failed.emit(error)

    def _preview(self, path: Path) -> None:
        from phexplore.gui.widgets.print_preview import PdfPreview

        self._window.notice.drop(action=STOP)
        try:
            PdfPreview(self._parent, path).open()
        except PhexploreError as error:
            self._fail(error)
        self._tidy()

    def _tidy(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
