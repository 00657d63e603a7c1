"""Two depths, one switch: a committee sees three fields, four questions and what solves targets; an expert everything."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget

from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.settings import DEPTH
from phexplore.gui.editors.scenario_form import ScenarioForm
from phexplore.gui.main.project_files import project_of
from phexplore.gui.targets.targets_page import SOLVE
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.gui.widgets.stack import LazyTabs
from phexplore.systems.registry import preset, systems
from phexplore.systems.result_tabs import COMPARED, HOW_FAR, WHERE, WHO
from phexplore.systems.topdown.spine_views import SpineTab


@pytest.fixture
def committee(qapp):
    appearance().show_depth(Depth.COMMITTEE)
    yield
    appearance().show_depth(Depth.EXPERT)


def fields(form):
    return {name for name, control in form.controls.items() if form._form.isRowVisible(control)}


def test_that_a_committee_is_asked_three_things_before_a_run_and_sees_what_is_unusual(committee, window):
    window.navigation.choose(Area.RUNS)
    form = window.areas.runs.page.forms["phsafe"]
    assert fields(form) == {"data", "trials", "stop"}
    form.fill(seed=None)
    assert fields(form) == {"data", "trials", "stop", "seed"}
    appearance().show_depth(Depth.EXPERT)
    assert fields(form) == set(form.controls)


def test_that_targets_are_solved_and_nothing_else_is_asked(committee, window):
    window.navigation.choose(Area.TARGETS)
    page = window.areas.targets
    assert page.offered == (SOLVE,)
    appearance().show_depth(Depth.EXPERT)
    assert len(page.offered) > 3


def test_that_a_bar_of_one_tab_is_not_shown(committee, window):
    window.navigation.choose(Area.TARGETS)
    bar = window.areas.targets.tabBar()
    assert not bar.isVisible()
    appearance().show_depth(Depth.EXPERT)
    assert bar.isVisible()


def test_that_what_repeats_a_paper_is_left_to_experts(committee, window):
    window.session.install(project_of(preset("group-sizes-census-2010")))
    assert Area.EXPERIMENT not in window.navigation.offered
    appearance().show_depth(Depth.EXPERT)
    window.navigation.choose(Area.EXPERIMENT)
    appearance().show_depth(Depth.COMMITTEE)
    assert window.navigation.area is Area.OVERVIEW


def test_that_a_scenario_says_where_it_comes_from_without_files_and_misprints(committee, window):
    window.session.install(project_of(preset("pl94-2020-persons-us")))
    window.navigation.choose(Area.SCENARIO)
    form = window.pages.currentWidget().findChild(ScenarioForm)
    assert form._origin.text() == "P.L. 94-171 production, US persons."
    assert not form.errata.isVisible()
    assert not any(form._form.isRowVisible(each) for each in form.for_experts)
    appearance().show_depth(Depth.EXPERT)
    assert "person_US.ini" in form._origin.text()
    assert form.errata.isVisible()
    assert all(form._form.isRowVisible(each) for each in form.for_experts)


def test_that_how_a_spine_is_built_is_left_to_experts(committee, window):
    window.session.install(project_of(preset("pl94-2020-persons-us")))
    window.navigation.choose(Area.SPINE)
    tabs = window.pages.currentWidget().pictures.tabs
    assert {"Margins of areas", "Map"} < {tab.value for tab in tabs.offered}
    assert SpineTab.FAN_OUT not in tabs.offered
    appearance().show_depth(Depth.EXPERT)
    assert tabs.offered == tuple(SpineTab)


def test_that_a_number_is_explained_to_a_committee_without_its_formula_also_in_speech(committee, window):
    window.session.install(project_of(preset("pl94-2020-persons-us")))
    window.navigation.choose(Area.BUDGETS)
    inspector = window.room.show_inspector()
    inspector.refresh_now()
    assert "sum over levels" not in inspector.card.accessibleName()
    assert "= 2.556226\n" in inspector.card.accessibleName()
    appearance().show_depth(Depth.EXPERT)
    inspector.refresh_now()
    assert "sum over levels" in inspector.card.accessibleName()
    assert "293764/114921" in inspector.card.accessibleName()


def test_that_the_overview_says_nothing_of_the_theory_to_a_committee(committee, window):
    window.navigation.choose(Area.OVERVIEW)
    overview = window.pages.currentWidget()
    assert [chart.id for chart in overview.charts if chart.isVisible()] == ["margins", "shares"]
    assert "unbounded" not in window.headline.tiles[0].accessibleName()
    appearance().show_depth(Depth.EXPERT)
    assert [chart.id for chart in overview.charts if chart.isVisible()] == ["margins", "shares", "curve"]
    assert "unbounded" in window.headline.tiles[0].accessibleName()


def test_that_a_committee_is_told_what_is_protected_without_formulas_and_misprints(committee, qtbot, window):
    window.session.install(project_of(preset("pl94-2020-persons-us")))
    window.navigation.choose(Area.OVERVIEW)
    overview = window.pages.currentWidget()

    def told():
        return {row[0] for row in overview.chart("semantics").table.numbers.rows}

    def corrected():
        return [
            text
            for row in range(overview.changes.list.count())
            if "Corrected" in (text := overview.changes.list.item(row).text())
        ]

    assert told() == {"Block within", "One attribute"}
    assert "zCDP" not in overview.chart("semantics").summary
    assert not corrected()
    appearance().show_depth(Depth.EXPERT)
    qtbot.waitUntil(lambda: "Everything" in told())
    qtbot.waitUntil(lambda: len(corrected()) > 0)


@pytest.mark.parametrize("system", systems().values(), ids=lambda system: system.id)
def test_that_every_question_has_at_most_one_picture_and_they_come_in_order(system):
    asked = [tab.question for tab in system.results.tabs if tab.question]
    order = [HOW_FAR, WHERE, WHO, COMPARED]
    assert asked == [question for question in order if question in asked]
    assert asked[0] == HOW_FAR
    assert WHERE in asked


def test_that_the_switch_is_one_action_and_is_remembered(window):
    window.actions_table["view.expert"].trigger()
    assert appearance().depth is window.settings.read(DEPTH) is Depth.COMMITTEE
    window.bottom.depth_switch.click()
    assert appearance().depth is window.settings.read(DEPTH) is Depth.EXPERT


@pytest.mark.defect("T23")
@pytest.mark.parametrize("depth", Depth, ids=lambda depth: depth.name)
@pytest.mark.parametrize(
    "preset_id", ["sdhc-2020-us", "pl94-2020-persons-us", "group-sizes-census-2010", "counties-invariant-2010"]
)
def test_that_every_results_page_shows_a_tab_with_a_chart_or_says_why_it_has_none(window, preset_id, depth):
    appearance().show_depth(depth)
    window.session.install(project_of(preset(preset_id)))
    window.navigation.choose(Area.RESULTS)
    tabs = window.areas.runs.results[window.room.system.id].tabs
    assert tabs.offered
    assert tabs.isTabVisible(tabs.currentIndex())


def test_that_a_system_whose_charts_answer_no_question_shows_them_to_everybody(qtbot):
    tabs = LazyTabs({"a": QWidget, "b": QWidget}, titles={"a": "First", "b": "Second"})
    qtbot.addWidget(tabs)
    for depth in Depth:
        appearance().show_depth(depth)
        tabs.offer_by_depth({})
        assert tabs.offered == ("a", "b")
        assert [tabs.tabText(number) for number in range(2)] == ["First", "Second"]
