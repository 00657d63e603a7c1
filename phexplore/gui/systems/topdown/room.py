"""TopDown in the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtWidgets import QWidget

from phexplore.figures.tile import TileContent
from phexplore.gui.binding.actions import Offer
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.room import LivePicture, Make, Room
from phexplore.gui.binding.tiles import DecisionPart
from phexplore.gui.systems.topdown.changes import change_lines
from phexplore.gui.systems.topdown.inspection import place_of
from phexplore.gui.systems.topdown.session import Place, TopDownSession, topdown_session
from phexplore.gui.systems.topdown.tiles import topdown_loss_tile, topdown_tiles
from phexplore.gui.theme.metrics import GRID
from phexplore.model.issues import Issue
from phexplore.systems.topdown.wording import place_title

if TYPE_CHECKING:
    from phexplore.gui.systems.topdown.share_view import ShareView
    from phexplore.gui.systems.topdown.shares_editor import TopDownBudgetsEditor
    from phexplore.gui.systems.topdown.spine_page import SpinePage

_NEIGHBOURS = "TopDown is always stated for bounded neighbours: one record replaced."
_PROCESSING = frozenset({"passes", "constraints", "invariants"})


class TopDownRoom(Room):
    """Total and shares, passes and rules, the spine."""

    hidden: ClassVar[frozenset[Area]] = frozenset({Area.EXPERIMENT})
    titles: ClassVar[Mapping[Area, str]] = MappingProxyType({Area.LEVELS: "Post-processing"})
    has_table: ClassVar[bool] = True
    _shares: TopDownBudgetsEditor | None = None
    spine: SpinePage | None = None

    def make_session(self) -> TopDownSession:
        """Return the session of its pages."""
        return topdown_session(self.around.session, self)

    def makers(self) -> Mapping[Area, Make]:
        """Return the makers of its own pages."""
        return {
            Area.OVERVIEW: self._make_overview,
            Area.BUDGETS: lambda: self.shares,
            Area.LEVELS: self._make_processing,
            Area.SPINE: self._make_spine,
            Area.SCENARIO: self._make_scenario,
        }

    def tiles(self) -> tuple[TileContent, ...]:
        """Return total, ε, margin of a total."""
        return topdown_tiles(self.session.shown)

    def make_inspector(self) -> QWidget:
        """Return what explains the selected place."""
        from phexplore.gui.systems.topdown.inspector import TopDownInspector

        found = TopDownInspector(self.session)
        found.setMinimumWidth(32 * GRID)
        return found

    def go_to_issue(self, issue: Issue) -> None:
        """Go to the share or the page an issue is about."""
        kind = issue.path[0] if issue.path else ""
        if kind in {"levels", "queries"}:
            self.show_place(place_of(issue, self.session.shown.method))
        else:
            areas = dict.fromkeys(_PROCESSING, Area.LEVELS) | {"spine": Area.SPINE}
            self.wanted.emit(areas.get(kind, Area.SCENARIO))

    def show_place(self, key: Place) -> None:
        """Go to a share."""
        self.wanted.emit(Area.BUDGETS)
        self.shares.reveal(key)

    def offers(self) -> list[Offer]:
        """Return a line for every level, and for every query measured at it."""
        method = self.session.shown.method
        places: list[Place] = []
        for level in method.levels:
            places += [level, *(key for key in method.query_shares if key.level == level)]
        return [Offer(f"Go to {place_title(place)}", "", partial(self.show_place, place)) for place in places]

    def questions(self) -> Mapping[str, Make]:
        """Return the automatic search."""
        return {"Auto-tune": self._make_tuning}

    def pictures(self) -> Mapping[str, Callable[[], LivePicture]]:
        """Return loss, margins, and what can be learned."""
        from phexplore.gui.systems.topdown.meeting_pictures import heat, levels, semantics

        return {
            "Loss by level": lambda: levels(self.session),
            "Margins by level and query": lambda: heat(self.session),
            "What can be learned about one person": lambda: semantics(self.session),
        }

    def decision_part(self) -> DecisionPart:
        """Return the loss, and changes with their margins."""
        shown = self.session.shown
        lines = () if shown.reference is None else change_lines(shown)
        return DecisionPart(topdown_loss_tile(shown), tuple(line.text for line in lines))

    def make_launch_form(self, parent: QWidget) -> Any:
        """Return the form that starts a run."""
        from phexplore.gui.systems.topdown.launch_form import TopDownLaunchForm

        return TopDownLaunchForm(parent)

    def join_results(self, page: Any) -> None:
        """Draw the map of results with the shapes of the project."""
        data = self.around.data

        def use_shapes() -> None:
            page.choose({"shapes": "" if data.shapes is None else str(data.shapes)})

        def keep_shapes(name: str, value: str) -> None:
            if name == "shapes" and value:
                data.use_shapes(Path(value))

        data.changed.connect(use_shapes)
        page.chosen.connect(keep_shapes)
        use_shapes()

    @property
    def table(self) -> ShareView:
        """The table of shares, made on first use."""
        return self.shares.view

    @property
    def shares(self) -> TopDownBudgetsEditor:
        """The editor of total and shares, made on first use."""
        if self._shares is None:
            from phexplore.gui.systems.topdown.shares_editor import TopDownBudgetsEditor

            self._shares = TopDownBudgetsEditor(self.session)
        return self._shares

    def stop(self) -> None:
        """End what works beside the window."""
        if self.spine is not None:
            self.spine.stop()

    def _make_tuning(self) -> QWidget:
        from phexplore.gui.dialogs.messages import ask
        from phexplore.gui.systems.topdown.tune_view import TuneView

        view = TuneView(self.around.session, self._tuning_home)

        def ask_about_data(sentence: str) -> None:
            ask(
                self.around.window,
                "Are these data confidential?",
                f"{sentence} What the search finds records that they are treated as confidential.",
                action="Search all the same",
                run=view.start_all_the_same,
                careful=True,
            )

        view.doubted.connect(ask_about_data)
        return view

    def _tuning_home(self) -> Path:
        """Return the folder of searches, beside the runs of the project."""
        root: Path = self.around.runs().root
        return root.with_name(f"{root.name}-tuning")

    def _make_overview(self) -> QWidget:
        from phexplore.gui.systems.topdown.pages import TopDownOverviewPage

        page = TopDownOverviewPage(self.session)
        page.opened.connect(self.show_place)
        page.processing_wanted.connect(partial(self.wanted.emit, Area.LEVELS))
        page.spine_wanted.connect(partial(self.wanted.emit, Area.SPINE))
        page.failed.connect(self.failed)
        return page

    def _make_processing(self) -> QWidget:
        from phexplore.gui.systems.topdown.pages import processing_page

        return processing_page(self.session)

    def _make_spine(self) -> QWidget:
        from phexplore.gui.systems.topdown.spine_page import SpinePage

        self.spine = SpinePage(self.session, self.around.data, self.around.runs())
        self.spine.failed.connect(self.failed)
        return self.spine

    def _make_scenario(self) -> QWidget:
        from phexplore.gui.editors.scenario_page import scenario_page
        from phexplore.gui.systems.topdown.scenario_editor import TopDownScenarioEditor

        return scenario_page(self.session, lambda: TopDownScenarioEditor(self.session), _NEIGHBOURS)
