"""A question about targets: it is asked beside the window, and only the answer to the newest one is shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import write_atomically
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.tasks import Latest
from phexplore.gui.widgets.buttons import SymbolButton
from phexplore.gui.widgets.file_dialogs import ask_to_open, ask_to_save


class QuestionView(QWidget):
    """What views of questions share. Subclasses call `ask` and show the answer in `show_answer`.

    Signals:
        failed: a `PhexploreError`, e.g. of a chart or a file.
        noted: a sentence about what was done.
    """

    failed = Signal(object)
    noted = Signal(object)

    def __init__(self, session: Session, work: Callable[[Any], Any]) -> None:
        """Prepare.

        Args:
            session: the project.
            work: answers a question; the answer knows it as `request`.
        """
        super().__init__()
        self._session = session
        self._asked: Any = None
        self.answer: Any = None
        self._worker = Latest(work, self)
        self._worker.finished.connect(self._take)
        self._worker.failed.connect(self.failed)

    def ask(self, request: Any) -> None:
        """Ask this in place of whatever was asked before."""
        self._asked = request
        self._worker.request(request)

    def show_answer(self) -> None:
        """Show `answer`."""

    def stop(self) -> None:
        """End what is being computed, because the window closes."""
        self._worker.stop()

    def write_to(self, path: Path, content: bytes) -> None:
        """Write a file, and say so."""
        try:
            write_atomically(path, content)
        except PhexploreError as error:
            self.failed.emit(error)
            return
        self.noted.emit(f"{path.name} was written to {path.parent}.")

    def file_buttons(
        self, things: str, kinds: str, read: Callable[[Path], object], write: Callable[[Path], object]
    ) -> tuple[SymbolButton, SymbolButton]:
        """Return buttons that ask for a file of things and read it, and for one to write them to.

        Args:
            things: that files hold, e.g. ``goals``.
            kinds: of files, as Qt writes filters.
            read: takes the file to read.
            write: takes the file to write.
        """

        def opens() -> None:
            ask_to_open(self, f"Open {things}", read, kinds=kinds)

        def saves() -> None:
            ask_to_save(self, f"Save {things}", write, kinds=kinds, proposed=f"{things}.json")

        return (
            SymbolButton("open", f"Open a file of {things}", text="Open…", bordered=True, run=opens),
            SymbolButton("save", f"Save the {things} as a file", text="Save…", bordered=True, run=saves),
        )

    def _take(self, answer: Any) -> None:
        if answer.request is self._asked:
            self.answer = answer
            self.show_answer()
