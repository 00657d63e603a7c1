"""The whole window with TopDown scenarios: pages of the right system, files, issues, menus."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from phexplore.document.project import Project
from phexplore.errors import PhexploreError
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.project_data import ProjectData
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.settings import Settings
from phexplore.gui.main.exporting import export_formats
from phexplore.gui.main.importing import read_parameters
from phexplore.gui.main.project_files import project_of
from phexplore.gui.main.window import MainWindow
from phexplore.gui.run_manager.run_rows import RunAction, RunRow
from phexplore.gui.systems.topdown.shares_editor import TopDownBudgetsEditor
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.widgets.buttons import TextButton
from phexplore.model.edits import set_field, set_item
from phexplore.model.topdown import LevelQuery
from phexplore.model.workbook import add_scenario
from phexplore.runs.spec import RunData, RunSpec
from phexplore.runs.states import RunState
from phexplore.systems.registry import preset
from phexplore.systems.topdown.edits import set_level_share
from phexplore.systems.topdown.ini_reading import load_ini
from phexplore.systems.topdown.run_options import TopDownOptions


@pytest.fixture
def window(qtbot, settings, tmp_path):
    found = MainWindow(project_of(preset("pl94-2020-persons-us")), settings, tmp_path / "runs")
    qtbot.addWidget(found, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
    found.resize(1280, 800)
    found.show()
    qtbot.waitExposed(found)
    found.navigation.choose(Area.OVERVIEW)
    return found


def opened(window, qtbot, path):
    window.files.open(path)
    qtbot.waitUntil(lambda: window.published.dialog is not None, timeout=60_000)
    return window.published.dialog


def test_that_an_opened_published_file_says_what_it_is_and_becomes_data(window, qtbot, real_data):
    path = real_data / "published" / "pl94" / "ri2018_2020Style.pl.zip"
    dialog = opened(window, qtbot, path)
    assert "569 Block" in dialog.sentence.text()
    assert "29,225 persons" in dialog.sentence.text()
    press(dialog, "Run on these data")
    assert window.areas.runs.page.form_of(window.room.system).controls["data"].read() == str(path)


def test_that_opened_shapes_are_those_of_the_maps(window, qtbot, real_data):
    path = real_data / "published" / "tiger" / "tl_2023_44_tract.zip"
    press(opened(window, qtbot, path), "Use on maps")
    assert window.data.shapes == path


def test_that_shapes_of_a_project_are_there_on_another_computer(window, qtbot, real_data, tmp_path):
    """The folder of a project is moved; the other computer's window has settings of its own and no such file."""
    shapes = Path(shutil.copy(real_data / "published" / "tiger" / "tl_2023_44_tract.zip", tmp_path))
    here, away = tmp_path / "here", tmp_path / "away"
    here.mkdir()
    window.data.use_shapes(shapes)
    window.files.save_to(here / "towns.phx")
    assert window.data.shapes.parent.parent == here
    window.files.save_to(here / "again.phx")
    assert window.data.shapes.parent.name.startswith("again.phx")
    shutil.copytree(here, away)
    shapes.unlink()
    project = Project.open(away / "towns.phx")
    data = ProjectData(Session(project), Settings(tmp_path / "other"), window)
    assert data.shapes.name == "tl_2023_44_tract.zip"
    assert data.shapes.parent.parent == away
    project.close()


def press(dialog, text):
    next(button for button in dialog.findChildren(TextButton) if button.text() == text).click()


def add_sdhc(window):
    window.session.edit_workbook("Add", lambda b: add_scenario(b, preset("sdhc-2020-us").scenario))


def test_that_areas_show_the_pages_of_the_active_system(window):
    assert [chart.id for chart in window.pages.currentWidget().charts] == ["heat", "levels", "semantics"]
    assert window.navigation.item(2).text() == "Post-processing"
    add_sdhc(window)
    assert [chart.id for chart in window.pages.currentWidget().charts] != ["heat", "levels", "semantics"]
    assert window.navigation.item(2).text() == "Levels and thresholds"
    window.session.undo()
    assert [chart.id for chart in window.pages.currentWidget().charts] == ["heat", "levels", "semantics"]


@pytest.mark.parametrize("percent", [100, 200])
def test_that_no_area_of_one_word_is_cut(window, percent):
    appearance().set_scale(percent)
    areas = window.navigation
    for row in range(areas.count()):
        if not areas.isRowHidden(row) and " " not in areas.item(row).text():
            assert areas.sizeHintForIndex(areas.indexFromItem(areas.item(row))).width() <= areas.viewport().width()


def test_that_every_area_opens_for_every_preset(qtbot, window):
    for found in ("pl94-2020-units-us", "dhc-2020-persons-us", "dhc-2020-units-pr", "ddp-2019-persons-us"):
        window.session.edit_workbook("Add", lambda b, found=found: add_scenario(b, preset(found).scenario))
        for area in (Area.OVERVIEW, Area.BUDGETS, Area.LEVELS, Area.SCENARIO, Area.RUNS):
            window.navigation.choose(area)
        assert window.rooms["topdown"].session.scenario.baseline == found


def test_that_dhc_can_be_run(qtbot, window):
    window.session.edit_workbook("Add", lambda b: add_scenario(b, preset("dhc-2020-persons-us").scenario))
    window.navigation.choose(Area.RUNS)
    page = window.pages.currentWidget()
    assert not page.forms["topdown"]._blocked


def test_that_the_headline_follows_edits_within_a_frame(qtbot, window):
    window.session.edit("Raise", lambda s: set_field(s, "total", Fraction(3)))
    qtbot.waitUntil(lambda: window.headline.tiles[0].accessibleName().startswith("Privacy loss, bounded ρ: 3.000000"))


def test_that_a_double_click_in_the_overview_opens_the_share(qtbot, window):
    window.pages.currentWidget().chart("heat").key_activated.emit(LevelQuery("County", "total"))
    assert window.navigation.area is Area.BUDGETS
    assert isinstance(window.pages.currentWidget(), TopDownBudgetsEditor)
    assert window.rooms["topdown"].session.selection == LevelQuery("County", "total")
    assert window.rooms["topdown"].inspector.isVisible()
    assert window.inspector is window.rooms["topdown"].inspector


def test_that_an_issue_leads_to_its_editor(qtbot, window):
    window.session.edit("Drop", lambda s: set_item(s, "invariants", "State", ()))
    window.room.go_to_issue(window.session.shown.issues[0])
    assert window.navigation.area is Area.LEVELS


def test_that_a_drag_of_a_level_is_one_step_and_escape_undoes_it(qtbot, window):
    page = window.pages.currentWidget()
    before = dict(window.rooms["topdown"].session.shown.method.level_shares)
    for percent in (20.0, 25.0, 30.0):
        page.chart("levels").handle_dragged.emit("State", percent)
    assert window.rooms["topdown"].session.shown.method.level_shares["State"] == Fraction(3, 10)
    assert len(window.session.project.labels) == 2
    page.chart("levels").drag_cancelled.emit("State")
    assert dict(window.rooms["topdown"].session.shown.method.level_shares) == before
    page.chart("levels").handle_dragged.emit("State", 20.0)
    page.chart("levels").handle_released.emit("State")
    assert window.session.project.labels[-1] == "Set the share of State to 20.00 %"


def test_that_only_fitting_actions_are_offered(window):
    window.actions_table.refresh()
    enabled = {name: window.actions_table[name].isEnabled() for name in window.actions_table.entries}
    assert enabled["file.export-das-ini"]
    assert not enabled["file.export-phsafe-config"]
    assert not enabled["edit.sum"]
    add_sdhc(window)
    window.actions_table.refresh()
    assert not window.actions_table["file.export-das-ini"].isEnabled()
    assert window.actions_table["file.export-phsafe-config"].isEnabled()


def test_that_production_files_are_written_and_read_back(qtbot, window, tmp_path):
    window.session.edit("County", lambda s: set_level_share(s, "County", Fraction(1, 5)))
    target = tmp_path / "das.ini"
    with qtbot.waitSignal(window.exports.written):
        window.commands.exports.export(next(form for form in export_formats() if form.id == "das-ini"), target)
    scenario, _ = load_ini(target)
    assert scenario.topdown.level_shares == window.rooms["topdown"].session.shown.method.level_shares
    again, _ = read_parameters(target, window.session.scenario)
    assert again.topdown.total == window.rooms["topdown"].session.shown.method.total


def test_that_a_table_of_the_other_system_is_refused(window, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("table,level,rho\n", "utf-8")
    with pytest.raises(PhexploreError, match="S-DHC"):
        read_parameters(table, window.session.scenario)


def test_that_the_comparison_with_another_system_shows_nothing(window):
    add_sdhc(window)
    window.header._refresh()
    assert window.header.reference.currentData() == ""


def test_that_the_spine_is_an_area_of_topdown_only(window):
    window.navigation.choose(Area.SPINE)
    assert window.pages.currentWidget().accessibleName() == "Spine"
    window.actions_table.refresh()
    assert window.actions_table["view.spine"].isEnabled()
    add_sdhc(window)
    assert Area.SPINE not in window.navigation.offered
    assert window.navigation.area is Area.OVERVIEW
    window.actions_table.refresh()
    assert not window.actions_table["view.spine"].isEnabled()
    window.session.undo()
    assert Area.SPINE in window.navigation.offered


def test_that_every_page_fits_a_small_screen_at_any_text_size(qtbot, window):
    window.session.edit("County", lambda s: set_level_share(s, "County", Fraction(1, 5)))
    window.rooms["topdown"].session.select(LevelQuery("County", "total"))
    for scale in (100, 150, 200):
        appearance().set_scale(scale)
        for area in window.navigation.offered:
            window.navigation.choose(area)
            QApplication.processEvents()
            assert window.minimumSizeHint().width() <= 1280, (area, scale)
        title = window.navigation.item(2)
        room = window.navigation.visualItemRect(title).width() - window.navigation.iconSize().width() - 3 * 8
        assert window.navigation.fontMetrics().horizontalAdvance(title.text()) <= room


def test_that_headings_begin_with_a_capital_letter(qtbot, window):
    window.rooms["topdown"].session.select(LevelQuery("State", "total"))
    window.navigation.choose(Area.BUDGETS)
    window.rooms["topdown"].inspector.refresh_now()
    assert window.rooms["topdown"].inspector.title.text() == "Total at State"


@pytest.mark.defect("F3")
def test_that_a_scheduler_is_trusted_by_a_person_each_time_a_run_is_started_or_resumed(window, monkeypatch):
    window.navigation.choose(Area.RUNS)
    page, started, resumed = window.areas.runs.page, [], []
    monkeypatch.setattr(
        window.areas.runs.controller,
        "launch",
        lambda _scenario, request: started.append(request.settings.place.scheduler),
    )
    monkeypatch.setattr(window.areas.runs.controller, "resume", lambda _run, place: resumed.append(place.scheduler))
    form = page.forms["topdown"]
    form.fill(trials=1)
    form.controls["place"].line.setText("tls://far:8786")
    page.start_run()
    question = window.areas.runs.question
    assert "can run code on this computer" in question.sentence.text()
    assert "tls://far:8786" in question.sentence.text()
    assert question.focusWidget().text() == "Cancel"
    press(question, "Cancel")
    assert started == []
    page.start_run()
    press(window.areas.runs.question, "Start on the cluster")
    assert started == ["tls://far:8786"]
    assert form.controls["place"].line.text() == ""

    scenario = window.session.scenario
    cancelled = RunRow(
        Path("a"),
        RunSpec(scenario, RunData("/no/data", "0" * 64, 1), 5, 1, options=TopDownOptions()),
        RunState.CANCELLED,
    )
    monkeypatch.setattr(window.areas.runs.controller, "row", lambda _directory: cancelled)
    page._do(RunAction.RESUME, cancelled.directory)
    assert resumed == [""]
    form.controls["place"].line.setText("far:8786")
    page._do(RunAction.RESUME, cancelled.directory)
    assert resumed == [""]
    press(window.areas.runs.question, "Start on the cluster")
    assert resumed == ["", "far:8786"]


def test_that_searches_are_kept_beside_the_runs_of_the_project(window):
    root = window.areas.runs.controller.homes.root
    assert window.room._make_tuning()._home() == root.with_name(f"{root.name}-tuning")
