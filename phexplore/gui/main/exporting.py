"""Writing files from the window: parameter file, tables, report, figures. The work is done beside the window."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from phexplore.decide.scenario_export import export_order, report_bytes
from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import write_atomically
from phexplore.gui.binding.latest import Latest
from phexplore.gui.binding.shown import Shown
from phexplore.gui.binding.systems import System
from phexplore.model.issues import has_errors
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.config_file import write_config
from phexplore.systems.phsafe.exporters import SCENARIO_EXPORTERS
from phexplore.systems.topdown.scenario_document import FORMATS as TOPDOWN_FORMATS

if TYPE_CHECKING:
    from phexplore.gui.decision.errand_process import ErrandProcess


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """One line of the export menu.

    Attributes:
        id: as the command line takes it.
        suffix: of the file.
        title: for people.
        file_name: proposed name.
        systems: whose parameters it holds.
    """

    id: str
    suffix: str
    title: str
    file_name: str
    systems: frozenset[System] = frozenset({System.PHSAFE})


def _systems(name: str) -> frozenset[System]:
    found = {System.PHSAFE: SCENARIO_EXPORTERS, System.TOPDOWN: TOPDOWN_FORMATS}
    return frozenset(system for system, formats in found.items() if name in formats)


CONFIG = ExportFormat("phsafe-config", ".json", "Production config.json", "config.json")
INI = ExportFormat("das-ini", ".ini", "Production .ini files", "das.ini", frozenset({System.TOPDOWN}))
_SIZES, _RELEASES = frozenset({System.GROUP_SIZES}), frozenset({System.SUBSPACE})
_TABLE = {
    **{name: (suffix, title) for name, (suffix, title, _) in TOPDOWN_FORMATS.items()},
    **{exporter.id: (exporter.suffix, exporter.title) for exporter in SCENARIO_EXPORTERS.values()},
}
FORMATS = (
    CONFIG,
    INI,
    *(
        ExportFormat(name, suffix, title, f"parameters-{name}{suffix}", _systems(name))
        for name, (suffix, title) in _TABLE.items()
    ),
    ExportFormat("group-sizes-json", ".json", "Parameters, JSON", "group-sizes.json", _SIZES),
    ExportFormat("group-sizes-csv", ".csv", "Parameters and margins, CSV", "parameters-group-sizes.csv", _SIZES),
    ExportFormat("subspace-json", ".json", "Parameters, JSON", "subspace.json", _RELEASES),
    ExportFormat("subspace-csv", ".csv", "Parameters and margins, CSV", "parameters-subspace.csv", _RELEASES),
)
"""The JSON files are read back by the window and by every command."""


DRAWN = frozenset({"html", "pdf", "svg", "png", "charts-pdf"})
"""Formats with pictures."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to write and where."""

    form: ExportFormat
    shown: Shown
    path: Path
    now: datetime


def export_text(order: Order) -> bytes:
    """Return the content of the file.

    Raises:
        PhexploreError: the scenario has errors, or the format cannot hold it.
    """
    scenario = order.shown.scenario
    _require_sound(order.shown)
    if order.form is CONFIG:
        return write_config(scenario).encode()
    name = order.form.id.replace("group-sizes-csv", "csv").replace("subspace-csv", "csv")
    return report_bytes(scenario, _reference(order), name, order.now)


def _reference(order: Order) -> Scenario | None:
    reference = order.shown.reference
    return reference.scenario if reference is not None else None


class Exports(QObject):
    """Writes files beside the window: small ones in a thread, reports and pictures in a process.

    Drawing and typesetting in a thread would hold the interpreter for seconds.

    Signals:
        written: the `Path` of the file.
        failed: the exception.
    """

    written = Signal(object)
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = Latest(_write, self)
        self._work.finished.connect(self.written)
        self._work.failed.connect(self.failed)
        self._process: ErrandProcess | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a file is being written."""
        return self._work.is_busy or (self._process is not None and self._process.is_busy)

    def start(self, form: ExportFormat, shown: Shown, path: Path) -> None:
        """Write a file."""
        order = Order(form, shown, path, datetime.now(UTC))
        if form.id not in DRAWN:
            self._work.request(order)
            return
        try:
            _require_sound(shown)
        except PhexploreError as error:
            self.failed.emit(error)
            return
        self._beside.start(export_order(shown.scenario, _reference(order), form.id, path, order.now))

    def stop(self) -> None:
        """Finish or end what is being written, because the window closes; unfinished files are never put in place."""
        self._work.stop()
        if self._process is not None:
            self._process.stop()

    @property
    def _beside(self) -> ErrandProcess:
        if self._process is None:
            from phexplore.gui.decision.errand_process import ErrandProcess

            self._process = ErrandProcess(self)
            self._process.done.connect(lambda made: self.written.emit(made.path))
            self._process.failed.connect(self.failed)
        return self._process


def ini_files(order: Order) -> dict[Path, str]:
    """Return the files that production is started with, the chosen one first, the others beside it.

    Raises:
        PhexploreError: the scenario has errors, or production cannot hold it.
    """
    from phexplore.systems.topdown.ini_files import placed_files
    from phexplore.systems.topdown.ini_writing import write_ini

    _require_sound(order.shown)
    return placed_files(write_ini(order.shown.scenario, order.path.name), order.path, is_file=True)


def _require_sound(shown: Shown) -> None:
    if has_errors(list(shown.issues)):
        first = shown.issues[0]
        raise PhexploreError(f"The scenario cannot be handed over: {first.sentence}", first.remedy)


def _write(order: Order) -> Path:
    if order.form is INI:
        for path, content in ini_files(order).items():
            write_atomically(path, content.encode())
    else:
        write_atomically(order.path, export_text(order))
    return order.path
