"""What was done to the active scenario as Python on the clipboard, or as a notebook."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from phexplore.document.as_python import notebook, script
from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import write_atomically
from phexplore.files.project_file import LoggedStep
from phexplore.gui.binding.room import News
from phexplore.gui.binding.session import Session
from phexplore.gui.widgets.file_dialogs import ask_to_save


class PythonLog:
    """Copies and saves the steps that led to the active scenario.

    Args:
        parent: owner of the question for a file.
        session: the project.
        news: told what was done or failed.
        folder: to begin with.
    """

    def __init__(self, parent: QWidget, session: Session, news: News, folder: Callable[[], Path]) -> None:
        self._parent, self._session, self._news, self._folder = parent, session, news, folder

    def copy(self) -> None:
        """Put Python on the clipboard."""
        QGuiApplication.clipboard().setText(script(self._steps()))
        self._news.said.emit(f"The steps of “{self._session.scenario.name}” are on the clipboard as Python.")

    def save(self) -> None:
        """Ask for a file and write a notebook."""
        proposed = self._folder() / "what_was_done.ipynb"
        ask_to_save(self._parent, "Save as notebook", self.write, kinds="Notebooks (*.ipynb)", proposed=proposed)

    def write(self, path: Path) -> None:
        """Write a notebook."""
        try:
            write_atomically(path, notebook(self._steps()))
        except PhexploreError as error:
            self._news.failed.emit(error)
            return
        self._news.said.emit(f"{path.name} was written to {path.parent}.")

    def _steps(self) -> tuple[LoggedStep, ...]:
        content = self._session.project.content()
        return content.steps[: content.cursor + 1]
