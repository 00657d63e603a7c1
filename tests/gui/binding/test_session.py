from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.document.project import Project
from phexplore.gui.binding.change_texts import change_lines
from phexplore.gui.binding.session import Session
from phexplore.model.edits import set_item
from phexplore.model.workbook import Workbook, add_scenario, compare_with
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.registry import preset


def test_that_an_edit_updates_at_once_and_settles_once_per_frame(qtbot, session, query) -> None:
    updates, settled = [], []
    session.updated.connect(updates.append)
    session.settled.connect(settled.append)
    with qtbot.waitSignal(session.settled):
        for people in range(30, 50):
            assert session.edit("x", lambda s, p=people: edit_margin(s, query, Fraction(p)), merge_key="drag") is None
    assert len(updates) == 20
    assert len(settled) == 1
    assert settled[0] is session.shown
    assert session.shown.figures.query(query).margins.normal == pytest.approx(49, abs=0.01)


def test_that_a_drag_is_one_step(session, query) -> None:
    for people in range(30, 230):
        session.edit("Drag", lambda s, p=people: edit_margin(s, query, Fraction(p)), merge_key="drag")
    session.project.end_merge()
    session.edit("Drag", lambda s: edit_margin(s, query, Fraction(19)), merge_key="drag")
    assert session.project.labels[1:] == ("Drag", "Drag")


def test_that_a_refused_edit_changes_nothing_and_says_why(session, query) -> None:
    session.edit("Lock", lambda s: set_item(s, "locks", query, value=True))
    before, labels = session.shown, session.project.labels
    refusal = session.edit("Set", lambda s: set_budget(s, query, Fraction(1)))
    assert "is locked" in refusal.reason
    assert "Unlock" in refusal.full
    assert session.shown is before
    assert session.project.labels == labels


def test_that_a_refusal_without_a_field_is_announced(qtbot, session, query) -> None:
    refusal = session.edit("Set", lambda s: set_budget(s, query, Fraction(-1)))
    with qtbot.waitSignal(session.refused) as refused:
        assert session.report(refusal) is False
    assert refused.args == [refusal]
    assert session.report(None) is True


def test_that_undo_redo_and_jumps_show_the_version(session, query) -> None:
    first = session.scenario
    session.edit("One", lambda s: set_budget(s, query, Fraction(1)))
    session.edit("Two", lambda s: set_budget(s, query, Fraction(2)))
    session.undo()
    assert session.scenario.method.budgets[query] == 1
    session.redo()
    assert session.scenario.method.budgets[query] == 2
    session.go_to(0)
    assert session.scenario == first
    session.undo()
    assert session.scenario == first


def test_that_a_jump_between_equal_versions_is_announced(session, query) -> None:
    old = session.scenario.method.budgets[query]
    session.edit("There", lambda s: set_budget(s, query, Fraction(1)))
    session.edit("And back", lambda s: set_budget(s, query, old))
    updates = []
    session.updated.connect(updates.append)
    session.go_to(0)
    assert len(updates) == 1
    assert session.project.cursor == 0


def test_that_the_reference_follows_the_comparison(session, us) -> None:
    assert session.shown.reference.title == us.name
    session.edit_workbook("Add", lambda book: add_scenario(book, us))
    session.edit_workbook("Compare", lambda book: compare_with(book, "Proposal"))
    assert session.shown.reference.title == "Proposal"
    session.edit_workbook("Compare", lambda book: compare_with(book, ""))
    assert session.shown.reference is None


def test_that_selection_is_announced_only_when_it_changes(session, query) -> None:
    seen = []
    session.selected.connect(seen.append)
    session.select(query)
    session.select(query)
    session.select(None)
    assert seen == [query, None]


def test_that_an_old_project_no_longer_speaks(session, us, query) -> None:
    old = session.project
    session.install(Project.new(Workbook((us,), us.name)))
    updates = []
    session.updated.connect(updates.append)
    old.edit("Late", lambda s: set_budget(s, query, Fraction(1)))
    assert updates == []
    assert session.scenario == us


def test_that_installing_announces_an_update_without_a_before(session, us) -> None:
    updates = []
    session.updated.connect(updates.append)
    session.install(Project.new(Workbook((us,), us.name)))
    assert [update.before for update in updates] == [None]


def test_that_the_journal_is_forced_to_disk_within_a_second(qtbot, us, query, tmp_path, monkeypatch) -> None:
    project = Project.new(Workbook((us,), us.name), scratch=tmp_path / "scratch.phx")
    session, flushed = Session(project), []
    monkeypatch.setattr(project, "flush", lambda: flushed.append(1))
    session.edit("Set", lambda s: set_budget(s, query, Fraction(1)))
    qtbot.waitUntil(lambda: bool(flushed))
    project.close()


@pytest.mark.parametrize("name", ["sdhc-2020-us", "pl94-2020-persons-us"])
def test_that_the_reference_is_told_in_the_conventions_of_the_scenario(qapp, name) -> None:
    scenario = replace(preset(name).scenario, name="Proposal")
    session = Session(Project.new(Workbook((scenario,), "Proposal", name)))
    for confidence in (Fraction(9, 10), Fraction(19, 20)):
        conventions = replace(scenario.conventions, confidence=confidence)
        session.edit("Set", lambda s, c=conventions: replace(s, conventions=c))
        pairs = zip(session.shown.forecast.entries, session.shown.reference.forecast.entries, strict=True)
        assert all(entry.margins == before.margins for entry, before in pairs)
    assert session.shown.reference.scenario.conventions == scenario.conventions
    (line,) = change_lines(session.shown)
    assert line.text == "Conventions: confidence 0.9 → confidence 0.95"
