from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QObject, QPointF, Qt, Signal

from phexplore.document.project import Project
from phexplore.gui.systems.phsafe.truncation_view import StudioView, run_study
from phexplore.model.keys import parse_query
from phexplore.model.workbook import Workbook
from phexplore.runs.spec import RunSpec, describe_data
from phexplore.runs.store import prepare_directory
from phexplore.systems.phsafe.budget_edits import Keep
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.truncation_sources import SizeSource, StudyRequest

DEMO = Path("demo")
PH7 = parse_query("PH7/state_A-G")


@dataclass
class OneRun:
    directory: Path
    spec: object = field(default_factory=lambda: SimpleNamespace(scenario=SimpleNamespace(name="Proposal")))
    trials: int = 1


class Runs(QObject):
    changed = Signal()

    def __init__(self, rows) -> None:
        super().__init__()
        self.rows = rows


@pytest.fixture
def run(tmp_path, us):
    """A run on synthetic records that counted its households."""
    home = prepare_directory(tmp_path / "first", RunSpec(us, describe_data(DEMO), 1, 7))
    sizes = [{"size": 1, "households": 100}, {"size": 12, "households": 10}]
    (home / "summary.json").write_text(json.dumps({"truncation": [{"table": "PH7", "sizes": sizes}]}))
    return home


@pytest.fixture
def view(qtbot, session, run):
    session.select(PH7)
    found = StudioView(session, Runs([OneRun(run)]))
    qtbot.addWidget(found)
    found.resize(1100, 600)
    found.show()
    qtbot.waitUntil(lambda: found.answer is not None)
    yield found
    found.stop()


def _wait(qtbot, view):
    qtbot.waitUntil(lambda: view.answer.request is view._asked)


@pytest.mark.defect("S4")
def test_that_a_table_of_children_is_studied_with_children_per_household(qtbot, view) -> None:
    young = parse_query("PH3/state_A-G")
    view.query.select(young)
    view._request()
    _wait(qtbot, view)
    assert view.answer.found.best < 12
    assert view.answer.request.part == Fraction(1, 51)
    assert view.answer.request.share == Fraction(1, 49)
    for words in ("PH3 counts children under 18", "synthetic population", "average of the 49 numbers"):
        assert words in view._basis.text()
    assert "one τ serves the nation and every state" in view._words.text()
    view.choose_source(SizeSource(is_published=True))
    _wait(qtbot, view)
    assert view.answer.found is None
    assert "count everybody" in view.answer.refused


def test_that_the_bias_of_a_run_is_what_truncation_cuts(qtbot, view, run) -> None:
    view.share.take("1")
    view.choose_source(SizeSource(run=run))
    _wait(qtbot, view)
    by_tau = {point.threshold: point for point in view.answer.found.points}
    assert by_tau[10].bias == -20
    assert by_tau[12].bias == 0
    assert by_tau[10].households_cut == pytest.approx(10 / 110)
    assert by_tau[10].rmse == pytest.approx((by_tau[10].bias ** 2 + by_tau[10].deviation ** 2) ** 0.5)


def test_that_a_threshold_is_taken_as_one_edit_by_keyboard(qtbot, view, session) -> None:
    view.chart.canvas.setFocus()
    qtbot.keyClick(view.chart.canvas, Qt.Key.Key_Home)
    for _ in range(4):
        qtbot.keyClick(view.chart.canvas, Qt.Key.Key_Right)
    assert view.chart.chosen_key == 5
    assert "τ = 5" in view._words.text()
    steps = session.project.cursor
    qtbot.keyClick(view.chart.canvas, Qt.Key.Key_Return)
    assert session.scenario.phsafe.thresholds["PH7"] == 5
    assert session.project.cursor == steps + 1
    session.undo()
    assert session.scenario.phsafe.thresholds["PH7"] == 10


def test_that_keeping_margins_moves_budgets(qtbot, view, session) -> None:
    view.keep.setCurrentIndex(view.keep.findData(Keep.MARGINS))
    _wait(qtbot, view)
    margins = [point.margin for point in view.answer.found.points]
    assert max(margins) <= 68
    assert "Cheapest threshold" in view._words.text() or view.answer.found.cheapest is None
    before = session.scenario.phsafe.budgets[PH7]
    view.take(12)
    assert session.scenario.phsafe.budgets[PH7] > before


def test_that_a_place_with_few_households_has_another_best(qtbot, view) -> None:
    best = view.answer.found.best
    assert view.part.take("0").startswith("Enter more than 0")
    assert view.part.take("1/100000") == ""
    _wait(qtbot, view)
    assert view.answer.found.best < best
    view.chart.plot.gestures.pointer_moved(QPointF(view.chart.canvas.pixels.x(3), 50))


def test_that_a_file_is_read_and_a_bad_one_named(qtbot, view, tmp_path) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("size,households\n1,10\n3,5\n7+,1\n")
    bad.write_text("size,households\nx,10\n")
    view.read_file(good)
    _wait(qtbot, view)
    assert view.answer.found.sizes.households == 16
    assert "open" in view.chart.summary
    view.read_file(bad)
    _wait(qtbot, view)
    assert view.answer.found is None
    assert "bad.csv" in view.answer.refused or "whole numbers" in view.answer.refused


def test_that_a_query_without_noise_is_refused_in_words(us) -> None:
    left_out = set_budget(us, PH7, Fraction(0))
    found = run_study(StudyRequest(left_out, PH7, SizeSource()))
    assert "not at all" in found.refused
    young = parse_query("PH3/state_A-G")
    assert run_study(StudyRequest(replace(us), young, SizeSource("44"))).found is not None


@pytest.mark.defect("M6")
def test_that_sizes_of_one_project_are_not_studied_in_the_next(qtbot, view, session, tmp_path) -> None:
    (tmp_path / "sizes.csv").write_text("size,households\n1,100\n12,10\n")
    view.read_file(tmp_path / "sizes.csv")
    _wait(qtbot, view)
    session.install(Project.new(Workbook((session.scenario,), session.scenario.name)))
    qtbot.waitUntil(lambda: view.source.currentData() == SizeSource())
    offered = [view.source.itemData(number).file for number in range(view.source.count())]
    assert set(offered) == {None}


@pytest.mark.defect("M9")
def test_that_the_studio_scrolls_where_the_screen_is_low_and_does_not_push_the_window_beyond_it(view) -> None:
    assert view.minimumSizeHint().height() <= 400
    view.resize(1100, 300)
    assert view.chart.height() >= view.chart.minimumSizeHint().height()
