"""Pictures of every view, light and dark: for the README, and for a machine without a screen.

The window is driven as a user would: edit, run, look at each area. No nested event loops: a generator says how long to
wait before its next step, and a timer advances it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from decision_pictures import DecisionTour, Save
from mechanism_screenshots import mechanism_tour
from PySide6.QtCore import QObject, QSize, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from topdown_screenshots import BlockFiles, topdown_results_tour

from phexplore.catalog.names import Naming, chosen_naming
from phexplore.decide.solving import Basis
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.process_service import CommandProcess
from phexplore.gui.binding.request_service import RequestService
from phexplore.gui.binding.settings import Settings
from phexplore.gui.binding.tasks import Latest, Tasks
from phexplore.gui.main.display import display_problem
from phexplore.gui.main.project_files import DEMONSTRATION, project_of
from phexplore.gui.main.window import DEFAULT_SIZE, MainWindow
from phexplore.gui.systems.phsafe.published_view import PublishedView
from phexplore.gui.systems.topdown.spine_page import SpinePage
from phexplore.gui.targets.solve_view import SolveView
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.gui.theme.depth import Depth
from phexplore.model.goals import Cap, CapOn, Goals, Key
from phexplore.model.keys import TableId, parse_query
from phexplore.model.rules import REDISTRICTING, Bound, Measure, Rule
from phexplore.model.topdown import LevelQuery
from phexplore.model.workbook import Workbook, activate, add_scenario, compare_with, set_goals, set_rules
from phexplore.resources import resource
from phexplore.runs.spec import DEMONSTRATION_BLOCKS
from phexplore.systems.phsafe.budget_edits import edit_margin, edit_threshold
from phexplore.systems.registry import preset
from phexplore.systems.topdown.edits import set_level_share
from phexplore.systems.topdown.spine_views import SpineTab

REAL_BLOCKS = resource("synthetic").parents[2] / "shared" / "data" / "blocks"
"""Real blocks beside a checkout; a picture of them says more than one of invented blocks."""
_REAL_FILES = REAL_BLOCKS / "pl94_ri_2010_blocks.csv.gz", REAL_BLOCKS / "providence_ri_2010_blocks.geojson.gz"
_TOPDOWN = "pl94-2020-persons-us"
LAPTOP = QSize(1280, 800)
"""The smallest screen: of the journey."""
THEMES = (ThemeChoice.LIGHT, ThemeChoice.DARK)
_SETTLE_MS = 150
"""Time for a page to be made, drawn and laid out."""
_FILES_OF_TABS = {
    "Solve from targets": "solve",
    "Trade-off": "trade",
    "Decision rules": "rules",
    "Truncation studio": "studio",
    "Published averages": "published",
    "Auto-tune": "tune",
    "Vary": "vary",
}
"""What the pictures of the questions about targets are called."""
_POLL_MS = 100
_LONGEST_RUN_MS = 180_000


def take_screenshots(
    directory: Path,
    *,
    size: QSize = DEFAULT_SIZE,
    themes: Sequence[ThemeChoice] = THEMES,
    with_run: bool = True,
    files: BlockFiles | None = None,
    journey: bool = False,
) -> list[Path]:
    """Drive the window through its views and save a picture of each.

    Args:
        directory: for the pictures, made if it is not there.
        size: of the window.
        themes: to draw in.
        with_run: simulate runs of the demonstration data first, so that runs and results have something to show.
        files: block data of the TopDown runs; real blocks where they are beside the program, else the demonstration.
        journey: only the way of a committee, in its own depth: from three proposals to a signed bundle, step by step.

    Returns:
        The pictures, named ``overview-light.png`` and so on.

    Raises:
        RuntimeError: a step failed, and no later picture was taken.
    """
    if not QApplication.instance() and display_problem(os.environ):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    application = QApplication.instance() or QApplication(sys.argv[:1])
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(Path(folder) / "settings.json")
        window = MainWindow(project_of(preset(DEMONSTRATION)), settings, Path(folder) / "runs")
        window.resize(size)
        window.show()
        naming = chosen_naming()
        appearance().call_things(Naming.NAMES)
        depth = appearance().depth
        appearance().show_depth(Depth.COMMITTEE if journey else Depth.EXPERT)
        tour = Tour(window, directory, themes, (files or _real_files()) if with_run else None, journey=journey)
        tour.start()
        stopped = application.exec() != 0
        appearance().call_things(naming)
        appearance().show_depth(depth)
        window.leave_without_asking()
        window.deleteLater()
    if stopped:
        raise RuntimeError(f"the tour stopped after {len(tour.pictures)} pictures, for the reason above")
    return tour.pictures


class Tour(QObject):
    """Goes through the window step by step and ends the application at the last one.

    Attributes:
        pictures: saved so far.
    """

    def __init__(
        self,
        window: MainWindow,
        directory: Path,
        themes: Sequence[ThemeChoice],
        files: BlockFiles | None,
        *,
        journey: bool = False,
    ) -> None:
        super().__init__(window)
        self.pictures: list[Path] = []
        self._window, self._directory, self._themes = window, directory, themes
        self._files = files
        self._steps = (
            self._decision_tour(along=self._save_widget) if journey else self._tour(with_run=files is not None)
        )

    def start(self) -> None:
        """Take the first step."""
        QTimer.singleShot(_SETTLE_MS, self, self._advance)

    def _advance(self) -> None:
        try:
            wait = next(self._steps, None)
        except BaseException:
            QApplication.exit(1)  # else the window waits for ever for a step that does not come
            raise
        if wait is None:
            QApplication.exit(0)  # quit() would ask to save the proposal first
        else:
            QTimer.singleShot(wait, self, self._advance)

    def _tour(self, *, with_run: bool) -> Iterator[int]:
        window = self._window
        _propose(window)
        if with_run:
            yield from self._run()
        for theme in self._themes:
            appearance().choose(theme)
            for area in window.navigation.offered:
                window.navigation.choose(area)
                yield _SETTLE_MS
                yield from self._answered()
                window.inspector.refresh_now()
                self._save(f"{area.name.lower()}-{theme.value}")
                if area is Area.TARGETS:
                    yield from self._targets_tour("", theme)
        yield from self._topdown_tour()
        yield from mechanism_tour(window, self._themes, self._save, with_run=with_run)
        yield from self._decision_tour()  # saves the project, and its runs move along: nothing comes after it
        yield _SETTLE_MS

    def _decision_tour(self, along: Save | None = None) -> Iterator[int]:
        """Let three members' proposals become a signed bundle.

        Args:
            along: takes a picture of every step.
        """
        appearance().choose(self._themes[0])
        session = self._window.session
        first = session.project.workbook.names[0]
        session.edit_workbook(f"Work on {first}", lambda book: activate(book, first))
        with tempfile.TemporaryDirectory() as folder:
            tour = DecisionTour(self._window, Path(folder), self._themes, self._save_widget, along=along)
            yield from tour.steps()

    def _topdown_tour(self) -> Iterator[int]:
        """Look at the pages that TopDown has of its own, with a small proposal."""
        window = self._window
        chosen = preset(_TOPDOWN).scenario
        window.session.edit_workbook("Add TopDown", lambda book: add_scenario(book, chosen))
        window.session.edit_workbook("Compare TopDown", lambda book: compare_with(book, _TOPDOWN))
        window.session.edit("Set County to 20 %", lambda s: set_level_share(s, "County", Fraction(1, 5)))
        window.rooms["topdown"].session.select(LevelQuery("County", "total"))
        for theme in self._themes:
            appearance().choose(theme)
            for area in (*window.room.makers(), Area.RUNS):
                window.navigation.choose(area)
                yield 2 * _SETTLE_MS
                if window.rooms["topdown"].inspector is not None:
                    window.rooms["topdown"].inspector.refresh_now()
                if area is Area.SPINE:
                    yield from self._spine_tour(theme)
                self._save(f"topdown-{area.name.lower()}-{theme.value}")
            yield from self._targets_tour("topdown-", theme)
        if self._files is not None:
            yield from topdown_results_tour(window, self._files, self._themes, self._save)

    def _targets_tour(self, prefix: str, theme: ThemeChoice) -> Iterator[int]:
        """Look at every question about targets: solved under a cap that is too tight, judged by a rule, and so on."""
        window = self._window
        window.navigation.choose(Area.TARGETS)
        page = window.areas.targets
        if not window.session.project.workbook.rules:
            window.session.edit_workbook("Ask", _with_agenda)
        for tab in page.offered:
            view = page.show_tab(tab)
            if isinstance(view, SolveView):
                view.basis.select(Basis.SPINE_2020)
                view.solve()
            yield from self._answered()
            if isinstance(view, PublishedView) and view.release is None:
                view.publish()
                yield from self._answered()
            self._save(f"{prefix}targets-{_FILES_OF_TABS[tab]}-{theme.value}")

    def _spine_tour(self, theme: ThemeChoice) -> Iterator[int]:
        """Target places over real blocks where they are beside the program, else over the demonstration's."""
        page = self._window.pages.currentWidget()
        if not isinstance(page, SpinePage):
            raise TypeError("the page of the spine is not in front")
        blocks, shapes = _REAL_FILES
        if page.path is None:
            page.open(blocks if blocks.exists() else resource(DEMONSTRATION_BLOCKS))
            page.editor.targets["place"].click()
            if shapes.exists():
                page.pictures.choose("shapes", str(shapes))
        tabs = [SpineTab.DISTANCE, SpineTab.MARGINS, SpineTab.BYPASSED, *([SpineTab.MAP] if shapes.exists() else [])]
        for tab in (*tabs, SpineTab.TREE):
            page.pictures.tabs.show_tab(tab)
            waited = 0
            while waited < _LONGEST_RUN_MS and (
                page.service.is_busy or page.answer is None or page.answer.look.tab is not tab
            ):
                yield _POLL_MS
                waited += _POLL_MS
            yield _SETTLE_MS
            if tab is not SpineTab.TREE:
                self._save(f"spine-{tab.name.lower()}-{theme.value}")

    def _run(self) -> Iterator[int]:
        """Simulate the proposal on the demonstration data and wait for the end."""
        window = self._window
        window.navigation.choose(Area.RUNS)
        window.areas.runs.page.start_run()
        waited = 0
        while waited < _LONGEST_RUN_MS and not any(row.state.is_final for row in window.areas.runs.controller.rows):
            yield _POLL_MS
            waited += _POLL_MS
        yield 4 * _SETTLE_MS

    def _answered(self) -> Iterator[int]:
        """Wait until nothing beside the window is at work: what is drawn then is the answer, however busy the machine is."""
        yield 2 * _SETTLE_MS
        waited = 0
        while waited < _LONGEST_RUN_MS and any(
            each.is_busy
            for kind in (Tasks, Latest, RequestService, CommandProcess)
            for each in self._window.findChildren(kind)
        ):
            yield _POLL_MS
            waited += _POLL_MS
        yield 2 * _SETTLE_MS

    def _save(self, name: str) -> None:
        self._window.notice.hide()  # it lies over the page until it is read
        self._save_widget(name, self._window)

    def _save_widget(self, name: str, widget: QWidget) -> None:
        path = self._directory / f"{name}.png"
        widget.grab().save(str(path))
        self.pictures.append(path)


def _real_files() -> BlockFiles:
    blocks, shapes = _REAL_FILES
    return BlockFiles(str(blocks), str(shapes) if shapes.exists() else "") if blocks.exists() else BlockFiles()


def _with_agenda(book: Workbook) -> Workbook:
    """Return the workbook with a cap below what the targets need, and two rules."""
    cap = Cap(CapOn.BOUNDED, Fraction(11, 5))
    margins: dict[Key, Fraction] = {
        LevelQuery("County", "total"): Fraction(3), LevelQuery("Tract", "total"): Fraction(3),
        LevelQuery("Block_Group", "total"): Fraction(2), LevelQuery("Block", "detailed"): Fraction(8),
    }  # fmt: skip
    asked = set_goals(set_goals(book, "phsafe", Goals(caps=(cap,))), "topdown", Goals(margins=margins))
    return set_rules(asked, (REDISTRICTING, Rule(Measure.MARGIN, Bound.AT_MOST, Fraction(68), "state_A-G")))


def _propose(window: MainWindow) -> None:
    """Make the edits of a small proposal, so that every area has something to say."""
    session = window.session
    query = parse_query("PH3/state_A-G")
    session.edit(f"Set the margin of {query.title} to 25 people", lambda s: edit_margin(s, query, Fraction(25)))
    session.edit("Set τ of PH4 to 12", lambda s: edit_threshold(s, TableId("PH4"), 12))
    session.select(query)


if __name__ == "__main__":
    if "--journey" in sys.argv:
        taken = take_screenshots(Path(sys.argv[1]), size=LAPTOP, themes=(ThemeChoice.LIGHT,), journey=True)
    else:
        taken = take_screenshots(Path(sys.argv[1]), with_run="--without-run" not in sys.argv)
    for picture in taken:
        print(picture)
