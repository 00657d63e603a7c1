"""The whole window with group sizes and with releases under exact sums: pages, edits, issues, mixed projects."""

from __future__ import annotations

from fractions import Fraction

import pytest

from phexplore.document.project import Project
from phexplore.gui.binding.areas import Area
from phexplore.gui.main.exporting import export_formats
from phexplore.gui.main.project_files import project_of
from phexplore.gui.main.window import MainWindow
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.library import reread
from phexplore.model.edits import set_field
from phexplore.model.group_sizes import SizeMechanism
from phexplore.model.subspace import Mechanism, Totals
from phexplore.model.workbook import add_scenario
from phexplore.resources import resource
from phexplore.systems.group_sizes.edits import set_size_levels
from phexplore.systems.registry import preset
from phexplore.systems.subspace.edits import change_release

SIZES, COUNTIES = "group-sizes-census-2010", "counties-invariant-2010"


@pytest.fixture
def opened(qtbot, settings, tmp_path):
    def make(preset_id):
        found = MainWindow(project_of(preset(preset_id)), settings, tmp_path / "runs")
        qtbot.addWidget(found, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
        found.resize(1280, 800)
        found.show()
        qtbot.waitExposed(found)
        found.navigation.choose(Area.OVERVIEW)
        return found

    return make


def add(window, preset_id):
    found = preset(preset_id).scenario
    window.session.edit_workbook("Add", lambda book: add_scenario(book, found))


@pytest.mark.parametrize("preset_id", [SIZES, COUNTIES])
def test_that_every_area_opens(opened, preset_id) -> None:
    window = opened(preset_id)
    assert window.pages.currentWidget().charts
    assert Area.LEVELS not in window.navigation.offered
    for area in window.navigation.offered:
        window.navigation.choose(area)
        assert window.navigation.area is area


def test_that_a_project_of_every_system_follows_one_of_every_other(qtbot, opened) -> None:
    """With all pages of the one before made: one of them asked the next project what only its own system knows."""
    appearance().show_depth(Depth.EXPERT)
    systems = ("sdhc-2020-us", "pl94-2020-persons-us", SIZES, COUNTIES)
    window = opened(systems[0])
    for number in (1, 2, 1, 3, 0, 2, 0, 3, 1, 0, 3, 2):  # every ordered pair
        for area in window.navigation.offered:
            window.navigation.choose(area)
            page = window.pages.currentWidget()
            for tab in getattr(page, "offered", ()):
                page.show_tab(tab)
        window.files.new(preset(systems[number]))
        qtbot.wait(20)  # what fails in the event loop fails the test
        assert window.session.scenario.baseline == systems[number]


def test_that_a_project_mixes_all_four_systems(opened, tmp_path) -> None:
    window = opened(SIZES)
    for other in (COUNTIES, "pl94-2020-persons-us", "sdhc-2020-us"):
        add(window, other)
        for area in (Area.BUDGETS, Area.OVERVIEW, Area.SCENARIO):
            window.navigation.choose(area)
    assert window.room.system.id == "phsafe"
    for expected in ("topdown", "subspace", "group-sizes"):
        window.session.undo()
        assert window.room.system.id == expected
    window.session.redo()
    window.files.save_to(tmp_path / "mixed.phx")
    window.session.project.close()
    again = Project.open(tmp_path / "mixed.phx")
    assert again.workbook == window.session.project.workbook
    again.close()


def test_that_an_edit_is_one_step_with_a_sentence_and_reaches_tiles_and_changes(qtbot, opened) -> None:
    window = opened(SIZES)
    window.navigation.choose(Area.BUDGETS)
    page = window.rooms["group-sizes"].page
    page.budget.controls["total"].line.setText("1/2")
    page.budget.controls["total"].line.setModified(True)
    page.budget.controls["total"].line.offered.emit("1/2")
    assert window.session.project.labels[-1] == "Set the total budget to 0.5"
    window.navigation.choose(Area.OVERVIEW)
    qtbot.waitUntil(lambda: window.headline.tiles[0].accessibleName().startswith("Privacy loss ε: 0.500000"))
    overview = window.pages.currentWidget()
    qtbot.waitUntil(lambda: overview.changes.list.item(0).text() == "Total: 1 → 0.5")
    assert overview.chart("margins").numbers.rows


def test_that_a_refused_entry_stays_with_its_reason(opened) -> None:
    window = opened(COUNTIES)
    window.navigation.choose(Area.BUDGETS)
    page = window.rooms["subspace"].page
    page.budget.controls["epsilon"].line.offered.emit("-1")
    assert "ε is positive" in page.budget.controls["epsilon"].reason
    page.releases.invariants.setPlainText("total by countie")
    page.releases.invariants.commit()
    assert "Did you mean" in page.releases.invariants.reason
    assert page.releases.invariants.toPlainText() == "total by countie"
    assert len(window.session.project.labels) == 1


def test_that_counts_of_the_users_library_are_chosen_and_only_where_they_fit(opened, tmp_path, monkeypatch) -> None:
    folder = tmp_path / "library" / "tables"
    folder.mkdir(parents=True)
    (folder / "mine.csv").write_bytes(resource("tables/illinois_counties_2010.csv").read_bytes())
    (folder / "few.csv").write_text("county,count\n17001,3\n")
    monkeypatch.setenv("PHEXPLORE_LIBRARY", str(folder.parent))
    reread()
    window = opened(COUNTIES)
    window.navigation.choose(Area.BUDGETS)
    control = window.rooms["subspace"].page.histogram.controls["table"]
    assert control.chooser.values == ["", "illinois_counties_2010", "few", "mine"]
    assert control.chooser.itemText(1) == "Counties of Illinois 2010"
    assert control.chooser.itemText(3) == "mine (your library)"
    control.chooser.setCurrentIndex(3)
    assert window.session.scenario.subspace.table == "mine"
    control.chooser.setCurrentIndex(2)
    assert "has no line" in control.reason
    assert window.session.scenario.subspace.table == "mine"
    monkeypatch.undo()
    reread()


def test_that_redundant_sums_are_said_beside_them(qtbot, opened) -> None:
    window = opened(COUNTIES)
    window.navigation.choose(Area.BUDGETS)
    editor = window.rooms["subspace"].page.releases
    editor.invariants.setPlainText("total\nwhole state = " + " + ".join(f"#{n}" for n in range(102)))
    editor.invariants.commit()
    assert "adds nothing" in editor.redundant.text()
    assert not editor.redundant.isHidden()


def test_that_what_determines_cells_is_an_issue_that_leads_to_the_parameters(opened) -> None:
    window = opened(COUNTIES)
    window.session.edit("Fix", lambda s: change_release(s, "counties", invariants=(Totals(("county",)),)))
    issues = window.session.shown.issues
    assert issues
    window.room.go_to_issue(issues[0])
    assert window.navigation.area is Area.BUDGETS


def test_that_errors_leave_the_window_whole(qtbot, opened) -> None:
    window = opened(COUNTIES)
    for area in (Area.OVERVIEW, Area.BUDGETS):
        window.navigation.choose(area)
    refusal = window.session.edit(
        "Gaussian", lambda s: change_release(s, "counties", mechanism=Mechanism.EXTENDED_GAUSSIAN)
    )
    assert refusal is None
    assert window.session.shown.figures is None
    assert "needs a δ" in window.session.shown.issues[0].sentence
    window.headline.refresh()
    window.navigation.choose(Area.OVERVIEW)
    qtbot.waitUntil(lambda: window.pages.currentWidget().chart("alternatives").is_empty)
    window.session.edit("δ", lambda s: set_field(s, "delta", Fraction(1, 10**10)))
    assert window.session.shown.figures is not None


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(10**4)])
def test_that_tiny_and_huge_budgets_are_shown(qtbot, opened, epsilon) -> None:
    window = opened(SIZES)
    window.session.edit("Total", lambda s: set_field(s, "total", epsilon))
    window.pages.currentWidget().refresh()
    add(window, COUNTIES)
    window.session.edit("ε", lambda s: set_field(s, "epsilon", epsilon))
    window.pages.currentWidget().refresh()
    window.headline.refresh()
    assert window.session.shown.figures is not None


def test_that_the_levels_of_the_form_follow_the_scenario(opened) -> None:
    window = opened(SIZES)
    window.navigation.choose(Area.BUDGETS)
    page = window.rooms["group-sizes"].page
    window.session.edit("Taxi", lambda s: set_size_levels(s, ("City", "Zone"), (1, 263)))
    assert [row.key for row in page.levels.table.rows] == ["City", "Zone"]
    page.data.levels.line.offered.emit("City 1, Borough 6, Zone 263")
    assert [row.key for row in page.levels.table.rows] == ["City", "Borough", "Zone"]
    page.data.levels.line.offered.emit("City")
    assert "names no levels" in page.data.levels.reason


def test_that_the_chain_says_what_the_papers_noise_would_cost(opened) -> None:
    window = opened(SIZES)
    window.navigation.choose(Area.BUDGETS)
    window.session.edit("Chain", lambda s: set_field(s, "mechanism", SizeMechanism.CHAIN))
    assert "1053" in window.rooms["group-sizes"].page.mechanism.notes[-1][2].text().replace(",", "")


def test_that_the_palette_leads_to_levels_and_releases(opened) -> None:
    window = opened(SIZES)
    assert "Go to County" in [offer.words for offer in window.room.offers()]
    window.rooms["group-sizes"].show_place("County")
    assert window.navigation.area is Area.BUDGETS
    assert window.rooms["group-sizes"].session.selection == "County"


@pytest.mark.parametrize(("preset_id", "form"), [(SIZES, "group-sizes-json"), (COUNTIES, "subspace-json")])
def test_that_parameters_are_exported_and_read_back(qtbot, opened, tmp_path, preset_id, form) -> None:
    window = opened(preset_id)
    target, table = tmp_path / "mine.json", tmp_path / "mine.csv"
    found = {each.id: each for each in export_formats()}
    window.actions_table.refresh()
    assert window.actions_table[f"file.export-{form}"].isEnabled()
    assert not window.actions_table["file.export-phsafe-config"].isEnabled()
    offered = {each for each in found if window.actions_table[f"file.export-{each}"].isVisible()}
    assert {form, form.replace("json", "csv"), "deployments-registry", "html", "pdf", "docx", "pptx"} <= offered
    assert not {each for each in offered if each.startswith(("phsafe", "das"))}
    with qtbot.waitSignal(window.exports.written):
        window.commands.exports.export(found[form], target)
    with qtbot.waitSignal(window.exports.written):
        window.commands.exports.export(found[form.replace("json", "csv")], table)
    assert len(table.read_text().splitlines()) > 1
    window.files.import_parameters(target)
    assert len(window.session.shown.workbook.scenarios) == 2
    assert window.session.scenario.method == preset(preset_id).scenario.method
    target.write_text(target.read_text().replace('"method"', '"methods"'))
    window.files.import_parameters(target)
    assert len(window.session.shown.workbook.scenarios) == 2
