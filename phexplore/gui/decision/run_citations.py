"""The runs a decision rests on: a list to tick; what cannot be cited says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtWidgets import QWidget

from phexplore.gui.run_manager.run_rows import RunRow, run_title
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.tick_list import TickEntry, TickList
from phexplore.model.fingerprint import fingerprint
from phexplore.model.scenario import Scenario
from phexplore.runs.states import RunState

_MOST_LINES = 5


@dataclass(frozen=True, slots=True)
class RunOffer:
    """A run that may be cited.

    Attributes:
        directory: of the run.
        title: for people.
        reason: why it cannot be cited, "" when it can.
    """

    directory: Path
    title: str
    reason: str


def run_offers(rows: Sequence[RunRow], scenario: Scenario) -> tuple[RunOffer, ...]:
    """Return the runs of a project, those that can be cited first."""
    own = fingerprint(scenario)
    offers = [_offer(row, own) for row in rows]
    return tuple(sorted(offers, key=lambda offer: bool(offer.reason)))


def _offer(row: RunRow, own: str) -> RunOffer:
    title = run_title(row)
    if row.spec is None:
        return RunOffer(row.directory, title, "it cannot be read")
    if fingerprint(row.spec.scenario) != own:
        return RunOffer(row.directory, title, "it simulated other parameters")
    if row.state is not RunState.COMPLETE:
        return RunOffer(row.directory, title, "it is not complete")
    return RunOffer(row.directory, title, "")


class RunCitations(QWidget):
    """Ticks stay where they were while the list is renewed."""

    def __init__(self, name: str) -> None:
        """Make the list.

        Args:
            name: for people who do not see its label.
        """
        super().__init__()
        self._offers: tuple[RunOffer, ...] | None = None
        self._proposed: set[str] = set()
        self.list = TickList(name)
        self.list.setProperty("look", "bordered")
        self._empty = Text(
            "No run of this project yet. A decision may rest on simulated runs of exactly these parameters: start one in Runs.",
            look="muted",
            wrap=True,
        )
        column(self._empty, self.list, of=self, gap=HALF)
        appearance().changed.connect(self._fit)

    @property
    def chosen(self) -> tuple[Path, ...]:
        """The directories that are ticked."""
        return tuple(key for key in self.list.keys if isinstance(key, Path))

    def title(self, directory: Path) -> str:
        """Return what a run is called in the list, the name of its directory when it is not there."""
        titles = {offer.directory: offer.title for offer in self._offers or ()}
        return titles.get(directory, directory.name)

    def untick(self) -> None:
        """Take all ticks away."""
        self.list.tick(())

    def show_offers(self, offers: Sequence[RunOffer], ticked: Sequence[Path] = ()) -> None:
        """Show runs.

        Args:
            offers: all there are.
            ticked: those to tick as soon as they are named here, also where they were seen before.
        """
        # By name: the runs of an unsaved project move beside its file when it is saved.
        new = {path.name for path in ticked} - self._proposed
        if tuple(offers) == self._offers and not new:
            return
        names = {path.name for path in self.chosen} | new
        self._proposed |= new
        self._offers = tuple(offers)
        self.list.show_entries(
            [_entry(offer) for offer in offers], [o.directory for o in offers if o.directory.name in names]
        )
        self.list.setVisible(bool(offers))
        self._empty.setVisible(not offers)
        self._fit()

    def _fit(self, _colours: object = None) -> None:
        lines = min(max(self.list.count(), 1), _MOST_LINES)
        self.list.setFixedHeight(lines * max(self.list.sizeHintForRow(0), 3 * GRID) + HALF)


def _entry(offer: RunOffer) -> TickEntry:
    title = f"{offer.title} – cannot be cited: {offer.reason}" if offer.reason else offer.title
    place = f"{offer.directory}\n{offer.reason}".strip() if appearance().is_expert else ""
    return TickEntry(offer.directory, title, place, is_open=not offer.reason)
