"""Vary: parameters over values, in a process beside the window, with the numbers of a sweep in Python."""

from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import QObject, Qt, Signal

import phexplore as px
from phexplore.decide.sweep_answer import PointRuns, SweepRequest, answer, read_values
from phexplore.document.project import Project
from phexplore.figures.wording import capital
from phexplore.gui.binding.session import Session
from phexplore.gui.targets.vary_view import VaryView, _shown
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import preset

WAIT = 120_000


@pytest.fixture
def view(qtbot, session, tmp_path):
    found = VaryView(session, lambda: tmp_path / "sweeps")
    qtbot.addWidget(found)
    found.show()
    qtbot.waitUntil(lambda: found.first.parameter.count() > 0)
    yield found
    found.stop()


def _choose(chooser, value) -> None:
    chooser.setCurrentIndex(chooser.values.index(value))


def _answered(qtbot, view):
    with qtbot.waitSignal(view.service.answered, timeout=WAIT):
        qtbot.mouseClick(view.start_button, Qt.MouseButton.LeftButton)
    return view.figure.numbers


def test_that_the_table_is_the_one_of_python(qtbot, view, session) -> None:
    _choose(view.first.parameter, "budget PH3/state_A-G")
    view.first.values.setText("0.01 to 0.04 in 4")
    _choose(view.second.parameter, "threshold PH3")
    view.second.values.setText("3; 8")
    _choose(view.measure, "PH3/state_A-G")
    numbers = _answered(qtbot, view)
    grid = {"budget PH3/state_A-G": ["0.01", "0.02", "0.03", "0.04"], "threshold PH3": [3, 8]}
    wanted = px.sweep("sdhc-2020-us", grid, measure=["PH3/state_A-G"])
    assert [row[-1] for row in numbers.rows] == wanted["PH3/state_A-G"].tolist()
    assert [row[2] for row in numbers.rows] == wanted.exact.tolist()
    assert view.column.currentData() == "PH3/state_A-G"
    _choose(view.column, "epsilon")
    assert "ε" in view.figure.title


def test_that_wrong_values_are_refused_beside_the_fields(qtbot, view) -> None:
    for text in ("", "1 to 2 in 1", "1 to x in 3"):
        view.first.values.setText(text)
        qtbot.mouseClick(view.start_button, Qt.MouseButton.LeftButton)
        assert view.reason.text()
        assert not view.service.is_busy
    view.first.values.setText("-1; 2")
    with qtbot.waitSignal(view.service.failed, timeout=WAIT):
        qtbot.mouseClick(view.start_button, Qt.MouseButton.LeftButton)
    assert "-1" in view.reason.text()
    assert not view.doing.text()
    view.first.values.setText("0.01; 0")
    _answered(qtbot, view)
    assert view.reason.isHidden(), "a refusal ends with its cause"


def test_that_a_cancelled_sweep_goes_on_from_what_was_run(qtbot, view, tmp_path) -> None:
    _choose(view.first.parameter, "threshold PH2")
    view.first.values.setText("6; 8; 10")
    view.runs.setChecked(True)
    qtbot.mouseClick(view.start_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(list((tmp_path / "sweeps").glob("*/*/summary.json"))) >= 1, timeout=WAIT)
    qtbot.mouseClick(view.cancel_button, Qt.MouseButton.LeftButton)
    assert not view.service.is_busy
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "sweeps").glob("*/*/summary.json")}
    view.workers.setValue(2)
    numbers = _answered(qtbot, view)
    assert len(numbers.rows) == 3
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(numbers.headers) > 3


def test_that_ranges_are_exact_and_words_stay() -> None:
    assert read_values("0 to 1 in 4") == ["0", "1/3", "2/3", "1"]
    assert read_values("1;2 4") == ["1", "2", "4"]
    assert read_values("exact; normal") == ["exact", "normal"]


def test_that_progress_counts_points_and_folders_differ_by_what_is_asked(tmp_path) -> None:
    told = []
    answer(SweepRequest(preset("sdhc-2020-us").scenario, {"threshold PH2": ["6", "8"]}), told.append)
    assert [(each.done, each.count) for each in told] == [(1, 2), (2, 2)]
    assert PointRuns(tmp_path, trials=1).directory != PointRuns(tmp_path, trials=2).directory


def test_that_all_fields_begin_below_each_other(view) -> None:
    view.resize(1000, 600)
    view.show()
    fields = (view.first.parameter, view.first.values, view.second.parameter, view.second.values, view.measure)
    assert len({field.x() for field in fields}) == 1


class Data(QObject):
    """The blocks of a project."""

    changed = Signal()
    blocks = None


def test_that_the_blocks_of_the_project_are_offered_and_what_was_typed_stays(qtbot, tmp_path) -> None:
    scenario, data = preset("pl94-2020-persons-us").scenario, Data()
    session = Session(Project.new(Workbook((scenario,), scenario.name)))
    view = VaryView(session, lambda: tmp_path / "sweeps", data=data)
    qtbot.addWidget(view)
    view.show()
    qtbot.waitUntil(lambda: view.data.text() == "demo")
    data.blocks = tmp_path / "blocks.csv"
    data.changed.emit()
    qtbot.waitUntil(lambda: view.data.text() == str(data.blocks))
    view.data.setText("other.csv")
    data.blocks = None
    data.changed.emit()
    qtbot.wait(50)
    assert view.data.text() == "other.csv"
    view.stop()


def test_that_nothing_is_said_of_an_empty_value(qtbot, tmp_path) -> None:
    scenario = preset("counties-invariant-2010").scenario
    view = VaryView(Session(Project.new(Workbook((scenario,), scenario.name))), lambda: tmp_path / "sweeps")
    qtbot.addWidget(view)
    view.show()
    qtbot.waitUntil(lambda: view.first.parameter.count() > 1)
    said = {}
    for path in view.first.parameter.values:
        _choose(view.first.parameter, path)
        said[path] = "" if view.first._now.isHidden() else view.first._now.text()
    assert not any(words.endswith("now .") for words in said.values())
    assert any(": now " in words for words in said.values())
    view.stop()


@pytest.mark.parametrize(("value", "words"), [(Fraction(104, 4099), "104/4099, about 0.025372"), (Fraction(1, 4), "0.25"),
                                              (Fraction(10**40 + 1, 3 * 10**40), "about 0.333333")])  # fmt: skip
def test_that_a_long_fraction_does_not_widen_the_form(value, words) -> None:
    """Two hundred digits took the room of the picture."""
    assert _shown(value) == words


@pytest.mark.parametrize(
    ("path", "title", "example", "span"),
    [
        (
            "budget PH3/state_A-G",
            "budget of PH3 (State, A-G)",
            "0.331488; 0.662976; 1.325952",
            "0.331488 to 1.325952 in 4",
        ),
        ("threshold PH3", "threshold of PH3", "3; 6; 12", "3 to 12 in 4"),
        ("conventions: neighbours", "conventions: neighbours", "bounded; unbounded", ""),
    ],
)
def test_that_the_example_fits_the_parameter_and_is_understood(view, session, path, title, example, span) -> None:
    """Every parameter had the example `0.5 to 4 in 8`: a budget of 5 for a query of 0.002."""
    _choose(view.first.parameter, path)
    assert (view.first.parameter.currentText(), view.first.values.placeholderText()) == (title, example)
    assert view.first._now.text().startswith(f"{capital(title)}: now ")
    assert span in view.first._now.text()
    for text in filter(None, (example, span)):
        grid = {path: read_values(text)}
        figure = answer(SweepRequest(session.scenario, grid), lambda _: None).figures["epsilon"]
        assert title in figure.title


def test_that_a_margin_is_chosen_by_the_name_of_its_query(view) -> None:
    place = view.measure.values.index("PH3/state_A-G")
    assert view.measure.itemText(place) == "PH3 (State, A-G)"
