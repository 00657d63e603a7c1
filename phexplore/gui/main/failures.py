"""What happens when something goes wrong that the program did not expect: it says so and keeps running."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QObject, Signal, qVersion
from PySide6.QtWidgets import QDialog

from phexplore.errors import PhexploreError
from phexplore.files.failure_log import failure_details

_QT = f"Qt {qVersion()}"

Say = Callable[[str, str], QDialog | None]
"""Shows a sentence with details that can be copied, and returns the dialog as long as it is open."""


class FailureHook(QObject):
    """Receives what no code caught, on any thread, and shows it one at a time on the thread of the window."""

    _raised = Signal(object)

    def __init__(
        self,
        say: Say,
        save_first: Callable[[], bool],
        parent: QObject | None = None,
        *,
        record: Callable[[str], object] | None = None,
    ) -> None:
        """Make the hook.

        Args:
            say: shows the failure.
            save_first: forces the journal to disk before anything else is tried, and says whether every edit is there.
            parent: owner.
            record: writes the details down; it must not raise.
        """
        super().__init__(parent)
        self._say, self._save_first, self._record = say, save_first, record
        self._is_speaking = False
        self._dialog: QDialog | None = None
        self._raised.connect(self._show)

    def install(self) -> None:
        """Receive failures from now on."""
        sys.excepthook = self._on_main
        threading.excepthook = self._on_thread
        sys.unraisablehook = self._on_unraisable

    def remove(self) -> None:
        """Give the hooks back."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        sys.unraisablehook = sys.__unraisablehook__

    def _on_main(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self._receive(error, trace)

    def _on_thread(self, failure: threading.ExceptHookArgs) -> None:
        if failure.exc_value is not None:
            self._receive(failure.exc_value, failure.exc_traceback)

    def _on_unraisable(self, failure: sys.UnraisableHookArgs) -> None:
        """Write down what went wrong while an object was taken apart; there is nothing a person could do about it."""
        if failure.exc_value is not None and self._record is not None:
            self._record(failure_details(failure.exc_value, _QT))
        sys.__unraisablehook__(failure)

    def _receive(self, error: BaseException, trace: TracebackType | None) -> None:
        # A terminal is where a developer looks first; it is on this machine, so the text may stay.
        print("".join(traceback.format_exception(type(error), error, trace)), file=sys.stderr)  # noqa: T201 - see above
        details = failure_details(error, _QT)
        if self._record is not None:
            self._record(details)
        self._raised.emit((error, details))

    def _show(self, failure: tuple[BaseException, str]) -> None:
        if self._is_speaking:
            return  # a picture that cannot be painted fails sixty times a second; one dialog says it, the log has them all
        self._is_speaking = True
        self._dialog = self._say(*failure_words(*failure, is_kept=self._save_first()))
        if self._dialog is None:
            self._is_speaking = False
        else:
            self._dialog.finished.connect(self._on_closed)

    def _on_closed(self, _result: int) -> None:
        self._dialog, self._is_speaking = None, False


def failure_words(error: BaseException, details: str, *, is_kept: bool = True) -> tuple[str, str]:
    """Return sentence and details of a failure: an expected one in its own words, a bug with how to go on."""
    if isinstance(error, PhexploreError):
        return error.full, details
    # Without the text of the error: it is copied with the details, and may hold a value of the data.
    kept = (
        "Your edits are on disk; nothing was lost. You can go on."
        if is_kept
        else "Your edits are in this window only: save the project under another name now."
    )
    sentence = (
        f"Something unexpected happened ({type(error).__name__}). {kept} Please send the details below to the maintainers; they "
        "hold no data."
    )
    return sentence, details
