"""The runs a decision rests on: a list to tick; what cannot be cited says why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from phexplore.gui.decision.approval_state import RunOffer
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import Text

_MOST_LINES = 5


class RunCitations(QWidget):
    """Ticks stay where they were while the list is renewed.

    Signals:
        changed: a tick was set or taken away.
    """

    changed = Signal()

    def __init__(self, name: str) -> None:
        """Make the list.

        Args:
            name: for people who do not see its label.
        """
        super().__init__()
        self._offers: tuple[RunOffer, ...] | None = None
        self.list = QListWidget()
        self.list.setAccessibleName(name)
        self.list.setWordWrap(True)
        self.list.setProperty("look", "bordered")
        self.list.itemChanged.connect(lambda _item: self.changed.emit())
        self._empty = Text(
            "No run of this project yet. A decision may rest on simulated runs of exactly these parameters: start one in Runs.",
            look="muted",
            wrap=True,
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(HALF)
        column.addWidget(self._empty)
        column.addWidget(self.list)
        appearance().changed.connect(self._fit)

    @property
    def chosen(self) -> tuple[Path, ...]:
        """The directories that are ticked."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return tuple(
            item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() is Qt.CheckState.Checked
        )

    def title(self, directory: Path) -> str:
        """Return what a run is called in the list, the name of its directory when it is not there."""
        titles = {offer.directory: offer.title for offer in self._offers or ()}
        return titles.get(directory, directory.name)

    def untick(self) -> None:
        """Take all ticks away."""
        for row in range(self.list.count()):
            self.list.item(row).setCheckState(Qt.CheckState.Unchecked)

    def show_offers(self, offers: Sequence[RunOffer], ticked: Sequence[Path] = ()) -> None:
        """Show runs.

        Args:
            offers: all there are.
            ticked: those to tick at first sight.
        """
        if tuple(offers) == self._offers:
            return
        # By name: the runs of an unsaved project move beside its file when it is saved.
        known = {offer.directory.name for offer in self._offers or ()}
        wanted = {path.name for path in (*self.chosen, *(path for path in ticked if path.name not in known))}
        self._offers = tuple(offers)
        blocked = self.list.blockSignals(True)
        self.list.clear()
        for offer in offers:
            item = QListWidgetItem(
                offer.title if not offer.reason else f"{offer.title} – cannot be cited: {offer.reason}"
            )
            item.setData(Qt.ItemDataRole.UserRole, offer.directory)
            item.setToolTip(f"{offer.directory}\n{offer.reason}".strip())
            flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable
            item.setFlags(flags if not offer.reason else Qt.ItemFlag.ItemIsSelectable)
            is_ticked = not offer.reason and offer.directory.name in wanted
            item.setCheckState(Qt.CheckState.Checked if is_ticked else Qt.CheckState.Unchecked)
            self.list.addItem(item)
        self.list.blockSignals(blocked)
        self.list.setVisible(bool(offers))
        self._empty.setVisible(not offers)
        self._fit()
        self.changed.emit()

    def _fit(self, _colours: object = None) -> None:
        lines = min(max(self.list.count(), 1), _MOST_LINES)
        self.list.setFixedHeight(lines * max(self.list.sizeHintForRow(0), 3 * GRID) + HALF)
