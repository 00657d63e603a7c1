"""What the shown numbers mean: neighbours, margin convention, confidence, rounding, δ. No parameter changes here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from PySide6.QtWidgets import QWidget

from phexplore.figures.wording import margin_title, neighbours_title, percent, power_text, rounding_title
from phexplore.gui.binding.session import Session
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.form import form_in
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import row
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.conventions import AS_IN_2020, Conventions, MarginConvention, Neighbours
from phexplore.model.edits import set_field
from phexplore.model.numbers import Rounding, exact_text, parse_exact

_CONFIDENCES = (Fraction(9, 10), Fraction(95, 100), Fraction(99, 100))


class ConventionsEditor(QWidget):
    """A form over the conventions of the scenario; every change is one step."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.neighbours = self._chooser("Whose ρ is the headline", Neighbours, neighbours_title, "neighbours")
        self.margin = Chooser("Margin convention")
        for convention in (MarginConvention.NORMAL, MarginConvention.EXACT, MarginConvention.PAPER):
            self.margin.addItem("", convention)
        self.margin.currentIndexChanged.connect(self._set_margin)
        self.confidence = Chooser("Confidence of the margins")
        for confidence in _CONFIDENCES:
            self.confidence.addItem(percent(confidence, places=0), confidence)
        self.confidence.currentIndexChanged.connect(self._set_confidence)
        self.own_confidence = ExactField("Another confidence", self._taker("the confidence", "confidence"))
        self.factor = ExactField("Factor z of the normal convention", self._taker("z", "z"), unit="times σ, at 90 %")
        self.rounding = self._chooser("Rounding of solved budgets", Rounding, rounding_title, "rounding")
        self.step = ExactField("Rounding step", self._taker("the rounding step", "rounding_step"))
        self.delta = ExactField("δ of the headline ε", self._taker("δ", "delta"))
        self.as_in_2020 = TextButton("As in 2020", name="Use the conventions of 2020", run=self._use_2020)
        self._lay_out()
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    def _lay_out(self) -> None:
        rows = form_in(self)
        for label, field in (
            ("Headline ρ", self.neighbours),
            ("Margin", self.margin),
            ("Confidence", row(self.confidence, Text("or", look="muted"), (self.own_confidence, 1))),
            ("z", self.factor),
            ("Rounding", self.rounding),
            ("Step", self.step),
            ("δ", self.delta),
            ("", self.as_in_2020),
        ):
            rows.addRow(label, field)

    def _chooser(self, name: str, choices: Any, title: Callable[[Any], str], field: str) -> Chooser:
        chooser = Chooser(name)
        for choice in choices:
            chooser.addItem(title(choice), choice)
        chooser.currentIndexChanged.connect(lambda: self._report(field, {field: chooser.currentData()}))
        return chooser

    def _taker(self, name: str, field: str) -> Callable[[str], str]:
        def take(typed: str) -> str:
            try:
                value = parse_exact(typed)
            except ValueError as error:
                return str(error)
            shown = percent(value) if field == "confidence" else exact_text(value)
            refusal = self._session.edit(f"Set {name} to {shown}", self._edit({field: value}))
            return refusal.full if refusal else ""

        return take

    def _set_margin(self) -> None:
        convention: MarginConvention = self.margin.currentData()
        self._report(f"the {convention.value} margin convention", {"margin": convention})

    def _set_confidence(self) -> None:
        value: Fraction = self.confidence.currentData()
        self._report(f"{percent(value, places=0)} confidence", {"confidence": value})

    def _use_2020(self) -> None:
        self._session.report(
            self._session.edit(
                "Use the conventions of 2020", lambda scenario: set_field(scenario, "conventions", AS_IN_2020)
            )
        )

    def _report(self, name: str, fields: dict[str, Any]) -> None:
        refusal = self._session.edit(f"Use {name}", self._edit(fields))
        self._session.report(refusal)
        self._refresh()

    def _edit(self, fields: dict[str, Any]) -> Callable[[Any], Any]:
        return lambda scenario: set_field(scenario, "conventions", replace(scenario.conventions, **fields))

    def _refresh(self, _update: object = None) -> None:
        conventions: Conventions = self._session.scenario.conventions
        self.neighbours.select(conventions.neighbours)
        for number in range(self.margin.count()):
            title = margin_title(self.margin.itemData(number), conventions)
            if self.margin.itemText(number) != title:
                self.margin.setItemText(number, title)
        self.margin.select(conventions.margin)
        self.confidence.select(conventions.confidence)
        self.own_confidence.set_value(percent(conventions.confidence) if _is_unusual(conventions) else "")
        self.factor.set_value(exact_text(conventions.z))
        self.rounding.select(conventions.rounding)
        self.step.set_value(exact_text(conventions.rounding_step))
        self.delta.set_value(exact_text(conventions.delta))
        self.delta.setToolTip(power_text(conventions.delta))
        self.as_in_2020.setEnabled(conventions != AS_IN_2020)


def _is_unusual(conventions: Conventions) -> bool:
    return conventions.confidence not in _CONFIDENCES
