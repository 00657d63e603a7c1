"""A picture of the parameters that follows them: drawn anew while it is seen, its choice shared, a drag one step."""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt

from phexplore.figures.figure import Figure, nothing
from phexplore.gui.binding.system_session import SystemSession
from phexplore.gui.binding.tasks import Latest
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.labels import field_label
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.scenario import Scenario

NO_PICTURE = "The figures appear here when the errors of the scenario are cured; the list of issues says how."
Drag = Callable[[Scenario, Any, float], tuple[str, Callable[[Scenario], Scenario]]]
"""From the scenario a drag began with, a key and a value to the label of the step and the edit of that scenario."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a system's parameters, as data.

    Attributes:
        id: in the overview.
        name: for screen readers and file names.
        teaching: what will be here and the one action that fills it.
        draw: the figure of a version; of a version and a choice where there are choices.
        question: its title in a meeting; its name when empty.
        choices: what it can show, the first one to begin with.
        choosing: what is chosen there, in words.
        drag: what moving a handle edits, None where nothing can be moved.
        shares_choice: whether its marks are parts of the parameters.
        is_slow: whether it is drawn beside the window.
        needs_figures: whether an error of the scenario leaves it empty.
        plain: draws it without terms of the theory, for a committee; None where it has none.
        is_expert: whether the overview leaves it out for a committee.
    """

    id: str
    name: str
    teaching: str
    draw: Callable[..., Figure]
    question: str = ""
    choices: tuple[enum.Enum, ...] = ()
    choosing: str = ""
    drag: Drag | None = None
    shares_choice: bool = True
    is_slow: bool = False
    needs_figures: bool = False
    plain: Callable[..., Figure] | None = None
    is_expert: bool = False


class LiveFigure(FigureView):
    """Shows a `Picture` of what a session shows."""

    def __init__(self, session: SystemSession[Any], picture: Picture, *, takes_pointer: bool = True) -> None:
        """Follow a session.

        Args:
            session: of the system.
            picture: what is drawn.
            takes_pointer: whether marks can be chosen and moved; a handle caught by accident would change a parameter.
        """
        super().__init__(picture.name, picture.teaching)
        self.id = picture.id
        self._session, self._picture = session, picture
        self._start: Scenario | None = None
        self._moved = False
        self.choice = Chooser(picture.choosing)
        self._work: Latest | None = None
        if picture.choices:
            for option in picture.choices:
                self.choice.addItem(str(option.value), option)
            self.choice.currentIndexChanged.connect(self.refresh)
            self.controls.addWidget(field_label("Sho&w", self.choice))
            self.controls.addWidget(self.choice)
            self.controls.addStretch(1)
        if picture.is_slow:
            self._work = Latest(lambda shown: (shown, self._drawn(shown)), self)
            self._work.finished.connect(self._show_drawn)
            self._work.failed.connect(self._on_failed)
        if not takes_pointer:
            self.canvas.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self.canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        elif picture.shares_choice:
            self.key_selected.connect(session.select)
            session.selected.connect(self.select_key)
        if takes_pointer and picture.drag is not None:
            self.handle_dragged.connect(self._drag)
            self.handle_released.connect(self._release)
            self.drag_cancelled.connect(self._cancel)
        self._seen = WhenSeen(self, self.refresh, session.settled)
        self._seen.request()
        if picture.plain is not None:
            appearance().changed.connect(self._seen.request)

    @property
    def is_offered(self) -> bool:
        """Whether the overview shows it at the depth that was chosen."""
        return appearance().is_expert or not self._picture.is_expert

    def refresh(self, _signal: object = None) -> None:
        """Draw what the session shows."""
        shown = self._session.shown
        if self._work is not None:
            self._work.request(shown)
            return
        self.show_figure(self._drawn(shown, *([self.choice.currentData()] if self._picture.choices else [])))
        if self._picture.shares_choice:
            self.select_key(self._session.selection)

    def _drawn(self, shown: Any, *choice: object) -> Figure:
        if self._picture.needs_figures and shown.forecast is None:
            return nothing(self._picture.id, NO_PICTURE)
        draw = self._picture.draw if appearance().is_expert else self._picture.plain or self._picture.draw
        return draw(shown, *choice)

    def stop(self) -> None:
        """Finish what is being drawn, because the window closes."""
        if self._work is not None:
            self._work.stop()

    def _show_drawn(self, drawn: tuple[object, Figure]) -> None:
        shown, figure = drawn
        if shown is self._session.shown:
            self.show_figure(figure)

    def _on_failed(self, error: BaseException) -> None:
        self.show_empty(str(error))

    def _drag(self, key: Hashable, value: float) -> None:
        if self._picture.drag is None:
            return
        # Every move starts from the scenario the drag began with: what it takes from others it gives back.
        start = self._start = self._start or self._session.scenario
        label, change = self._picture.drag(start, key, value)
        refusal = self._session.edit(label, lambda _scenario: change(start), merge_key=("picture", self.name, key))
        self._moved = self._session.report(refusal) or self._moved

    def _release(self, _key: object) -> None:
        self._start, self._moved = None, False
        self._session.project.end_merge()

    def _cancel(self, _key: object) -> None:
        self._session.project.end_merge()
        if self._moved:
            self._session.undo()
        self._start, self._moved = None, False
