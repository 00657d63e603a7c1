"""Group sizes in the window."""

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
    from phexplore.gui.systems.group_sizes.editor import GroupSizesPage


class GroupSizesRoom(PlainRoom):
    """Levels of regions and their shares."""

    hidden: ClassVar[frozenset[Area]] = frozenset({Area.LEVELS, Area.SPINE})
    for_experts: ClassVar[frozenset[Area]] = frozenset({Area.EXPERIMENT})
    neighbours: ClassVar[str] = "Group sizes are always stated for one individual more or less in a group."
    page: GroupSizesPage | None = None

    def tiles(self) -> tuple[TileContent, ...]:
        """Return budget, margin at the lowest level, and whether sums hold."""
        from phexplore.gui.systems.group_sizes.summary import size_tiles

        return size_tiles(self.session.shown)

    def columns(self) -> Sequence[tuple[int, Sequence[Beside]]]:
        """Return margins and noise beside shares and changes."""
        from phexplore.gui.editors.live_figure import Picture

        margins = Picture(
            "margins", "Margins by level", "Margins of error by level appear here.", _margins, needs_figures=True
        )
        noise = "The noise of every mechanism on this budget appears here."
        mechanisms = Picture("mechanisms", "Noise by mechanism", noise, _mechanisms, needs_figures=True, is_expert=True)
        divided = "How the privacy loss is divided among the levels appears here."
        shares = Picture("shares", "Privacy loss by level", divided, _shares)
        return (1, ((margins, 1), (mechanisms, 1))), (1, ((shares, 3), (None, 2)))

    def keys(self) -> Iterable[str]:
        """Return the levels."""
        return self.session.scenario.group_sizes.levels

    def show_place(self, key: str | None) -> None:
        """Go to the parameters, of one level if it is named."""
        super().show_place(key)
        if self.page is not None and key is not None:
            self.page.levels.reveal(key)

    def inspect(self) -> Inspection:
        """Return what the inspector says."""
        from phexplore.gui.systems.group_sizes.summary import inspect

        return inspect(self.session.shown, self.session.selection)

    def make_parameters(self) -> QWidget:
        """Return the page of parameters."""
        from phexplore.gui.systems.group_sizes.editor import GroupSizesPage

        self.page = GroupSizesPage(self.session)
        return self.page


def _margins(shown: ScenarioView) -> Figure:
    from phexplore.systems.group_sizes.figures import margins_figure

    return margins_figure(shown.scenario, shown.figures, None if shown.reference is None else shown.reference.figures)


def _mechanisms(shown: ScenarioView) -> Figure:
    from phexplore.systems.group_sizes.figures import mechanisms_figure

    return mechanisms_figure(shown.scenario)


def _shares(shown: ScenarioView) -> Figure:
    from phexplore.systems.group_sizes.figures import levels_figure

    reference = shown.reference
    return levels_figure(shown.scenario.group_sizes, None if reference is None else reference.scenario.group_sizes)
