"""The projector: large type, today's sliders, the headline and one picture. Esc leaves; nothing else can be changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QWidget

from phexplore.figures.tile import TileContent, Tone
from phexplore.gui.binding.room import MakePicture
from phexplore.gui.binding.session import Session
from phexplore.gui.decision.status import TONES, status_now
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.labels import ElidedText, Figure, Paragraph, Text
from phexplore.gui.widgets.layout import column, row, stacked
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.stop_slider import StopSlider
from phexplore.gui.widgets.tile import Tile
from phexplore.model.workbook import Workbook, activate, add_scenario
from phexplore.systems.meeting import MeetingParameter

PROJECTOR_SCALE = 150
"""Text size in percent while the meeting is on."""
MOST_SLIDERS = 6
_LOOKS = {Tone.NEUTRAL: "muted", Tone.GOOD: "good", Tone.ATTENTION: "attention", Tone.REFUSED: "refused"}


class MeetingSlider(QFrame):
    """One number in large type; a drag is one step."""

    def __init__(self, number: int, parameter: MeetingParameter, session: Session) -> None:
        super().__init__()
        self.parameter, self._session = parameter, session
        self.setProperty("look", "card")
        self.setAccessibleName(parameter.title)
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
        before = parameter.read(reference.scenario) if reference is not None else None
        self.slider.set_mark(before)
        self._before.setText("" if before is None or before == value else f"was {parameter.words(before)}")
        self._effect.set_look("muted")
        self._effect.setText(parameter.effect(scenario))

    def _move(self, stop: Fraction) -> None:
        parameter = self.parameter
        label = f"Meeting: set {parameter.title} to {parameter.words(stop)}"
        refusal = self._session.edit(
            label, lambda scenario: parameter.edit(scenario, stop), merge_key=("meeting", parameter.key)
        )
        if refusal is not None:
            self._effect.set_look("refused")
            self._effect.setText(refusal.full)


class MeetingView(QWidget):
    """Fills the screen until it is left.

    Signals:
        left: the meeting is over.
    """

    left = Signal()

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
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Meeting – phexplore")
        self.setAccessibleName("Meeting")
        self._session, self._tiles_of = session, tiles
        self._scale = appearance().scale
        appearance().set_scale(max(self._scale, PROJECTOR_SCALE))
        self.picture = make_picture() if make_picture is not None else None
        self.name = Text(relative=1.3, bold=True)
        self.status = Text(bold=True)
        self._changed = ElidedText(look="muted")
        self.undo = TextButton("Undo", name="Undo (Ctrl+Z)", run=session.undo)
        name = "Keep these values as a scenario (Ctrl+K)"
        self.keep = TextButton("Keep as a scenario", name=name, run=self.keep_values)
        self.leave = TextButton("Leave (Esc)", name="Leave the meeting (Esc)", run=self.close)
        self.tiles = tuple(Tile() for _ in tiles())
        self.sliders = tuple(
            MeetingSlider(n, each, session) for n, each in enumerate(parameters[:MOST_SLIDERS], start=1)
        )
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
            QShortcut(QKeySequence(str(number)), self, activated=slider.slider.setFocus)  # type: ignore[call-overload]
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
        self._changed.setText(project.labels[project.cursor] if project.cursor else "")
        self.undo.setEnabled(project.can_undo)
        for tile, content in zip(self.tiles, self._tiles_of(), strict=False):
            tile.show_figure(
                content.caption, content.value, beside=content.beside, change=content.change, look=_LOOKS[content.tone]
            )
        for slider in self.sliders:
            slider.refresh()
        if self.picture is not None:
            self.picture.refresh()

    def keep_values(self) -> None:
        """Add a copy of the scenario as it stands, e.g. before a vote; work goes on with the original."""
        scenario = self._session.scenario

        def added(book: Workbook) -> Workbook:
            number = 1 + sum(each.name.startswith("Kept ") for each in book.scenarios)
            kept = add_scenario(book, replace(scenario, name=f"Kept {number}"))
            return activate(kept, scenario.name)

        self._session.report(self._session.edit_workbook("Meeting: keep these values", added))

    def closeEvent(self, event: QCloseEvent) -> None:
        self._session.project.end_merge()
        for signal in (self._session.settled, self._session.saved):
            signal.disconnect(self.refresh)
        appearance().set_scale(self._scale)
        self.left.emit()
        event.accept()

    def _lay_out(self) -> None:
        head = row(self.name, self.status, (self._changed, 1), self.undo, self.keep, self.leave, gap=2 * GRID)
        sliders = scrolling("Today's sliders", stacked(*self.sliders, 1, margins=(0, 0, GRID, 0)))
        sliders.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        picture = [] if self.picture is None else [(self.picture, 3)]
        middle = row((sliders, 2), *picture, gap=2 * GRID)
        headline = row(*((tile, 1) for tile in self.tiles))
        margins = (3 * GRID, 2 * GRID, 3 * GRID, 2 * GRID)
        column(head, headline, (middle, 1), of=self, gap=2 * GRID, margins=margins)
