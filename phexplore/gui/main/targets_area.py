"""The page of targets, joined to the window: it says what was done, and leads to the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtWidgets import QWidget

from phexplore.gui.binding.room import Room
from phexplore.gui.binding.session import Session
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.targets.targets_page import TargetsPage


def make_targets_page(
    session: Session,
    rooms: Iterable[Room],
    desk: RunController,
    parent: QWidget,
    *,
    failed: Callable[[BaseException], object],
    noted: Callable[[str], object],
    runs_wanted: Callable[[], object],
) -> TargetsPage:
    """Return the page.

    Args:
        session: the project.
        rooms: of all systems.
        desk: its runs.
        parent: owner.
        failed: says what went wrong.
        noted: says what was done.
        runs_wanted: goes to where runs are started.
    """
    page = TargetsPage(session, parent, runs=desk, own={room.system.id: room.questions() for room in rooms})
    page.failed.connect(failed)
    page.noted.connect(noted)
    page.runs_wanted.connect(runs_wanted)
    return page
