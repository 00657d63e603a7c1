"""One decision rule as fields: what is looked at, on which side of which limit, where."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QWidget

from phexplore.decide.rule_evaluation import never_judged
from phexplore.errors import PhexploreError
from phexplore.gui.theme.metrics import HALF
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, form
from phexplore.gui.widgets.number_field import LineField
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.rules import REDISTRICTING, Bound, Measure, Rule
from phexplore.model.scenario import Scenario

_MEASURES = {
    Measure.MARGIN: ("Margin of error", "people"),
    Measure.LOSS: ("Privacy loss (ρ or ε)", "as stated"),
    Measure.EPSILON: ("ε at δ = 10⁻¹⁰", "ε"),
    Measure.LARGEST_GROUP: ("Areas that keep their largest group", "% of areas"),
    Measure.COVERAGE: ("Coverage of the margin", "% of numbers"),
    Measure.ERROR: ("A figure of errors", "in its unit"),
    Measure.CHECKS: ("Failed checks", "checks"),
}
_EVERYWHERE = frozenset({Measure.LOSS, Measure.EPSILON, Measure.CHECKS})
_SHARES = frozenset({Measure.LARGEST_GROUP, Measure.COVERAGE})


class RuleForm(QWidget):
    """Fields of a rule; `rule` reads them, `show_rule` fills them."""

    def __init__(self) -> None:
        super().__init__()
        measures = [(words, measure) for measure, (words, _) in _MEASURES.items()]
        self.measure = Chooser("What the rule looks at", letters=22, options=measures, run=self._follow_measure)
        self.bound = Chooser("On which side of the limit", options=[(bound.value, bound) for bound in Bound])
        self.limit = LineField("Limit of the rule")
        self.place = LineField("Where the rule holds", example="everywhere")
        tip = "A table, a level, or a query such as PH3/state_A-G; empty = everywhere, the worst place decides"
        self.place.setToolTip(tip)
        self.figure = LineField("Which figure of errors", example="e.g. mae")
        self.least = LineField("Least people of an area that counts")
        self.tolerance = LineField("How far a share may be off, points")
        for field in (self.limit, self.place, self.figure, self.least, self.tolerance):
            field.setMaxLength(200)
        self._unit = Text("", look="muted")
        # The unit stands below the limit: beside it there is no room in a narrow window.
        self._form = form(
            ("What", self.measure), ("Is", self.bound), ("Limit", column(self.limit, self._unit, gap=HALF), self.limit),
            ("Where", self.place), ("Figure", self.figure), ("Areas from", self.least),
            ("Within ± points", self.tolerance), of=self,
        )  # fmt: skip
        self.show_rule(REDISTRICTING)

    def offer_for(self, scenario: Scenario) -> None:
        """Disable what no run of the scenario's system can judge; the tool tip says why."""
        model = self.measure.model()
        if not isinstance(model, QStandardItemModel):
            raise TypeError("the chooser of measures has another model")
        for row in range(self.measure.count()):
            reason = never_judged(self.measure.itemData(row), scenario)
            model.item(row).setEnabled(not reason)
            model.item(row).setToolTip(f"Not for this scenario: {reason}" if reason else "")
        chosen = model.item(self.measure.currentIndex())
        if chosen is not None and not chosen.isEnabled() and not self.problem() and self.rule() == REDISTRICTING:
            self.measure.setCurrentIndex(self.measure.findData(Measure.MARGIN))
            self.bound.setCurrentIndex(self.bound.findData(Bound.AT_MOST))
            self.limit.clear()

    def rule(self) -> Rule:
        """Return what the fields say.

        Raises:
            PhexploreError: the rule says nothing or contradicts itself.
            ValueError: a number cannot be read.
        """
        measure = self.measure.currentData()
        limit = parse_exact(self.limit.text())
        people = self.least.text().strip()
        if measure is Measure.LARGEST_GROUP and not people.isdigit():
            raise ValueError(f"{people!r} is no whole number of people")
        of_groups = measure is Measure.LARGEST_GROUP
        return Rule(
            measure,
            self.bound.currentData(),
            limit / 100 if measure in _SHARES else limit,
            self.place.text().strip() if measure not in _EVERYWHERE else "",
            self.figure.text().strip() if measure is Measure.ERROR else "",
            int(people) if of_groups else 500,
            parse_exact(self.tolerance.text()) / 100 if of_groups else Fraction(1, 20),
        )

    def problem(self) -> str:
        """Return why the fields are no rule, "" when they are one."""
        try:
            self.rule()
        except PhexploreError as error:
            return error.full
        except ValueError as error:
            return f"{error}."
        return ""

    def show_rule(self, rule: Rule) -> None:
        """Fill the fields."""
        self.measure.setCurrentIndex(self.measure.findData(rule.measure))
        self.bound.setCurrentIndex(self.bound.findData(rule.bound))
        self.limit.setText(exact_text(rule.limit * 100 if rule.measure in _SHARES else rule.limit))
        self.place.setText(rule.place)
        self.figure.setText(rule.figure)
        self.least.setText(str(rule.least_people))
        self.tolerance.setText(exact_text(rule.tolerance * 100))
        self._follow_measure()

    def _follow_measure(self, _number: int = 0) -> None:
        measure = self.measure.currentData()
        self._unit.setText(_MEASURES[measure][1])
        is_of_groups = measure is Measure.LARGEST_GROUP
        for field, is_asked in (
            (self.place, measure not in _EVERYWHERE),
            (self.figure, measure is Measure.ERROR),
            (self.least, is_of_groups),
            (self.tolerance, is_of_groups),
        ):
            self._form.setRowVisible(field, is_asked)
