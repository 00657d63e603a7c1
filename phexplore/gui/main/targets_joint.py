"""The page of targets, joined to the window: it says what was done, and leads to the runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QWidget

from phexplore.gui.binding.session import Session
from phexplore.gui.dialogs.messages import ask
from phexplore.gui.run_manager.run_desk import RunDesk
from phexplore.gui.targets.targets_page import TargetsPage


def make_targets_page(
    session: Session,
    desk: RunDesk,
    parent: QWidget,
    *,
    failed: Callable[[BaseException], object],
    noted: Callable[[str], object],
    runs_wanted: Callable[[], object],
) -> TargetsPage:
    """Return the page.

    Args:
        session: the project.
        desk: its runs; automatic searches are kept in a folder beside them.
        parent: owner.
        failed: says what went wrong.
        noted: says what was done.
        runs_wanted: goes to where runs are started.
    """

    def tuning_home() -> Path:
        return desk.root.with_name(f"{desk.root.name}-tuning")

    page = TargetsPage(session, parent, runs=desk, tuning_home=tuning_home)

    def ask_about_data(start: Callable[[], None], sentence: str) -> None:
        ask(
            parent,
            "Are these data confidential?",
            f"{sentence} What the search finds records that they are treated as confidential.",
            action="Search all the same",
            run=start,
            careful=True,
        )

    page.doubted.connect(ask_about_data)
    page.failed.connect(failed)
    page.noted.connect(noted)
    page.runs_wanted.connect(runs_wanted)
    return page
