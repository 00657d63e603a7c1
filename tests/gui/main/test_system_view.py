"""What differs by system: which areas are listed under which keys, and whose page is shown."""

from __future__ import annotations

from phexplore.gui.binding.areas import AREAS, Area, area_keys
from phexplore.model.workbook import add_scenario
from phexplore.systems.registry import preset, system_of


def test_that_keys_count_the_areas_that_are_listed():
    keys = area_keys({Area.BUDGETS})
    assert Area.BUDGETS not in keys
    assert keys[Area.OVERVIEW] == "Ctrl+1"
    assert keys[Area.LEVELS] == "Ctrl+2"


def test_that_every_preset_is_of_a_known_system():
    assert system_of(preset("sdhc-2020-us").scenario).id == "phsafe"
    assert system_of(preset("pl94-2020-persons-us").scenario).id == "topdown"
    assert system_of(preset("group-sizes-census-2010").scenario).id == "group-sizes"
    assert system_of(preset("counties-invariant-2010").scenario).id == "subspace"


def test_that_systems_have_pages_of_their_own(window):
    assert all(Area.BUDGETS in room.makers() for room in window.rooms.values())


def test_that_menu_and_list_call_an_area_alike_and_with_the_same_keys(window):
    for wanted in ("pl94-2020-persons-us", "sdhc-2020-us"):
        found = preset(wanted).scenario
        window.session.edit_workbook("Add", lambda book, found=found: add_scenario(book, found))
        window.actions_table.refresh()
        offered = [area for area in AREAS if window.actions_table[f"view.{area.name.lower()}"].isVisible()]
        assert tuple(offered) == window.navigation.offered
        for number, area in enumerate(offered):
            action, item = window.actions_table[f"view.{area.name.lower()}"], window.navigation.item(number)
            keys = action.shortcut().toString()
            assert item.text() == action.text()
            assert item.toolTip() == (f"{item.text()} ({keys})" if keys else item.text())
