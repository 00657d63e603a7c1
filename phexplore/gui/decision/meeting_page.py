"""Before a meeting: which sliders are on the screen today, and which picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from phexplore.figures.tile import TileContent
from phexplore.gui.binding.room import MakePicture
from phexplore.gui.binding.session import Session
from phexplore.gui.decision.meeting_view import MOST_SLIDERS, MeetingView
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.page import Section
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
        self.search = QLineEdit()
        self.search.setAccessibleName("Search the parameters")
        self.search.setPlaceholderText("search, e.g. PH3 or County")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.list = QListWidget()
        self.list.setAccessibleName("Today's sliders")
        self.list.itemChanged.connect(self._on_ticked)
        self.chart = Chooser("Picture of the meeting")
        self.count = Text(look="muted", wrap=True)
        self.start_button = TextButton("Start the meeting", look="primary", symbol="run")
        self.start_button.clicked.connect(self.start)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.search)
        column.addWidget(self.list, 1)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(Text("Picture", look="muted"))
        row.addWidget(self.chart)
        row.addWidget(self.count, 1)
        row.addWidget(self.start_button)
        column.addLayout(row)
        section = Section(
            "Meeting",
            "The projector shows the headline, one picture and only the sliders ticked here, in large type. Digits choose a slider, "
            "arrows move it, Ctrl+Z takes back, Ctrl+K keeps the values as a scenario, Esc leaves.",
            content,
        )
        whole = QVBoxLayout(self)
        whole.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        whole.addWidget(section)
        self._seen = WhenSeen(self, self.refresh)
        session.settled.connect(self._seen.request)
        self._seen.request()

    @property
    def chosen(self) -> tuple[MeetingParameter, ...]:
        """What is ticked, from top to bottom."""
        items = (self.list.item(row) for row in range(self.list.count()))
        keys = (item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() is Qt.CheckState.Checked)
        return tuple(self._offers[key] for key in keys if key in self._offers)

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
            blocked = self.chart.blockSignals(True)
            self.chart.clear()
            for title in self._pictures():
                self.chart.addItem(title, title)
            self.chart.blockSignals(blocked)
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
        blocked = self.list.blockSignals(True)
        self.list.clear()
        for key, parameter in self._offers.items():
            item = QListWidgetItem(parameter.title)
            item.setData(Qt.ItemDataRole.UserRole, key)
            item.setToolTip(parameter.title)
            item.setCheckState(Qt.CheckState.Checked if key in ticked else Qt.CheckState.Unchecked)
            self.list.addItem(item)
        self.list.blockSignals(blocked)
        self._filter(self.search.text())

    def _on_ticked(self, _item: QListWidgetItem | None = None) -> None:
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
        for row in range(self.list.count()):
            item = self.list.item(row)
            is_ticked = item.checkState() is Qt.CheckState.Checked
            item.setHidden(not is_ticked and not all(word in item.text().casefold() for word in words))
