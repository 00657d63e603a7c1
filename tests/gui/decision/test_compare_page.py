from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from phexplore.decide.comparing import EffectRow
from phexplore.decide.comparison_view import overlay_row
from phexplore.document.project import Project
from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import ROWS, Figure
from phexplore.figures.table import Table
from phexplore.gui.decision.compare_page import ComparePage, Detail, column_choices
from phexplore.gui.theme.appearance import appearance
from phexplore.model.workbook import Workbook, add_scenario
from phexplore.systems.phsafe.budget_edits import edit_margin
from phexplore.systems.phsafe.edits import set_budget
from phexplore.systems.protocol import PlaceName
from phexplore.systems.registry import preset


@pytest.fixture
def page(qtbot, session, controller):
    found = ComparePage(session, controller)
    qtbot.addWidget(found)
    found.resize(1100, 700)
    found.show()
    yield found
    found.stop()


def test_that_the_active_scenario_and_its_reference_are_compared_at_first(qtbot, page) -> None:
    assert [choice.key for choice in page.chosen] == [
        "preset:sdhc-2020-us",
        "scenario:Proposal",
    ]  # the baseline is the base
    qtbot.waitUntil(lambda: page.title.text().startswith("Nothing differs"))


def test_that_an_edit_shows_at_once_in_tables_and_picture(qtbot, page, session, query) -> None:
    session.edit("Edit", lambda scenario: set_budget(scenario, query, Fraction(1, 50)))
    qtbot.waitUntil(lambda: len(page.picture.marks) == 1)
    assert page.details.tabText(0) == "Parameters and effects (1)"
    assert page.tables[Detail.PARAMETERS].numbers.rows[0][::2][:2] == (
        "Bounded ρ of PH3 (State, A-G)",
        Fraction(1, 25),
    )


def test_that_one_tick_alone_teaches_what_to_do(qtbot, page) -> None:
    page.tick("scenario:Proposal")
    assert "Tick two or more" in page.sentence.text()
    page.tick("scenario:Proposal", "preset:sdhc-2020-us", "preset:sdhc-2020-pr")
    qtbot.waitUntil(lambda: len(page.columns.numbers.rows) == 3)


def test_that_rows_of_the_picture_are_walked_by_keyboard(qtbot, page, session) -> None:
    page.tick("scenario:Proposal", "preset:sdhc-2020-pr")
    qtbot.waitUntil(lambda: len(page.picture.marks) > 3)
    chosen = []
    page.picture.key_selected.connect(chosen.append)
    for _ in range(2):
        qtbot.keyClick(page.picture.canvas, Qt.Key.Key_Down)
    assert chosen == [page.picture.marks[0].key, page.picture.marks[1].key]
    assert not page.picture.plot.gestures.key_used(
        QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_F2, Qt.KeyboardModifier.NoModifier)
    )


def test_that_the_picture_survives_zero_huge_and_missing_values(qtbot, page) -> None:
    places = [PlaceName("group " * 9, "name " * 20, f"place {n}") for n in range(3)]
    names = ("long name " * 12, "B")
    rows = tuple(
        overlay_row(place, EffectRow("margin", place.title, values), names)
        for place, values in zip(places, [(0.0, 1e12), (None, None), (3.0, None)], strict=True)
    )
    axis = Axis("people", Scale.LOG)
    page.picture.show_figure(Figure("overlay", "Title", "Summary", axis, ROWS, rows, Table(("x",))))
    picture = page.picture.sheet.image(1.0)
    assert not picture.isNull()


@pytest.mark.defect("M6")
def test_that_another_project_is_compared_as_at_first(qtbot, page, session, us) -> None:
    page.tick("scenario:Proposal", "preset:sdhc-2020-pr")
    session.install(Project.new(Workbook((us,), us.name, "sdhc-2020-us")))
    qtbot.waitUntil(lambda: [choice.key for choice in page.chosen] == ["preset:sdhc-2020-us", f"scenario:{us.name}"])


def test_that_the_project_offers_its_scenarios_what_was_saved_and_presets(us, query, tmp_path) -> None:
    project = Project.new(Workbook((replace(us, name="Vote"),), "Vote"))
    project.commit("Add", add_scenario(project.workbook, preset("pl94-2020-persons-us").scenario))
    project.commit("Back", replace(project.workbook, active="Vote"))
    assert "Kept by the project" not in column_choices(project, ())
    project.save(tmp_path / "vote.phx")
    project.edit("Edit", lambda scenario: set_budget(scenario, query, Fraction(1, 50)))
    found = column_choices(project, ())
    assert [choice.title for choice in found["This project"]] == ["Vote"]
    (saved,) = found["Kept by the project"]
    assert saved.scenario.phsafe.budgets[query] == us.phsafe.budgets[query]
    assert {choice.key for choice in found["Published"]} >= {"preset:sdhc-2020-us", "preset:sdhc-2020-pr"}
    project.close()


def test_that_a_finding_of_several_lines_leaves_the_axis_its_room_in_large_text(qtbot, page, session, query) -> None:
    appearance().set_scale(200)
    page.resize(960, 500)
    session.edit("Edit", lambda scenario: edit_margin(scenario, query, Fraction(40)))
    page.tick("scenario:Proposal", "preset:sdhc-2020-us")
    picture, canvas = page.picture, page.picture.canvas
    qtbot.waitUntil(lambda: picture.isVisible() and "narrowest" in picture.accessibleName() + picture._title.text())
    qtbot.waitUntil(lambda: picture.height() >= picture.heightForWidth(picture.width()))
    assert canvas.parentWidget().height() >= canvas.minimumHeight()
