from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtTest import QTest

from phexplore.catalog.states import PUERTO_RICO, us_states
from phexplore.document.project import Project
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.system_session import plain_session
from phexplore.gui.editors.changes_panel import Changes, ChangesPanel
from phexplore.gui.editors.conventions_editor import ConventionsEditor
from phexplore.gui.editors.history_panel import HistoryPanel
from phexplore.gui.editors.inspector import Inspector
from phexplore.gui.editors.issues_panel import IssuesPanel
from phexplore.gui.editors.scenario_form import PromiseText, ScenarioForm
from phexplore.gui.editors.scenario_manager import ScenarioManager
from phexplore.gui.systems.phsafe.inspection import inspect
from phexplore.gui.systems.phsafe.scenario_editor import ScenarioEditor, StatesField
from phexplore.gui.systems.phsafe.summary import change_lines, total_line
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.gui.widgets.page import Page, Section
from phexplore.model.conventions import AS_IN_2020, Conventions, MarginConvention, Neighbours
from phexplore.model.edits import rename, set_field
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.workbook import Workbook
from phexplore.systems.group_sizes.system import GROUP_SIZES
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.phsafe.system import PHSAFE
from phexplore.systems.registry import preset


@pytest.fixture
def make(qtbot, session):
    own = plain_session(session, PHSAFE)

    def build(kind):
        if kind is Inspector:
            widget = kind(own, lambda: inspect(own.shown, own.selection, own.project))
        elif kind is ChangesPanel:
            widget = kind(
                own, Changes(lambda: change_lines(own.shown), "Change something.", lambda: total_line(own.shown))
            )
        else:
            widget = kind(own if issubclass(kind, ScenarioForm) else session)
        qtbot.addWidget(widget)
        widget.show()
        return widget

    return build


@pytest.mark.parametrize("scale", [100, 200])
def test_that_the_fields_of_a_scenario_stand_below_each_other(qtbot, make, scale) -> None:
    editor = make(ScenarioEditor)
    appearance().set_scale(scale)
    fields = (editor.name, editor.note, editor.privacy.controls["framework"], editor.states)
    qtbot.waitUntil(lambda: len({field.mapTo(editor, QPoint(0, 0)).x() for field in fields}) == 1)


def test_that_a_double_click_copies_or_deletes_one_scenario(qtbot, make, session) -> None:
    manager = make(ScenarioManager)
    for button, steps in ((manager.copy, 1), (manager.delete, 2)):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        QTest.mouseDClick(button, Qt.MouseButton.LeftButton)
        assert len(session.project.labels) == 1 + steps


def test_that_the_time_of_a_step_stays_in_sight_beside_a_long_one(make, session) -> None:
    session.edit("Rename " + 40 * "at length ", lambda scenario: rename(scenario, "Another"))
    panel = make(HistoryPanel)
    panel.resize(600, 300)
    panel.grab()
    assert panel.list.horizontalScrollBar().maximum() == 0


def test_that_the_scenario_is_renamed_and_noted(qtbot, make, session) -> None:
    editor = make(ScenarioEditor)
    editor.name.setText("Final")
    editor.name.editingFinished.emit()
    assert session.scenario.name == "Final"
    editor.note.setPlainText("For the June meeting")
    editor.note.commit()
    assert session.scenario.note == "For the June meeting"
    editor.note.commit()
    assert session.project.labels[1:] == ("Rename to Final", "Edit the note")
    session.go_to(0)
    assert editor.name.text() == "Proposal"


def test_that_an_impossible_name_is_refused_and_the_old_one_shown(qtbot, make, session) -> None:
    editor = make(ScenarioEditor)
    editor.name.setText("a#b")
    with qtbot.waitSignal(session.refused):
        editor.name.editingFinished.emit()
    assert session.scenario.name == editor.name.text() == "Proposal"


def test_that_framework_and_reader_are_chosen(make, session) -> None:
    editor = make(ScenarioEditor)
    framework = editor.privacy.controls["framework"].chooser
    framework.setCurrentIndex(framework.findData(PrivacyFramework.PURE_DP))
    assert session.scenario.phsafe.framework is PrivacyFramework.PURE_DP
    assert "geometric" in editor.privacy.notes[0][2].text()
    editor.reader.setCurrentIndex(editor.reader.findData("csv"))
    assert session.scenario.phsafe.reader == "csv"


def test_that_what_changed_in_people_stands_before_what_changed_by_less(session) -> None:
    """After Solve a list of 27 lines hid the seven that a committee decides about, also on the sheet before a decision."""
    first, *_, last = session.scenario.phsafe.budgets
    for query, factor in ((first, Fraction(100_001, 100_000)), (last, Fraction(2))):
        budget = session.scenario.phsafe.budgets[query]
        session.edit("Edit", lambda scenario, query=query, to=budget * factor: set_budget(scenario, query, to))
    lines = [line for line in change_lines(session.shown) if line.field == "budget"]
    assert [line.key for line in lines] == [last, None]  # a change nobody can see is one of a folded line
    assert lines[1].count == 1


def test_that_areas_are_all_some_or_puerto_rico(qtbot, make, session) -> None:
    field = make(StatesField)
    assert field.area.currentData() == "all"
    field.area.setCurrentIndex(field.area.findData("some"))
    field._buttons["44"].click()
    assert "44" not in session.scenario.phsafe.states
    assert len(session.scenario.phsafe.states) == 50
    field.area.setCurrentIndex(field.area.findData("pr"))
    assert session.scenario.phsafe.states == (PUERTO_RICO,)
    field.area.setCurrentIndex(field.area.findData("all"))
    assert session.scenario.phsafe.states == us_states()


def test_that_the_last_state_cannot_be_taken_away(qtbot, make, session) -> None:
    field = make(StatesField)
    field.area.setCurrentIndex(field.area.findData("pr"))
    field.area.setCurrentIndex(field.area.findData("some"))
    session.edit("One", lambda s: type(s)(s.name, type(s.phsafe)(s.phsafe.budgets, s.phsafe.thresholds, ("44",))))
    with qtbot.waitSignal(session.refused):
        field._buttons["44"].click()
    assert session.scenario.phsafe.states == ("44",)
    assert field._buttons["44"].isChecked()


def test_that_conventions_are_edited_exactly(qtbot, make, session) -> None:
    editor = make(ConventionsEditor)
    for name, choice in (("margin", MarginConvention.EXACT), ("neighbours", Neighbours.UNBOUNDED)):
        chooser = editor.controls[name].chooser
        chooser.setCurrentIndex(chooser.findData(choice))
    editor.usual[2].click()
    for name, typed in (("z", "1,6448536"), ("rounding_step", "1/1000"), ("delta", "1e-12")):
        field = editor.controls[name]
        field.line.setFocus()
        field.line.selectAll()
        QTest.keyClicks(field.line, typed)
        QTest.keyClick(field.line, Qt.Key.Key_Return)
    conventions = session.scenario.conventions
    assert conventions.margin is MarginConvention.EXACT
    assert conventions.neighbours is Neighbours.UNBOUNDED
    assert conventions.confidence == Fraction(99, 100)
    assert conventions.z == Fraction("1.6448536")
    assert conventions.rounding_step == Fraction(1, 1000)
    assert conventions.delta == Fraction(1, 10**12)
    editor.as_in_2020.click()
    assert session.scenario.conventions == AS_IN_2020
    assert session.scenario.phsafe == session.project.steps[0].value.scenario.phsafe


def test_that_a_committee_sees_a_factor_a_step_and_a_delta_only_where_they_are_not_usual(make, session) -> None:
    editor, look = make(ConventionsEditor), appearance()
    depth = look.depth

    def seen():
        return [name for name, control in editor.controls.items() if control.isVisible()]

    try:
        look.show_depth(Depth.EXPERT)
        assert seen() == ["neighbours", "margin", "z", "confidence", "rounding", "rounding_step", "delta"]
        look.show_depth(Depth.COMMITTEE)
        assert seen() == ["neighbours", "margin", "confidence", "rounding"]
        session.edit("δ", lambda s: set_field(s, "conventions", Conventions(delta=Fraction(1, 10**12))))
        assert seen() == ["neighbours", "margin", "confidence", "rounding", "delta"]
    finally:
        look.show_depth(depth)


def test_that_neighbours_that_are_always_the_same_are_shown_and_not_chosen(qtbot) -> None:
    scenario = preset("group-sizes-census-2010").scenario
    editor = ConventionsEditor(Session(Project.new(Workbook((scenario,), scenario.name))), "Always unbounded.")
    qtbot.addWidget(editor)
    control = editor.controls["neighbours"]
    assert scenario.conventions.neighbours is Neighbours.BOUNDED
    assert (control.chooser.currentData(), control.chooser.isEnabled()) == (Neighbours.UNBOUNDED, False)
    assert control.toolTip() == "Always unbounded."


def test_that_the_paper_convention_refuses_another_confidence(qtbot, make, session) -> None:
    editor = make(ConventionsEditor)
    editor.usual[1].click()
    margin = editor.controls["margin"]
    margin.chooser.setCurrentIndex(margin.chooser.findData(MarginConvention.PAPER))
    assert "90 %" in margin.reason
    assert session.scenario.conventions.margin is MarginConvention.NORMAL
    margin.chooser.setCurrentIndex(margin.chooser.findData(MarginConvention.NORMAL))
    assert margin.reason == ""
    session.undo()
    session.edit("Paper", lambda s: set_field(s, "conventions", Conventions(margin=MarginConvention.PAPER)))
    with qtbot.waitSignal(session.refused) as refused:
        editor.usual[1].click()
    assert "90 %" in refused.args[0].reason


@pytest.mark.parametrize("typed", ["1", "0", "nine"])
def test_that_an_impossible_confidence_is_refused_in_place(make, session, typed) -> None:
    editor = make(ConventionsEditor)
    field = editor.controls["confidence"]
    field.line.setFocus()
    field.line.selectAll()
    QTest.keyClicks(field.line, typed)
    QTest.keyClick(field.line, Qt.Key.Key_Return)
    assert field.reason
    assert session.scenario.conventions.confidence == Fraction(9, 10)


def test_that_scenarios_are_added_duplicated_compared_and_deleted(make, session) -> None:
    manager = make(ScenarioManager)
    assert not manager.delete.isEnabled()
    manager.add_preset("sdhc-2020-pr")
    assert session.scenario.phsafe.states == (PUERTO_RICO,)
    manager.list.setCurrentIndex(manager.model.index(0))
    manager.work_on.click()
    assert session.shown.workbook.active == "Proposal"
    manager.duplicate()
    assert session.shown.workbook.active == "Proposal copy"
    manager.duplicate()
    assert session.shown.workbook.active == "Proposal copy 2"
    session.undo()
    assert session.shown.workbook.active == "Proposal copy"
    manager.list.setCurrentIndex(manager.model.index(0))
    manager._compare()
    assert session.shown.workbook.comparison == "Proposal"
    manager.remove()
    assert "Proposal" not in session.shown.workbook.names
    assert session.shown.reference is None
    session.undo()
    assert "Proposal" in session.shown.workbook.names


def test_that_the_history_jumps_on_click(make, session, query) -> None:
    panel = make(HistoryPanel)
    for value in (1, 2, 3):
        session.edit(f"Set {value}", lambda s, v=value: set_budget(s, query, Fraction(v)))
    panel.list.clicked.emit(panel.model.index(1))
    assert session.scenario.phsafe.budgets[query] == 1
    assert "2 undone" in panel._summary.text()
    assert panel.list.currentIndex().row() == 1
    panel.grab()


def test_that_the_inspector_explains_the_selected_number(make, session, query) -> None:
    inspector = make(Inspector)
    assert "2.514562" in inspector.card.text
    session.select(query)
    inspector.refresh_now()
    assert inspector.title.text() == "PH3 (State, A-G)"
    assert "1.645" in inspector.card.text
    said = inspector._meaning.text()
    assert said.startswith("Of ten published counts")
    assert said not in inspector.card.text  # it stands above already
    assert said not in inspector.card.accessibleName()
    assert "Source" in inspector.card.text
    inspector.topic.setCurrentIndex(inspector.topic.findText("Sensitivity Δ"))
    assert "2 × 6 + 2" in inspector.card.text
    session.edit("Set", lambda s: set_budget(s, query, Fraction(1, 3)))
    inspector.refresh_now()
    assert inspector.topic.currentText() == "Sensitivity Δ"
    assert "no finite decimal" in inspector.issues.text()
    step, value = inspector.history.item(0, 0).text().split("\n")
    assert step == "Set"
    assert value.endswith("target 20")
    assert inspector.history.isColumnHidden(1)  # both lines have the width of the inspector


def test_that_the_inspector_explains_sums_and_jumps_in_history(make, session, query) -> None:
    session.select(query)
    inspector = make(Inspector)
    inspector.derived.chosen.emit(0)
    assert "variances add" in inspector.card.text
    session.edit("Set", lambda s: set_budget(s, query, Fraction(1)))
    inspector.refresh_now()
    inspector.history.chosen.emit(1)
    assert session.project.cursor == 0


def test_that_a_drag_redraws_the_inspector_once_per_frame(qtbot, make, session, query, monkeypatch) -> None:
    drawn = []
    monkeypatch.setattr(Inspector, "_show_parts", lambda _self, parts: drawn.append(parts))
    inspector = make(Inspector)
    drawn.clear()
    for value in range(1, 60):
        session.edit("Drag", lambda s, v=value: set_budget(s, query, Fraction(v)), merge_key="drag")
    inspector.refresh_now()
    assert len(drawn) <= 20


def test_that_issues_are_listed_counted_and_opened(qtbot, make, session, query) -> None:
    panel = make(IssuesPanel)
    assert panel.counts == (0, 0)
    session.edit("Set", lambda s: set_budget(s, query, Fraction(1, 3)))
    qtbot.waitUntil(lambda: panel.counts[1] > 0)
    with qtbot.waitSignal(panel.opened) as opened:
        panel.list.itemClicked.emit(panel.list.item(0))
    assert query.text in opened.args[0].path


def test_that_changes_are_sentences_that_lead_to_their_row(qtbot, make, session, query) -> None:
    panel = make(ChangesPanel)
    panel.refresh()
    assert panel.title.text() == "Nothing has changed yet"
    session.edit("Set", lambda s: set_budget(s, query, Fraction(1)))
    panel.refresh()
    assert panel.title.text() == "1 parameter changed"
    with qtbot.waitSignal(panel.chosen) as chosen:
        panel.list.itemClicked.emit(panel.list.item(0))
    assert chosen.args[0].key == query


def test_that_a_very_long_name_keeps_the_pages_in_shape(make, session) -> None:
    session.edit("Rename", lambda s: rename(s, "Proposal " * 60))
    for kind in (ScenarioManager, ScenarioEditor, Inspector):
        assert make(kind).minimumSizeHint().width() < 900


def test_that_no_line_of_what_is_protected_is_cut_off_where_a_text_gets_shorter(qtbot) -> None:
    """A form kept a line for the first text that it took from the second: what is not protected was cut."""
    scenario = preset("group-sizes-census-2010").scenario
    session = Session(Project.new(Workbook((scenario,), scenario.name)))
    found = PromiseText(plain_session(session, GROUP_SIZES))
    page = Page("Parameters", [Section("What that means", "", found)])
    qtbot.addWidget(page)
    page.show()
    texts = (found.protected, found.not_protected)
    for width in range(800, 920, 20):
        page.resize(width, 600)
        for total in (10**12, 1):
            session.edit("Set the total", lambda changed, total=total: set_field(changed, "total", Fraction(total)))
            qtbot.waitUntil(lambda total=total: f"= {total}," in found.protected.text())
            for _ in range(4):  # each layout asks the one around it anew
                QCoreApplication.processEvents()
            assert [text.height() >= text.heightForWidth(text.width()) for text in texts] == [True, True], width
