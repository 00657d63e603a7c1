"""The fields above a picture: runs to compare with, names that are typed."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from phexplore.gui.run_manager.result_choosers import FileField, ResultChoosers, RunsField
from phexplore.systems.run_results import NAMES, Asks, Chooser, Option
from phexplore.systems.topdown.run_choice import MOST_RUNS


def test_that_the_button_keeps_its_ticks_and_says_how_many(qtbot, tmp_path):
    told = []
    runs = tuple(str(tmp_path / str(number)) for number in range(8))
    offer = Chooser("others", "", "Runs", tuple(map(Option, runs)), runs[:1], Asks.RUNS, most=MOST_RUNS - 1)
    button = RunsField(offer, told.append)
    qtbot.addWidget(button)
    button.show_offer(offer, {runs[2]: "the third"})
    assert button.chosen == runs[:1]
    assert button.runs.actions()[2].text() == "the third"
    button.runs.actions()[3].setChecked(True)
    assert told == [(runs[0], runs[3])]
    assert button.text() == "Compare with 2…"
    assert button.accessibleName() == "Compare with 2: Runs"
    for action in button.runs.actions():
        if action.isEnabled():
            action.setChecked(True)
    assert len(button.chosen) == MOST_RUNS - 1


def test_that_the_button_of_a_file_is_called_by_what_stands_on_it(qtbot, tmp_path):
    offer = Chooser(
        "shapes", "", "Choose the file of the shapes", (Option(""),), str(tmp_path / "ri.geojson"), Asks.FILE
    )
    button = FileField(offer, print)
    qtbot.addWidget(button)
    button.show_offer(offer, {})
    assert button.accessibleName() == "ri.geojson: Choose the file of the shapes"


def test_that_names_are_asked_for_and_offered_while_somebody_types(qtbot):
    told = []
    choosers = ResultChoosers()
    qtbot.addWidget(choosers)
    choosers.chosen.connect(lambda *choice: told.append(choice))
    offer = Chooser("find", "Fi&nd", "Name of a place", asks=Asks.TEXT, letters=20)
    choosers.show_offers([offer], {})
    choosers.show()
    field = choosers.fields["find"]
    field.setFocus()
    qtbot.waitUntil(lambda: told == [(NAMES, "wanted", ())])
    QTest.keyClicks(field, "prov")
    known = tuple(map(Option, ("Barrington town", "East Providence city", "Providence city")))
    choosers.show_offers([replace(offer, label="Ma&ke up", options=known)], {})
    popup = field.completer().popup()
    assert popup.isVisible()
    assert [popup.model().index(row, 0).data() for row in range(popup.model().rowCount())] == [
        "Providence city",
        "East Providence city",
    ]
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert told[-1] == ("find", "Providence city", ())
    assert "Ma&ke up" in {label.text() for label in choosers.findChildren(QLabel)}


def test_that_a_long_name_is_read_whole_in_its_field(qtbot):
    choosers = ResultChoosers()
    qtbot.addWidget(choosers)
    name = "block group 1, tract 30, Bristol County, RI"
    offer = Chooser("place", "&Place", "Place", chosen=name, asks=Asks.TEXT, letters=20)
    choosers.show_offers([offer], {})
    field = choosers.fields["place"]
    assert field.text() == name
    assert field.contentsRect().width() - 12 >= field.fontMetrics().horizontalAdvance(name)
