"""Four figures, read from six metres away."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QHBoxLayout, QWidget

from phexplore.figures.tile import TileContent, Tone
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.tiles import run_tile
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.tile import Tile

_LOOKS = {Tone.NEUTRAL: "muted", Tone.GOOD: "good", Tone.ATTENTION: "attention", Tone.REFUSED: "refused"}


class HeadlineBar(QWidget):
    """Three figures of the parameters, e.g. the privacy loss, and the last run: each with its change to the reference."""

    def __init__(self, session: Session, tiles: Callable[[], tuple[TileContent, ...]]) -> None:
        """Show the figures of a session.

        Args:
            session: tells when they may have changed.
            tiles: the three of the active scenario.
        """
        super().__init__()
        self._parameter_tiles = tiles
        self.setAccessibleName("Headline")
        self._run: TileContent | None = None
        self.tiles = tuple(Tile() for _ in range(4))
        row = QHBoxLayout(self)
        row.setContentsMargins(MARGIN, 0, MARGIN, GRID)
        row.setSpacing(GRID)
        for tile in self.tiles:
            row.addWidget(tile, 1)
        session.settled.connect(self._on_settled)
        self.refresh()

    def show_run(self, result: TileContent | None) -> None:
        """Show what the last run found."""
        self._run = result
        self.refresh()

    def _on_settled(self, _shown: ScenarioView) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Show the figures as they are now."""
        contents = (*self._parameter_tiles(), run_tile(self._run))
        for tile, content in zip(self.tiles, contents, strict=True):
            tile.show_figure(
                content.caption,
                content.value,
                beside=content.beside,
                change=content.change,
                look=_LOOKS[content.tone],
            )
