"""One number with a slider and an exact field."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

from PySide6.QtCore import QObject, Signal

from phexplore.gui.binding.session import entered, refusal_of
from phexplore.gui.binding.system_session import SystemSession
from phexplore.gui.tables.parameter_table import Step
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.labels import describe
from phexplore.gui.widgets.stop_slider import StopSlider
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario


class SliderLine(QObject):
    """Edits one number of the scenario. A drag is one step of the history.

    Signals:
        pressed: the user took the handle.
    """

    pressed = Signal()

    def __init__(
        self,
        session: SystemSession[Any],
        name: str,
        stops: Sequence[Fraction],
        words: Callable[[Fraction], str],
        step: Callable[[str], Step],
        *,
        drag: Callable[[Fraction, Scenario], Step] | None = None,
        width: int = 14 * GRID,
        parent: QObject | None = None,
    ) -> None:
        """Make slider and field.

        Args:
            session: what is edited.
            name: what the number is, for people who do not see its label.
            stops: the values of the slider, ascending.
            words: gives a value with its unit.
            step: step of the history that a typed text asks for; what it raises is said beside the field.
            drag: step that moving to a stop asks for, from the scenario in which the drag began; typing the stop where it
                is left out.
            width: of the field in pixels at 100 % text size.
            parent: owner.
        """
        super().__init__(parent)
        self._session, self._step = session, step
        self._drag = drag or (lambda stop, _start: step(exact_text(stop)))
        self._start: Scenario | None = None
        self._value: Fraction | None = None
        self.key: Hashable = name
        self.slider = StopSlider(name, stops, words)
        self.field = ExactField(name, self._take, width=width)
        self.slider.moved.connect(self._move)
        self.slider.released.connect(self._release)
        self.slider.sliderPressed.connect(self.pressed)

    def follow(self, key: Hashable, name: str = "") -> None:
        """Stand for another number: half-typed entries belong to the one that was left.

        Args:
            key: which one; moves of two numbers are two steps.
            name: for people who do not see its label, "" for the same as before.
        """
        if key != self.key:
            self.key = key
            self.field.forget()
            for widget in (self.slider, self.field.line):
                describe(widget, name=name or None)

    def show(
        self, value: Fraction | None, text: str, words: str = "", *, mark: Fraction | None = None, reason: str = ""
    ) -> None:
        """Show a value.

        Args:
            value: where the handle stands, None for the left end.
            text: the exact text in the field.
            words: the same rounded, "" where the exact text is read as it is.
            mark: a tick on the slider, None for none.
            reason: why it cannot be edited, "" when it can.
        """
        self._value = value
        self.slider.set_value(value)
        self.slider.set_mark(mark)
        self.field.set_value(text, words)
        for widget in (self.slider, self.field):
            widget.setEnabled(not reason)
            describe(widget, tip=reason)

    def _take(self, typed: str) -> str:
        return refusal_of(self._session, lambda: self._step(typed))

    def _move(self, stop: Fraction) -> None:
        self.field.forget()
        start = self._start = self._start or self._session.scenario
        key = ("slider", self.slider.accessibleName(), self.key)
        self._session.report(entered(self._session, lambda: self._drag(stop, start), merge_key=key))

    def _release(self) -> None:
        self._start = None
        self._session.project.end_merge()
        self.slider.set_value(self._value)  # where locks stopped it, not where the handle was dragged
