"""Live noise: exact draws of what would become of a count, twenty a second, beside the margin they belong to."""

from __future__ import annotations

from collections import deque
from fractions import Fraction

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QAccessible, QColor, QHideEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from phexplore.errors import PhexploreError
from phexplore.figures.wording import people, signed_people
from phexplore.gui.binding.request_service import RequestService, Wording, reader_process
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.exact_field import CheckedField
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Paragraph, describe, labelled
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.number_field import NumberField
from phexplore.gui.widgets.speech import Spoken, said, say_beside, speak_as
from phexplore.model.rounded import percent
from phexplore.noise.draws import DrawRequest, Draws, NoisyAnswer

BEAT_MS = 50
"""Twenty draws a second."""
_TRAIL = 60
"""Draws that stay in the picture: three seconds."""
_COUNT = Fraction(1000)
_LARGEST = 10**9
_SPREAD = 0.618
"""Steps up and down of one dot after the other, so that they do not cover each other; their height says nothing."""
_REACH, _LEAST_REACH, _MOST_REACH = 2.5, 1.2, 12.0
"""Margins on each side that the picture shows to begin with, and before its scale changes; what lies beyond stands at its edge."""
_PLAYING = f"{1000 // BEAT_MS} draws a second; stop to hear how many are within the margin"
_FAILED = Wording("The draws stopped", "Start them again.", "The process that draws could not be started.")


class _Strip(QWidget):
    """The last draws as dots around the true count, over the band of the margin; the newest is the large one."""

    def __init__(self) -> None:
        super().__init__()
        self.trail: deque[int] = deque(maxlen=_TRAIL)
        self.margin, self.reach, self.drawn = 1.0, _REACH, 0
        speak_as(_Strip, lambda strip: Spoken(strip, QAccessible.Role.Graphic))
        self.setAccessibleName("The last draws around the count, over the band of the margin")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        appearance().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(24 * GRID, 5 * GRID)

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours, painter = appearance().colours, QPainter(self)
        middle, half = self.width() / 2, self.width() / 2 - GRID
        y = self.height() / 2
        per_margin = half * self.margin / self.reach
        band = QColor(colours.accent)
        band.setAlpha(45)
        painter.fillRect(QRectF(middle - per_margin, 2, 2 * per_margin, self.height() - 4).toRect(), band)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.text), 1))
        painter.drawLine(QPointF(middle, 0), QPointF(middle, self.height()))
        painter.setPen(Qt.PenStyle.NoPen)
        for age, error in enumerate(reversed(self.trail)):
            ink = QColor(colours.text if abs(error) <= self.margin else colours.refused)
            ink.setAlpha(255 if not age else max(30, 170 - 170 * age // _TRAIL))
            away = max(-half, min(half, half * error / self.reach))
            painter.setBrush(ink)
            rise = ((self.drawn - age) * _SPREAD % 1 - 0.5) * (self.height() - 2 * GRID)
            painter.drawEllipse(QPointF(middle + away, y + rise), *((6, 6) if not age else (3, 3)))
        painter.end()


class LiveNoise(QWidget):
    """Draws one answer again and again, after Start and while it can be seen."""

    def __init__(self, *, is_named: bool = False) -> None:
        """Draw nothing yet.

        Args:
            is_named: whether the heading says which answer it is, in the width of a projector.
        """
        super().__init__()
        self._is_named = is_named
        self.answer: NoisyAnswer | None = None
        self.draws: Draws | None = None
        self._place = self._chunk = 0
        self._inside = self._drawn = 0
        self.service = RequestService(reader_process(self, wording=_FAILED), self, is_alone=True)
        self.service.answered.connect(self._take)
        self.service.failed.connect(self._fail)
        self._beat = QTimer(self, interval=BEAT_MS)
        self._beat.timeout.connect(self._next)
        self._wants_one = False
        self.title, self.found, self.held = Paragraph(bold=True), Paragraph(relative=1.15), Paragraph(look="muted")
        self.strip = _Strip()
        self.play = TextButton("Start", name="Start the live noise", run=self._switch)
        self.step = TextButton("Step", name="Step: draw the noise once", run=self.draw_once)
        self.count = CheckedField("True count of the live noise", _COUNT, _why_not, self._say, width=7 * GRID)
        self.seed = NumberField("Seed of the live noise", 0, 999, 1)
        self.seed.valueChanged.connect(self._begin)
        self._seed = labelled("Seed", self.seed)
        keys = FlowRow(self.play, self.step, labelled("Count", self.count), self._seed, gap=HALF)
        appearance().changed.connect(self._follow_depth)
        self._follow_depth()
        if is_named:
            told = row((self.found, 4), (self.held, 5), gap=2 * GRID)
            column(row((self.title, 1), keys, gap=2 * GRID), told, self.strip, of=self, gap=HALF)
        else:
            column(self.title, self.found, self.strip, self.held, keys, of=self, gap=HALF)
        self.hide()

    @property
    def is_playing(self) -> bool:
        """Whether draws follow each other by themselves."""
        return self._beat.isActive()

    def _follow_depth(self, _colours: object = None) -> None:
        """Leave out what only somebody who wants the same draws again sets."""
        self._seed.setVisible(appearance().is_expert)

    def show_answer(self, answer: NoisyAnswer | None) -> None:
        """Draw another answer from now on; where there is none, nothing is shown."""
        if answer == self.answer:
            return
        before, self.answer = self.answer, answer
        self.setVisible(answer is not None)
        if answer is not None:
            self.title.setText(f"Live noise: {answer.title}" if self._is_named else "Live noise")
            is_other, margin = before is None or before.title != answer.title, max(answer.margin, 1.0)
            if is_other or not _LEAST_REACH <= self.strip.reach / margin <= _MOST_REACH:
                self.strip.reach = _REACH * margin  # a margin that is moved is seen to widen
            self._begin()

    def draw_once(self) -> None:
        """Stop, and draw one more."""
        self.stop()
        self._wants_one = True
        self._next()

    def stop(self) -> None:
        """Draw no more until somebody wants it."""
        self._beat.stop()
        self._tell()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop what nobody sees, and end its process."""
        self.stop()
        self.draws = None
        self.service.end()
        super().hideEvent(event)

    def _switch(self) -> None:
        if self.is_playing:
            self.stop()
            say_beside(self.play, said(self.held.text()))
        else:
            self._beat.start()
            self._tell()

    def _tell(self) -> None:
        """Say what the button does now; a screen reader has one sentence while draws follow each other."""
        text = "Stop" if self.is_playing else "Start"
        self.play.setText(text)
        describe(self.play, name=f"{text} the live noise")
        for line in (self.found, self.held):
            line.speak_instead(_PLAYING if self.is_playing else "")

    def _begin(self) -> None:
        """Forget what was drawn of another answer or seed."""
        self._place = self._chunk = self._inside = self._drawn = 0
        self.strip.trail.clear()
        self.draws = None
        for button in (self.play, self.step):
            button.setAccessibleDescription("")  # what was found of it
        self._say()

    def _request(self) -> DrawRequest | None:
        return None if self.answer is None else DrawRequest(self.answer, self.seed.value(), self._chunk)

    def _ask(self) -> None:
        if not self.service.is_busy and (request := self._request()) is not None:
            self.service.request(request)

    def _take(self, found: Draws) -> None:
        if found.request == self._request():
            self.draws, self._place = found, 0
        if self._wants_one:
            self._next()

    def _fail(self, error: PhexploreError) -> None:
        self.stop()
        self.held.setText(error.full)

    def _next(self) -> None:
        """Show one more draw, or ask for more."""
        if self.draws is None:
            self._ask()
            return
        error = self.draws.errors[self._place]
        self._place += 1
        self._drawn += 1
        self._inside += abs(error) <= self.draws.request.answer.margin
        self.strip.trail.append(error)
        self._say()
        if self._wants_one:
            self._wants_one = False
            say_beside(self.step, said(self.found.text()))
        if self._place == len(self.draws.errors):
            self._chunk += 1
            self.draws = None

    def _say(self) -> None:
        answer = self.answer
        if answer is None:
            return
        self.strip.margin, self.strip.drawn = answer.margin, self._drawn
        self.strip.update()
        count, trail = int(self.count.value), self.strip.trail
        if trail:
            self.found.setText(f"{count:,} {answer.becomes} {count + trail[-1]:,} ({signed_people(trail[-1])})")
        else:
            self.found.setText(f"{count:,} {answer.becomes} …")
        within = f"within ±{people(answer.margin)}"
        aimed = f"forecast {percent(answer.confidence, places=0)}"
        if self._drawn:
            self.held.setText(f"{self._inside:,} of {self._drawn:,} draws are {within}, {aimed}")
        else:
            self.held.setText(f"Exact draws; the band is ±{people(answer.margin)}, {aimed}")


def _why_not(value: Fraction) -> str:
    return "" if value.denominator == 1 and 0 <= value <= _LARGEST else "A count is a whole number, at least 0."
