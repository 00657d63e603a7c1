"""Two depths, one switch: a committee sees three fields, four questions and what solves targets; an expert everything."""

from __future__ import annotations

import pytest

from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.settings import DEPTH
from phexplore.gui.main.project_files import project_of
from phexplore.gui.targets.targets_page import SOLVE
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.systems.registry import preset, systems
from phexplore.systems.result_tabs import COMPARED, HOW_FAR, WHERE, WHO


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
