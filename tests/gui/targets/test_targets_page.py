from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QScrollBar,
)
from window_areas import focus_chain

from phexplore.document.project import Project
from phexplore.gui.binding.session import Session
from phexplore.gui.systems.phsafe.published_view import PublishedView
from phexplore.gui.systems.phsafe.truncation_view import StudioView
from phexplore.gui.systems.topdown.tune_view import TuneView
from phexplore.gui.targets.targets_page import RULES, SOLVE, TRADE, VARY, TargetsPage
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.model.workbook import Workbook, add_scenario
from phexplore.systems.registry import preset

CONTROLS = (QAbstractButton, QAbstractItemView, QAbstractSlider, QComboBox, QLineEdit)
OF_TOPDOWN = {"Auto-tune"}
OF_PHSAFE = {"Truncation studio", "Published averages"}
OF_BUDGETS = {SOLVE, TRADE}
TABS = (SOLVE, TRADE, RULES, VARY, *sorted(OF_PHSAFE), *OF_TOPDOWN)
LONG = "A proposal with a name that is much longer than any column of any table has room for, and then some"


def _page(qtbot, tmp_path, preset_id):
    scenario = replace(preset(preset_id).scenario, name=LONG)
    session = Session(Project.new(Workbook((scenario,), LONG, preset_id)))
    own = {
        "phsafe": {
            "Published averages": lambda: PublishedView(session),
            "Truncation studio": lambda: StudioView(session),
        },
        "topdown": {"Auto-tune": lambda: TuneView(session, lambda: tmp_path)},
    }
    page = TargetsPage(session, own=own)
    qtbot.addWidget(page)
    page.resize(1000, 620)
    page.show()
    return session, page


@pytest.fixture
def page_of(qtbot, tmp_path):
    made = []

    def build(tab):
        chosen = "pl94-2020-persons-us" if tab in OF_TOPDOWN else "sdhc-2020-us"
        _, page = _page(qtbot, tmp_path, chosen)
        made.append(page)
        page.show_tab(tab)
        QApplication.sendPostedEvents()
        return page

    yield build
    for page in made:
        page.stop()


@pytest.mark.parametrize("tab", TABS)
def test_that_every_control_of_every_tab_has_a_name_and_is_reached_by_tab(page_of, tab) -> None:
    page = page_of(tab)
    controls = [w for kind in CONTROLS for w in page[tab].findChildren(kind) if w.isVisible()]
    named = [
        w for w in controls if not isinstance(w, QScrollBar | QHeaderView) and not w.objectName().startswith("qt_")
    ]
    unnamed = [
        type(w).__name__
        for w in named
        if not QAccessible.queryAccessibleInterface(w).text(QAccessible.Text.Name).strip()
    ]
    assert unnamed == []
    chain = set(focus_chain(page))
    wanted = {w for w in named if w.isEnabled() and w.focusPolicy() & Qt.FocusPolicy.TabFocus}
    assert wanted <= chain
    assert wanted


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK], ids=lambda theme: theme.value)
@pytest.mark.parametrize("tab", TABS)
def test_that_every_tab_fits_a_small_screen_at_twice_the_text_size(page_of, tab, theme) -> None:
    appearance().choose(theme)
    appearance().set_scale(200)
    page = page_of(tab)
    # 1,280 pixels less the list of areas at this size.
    assert page[tab].minimumSizeHint().width() <= 1000
    assert not page.grab().isNull()


def test_that_tabs_follow_the_system(qtbot, tmp_path) -> None:
    session, page = _page(qtbot, tmp_path, "sdhc-2020-us")

    def shown():
        return {tab for number, tab in enumerate(TABS) if page.isTabVisible(number)}

    assert shown() == set(TABS) - OF_TOPDOWN
    page.show_tab("Truncation studio")
    topdown = preset("pl94-2020-persons-us").scenario
    session.edit_workbook("Add", lambda book: add_scenario(book, topdown))
    assert shown() == set(TABS) - OF_PHSAFE
    assert page.tab not in OF_PHSAFE
    session.undo()
    assert shown() == set(TABS) - OF_TOPDOWN
    page.show_tab(SOLVE)
    session.edit_workbook("Add", lambda book: add_scenario(book, preset("group-sizes-census-2010").scenario))
    assert shown() == {RULES, VARY}
    assert page.tab in {RULES, VARY}
    page.stop()
