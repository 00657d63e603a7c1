"""Before a meeting: which sliders are on the screen today, and which picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from phexplore.figures.tile import TileContent
from phexplore.gui.binding.room import MakePicture
from phexplore.gui.binding.session import Session
from phexplore.gui.decision.meeting_view import MOST_SLIDERS, MeetingView
from phexplore.gui.theme.metrics import MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, row, stacked
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.page import Section
from phexplore.gui.widgets.tick_list import TickEntry, TickList
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.systems.meeting import MeetingParameter
from phexplore.systems.registry import meeting_parameters


class MeetingPage(QWidget):
    """A list to tick and a button.

    Signals:
        started: the `MeetingView` that fills the screen.
    """

    started = Signal(object)

    def __init__(
        self,
        session: Session,
        tiles: Callable[[], tuple[TileContent, ...]],
        pictures: Callable[[], Mapping[str, MakePicture]],
    ) -> None:
        """Make the page.

        Args:
            session: the project.
            tiles: the figures of the headline.
            pictures: that may be shown of the active scenario, by title.
        """
        super().__init__()
        self._session, self._tiles, self._pictures = session, tiles, pictures
        self._offers: dict[str, MeetingParameter] = {}
        self._listed: object = None
        self._chosen: dict[type, tuple[str, ...]] = {}
        self.view: MeetingView | None = None
        self.search = LineField("Search the parameters", example="search, e.g. PH3 or County")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.list = TickList("Today's sliders")
        self.list.ticked.connect(self._on_ticked)
        self.chart = Chooser("Picture of the meeting")
        self.count = Text(look="muted", wrap=True)
        self.start_button = TextButton("Start the meeting", look="primary", symbol="run", run=self.start)
        foot = row(Text("Picture", look="muted"), self.chart, (self.count, 1), self.start_button)
        section = Section(
            "Meeting",
            "The projector shows the headline, one picture and only the sliders ticked here, in large type. Digits choose a slider, "
            "arrows move it, Ctrl+Z takes back, Ctrl+K keeps the values as a scenario, Esc leaves.",
            stacked(self.search, (self.list, 1), foot),
        )
        column(section, of=self, margins=(MARGIN, MARGIN, MARGIN, MARGIN))
        self._seen = WhenSeen(self, self.refresh, session.settled)
        self._seen.request()

    @property
    def chosen(self) -> tuple[MeetingParameter, ...]:
        """What is ticked, from top to bottom."""
        return tuple(self._offers[str(key)] for key in self.list.keys if key in self._offers)

    def refresh(self) -> None:
        """Offer what the active scenario has."""
        scenario = self._session.scenario
        offers = meeting_parameters(scenario)
        self._offers = {each.key: each for each in offers}
        system = type(scenario.method)
        listed = (system, tuple(self._offers))
        if listed != self._listed:
            self._listed = listed
            self._fill(self._chosen.get(system, tuple(each.key for each in offers if each.is_likely)))
            self.chart.offer([(title, title) for title in self._pictures()])
        self._count()

    def tick(self, *keys: str) -> None:
        """Put exactly these sliders on the screen."""
        self._fill(keys)
        self._on_ticked()

    def start(self) -> None:
        """Fill the screen."""
        self.refresh()
        if self.view is not None:
            self.view.raise_()
            return
        make = self._pictures().get(str(self.chart.currentData()))
        self.view = MeetingView(self._session, self.chosen, make, self._tiles)
        self.view.left.connect(self._on_left)
        self.view.showFullScreen()
        self.started.emit(self.view)

    def stop(self) -> None:
        """Leave the meeting, because the window closes."""
        if self.view is not None:
            self.view.close()

    def _on_left(self) -> None:
        self.view = None

    def _fill(self, ticked: tuple[str, ...]) -> None:
        self.list.show_entries([TickEntry(key, each.title) for key, each in self._offers.items()], ticked)
        self._filter(self.search.text())

    def _on_ticked(self) -> None:
        self._chosen[type(self._session.scenario.method)] = tuple(each.key for each in self.chosen)
        self._count()

    def _count(self) -> None:
        count = len(self.chosen)
        if not self._offers:
            words = "This system has no sliders for a meeting; its editor shows everything."
        elif count > MOST_SLIDERS:
            words = f"{count} sliders; the first {MOST_SLIDERS} are shown."
        else:
            words = f"{count} slider" + ("" if count == 1 else "s")
        self.count.setText(words)
        self.start_button.setEnabled(bool(self._offers))

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        for place in range(self.list.count()):
            item = self.list.item(place)
            is_ticked = item.checkState() is Qt.CheckState.Checked
            item.setHidden(not is_ticked and not all(word in item.text().casefold() for word in words))
