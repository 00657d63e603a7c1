"""From three members' proposals to a signed bundle, in the window."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLineEdit,
    QScrollBar,
)
from window_areas import focus_chain

from phexplore.decide.bundle_jobs import KeyJob
from phexplore.decide.verifying import verify
from phexplore.document.project import Project
from phexplore.gui.decision.status import DecisionTab
from phexplore.gui.theme.appearance import appearance
from phexplore.model.approval import Status
from phexplore.model.fingerprint import fingerprint
from phexplore.model.keys import TableId
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.budget_edits import edit_margin, edit_threshold
from phexplore.systems.phsafe.config_file import write_config
from phexplore.systems.phsafe.edits import set_budget


@pytest.fixture
def members(us, query, tmp_path):
    """The files of three members: two projects and a production config.json."""
    paths = []
    for name, people in (("Ada", 22), ("Grace", 25), ("Alan", 40)):
        proposal = edit_threshold(edit_margin(us, query, Fraction(people)), TableId("PH4"), 12)
        if name == "Alan":
            paths.append(tmp_path / "Alan.json")
            paths[-1].write_text(write_config(proposal))
        else:
            paths.append(tmp_path / f"{name}.phx")
            project = Project.new(Workbook((replace(proposal, name=name),), name))
            project.save(paths[-1])
            project.close()
    return paths


@pytest.fixture
def saved_window(window, tmp_path):
    """The window on a saved project."""
    window.files.save_to(tmp_path / "vote.phx")
    return window


def _tab(window, tab):
    window.areas.show_decision(tab)
    QApplication.sendPostedEvents()
    return window.areas.decision.page[tab]


def _decide(qtbot, page, status, who, role, note):
    page.next.select(status)
    page.who.setText(who)
    page.role.setText(role)
    page.note.setText(note)
    page.button.click()
    page.sheet.typed.setText(page.window().session.scenario.name)
    with qtbot.waitSignal(page.decided):
        page.sheet.action.click()


def test_that_three_proposals_become_a_signed_bundle(qtbot, saved_window, members, query, tmp_path) -> None:
    window, session = saved_window, saved_window.session
    committee = _tab(window, DecisionTab.COMMITTEE)
    committee.import_files(members)
    qtbot.waitUntil(lambda: len(committee.members) == 3)
    qtbot.waitUntil(lambda: "3 members moved" in committee.title.text())
    committee.tick("Ada", "Grace", "Alan")
    committee.draft.click()
    assert session.scenario.name == "Consensus draft"

    compare = _tab(window, DecisionTab.COMPARE)
    window.areas.decision.compare(["scenario:Consensus draft", "scenario:Ada", "scenario:Grace", "scenario:Alan"])
    qtbot.waitUntil(lambda: len(compare.columns.numbers.rows) == 4)

    approve = _tab(window, DecisionTab.APPROVE)
    _decide(qtbot, approve, Status.RECOMMENDED, "Grace Hopper", "Disclosure avoidance", "for the vote")
    _decide(qtbot, approve, Status.APPROVED, "Ada Lovelace", "Chair", "3 to 0")
    assert window.header.status.text() == "Approved"

    bundle = _tab(window, DecisionTab.BUNDLE)
    for name, role, passphrase in (("Ada Lovelace", "Chair", b""), ("Grace Hopper", "Operator", b"secret")):
        with qtbot.waitSignal(bundle.process.answered):
            bundle.create_key(KeyJob(tmp_path / f"{name.split()[0]}.key", passphrase), bundle.signers)
        bundle.signers.rows[-1].name.setText(name)
        bundle.signers.rows[-1].role.setText(role)
    bundle.clearance.setText("CB-2026-1")
    out = tmp_path / "decision.zip"
    steps = []
    bundle.process.progressed.connect(steps.append)
    with qtbot.waitSignal(bundle.written):
        bundle.write_to(out)
    assert bundle.writing.title.text() == "Intact and signed by 2 keys used here"
    assert [step.number for step in steps] == [1, 2, 3, 4, 5, 6]
    assert bundle.signers.rows[1].passphrase.text() == ""

    found = verify(out.read_bytes())
    assert found.is_intact
    assert found.manifest["fingerprint"] == fingerprint(session.scenario)
    assert {one.signer.name for one in found.signatures} == {"Ada Lovelace", "Grace Hopper"}
    with zipfile.ZipFile(out) as archive:
        decisions = json.loads(archive.read("decisions.json"))
        names = archive.namelist()
    assert [one["status"] for one in decisions] == ["recommended", "approved"]
    assert not any(name.endswith((".html", ".pdf")) for name in names)

    content = bytearray(out.read_bytes())
    content[content.index(b'"usa_')] ^= 4
    out.write_bytes(content)
    with qtbot.waitSignal(bundle.process.answered):
        bundle.check(out)
    assert bundle.checking.title.text() == "Not intact: 1 finding"

    session.edit("Second thoughts", lambda scenario: set_budget(scenario, query, Fraction(1, 50)))
    qtbot.waitUntil(lambda: window.header.status.text() == "Draft")
    session.undo()
    qtbot.waitUntil(lambda: window.header.status.text() == "Approved")


@pytest.mark.slow
def test_that_a_decision_rests_on_a_run_of_its_parameters_and_the_bundle_holds_it(qtbot, window, tmp_path) -> None:
    window.navigation.choose(next(area for area in type(window.navigation.area) if area.name == "RUNS"))
    window.areas.runs.page.start_run()
    controller = window.areas.runs.controller
    qtbot.waitUntil(lambda: any(row.state.is_final for row in controller.rows))
    window.files.save_to(tmp_path / "vote.phx")  # the run moves beside the project
    approve = _tab(window, DecisionTab.APPROVE)
    qtbot.waitUntil(lambda: approve.runs.list.count() == 1)
    approve.runs.list.item(0).setCheckState(Qt.CheckState.Checked)
    _decide(qtbot, approve, Status.APPROVED, "Ada Lovelace", "Chair", "")
    bundle = _tab(window, DecisionTab.BUNDLE)
    qtbot.waitUntil(lambda: len(bundle.runs.chosen) == 1)
    with qtbot.waitSignal(bundle.written):
        bundle.write_to(tmp_path / "decision.zip")
    with zipfile.ZipFile(tmp_path / "decision.zip") as archive:
        assert any(name.startswith("runs/") and name.endswith("summary.json") for name in archive.namelist())
    window.session.edit("Edit", lambda s: edit_threshold(s, TableId("PH4"), 12))
    qtbot.waitUntil(lambda: "cannot be cited" in approve.runs.list.item(0).text() or not approve.isVisible())
    approve.refresh()
    assert "other parameters" in approve.runs.list.item(0).text()


@pytest.mark.parametrize("tab", DecisionTab)
@pytest.mark.parametrize("scale", [100, 200])
def test_that_every_control_has_a_name_and_is_reached_by_tab(window, tab, scale) -> None:
    appearance().set_scale(scale)
    page = _tab(window, tab)
    kinds = (QAbstractButton, QAbstractItemView, QComboBox, QLineEdit)
    controls = [
        widget
        for kind in kinds
        for widget in page.findChildren(kind)
        if widget.isVisible()
        and not isinstance(widget, QScrollBar)
        and not widget.objectName().startswith("qt_")
        and type(widget).__name__ not in {"QHeaderView", "QTableCornerButton"}
    ]
    assert controls
    unnamed = [
        type(widget).__name__
        for widget in controls
        if not QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name).strip()
    ]
    assert unnamed == []
    wanted = {each for each in controls if each.isEnabled() and each.focusPolicy() & Qt.FocusPolicy.TabFocus}
    assert wanted <= set(focus_chain(window.navigation))
