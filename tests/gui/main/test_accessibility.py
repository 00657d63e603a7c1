"""Every system, every area, every dialog: named, reachable by keyboard, whole at twice the text size (WCAG 2.2 A and AA)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QApplication,
    QComboBox,
    QDialog,
    QHeaderView,
    QLineEdit,
    QListView,
    QMenu,
    QPlainTextEdit,
    QRadioButton,
    QScrollArea,
    QScrollBar,
    QSplitterHandle,
    QTabBar,
    QTabWidget,
    QWidget,
)
from shiboken6 import isValid
from window_areas import focus_chain, offered_areas

from phexplore.gui.binding.areas import Area
from phexplore.gui.dialogs.help import GlossaryDialog, show_about
from phexplore.gui.dialogs.preset_dialog import PresetDialog
from phexplore.gui.figures.view import FigureView
from phexplore.gui.main.project_files import project_of
from phexplore.gui.main.window import MainWindow
from phexplore.gui.systems.phsafe.sum_dialog import SumDialog
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import MARGIN
from phexplore.gui.widgets.labels import rewrite_labels
from phexplore.gui.widgets.page import Sideways
from phexplore.gui.widgets.reading_order import put_in_order
from phexplore.gui.widgets.stack import LazyTabs
from phexplore.systems.registry import presets, system_of, systems

CONTROLS = (QAbstractButton, QAbstractItemView, QAbstractSlider, QComboBox, QLineEdit, QPlainTextEdit, QTabBar)
LEAST_TARGET = 24
"""Pixels (WCAG 2.2, success criterion 2.5.8)."""
CHOSEN = {system_of(preset.scenario).id: preset for preset in reversed(presets().values())}
PLACES = [(system, area) for system in CHOSEN for area in offered_areas(system)]
place = pytest.mark.parametrize(("system", "area"), PLACES, ids=[f"{s}-{a.name.lower()}" for s, a in PLACES])


@pytest.fixture
def opened(qtbot, settings, tmp_path):
    """Open the window on a preset of a system, at an area."""

    def go(system, area):
        found = MainWindow(project_of(CHOSEN[system]), settings, tmp_path / "runs")
        qtbot.addWidget(found, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
        found.resize(1280, 800)
        found.show()
        qtbot.waitExposed(found)
        found.navigation.choose(area)
        settle()
        return found

    return go


def settle():
    for _ in range(5):
        QApplication.sendPostedEvents()
        QApplication.processEvents()


def controls(root):
    """Every visible control a person can act on, without the parts Qt makes controls of."""
    return [
        widget
        for kind in CONTROLS
        for widget in root.findChildren(kind)
        if widget.isVisible()
        and not isinstance(widget, QScrollBar | QHeaderView)
        and not widget.objectName().startswith("qt_")
        and not isinstance(widget.window(), QMenu)
    ]


def spoken(widget):
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name).strip()


def unnamed(root):
    return [(type(w).__name__, w.objectName(), type(w.parent()).__name__) for w in controls(root) if not spoken(w)]


def unlabelled(root):
    """Choosers without a label of their own: on Linux their name is the chosen entry, and says nothing of what is chosen."""
    return [
        (w.accessibleName(), type(w.parent()).__name__)
        for w in controls(root)
        if isinstance(w, QComboBox)
        and not any(
            kind & QAccessible.RelationFlag.Label and interface.text(QAccessible.Text.Name)
            for interface, kind in QAccessible.queryAccessibleInterface(w).relations()
        )
    ]


def misnamed(root):
    """Buttons whose spoken name lacks the words on them: who speaks to the program says what is written (WCAG 2.5.3)."""
    return [
        (words, spoken(w))
        for w in controls(root)
        if isinstance(w, QAbstractButton)
        and any(map(str.isalpha, words := w.text().replace("&", "").removesuffix("…").strip()))
        and words.lower() not in spoken(w).lower()
    ]


def misled(root):
    """Lists that hide a row before one they show: Qt tells a screen reader the name of another row then."""
    hidden = {
        w.accessibleName(): [w.isRowHidden(row) for row in range(w.model().rowCount())]
        for w in controls(root)
        if isinstance(w, QListView)
    }
    return [name for name, rows in hidden.items() if rows != sorted(rows)]


def test_that_the_walk_covers_every_preset_system():
    assert {system_of(preset.scenario).id for preset in presets().values()} == set(CHOSEN) == set(systems())


@pytest.mark.defect("S6")
@place
def test_that_every_control_is_named_and_reached_by_the_tab_key(opened, system, area) -> None:
    window = opened(system, area)
    assert unnamed(window) == []
    assert unlabelled(window) == []
    assert misnamed(window) == []
    assert misled(window) == []
    chain = focus_chain(window.navigation)
    focusable = {w for w in controls(window) if w.isEnabled() and w.focusPolicy() & Qt.FocusPolicy.TabFocus}
    assert focusable <= set(chain)
    unreachable = [
        (type(w).__name__, spoken(w))
        for w in controls(window)
        if w.isEnabled() and w.focusPolicy() == Qt.FocusPolicy.NoFocus and not is_served_otherwise(w)
    ]
    assert unreachable == []


@pytest.mark.parametrize("system", list(CHOSEN))
def test_that_names_say_what_is_written_after_texts_were_written_anew(opened, system) -> None:
    window = opened(system, Area.OVERVIEW)
    before = {w: spoken(w) for w in controls(window)}
    rewrite_labels()
    assert {w: spoken(w) for w in before} == before
    assert misnamed(window) == []


@pytest.mark.defect("S6")
@place
def test_that_the_tab_key_and_the_screen_reader_follow_the_page(opened, system, area) -> None:
    window = opened(system, area)
    page = window.pages.currentWidget()
    tabs = next((each for each in (page, *page.findChildren(QTabWidget)) if hasattr(each, "offered")), None)
    for tab in () if tabs is None else tabs.offered[-1:]:  # made now, after everything else
        tabs.show_tab(tab)
        settle()
    late = [each for each in (window.inspector, window.issues, window.bottom) if each]
    reached = stops(window)
    assert len(reached) == len(set(reached))
    order = [
        0 if page.isAncestorOf(widget) else 1 if any(part.isAncestorOf(widget) for part in late) else 2
        for widget in reached
    ]
    assert order == sorted(order)
    assert len(set(order)) == 3
    within = [widget for widget in reached if page.isAncestorOf(widget)]
    for bar in page.findChildren(QScrollBar):  # the walk has scrolled
        bar.setValue(bar.minimum())
    assert backwards(window, within) == []
    assert backwards(window, [part for part in spoken_parts(page) if not isinstance(part, QSplitterHandle)]) == []


def stops(window):
    """What the Tab key stops at, from the list of areas on, by pressing it."""
    window.navigation.setFocus()
    found = []
    while True:
        window.focusWidget().focusNextPrevChild(True)
        if (now := window.focusWidget()) is window.navigation or len(found) > 300:
            return found
        found.append(now)


def spoken_parts(widget):
    """What a screen reader meets within a part, one after the other."""
    interface = QAccessible.queryAccessibleInterface(widget)
    for number in range(interface.childCount()):
        child = interface.child(number).object() if interface.child(number) is not None else None
        if isinstance(child, QWidget) and child.isVisible() and not child.size().isEmpty():
            inner = [] if isinstance(child, QAbstractItemView) else list(spoken_parts(child))
            yield from inner or [child]


def backwards(window, parts):
    """Parts that stand above the one before them, or left of it in the same line: columns are read one after the other."""
    found = []
    for before, after in pairwise(parts):
        first, then = (QRect(part.mapTo(window, QPoint(0, 0)), part.size()) for part in (before, after))
        is_above = then.bottom() <= first.top() and then.left() < first.right()
        is_left = then.right() <= first.left() and abs(then.center().y() - first.center().y()) < first.height() // 2
        if is_above or is_left:
            found.append((spoken(before), spoken(after)))
    return found


def test_that_a_key_to_another_area_takes_the_focus_to_its_name(opened) -> None:
    window = opened("phsafe", Area.BUDGETS)
    window.rooms["phsafe"].budgets.search.setFocus()
    window.actions_table["view.overview"].trigger()
    assert window.focusWidget() is window.navigation
    assert window.navigation.currentItem().text() == "Overview"
    window.navigation.choose(Area.BUDGETS)
    put_in_order(window.inspector)[0].setFocus()  # the inspector goes with the page it belongs to
    window.actions_table["view.runs"].trigger()
    assert window.focusWidget() is window.navigation
    window.header.run.setFocus()
    window.actions_table["run.new"].trigger()
    assert window.focusWidget() is window.header.run


@pytest.mark.defect("S6")
def test_that_the_tab_key_goes_from_the_search_to_the_table_and_the_sliders(opened) -> None:
    window = opened("phsafe", Area.BUDGETS)
    row = window.rooms["phsafe"].budgets.panel
    wanted = [
        window.rooms["phsafe"].budgets.search,
        window.rooms["phsafe"].budgets.view,
        row.margin.slider,
        row.margin.field.line,
        row.budget.slider,
    ]
    view = wanted[1]
    view.setCurrentIndex(view.model().index(0, 0))  # sliders belong to a chosen row
    settle()
    assert [widget for widget in stops(window) if widget in wanted] == wanted


def is_served_otherwise(widget) -> bool:
    """Tab bars and tool buttons of a group are reached through a neighbour; spin boxes own their line."""
    parent = widget.parent()
    return (
        isinstance(widget, QLineEdit)
        and isinstance(parent, QWidget)
        and parent.focusProxy() is None
        and parent.focusPolicy() != Qt.FocusPolicy.NoFocus
    )


@place
def test_that_every_picture_has_a_sentence_and_a_table_by_keyboard(opened, system, area) -> None:
    window = opened(system, area)
    for frame in window.findChildren(FigureView):
        if not frame.isVisible():
            continue
        assert frame.accessibleDescription().strip(), frame.name
        if frame.is_empty:
            continue
        assert frame.summary.rstrip().endswith((".", ")", "?", "!")), (frame.name, frame.summary)
        assert frame.numbers.rows, frame.name
        buttons = [b for b in frame.findChildren(QAbstractButton) if b.text() == "Table" and b.isVisible()]
        assert buttons, frame.name
        assert all(b.focusPolicy() & Qt.FocusPolicy.TabFocus for b in buttons), frame.name


@place
def test_that_every_button_is_large_enough(opened, system, area) -> None:
    window = opened(system, area)
    small = [
        (type(w).__name__, spoken(w), w.width(), w.height())
        for w in controls(window)
        if isinstance(w, QAbstractButton)
        and min(w.width(), w.height()) < LEAST_TARGET
        and not isinstance(w, QRadioButton)  # they stand apart
        and w.property("look") != "link"  # a link in a sentence is exempt
    ]
    assert small == []


@place
def test_that_nothing_is_lost_at_twice_the_text_size(opened, system, area) -> None:
    appearance().set_scale(200)
    window = opened(system, area)
    for tab in each_tab(window.pages.currentWidget()):
        least = window.minimumSizeHint()
        assert least.width() <= 1280, ("the window does not fit a small screen", tab)
        assert least.height() <= 728, ("the window does not fit a small screen", tab)
        assert window.width() <= 1280
        assert sideways(window) == [], tab
        lost = []
        for widget in controls(window):
            box = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())
            if not scrolls(widget, window) and not window.rect().contains(box):
                lost.append((type(widget).__name__, spoken(widget), box.getRect()))
        assert lost == [], tab


def test_that_every_tab_of_the_results_is_seen_on_a_small_screen(opened) -> None:
    window = opened("topdown", Area.RESULTS)
    (tabs,) = window.pages.currentWidget().findChildren(LazyTabs)
    bar = tabs.tabBar()
    widths = [bar.tabRect(number).width() for number in range(bar.count()) if bar.isTabVisible(number)]
    assert len(widths) == 12
    assert sum(widths) <= window.pages.width() - 2 * MARGIN


def each_tab(page):
    """Show the tabs of a page one after the other; a page without tabs is one itself."""
    bar = next((each for each in (page, *page.findChildren(LazyTabs)) if isinstance(each, LazyTabs)), None)
    for tab in (None,) if bar is None else bar.offered:
        if bar is not None:
            bar.show_tab(tab)
            settle()
        yield tab


def sideways(window):
    """Places that scroll sideways and are no table (WCAG 1.4.10)."""
    return [
        (place.accessibleName(), place.widget().width(), place.viewport().width())
        for place in window.findChildren(QScrollArea)
        if place.isVisible() and place.widget().width() > place.viewport().width() and not isinstance(place, Sideways)
    ]


def scrolls(widget, window) -> bool:
    """Whether what is outside can be brought in by scrolling."""
    parent = widget.parentWidget()
    while parent is not None and parent is not window:
        if isinstance(parent, QAbstractScrollArea):
            return True
        parent = parent.parentWidget()
    return False


def test_that_every_dialog_is_named_and_closes_with_escape(qtbot, opened) -> None:
    window = opened("phsafe", Area.OVERVIEW)
    openers = {
        "presets": lambda: PresetDialog(window, lambda _preset: None).open(),
        "glossary": lambda: GlossaryDialog(window).open(),
        "manual": window.commands.manual.show_here,
        "about": lambda: show_about(window),
        "sum": lambda: SumDialog(window, window.rooms["phsafe"].session).show(),
        "palette": window.commands.show_palette,
    }
    for name, open_it in openers.items():
        before = set(window.findChildren(QDialog))
        open_it()
        settle()
        (dialog,) = [d for d in window.findChildren(QDialog) if d not in before and d.isVisible()]
        assert unnamed(dialog) == [], name
        assert dialog.windowTitle().strip() or spoken(dialog), name
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
        settle()
        assert not isValid(dialog) or not dialog.isVisible(), name
