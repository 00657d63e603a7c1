"""A form made of declared fields: every kind has its control, what is refused stays with its reason."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QLabel

from phexplore.gui.widgets.form import DeclaredForm
from phexplore.model.fields import Declared, declared, declared_fields, parameter
from phexplore.model.kinds import Choice, Entries, Exact, Flag, Listing, Text, Whole


class Shape(enum.Enum):
    ROUND = "round"
    SQUARE = "square"


@declared
class Thing(Declared):
    """A thing.

    Attributes:
        budget: what it may cost.
    """

    budget: Fraction = parameter(Exact(above=0), symbol="ρ")
    count: int = parameter(Whole(1, 9), title="number of things")
    shape: Shape = parameter(Choice(Shape), default=Shape.ROUND)
    heavy: bool = parameter(Flag(), default=False)
    shares: Mapping[str, Fraction] = parameter(Entries(Exact(low=0, high=1)), default={}, title="share")
    names: tuple[str, ...] = parameter(Listing(Text()), default=())


THING = Thing(Fraction(1, 2), 3, shares={"County": Fraction(1, 4), "State": Fraction(3, 4)}, names=("a", "b"))


@pytest.fixture
def taken():
    return []


@pytest.fixture
def form(qtbot, taken):
    def take(part, key, value):
        taken.append((part.name, key, value))
        return "" if value != Fraction(7) else "Seven is refused."

    found = DeclaredForm(declared_fields(Thing), take, words={"shape": lambda shape: shape.value.upper()})
    qtbot.addWidget(found)
    found.show_value(THING)
    found.show()
    return found


def type_into(qtbot, line, text):
    line.selectAll()
    qtbot.keyClicks(line, text)
    qtbot.keyClick(line, Qt.Key.Key_Return)


def test_that_values_are_shown_as_people_write_them_and_showing_edits_nothing(form, taken) -> None:
    assert form.controls["budget"].line.text() == "0.5"
    assert form.controls["count"].line.text() == "3"
    assert form.controls["shape"].chooser.currentText() == "ROUND"
    assert not form.controls["heavy"].isChecked()
    assert [field.line.text() for field in form.controls["shares"].fields.values()] == ["0.25", "0.75"]
    assert form.controls["names"].text() == "a, b"
    assert taken == []


def test_that_typed_chosen_and_ticked_values_are_taken_exactly(qtbot, form, taken) -> None:
    type_into(qtbot, form.controls["budget"].line, "1/3")
    type_into(qtbot, form.controls["count"].line, "4")
    type_into(qtbot, form.controls["shares"].fields["State"].line, "0.5")
    form.controls["shape"].chooser.setCurrentIndex(1)
    form.controls["heavy"].click()
    assert taken == [
        ("budget", None, Fraction(1, 3)),
        ("count", None, 4),
        ("shares", "State", Fraction(1, 2)),
        ("shape", None, Shape.SQUARE),
        ("heavy", None, True),
    ]


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [("budget", "-1", "positive"), ("budget", "much", "much"), ("count", "10", "1"), ("budget", "7", "Seven")],
)
def test_that_a_refused_entry_stays_with_its_reason_below(qtbot, form, taken, field, typed, said) -> None:
    control = form.controls[field]
    type_into(qtbot, control.line, typed)
    assert control.line.text() == typed
    assert said in control.reason
    assert taken in ([], [("budget", None, Fraction(7))])


def test_that_every_row_has_a_label_with_its_field_as_buddy_and_its_sentence_as_tip(form) -> None:
    rows = form.layout()
    assert isinstance(rows, QFormLayout)
    for number in range(rows.rowCount()):
        item = rows.itemAt(number, QFormLayout.ItemRole.LabelRole)
        if item is not None and isinstance(item.widget(), QLabel) and item.widget().text():
            assert item.widget().buddy() is not None
    assert form.controls["budget"].toolTip() == "What it may cost."


def test_that_entries_follow_the_keys(form) -> None:
    form.show_value(Thing(Fraction(1), 1, shares={"Nation": Fraction(1)}))
    assert list(form.controls["shares"].fields) == ["Nation"]
