"""Writing the report or the measurements of a run: the command line does it in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from phexplore.entry import program_command
from phexplore.gui.binding.process_service import CommandProcess
from phexplore.systems.run_results import Choice


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """One line of the export menu.

    Attributes:
        id: as ``phexplore report --format`` takes it.
        title: for people.
        is_folder: whether several files are written into a folder.
        suffix: of the file, "" for a folder.
    """

    id: str
    title: str
    is_folder: bool
    suffix: str = ""


FORMATS = (
    ReportFormat("csv", "Noisy measurements and figures, CSV (folder)…", is_folder=True),
    ReportFormat("html", "Report, HTML…", is_folder=False, suffix=".html"),
    ReportFormat("pdf", "Report, PDF…", is_folder=False, suffix=".pdf"),
    ReportFormat("png", "Figures, PNG (folder)…", is_folder=True),
)


_NOTHING: Mapping[str, Choice] = {}


class ReportProcess(CommandProcess):
    """Writes one report at a time, beside the window.

    Signals:
        written: the `Path` of the file or folder.
    """

    written = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent, work="The report", niceness=0)
        self._out = Path()
        self.done.connect(lambda _answer: self.written.emit(self._out))

    def write(self, directory: Path, form: ReportFormat, out: Path, choices: Mapping[str, Choice] = _NOTHING) -> None:
        """Write a report; refused while another one is being written.

        Args:
            directory: of the run.
            form: what is written.
            out: the file or folder.
            choices: what the page of results shows.
        """
        if not self.is_busy:
            self._out = out
        several = ((name, (value,) if isinstance(value, str) else value) for name, value in choices.items())
        chosen = [text for name, values in several for value in values for text in ("--choose", f"{name}={value}")]
        self.start(program_command("report", str(directory), "--format", form.id, "--out", str(out), *chosen))
