"""The field of runs to compare with."""

from __future__ import annotations

from phexplore.gui.run_manager.result_choosers import RunsField
from phexplore.systems.run_results import Asks, Chooser, Option
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
    for action in button.runs.actions():
        if action.isEnabled():
            action.setChecked(True)
    assert len(button.chosen) == MOST_RUNS - 1
