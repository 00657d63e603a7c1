"""Four figures, read from six metres away."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from phexplore.gui.binding.headline import TileContent, Tone, loss_tile, numbers_tile, run_tile, targets_tile
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.shown import Shown
from phexplore.gui.binding.topdown_headline import topdown_epsilon_tile, topdown_loss_tile, topdown_margin_tile
from phexplore.gui.binding.topdown_session import TopDownSession
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.tile import Tile

_LOOKS = {Tone.NEUTRAL: "muted", Tone.GOOD: "good", Tone.ATTENTION: "attention", Tone.REFUSED: "refused"}


class HeadlineBar(QWidget):
    """Privacy loss, targets, numbers published, last run: each with its change to the reference."""

    def __init__(self, session: Session, topdown: TopDownSession) -> None:
        super().__init__()
        self._topdown = topdown
        self.setAccessibleName("Headline")
        self._run: TileContent | None = None
        self.tiles = tuple(Tile() for _ in range(4))
        row = QHBoxLayout(self)
        row.setContentsMargins(MARGIN, 0, MARGIN, GRID)
        row.setSpacing(GRID)
        for tile in self.tiles:
            row.addWidget(tile, 1)
        self._session = session
        session.settled.connect(self._on_settled)
        self._refresh()

    def show_run(self, result: TileContent | None) -> None:
        """Show what the last run found."""
        self._run = result
        self._refresh()

    def _on_settled(self, _shown: Shown) -> None:
        self._refresh()

    def _refresh(self) -> None:
        contents = (*self._parameter_tiles(), run_tile(self._run))
        for tile, content in zip(self.tiles, contents, strict=True):
            tile.show_figure(
                content.caption,
                content.value,
                beside=content.beside,
                change=content.change,
                look=_LOOKS[content.tone],
            )

    def _parameter_tiles(self) -> tuple[TileContent, ...]:
        if self._topdown.is_active:
            mine = self._topdown.shown
            return topdown_loss_tile(mine), topdown_epsilon_tile(mine), topdown_margin_tile(mine)
        shown = self._session.shown
        return loss_tile(shown), targets_tile(shown), numbers_tile(shown)
