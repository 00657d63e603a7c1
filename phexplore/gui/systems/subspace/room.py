"""Releases under exact sums in the window."""

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
from phexplore.gui.systems.subspace.tiles import subspace_tiles

if TYPE_CHECKING:
    from phexplore.gui.experiments.page import ExperimentPage
    from phexplore.gui.systems.subspace.editor import SubspacePage
    from phexplore.gui.systems.subspace.overview import SubspaceOverview


class SubspaceRoom(PlainRoom):
    """Releases, their mechanisms and exact sums."""

    hidden: ClassVar[frozenset[Area]] = frozenset({Area.LEVELS, Area.SPINE})
    launch_words: ClassVar[tuple[str, str, str]] = (
        "Start a run under exact sums",
        "102 counties of Illinois",
        "a column per axis and count; .csv",
    )
    neighbours: ClassVar[str] = (
        "Releases under exact sums are always stated for bounded neighbours: one record replaced."
    )
    page: SubspacePage | None = None
    experiments: ExperimentPage | None = None
    overview: SubspaceOverview | None = None

    def makers(self) -> Mapping[Area, Make]:
        """Return the makers of its own pages."""
        return {**super().makers(), Area.EXPERIMENT: self._make_experiments}

    def tiles(self) -> tuple[TileContent, ...]:
        """Return ε and δ, what is published exactly, and the expected error of an answer."""
        return subspace_tiles(self.session.shown)

    def names(self) -> tuple[str, ...]:
        """Return the releases."""
        return tuple(self.session.scenario.subspace.releases)

    def offers(self) -> list[Offer]:
        """Return a line for every release."""
        return [Offer(f"Go to {name}", "", partial(self.show_place, name)) for name in self.names()]

    def explain(self) -> Callable[[ScenarioView, str | None], Explained]:
        """Return what the inspector says."""
        from phexplore.gui.systems.subspace.inspection import explain_releases

        return explain_releases

    def make_overview(self) -> QWidget:
        """Return the page of pictures and promises."""
        from phexplore.gui.systems.subspace.overview import SubspaceOverview

        self.overview = SubspaceOverview(self.session)
        self.overview.opened.connect(self.show_place)
        self.overview.failed.connect(self.failed)
        return self.overview

    def make_parameters(self) -> QWidget:
        """Return the page of parameters."""
        from phexplore.gui.systems.subspace.editor import SubspacePage

        self.page = SubspacePage(self.session)
        return self.page

    def stop(self) -> None:
        """End what is worked out for the overview, and an experiment."""
        if self.overview is not None:
            self.overview.stop()
        if self.experiments is not None:
            self.experiments.shut_down()

    def _make_experiments(self) -> QWidget:
        from phexplore.gui.experiments.page import ExperimentPage

        self.experiments = ExperimentPage(self.system.experiments(), self.around.experiments)
        self.experiments.failed.connect(self.failed)
        return self.experiments
