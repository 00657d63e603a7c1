"""A monkey at the window: random keys, clicks, drags, drops, dialogs, systems, depths, closes and garbage collection.

Usage: monkey.py HOME SEED SECONDS [THRESHOLDS]. It ends after the seconds of its own processor time, prints each finding (an
exception, a message of Qt) with the steps before it, and exits with 1 where there is one. A crash ends it otherwise.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import random
import sys
import threading
import time
import traceback
from collections import deque
from pathlib import Path

HOME, SEED, SECONDS = Path(sys.argv[1]).resolve(), int(sys.argv[2]), float(sys.argv[3])
THRESHOLDS = tuple(map(int, sys.argv[4].split(","))) if len(sys.argv) > 4 else (700, 10, 10)
for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
    os.environ[variable] = str(HOME)
os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ.pop("SSH_AUTH_SOCK", None)
os.chdir(HOME)  # what is typed as the name of a file stays here
sys.argv = ["phexplore"]

import shiboken6  # noqa: E402
from PySide6.QtCore import (  # noqa: E402
    QEvent,
    QMetaObject,
    QMimeData,
    QObject,
    QPoint,
    QPointF,
    QSize,
    Qt,
    QTimer,
    QUrl,
    qInstallMessageHandler,
)
from PySide6.QtGui import QContextMenuEvent, QDesktopServices, QDropEvent, QMouseEvent, QWheelEvent  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QTabBar, QWidget  # noqa: E402

from phexplore.catalog.names import Naming  # noqa: E402
from phexplore.gui.binding.settings import Settings  # noqa: E402
from phexplore.gui.main.project_files import project_of  # noqa: E402
from phexplore.gui.main.window import MainWindow  # noqa: E402
from phexplore.gui.theme.appearance import ThemeChoice, appearance  # noqa: E402
from phexplore.gui.theme.depth import Depth  # noqa: E402
from phexplore.gui.widgets.flow import FlowLayout  # noqa: E402
from phexplore.model.workbook import activate, add_scenario  # noqa: E402
from phexplore.systems.registry import presets  # noqa: E402

HARMLESS = ("This plugin does not support", "propagateSizeHints")
"""What the platform without a screen says of itself."""
STEPS_OF_LIFE = 400
STUCK = 120
"""Seconds without a step after which the process ends with the trace of where it is."""
DEEPEST = 12
"""Nested event loops after which what is open is closed."""
KEYS = [
    getattr(Qt.Key, f"Key_{name}")
    for name in (
        *(
            "Tab",
            "Backtab",
            "Return",
            "Escape",
            "Space",
            "Left",
            "Right",
            "Up",
            "Down",
            "Home",
            "End",
            "Delete",
            "Backspace",
        ),
        *("PageUp", "PageDown", "F1", "F2", "F6", "Menu", "Plus", "Minus"),
    )
]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,%-+ éρ"  # nothing that leads out of the folder
NO, CTRL, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
PRESS, RELEASE = QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease
ENDS = {"file.quit", "file.close"}


class Monkey:
    """Takes a step whenever the event loop, or one within it, has nothing else to do."""

    def __init__(self) -> None:
        self.dice, self.recent, self.findings = random.Random(SEED), deque(maxlen=25), 0
        self.depth = self.steps = self.lives = 0
        self.window: MainWindow | None = None
        self.log = (HOME / "steps.log").open("w", encoding="utf-8")
        self.files = list(self._files())

    def _files(self):
        folder = HOME / "drops"
        folder.mkdir(exist_ok=True)
        for name, content in (
            ("empty.csv", ""), ("counts.csv", "GEOID,total\n44,10\n"), ("notes.txt", "no table"), ("broken.json", "{"),
            ("damaged.phx", "PK"), ("targets.csv", "place,target\n"), ("archive.zip", "PK\x03\x04"), ("config.json", "{}"),
        ):  # fmt: skip
            (folder / name).write_text(content)
            yield folder / name
        (folder / "folder").mkdir(exist_ok=True)
        yield folder / "folder"
        yield folder / "gone.csv"

    # What goes wrong

    def find(self, what: str) -> None:
        self.findings += 1
        steps = "\n  ".join(self.recent)
        print(f"FINDING of seed {SEED}, step {self.steps}: {what}\n  {steps}\n", flush=True)

    def listen(self) -> None:
        sys.excepthook = lambda kind, error, trace: self.find("".join(traceback.format_exception(kind, error, trace)))
        sys.unraisablehook = lambda e: self.find("unraisable " + "".join(traceback.format_exception(e.exc_value)))
        threading.excepthook = lambda e: self.find("in a thread " + "".join(traceback.format_exception(e.exc_value)))
        qInstallMessageHandler(self.hear)

    def hear(self, _kind, _context, message: str) -> None:
        if not any(words in message for words in HARMLESS):
            self.find(f"Qt: {message}\n" + "".join(traceback.format_stack()[-8:-1]))

    # The life of a window

    def begin(self) -> None:
        preset = self.dice.choice(sorted(presets()))
        appearance().show_depth(self.dice.choice(list(Depth)))
        self.note(f"life {self.lives}: {preset}, {appearance().depth.name}")
        self.window = MainWindow(
            project_of(presets()[preset]), Settings(HOME / "settings.json"), HOME / f"runs{self.lives}"
        )
        self.window.resize(self.dice.randint(700, 1900), self.dice.randint(500, 1100))
        self.window.show()
        self.lives, self.left = self.lives + 1, self.dice.randint(5, STEPS_OF_LIFE)
        QTimer.singleShot(0, self.step)

    def end(self) -> None:
        for _ in range(self.dice.randint(1, 2)):  # impatient people close twice
            self.window._leaves_without_asking = True
            self.window.close()
        self.window.deleteLater()
        self.window = None
        if self.dice.random() < 0.5:
            gc.collect()
            if kept := kept_by_the_binding():
                self.find(f"kept by the binding: {kept}, by {[type(each) for each in gc.get_referrers(*kept)]}")
        if time.process_time() >= SECONDS:
            QApplication.exit(0)
        else:
            QTimer.singleShot(self.dice.choice([0, 0, 50]), self.begin)

    def step(self) -> None:
        if self.window is None:
            return
        self.steps, self.left = self.steps + 1, self.left - 1
        faulthandler.dump_traceback_later(STUCK, exit=True)
        if self.depth == 0 and (self.left <= 0 or time.process_time() >= SECONDS):
            self.end()
            return
        QTimer.singleShot(self.dice.choice([0, 0, 0, 5, 40]), self.step)
        self.depth += 1
        try:
            if (
                self.left <= 0
                or self.depth > DEEPEST
                or (QApplication.activeModalWidget() and self.dice.random() < 0.05)
            ):
                self.close_what_is_open()
            else:
                self.dice.choices(*zip(*ACTIONS, strict=True))[0](self)
        finally:
            self.depth -= 1

    def note(self, words: str) -> None:
        self.recent.append(words)
        self.log.write(words + "\n")
        self.log.flush()

    # Steps

    def ground(self) -> QWidget:
        return (
            QApplication.activePopupWidget()
            or QApplication.activeModalWidget()
            or self.dice.choice([self.window, QApplication.activeWindow() or self.window])
        )

    def target(self, kind=QWidget) -> QWidget | None:
        ground = self.ground()
        if isinstance(ground, QFileDialog):
            self.answer(ground)
            return None
        # Not `findChildren`: it makes its widget the parent, in the binding, of all it finds.
        found = [each for each in QApplication.allWidgets() if isinstance(each, kind) and each.isVisible()]
        found = [each for each in found if each is ground or ground.isAncestorOf(each)]
        return self.dice.choice(found) if found else None

    def answer(self, dialog: QFileDialog) -> None:
        """Answer a file dialog with a file of the monkey, once or twice: clicks in it could lead anywhere."""
        if self.dice.random() < 0.6:
            file = self.dice.choice([*self.files, HOME / f"new{self.dice.randint(0, 3)}.csv", HOME / "new.phx"])
            self.note(f"file dialog {dialog.windowTitle()!r}: {file.name}")
            dialog.selectFile(str(file))
            for _ in range(self.dice.choice([1, 1, 2])):
                dialog.accept()
        else:
            self.note(f"reject {dialog.windowTitle()!r}")
            dialog.reject()

    def place(self, widget: QWidget) -> QPoint:
        return QPoint(self.dice.randrange(max(1, widget.width())), self.dice.randrange(max(1, widget.height())))

    def mouse(self, widget, kind, button=LEFT, modifiers=NO, held=Qt.MouseButton.NoButton) -> None:
        """Send an event to a widget that is still there: `QTest.mouseClick` releases the button on one that the press deleted."""
        if shiboken6.isValid(widget):
            place = QPointF(self.place(widget))
            event = QMouseEvent(kind, place, widget.mapToGlobal(place), button, held, modifiers)
            QApplication.sendEvent(widget, event)

    def click(self) -> None:
        if (widget := self.target()) is not None:
            press, release, double = PRESS, RELEASE, QEvent.Type.MouseButtonDblClick
            kinds = self.dice.choices(
                [(press, release), (press, release, double, release), (press,), (release,)], [8, 1, 0.3, 0.6]
            )[0]
            self.note(f"{' '.join(kind.name for kind in kinds)} {name_of(widget)}")
            button = RIGHT if self.dice.random() < 0.08 else LEFT
            modifiers = self.dice.choice([NO, NO, NO, CTRL, SHIFT])
            for kind in kinds:
                self.mouse(widget, kind, button, modifiers)

    def drag(self) -> None:
        if (widget := self.target()) is not None:
            self.note(f"drag {name_of(widget)}")
            self.mouse(widget, PRESS)
            for _ in range(self.dice.randint(1, 6)):
                self.mouse(widget, QEvent.Type.MouseMove, Qt.MouseButton.NoButton, held=LEFT)
            self.mouse(widget, RELEASE)

    def scroll(self) -> None:
        if (widget := self.target()) is not None:
            self.note(f"wheel {name_of(widget)}")
            place = QPointF(self.place(widget))
            turn = QPoint(0, self.dice.choice([-120, 120, -960]))
            phase = Qt.ScrollPhase.NoScrollPhase
            modifiers = self.dice.choice([NO, NO, CTRL])
            QApplication.sendEvent(widget, QWheelEvent(place, QPointF(widget.mapToGlobal(place.toPoint())), QPoint(), turn, Qt.MouseButton.NoButton, modifiers, phase, False))  # fmt: skip

    def menu(self) -> None:
        if (widget := self.target()) is not None:
            self.note(f"context menu {name_of(widget)}")
            place = self.place(widget)
            QApplication.sendEvent(
                widget, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, widget.mapToGlobal(place))
            )

    def press(self) -> None:
        ground = self.ground()
        if isinstance(ground, QFileDialog):
            self.answer(ground)
            return
        widget = QApplication.focusWidget() or ground
        for _ in range(self.dice.randint(1, 4)):
            modifiers = self.dice.choice([NO, NO, NO, SHIFT, CTRL])
            if self.dice.random() < 0.5:
                key = self.dice.choice(KEYS)
                self.note(f"key {key.name} {modifiers.name} {name_of(widget)}")
                QTest.keyClick(widget, key, modifiers)
            elif modifiers is CTRL:
                letter = self.dice.choice("zyacvxfk0123456789")
                self.note(f"ctrl {letter} {name_of(widget)}")
                QTest.keyClick(widget, letter, CTRL)
            else:
                letter = self.dice.choice(LETTERS)
                self.note(f"letter {letter} {name_of(widget)}")
                QTest.keyClick(widget, letter)
            if not shiboken6.isValid(widget):
                return

    def tab(self) -> None:
        if (bar := self.target(QTabBar)) is not None and bar.count():
            number = self.dice.randrange(bar.count())
            if bar.isTabVisible(number):
                self.note(f"tab {bar.tabText(number)}")
                bar.setCurrentIndex(number)

    def choose(self) -> None:
        if (box := self.target(QComboBox)) is not None and box.count() and box.isEnabled():
            self.note(f"choose in {name_of(box)}")
            number = self.dice.randrange(box.count())
            box.setCurrentIndex(number)
            box.activated.emit(number)

    def go(self) -> None:
        area = self.dice.choice(self.window.navigation.offered)
        self.note(f"go to {area.name}")
        self.window.navigation.choose(area)

    def act(self) -> None:
        table = self.window.actions_table
        name = self.dice.choice([name for name in table.entries if name not in ENDS])
        if table[name].isEnabled():
            self.note(f"action {name}")
            table[name].trigger()

    def move(self) -> None:
        session = self.window.session
        how = self.dice.choice([session.undo, session.undo, session.redo])
        self.note(how.__name__)
        how()

    def switch(self) -> None:
        scenario = presets()[self.dice.choice(sorted(presets()))].scenario
        self.note(f"switch to {scenario.name}")
        known = self.window.session.shown.workbook.names
        self.window.session.edit_workbook(
            "Add",
            lambda book: activate(book if scenario.name in known else add_scenario(book, scenario), scenario.name),
        )

    def install(self) -> None:
        chosen = self.dice.choice(sorted(presets()))
        self.note(f"install {chosen}")
        self.window.session.install(project_of(presets()[chosen]))

    def dress(self) -> None:
        look = appearance()
        look.show_depth(self.dice.choice(list(Depth)))
        look.call_things(self.dice.choice(list(Naming)))
        look.choose(self.dice.choice([ThemeChoice.LIGHT, ThemeChoice.DARK]))
        if self.dice.random() < 0.2:
            look.set_scale(self.dice.choice([100, 150, 200]))
        self.note(f"dress {look.depth.name} {look.scale}")

    def drop(self) -> None:
        files = self.dice.sample(self.files, self.dice.choice([1, 1, 2]))
        self.note("drop " + ", ".join(file.name for file in files))
        content = QMimeData()
        content.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
        event = QDropEvent(QPointF(200, 200), Qt.DropAction.CopyAction, content, LEFT, NO)
        QApplication.sendEvent(self.window, event)

    def resize(self) -> None:
        self.note("resize")
        self.window.resize(QSize(self.dice.randint(400, 2200), self.dice.randint(300, 1300)))

    def meet(self) -> None:
        self.note("meeting")
        self.window.areas.decision.start_meeting()

    def collect(self) -> None:
        self.note("collect")
        gc.collect(self.dice.randint(0, 2))
        if self.dice.random() < 0.5:
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def close_what_is_open(self) -> None:
        for widget in (QApplication.activePopupWidget(), QApplication.activeModalWidget(), QApplication.activeWindow()):
            if widget is not None and widget is not self.window:
                self.note(f"close {name_of(widget)}")
                widget.close()
                return
        self.note("close the window")
        if self.window.close():  # else it asks what becomes of unsaved edits
            self.left = 0


ACTIONS = (
    *((Monkey.click, 30), (Monkey.press, 22), (Monkey.drag, 5), (Monkey.scroll, 4), (Monkey.menu, 2), (Monkey.tab, 5)),
    *(
        (Monkey.choose, 6),
        (Monkey.go, 6),
        (Monkey.act, 5),
        (Monkey.move, 5),
        (Monkey.switch, 1.5),
        (Monkey.install, 0.4),
    ),
    *((Monkey.dress, 0.7), (Monkey.drop, 1), (Monkey.resize, 1), (Monkey.meet, 0.3), (Monkey.collect, 2)),
    (Monkey.close_what_is_open, 4),
)


def kept_by_the_binding() -> list[object]:
    """What Qt deletes without telling the binding, which still believes in it (docs/extending.md, ownership, rule 6)."""
    returned = {id(item) for each in gc.get_objects() if type(each) is FlowLayout for item in each._items}
    return [
        each
        for each in shiboken6.getAllValidWrappers()
        if not isinstance(each, (QObject, QMetaObject)) and id(each) not in returned
        if not shiboken6.createdByPython(each) and not shiboken6.ownedByPython(each)
    ]


def name_of(widget: QWidget) -> str:
    return f"{type(widget).__name__} {(widget.accessibleName() or widget.objectName())[:50]!r}"


faulthandler.enable()
gc.set_threshold(*THRESHOLDS)
QDesktopServices.openUrl = lambda _url: True
application = QApplication(sys.argv)
application.setQuitOnLastWindowClosed(False)
monkey = Monkey()
monkey.listen()
QTimer.singleShot(0, monkey.begin)
application.exec()
print(
    f"seed {SEED}, thresholds {THRESHOLDS}: {monkey.steps:,} steps, {monkey.lives} windows, {time.process_time():.0f} s, {monkey.findings} findings"
)
sys.stdout.flush()
os._exit(1 if monkey.findings else 0)
