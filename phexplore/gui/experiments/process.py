"""An experiment as a process beside the window: the program's own command, with its progress, stopped at any time."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from phexplore import entry
from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import write_atomically
from phexplore.gui.binding.process_service import CommandError, CommandProcess
from phexplore.systems.experiments import RESULT_FILE

_PROGRESS = re.compile(r"([0-9,]+) of ([0-9,]+)\b")


class ExperimentProcess(CommandProcess):
    """Runs one experiment at a time. Stopped, it keeps what is finished; the next start takes that over.

    Signals:
        progressed: (sentence, units done, units in all; 0 = unknown).
        finished: the `Path` of its folder, which holds `RESULT_FILE`.
    """

    progressed = Signal(object, object, object)
    finished = Signal(object)

    def __init__(self, parent: QObject | None = None, *, command: Sequence[str] | None = None) -> None:
        """Prepare.

        Args:
            parent: owner.
            command: program to start instead of this one.
        """
        super().__init__(parent, work="The experiment", niceness=0)
        self._command = list(entry.program_command() if command is None else command)
        self._folder = Path()
        self.said.connect(self._on_line)
        self.done.connect(self._keep)

    def run(self, arguments: Sequence[str], folder: Path) -> None:
        """Start an experiment; refused while another one runs.

        Args:
            arguments: of the command line.
            folder: takes its result.
        """
        if not self.is_busy:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                self.failed.emit(CommandError(f"{folder} cannot be made: {error.strerror}.", "Free some space."))
                return
            self._folder = folder
        self.start([*self._command, *arguments])

    def _on_line(self, line: str) -> None:
        if line.strip():
            match = _PROGRESS.search(line)
            done, total = (int(part.replace(",", "")) for part in match.groups()) if match else (0, 0)
            self.progressed.emit(line.strip(), done, total)

    def _keep(self, answer: str) -> None:
        try:
            json.loads(answer)
            write_atomically(self._folder / RESULT_FILE, answer.encode())
        except (ValueError, PhexploreError) as error:
            self.failed.emit(CommandError(f"The result cannot be kept: {error}", "Run it again."))
            return
        self.finished.emit(self._folder)
