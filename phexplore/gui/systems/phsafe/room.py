"""The S-DHC in the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtWidgets import QWidget

from phexplore.figures.tile import TileContent
from phexplore.gui.binding.actions import Action, Offer
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.room import LivePicture, Make, Room
from phexplore.gui.binding.settings import PICTURE
from phexplore.gui.binding.tiles import DecisionPart
from phexplore.gui.systems.phsafe.decision_part import decision_part
from phexplore.gui.systems.phsafe.inspection import query_of
from phexplore.gui.systems.phsafe.tiles import phsafe_tiles
from phexplore.model.issues import Issue
from phexplore.model.keys import QueryKey

if TYPE_CHECKING:
    from phexplore.gui.systems.phsafe.budget_view import BudgetView
    from phexplore.gui.systems.phsafe.budgets_editor import BudgetsEditor
    from phexplore.gui.systems.phsafe.budgets_page import BudgetsPage
    from phexplore.gui.systems.phsafe.overview import ChartJoint


class PhSafeRoom(Room):
    """Budgets and margins of tables, thresholds, published levels."""

    hidden: ClassVar[frozenset[Area]] = frozenset({Area.SPINE, Area.EXPERIMENT})
    titles: ClassVar[Mapping[Area, str]] = MappingProxyType({})
    inspected: ClassVar[frozenset[Area]] = frozenset({Area.BUDGETS, Area.LEVELS})
    has_table: ClassVar[bool] = True
    libraries: ClassVar[tuple[str, ...]] = ("phexplore.systems.phsafe.results", "phexplore.systems.phsafe.snapshot")
    parts: ClassVar[tuple[str, ...]] = (
        "phexplore.gui.systems.phsafe.launch_form",
        "phexplore.gui.systems.phsafe.budgets_page",
        "phexplore.gui.systems.phsafe.levels_editor",
    )
    _page: BudgetsPage | None = None

    def makers(self) -> Mapping[Area, Make]:
        """Return the makers of its own pages."""
        return {
            Area.OVERVIEW: self._make_overview,
            Area.BUDGETS: self._make_budgets,
            Area.LEVELS: self._make_levels,
            Area.SCENARIO: self._make_scenario,
        }

    def tiles(self) -> tuple[TileContent, ...]:
        """Return privacy loss, targets met, numbers published."""
        return phsafe_tiles(self.session.shown)

    def make_inspector(self) -> QWidget:
        """Return what explains the selected query."""
        from phexplore.gui.systems.phsafe.inspector import Inspector

        return Inspector(self.session)

    def go_to_issue(self, issue: Issue) -> None:
        """Go to the query or the page an issue is about."""
        if (query := query_of(issue)) is not None:
            self.show_place(query)
            return
        area = {"thresholds": Area.LEVELS, "budgets": Area.BUDGETS}.get(issue.path[0] if issue.path else "")
        self.wanted.emit(area or Area.SCENARIO)

    def show_place(self, key: QueryKey) -> None:
        """Go to the row of a query."""
        self.wanted.emit(Area.BUDGETS)
        self.budgets.reveal(key)

    def offers(self) -> list[Offer]:
        """Return a line for every query."""
        budgets = self.session.scenario.phsafe.budgets
        return [Offer(f"Go to {query.title}", "", partial(self.show_place, query)) for query in budgets]

    def questions(self) -> Mapping[str, Make]:
        """Return the truncation studio and the published averages."""
        return {"Truncation studio": self._make_studio, "Published averages": self._make_published}

    def pictures(self) -> Mapping[str, Callable[[], LivePicture]]:
        """Return margins and shares."""
        from phexplore.gui.systems.phsafe.meeting_pictures import margins, shares

        return {
            "How wide is every margin?": lambda: margins(self.session),
            "Where does the privacy go?": lambda: shares(self.session),
        }

    def decision_part(self) -> DecisionPart:
        """Return loss, changes in people, and what became of the targets."""
        return decision_part(self.session.shown)

    def actions(self) -> list[tuple[str, Action]]:
        """Return search, sums, and what is shown with the table."""
        is_active, settings = lambda: self.session.is_active, self.around.settings
        return [
            (
                "edit.fill-down",
                Action(
                    "edit.find",
                    "&Search the table",
                    self._find,
                    "Ctrl+F",
                    is_active,
                    symbol="search",
                    starts_part=True,
                ),
            ),
            ("edit.find", Action("edit.sum", "&Margin of a sum…", self._show_sum, "Ctrl+M", is_active, symbol="sum")),
            (
                "view.issues",
                Action(
                    "view.picture",
                    "&Picture beside the budget table",
                    self._turn_picture,
                    enabled=is_active,
                    checked=lambda: settings.read(PICTURE),
                ),
            ),
            (
                "view.picture",
                Action(
                    "view.conventions",
                    "Margin &conventions side by side",
                    self._show_conventions,
                    enabled=is_active,
                    checked=lambda: self._page is not None and self._page.editor.side_by_side.isChecked(),
                ),
            ),
        ]

    def make_launch_form(self, parent: QWidget) -> Any:
        """Return the form that starts a run."""
        from phexplore.gui.systems.phsafe.launch_form import LaunchForm

        return LaunchForm(parent)

    def join_results(self, page: Any) -> None:
        """Look at the table and level that are chosen elsewhere."""

        def follow(key: object) -> None:
            if isinstance(key, QueryKey):
                page.choose({"table": str(key.table), "level": key.level.text}, ("cell",))

        self.around.session.selected.connect(follow)
        follow(self.session.selection)

    @property
    def table(self) -> BudgetView:
        """The budget table, made on first use."""
        return self.budgets.view

    @property
    def budgets(self) -> BudgetsEditor:
        """The editor around the budget table, made on first use."""
        return self._budgets_page().editor

    def _budgets_page(self) -> BudgetsPage:
        if self._page is None:
            from phexplore.gui.systems.phsafe.budgets_page import BudgetsPage

            self._page = BudgetsPage(self.session, self._joint(), self.around.settings)
        return self._page

    def _make_budgets(self) -> QWidget:
        return self._budgets_page()

    def _joint(self) -> ChartJoint:
        from phexplore.gui.systems.phsafe.overview import ChartJoint

        joint = ChartJoint(self.session, self)
        joint.opened.connect(self.show_place)
        joint.failed.connect(self.failed)
        return joint

    def _make_overview(self) -> QWidget:
        from phexplore.gui.systems.phsafe.overview import OverviewPage

        return OverviewPage(self.session, self._joint())

    def _make_levels(self) -> QWidget:
        from phexplore.gui.systems.phsafe.budgets_page import levels_page

        return levels_page(self.session)

    def _make_scenario(self) -> QWidget:
        from phexplore.gui.editors.scenario_page import scenario_page
        from phexplore.gui.systems.phsafe.scenario_editor import ScenarioEditor

        return scenario_page(
            self.session,
            lambda: ScenarioEditor(self.session),
            "Margins and privacy loss are stated, and budgets solved from now on, as they say.",
        )

    def _make_studio(self) -> QWidget:
        from phexplore.gui.systems.phsafe.truncation_view import StudioView

        return StudioView(self.around.session, self.around.runs())

    def _make_published(self) -> QWidget:
        from phexplore.gui.systems.phsafe.published_view import PublishedView

        return PublishedView(self.around.session, self.around.runs())

    def _find(self) -> None:
        self.wanted.emit(Area.BUDGETS)
        self.budgets.search.setFocus()
        self.budgets.search.selectAll()

    def _show_sum(self) -> None:
        from phexplore.gui.systems.phsafe.sum_dialog import SumDialog

        SumDialog(self.around.window, self.session).show()

    def _turn_picture(self) -> None:
        self.around.settings.keep(PICTURE, not self.around.settings.read(PICTURE))
        self._budgets_page().make_room()

    def _show_conventions(self) -> None:
        """Show or hide the three margin conventions side by side in the budget table."""
        self.wanted.emit(Area.BUDGETS)
        self.budgets.side_by_side.toggle()
