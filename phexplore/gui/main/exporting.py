"""Writing files from the window: parameter file, tables, report, figures. The work is done beside the window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from phexplore.decide.scenario_export import Exported, export_order, write_scenario
from phexplore.errors import PhexploreError
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.tasks import Latest
from phexplore.model.approval import Decision
from phexplore.model.issues import has_errors
from phexplore.model.scenario import Scenario
from phexplore.report.export_formats import Occasion
from phexplore.systems.protocol import UnsupportedError
from phexplore.systems.registry import formats_of, system_of, systems

if TYPE_CHECKING:
    from phexplore.gui.decision.bundle_process import BundleProcess


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """One line of the export menu.

    Attributes:
        id: of the line.
        suffix: of the file.
        title: for people.
        file_name: proposed name.
        formats: what each system that offers it calls the format, by the system's id; as the command line takes it.
        is_report: whether it is a document with pictures.
    """

    id: str
    suffix: str
    title: str
    file_name: str
    formats: Mapping[str, str]
    is_report: bool = False


def export_formats() -> tuple[ExportFormat, ...]:
    """Return the lines of the menu: production's files of every system, then its other formats.

    Formats of several systems that propose the same file are one line.
    """
    found: dict[str, ExportFormat] = {}
    for system in systems().values():
        if (own := system.handover) is not None:
            found[own.format] = ExportFormat(
                own.format, Path(own.file_name).suffix, own.title, own.file_name, {system.id: own.format}
            )
    for system in systems().values():
        for form in formats_of(system).values():
            name = form.file_name or f"parameters-{form.id}{form.suffix}"
            key = form.id
            if key in found and found[key].file_name != name:
                key = f"{system.id}-{form.id}"
            before = found[key].formats if key in found else {}
            title = found[key].title if key in found else form.title
            found[key] = ExportFormat(key, form.suffix, title, name, {**before, system.id: form.id}, form.is_report)
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class Order:
    """What to write and where."""

    form: ExportFormat
    shown: ScenarioView
    path: Path
    now: datetime


def write_file(order: Order) -> Exported:
    """Write the file, and what goes beside it.

    Raises:
        PhexploreError: the scenario has errors, or the format cannot hold it.
    """
    name = _format(order.form, order.shown)
    return write_scenario(order.shown.scenario, _reference(order), name, order.path, order.now, Occasion())


def _reference(order: Order) -> Scenario | None:
    reference = order.shown.reference
    return reference.scenario if reference is not None else None


class Exports(QObject):
    """Writes files beside the window: small ones in a thread, reports and pictures in a process.

    Drawing and typesetting in a thread would hold the interpreter for seconds.

    Signals:
        written: what was `Exported`.
        failed: the exception.
        progressed: `Began` of every step of a report.
    """

    written = Signal(object)
    failed = Signal(object)
    progressed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = Latest(write_file, self)
        self._work.finished.connect(self.written)
        self._work.failed.connect(self.failed)
        self._process: BundleProcess | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a file is being written."""
        return self._work.is_busy or (self._process is not None and self._process.is_busy)

    def start(self, form: ExportFormat, shown: ScenarioView, path: Path, decisions: tuple[Decision, ...] = ()) -> None:
        """Write a file.

        Args:
            form: what is written.
            shown: the scenario.
            path: of the file.
            decisions: of the project; a report says those about these parameters.
        """
        order = Order(form, shown, path, datetime.now(UTC))
        if not form.is_report:
            self._work.request(order)
            return
        try:
            name = _format(form, shown)
        except PhexploreError as error:
            self.failed.emit(error)
            return
        self._beside.start(export_order(shown.scenario, _reference(order), name, path, order.now, decisions))

    def cancel(self) -> None:
        """Stop the report that is being written; nothing is put in its place."""
        if self._process is not None:
            self._process.cancel()

    def stop(self) -> None:
        """Finish or end what is being written, because the window closes; unfinished files are never put in place."""
        self._work.stop()
        if self._process is not None:
            self._process.stop()

    @property
    def _beside(self) -> BundleProcess:
        if self._process is None:
            from phexplore.gui.decision.bundle_process import BundleProcess

            self._process = BundleProcess(self)
            self._process.answered.connect(self.written)
            self._process.failed.connect(self.failed)
            self._process.progressed.connect(self.progressed)
        return self._process


def _format(form: ExportFormat, shown: ScenarioView) -> str:
    """Return what the system of a scenario calls a format; another one may be active since the file was asked for."""
    system = system_of(shown.scenario)
    if (name := form.formats.get(system.id)) is None:
        raise UnsupportedError(
            f"A scenario of {system.title} cannot be written as {form.title}.",
            "Choose a scenario of a system that has this format, or another format.",
        )
    if has_errors(list(shown.issues)):
        first = shown.issues[0]
        raise PhexploreError(f"The scenario cannot be handed over: {first.sentence}", first.remedy)
    return name
