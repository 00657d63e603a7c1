"""The bars around the pages: scenario, status and buttons above, then the figures of the headline; runs and issues below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QMenu, QProgressBar, QWidget

from phexplore.figures.tile import TileContent
from phexplore.figures.wording import counted
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.session import Session
from phexplore.gui.binding.tasks import Latest
from phexplore.gui.binding.tiles import run_tile
from phexplore.gui.decision.status import TONES, status_now
from phexplore.gui.main.actions import ActionTable
from phexplore.gui.theme.appearance import SMALLEST_SCALE, appearance
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser, SymbolButton, TextButton
from phexplore.gui.widgets.flow import LARGE_TEXT, FlowRow
from phexplore.gui.widgets.labels import ElidedText, Text, describe, line
from phexplore.gui.widgets.layout import column, row
from phexplore.gui.widgets.speech import announce
from phexplore.gui.widgets.tile import Tile, TileLine, fit_lines
from phexplore.model.approval import Status
from phexplore.model.workbook import activate, compare_with
from phexplore.preparing import PREPARING, listeners
from phexplore.systems.registry import presets_of, system_of

_DRAG_MS = 50
"""From an edit that follows another closely to its proof: the frames of a drag, and of a key held down, do without."""
_PAUSE_MS = 300
"""After the last of several edits: what takes tenths of a second would slow the next one."""
_MESSAGE_MS = 6000
"""How long a short message stays."""
_LETTERS = 10
"""Least width of a chooser; at normal text size it takes more, at twice the size the window still fits a small screen."""


class HeaderBar(QFrame):
    """Choosers commit one step; buttons trigger the actions of the table."""

    def __init__(self, session: Session, actions: ActionTable, export: QMenu) -> None:
        """Make the bar.

        Args:
            session: the open project.
            actions: what the buttons trigger.
            export: the menu of what can be written.
        """
        super().__init__()
        self._session = session
        self.setProperty("look", "bar")
        self.scenario = Chooser("Scenario", tip="The scenario being edited", letters=_LETTERS, run=self._activate)
        self.scenario.setProperty("look", "title")
        self.reference = Chooser("Baseline", tip="What values are compared with", letters=_LETTERS, run=self._compare)
        self.status = Text(bold=True)
        self._state = Text(look="muted")
        self.undo = _button(actions["edit.undo"], "undo", "Undo")
        self.redo = _button(actions["edit.redo"], "redo", "Redo")
        self.run = TextButton("Run…", look="primary", symbol="run", run=actions["run.new"].trigger)
        approve, about = actions["decide.approve"], "Recommend, approve or withdraw these parameters"
        tip = f"{about} ({approve.shortcut().toString()})"
        self.approve = TextButton("Approve…", name=about, tip=tip, run=approve.trigger)
        self.export = SymbolButton("export", "Export parameters, tables or a report", text="Export", bordered=True)
        self.export.setMenu(export)
        self.export.setPopupMode(SymbolButton.ToolButtonPopupMode.InstantPopup)
        buttons = (self.undo, self.redo, line(vertical=True), self.run, self.approve, self.export)
        self._captioned = (_captioned("Scenario", self.scenario), _captioned("Baseline", self.reference))
        self._parts = row(
            (row(*((each, 1) for each in self._captioned)), 6),
            (
                row(
                    column(1, self.status, self._state, gap=2),
                    1,
                    *((widget, Qt.AlignmentFlag.AlignVCenter) for widget in buttons),
                ),
                0,
            ),
            of=self,
            margins=(MARGIN, GRID, MARGIN, GRID),
        )
        appearance().changed.connect(self._arrange)
        self._arrange()
        session.settled.connect(self._refresh)
        session.saved.connect(self._refresh)
        self._refresh()

    def _arrange(self, _colours: object = None) -> None:
        """Give the names a line of their own where text is large: beside the buttons they had ten letters."""
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        is_large = appearance().scale >= LARGE_TEXT
        self._parts.setDirection(down if is_large else right)
        for each in self._captioned:
            each.setDirection(right if is_large else down)
            each.setStretch(1, 1 if is_large else 0)
            each.setSpacing(GRID if is_large else 2)
        # As wide as the longest, so that no chooser moves under the pointer when something is edited, saved or decided.
        self.status.setMinimumWidth(max(self.status.fontMetrics().horizontalAdvance(each.title) for each in Status))

    def _refresh(self, _signal: object = None) -> None:
        workbook = self._session.shown.workbook
        self.scenario.offer(((name, name) for name in workbook.names), tips=workbook.names)
        self.scenario.select(workbook.active)
        system = type(workbook.scenario.method)
        others = [
            (scenario.name, scenario.name)
            for scenario in workbook.scenarios
            if scenario.name != workbook.active and isinstance(scenario.method, system)
        ]
        shipped = [(preset.title, preset.id) for preset in presets_of(system_of(workbook.scenario)).values()]
        kept = [
            (title, key)
            for title, key in self._session.kept.offers()
            if (version := self._session.kept.find(key)) is not None and isinstance(version[1].method, system)
        ]
        entries = [("nothing", ""), *kept, *others, *shipped]
        self.reference.offer(entries, tips=[title for title, _key in entries])
        # A comparison with another system says nothing here; it comes back with a scenario of that system.
        self.reference.select(workbook.comparison if workbook.comparison in {key for _title, key in entries} else "")
        project = self._session.project
        self._state.setText("" if project.is_clean else "not saved")
        status = status_now(project)
        self.status.setText(status.title)
        self.status.setAccessibleName(f"Status of the parameters: {status.title}")
        self.status.set_look(TONES[status])

    def _activate(self) -> None:
        name = self.scenario.currentData()
        if name is not None:
            self._session.report(
                self._session.edit_workbook(f"Work on {name}", lambda workbook: activate(workbook, name))
            )

    def _compare(self) -> None:
        name = self.reference.currentData()
        if name is not None:
            label = f"Compare with {self.reference.currentText()}"
            self._session.report(self._session.edit_workbook(label, lambda workbook: compare_with(workbook, name)))


class HeadlineBar(QWidget):
    """Three figures of the parameters, e.g. the privacy loss, and the last run: large on the overview, elsewhere one line.

    Larger text than normal has as many lines as it needs, on the overview with all that tiles say: no figure is cut.
    """

    def __init__(self, session: Session, tiles: Callable[[], tuple[TileContent, ...]]) -> None:
        """Show the figures of a session.

        Args:
            session: tells when they may have changed.
            tiles: the three of the active scenario.
        """
        super().__init__()
        self._parameter_tiles = tiles
        self.setAccessibleName("Headline")
        self.setAutoFillBackground(True)  # else a figure that changes has all that lies behind it painted, too
        self._run: TileContent | None = None
        self._proven: tuple[ScenarioView | None, str] = (None, "")
        self.tiles = tuple(Tile() for _ in range(4))
        self._lines = tuple(TileLine() for _ in self.tiles)
        # What shows the figures; of the others nothing is measured until they are shown.
        self._seen: Sequence[Tile | TileLine] = ()
        self._large, self._small = QWidget(self), QWidget(self)
        row(*((tile, 1) for tile in self.tiles), of=self._large, margins=(MARGIN, 0, MARGIN, GRID))
        self._figures = FlowRow(*self._lines, gap=MARGIN, between=HALF)
        column(self._figures, of=self._small, margins=(MARGIN, HALF, MARGIN, HALF))
        column(self._large, self._small, of=self, gap=0)
        self._is_large = True
        self._depth = appearance().depth
        appearance().changed.connect(self._arrange)
        self._session = session
        self._proof = Latest(lambda view: (view, _proven_words(view)), self)
        self._proof.finished.connect(self._show_proven)
        self._after_frame = QTimer(self, singleShot=True)
        self._after_frame.timeout.connect(self.prove)
        self._all = Latest(_proved, self)
        self._all.finished.connect(self._show_all)
        self._after_edits = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._after_edits.timeout.connect(self._prove_all)
        session.settled.connect(self._on_settled)
        self._arrange()
        self.refresh()

    def make_large(self, *, is_large: bool) -> None:
        """Show the figures large, or in one line."""
        self._is_large = is_large
        self._arrange()

    @property
    def spared(self) -> int:
        """By how many pixels the line of figures is lower than the tiles of the overview."""
        if self._seen is self.tiles or appearance().scale >= LARGE_TEXT:
            return 0
        return self._large.sizeHint().height() - self.heightForWidth(self.width())

    def _arrange(self, _colours: object = None) -> None:
        has_tiles = self._is_large and appearance().scale < LARGE_TEXT
        before, self._seen = self._seen, self.tiles if has_tiles else self._lines
        self._large.setVisible(has_tiles)
        self._small.setVisible(not has_tiles)
        self._fit()
        if (
            before is not self._seen
            or self._lines[0].says_all is not self._is_large
            or self._depth is not appearance().depth
        ):
            self._depth = appearance().depth
            for each in self._lines:
                each.says_all = self._is_large
            self.refresh()
        for place in (self._figures, self._small, self):
            if (layout := place.layout()) is not None:
                layout.activate()  # at once: the page below would move twice

    def stop(self) -> None:
        """Finish what is being proven, because the window closes."""
        self._proof.stop()
        self._all.stop()

    def show_run(self, result: TileContent | None) -> None:
        """Show what the last run found."""
        self._run = result
        self.refresh()

    def refresh(self) -> None:
        """Show the figures as they are now."""
        self._loss, *others = (*self._parameter_tiles(), run_tile(self._run))
        for each, content in zip(self._seen[1:], others, strict=True):
            each.show_content(content)
        self._show_loss()

    def _show_loss(self) -> None:
        """Show the loss with what is proven of it."""
        loss, (view, words) = self._loss, self._proven
        if words and view is self._session.shown:
            # Beside a change there is room for the bound alone; the picture of the curve says the rest.
            loss = replace(loss, change=f"{words.partition(';')[0]} · {loss.change}" if loss.change else words)
        self._seen[0].show_content(loss)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._seen is self.tiles:
            return
        room = self.width() - (len(self._lines) + 2) * MARGIN
        # On the overview larger text breaks the line before it leaves anything out; elsewhere tabs would move with every note.
        fit_lines(self._lines, room, breaks=self._is_large and appearance().scale > SMALLEST_SCALE)

    def prove(self) -> None:
        """Say the proven ε beside the loss as soon as it is there: the frame of an edit, and the start, do without."""
        view = self._session.shown
        if view.forecast is not None and view.forecast.noise:
            self._proof.request(view)
            self._after_edits.start()

    def _prove_all(self) -> None:
        view = self._session.shown
        if view.forecast is not None and view.forecast.noise:
            self._all.request(view)

    def _on_settled(self, _view: object) -> None:
        self.refresh()
        # Once the frame of the edit is painted, which comes before timers: a thread would take the interpreter from it.
        self._after_frame.start(_DRAG_MS if self._after_edits.isActive() else 0)
        self._after_edits.start()

    def _show_proven(self, proven: tuple[ScenarioView, str]) -> None:
        self._proven = proven
        self._show_loss()

    def _show_all(self, view: ScenarioView) -> None:
        if view is self._session.shown:
            self._show_loss()
            self._session.proved.emit(view)


def _proved(view: ScenarioView) -> ScenarioView:
    """Return the version with its proof made."""
    getattr(view, "proof")  # noqa: B009 - asked for once, kept by the version
    return view


def _proven_words(view: ScenarioView) -> str:
    """Return the proven ε with what ρ alone converts to, "" where nothing is proven."""
    return "" if view.proven is None else view.epsilon_words()


class BottomBar(QFrame):
    """Holds the run strip and the button that opens the list of issues."""

    _preparing = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("look", "bar")
        self.message = ElidedText(look="muted")
        self.depth_switch = TextButton("", look="link", name="How much is shown")
        self.issues = SymbolButton("tick", "Show the issues", text="No issues", checkable=True)
        self.strip_place = row()
        self.bar = QProgressBar(self)
        self.bar.setAccessibleName(PREPARING)
        self.bar.setTextVisible(False)
        self.bar.setMaximumHeight(GRID)
        self.bar.hide()
        parts = (
            (self.message, 1),
            self.bar,
            (self.strip_place, 3),
            self.depth_switch,
            (self.issues, Qt.AlignmentFlag.AlignRight),
        )
        row(*parts, of=self, margins=(MARGIN, HALF, GRID, HALF))
        self._clock = QTimer(self, singleShot=True, interval=_MESSAGE_MS)
        self._clock.timeout.connect(lambda: self.message.setText(""))
        self._clock.timeout.connect(self.bar.hide)
        self._preparing.connect(self._show_preparing)
        hear = self._preparing.emit  # from whatever thread of the window compiles a kernel
        listeners.append(hear)
        self.destroyed.connect(partial(listeners.remove, hear))

    def switch_depth_by(self, action: QAction) -> None:
        """Let the button at the foot do what an action of the menu does."""
        self.depth_switch.clicked.connect(action.trigger)
        appearance().changed.connect(self._say_depth)
        self._say_depth()

    def _say_depth(self, _colours: object = None) -> None:
        is_expert = appearance().is_expert
        self.depth_switch.setText("Expert" if is_expert else "Committee")
        tip = "Show what a committee asks" if is_expert else "Show everything an expert may set"
        name = f"{self.depth_switch.text()}: {tip.lower()}"
        describe(self.depth_switch, name=name, tip=f"{tip} (Ctrl+Shift+D)")

    def say(self, text: str) -> None:
        """Show a short message for a while."""
        self.message.setText(text)
        announce(self.message, text)
        self._clock.start()

    def free_room(self) -> QRect:
        """Return the part of the bar where neither a message nor a run nor a button stands."""
        if not self.strip_place.isEmpty() or not self.bar.isHidden():
            return QRect()
        said = self.message.sizeHint().width() if self.message.text() else 0
        return QRect(QPoint(self.message.x() + said + GRID, 0), QPoint(self.depth_switch.x() - GRID, self.height() - 1))

    def _show_preparing(self, ready: int, kernels: int) -> None:
        self.say(f"{PREPARING}…")
        self.bar.setMaximum(max(kernels, 1))
        self.bar.setValue(ready)
        self.bar.show()

    def count_issues(self, counts: tuple[int, int]) -> None:
        """Show how many errors and warnings there are."""
        errors, warnings = counts
        named = ((errors, "error"), (warnings, "warning"))
        text = ", ".join(counted(count, noun) for count, noun in named if count) or "No issues"
        self.issues.setText(text)
        describe(self.issues, name=f"Show the issues: {text}")
        symbol, role = ("error", "refused") if errors else ("warning", "attention") if warnings else ("tick", "good")
        self.issues.set_symbol(symbol, role=role)


def _button(action: QAction, symbol: str, name: str) -> SymbolButton:
    keys = action.shortcut().toString()
    button = SymbolButton(symbol, name, tip=f"{name} ({keys})")
    button.clicked.connect(action.trigger)
    button.setEnabled(action.isEnabled())
    action.enabledChanged.connect(button.setEnabled)
    return button


def _captioned(caption: str, widget: QWidget) -> QBoxLayout:
    label = Text(caption, look="muted", relative=0.92)
    label.setBuddy(widget)
    return column(label, widget, gap=2, margins=(0, 0, GRID, 0))
