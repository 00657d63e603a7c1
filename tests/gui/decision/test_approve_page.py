from __future__ import annotations

from fractions import Fraction

import pytest

from phexplore.gui.decision.approve_page import ApprovePage
from phexplore.gui.decision.standing import RunOffer
from phexplore.model.approval import Status
from phexplore.model.edits import set_budget


@pytest.fixture
def page(qtbot, session, desk, tmp_path):
    def save(then):
        session.project.save(tmp_path / "vote.phx")
        session.mark_saved()
        then()

    found = ApprovePage(session, desk, save)
    qtbot.addWidget(found)
    found.show()
    yield found
    found.stop()
    session.project.close()


def _fill(page, who="Ada Lovelace", role="Chair"):
    page.who.setText(who)
    page.role.setText(role)


def test_that_a_decision_without_a_name_is_refused_beside_the_field(page, session) -> None:
    page.record()
    assert "Say who decides" in page.reason.text()
    assert session.project.decisions == ()


def test_that_recording_saves_the_project_first_and_keeps_who_role_note(qtbot, page, session) -> None:
    _fill(page)
    page.note.setText("6 to 1")
    page.next.select(Status.APPROVED)
    with qtbot.waitSignal(page.decided):
        page.record()
    (made,) = session.project.decisions
    assert (made.status, made.who, made.role, made.note) == (Status.APPROVED, "Ada Lovelace", "Chair", "6 to 1")
    assert session.project.is_clean
    assert page.status.text() == "Approved"
    assert page.table.numbers.rows[0][:4] == ("Approved", "Proposal", "Ada Lovelace", "Chair")


def test_that_only_what_may_follow_is_offered(qtbot, page) -> None:
    assert [page.next.itemText(n) for n in range(page.next.count())] == ["Recommended", "Approved"]
    _fill(page)
    with qtbot.waitSignal(page.decided):
        page.record()
    assert [page.next.itemText(n) for n in range(page.next.count())] == ["Approved", "Superseded"]


def test_that_an_edit_after_the_approval_shows_a_new_draft(qtbot, page, session, query) -> None:
    _fill(page)
    page.next.select(Status.APPROVED)
    with qtbot.waitSignal(page.decided):
        page.record()
    session.edit("Edit", lambda scenario: set_budget(scenario, query, Fraction(1, 50)))
    qtbot.waitUntil(lambda: page.status.text() == "Draft")
    assert "1 parameter differs" in page.sentence.text()
    assert len(page.table.numbers.rows) == 1


def test_that_an_edit_made_while_the_runs_are_checked_decides_nothing(qtbot, page, session, query, tmp_path) -> None:
    session.project.save(tmp_path / "vote.phx")
    session.mark_saved()
    _fill(page)
    page.record()
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
    page.record()
    qtbot.waitUntil(lambda: bool(page.reason.text()))
    assert session.project.decisions == ()


def test_that_runs_that_cannot_be_cited_cannot_be_ticked(page, tmp_path) -> None:
    offers = [RunOffer(tmp_path / "good", "good", ""), RunOffer(tmp_path / "bad", "bad", "it is not complete")]
    page.runs.show_offers(offers, [tmp_path / "good", tmp_path / "bad"])
    assert page.runs.chosen == (tmp_path / "good",)
    assert "cannot be cited: it is not complete" in page.runs.list.item(1).text()


def test_that_ticks_follow_runs_that_move_beside_the_project(page, tmp_path) -> None:
    page.runs.show_offers([RunOffer(tmp_path / "a" / "run-1", "run", "")], [tmp_path / "a" / "run-1"])
    page.runs.show_offers([RunOffer(tmp_path / "b" / "run-1", "run", "")])
    assert page.runs.chosen == (tmp_path / "b" / "run-1",)
