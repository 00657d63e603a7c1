"""What happens when something goes wrong that the program did not expect: it says so and keeps running."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QObject, Signal

from phexplore.errors import PhexploreError

Say = Callable[[str, str], object]
"""Shows a sentence with details that can be copied."""


class FailureHook(QObject):
    """Receives what no code caught, on any thread, and shows it one at a time on the thread of the window."""

    _raised = Signal(object)

    def __init__(
        self,
        say: Say,
        save_first: Callable[[], object],
        parent: QObject | None = None,
        *,
        record: Callable[[str], object] | None = None,
    ) -> None:
        """Make the hook.

        Args:
            say: shows the failure.
            save_first: forces the journal to disk before anything else is tried.
            parent: owner.
            record: writes the details down; it must not raise.
        """
        super().__init__(parent)
        self._say, self._save_first, self._record = say, save_first, record
        self._is_speaking = False
        self._raised.connect(self._show)

    def install(self) -> None:
        """Receive failures from now on."""
        sys.excepthook = self._on_main
        threading.excepthook = self._on_thread

    def remove(self) -> None:
        """Give the hooks back."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__

    def _on_main(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self._receive(error, trace)

    def _on_thread(self, failure: threading.ExceptHookArgs) -> None:
        if failure.exc_value is not None:
            self._receive(failure.exc_value, failure.exc_traceback)

    def _receive(self, error: BaseException, trace: TracebackType | None) -> None:
        details = "".join(traceback.format_exception(type(error), error, trace))
        print(details, file=sys.stderr)  # noqa: T201 - a terminal is where a developer looks first
        if self._record is not None:
            self._record(details)
        self._raised.emit((error, details))

    def _show(self, failure: tuple[BaseException, str]) -> None:
        if self._is_speaking:
            return  # a failure while one is being shown would only pile up dialogs
        self._is_speaking = True
        try:
            self._save_first()
            self._say(*failure_words(*failure))
        finally:
            self._is_speaking = False


def failure_words(error: BaseException, details: str) -> tuple[str, str]:
    """Return sentence and details of a failure: an expected one in its own words, a bug with how to go on."""
    if isinstance(error, PhexploreError):
        return f"{error.sentence} {error.remedy}".strip(), details
    sentence = (
        f"Something unexpected happened: {type(error).__name__}: {error}. Your edits are in the journal and nothing was "
        "lost. You can go on; please send the details below to the maintainers."
    )
    return sentence, details
