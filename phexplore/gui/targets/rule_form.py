"""One decision rule as fields: what is looked at, on which side of which limit, where."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from phexplore.decide.rule_evaluation import never_judged
from phexplore.errors import PhexploreError
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.buttons import Chooser
from phexplore.gui.widgets.labels import Text
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
_SHARES = frozenset({Measure.LARGEST_GROUP, Measure.COVERAGE})


class RuleForm(QWidget):
    """Fields of a rule; `rule` reads them, `show_rule` fills them."""

    def __init__(self) -> None:
        super().__init__()
        self.measure = Chooser("What the rule looks at", letters=22)
        for measure, (words, _) in _MEASURES.items():
            self.measure.addItem(words, measure)
        self.bound = Chooser("On which side of the limit")
        for bound in Bound:
            self.bound.addItem(bound.value, bound)
        self.limit = _field("Limit of the rule")
        self.place = _field("Where the rule holds", letters=26)
        self.place.setPlaceholderText("everywhere")
        self.place.setToolTip(
            "A table, a level, or a query such as PH3/state_A-G; empty = everywhere, the worst place decides"
        )
        self.figure = _field("Which figure of errors")
        self.figure.setPlaceholderText("e.g. mae")
        self.least = _field("Least people of an area that counts")
        self.tolerance = _field("How far a share may be off, points")
        self._unit = Text("", look="muted")
        self._rows: list[tuple[Text, QWidget]] = []
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(GRID + 4)
        grid.setVerticalSpacing(GRID)
        for number, (words, widget) in enumerate(
            (("What", self.measure), ("Is", self.bound), ("Limit", self.limit), ("Where", self.place),
             ("Figure", self.figure), ("Areas from", self.least), ("Within ± points", self.tolerance))
        ):  # fmt: skip
            label = Text(words, look="muted")
            label.setBuddy(widget)
            self._rows.append((label, widget))
            grid.addWidget(label, 2 * number, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(widget, 2 * number, 1)
            if widget is self.limit:  # below it: beside it there is no room in a narrow window
                grid.addWidget(self._unit, 2 * number + 1, 1)
        grid.setColumnStretch(1, 1)
        self.measure.currentIndexChanged.connect(self._follow_measure)
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
            self.place.text().strip() if measure not in {Measure.LOSS, Measure.EPSILON, Measure.CHECKS} else "",
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
        shown = {
            self.place: measure not in {Measure.LOSS, Measure.EPSILON, Measure.CHECKS},
            self.figure: measure is Measure.ERROR,
            self.least: measure is Measure.LARGEST_GROUP,
            self.tolerance: measure is Measure.LARGEST_GROUP,
        }
        for label, widget in self._rows:
            is_shown = shown.get(widget, True) if isinstance(widget, QLineEdit) else True
            label.setVisible(is_shown)
            widget.setVisible(is_shown)


def _field(name: str, *, letters: int = 12) -> QLineEdit:
    found = QLineEdit()
    found.setAccessibleName(name)
    found.setMaxLength(200)
    found.setMinimumWidth(letters * GRID // 2)
    return found
