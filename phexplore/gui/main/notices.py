"""What the window tells above its content: refusals, failures, files that were written, runs that ended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

from phexplore.errors import PhexploreError
from phexplore.gui.widgets.notice_bar import NoticeBar

if TYPE_CHECKING:
    from phexplore.decide.bundle_jobs import Began
    from phexplore.gui.run_manager.run_rows import RunRow


SHOW_RESULTS = "Show results"
SHOW_AROUND = "Show me around"
STOP = "Stop"


class Notices(NoticeBar):
    """The notices of a window."""

    def tell_trouble(self, trouble: PhexploreError, save_as: Callable[[], object]) -> None:
        """Say why edits are not kept beside the file.

        Args:
            trouble: the reason.
            save_as: lets somebody choose another file.
        """
        text = self._behind_attention(f"{trouble.sentence} {trouble.remedy}")
        self.say(text, look="refused", action="Save as…", run=save_as)

    def warn(self, text: str, cause: object = None) -> None:
        """Say what deserves attention, until its cause is gone if one is named."""
        self.say(text, look="attention", cause=cause)

    def tell_complete(self, row: RunRow, show: Callable[[], object]) -> None:
        """Say that a run is complete.

        Args:
            row: the run.
            show: goes to its results.
        """
        from phexplore.gui.run_manager.run_rows import trials_words

        text = f"The run of {row.title!r} is complete: {trials_words(row)} trials."
        self.say(text, action=SHOW_RESULTS, run=show)

    def follow_report(self, began: Began, stop: Callable[[], object]) -> None:
        """Say which step of a report is being done; the notice stays until the file is there.

        Args:
            began: the step.
            stop: gives it up.
        """
        self.say(f"{began.sentence}…", action=STOP, run=stop, steps=(began.number, began.steps))

    def tell_written(self, path: Path, *more: str) -> None:
        """Say where a file was written and what more is to be known of it, and offer to open it."""
        open_it = lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))  # noqa: E731 - one call
        text = " ".join((f"{path.name} was written to {path.parent}.", *more))
        self.say(text, look="attention" if more else "card", action="Open", run=open_it)

    def offer_unsaved(self, question: str, reopen: Callable[[], object]) -> None:
        """Offer a project that a crash left unsaved.

        Args:
            question: names it.
            reopen: opens it.
        """
        self.say(self._behind_attention(question), look="attention", action="Reopen", run=reopen)

    def tell_failure(self, error: BaseException) -> None:
        """Say why something could not be done.

        Raises:
            BaseException: the error itself, when it is none that was foreseen.
        """
        if not isinstance(error, PhexploreError):
            raise error
        self.say(error.full, look="refused", cause=error)

    def tell_of_crash(self, report: str) -> None:
        """Say that the program was brought down last time, with a report to pass on."""
        self.say(
            "The program stopped unexpectedly last time. Edits of a saved project are in its journal and come back when it is "
            "opened. Please send the report to the maintainers; it holds no data.",
            look="attention",
            action="Copy the report",
            run=lambda: QGuiApplication.clipboard().setText(report),
        )

    def offer_tour(self, take: Callable[[], object]) -> None:
        """Offer to show a person around who starts the program for the first time."""
        text = "New here? Seven stops show where everything is."
        self.say(text, action=SHOW_AROUND, run=take)

    def leave_page(self) -> None:
        """End what was told on the page that is left: it was read there. What deserves attention, goes on or is offered stays."""
        if self.look == "card" and self._button.text() not in {SHOW_AROUND, STOP}:
            self.hide()

    def _behind_attention(self, text: str) -> str:
        """Return a text behind what is being said with attention, e.g. that edits were brought back or a crash left a report."""
        return f"{self.text if self.look == 'attention' else ''} {text}".strip()
