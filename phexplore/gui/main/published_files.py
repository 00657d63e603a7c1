"""Published files that are opened in the window or dropped on it: said what they are, with what can be done with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from phexplore import entry
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.process_service import CommandProcess
from phexplore.gui.binding.project_data import ProjectData
from phexplore.gui.binding.room import Room
from phexplore.gui.binding.session import Session
from phexplore.gui.dialogs.messages import Message
from phexplore.gui.main.pages import Navigation, Pages
from phexplore.gui.main.shared_areas import SharedAreas
from phexplore.model.data_kinds import DataKind
from phexplore.model.workbook import add_scenario
from phexplore.systems.protocol import System
from phexplore.systems.registry import systems

_ERRORS, _CONFIDENCE = "published-errors", "confidence"
_SHAPES = {"tiger-shapes", "geopackage"}
_LONGEST = 4000


class PlacesOfFiles(Protocol):
    """What of the window takes files."""

    session: Session
    data: ProjectData
    navigation: Navigation
    areas: SharedAreas
    pages: Pages

    @property
    def room(self) -> Room:
        """What the window does for the system of the active scenario."""


class PublishedFiles(QObject):
    """Describes files beside the window and offers what can be done with them.

    Signals:
        failed: a `PhexploreError` of a file that cannot be read.
    """

    failed = Signal(object)

    def __init__(self, places: PlacesOfFiles, window: QWidget) -> None:
        """Look after what is opened.

        Args:
            places: of the window, where files can go.
            window: owner of the dialog.
        """
        super().__init__(window)
        self._places, self._window = places, window
        self._paths: tuple[Path, ...] = ()
        self.dialog: Message | None = None
        self.process = CommandProcess(self, work="The file that was opened before", niceness=0)
        self.process.done.connect(self._show)
        self.process.failed.connect(self.failed)

    def open(self, paths: Sequence[Path]) -> None:
        """Say what files are, beside the window."""
        if not self.process.is_busy:
            self._paths = tuple(paths)
        self.process.start([*entry.program_command(), "data", "describe", *map(str, paths), "--json"])

    def shut_down(self) -> None:
        """End what is running because the window closes."""
        self.process.shut_down()

    def _show(self, answer: str) -> None:
        found: Mapping[str, Any] = json.loads(answer)
        path = self._paths[0]
        details = json.dumps(
            {name: value for name, value in found.items() if name != "notes"}, indent=1, ensure_ascii=False
        )
        title = found.get("title", "A population of persons, units and geography")
        message = Message(self._window, f"{path.name}: {title}", _sentence(found), details=details[:_LONGEST])
        offers = self._offers(found, path)
        for number, (words, act) in enumerate(offers):
            message.add_button(words, act, is_main=not number)
        message.add_button("Close", is_main=not offers)
        self.dialog = message
        message.open()

    def _offers(self, found: Mapping[str, Any], path: Path) -> list[tuple[str, Callable[[], object]]]:
        """Return what can be done with a file, the likeliest first."""
        kind, offers = found["kind"], list[tuple[str, Callable[[], object]]]()
        if kind == "nhgis-demonstration":
            offers += self._experiments(_ERRORS, "Show published errors", path)
        if kind in {"amc-replicates", "gls-estimates"}:
            offers += self._experiments(_CONFIDENCE, "Compare with our simulation", path)
        if kind in _SHAPES:
            offers.append(("Use on maps", lambda: self._places.data.use_shapes(path)))
        takes = DataKind.POPULATION if kind == "population" else DataKind.BLOCKS
        is_measured = kind == "noisy-measurements"
        once = {"trials": 1} if is_measured else {}  # published noise was drawn once
        if kind == "population" or is_measured or isinstance(found.get("records"), int):
            offers += self._with_system(
                lambda system: system.parameters.data_kind is takes,
                "Estimate from these measurements" if is_measured else "Run on these data",
                lambda: self._places.areas.runs.run_on(path, **once),
            )
        return offers

    def _experiments(self, name: str, words: str, path: Path) -> list[tuple[str, Callable[[], object]]]:
        """Return the offer to make an experiment of a file, none where no system knows it."""
        return self._with_system(
            lambda system: name in {each.id for each in system.experiments()},
            words,
            lambda: self._experiment(name, path),
        )

    def _with_system(
        self, fits: Callable[[System], bool], words: str, act: Callable[[], object]
    ) -> list[tuple[str, Callable[[], object]]]:
        """Return an offer for the active scenario, or for a new one of the first system that fits, which then becomes the active one."""
        own, session = self._places.room.system, self._places.session
        if fits(own):
            return [(words, act)]
        other = next((system for system in systems().values() if fits(system)), None)
        if other is None:
            return []
        preset = next(iter(other.presets().values()))

        def add() -> None:
            label = f"Add {preset.title}"
            if session.report(session.edit_workbook(label, lambda book: add_scenario(book, preset.scenario))):
                act()

        return [(f"{words} ({other.title})", add)]

    def _experiment(self, name: str, file: Path) -> None:
        """Make an experiment of the active scenario's system from a file, and show it."""
        from phexplore.gui.experiments.page import ExperimentPage  # late: it loads numpy

        self._places.navigation.choose(Area.EXPERIMENT)
        page = self._places.pages.show_area(self._places.room.system.id, Area.EXPERIMENT)
        if isinstance(page, ExperimentPage):
            page.run_with(name, {"file": str(file)})


def _sentence(found: Mapping[str, Any]) -> str:
    """Return what is in a file, in words: areas by level, people, and what has to be known."""
    levels = found.get("areas_by_level") or {}
    parts = [", ".join(f"{count:,} {level.replace('_', ' ')}" for level, count in levels.items())]
    if "records" in found and isinstance(found["records"], int):
        parts.append(f"{found['records']:,} {found.get('record', 'person')}s")
    counted = "; ".join(part for part in parts if part)
    return "\n\n".join([*([f"{counted}."] if counted else []), *found.get("notes", ())])
