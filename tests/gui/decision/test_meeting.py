from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QAbstractSlider, QScrollBar

from phexplore.figures.wording import people
from phexplore.gui.binding.system_session import plain_session
from phexplore.gui.decision.meeting_page import MeetingPage, projector_scale
from phexplore.gui.decision.status import DecisionTab
from phexplore.gui.editors.live_figure import LiveFigure
from phexplore.gui.systems.phsafe.pictures import MARGINS
from phexplore.gui.systems.phsafe.summary import numbers_tile, phsafe_loss_tile, targets_tile
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.model.edits import set_item
from phexplore.model.workbook import activate, add_scenario
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.system import PHSAFE
from phexplore.systems.registry import meeting_parameters, presets, system_of

SYSTEMS = ("sdhc-2020-us", "pl94-2020-persons-us", "dhc-2020-units-us")
DECLARED = ("group-sizes-census-2010", "counties-invariant-2010")


@pytest.fixture
def page(qtbot, session):
    def tiles():
        shown = session.shown
        return phsafe_loss_tile(shown), targets_tile(shown), numbers_tile(shown)

    found = MeetingPage(
        session,
        tiles,
        lambda: {"Margins": lambda: LiveFigure(plain_session(session, PHSAFE), MARGINS, takes_pointer=False)},
    )
    qtbot.addWidget(found)
    found.show()
    yield found
    found.stop()


@pytest.fixture
def view(qtbot, page):
    page.tick("margin PH3/state_A-G", "threshold PH4")
    page.start()
    qtbot.waitExposed(page.view)
    return page.view


def test_that_equal_margins_are_said_once() -> None:
    scenario = presets()["group-sizes-census-2010"].scenario
    (total,) = meeting_parameters(scenario)
    assert total.effect(scenario) == "The margin of one answer is ± 9.82."


def test_that_a_total_never_reads_smaller_than_it_is() -> None:
    scenario = presets()["pl94-2020-persons-us"].scenario
    total = meeting_parameters(scenario)[0]
    assert total.words(Fraction(293764, 114921)) == "2.556226"  # 2.5562256…: not 2.5562…


@pytest.mark.parametrize("preset_id", SYSTEMS + DECLARED)
def test_that_every_parameter_reads_words_and_edits_its_own_number(preset_id) -> None:
    scenario = presets()[preset_id].scenario
    parameters = meeting_parameters(scenario)
    assert 1 <= sum(each.is_likely for each in parameters) <= 3
    for parameter in parameters[:3] + parameters[-3:]:
        value = parameter.read(scenario)
        assert value is not None
        stop = parameter.stops[len(parameter.stops) // 3]
        edited = parameter.edit(scenario, stop)
        read = parameter.read(edited)
        assert read is not None
        assert abs(read - stop) <= stop * Fraction(3, 100)
        assert parameter.words(value)
        assert parameter.effect(edited)


def test_that_locked_numbers_are_not_offered(us, query) -> None:
    keys = {each.key for each in meeting_parameters(set_item(us, "locks", query, value=True))}
    assert f"margin {query.text}" not in keys


def test_that_a_slider_moves_the_scenario_and_a_drag_is_one_step(qtbot, session, view, query) -> None:
    slider = view.sliders[0].slider
    steps = len(session.project.labels)
    for _ in range(5):
        qtbot.keyClick(slider, Qt.Key.Key_Right)
    margin = forecast(session.scenario).query(query).margins.by(session.scenario.conventions.margin)
    assert margin > 20
    qtbot.waitUntil(lambda: view.sliders[0].value.text() == f"± {people(margin)}")
    assert len(session.project.labels) > steps
    assert session.project.labels[-1].startswith("Meeting: set Margin of PH3")


def test_that_the_type_is_large_while_the_meeting_is_on_and_normal_after(qtbot, page, view) -> None:
    assert appearance().scale == projector_scale(view.screen().size().height())
    with qtbot.waitSignal(view.left):
        qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert appearance().scale == 100
    assert page.view is None


def test_that_type_is_as_large_on_the_wall_whatever_the_projector_but_readable_on_a_laptop() -> None:
    assert [projector_scale(height) for height in (600, 768, 1080, 1200)] == [120, 120, 150, 166]


def test_that_the_noise_is_that_of_the_slider_in_hand_before_it_is_moved(qtbot, page) -> None:
    page.tick("margin PH3/state_A-G", "margin PH4/state_A-G")
    page.start()
    page.view.activateWindow()
    for number, title in enumerate(("PH3 (State, A-G)", "PH4 (State, A-G)", "PH3 (State, A-G)")):
        page.view.sliders[number % 2].slider.setFocus()
        qtbot.waitUntil(lambda title=title: page.view.noise.title.text() == f"Live noise: {title}")


def test_that_a_laptop_shows_the_whole_noise_below_a_picture_that_has_more_than_half_of_the_height(qtbot, page) -> None:
    page.tick("margin PH3/state_A-G", "threshold PH4")
    page.start()
    view, laptop = page.view, QSize(1366, 768)
    view.showNormal()
    view.resize(laptop)
    parts = (view.noise, view.picture, *view.tiles)
    qtbot.waitUntil(lambda: all(each.visibleRegion().boundingRect().size() == each.size() for each in parts))
    assert view.picture.height() >= 0.55 * laptop.height()
    assert view.size() == laptop


def test_that_the_name_of_a_scenario_pushes_nothing_off_the_screen(qtbot, session, page) -> None:
    session.edit("Name", lambda scenario: replace(scenario, name="A long name " * 20))
    page.start()
    assert page.view.minimumSizeHint().width() < 1024


def test_that_a_row_marked_before_is_not_marked_in_the_meeting(session, page, query) -> None:
    session.select(query)
    page.start()
    assert session.selection is None


def test_that_row_and_focus_are_where_they_were_after_the_meeting(qtbot, session, page, query) -> None:
    session.select(query)
    page.search.setFocus()
    page.start()
    page.view.close()
    assert session.selection == query
    assert page.window().focusWidget() is page.search


def test_that_digits_choose_a_slider_arrows_move_it_and_undo_takes_back(qtbot, session, view, query) -> None:
    before = session.scenario
    view.activateWindow()
    qtbot.keyClick(view, Qt.Key.Key_2)
    qtbot.waitUntil(view.sliders[1].slider.hasFocus)
    qtbot.keyClick(view.sliders[1].slider, Qt.Key.Key_Right)
    assert session.scenario.phsafe.thresholds["PH4"] == 11
    qtbot.waitUntil(view.undo.isEnabled)
    view.undo.click()
    assert session.scenario == before


def test_that_values_can_be_kept_as_a_scenario_while_work_goes_on(session, view) -> None:
    view.keep_values()
    view.keep_values()
    assert session.project.workbook.names == ("Proposal", "Kept 1", "Kept 2")
    assert session.scenario.name == "Proposal"


def test_that_every_control_of_the_meeting_has_a_name(view) -> None:
    controls = [w for kind in (QAbstractButton, QAbstractSlider) for w in view.findChildren(kind)]
    unnamed = [
        type(widget).__name__
        for widget in controls
        if widget.isVisible()
        and not isinstance(widget, QScrollBar)
        and not widget.objectName().startswith("qt_")
        and not QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name).strip()
    ]
    assert unnamed == []


@pytest.mark.parametrize("preset_id", SYSTEMS + DECLARED)
def test_that_every_picture_shows_the_scenario(qtbot, window, preset_id) -> None:
    scenario = replace(presets()[preset_id].scenario, name="X")
    window.session.edit_workbook("Add", lambda book: add_scenario(book, scenario))
    choices = window.room.pictures()
    assert choices
    for make in choices.values():
        picture = make()
        qtbot.addWidget(picture)
        picture.refresh()
        qtbot.waitUntil(lambda picture=picture: not picture.is_empty)
        picture.stop()


def test_that_a_meeting_of_a_committee_is_shown_no_picture_of_the_theory(window) -> None:
    scenario = presets()["counties-invariant-2010"].scenario
    window.session.edit_workbook("Add", lambda book: add_scenario(book, scenario))
    depth = appearance().depth
    offered = {}
    for each in Depth:
        appearance().show_depth(each)
        offered[each] = list(window.room.pictures())
    appearance().show_depth(depth)
    assert offered == {
        Depth.COMMITTEE: ["Margins of the answers"],
        Depth.EXPERT: ["Expected error by mechanism", "Margins of the answers"],
    }


def test_that_more_than_six_sliders_are_not_put_on_the_screen(page) -> None:
    page.tick(*list(page._offers)[:9])
    assert page.count.text() == "9 sliders; the first 6 are shown."
    page.start()
    assert len(page.view.sliders) == 6


def test_that_the_search_keeps_what_is_ticked(page) -> None:
    page.tick("margin PH3/state_A-G")
    page.search.setText("PH8 nation")
    rows = [page.list.item(row) for row in range(page.list.count())]
    assert not any(item.isHidden() for item in rows)  # a screen reader would hear the name of another row
    shown = [item.text() for item in rows]
    assert "Margin of PH3 (State, A-G)" in shown
    assert all("PH8" in text or "PH3 (State, A-G)" in text for text in shown)
    page.search.clear()
    assert page.list.count() > len(shown)
    assert [each.key for each in page.chosen] == ["margin PH3/state_A-G"]


@pytest.mark.defect("T20")
def test_that_undoing_the_switch_from_another_system_ends_the_meeting(window) -> None:
    told, session = [], window.session
    session.done.connect(told.append)
    other = presets()["pl94-2020-persons-us"].scenario
    session.edit_workbook("Add", lambda book: activate(add_scenario(book, other), other.name))
    window.areas.decision.start_meeting()
    page = window.areas.decision.page[DecisionTab.MEETING]
    assert page.view is not None
    page.view.undo.click()
    assert page.view is None
    assert len(told) == 1
    assert session.scenario.name == "Proposal"


@pytest.mark.defect("T20")
def test_that_no_key_of_another_system_is_selected_after_a_meeting_that_its_undo_ended(window) -> None:
    session, other = window.session, presets()["pl94-2020-persons-us"].scenario
    session.edit_workbook("Add", lambda book: activate(add_scenario(book, other), other.name))
    session.select(next(iter(other.method.levels)))
    window.areas.decision.start_meeting()
    window.areas.decision.page[DecisionTab.MEETING].view.undo.click()
    assert system_of(session.scenario) is PHSAFE
    assert session.selection is None


@pytest.mark.defect("T20")
def test_that_a_page_of_a_system_that_is_not_active_selects_nothing(session, query) -> None:
    mine, other = plain_session(session, PHSAFE), presets()["pl94-2020-persons-us"].scenario
    mine.select(query)
    assert session.selection == query
    session.edit_workbook("Add", lambda book: activate(add_scenario(book, other), other.name))
    mine.select(query)
    assert session.selection is None
