"""The window's end of the process that makes, signs and checks bundles: one job at a time, with progress, cancellable."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject

from phexplore import entry
from phexplore.decide.bundle_jobs import BundleJob
from phexplore.gui.binding.request_service import RequestFailedError, RequestProcess, RequestService, Wording

_WORDING = Wording(
    "The bundle could not be worked on: the program beside the window stopped",
    "Try again; if it stops again, please report it.",
    "The program beside the window did not start.",
)


class BundleProcess(RequestService):
    """Carries out one job at a time in a process that ends with it: private keys stay in no memory.

    `answered` brings a `BundleReport`, a `KeyMade` or what was exported; `progressed` the `Began` of every step.
    """

    def __init__(self, parent: QObject | None = None, *, command: Sequence[str] | None = None) -> None:
        """Prepare the process.

        Args:
            parent: owner.
            command: program and arguments to start instead of the shipped worker.
        """
        super().__init__(
            RequestProcess(command or entry.program_command(entry.BUNDLE), _WORDING, parent, is_single=True),
            parent,
            is_alone=True,
        )
        self.asker: object = None

    def start(self, job: BundleJob, asker: object = None) -> None:
        """Carry out a job; refused while another one is being carried out.

        Args:
            job: what is to be done.
            asker: whom progress and result are for; `asker` tells it.
        """
        if self.is_busy:
            self.failed.emit(RequestFailedError("Another bundle is being worked on.", "Wait until it is finished."))
            return
        self.asker = asker
        self.request(job)

    def cancel(self) -> None:
        """Stop what is being done. A file that was not finished is never put in place."""
        if self.is_busy:
            self.end()
            self.failed.emit(RequestFailedError("Stopped. Nothing was written."))
