"""The pictures of a spine: its tree, distances, margins, fan-out, bypassed units and map, with their choosers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from phexplore.errors import PhexploreError
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.figures.view import FigureView
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_rows import RunRow, run_words
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.systems.topdown.spine_choices import FITTING, NO_RUN, SpineChoices
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import Paragraph
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.lazy_tabs import LazyTabs
from phexplore.model.topdown import TopDown
from phexplore.runs.spec import RunMode
from phexplore.spine.settings import settings_of
from phexplore.systems.topdown.spine_pictures import figure_of, map_picture
from phexplore.systems.topdown.spine_tree import ROOT, SpineTree, Unit, tree_figure
from phexplore.systems.topdown.spine_views import (
    SpineAnswer,
    SpineMap,
    SpineRequest,
    SpineStyle,
    SpineTab,
    TreeContent,
)

_TEACHING = "The picture appears here once the blocks are read."
_NAMES = {
    SpineTab.DISTANCE: "Off-spine distance",
    SpineTab.MARGINS: "Predicted margins of areas",
    SpineTab.LEVELS: "Predicted margins of levels",
    SpineTab.FAN_OUT: "Fan-out",
    SpineTab.BYPASSED: "Bypassed units",
    SpineTab.MAP: "Map of the spine",
}


class SpineTreeView(QWidget):
    """The tree with what is known of the chosen unit below it; Enter on a unit fills the picture with it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tree: SpineTree | None = None
        self.chosen, self.seen = ROOT, ROOT
        self.chart = FigureView("Tree of the spine", _TEACHING, self)
        # The picture takes the room that is left: a small window shows the table of the path, too.
        self.chart.canvas.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.chart.canvas.setMinimumHeight(25 * GRID)
        self.sentence = Paragraph()
        self.path = NumbersTable(self)
        self.path.setAccessibleName("Budget along the path from the root over the chosen unit to a block")
        self.path.setMinimumHeight(10 * GRID)
        self.path.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        column((self.chart, 3), self.sentence, (self.path, 2), of=self, gap=HALF)
        self.chart.key_selected.connect(self.choose)
        self.chart.key_activated.connect(self.look_into)

    def show_tree(self, content: TreeContent) -> None:
        """Show another tree; what is seen and chosen stays where it still makes sense."""
        before, tree = self.tree, SpineTree(content)
        self.tree = tree
        self.seen = _again(self.seen, before, tree) if before and before.blocks == tree.blocks else ROOT
        self.choose(_again(self.chosen, before, tree))

    def choose(self, unit: Unit) -> None:
        """Inspect a unit, and bring it into view."""
        tree = self.tree
        if tree is None:
            return
        self.chosen = unit
        first, last = tree.interval(unit)
        low, high = tree.interval(self.seen)
        if last <= low or first >= high:
            self.seen = tree.parent(unit) or ROOT
        self.chart.show_figure(tree_figure(tree, self.seen, unit))
        self.chart.select_key(unit)
        self.sentence.setText(tree.sentence(unit))
        self.path.set_numbers(tree.path_numbers(unit))

    def look_into(self, unit: Unit) -> None:
        """Let a unit fill the picture; of one without children, its parent."""
        if self.tree is not None:
            self.seen = unit if self.tree.children(unit) else self.tree.parent(unit) or ROOT
            self.choose(unit)


def _again(unit: Unit, before: SpineTree | None, tree: SpineTree) -> Unit:
    """Return a unit of the tree before in another one, the root where it is gone."""
    return ROOT if before is None else tree.find(before.levels[unit.level].name, before.code(unit)) or ROOT


class FittingRun(QObject):
    """The run whose errors lie over a prediction: the chosen one, or the newest of the same parameters and blocks.

    Signals:
        changed: another run is to be drawn, or it has more trials.
    """

    changed = Signal()

    def __init__(self, session: TopDownSession, runs: RunController, choices: SpineChoices, parent: QObject) -> None:
        """Follow the runs of the project.

        Args:
            session: with the parameters.
            runs: of the project.
            choices: of the page; the runs are offered there.
            parent: owner.
        """
        super().__init__(parent)
        self._session, self._runs, self._choices = session, runs, choices
        self._drawn: Path | None = None
        self.blocks: Path | None = None
        runs.changed.connect(self._offer)
        runs.progressed.connect(self._on_progress)
        self._offer(runs.rows)

    def directory(self) -> Path | None:
        """Return the directory of the run, None for none."""
        chosen = self._choices.run_choice
        if chosen == FITTING:
            chosen = next((row.directory for row in self._runs.rows if self._fits(row)), NO_RUN)
        self._drawn = chosen if isinstance(chosen, Path) else None
        return self._drawn

    def _fits(self, row: RunRow) -> bool:
        if not row.trials or row.spec is None or row.spec.mode is not RunMode.PRIVATE:
            return False
        return row.spec.scenario.method == self._session.shown.method and row.spec.data.path == str(self.blocks)

    def _offer(self, rows: Sequence[RunRow]) -> None:
        runs = [
            row for row in rows if row.trials and row.spec is not None and isinstance(row.spec.scenario.method, TopDown)
        ]
        self._choices.offer_runs([(run_words(row), row.directory) for row in runs])
        before = self._drawn
        if self._choices.run_choice == FITTING and self.blocks is not None and self.directory() != before:
            self.changed.emit()

    def _on_progress(self, directory: Path) -> None:
        if self.blocks is not None and directory == self.directory():
            self.changed.emit()


class SpinePictures(QWidget):
    """A tab per picture, the choosers it needs above it.

    Signals:
        wanted: another picture, or other numbers, are looked at.
        failed: a `PhexploreError` of a chart.
    """

    wanted = Signal()
    failed = Signal(object)

    def __init__(self, session: TopDownSession, runs: RunController, parent: QWidget | None = None) -> None:
        """Make the tabs.

        Args:
            session: with the scenario.
            runs: whose errors can be drawn.
            parent: owner.
        """
        super().__init__(parent)
        self._session = session
        self._outlines: tuple[str, tuple[tuple[Any, ...], ...]] = ("", ())
        self.reason, self.notes = Paragraph(look="muted"), Paragraph(look="muted")
        self.notes.hide()
        self.choices = SpineChoices(self)
        self.run = FittingRun(session, runs, self.choices, self)
        self.run.changed.connect(self.wanted)
        kinds: dict[SpineTab, Any] = {SpineTab.TREE: SpineTreeView}
        for tab, name in _NAMES.items():
            kinds[tab] = lambda place, name=name: FigureView(name, _TEACHING, place)
        self.tabs = LazyTabs(kinds, self, name="Pictures of the spine")
        self.tabs.currentChanged.connect(self._tab_chosen)
        self.tabs.made.connect(self._join_chart)
        self.choices.changed.connect(self.wanted)
        column(self.reason, self.notes, self.choices, (self.tabs, 1), of=self, margins=(GRID, 0, 0, 0))

    @property
    def tab(self) -> SpineTab:
        """The picture in front."""
        tab: SpineTab = self.tabs.tab
        return tab

    def request(self, blocks: Path) -> SpineRequest:
        """Return what is asked about the picture in front.

        Args:
            blocks: the file.
        """
        shown = self._session.shown
        reference = None
        if shown.reference is not None:
            try:
                reference = (f"spine of {shown.reference.title}", settings_of(shown.reference.scenario.topdown.spine))
            except PhexploreError:
                reference = None
        self.choices.offer_others(reference)
        title, other = self.choices.other_spine()
        self.run.blocks = blocks
        look: SpineStyle = replace(self.choices.look, run=self.run.directory(), known_shapes=self._outlines[0])
        return SpineRequest(blocks, shown.method, shown.scenario.conventions, other, title, look)

    def show_answer(self, answer: SpineAnswer) -> None:
        """Draw what was asked for, if it is still in front."""
        if answer.look.tab is not self.tab:
            return
        self.choices.settle(answer)
        chart, content = self.tabs[self.tab], answer.content
        if isinstance(content, TreeContent):
            chart.show_tree(content)
        elif isinstance(content, SpineMap):
            if content.rings is not None:
                self._outlines = (content.shapes, content.rings)
            chart.show_figure(map_picture(content, self._outlines[1]))
        else:
            frame = chart.chart if isinstance(chart, SpineTreeView) else chart
            frame.show_figure(figure_of(content, answer.request.other_title))

    def _tab_chosen(self, _index: int) -> None:
        self.choices.show_tab(self.tab)
        self.wanted.emit()

    def _join_chart(self, tab: SpineTab, chart: SpineTreeView | FigureView) -> None:
        frame = chart.chart if isinstance(chart, SpineTreeView) else chart
        frame.failed.connect(self.failed)
        if tab is SpineTab.MARGINS:
            frame.key_activated.connect(self._make_up)
        if tab is SpineTab.MAP:
            frame.key_selected.connect(self._unit_on_map)

    def _make_up(self, area: object) -> None:
        """Show in the tree which units make up an area of the list."""
        self.choices.make_up(str(area))
        self.tabs.show_tab(SpineTab.TREE)

    def _unit_on_map(self, code: object) -> None:
        view: SpineTreeView = self.tabs[SpineTab.TREE]
        unit = None if view.tree is None else view.tree.find(self.choices.look.level, str(code))
        if unit is not None:
            view.choose(unit)
