"""One line on a terminal that follows a run."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from phexplore.preparing import PREPARING
from phexplore.report.export_formats import STEP
from phexplore.report.terminal import say

if TYPE_CHECKING:
    from phexplore.runs.events import Event

_BAR = 24


class ProgressLine:
    """Shows the progress of a run on standard error: a bar on a terminal, plain lines elsewhere."""

    def __init__(self, *, is_quiet: bool = False) -> None:
        """Show nothing yet.

        Args:
            is_quiet: whether nothing is shown where there is neither a terminal nor a notebook.
        """
        self._live = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._is_quiet = is_quiet and not self._live
        self._open = False
        self._told = False

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the line."""
        self._end()

    def show(self, event: Event) -> None:
        """Show an event of a worker."""
        from phexplore.runs.events import Note, PhaseDone, Progress  # noqa: PLC0415 - most commands show none

        match event:
            case Progress(phase, done, total, seconds_left) if self._live and total:
                filled = round(_BAR * done / total)
                left = "" if seconds_left is None else f"  {_duration(seconds_left)} left"
                bar = "█" * filled + "░" * (_BAR - filled)
                sys.stderr.write(f"\r{phase:<12} {bar} {done:,}/{total:,}{left}\x1b[K")
                sys.stderr.flush()
                self._open = True
            case Progress(phase) if phase == PREPARING and not self._told:
                self._told = True
                self._line(f"{phase} …")
            case PhaseDone(name, seconds):
                self._line(f"{name}: {seconds:.2f} s")
            case Note(text):
                self._line(text)
            case _:
                pass

    def prepare(self, ready: int, kernels: int) -> None:
        """Show that the solver is being prepared.

        Args:
            ready: kernels that have their machine code.
            kernels: that are loaded.
        """
        from phexplore.runs.events import Progress  # noqa: PLC0415 - as above

        self.show(Progress(PREPARING, ready, kernels))

    def _line(self, text: str) -> None:
        self._end()
        if not self._is_quiet:
            say(text)

    def _end(self) -> None:
        if self._open:
            sys.stderr.write("\r\x1b[K")
            self._open = False


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def tell_step(number: int, steps: int, sentence: str) -> None:
    """Show a step of a document on standard error: one line that is written over on a terminal, a line each elsewhere.

    Args:
        number: of the step.
        steps: how many there are.
        sentence: what it does.
    """
    text = f"{STEP}{number} of {steps}: {sentence}"
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{text}\x1b[K" + ("\n" if number == steps else ""))
        sys.stderr.flush()
    else:
        say(text)
