"""What the shown numbers mean: neighbours, margin convention, confidence, rounding, δ. No parameter changes here."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from PySide6.QtWidgets import QWidget

from phexplore.figures.wording import margin_title, neighbours_title, power_text, rounding_title
from phexplore.gui.binding.session import Refusal, Session
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import TextButton
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.form import DeclaredForm
from phexplore.gui.widgets.labels import describe
from phexplore.gui.widgets.layout import column
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.conventions import AS_IN_2020, Conventions
from phexplore.model.edits import set_field, step_label
from phexplore.model.fields import Field, declared_fields, field_of
from phexplore.model.rounded import percent
from phexplore.systems.registry import loss_of

_FOR_EXPERTS = ("z", "rounding_step", "delta")
"""A committee leaves them as they were in 2020; where one is not, everybody sees it."""
_CONFIDENCES = (Fraction(9, 10), Fraction(95, 100), Fraction(99, 100))


class ConventionsEditor(QWidget):
    """A form over the conventions of the scenario; every change is one step."""

    def __init__(self, session: Session, always: str = "") -> None:
        """Make the form.

        Args:
            session: whose scenario has the conventions.
            always: why its neighbours cannot be chosen: those of its loss are shown. "" where they can.
        """
        super().__init__()
        self._session, self._always = session, always
        words = {
            "neighbours": neighbours_title,
            "margin": lambda convention: margin_title(convention, session.scenario.conventions),
            "rounding": rounding_title,
        }
        self.form = DeclaredForm(declared_fields(Conventions), self._take, words=words)
        self.controls = self.form.controls
        if always:
            self.controls["neighbours"].setEnabled(False)
            describe(self.controls["neighbours"], tip=always, more=always)
        self.usual = [
            TextButton(percent(confidence, places=0), name="confidence", run=partial(self._use, confidence))
            for confidence in _CONFIDENCES
        ]
        self.as_in_2020 = TextButton("As in 2020", name="Use the conventions of 2020", run=self._use_2020)
        self.form.insert_below("confidence", "", FlowRow(*self.usual, gap=GRID))
        self.form.insert_below("", "", self.as_in_2020)
        column(self.form, of=self)
        self._seen = WhenSeen(self, self._refresh, session.updated, appearance().changed)
        self._refresh()

    def _use(self, confidence: Fraction) -> None:
        self._session.report(self._set(field_of(Conventions, "confidence"), confidence))

    def _set(self, part: Field, value: Any) -> Refusal | None:
        return self._session.edit(
            step_label(part, value),
            lambda scenario: set_field(scenario, "conventions", replace(scenario.conventions, **{part.name: value})),
        )

    def _take(self, part: Field, _key: object, value: Any) -> str:
        refusal = self._set(part, value)
        return refusal.full if refusal else ""

    def _use_2020(self) -> None:
        label = "Use the conventions of 2020"
        self._session.report(self._session.edit(label, lambda scenario: set_field(scenario, "conventions", AS_IN_2020)))

    def _refresh(self, _update: object = None) -> None:
        scenario = self._session.scenario
        conventions = scenario.conventions
        held = loss_of(scenario).neighbours if self._always else conventions.neighbours
        self.form.show_value(replace(conventions, neighbours=held))
        margin = self.controls["margin"].chooser
        margin.offer((margin_title(each, conventions), each) for each in margin.values)
        self.controls["delta"].setToolTip(power_text(conventions.delta))
        self.as_in_2020.setEnabled(conventions != AS_IN_2020)
        for name in _FOR_EXPERTS:
            is_usual = getattr(conventions, name) == getattr(AS_IN_2020, name)
            self.form.rows.setRowVisible(self.controls[name], appearance().is_expert or not is_usual)
