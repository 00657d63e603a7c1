"""TopDown in the window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtWidgets import QWidget

from phexplore.figures.tile import TileContent
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.change_texts import ChangeLine
from phexplore.gui.binding.inspection import Inspection
from phexplore.gui.binding.room import Make
from phexplore.gui.systems.plain_room import Beside, PlainRoom
from phexplore.gui.systems.topdown.session import Place, TopDownSession, topdown_session
from phexplore.model.issues import Issue

if TYPE_CHECKING:
    from phexplore.gui.systems.topdown.shares_editor import TopDownBudgetsEditor
    from phexplore.gui.systems.topdown.spine_page import SpinePage
    from phexplore.gui.tables.commands import TableCommands

_PROCESSING = frozenset({"passes", "constraints", "invariants"})


class TopDownRoom(PlainRoom):
    """Total and shares, passes and rules, the spine."""

    hidden: ClassVar[frozenset[Area]] = frozenset()
    titles: ClassVar[Mapping[Area, str]] = MappingProxyType(
        {Area.LEVELS: "Post-processing", Area.EXPERIMENT: "Published"}
    )
    has_table: ClassVar[bool] = True
    neighbours: ClassVar[str] = "TopDown is always stated for bounded neighbors: one record replaced."
    hint: ClassVar[str] = "Change a share, the total, a pass or a rule: every difference is listed here as a sentence."
    promises_in_overview: ClassVar[bool] = False
    _shares: TopDownBudgetsEditor | None = None
    spine: SpinePage | None = None

    def make_session(self) -> TopDownSession:
        """Return the session of its pages."""
        return topdown_session(self.around.session, self)

    def makers(self) -> Mapping[Area, Make]:
        """Return the makers of its own pages."""
        return {**super().makers(), Area.LEVELS: self._make_processing, Area.SPINE: self._make_spine}

    def tiles(self) -> tuple[TileContent, ...]:
        """Return total, ε, margin of a total."""
        from phexplore.gui.systems.topdown.summary import topdown_tiles

        return topdown_tiles(self.session.shown)

    def columns(self) -> Sequence[tuple[int, Sequence[Beside]]]:
        """Return measurements and changes, beside shares of the levels and what can be learned."""
        from phexplore.gui.systems.topdown.pictures import HEAT, LEVELS, SEMANTICS

        return (6, ((HEAT, 3), (None, 1))), (5, ((LEVELS, 11), (SEMANTICS, 10)))

    def inspect(self) -> Inspection:
        """Return what explains the selected place."""
        from phexplore.gui.systems.topdown.summary import inspect

        return inspect(self.session.shown, self.session.selection, self.session.project)

    def changes(self) -> tuple[ChangeLine, ...]:
        """Return every difference; a column of shares that moved together is one."""
        from phexplore.gui.systems.topdown.summary import change_lines

        return change_lines(self.session.shown)

    def go_to_issue(self, issue: Issue) -> None:
        """Go to the share or the page an issue is about."""
        from phexplore.gui.systems.topdown.summary import place_of

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

    def keys(self) -> Iterable[Place]:
        """Return every level, and every query measured at it."""
        method = self.session.shown.method
        for level in method.levels:
            yield level
            yield from (key for key in method.query_shares if key.level == level)

    def title_of(self, key: Place) -> str:
        """Return the title of a share."""
        from phexplore.systems.topdown.wording import place_title

        return place_title(key)

    def questions(self) -> Mapping[str, Make]:
        """Return the automatic search."""
        return {"Auto-tune": self._make_tuning}

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
    def table(self) -> TableCommands:
        """What copies from the table of shares and pastes into it, made on first use."""
        return self.shares.view.commands

    @property
    def shares(self) -> TopDownBudgetsEditor:
        """The editor of total and shares, made on first use."""
        if self._shares is None:
            from phexplore.gui.systems.topdown.shares_editor import TopDownBudgetsEditor

            self._shares = TopDownBudgetsEditor(self.session)
        return self._shares

    def make_parameters(self) -> QWidget:
        """Return the table of shares."""
        return self.shares

    def make_form(self) -> QWidget:
        """Return the form of the scenario besides its parameters."""
        from phexplore.gui.systems.topdown.scenario_editor import TopDownScenarioEditor

        return TopDownScenarioEditor(self.session)

    def _make_tuning(self) -> QWidget:
        from phexplore.gui.dialogs.messages import ask
        from phexplore.gui.systems.topdown.tune_view import TuneView

        def home() -> Path:
            """Return the folder of searches, beside the runs of the project."""
            root: Path = self.around.runs().homes.root
            return root.with_name(f"{root.name}-tuning")

        view = TuneView(self.around.session, home)

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

    def _make_processing(self) -> QWidget:
        from phexplore.gui.systems.topdown.processing_page import processing_page

        return processing_page(self.session)

    def _make_spine(self) -> QWidget:
        from phexplore.gui.systems.topdown.spine_page import SpinePage

        self.spine = SpinePage(self.session, self.around.data, self.around.runs())
        self.spine.failed.connect(self.failed)
        self.stopping.append(self.spine.stop)
        return self.spine
