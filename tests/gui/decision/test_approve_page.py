from __future__ import annotations

import re
import threading
from dataclasses import replace
from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QScrollArea

from phexplore.catalog.names import Naming, called
from phexplore.decide import rule_evaluation
from phexplore.decide.verdict_words import verdict_summary
from phexplore.document.project import Project
from phexplore.document.reference_versions import SAVED
from phexplore.figures.tile import Tone
from phexplore.figures.wording import bound_text
from phexplore.gui.binding.history_list import STEP_ROLE, HistoryList
from phexplore.gui.decision.approve_page import ApprovePage
from phexplore.gui.decision.decision_summary import decision_summary
from phexplore.gui.decision.run_citations import RunOffer
from phexplore.gui.systems.phsafe.summary import decision_part
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.model.approval import Status
from phexplore.model.fingerprint import fingerprint
from phexplore.model.rounded import epsilon_bound, rounded_up
from phexplore.model.rules import Bound, Measure, Rule, judged, not_judged
from phexplore.model.workbook import Workbook, compare_with
from phexplore.systems.group_sizes.edits import set_size_share
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.edits import set_budget, set_target
from phexplore.systems.registry import loss_of, preset


@pytest.fixture
def page(qtbot, session, controller, tmp_path):
    def save(then):
        session.project.save(tmp_path / "vote.phx")
        session.mark_saved()
        then()

    found = ApprovePage(session, controller, save, lambda: decision_part(session.shown))
    qtbot.addWidget(found)
    found.show()
    yield found
    found.stop()
    session.project.close()


def _fill(page, who="Ada Lovelace", role="Chair"):
    page.who.setText(who)
    page.role.setText(role)


def _confirm(page, name="Proposal"):
    page.record()
    QTest.keyClicks(page.sheet.typed, name)
    QTest.mouseClick(page.sheet.action, Qt.MouseButton.LeftButton)


def _double_click(widget):
    """Click twice as a person does: the second press arrives as a double click, with its release."""
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
    QTest.mouseDClick(widget, Qt.MouseButton.LeftButton)
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton)


def _approve(qtbot, page):
    _fill(page)
    page.next.select(Status.APPROVED)
    with qtbot.waitSignal(page.decided):
        _confirm(page)


def test_that_a_decision_without_a_name_is_refused_beside_the_field(qtbot, page, session) -> None:
    page.record()
    assert "Say who decides" in page.reason.text()
    assert session.project.decisions == ()
    qtbot.keyClicks(page.who, "Ada")
    assert page.reason.isHidden()


def test_that_recording_saves_the_project_first_and_keeps_who_role_note(qtbot, page, session) -> None:
    _fill(page)
    page.note.setText("6 to 1")
    page.next.select(Status.APPROVED)
    with qtbot.waitSignal(page.decided):
        _confirm(page)
    (made,) = session.project.decisions
    assert (made.status, made.who, made.role, made.note) == (Status.APPROVED, "Ada Lovelace", "Chair", "6 to 1")
    assert session.project.is_clean
    assert page.status.text() == "Approved"
    assert page.table.numbers.rows[0][:2] == ("Approved", "Proposal")
    assert page.table.numbers.rows[0][3:5] == ("Ada Lovelace", "Chair")
    assert page.table.numbers.rows[0][6:8] == ("6 to 1", "no run was cited")


def test_that_only_what_may_follow_is_offered(qtbot, page) -> None:
    assert [page.next.itemText(n) for n in range(page.next.count())] == ["Recommended", "Approved"]
    _fill(page)
    with qtbot.waitSignal(page.decided):
        _confirm(page)
    assert [page.next.itemText(n) for n in range(page.next.count())] == ["Approved"]


def test_that_the_button_says_why_no_decision_may_follow(qtbot, page) -> None:
    assert page.button.toolTip() == ""
    _approve(qtbot, page)
    assert not page.button.isEnabled()
    assert "Edit the scenario to make a new draft" in page.button.toolTip()


def test_that_an_edit_after_the_approval_shows_a_new_draft(qtbot, page, session, query) -> None:
    _approve(qtbot, page)
    session.edit("Edit", lambda scenario: set_budget(scenario, query, Fraction(1, 50)))
    qtbot.waitUntil(lambda: page.status.text() == "Draft")
    assert "1 parameter differs" in page.sentence.text()
    assert len(page.table.numbers.rows) == 1


def test_that_the_approved_parameters_are_opened_from_the_row_of_their_decision(qtbot, page, session, query) -> None:
    approved, told = session.scenario, []
    session.done.connect(told.append)
    _approve(qtbot, page)
    session.edit("Edit", lambda scenario: set_budget(scenario, query, Fraction(1, 50)))
    qtbot.waitUntil(lambda: page.status.text() == "Draft")
    assert len(told) == 1
    assert session.scenario.name in told[0]
    shown = dict(zip(page.table.numbers.headers, page.table.numbers.rows[0], strict=True))
    assert shown["Privacy loss"] == f"ρ = {bound_text(loss_of(approved).total)}"
    assert shown["Fingerprint"][:12] == fingerprint(approved)[:12] == session.project.decisions[0].fingerprint[:12]
    QTest.mouseClick(page.open, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.status.text() == "Approved")
    assert session.scenario == approved
    assert len(session.project.workbook.scenarios) == 2
    history = HistoryList(session)
    lines = [history.index(row).data() for row in range(history.rowCount())]
    assert lines[1] == "Approved by Ada Lovelace, Chair: Proposal"
    assert history.index(1).data(STEP_ROLE) == 0
    assert history.cursor == len(lines) - 1


def test_that_an_edit_made_while_the_runs_are_checked_decides_nothing(qtbot, page, session, query, tmp_path) -> None:
    session.project.save(tmp_path / "vote.phx")
    session.mark_saved()
    _fill(page)
    _confirm(page)
    session.edit("Edit", lambda scenario: set_budget(scenario, query, Fraction(1, 50)))
    qtbot.waitUntil(lambda: bool(page.reason.text()))
    assert "edited meanwhile" in page.reason.text()
    assert session.project.decisions == ()


def test_that_a_run_that_is_not_one_is_refused_with_its_reason(qtbot, page, session, tmp_path) -> None:
    (tmp_path / "bogus").mkdir()
    page.runs.show_offers([RunOffer(tmp_path / "bogus", "bogus", "")], [tmp_path / "bogus"])
    assert page.runs.chosen == (tmp_path / "bogus",)
    session.project.save(tmp_path / "vote.phx")
    _fill(page)
    _confirm(page)
    qtbot.waitUntil(lambda: bool(page.reason.text()))
    assert session.project.decisions == ()


def test_that_runs_that_cannot_be_cited_cannot_be_ticked(page, tmp_path) -> None:
    offers = [RunOffer(tmp_path / "good", "good", ""), RunOffer(tmp_path / "bad", "bad", "it is not complete")]
    page.runs.show_offers(offers, [tmp_path / "good", tmp_path / "bad"])
    assert page.runs.chosen == (tmp_path / "good",)
    assert "cannot be cited: it is not complete" in page.runs.list.item(1).text()


def test_that_a_committee_is_not_told_the_folder_of_a_run(page, tmp_path) -> None:
    offers = [RunOffer(tmp_path / "20261128T112610Z-f7887cde", "Proposal, 28 Nov 11:26, 2 trials", "")]
    for depth, is_told in ((Depth.EXPERT, True), (Depth.COMMITTEE, False)):
        appearance().show_depth(depth)
        page.runs.show_offers(offers)
        assert ("f7887cde" in page.runs.list.item(0).toolTip()) is is_told
    appearance().show_depth(Depth.EXPERT)


def test_that_ticks_follow_runs_that_move_beside_the_project(page, tmp_path) -> None:
    page.runs.show_offers([RunOffer(tmp_path / "a" / "run-1", "run", "")], [tmp_path / "a" / "run-1"])
    page.runs.show_offers([RunOffer(tmp_path / "b" / "run-1", "run", "")])
    assert page.runs.chosen == (tmp_path / "b" / "run-1",)


def test_that_who_comes_to_the_summary_by_keyboard_hears_what_is_decided_about(page) -> None:
    _fill(page)
    page.record()
    (summary,) = [each for each in page.sheet.findChildren(QScrollArea) if each.accessibleName()]
    assert "Runs cited: none: the decision rests on the forecast alone" in summary.accessibleDescription()


@pytest.mark.defect("B1")
def test_that_a_double_click_approves_nothing_and_withdraws_nothing(qtbot, page, session) -> None:
    _fill(page)
    page.next.select(Status.APPROVED)
    _double_click(page.button)
    assert not page.sheet.action.isEnabled()
    _double_click(page.sheet.action)
    assert page.sheet.isVisible()
    assert session.project.decisions == ()


@pytest.mark.defect("B1")
def test_that_return_pressed_twice_decides_nothing(page, session) -> None:
    _fill(page)
    page.next.select(Status.APPROVED)
    QTest.keyClick(page.note, Qt.Key.Key_Return)
    QTest.keyClick(page.sheet.typed, Qt.Key.Key_Return)
    QTest.keyClick(page.sheet.typed, Qt.Key.Key_Return)
    assert page.sheet.isVisible()
    assert session.project.decisions == ()


@pytest.mark.defect("B1")
@pytest.mark.parametrize("typed", ["ph3 FIRST \\u202e", "PH3 first \u202e"])
def test_that_a_name_is_confirmed_as_it_is_written_or_as_it_is_read(page, session, typed) -> None:
    session.edit("Rename", lambda each: replace(each, name="PH3 first \u202e"))
    _fill(page)
    with called(Naming.NAMES):
        page.record()
        page.sheet.typed.setText("Families first")
        assert not page.sheet.action.isEnabled()
        page.sheet.typed.setText(typed)
        assert page.sheet.action.isEnabled()
        page.sheet.reject()


def test_that_a_sheet_about_an_endless_name_is_no_wider_than_the_window(page, session) -> None:
    page.resize(1000, 700)
    session.edit("Rename", lambda each: replace(each, name="L" * 300))
    _fill(page)
    page.record()
    assert page.sheet.minimumSizeHint().width() < 800
    page.sheet.reject()


def test_that_after_an_approval_the_form_is_empty_and_no_gesture_on_it_withdraws(qtbot, page, session) -> None:
    _fill(page)
    page.next.select(Status.APPROVED)
    page.record()
    QTest.keyClicks(page.sheet.typed, "proposal ")
    with qtbot.waitSignal(page.decided):
        QTest.mouseClick(page.sheet.action, Qt.MouseButton.LeftButton)
    assert (page.who.text(), page.role.text(), page.note.text()) == ("", "", "")
    assert page.next.isHidden(), "there is nothing to choose"
    form = (page.next, page.who, page.role, page.note, page.runs, page.button)
    assert not any(widget.isEnabled() for widget in form)
    for widget in form:
        _double_click(widget)
        QTest.keyClick(widget, Qt.Key.Key_Return)
    page.record()
    assert page.sheet is None
    assert [one.status for one in session.project.decisions] == [Status.APPROVED]


@pytest.mark.defect("B1")
@pytest.mark.parametrize("leave", ["Escape", "close", "Not yet"])
def test_that_a_sheet_that_is_left_decides_nothing(page, session, leave) -> None:
    _fill(page)
    page.record()
    sheet = page.sheet
    QTest.keyClicks(sheet.typed, "Proposal")
    assert sheet.action.isEnabled()
    match leave:
        case "Escape":
            QTest.keyClick(sheet, Qt.Key.Key_Escape)
        case "close":
            sheet.close()
        case _:
            QTest.mouseClick(sheet.instead, Qt.MouseButton.LeftButton)
    assert page.sheet is None
    assert session.project.decisions == ()
    assert page.who.text() == "Ada Lovelace"


@pytest.mark.defect("B1")
def test_that_withdrawing_is_asked_elsewhere_and_needs_a_reason(qtbot, page, session) -> None:
    assert page.withdraw.isHidden()
    _approve(qtbot, page)
    _double_click(page.withdraw)
    who, role, note, typed = page.sheet.findChildren(QLineEdit)
    for field, text in ((who, "Grace Hopper"), (role, "Chair"), (typed, "Proposal")):
        QTest.keyClicks(field, text)
    QTest.keyClick(typed, Qt.Key.Key_Return)
    assert not page.sheet.action.isEnabled()
    QTest.keyClicks(note, "an error in the shares")
    with qtbot.waitSignal(page.decided):
        page.sheet.action.click()
    made = session.project.decisions[-1]
    assert (made.status, made.who, made.note) == (Status.SUPERSEDED, "Grace Hopper", "an error in the shares")


def test_that_the_sheet_names_what_the_loss_is_equal_to(page, session) -> None:
    session.edit_workbook("Compare", lambda book: compare_with(book, "sdhc-2020-us"))
    loss = decision_summary(session.shown, decision_part(session.shown), [])[0].lines
    assert loss[-1] == f"as in {session.shown.reference.title}"


def test_that_what_the_project_keeps_is_named_in_a_sentence(page, session, tmp_path) -> None:
    session.project.save(tmp_path / "vote.phx")
    session.edit_workbook("Compare", lambda book: compare_with(book, SAVED))
    entries = {each.caption: each.lines for each in decision_summary(session.shown, decision_part(session.shown), [])}
    assert entries["Privacy loss"][-1] == "as in the version as last saved"
    assert "Changed, in people, against the version as last saved" in entries


def test_that_a_committee_hears_of_the_loss_what_it_reads(page) -> None:
    appearance().show_depth(Depth.COMMITTEE)
    _fill(page)
    page.record()
    (summary,) = [each for each in page.sheet.findChildren(QScrollArea) if each.accessibleName()]
    appearance().show_depth(Depth.EXPERT)
    assert "bounded" not in summary.accessibleDescription()


def test_that_cited_runs_judge_the_rules_that_only_a_run_can(session) -> None:
    rule = Rule(Measure.COVERAGE, Bound.AT_LEAST, Fraction(9, 10))
    for value, tone in ((0.95, Tone.GOOD), (0.85, Tone.ATTENTION)):
        waiting, of_run = [not_judged(rule, "only a run can tell")], [judged(rule, value, "")]
        shown = decision_summary(session.shown, decision_part(session.shown), ["run 1"], waiting, [("run 1", of_run)])
        found = next(entry for entry in shown if entry.caption == "Decision rules")
        assert (found.lines, found.tone) == ((f"run 1: {verdict_summary(of_run)}",), tone)


def test_that_the_sheet_names_a_run_that_cannot_be_read_and_reads_runs_beside_the_window(
    qtbot, page, session, tmp_path, monkeypatch
) -> None:
    rule = Rule(Measure.LOSS, Bound.AT_MOST, Fraction(10))
    session.edit_workbook("Ask", lambda book: replace(book, rules=(rule,)))
    page.runs.show_offers([RunOffer(tmp_path / "gone", "the vote's run", "")], [tmp_path / "gone"])
    threads, read = [], rule_evaluation.judge_everything

    def watched(request):
        threads.append(threading.current_thread() is threading.main_thread())
        return read(request)

    monkeypatch.setattr("phexplore.gui.decision.approve_page.judge_everything", watched)
    _fill(page)
    page.record()
    assert not page.button.isEnabled()
    qtbot.waitUntil(lambda: page.sheet is not None)
    assert threads == [False]
    assert page.button.isEnabled()
    (summary,) = [each for each in page.sheet.findChildren(QScrollArea) if each.accessibleName()]
    assert "the vote's run: cannot be read" in summary.accessibleDescription()


@pytest.mark.defect("B1")
def test_that_the_sheet_says_what_is_decided_about(page, session, query) -> None:
    session.edit_workbook("Compare", lambda book: compare_with(book, "sdhc-2020-us"))
    session.edit("Edit", lambda scenario: edit_margin(scenario, query, Fraction(40)))
    session.edit("Edit", lambda scenario: set_target(scenario, query, Fraction(30)))
    entries = {
        entry.caption: entry.lines for entry in decision_summary(session.shown, decision_part(session.shown), [])
    }
    loss = entries["Privacy loss"]
    assert loss[0].startswith("bounded ρ ")
    appearance().show_depth(Depth.COMMITTEE)
    plain = decision_summary(session.shown, decision_part(session.shown), [])[0].lines[0]
    appearance().show_depth(Depth.EXPERT)
    assert loss[0] == f"bounded ρ {plain}", "its caption says what it is, in the only words a committee has for it"
    proven, converted = session.shown.forecast.proven(), session.shown.forecast.loss.epsilon
    assert loss[1] == (
        f"proven ε ≤ {rounded_up(proven, 3)} at δ = 10⁻¹⁰; {epsilon_bound(converted)} converted from ρ, bounded neighbors"
    )
    (changed,) = [lines for caption, lines in entries.items() if caption.startswith("Changed, in people, against")]
    assert [line.startswith(f"{query.title}: margin 20") for line in changed] == [True]
    assert entries["Targets not met: 1"] == (f"{query.title}: margin 40.0, target 30 people",)
    assert entries["1 of 46 targets changed: 20 → 30"] == (f"{query.title}: 20 → 30",)
    assert entries["Runs cited"][0].startswith("none")
    assert entries["Open issues"] == ("none except targets not met",)


def test_that_the_sheet_tells_long_lists_last_and_every_missed_target_once(session) -> None:
    session.edit_workbook("Compare", lambda book: compare_with(book, "sdhc-2020-us"))
    for query in list(session.scenario.phsafe.targets)[:6]:
        session.edit("Edit", lambda scenario, query=query: edit_margin(scenario, query, Fraction(600)))
    entries = decision_summary(session.shown, decision_part(session.shown), ["run 1: 20 trials"])
    assert [re.split("[,:]", entry.caption)[0] for entry in entries] == [
        "Privacy loss",
        "Runs cited",
        "Targets changed",
        "Open issues",
        "Targets not met",
        "Changed",
    ]
    sentences = "\n".join(line for entry in entries for line in entry.lines)
    assert "wider than its target" not in sentences


def test_that_what_is_not_in_people_is_not_said_to_be(window) -> None:
    name = "group-sizes-census-2010"
    scenario = set_size_share(preset(name).scenario, "County", Fraction(1, 2))
    window.session.edit_workbook("Work on it", lambda _: Workbook((scenario,), scenario.name, name))
    found = decision_summary(window.session.shown, window.room.decision_part(), [])
    (changed,) = [entry.caption for entry in found if entry.caption.startswith("Changed")]
    assert changed == f"Changed, against {preset(name).title}"


@pytest.mark.defect("B1")
@pytest.mark.parametrize(
    "name", ["pl94-2020-persons-us", "ddp-2019-persons-us", "group-sizes-census-2010", "counties-invariant-2010"]
)
def test_that_the_sheet_knows_every_system(window, name) -> None:
    window.session.edit_workbook("Work on it", lambda _: Workbook((preset(name).scenario,), preset(name).title, name))
    found = decision_summary(window.session.shown, window.room.decision_part(), ["run 1: 20 trials"])
    entries = {entry.caption: entry.lines for entry in found}
    assert any("ε" in line for line in entries["Privacy loss"])
    assert entries[f"Changed, in people, against {preset(name).title}"] == ("nothing",)
    assert entries["Runs cited"] == ("run 1: 20 trials",)


@pytest.mark.defect("M6")
def test_that_another_project_finds_an_empty_form(page, session, us) -> None:
    _fill(page)
    page.note.setText("6 to 1")
    page.next.select(Status.APPROVED)
    session.install(Project.new(Workbook((us,), us.name)))
    page.refresh()
    assert page.next.currentData() is Status.RECOMMENDED
    assert (page.who.text(), page.role.text(), page.note.text()) == ("", "", "")


@pytest.mark.defect("minor")
def test_that_a_decision_dated_in_the_future_is_stated_and_its_parameters_are_approved_again(
    qtbot, page, session
) -> None:
    _approve(qtbot, page)
    (made,) = session.project.decisions
    session.project.decisions = (replace(made, at="2126-07-01T12:00:00+00:00"),)
    page.refresh()
    assert "in the future" in page.sentence.text()
    assert page.next.itemText(0) == "Approved"
    _fill(page)
    page.next.select(Status.APPROVED)
    page.record()
    assert "1 Jul 2126" in " ".join(label.text() for label in page.sheet.findChildren(QLabel))
    QTest.keyClicks(page.sheet.typed, "Proposal")
    with qtbot.waitSignal(page.decided):
        QTest.mouseClick(page.sheet.action, Qt.MouseButton.LeftButton)
    assert [one.status for one in session.project.decisions] == [Status.APPROVED] * 2
    assert "in the future" not in page.sentence.text()
