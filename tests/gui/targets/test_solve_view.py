from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QApplication

from phexplore.accuracy.solving_separable import solve
from phexplore.catalog.names import Naming, called
from phexplore.decide.solving import Basis, change_lines, headline, rounding_line
from phexplore.document.project import Project
from phexplore.gui.binding.session import Session
from phexplore.gui.tables.parameter_table import Tone
from phexplore.gui.targets.goal_edits import set_floors, set_targets
from phexplore.gui.targets.goal_table import GoalColumn
from phexplore.gui.targets.solve_panel import STALE
from phexplore.gui.targets.solve_view import SolveView
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.model.edits import set_item
from phexplore.model.goal_edits import with_margins
from phexplore.model.goals import Cap, CapOn, Goals, TiedBy
from phexplore.model.keys import parse_query
from phexplore.model.numbers import Unlimited
from phexplore.model.topdown import LevelQuery
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.registry import budgets_of, preset

PH7 = parse_query("PH7/state_A-G")


@pytest.fixture
def view(qtbot, session):
    found = SolveView(session)
    qtbot.addWidget(found)
    found.resize(1100, 700)
    found.show()
    yield found
    found.stop()


@pytest.fixture
def topdown(qtbot):
    scenario = replace(preset("pl94-2020-persons-us").scenario, name="Proposal")
    session = Session(Project.new(Workbook((scenario,), "Proposal")))
    found = SolveView(session)
    qtbot.addWidget(found)
    found.show()
    yield found
    found.stop()


def _solve(qtbot, view, **how):
    view.solve(**how)
    qtbot.waitUntil(lambda: view.panel.answer is not None and view.panel.answer.request is view._asked)
    return view.panel.answer


def _cell(view, query, column):
    row = [each.key for each in view.table.rows].index(query)
    return view.table.index(row, column)


def test_that_names_of_queries_are_whole_beside_the_caps_of_a_small_window(view) -> None:
    with called(Naming.NAMES):
        view.view.widths.measure()
        wanted = QFontMetrics(appearance().font()).horizontalAdvance("People in households by age (Nation, all races)")
        assert view.view.columnWidth(0) > wanted
    view.view.widths.measure()


def test_that_caps_of_topdown_are_over_levels_and_queries_by_name(topdown) -> None:
    with called(Naming.NAMES):
        titles = budgets_of(topdown._session.scenario).scopes()
    assert {"Level Block group", "votingage × hispanic, all levels"} <= set(titles)


def test_that_as_in_2020_gives_all_published_budgets_with_one_click(qtbot, view, session) -> None:
    view.as_in_2020.click()
    qtbot.waitUntil(lambda: view.panel.answer is not None)
    assert "46 of 46 budgets equal" in view.panel.sentence.text()
    assert "differ in 27 of 46" in view.panel.sentence.text()
    assert view.panel._directions.rowCount() == 27
    assert session.project.cursor == 0


def test_that_the_solution_is_shown_beside_the_present_and_applied_as_one_step(qtbot, view, session, query) -> None:
    assert view.table.setData(_cell(view, query, GoalColumn.TARGET), "30")
    before = session.scenario
    assert view.view.isColumnHidden(GoalColumn.SOLVED)  # names get the room of what nothing was solved for
    found = _solve(qtbot, view)
    assert not view.view.isColumnHidden(GoalColumn.SOLVED)
    wanted = solve(budgets_of(before), Goals(margins={query: Fraction(30)})).scenario.phsafe.budgets[query]
    assert found.solved.scenario.phsafe.budgets[query] == wanted
    assert view.table.data(_cell(view, query, GoalColumn.SOLVED)) == f"{float(wanted):.6f}"
    assert query.title in [
        name for name, _ in change_lines(found.solved)
    ]  # its target is why: nothing is said after it
    assert session.scenario is before
    assert view.solves.accessibleDescription() == view.panel.title.text()  # heard where it was asked for
    steps = session.project.cursor
    view.panel.apply.setFocus()
    view.apply()
    assert view.window().focusWidget() is view.solves, "not whatever follows the button, which goes"
    assert session.project.cursor == steps + 1
    assert session.scenario.phsafe.budgets[query] == wanted
    assert session.scenario.phsafe.targets[query] == 30
    assert view.edits.goals == Goals()
    assert view.panel.title.text() == "Applied"
    assert view.solves.accessibleDescription() == ""
    session.undo()
    assert session.scenario == before
    assert view.panel.title.text() == "Not solved yet"
    assert before.phsafe.targets[query] == 30


def test_that_a_name_that_is_cut_is_whole_in_its_tip(view, query) -> None:
    name = _cell(view, query, GoalColumn.QUERY)
    assert name.data(Qt.ItemDataRole.ToolTipRole).splitlines()[0] == name.data()


@pytest.mark.defect("M1")
def test_that_a_missed_goal_is_told_by_a_word_and_counted_above_the_table(view, session, query) -> None:
    """A goal of 10 beside a margin of 20 looked like all others."""
    assert (
        view.finding.text()
        == "46 of 46 goals are met now. Margins at 90 %, in people, households, families or occupied housing units."
    )
    assert view.edits.change("Read goals", lambda goals: with_margins(goals, {query: Fraction(10)})) is None
    margin = _cell(view, query, GoalColumn.MARGIN)
    assert margin.data() == "missed 20.0"
    tones = {view.table.cell(margin.row(), column).tone for column in (GoalColumn.MARGIN, GoalColumn.TARGET)}
    assert tones == {Tone.ATTENTION}
    assert view.finding.text().startswith("45 of 46 goals are met now, 1 missed.")
    close = Fraction("19.62")
    session.edit("A hair above", lambda scenario: edit_margin(scenario, query, Fraction("19.63")))
    assert view.edits.change("Read goals", lambda goals: with_margins(goals, {query: close})) is None
    assert Fraction(_cell(view, query, GoalColumn.MARGIN).data().removeprefix("missed ")) > close
    session.edit("No noise", lambda scenario: set_budget(scenario, query, Unlimited.UNLIMITED))
    assert _cell(view, query, GoalColumn.MARGIN).data() == "0 (no noise)"
    assert view.finding.text().startswith("46 of 46 goals are met now. ")


def test_that_applying_a_solution_for_other_goals_moves_no_target(qtbot, view, session, query) -> None:
    targets = session.scenario.phsafe.targets
    assert view.edits.change("Read goals", lambda goals: with_margins(goals, {query: Fraction(30)})) is None
    found = _solve(qtbot, view)
    view.apply()
    assert session.scenario.phsafe.budgets[query] == found.solved.scenario.phsafe.budgets[query]
    assert session.scenario.phsafe.targets == targets
    assert view.edits.goals.margins == {query: 30}


def test_that_a_conflict_offers_ways_out_and_each_works(qtbot, view, session) -> None:
    assert view.edits.add_cap(Cap(CapOn.BOUNDED, Fraction("2.2"))) is None
    found = _solve(qtbot, view)
    assert found.solved is None
    assert view.panel.title.text() == "These goals cannot be kept together"
    assert len(view.panel.ways) == len(found.relaxations) > 2
    assert not view.panel.apply.isVisible()
    for number in range(len(found.relaxations)):
        conflict = _solve(qtbot, view)
        view.panel.ways[number].click()
        qtbot.waitUntil(lambda was=conflict: view.panel.answer is not was)
        assert view.panel.answer.solved is not None
        assert view.panel.answer.solved.caps[0][2] <= view.panel.answer.solved.caps[0][1]
        session.undo()


def test_that_an_unlocking_way_out_opens_the_lock(qtbot, view, session, query) -> None:
    session.edit("Lock", lambda scenario: set_item(scenario, "locks", query, value=True))
    assert view.edits.make(set_targets((query,), Fraction(10))) is None
    found = _solve(qtbot, view)
    way = next(each for each in found.relaxations if each.unlocks is not None)
    view.take_way(way)
    qtbot.waitUntil(lambda: view.panel.answer.solved is not None)
    assert query not in session.scenario.phsafe.locks


def test_that_an_answer_to_an_older_question_cannot_be_applied(qtbot, view, session, query) -> None:
    view.edits.make(set_targets((query,), Fraction(30)))
    _solve(qtbot, view)
    view.edits.make(set_targets((query,), Fraction(31)))
    assert view.panel._note.text() == STALE
    before = session.scenario
    view.apply()
    assert session.scenario is before
    assert view.table.data(_cell(view, query, GoalColumn.SOLVED)) == ""


@pytest.mark.parametrize(("column", "typed"), [(GoalColumn.TARGET, "many"), (GoalColumn.TARGET, "1.500,5"),
                                                (GoalColumn.FLOOR, "-1"), (GoalColumn.TARGET, "0")])  # fmt: skip
def test_that_what_is_no_goal_changes_nothing(view, session, query, column, typed) -> None:
    before = session.project.workbook
    assert not view.table.setData(_cell(view, query, column), typed)
    assert session.project.workbook == before


def test_that_a_pasted_column_of_targets_is_one_step_or_none(view, session) -> None:
    view.view.setCurrentIndex(view.table.index(0, GoalColumn.TARGET))
    steps, keys = session.project.cursor, [row.key for row in view.table.rows[:2]]
    QGuiApplication.clipboard().setText("410\nmany")
    assert not view.view.commands.paste()
    QGuiApplication.clipboard().setText("410\n420")
    assert view.view.commands.paste()
    assert session.project.cursor == steps + 1
    assert [session.scenario.phsafe.targets[key] for key in keys] == [410, 420]


def test_that_a_whole_level_is_asked_and_forgotten_at_once(view, session) -> None:
    view.scope.setCurrentIndex(view.scope.findData("Nation, A-G, all tables"))
    keys = view.chosen()
    assert len(keys) == 7
    assert view.take_for_chosen(GoalColumn.TARGET, "400") == ""
    assert {session.scenario.phsafe.targets[key] for key in keys} == {Fraction(400)}
    assert session.project.labels[-1] == "Set the targets of 7 queries to 400"
    assert view.take_for_chosen(GoalColumn.TARGET, "") == ""
    assert not set(keys) & set(session.scenario.phsafe.targets)


def test_that_rows_are_tied_locked_and_freed(qtbot, view, session, query) -> None:
    view.view.selectRow(0)
    assert view.edits.change("Tie", lambda goals: goals) is None
    view.scope.setCurrentIndex(view.scope.findData("Table PH3"))
    view.edits.tie(view.chosen(), TiedBy.MARGIN)
    assert [row.tie for row in view.table.rows if row.key.table == "PH3"] == ["A"] * 6
    found = _solve(qtbot, view).solved
    margins = {q.query: q.budget for q in found.queries if q.query.table == "PH3"}
    assert len(set(margins.values())) == 1
    view.edits.untie(view.chosen())
    assert view.edits.goals.ties == ()
    assert view.table.setData(_cell(view, query, GoalColumn.LOCK), 2, Qt.ItemDataRole.CheckStateRole)
    assert query in session.scenario.phsafe.locks
    view.table.setData(_cell(view, query, GoalColumn.LOCK), 0, Qt.ItemDataRole.CheckStateRole)
    assert query not in session.scenario.phsafe.locks


def test_that_goals_go_to_a_file_and_back(view, session, query, tmp_path) -> None:
    view.edits.make(set_floors((query,), Fraction("0.9")))
    view.edits.add_cap(Cap(CapOn.EPSILON, Fraction(12)))
    view.write_file(tmp_path / "goals.json")
    assert json.loads((tmp_path / "goals.json").read_text())["floors"] == {query.text: "0.9"}
    asked = view.edits.goals
    view.edits.forget()
    assert view.edits.goals == Goals()
    view.read_file(tmp_path / "goals.json")
    assert (view.edits.goals.floors, view.edits.goals.caps) == (asked.floors, asked.caps)


def test_that_a_file_that_cannot_be_read_is_said(qtbot, view, tmp_path) -> None:
    (tmp_path / "bad.json").write_text('{"targets": {"PH3/nowhere": 1}}')
    with qtbot.waitSignal(view.failed) as caught:
        view.read_file(tmp_path / "bad.json")
    assert "nowhere" in str(caught.args[0])
    with qtbot.waitSignal(view.failed):
        view.read_file(tmp_path / "absent.json")


def test_that_typing_a_cap_adds_it_and_its_cross_removes_it(qtbot, view) -> None:
    view.caps.limit.setFocus()
    qtbot.keyClicks(view.caps.limit.line, "0")
    qtbot.keyClick(view.caps.limit.line, Qt.Key.Key_Return)
    assert "more than 0" in view.caps.limit.reason
    view.caps.limit.line.selectAll()
    qtbot.keyClicks(view.caps.limit.line, "2.4")
    view.caps.add.click()
    assert [cap.limit for cap in view.edits.goals.caps] == [Fraction("2.4")]
    view.caps.on.setCurrentIndex(view.caps.on.findData(CapOn.PROVEN))
    qtbot.keyClicks(view.caps.limit.line, "16.5")
    view.caps.add.click()
    assert view.edits.goals.caps[1].on is CapOn.PROVEN
    view.edits.remove_cap(1)
    view.edits.remove_cap(0)
    assert view.edits.goals.caps == ()


def test_that_topdown_solves_and_keeps_its_goals_in_the_project(qtbot, topdown) -> None:
    key = LevelQuery("County", "total")
    assert topdown.edits.make(set_targets((key,), Fraction(3))) is None
    found = _solve(qtbot, topdown).solved
    assert found is not None
    topdown.apply()
    method = topdown._session.scenario.topdown
    assert float(method.budget(key)) >= (1.645 / 3) ** 2 * (1 - 1e-9)
    assert topdown.edits.goals.margins == {key: 3}
    assert not topdown.as_in_2020.isVisible()


def test_that_the_view_fits_at_twice_the_text_size(qtbot, view) -> None:
    from phexplore.gui.theme.appearance import appearance

    appearance().set_scale(200)
    QApplication.sendPostedEvents()
    assert view.minimumSizeHint().width() <= 1280


def test_that_topdown_is_solved_after_least_squares_for_less(qtbot, topdown) -> None:
    key = LevelQuery("County", "total")
    topdown.edits.make(set_targets((key,), Fraction(3)))
    alone = _solve(qtbot, topdown).solved.scenario.topdown.budget(key)
    topdown.basis.select(Basis.SPINE_2020)
    topdown._on_basis()
    assert topdown.panel._note.text() == STALE
    topdown.solve()
    qtbot.waitUntil(lambda: topdown.panel.answer.request is topdown._asked)
    found = topdown.panel.answer
    assert found.solved.scenario.topdown.budget(key) < alone
    assert found.margins[key] <= 3 * (1 + 1e-6)
    assert topdown.table.data(_cell(topdown, key, GoalColumn.SOLVED_MARGIN)) == "3.00"


def test_that_block_data_that_cannot_be_read_are_said(qtbot, topdown, tmp_path) -> None:
    (tmp_path / "bad.csv").write_text("no,blocks\n")
    topdown.edits.make(set_targets((LevelQuery("County", "total"),), Fraction(3)))
    topdown.use_blocks(tmp_path / "bad.csv")
    topdown.basis.select(Basis.BLOCKS)
    topdown.solve()
    qtbot.waitUntil(lambda: topdown.panel.answer is not None)
    assert topdown.panel.title.text() == "This cannot be solved"


def test_that_nothing_of_a_project_is_left_when_another_is_opened(qtbot, view, session, us) -> None:
    """The solution of the project before, and its block data, stood over the next one."""
    session.edit_workbook(*set_targets((PH7,), Fraction(60)))
    view.spend.setChecked(True)
    view._blocks = Path("blocks.csv")
    _solve(qtbot, view)
    session.install(Project.new(Workbook((us,), us.name)))
    assert view.panel.answer is None
    assert view.panel.title.text() == "Not solved yet"
    assert (view.spend.isChecked(), view._blocks) == (False, None)
    assert view.view.isColumnHidden(GoalColumn.SOLVED)


def test_that_a_project_of_a_system_that_is_not_solved_follows_one_that_is(view, session) -> None:
    view.hide()
    scenario = preset("group-sizes-census-2010").scenario
    session.install(Project.new(Workbook((scenario,), scenario.name)))
    assert session.scenario is scenario
    assert view.panel.title.text() == "Not solved yet"


def test_that_a_solution_that_no_longer_holds_follows_the_depth_and_stays_one(qtbot, view, session) -> None:
    _solve(qtbot, view)
    session.edit_workbook(*set_targets((PH7,), Fraction(60)))
    qtbot.waitUntil(lambda: view.panel._note.text() == STALE)
    appearance().show_depth(Depth.COMMITTEE)
    try:
        assert view.panel.title.text().startswith("Privacy loss, bounded ρ")
        assert view.panel._note.text() == STALE
        assert not view.panel.apply.isEnabled()
        assert "rounded upward" in view.panel.sentence.text()
    finally:
        appearance().show_depth(Depth.EXPERT)


def test_that_a_conflict_leaves_the_room_of_the_answers_to_names(qtbot, view, session) -> None:
    session.report(view.edits.add_cap(Cap(CapOn.BOUNDED, Fraction(2))))
    assert _solve(qtbot, view).refused is not None
    assert view.view.isColumnHidden(GoalColumn.SOLVED)
    session.report(view.edits.remove_cap(0))
    assert _solve(qtbot, view).solved is not None
    assert not view.view.isColumnHidden(GoalColumn.SOLVED)


def test_that_targets_that_are_met_cost_nothing(qtbot, view) -> None:
    _solve(qtbot, view)
    assert view.panel.title.text() == "Bounded ρ 2.514562, as it is now"


def test_that_small_parts_are_said_without_exponents(us) -> None:
    derived = solve(budgets_of(us))
    assert headline(derived, us) == "Bounded ρ 2.514562 → 2.514616 (+0.000054, less than 0.1 %)"
    assert "rounding adds 0.0000450 (0.0018 %)" in rounding_line(derived)


def test_that_chosen_goals_are_emptied_by_a_key_as_one_step(qtbot, view, session) -> None:
    table = view.view
    table.setCurrentIndex(view.table.index(0, GoalColumn.TARGET))
    for row in (0, 1):
        table.selectionModel().select(
            view.table.index(row, GoalColumn.TARGET), QItemSelectionModel.SelectionFlag.Select
        )
    keys, steps = [row.key for row in view.table.rows[:2]], session.project.cursor
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    assert not session.scenario.phsafe.targets.keys() & set(keys)
    assert session.project.cursor == steps + 1
    assert not table.commands.clear()  # nothing is left there
    assert session.project.cursor == steps + 1
