"""Group sizes in the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtWidgets import QWidget

from phexplore.figures.tile import TileContent
from phexplore.gui.binding.actions import Offer
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.room import Make
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.editors.plain_panels import Explained
from phexplore.gui.editors.plain_room import PlainRoom
from phexplore.gui.systems.group_sizes.tiles import size_tiles

if TYPE_CHECKING:
    from phexplore.gui.experiments.page import ExperimentPage
    from phexplore.gui.systems.group_sizes.editor import GroupSizesPage


class GroupSizesRoom(PlainRoom):
    """Levels of regions and their shares."""

    hidden: ClassVar[frozenset[Area]] = frozenset({Area.LEVELS, Area.SPINE})
    launch_words: ClassVar[tuple[str, str, str]] = (
        "Start a run of group sizes",
        "Households of 2010, 3,107 counties",
        "households of counties, persons, or sizes; .csv",
    )
    neighbours: ClassVar[str] = "Group sizes are always stated for one individual more or less in a group."
    page: GroupSizesPage | None = None
    experiments: ExperimentPage | None = None

    def makers(self) -> Mapping[Area, Make]:
        """Return the makers of its own pages."""
        return {**super().makers(), Area.EXPERIMENT: self._make_experiments}

    def tiles(self) -> tuple[TileContent, ...]:
        """Return budget, margin at the lowest level, and whether sums hold."""
        return size_tiles(self.session.shown)

    def names(self) -> tuple[str, ...]:
        """Return the levels."""
        return self.session.scenario.group_sizes.levels

    def offers(self) -> list[Offer]:
        """Return a line for every level."""
        return [Offer(f"Go to {name}", "", partial(self.show_place, name)) for name in self.names()]

    def show_place(self, key: str | None) -> None:
        """Go to the parameters, of one level if it is named."""
        super().show_place(key)
        if self.page is not None and key is not None:
            self.page.levels.reveal(key)

    def explain(self) -> Callable[[ScenarioView, str | None], Explained]:
        """Return what the inspector says."""
        from phexplore.gui.systems.group_sizes.inspection import explain_sizes

        return explain_sizes

    def make_overview(self) -> QWidget:
        """Return the page of pictures and promises."""
        from phexplore.gui.systems.group_sizes.overview import GroupSizesOverview

        page = GroupSizesOverview(self.session)
        page.opened.connect(self.show_place)
        page.failed.connect(self.failed)
        return page

    def make_parameters(self) -> QWidget:
        """Return the page of parameters."""
        from phexplore.gui.systems.group_sizes.editor import GroupSizesPage

        self.page = GroupSizesPage(self.session)
        return self.page

    def stop(self) -> None:
        """End an experiment."""
        if self.experiments is not None:
            self.experiments.shut_down()

    def _make_experiments(self) -> QWidget:
        from phexplore.gui.experiments.page import ExperimentPage

        self.experiments = ExperimentPage(self.system.experiments(), self.around.experiments)
        self.experiments.failed.connect(self.failed)
        return self.experiments
