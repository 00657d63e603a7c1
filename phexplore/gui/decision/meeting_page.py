"""A meeting: before it, which sliders and which picture are on the screen; then the projector, in large type. Esc leaves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QCloseEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QApplication, QFrame, QWidget
from shiboken6 import isValid

from phexplore.decide.committee import KEPT
from phexplore.figures.tile import TileContent
from phexplore.gui.binding.room import MakePicture
from phexplore.gui.binding.session import Session
from phexplore.gui.decision.status import TONES, status_now
from phexplore.gui.editors.live_noise import LiveNoise
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import ElidedText, Figure, Paragraph, Text, describe
from phexplore.gui.widgets.layout import column, row, stacked
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.page import Section, picture_height, scrolling
from phexplore.gui.widgets.reading_order import InReadingOrder
from phexplore.gui.widgets.speech import Spoken, speak_as
from phexplore.gui.widgets.stop_slider import StopSlider
from phexplore.gui.widgets.tick_list import TickEntry, TickList
from phexplore.gui.widgets.tile import Tile
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.workbook import Workbook, activate, add_scenario
from phexplore.systems.meeting import MeetingParameter
from phexplore.systems.registry import meeting_parameters

PROJECTOR_SCALE, LEAST_SCALE, _LINES = 150, 120, 1080
"""Text size in percent while the meeting is on, on a screen of so many lines; on a lower one it is as large on the wall, but not
less than is read on a laptop."""
MOST_SLIDERS = 6
_LEAST_NAME = 24 * GRID
_SET = "Meeting: set "


def projector_scale(height: int) -> int:
    """Return the text size of a meeting in percent.

    Args:
        height: of the screen, in pixels.
    """
    return max(LEAST_SCALE, PROJECTOR_SCALE * height // _LINES)


class MeetingSlider(QFrame):
    """One number in large type; a drag is one step."""

    def __init__(self, number: int, parameter: MeetingParameter, session: Session) -> None:
        super().__init__()
        self.parameter, self._session = parameter, session
        self.setProperty("look", "card")
        describe(self, name=parameter.title)
        self._title = Paragraph(f"{number}  {parameter.title}", bold=True)
        self.value = Figure(relative=1.8, bold=True)
        self._unit = Figure(parameter.unit, look="muted")
        self._before = Figure(look="muted", relative=0.9)
        self.slider = StopSlider(
            parameter.title, parameter.stops, lambda value: f"{parameter.words(value)} {parameter.unit}".rstrip()
        )
        self.slider.setProperty("look", "large")
        self.slider.setMinimumHeight(4 * GRID)
        self._effect = Paragraph(look="muted", relative=0.9)
        bottom = Qt.AlignmentFlag.AlignBottom
        column(
            self._title,
            row((self.value, bottom), (self._unit, bottom), (self._before, bottom), 1),
            self.slider,
            self._effect,
            of=self,
            gap=GRID // 2,
            margins=(MARGIN, GRID, MARGIN, GRID),
        )
        self.slider.moved.connect(self._move)
        self.slider.released.connect(self._release)

    def _release(self) -> None:
        self._session.project.end_merge()

    def refresh(self) -> None:
        """Show the value the scenario has."""
        scenario, parameter = self._session.scenario, self.parameter
        value = parameter.read(scenario)
        self.slider.setEnabled(value is not None)
        if value is None:
            self.value.setText("–")
            self._effect.setText("This scenario does not publish it.")
            return
        self.value.setText(parameter.words(value))
        self.slider.set_value(value)
        reference = self._session.shown.reference
        before = parameter.read(reference.stated) if reference is not None else None
        self.slider.set_mark(before)
        self._before.setText("" if before is None or before == value else f"was {parameter.words(before)}")
        self._effect.set_look("muted")
        self._effect.setText(parameter.effect(scenario))

    def _move(self, stop: Fraction) -> None:
        parameter = self.parameter
        label = f"{_SET}{parameter.title} to {parameter.words(stop)}"
        refusal = self._session.edit(
            label, lambda scenario: parameter.edit(scenario, stop), merge_key=("meeting", parameter.key)
        )
        if refusal is not None:
            self._effect.set_look("refused")
            self._effect.setText(refusal.full)


class MeetingView(InReadingOrder):
    """Fills the screen until it is left.

    Signals:
        left: the meeting is over.
    """

    left = Signal()
    _is_over = False

    def __init__(
        self,
        session: Session,
        parameters: Sequence[MeetingParameter],
        make_picture: MakePicture | None,
        tiles: Callable[[], tuple[TileContent, ...]],
    ) -> None:
        """Make the view.

        Args:
            session: the project.
            parameters: what may be moved today, at most six.
            make_picture: makes the one picture, None for none.
            tiles: the figures of the headline.
        """
        super().__init__(None, Qt.WindowType.Window)
        speak_as(MeetingView, lambda view: Spoken(view, QAccessible.Role.Window))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Meeting – phexplore")
        self.setAccessibleName("Meeting")
        self._session, self._tiles_of = session, tiles
        self._scale = appearance().scale
        appearance().set_scale(max(self._scale, projector_scale(self.screen().size().height())))
        self.picture = make_picture() if make_picture is not None else None
        self.name = Figure(relative=1.3, bold=True)
        self.name.setMinimumWidth(_LEAST_NAME)  # a long one gives way to the buttons
        self.status = Text(bold=True)
        self._changed = ElidedText(look="muted", relative=0.9)
        self.undo = TextButton("Undo", name="Undo (Ctrl+Z)", run=session.undo)
        name = "Keep these values as a scenario (Ctrl+K)"
        self.keep = TextButton("Keep as a scenario", name=name, run=self.keep_values)
        self.noise = LiveNoise(is_named=True)
        self.leave = TextButton("Leave (Esc)", name="Leave the meeting (Esc)", run=self.close)
        self.tiles = tuple(Tile(wraps=True) for _ in tiles())
        self.sliders = tuple(
            MeetingSlider(n, each, session) for n, each in enumerate(parameters[:MOST_SLIDERS], start=1)
        )
        self._noisy: tuple[MeetingSlider, ...] = ()
        self._lay_out()
        for keys, act in (
            ("Esc", self.close),
            ("Ctrl+Z", session.undo),
            ("Ctrl+Shift+Z", session.redo),
            ("Ctrl+Y", session.redo),
            ("Ctrl+K", self.keep_values),
        ):
            QShortcut(QKeySequence(keys), self, activated=act)  # type: ignore[call-overload]
        for number, slider in enumerate(self.sliders, start=1):
            slider.slider.taken.connect(self._show_noise)
            QShortcut(QKeySequence(str(number)), self, activated=slider.slider.setFocus)  # type: ignore[call-overload]
        session.select(None)  # a row marked at somebody's desk is not what the meeting is about
        self._system = type(session.scenario.method)
        session.updated.connect(self._leave_other_system)
        session.settled.connect(self.refresh)
        session.saved.connect(self.refresh)
        self.refresh()
        if self.sliders:
            self.sliders[0].slider.setFocus()

    def refresh(self, _signal: object = None) -> None:
        """Show the present version."""
        project = self._session.project
        status = status_now(project)
        self.name.setText(self._session.scenario.name)
        self.status.setText(status.title)
        self.status.set_look(TONES[status])
        self._changed.setText(project.labels[project.cursor].removeprefix(_SET) if project.cursor else "")
        self.undo.setEnabled(project.can_undo)
        for tile, content in zip(self.tiles, self._tiles_of(), strict=False):
            tile.show_content(content)
        for slider in self.sliders:
            slider.refresh()
        if self.picture is not None:
            self.picture.refresh()
        self._show_noise()

    def _leave_other_system(self, _update: object) -> None:
        """End the meeting where another system becomes active: its sliders, chart and tiles are of the system it began with."""
        if type(self._session.scenario.method) is not self._system:
            self._session.done.emit("The meeting ended: the active scenario is of another system.")
            self.close()

    def _show_noise(self) -> None:
        """Draw the noise of the slider in hand, else of the one before, else of the first that has some."""
        in_hand = [each for each in self.sliders if each.slider.hasFocus()]
        scenario = self._session.scenario
        for each in (*in_hand, *self._noisy, *self.sliders):
            if (answer := each.parameter.answer(scenario)) is not None:
                self._noisy = (each,)
                self.noise.show_answer(answer)
                return
        self.noise.show_answer(None)

    def keep_values(self) -> None:
        """Add a copy of the scenario as it stands, e.g. before a vote; work goes on with the original."""
        scenario = self._session.scenario

        def added(book: Workbook) -> Workbook:
            number = 1 + sum(each.name.startswith(KEPT) for each in book.scenarios)
            kept = add_scenario(book, replace(scenario, name=f"{KEPT}{number}"))
            return activate(kept, scenario.name)

        self._session.report(self._session.edit_workbook("Meeting: keep these values", added))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.picture is not None:
            self.picture.setMinimumHeight(picture_height(self))

    def closeEvent(self, event: QCloseEvent) -> None:
        self._session.project.end_merge()
        if not self._is_over:  # a window can be told to close twice before it is deleted
            self._is_over = True
            self._session.updated.disconnect(self._leave_other_system)
            for signal in (self._session.settled, self._session.saved):
                signal.disconnect(self.refresh)
        self.noise.service.stop()
        appearance().set_scale(self._scale)
        self.left.emit()
        event.accept()

    def _lay_out(self) -> None:
        head = row(self.name, self.status, (self._changed, 1), self.undo, self.keep, self.leave, gap=2 * GRID)
        sliders = scrolling("Today's sliders", stacked(*self.sliders, 1, margins=(0, 0, GRID, 0)))
        sliders.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if self.picture is not None:
            self.picture.sentence.hide()  # the finding stands above the picture, which needs the room
        picture = [1] if self.picture is None else [(self.picture, 1)]
        shown = scrolling("Picture and live noise", stacked(*picture, self.noise))
        shown.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        middle = row((sliders, 2), (shown, 3), gap=2 * GRID)
        headline = row(*((tile, 1) for tile in self.tiles))
        margins = (3 * GRID, 2 * GRID, 3 * GRID, 2 * GRID)
        column(head, headline, (middle, 1), of=self, gap=2 * GRID, margins=margins)


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
        self._before: tuple[type, Hashable, QWidget | None] = type(None), None, None
        self.search = LineField("Search the parameters", example="search by table, query or level")
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
            "The projector shows the headline, one picture and only the sliders ticked here, in large type. They move the scenario "
            "that is being edited. Digits choose a slider, arrows move it, Ctrl+Z takes back, Ctrl+K keeps the values as a scenario "
            "of their own, Esc leaves.",
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
        self._before = type(self._session.scenario.method), self._session.selection, QApplication.focusWidget()
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
        self.view, (method, selected, focused) = None, self._before
        if type(self._session.scenario.method) is method:  # else the key is of another system
            self._session.select(selected)
        if focused is not None and isValid(focused):
            focused.setFocus()

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
        """Offer what has the words and what is ticked. Nothing is hidden: a screen reader would hear the name of another row."""
        words, ticked = text.casefold().split(), self.list.keys
        found = [
            TickEntry(key, each.title)
            for key, each in self._offers.items()
            if key in ticked or all(word in localised(each.title).casefold() for word in words)
        ]
        self.list.show_entries(found, ticked)
