"""The ownership rule of Qt objects (docs/extending.md), looked for in the source of the window."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QMetaObject, QObject
from PySide6.QtWidgets import QApplication, QLabel, QLayoutItem, QWidget

import phexplore.gui
from phexplore.gui.binding.settings import Settings
from phexplore.gui.main.project_files import project_of
from phexplore.gui.main.window import MainWindow
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.depth import Depth
from phexplore.gui.widgets.flow import FlowLayout, LargeTextRows
from phexplore.gui.widgets.layout import column, row
from phexplore.systems.registry import presets, system_of

ROOT = Path(phexplore.gui.__file__).parent
OWNED = {"QTimer", "QSocketNotifier", "QProcess", "QPropertyAnimation", "QThread", "QFileSystemWatcher"}
"""Their events arrive by themselves, whether or not Python still holds them."""


def calls():
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def test_that_whatever_gets_events_by_itself_has_a_parent_and_a_later_call_has_a_context():
    without = []
    for place, node in calls():
        called = node.func
        if isinstance(called, ast.Name) and called.id in OWNED and not node.args:
            without.append((place, called.id))
        if isinstance(called, ast.Attribute) and called.attr == "singleShot" and len(node.args) < 3:
            without.append((place, "singleShot"))
        if isinstance(called, ast.Attribute) and called.attr.startswith("setItemDelegate"):
            made = node.args[-1]
            if isinstance(made, ast.Call) and not made.args:
                without.append((place, called.attr))
    assert without == []


def test_that_no_layout_is_asked_for_its_items_and_none_is_added_to_another_but_in_one_place():
    asked = {"addLayout", "insertLayout", "itemAtPosition", "itemAt"}
    found = {
        (place.split(":")[0], node.func.attr)
        for place, node in calls()
        if isinstance(node.func, ast.Attribute) and node.func.attr in asked
        if not (node.func.attr == "itemAt" and len(node.args) == 2)  # of a form: kept by nothing
    }
    assert found == {("widgets/layout.py", "addLayout"), ("widgets/layout.py", "itemAt")}


def kept() -> list[object]:
    """What Qt made and deletes without a word, and the binding still believes in; a layout of ours returns its items."""
    gc.collect()
    ours = {id(item) for each in gc.get_objects() if type(each) is FlowLayout for item in each._items}
    return [
        each
        for each in shiboken6.getAllValidWrappers()
        if not isinstance(each, (QObject, QMetaObject)) and id(each) not in ours
        if not shiboken6.createdByPython(each) and not shiboken6.ownedByPython(each)
    ]


def test_that_the_binding_keeps_no_item_of_a_layout(qtbot):
    place = QWidget()
    qtbot.addWidget(place)
    inner = row(QLabel(), 1, LargeTextRows(QLabel(), column(QLabel())))
    column(row(inner, QLabel()), (inner.itemAt(0).widget(), 1), of=place)
    place.show()
    assert [each for each in kept() if isinstance(each, QLayoutItem)] == []


SYSTEMS = {system_of(preset.scenario).id: name for name, preset in sorted(presets().items())}


@pytest.mark.parametrize("depth", Depth)
@pytest.mark.parametrize("preset", SYSTEMS.values(), ids=SYSTEMS)
def test_that_no_page_keeps_what_qt_deletes_without_a_word(qtbot, tmp_path, preset, depth):
    appearance().show_depth(depth)
    window = MainWindow(project_of(presets()[preset]), Settings(tmp_path / "settings.json"), tmp_path / "runs")
    qtbot.addWidget(window, before_close_func=lambda each: setattr(each, "_leaves_without_asking", True))
    window.show()
    for width, area in ((width, area) for width in (1900, 800) for area in window.navigation.offered):
        window.resize(width, 700)
        window.navigation.choose(area)
        QApplication.processEvents()
    assert kept() == []


STALE = """
import sys
from PySide6.QtWidgets import QApplication, QLabel, QListWidget, QListWidgetItem, QWidget
import shiboken6
from phexplore.gui.widgets.layout import column, row
application, place = QApplication(sys.argv), QWidget()
labels = [QLabel() for _ in range(4000)]
column(row(*labels), of=place)
for label in labels:
    shiboken6.delete(label)
lines = QListWidget()
for _ in range(20000):
    lines.addItem(QListWidgetItem())
lines.clear()
print("alive")
"""


def test_that_a_list_is_emptied_whose_lines_stand_where_items_of_a_layout_stood():
    done = subprocess.run([sys.executable, "-c", STALE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr[-2000:]


def test_that_qt_waits_in_no_menu_or_dialog_of_its_own():
    waits = {"exec", "getOpenFileName", "getSaveFileName", "getExistingDirectory", "question", "information", "warning"}
    found = {
        place.split(":")[0]
        for place, node in calls()
        if isinstance(node.func, ast.Attribute)
        and node.func.attr in {*waits, "critical", "about", "getText", "getItem"}
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "_log")
    }
    assert found == {"main/start.py"}  # the event loop of the program
    assert not [path for path in ROOT.rglob("*.py") if "ActionsContextMenu" in path.read_text(encoding="utf-8")]


WHILE_OPEN = """
import sys
from PySide6.QtCore import QEvent, QPoint, QTimer
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QListWidget
from phexplore.gui.editors.inspector import ExplanationCard
from phexplore.gui.figures.data_table import NumbersTable
from phexplore.gui.main.copying import TableCopies
from phexplore.gui.widgets.labels import ElidedText, Paragraph
application = QApplication(sys.argv)
copies = TableCopies(application, application)
for kind in (ElidedText, Paragraph, ExplanationCard, NumbersTable, QListWidget):
    widget = kind()
    widget.show()
    copies._on_focus(None, widget)
    widget.destroyed.connect(lambda: print("gone", flush=True))
    QTimer.singleShot(0, widget, widget.deleteLater)  # as when an answer comes: in the loop of the menu
    place = widget.viewport() if hasattr(widget, "viewport") else widget
    application.sendEvent(place, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, QPoint(1, 1), QPoint(1, 1)))
    print([action.text() for action in application.activePopupWidget().actions()], flush=True)
    application.processEvents()
    application.sendPostedEvents(widget, QEvent.Type.DeferredDelete)
"""


def test_that_a_widget_may_go_while_its_menu_is_open():
    done = subprocess.run([sys.executable, "-c", WHILE_OPEN], capture_output=True, text=True, check=False)
    both = ["Copy with headers", "Copy the whole table"]
    offers = [["Copy"], ["Copy"], ["Copy the explanation"], both, ["Copy with headers"]]
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == [line for offer in offers for line in (str(offer), "gone")]
