"""The S-DHC in the window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtWidgets import QWidget

from phexplore.figures.tile import TileContent
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.change_texts import ChangeLine
from phexplore.gui.binding.inspection import Inspection
from phexplore.gui.binding.room import Action, Make
from phexplore.gui.binding.settings import PICTURE
from phexplore.gui.binding.tiles import DecisionPart
from phexplore.gui.systems.phsafe.inspection import query_of
from phexplore.gui.systems.phsafe.summary import change_lines, decision_part, phsafe_tiles, total_line
from phexplore.gui.systems.plain_room import Beside, PlainRoom
from phexplore.gui.theme.appearance import appearance
from phexplore.model.issues import Issue
from phexplore.model.keys import QueryKey

if TYPE_CHECKING:
    from phexplore.gui.systems.phsafe.budgets_page import BudgetsEditor, BudgetsPage
    from phexplore.gui.tables.commands import TableCommands


class PhSafeRoom(PlainRoom):
    """Budgets and margins of tables, thresholds, published levels."""

    hidden: ClassVar[frozenset[Area]] = frozenset({Area.SPINE, Area.EXPERIMENT})
    titles: ClassVar[Mapping[Area, str]] = MappingProxyType({})
    inspected: ClassVar[frozenset[Area]] = frozenset({Area.BUDGETS, Area.LEVELS})
    has_table: ClassVar[bool] = True
    libraries: ClassVar[tuple[str, ...]] = ("phexplore.systems.phsafe.results", "phexplore.systems.phsafe.snapshot")
    parts: ClassVar[tuple[str, ...]] = (
        "phexplore.gui.run_manager.launch_form",
        "phexplore.gui.systems.phsafe.budgets_page",
        "phexplore.gui.systems.phsafe.levels_page",
    )
    neighbours: ClassVar[str] = "Margins and privacy loss are stated, and budgets solved from now on, as they say."
    neighbours_are_chosen: ClassVar[bool] = True
    hint: ClassVar[str] = "Change a threshold, a budget or a margin: every difference is listed here as a sentence."
    promises_in_overview: ClassVar[bool] = False
    _page: BudgetsPage | None = None

    def makers(self) -> Mapping[Area, Make]:
        """Return the makers of its own pages."""

        def levels() -> QWidget:
            from phexplore.gui.systems.phsafe.levels_page import levels_page

            return levels_page(self.session)

        return {**super().makers(), Area.LEVELS: levels}

    def tiles(self) -> tuple[TileContent, ...]:
        """Return privacy loss, to a committee as one number, targets met, numbers published."""
        loss, *others = phsafe_tiles(self.session.shown)
        return loss if appearance().is_expert else replace(loss, beside=""), *others

    def columns(self) -> Sequence[tuple[int, Sequence[Beside]]]:
        """Return margins and changes, beside shares and the privacy curve."""
        from phexplore.gui.systems.phsafe.pictures import CURVE, MARGINS, SHARES

        return (1, ((MARGINS, 3), (None, 1))), (1, ((SHARES, 6), (CURVE, 5)))

    def inspect(self) -> Inspection:
        """Return what explains the selected query."""
        from phexplore.gui.systems.phsafe.inspection import inspect

        return inspect(self.session.shown, self.session.selection, self.session.project)

    def changes(self) -> tuple[ChangeLine, ...]:
        """Return every difference with what it does to people."""
        return change_lines(self.session.shown)

    def total_of_changes(self) -> str:
        """Return what all differences cost together."""
        return total_line(self.session.shown)

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

    def keys(self) -> Iterable[QueryKey]:
        """Return the queries."""
        return tuple(self.session.scenario.phsafe.budgets)

    def title_of(self, key: QueryKey) -> str:
        """Return the title of a query."""
        return key.title

    def questions(self) -> Mapping[str, Make]:
        """Return the truncation studio and the published averages."""

        def studio() -> QWidget:
            from phexplore.gui.systems.phsafe.truncation_view import StudioView

            return StudioView(self.around.session, self.around.runs())

        def published() -> QWidget:
            from phexplore.gui.systems.phsafe.published_view import PublishedView

            return PublishedView(self.around.session, self.around.runs())

        return {"Truncation studio": studio, "Published averages": published}

    def decision_part(self) -> DecisionPart:
        """Return loss, changes in people, and what became of the targets."""
        return decision_part(self.session.shown)

    def actions(self) -> list[tuple[str, Action]]:
        """Return search, sums, and what is shown with the table."""
        settings = self.around.settings

        def is_active() -> bool:
            return self.session.is_active

        def find() -> None:
            self.wanted.emit(Area.BUDGETS)
            self.budgets.search.setFocus()
            self.budgets.search.selectAll()

        def show_sum() -> None:
            from phexplore.gui.systems.phsafe.sum_dialog import SumDialog

            SumDialog(self.around.window, self.session).show()

        def turn_picture() -> None:
            settings.keep(PICTURE, not settings.read(PICTURE))
            self.make_parameters().make_room()

        def show_conventions() -> None:
            self.wanted.emit(Area.BUDGETS)
            self.budgets.side_by_side.toggle()

        def has_conventions() -> bool:
            return self._page is not None and self.budgets.side_by_side.isChecked()

        shows_picture, sides = partial(settings.read, PICTURE), "Margin &conventions side by side"
        actions = (
            Action("edit.find", "&Search the table", find, "Ctrl+F", is_active, symbol="search", starts_part=True),
            Action("edit.sum", "&Margin of a sum…", show_sum, "Ctrl+M", is_active, symbol="sum"),
            Action("view.picture", "&Picture beside the budget table", turn_picture, "", is_active, shows_picture),
            Action("view.conventions", sides, show_conventions, "", is_active, has_conventions),
        )
        return list(zip(("edit.fill-down", "edit.find", "view.issues", "view.picture"), actions, strict=True))

    def join_results(self, page: Any) -> None:
        """Look at the table and level that are chosen elsewhere."""

        def follow(key: object) -> None:
            if isinstance(key, QueryKey):
                page.choose({"table": str(key.table), "level": key.level.text}, ("cell",))

        self.around.session.selected.connect(follow)
        follow(self.session.selection)

    @property
    def table(self) -> TableCommands:
        """What copies from the budget table and pastes into it, made on first use."""
        return self.budgets.view.commands

    @property
    def budgets(self) -> BudgetsEditor:
        """The editor around the budget table, made on first use."""
        return self.make_parameters().editor

    def make_parameters(self) -> BudgetsPage:
        """Return the budget table with the picture of its margins, made on first use."""
        if self._page is None:
            from phexplore.gui.systems.phsafe.budgets_page import BudgetsPage
            from phexplore.gui.systems.phsafe.pictures import MARGINS

            self._page = BudgetsPage(self.session, self.live(MARGINS), self.around.settings)
        return self._page

    def make_form(self) -> QWidget:
        """Return the form of the scenario besides its parameters."""
        from phexplore.gui.systems.phsafe.scenario_editor import ScenarioEditor

        return ScenarioEditor(self.session)
