"""The pictures of a spine: its tree, distances, margins, fan-out, bypassed units and map, with their choosers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from phexplore.errors import PhexploreError
from phexplore.figures.stated_origin import with_origin
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.figures.view import FigureView
from phexplore.gui.run_manager.result_choosers import ResultChoosers
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.run_rows import RunRow, run_words
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import Paragraph
from phexplore.gui.widgets.layout import column, stacked
from phexplore.gui.widgets.page import picture_height
from phexplore.gui.widgets.stack import LazyTabs
from phexplore.model.provenance import UNMARKED, Provenance
from phexplore.model.topdown import TopDown
from phexplore.runs.spec import RunMode
from phexplore.spine.settings import SpineSettings, settings_of, spine_presets
from phexplore.systems.run_results import NAMES, Choice
from phexplore.systems.topdown.spine_choosers import FITTING, KINDS, NO_RUN, REFERENCE, spine_choosers
from phexplore.systems.topdown.spine_pictures import figure_of, map_picture
from phexplore.systems.topdown.spine_tree import ROOT, SpineTree, Unit, tree_figure
from phexplore.systems.topdown.spine_views import SpineAnswer, SpineMap, SpineRequest, SpineStyle, SpineTab, TreeContent
from phexplore.systems.topdown.wording import spine_preset_title

_TEACHING = "The picture appears here once the blocks are read."
_KEYS = "Arrows walk the tree, Enter fills the picture with a unit; Enter on the root shows all again."
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
        self.provenance = UNMARKED
        self.chosen, self.seen = ROOT, ROOT
        self.chart, self.sentence, self.path = _picture("Tree of the spine"), Paragraph(), NumbersTable()
        self.path.setAccessibleName("Budget along the path from the root over the chosen unit to a block")
        self.path.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.path.setMinimumHeight(10 * GRID)
        column((self.chart, 3), self.sentence, (self.path, 2), of=self, gap=HALF)
        self.chart.key_selected.connect(self.choose)
        self.chart.key_activated.connect(self.look_into)

    def show_tree(self, content: TreeContent, provenance: Provenance = UNMARKED) -> None:
        """Show another tree and the provenance of its blocks; what is seen and chosen stays where it still makes sense."""
        before, tree = self.tree, SpineTree(content)
        self.tree, self.provenance = tree, provenance
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
        figure = with_origin(tree_figure(tree, self.seen, unit), self.provenance)
        self.chart.show_figure(replace(figure, summary=f"{figure.summary} {_KEYS}"))
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


_FOR_EXPERTS = frozenset({SpineTab.FAN_OUT, SpineTab.BYPASSED})
"""How a spine is built, not what it does to an area."""


class SpinePictures(QWidget):
    """A tab per picture, the choosers it needs above it.

    Signals:
        wanted: another picture, or other numbers, are looked at.
        chosen: id of a choice a person made, and what was chosen.
        failed: a `PhexploreError` of a chart.

    Attributes:
        choices: what is looked at, by id of its chooser.
    """

    wanted = Signal()
    chosen = Signal(object, object)
    failed = Signal(object)

    def __init__(self, session: TopDownSession, runs: RunController, parent: QWidget | None = None) -> None:
        """Make the tabs.

        Args:
            session: with the scenario.
            runs: whose errors can be drawn.
            parent: owner.
        """
        super().__init__(parent)
        self._session, self._runs = session, runs
        self._blocks: Path | None = None
        self._drawn: Path | None = None
        self._answer: SpineAnswer | None = None
        self._outlines: tuple[str, tuple[tuple[Any, ...], ...]] = ("", ())
        self.choices: dict[str, Choice] = {}
        self.notes = Paragraph(look="muted")
        self.choosers = ResultChoosers(self)
        kinds: dict[SpineTab, Any] = {SpineTab.TREE: SpineTreeView}
        for tab, name in _NAMES.items():
            kinds[tab] = partial(_picture, name)
        self.tabs = LazyTabs(kinds, self, name="Pictures of the spine")
        column(self.tabs, of=self, margins=(GRID, 0, 0, 0))
        # Below the tabs, in sight: under the pictures they would lie below the fold.
        self.tabs.keep_under_tabs(stacked(self.choosers, self.notes, gap=HALF))
        self.tabs.currentChanged.connect(self._tab_chosen)
        self.tabs.made.connect(self._join_chart)
        self.tabs.offer_by_depth({tab: tab.value for tab in SpineTab if tab not in _FOR_EXPERTS})
        self.choosers.chosen.connect(self.choose)
        runs.changed.connect(self._follow_runs)
        runs.progressed.connect(self._on_progress)
        appearance().changed.connect(self._show_again)

    @property
    def tab(self) -> SpineTab:
        """The picture in front."""
        tab: SpineTab = self.tabs.tab
        return tab

    def choose(self, name: str, value: Choice, drops: tuple[str, ...] = ()) -> None:
        """Look at other numbers.

        Args:
            name: id of the choice.
            value: what is looked at.
            drops: choices that are open again.
        """
        self.choices = {key: each for key, each in self.choices.items() if key not in drops} | {name: value}
        self.chosen.emit(name, value)
        self.wanted.emit()

    def request(self, blocks: Path) -> SpineRequest:
        """Return what is asked about the picture in front.

        Args:
            blocks: the file.
        """
        shown, presets = self._session.shown, spine_presets()
        self._blocks = blocks
        self._drawn = self._run()
        values: dict[str, Any] = {
            key: KINDS.get(key, str)(value) for key, value in self.choices.items() if key not in {"other", "run", NAMES}
        }
        look = SpineStyle(self.tab, run=self._drawn, known_shapes=self._outlines[0], **values)
        other, reference = self.choices.get("other"), self._reference()
        if other == REFERENCE and reference is not None:
            title, settings = reference
        else:
            preset = presets.get(str(other), presets["standard"])
            title, settings = spine_preset_title(preset.id), preset.settings
            title = title if title.startswith("AIAN") else title[0].lower() + title[1:]
        return SpineRequest(blocks, shown.method, shown.scenario.conventions, settings, title, look)

    def show_answer(self, answer: SpineAnswer) -> None:
        """Draw what was asked for, if it is still in front."""
        look, content, provenance = answer.look, answer.content, answer.blocks.provenance
        if look.tab is not self.tab:
            return
        self._answer = answer
        self.choices |= {"name": look.name, "level": look.level, "query": look.query, "area": look.area}
        self._show_choosers()
        view = self.tabs[look.tab]
        if isinstance(content, TreeContent):
            view.show_tree(content, provenance)
        elif isinstance(content, SpineMap):
            if content.rings is not None:
                self._outlines = (content.shapes, content.rings)
            drawn = map_picture(content, self._outlines[1], answer.request.other_title)
            view.show_figure(with_origin(drawn, provenance))
            view.select_key(content.marked[0] if content.marked else None)
        else:
            _chart(view).show_figure(with_origin(figure_of(content, answer.request.other_title), provenance))
            if look.area:
                _chart(view).select_key(look.area)

    def _show_again(self, _colours: object = None) -> None:
        """Call areas by their names, or by codes."""
        if self._answer is not None:
            self.show_answer(self._answer)

    def _show_choosers(self) -> None:
        if self._answer is not None:
            reference, rows = self._reference(), _with_trials(self._runs)
            title, runs = "" if reference is None else reference[0], [row.directory for row in rows]
            offers = spine_choosers(self.tab, self._answer, self.choices, title, runs)
            self.choosers.show_offers(offers, {str(row.directory): run_words(row) for row in rows})

    def _tab_chosen(self, _index: int) -> None:
        self._show_choosers()
        self.wanted.emit()

    def fit(self) -> None:
        """Let pictures keep their part of the window; a small one scrolls."""
        for view in self.tabs.contents:
            _chart(view).setMinimumHeight(picture_height(self))

    def _join_chart(self, tab: SpineTab, view: SpineTreeView | FigureView) -> None:
        _chart(view).failed.connect(self.failed)
        self.fit()
        if tab is SpineTab.MARGINS:
            _chart(view).key_activated.connect(self._make_up)
        if tab is SpineTab.MAP:
            _chart(view).key_selected.connect(self._unit_on_map)

    def _make_up(self, area: object) -> None:
        """Show in the tree which units make up an area of the list."""
        self.choices["area"] = str(area)
        self.tabs.show_tab(SpineTab.TREE)

    def _unit_on_map(self, code: object) -> None:
        view: SpineTreeView = self.tabs[SpineTab.TREE]
        unit = None if view.tree is None else view.tree.find(str(self.choices["level"]), str(code))
        if unit is not None:
            view.choose(unit)

    # What is compared

    def _reference(self) -> tuple[str, SpineSettings] | None:
        reference = self._session.shown.reference
        if reference is None:
            return None
        try:
            return f"spine of {reference.title}", settings_of(reference.scenario.topdown.spine)
        except PhexploreError:
            return None

    def _run(self) -> Path | None:
        """Return the run whose errors lie over a prediction: the chosen one, or the newest of the same parameters and blocks."""
        chosen = str(self.choices.get("run", FITTING))
        if chosen != FITTING:
            return None if chosen == NO_RUN else Path(chosen)
        return next((row.directory for row in self._runs.rows if self._fits(row)), None)

    def _fits(self, row: RunRow) -> bool:
        if not row.trials or row.spec is None or row.spec.mode is not RunMode.PRIVATE:
            return False
        return row.spec.scenario.method == self._session.shown.method and row.spec.data.place == self._blocks

    def _follow_runs(self, _rows: object) -> None:
        self._show_choosers()
        if self._blocks is not None and self._run() != self._drawn:
            self.wanted.emit()

    def _on_progress(self, directory: Path) -> None:
        if self._blocks is not None and directory == self._drawn:
            self.wanted.emit()


def _picture(name: str, place: QWidget | None = None) -> FigureView:
    return FigureView(name, _TEACHING, place)


def _chart(view: SpineTreeView | FigureView) -> FigureView:
    return view.chart if isinstance(view, SpineTreeView) else view


def _with_trials(runs: RunController) -> list[RunRow]:
    return [row for row in runs.rows if row.trials and row.spec and isinstance(row.spec.scenario.method, TopDown)]
