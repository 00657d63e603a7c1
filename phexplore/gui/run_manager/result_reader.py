"""The process that reads for the window: results of runs, and the blocks of spines."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject

from phexplore import entry
from phexplore.gui.binding.request_service import RequestProcess, Wording

RESULTS = Wording(
    "The results could not be read: their reader stopped",
    "Choose the run again; if it stops again, the run may need more memory than there is.",
    "The reader of results could not be started.",
)
BLOCKS = Wording(
    "The spine could not be worked out: its process stopped",
    "Try again; if it stops again, the blocks may need more memory than there is.",
    "The process that reads blocks could not be started.",
)


def reader_process(
    parent: QObject | None = None, *, wording: Wording = RESULTS, command: Sequence[str] | None = None
) -> RequestProcess:
    """Return a process that reads.

    Args:
        parent: owner.
        wording: what is said when it fails.
        command: program and arguments to start instead of the shipped reader.
    """
    return RequestProcess(command or entry.program_command(entry.READER), wording, parent)
