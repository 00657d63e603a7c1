"""Releases under exact sums in the window."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtWidgets import QWidget

from phexplore.figures.tile import TileContent
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.inspection import Inspection
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.systems.plain_room import Beside, PlainRoom

if TYPE_CHECKING:
    from phexplore.figures.figure import Figure
    from phexplore.gui.systems.subspace.editor import SubspacePage


class SubspaceRoom(PlainRoom):
    """Releases, their mechanisms and exact sums."""

    hidden: ClassVar[frozenset[Area]] = frozenset({Area.LEVELS, Area.SPINE})
    for_experts: ClassVar[frozenset[Area]] = frozenset({Area.EXPERIMENT})
    neighbours: ClassVar[str] = (
        "Releases under exact sums are always stated for bounded neighbors: one record replaced."
    )
    page: SubspacePage | None = None

    def tiles(self) -> tuple[TileContent, ...]:
        """Return ε and δ, what is published exactly, and the expected error of an answer."""
        from phexplore.gui.systems.subspace.summary import subspace_tiles

        return subspace_tiles(self.session.shown)

    def columns(self) -> Sequence[tuple[int, Sequence[Beside]]]:
        """Return other mechanisms on the same budget and margins, beside promises and changes."""
        from phexplore.gui.editors.live_figure import Picture

        expected = "The expected error of every mechanism on this budget appears here."
        others = Picture(
            "alternatives",
            "Expected error by mechanism",
            expected,
            _alternatives,
            is_slow=True,
            needs_figures=True,
            is_expert=True,
        )
        margins = Picture(
            "margins", "Margins of the answers", "Margins of the answers appear here.", _margins, needs_figures=True
        )
        return (1, ((others, 1), (margins, 1))), (1, ((None, 1),))

    def keys(self) -> Iterable[str]:
        """Return the releases."""
        return tuple(self.session.scenario.subspace.releases)

    def inspect(self) -> Inspection:
        """Return what the inspector says."""
        from phexplore.gui.systems.subspace.summary import inspect

        return inspect(self.session.shown, self.session.selection)

    def make_parameters(self) -> QWidget:
        """Return the page of parameters."""
        from phexplore.gui.systems.subspace.editor import SubspacePage

        self.page = SubspacePage(self.session)
        return self.page


def _alternatives(shown: ScenarioView) -> Figure:
    from phexplore.systems.subspace.figures import expected_errors

    return expected_errors(shown.scenario.subspace)


def _margins(shown: ScenarioView) -> Figure:
    from phexplore.systems.subspace.figures import margins_figure

    return margins_figure(shown.figures, shown.scenario.conventions)
