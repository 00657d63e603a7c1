"""Names instead of codes on every page of every system: what is shown, what the pointer is told, and what a screen reader hears."""

from __future__ import annotations

import re
import tomllib

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractItemView, QApplication, QTabBar, QWidget

from phexplore.catalog.names import Naming
from phexplore.gui.main.project_files import project_of
from phexplore.gui.main.window import MainWindow
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.resources import resource
from phexplore.systems.registry import presets

CHOSEN = (
    "sdhc-2020-us",
    "pl94-2020-persons-us",
    "dhc-2020-units-us",
    "group-sizes-census-2010",
    "counties-invariant-2010",
)
WHERE_CODES_BELONG = re.compile(r"^phexplore |[Pp]roduction calls it |such as PH3/|_Code/")
"""Commands, production's own words beside the program's, what is typed, and sources."""
ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)


def codes():
    """The codes that have a name, from the schemas and tables, not from the list of names."""
    found = {file.stem for file in resource("tables").glob("*.toml")} | {"Block_Group", *presets()}
    for file in resource("schemas").glob("*.toml"):
        schema = tomllib.loads(file.read_text(encoding="utf-8"))
        found |= {part["name"] for part in (*schema["attributes"], *schema.get("recodes", ()))}
    plain = {"sex", "age", "race", "citizen", "elderly", "size", "multi", "occupancy", "hispanic", "presence"}
    known = "|".join(map(re.escape, sorted(found - plain, key=len, reverse=True)))
    return re.compile(
        rf"(?<![\w/.-])(?:{known}|(?:usa|state)_(?:A-G|H,I|\*)|A-G|H-I|\d{{11,12}}|\d{{15,16}})(?![\w/-])"
    )


def settle():
    for _ in range(5):
        QApplication.sendPostedEvents()
        QApplication.processEvents()


def cells(view, parent):
    """What the cells of a view say; what is painted over a cell's text is read by its accessible text."""
    model = view.model()
    for row in range(min(model.rowCount(parent), 30)):
        for column in range(view.horizontalHeader().count() if hasattr(view, "horizontalHeader") else 1):
            index = model.index(row, column, parent)
            said = [index.data(role) for role in ROLES]
            yield from (text for text in (said if said[2] is None else said[1:]) if isinstance(text, str))


def said(widget):
    """Everything a visible part tells anybody."""
    interface = QAccessible.queryAccessibleInterface(widget)
    yield from (widget.toolTip(), widget.accessibleDescription())
    yield interface.text(QAccessible.Text.Name) if interface is not None else ""
    if isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from cells(widget, QModelIndex())


def coded(window, code):
    """What visible parts tell with a code in it."""
    return {
        (type(part).__name__, text)
        for part in window.findChildren(QWidget)
        if part.isVisible()
        for text in said(part)
        if code.search(text) and not WHERE_CODES_BELONG.search(text)
    }


def places(window):
    """Go to every page and every tab of a window; yield what is shown by its names."""
    for area in window.navigation.offered:
        window.navigation.choose(area)
        settle()
        yield (area.name,)
        for bar in window.pages.currentWidget().findChildren(QTabBar):
            for tab in range(bar.count() if bar.isVisible() else 0):
                if bar.isTabVisible(tab) and bar.isTabEnabled(tab):
                    bar.setCurrentIndex(tab)
                    settle()
                    yield (area.name, bar.tabText(tab))


@pytest.fixture
def window_of(qtbot, settings, tmp_path):
    def make(name):
        window = MainWindow(project_of(presets()[name]), settings, tmp_path / "runs")
        qtbot.addWidget(window, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
        window.show()
        qtbot.waitExposed(window)
        return window

    appearance().call_things(Naming.NAMES)
    yield make
    appearance().call_things(Naming.CODES)
    appearance().show_depth(Depth.EXPERT)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN)
def test_that_no_page_says_a_code_that_has_a_name(window_of, name) -> None:
    code, found, window = codes(), set(), window_of(name)
    for depth in Depth:
        appearance().show_depth(depth)
        found |= {(*place, *each) for place in places(window) for each in coded(window, code)}
    assert found == set()


SYMBOLS = re.compile(
    r"[τρσΔ√²Σ⌊∑]|zCDP|Theorem|Lemma|Corollary|Algorithm|null space|\bL1\b|optimal α|\(δ|configs/|\.py\b"
)


@pytest.mark.parametrize("name", [CHOSEN[0], *(pytest.param(each, marks=pytest.mark.slow) for each in CHOSEN[1:])])
def test_that_a_committee_neither_reads_nor_hears_a_symbol_or_a_formula(window_of, name) -> None:
    appearance().show_depth(Depth.COMMITTEE)
    window = window_of(name)
    found = {(*place, *each) for place in places(window) for each in coded(window, SYMBOLS)}
    assert found == set()
