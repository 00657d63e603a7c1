from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from PySide6.QtCore import QPointF, Qt

from phexplore.decide.frontier import Weighting
from phexplore.decide.trade_off import TradeRequest, trade_off
from phexplore.document.project import Project
from phexplore.gui.binding.session import Session
from phexplore.gui.targets.frontier_view import FrontierView
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.registry import loss_of, preset


def _shown(qtbot, session):
    found = FrontierView(session)
    qtbot.addWidget(found)
    found.resize(1200, 900)
    found.show()
    qtbot.waitUntil(lambda: found.answer is not None)
    return found


@pytest.fixture
def view(qtbot, session):
    found = _shown(qtbot, session)
    yield found
    found.stop()


@pytest.fixture
def topdown(qtbot):
    scenario = replace(preset("pl94-2020-persons-us").scenario, name="Proposal")
    found = _shown(qtbot, Session(Project.new(Workbook((scenario,), "Proposal"))))
    yield found
    found.stop()


def _wait(qtbot, view, act):
    before = view.answer
    act()
    qtbot.waitUntil(lambda: view.answer is not before)


def test_that_a_point_loads_as_a_scenario_with_its_total(qtbot, view, session) -> None:
    view.curve.canvas.setFocus()
    qtbot.keyClick(view.curve.canvas, Qt.Key.Key_Home)
    qtbot.keyClick(view.curve.canvas, Qt.Key.Key_Right)
    point = view.answer.curve.points[1]
    assert view.curve.chosen_key == 1
    qtbot.keyClick(view.curve.canvas, Qt.Key.Key_Return)
    assert len(session.project.workbook.scenarios) == 2
    assert loss_of(session.scenario).bound == point.headline
    session.undo()
    assert len(session.project.workbook.scenarios) == 1


def test_that_a_click_chooses_the_point_under_the_pointer(view) -> None:
    pixels, figure = view.curve.canvas.pixels, view.curve.plot.figure
    dot = figure.marks[3].parts[0]
    place = QPointF(pixels.x(figure.x.position(dot.x)), pixels.y(figure.y.position(dot.y)))
    view.curve.plot.gestures.pointer_pressed(QPointF(place.x() + 2, place.y() - 2))
    assert view.curve.chosen_key == 3
    assert view.load_button.isEnabled()
    view.curve.plot.gestures.pointer_pressed(QPointF(place.x() + 60, place.y() - 60))
    assert view.curve.chosen_key == 3


def test_that_other_weights_give_another_curve(qtbot, view) -> None:
    assert "the weights that these budgets imply" in view.curve.title
    _wait(qtbot, view, lambda: view.weights.setCurrentIndex(view.weights.findData(Weighting.PEOPLE)))
    assert "give the same weighted margin for" in view.curve.title
    assert view.answer.curve.best_margin < view.answer.curve.present_margin


def test_that_one_per_cent_buys_what_more_budget_gives(view) -> None:
    query = view.answer.curve.queries[4]
    bar = next(each for each in view.prices.marks if each.key == query.key.text)
    more = query.budget + view.answer.curve.present_total / 100
    assert bar.value == pytest.approx(query.margin - (query.area / float(more)) ** 0.5)


def test_that_leaving_out_a_level_frees_what_the_bar_says(qtbot, view, session) -> None:
    entry = view.answer.left_out[0]
    before = session.shown.figures.privacy.total
    view.drop(entry.name)
    assert before - session.shown.figures.privacy.total == entry.frees
    assert not set(entry.queries) & set(session.scenario.phsafe.published)
    assert session.project.labels[-1] == f"Leave out {entry.name}"


def test_that_topdown_saves_what_is_left_out(qtbot, topdown) -> None:
    session = topdown._session
    before = session.scenario.topdown
    entry = topdown.answer.left_out[0]
    topdown.drop(entry.name)
    after = session.scenario.topdown
    assert float(before.total - after.total) == pytest.approx(float(entry.frees), rel=1e-5)
    left = [key for key in before.query_shares if key not in entry.queries]
    assert all(float(after.budget(key)) == pytest.approx(float(before.budget(key)), rel=1e-4) for key in left)


def test_that_the_guess_and_reliability_follow_their_fields(qtbot, view) -> None:
    assert "500 are right without" in view._risk.text()
    assert view.prior.take("0.4").startswith("The better of two")
    _wait(qtbot, view, lambda: view.prior.take("0.9"))
    assert "900 are right without" in view._risk.text()
    first = view._reliable.item(0, 1).text()
    _wait(qtbot, view, lambda: view.relative.take("10"))
    assert view._reliable.item(0, 1).text() != first
    assert view.relative.take("0")


def test_that_what_has_no_trade_off_says_so(us) -> None:
    pure = replace(us, method=replace(us.phsafe, framework=PrivacyFramework.PURE_DP))
    assert "zCDP" in trade_off(TradeRequest(pure)).frontier.summary
    query = us.phsafe.published[0]
    endless = set_budget(us, query, UNLIMITED)
    found = trade_off(TradeRequest(endless))
    assert found.curve is None
    assert found.risk is None


def test_that_an_empty_scenario_is_drawn(us) -> None:
    nothing = replace(us, method=replace(us.phsafe, budgets=dict.fromkeys(us.phsafe.budgets, Fraction(0))))
    found = trade_off(TradeRequest(nothing))
    assert "Nothing is published" in found.frontier.summary
    assert found.left_bars.marks == ()
    assert max(found.left_bars.x.values_between(0.0, 150.0)) == 100.0  # no share is larger
    assert found.reliable == ()


def test_that_households_and_families_together_are_no_people(us) -> None:
    kept = {
        key: value if key.table in {"PH1_denom", "PH5_denom"} else Fraction(0)
        for key, value in us.phsafe.budgets.items()
    }
    found = trade_off(TradeRequest(replace(us, method=replace(us.phsafe, budgets=kept))))
    assert found.frontier.y.title == "weighted margin, housing units"
    assert found.prices.x.title.startswith("housing units the margin shrinks by")


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("sdhc-2020-us", "people or households"),
        ("dhc-2020-units-us", "households"),
        ("pl94-2020-units-us", "housing units"),
        ("pl94-2020-persons-us", "people"),
    ],
)
def test_that_the_trade_off_says_what_is_counted(name, unit) -> None:
    found = trade_off(TradeRequest(preset(name).scenario))
    assert found.frontier.y.title == f"weighted margin, {unit}"
    assert found.frontier.marks[0].tip.splitlines()[1].endswith(f" {unit}")
    assert found.prices.x.title.startswith(f"{unit} the margin shrinks by")
    said = "\n".join((found.prices.title, *(words for _query, words in found.reliable)))
    assert ("people" in said) is ("people" in unit)
    assert (
        "for Households (Nation, all races) alone buys" not in found.prices.title
        or "households there" in found.prices.title
    )
