"""The order of post-processing: which query groups are used in which pass, level by level."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from phexplore.errors import PhexploreError
from phexplore.gui.binding.session import Refusal
from phexplore.gui.systems.topdown.passes import (
    PassColumn,
    Stage,
    about,
    alike,
    columns,
    has_order,
    is_measured,
    moved,
    order_edit,
    passes_of,
    rows,
    toggled,
    with_pass,
    without_empty,
)
from phexplore.gui.systems.topdown.place_issues import PlaceIssues
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser, SymbolButton, TextButton
from phexplore.gui.widgets.flow import LargeTextRows
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, emptied, row
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.topdown import Passes
from phexplore.systems.topdown.wording import level_title, query_title


class StageGrid(QWidget):
    """The passes of one stage: a row per query group, a column per pass, a tick where it is used."""

    def __init__(self, stage: Stage, change: Callable[[str, Callable[[], Passes]], None]) -> None:
        """Make the grid.

        Args:
            stage: which one.
            change: takes the name of a step and what gives the new passes.
        """
        super().__init__()
        self.stage, self._change = stage, change
        self.ticks: dict[tuple[str, int, int], QCheckBox] = {}
        self._built: object = None
        self._session: TopDownSession | None = None
        self._level = ""
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(2 * GRID)
        self._grid.setVerticalSpacing(HALF)
        self.add = SymbolButton("plus", f"Add a pass to {stage.value.lower()}", text="Pass", bordered=True)
        self.add.clicked.connect(self._add)
        head = row(Text(stage.value, bold=True), 1, self.add)
        column(head, Text(about(stage), look="muted", wrap=True), self._grid, 1, of=self)

    def show_level(self, session: TopDownSession, level: str) -> None:
        """Show the passes of a level."""
        self._session, self._level = session, level
        method = session.shown.method
        passes = passes_of(method, level)
        shown, names = columns(passes, self.stage), rows(method, level, self.stage)
        measured = tuple(is_measured(method, level, name) for name in names)
        shape = (level, tuple((each.outer, each.inner, each.title) for each in shown), names, measured)
        if shape != self._built:
            self._built = shape
            self._build(shown, names, measured)
        for each in shown:
            for name in names:
                tick = self.ticks[name, each.outer, each.inner]
                with QSignalBlocker(tick):
                    tick.setChecked(name in each.queries)

    def _build(self, shown: tuple[PassColumn, ...], names: tuple[str, ...], measured: tuple[bool, ...]) -> None:
        emptied(self._grid)
        self.ticks = {}
        for place, each in enumerate(shown, start=1):
            self._grid.addWidget(self._heading(each, shown), 0, place, Qt.AlignmentFlag.AlignHCenter)
        for number, (name, is_known) in enumerate(zip(names, measured, strict=True), start=1):
            needs_noise = self.stage is Stage.LEAST_SQUARES and not is_known
            label = Text(query_title(name) + (" (not measured here)" if needs_noise else ""))
            label.set_look("attention" if needs_noise else "")
            self._grid.addWidget(label, number, 0)
            for place, each in enumerate(shown, start=1):
                tick = QCheckBox()
                tick.setAccessibleName(f"{self.stage.value}, {each.title.lower()}: use {query_title(name)}")
                tick.setToolTip(tick.accessibleName())
                tick.clicked.connect(partial(self._toggle, name, each))
                self.ticks[name, each.outer, each.inner] = tick
                self._grid.addWidget(tick, number, place, Qt.AlignmentFlag.AlignHCenter)
        self._grid.setColumnStretch(0, 1)

    def _heading(self, each: PassColumn, shown: tuple[PassColumn, ...]) -> QWidget:
        siblings = [other for other in shown if other.outer == each.outer]
        parts: list[QWidget] = [Text(each.title, look="muted")]
        for sign, word, by, is_there in (
            ("<", "earlier", -1, each.inner > 0),
            (">", "later", 1, each.inner < len(siblings) - 1),
        ):
            if is_there:
                button = TextButton(sign, look="link", name=f"Make {each.title.lower()} {word}")
                button.setToolTip(f"Make this pass {word}")
                button.clicked.connect(partial(self._move, each, by))
                parts.insert(0 if by < 0 else len(parts), button)
        head = QWidget()
        row(*parts, of=head, gap=HALF)
        return head

    def _toggle(self, query: str, column: PassColumn, _checked: bool = False) -> None:
        session = self._session
        if session is None:
            return
        place = (column.outer, column.inner)
        adds = query not in column.queries
        word = f"Use {query_title(query)} in {column.title.lower()}" if adds else f"Leave {query_title(query)} out"

        def change() -> Passes:
            passes = toggled(session.shown.method, self._level, self.stage, query, place)
            return passes if adds else without_empty(passes, self.stage)

        self._change(f"{word} of {self.stage.value.lower()}", change)

    def _move(self, column: PassColumn, by: int, _checked: bool = False) -> None:
        session = self._session
        if session is not None:
            word = "earlier" if by < 0 else "later"
            self._change(
                f"Make {column.title.lower()} of {self.stage.value.lower()} {word}",
                lambda: moved(session.shown.method, self._level, self.stage, (column.outer, column.inner), by),
            )

    def _add(self) -> None:
        session = self._session
        if session is not None:
            self._change(
                f"Add a pass to {self.stage.value.lower()}",
                lambda: with_pass(session.shown.method, self._level, self.stage),
            )


class PassesEditor(QWidget):
    """Level, and the two grids of its passes; levels of the same order are changed together unless one is told apart."""

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self.level = Chooser("Level whose passes are shown")
        self.level.currentIndexChanged.connect(self._refresh)
        self.together = QCheckBox()
        self.together.setChecked(True)
        self.reset = TextButton("As in the reference", name="Take the passes from the reference")
        self.reset.clicked.connect(self._reset)
        self._state = Text(look="muted", wrap=True)
        self.grids = {stage: StageGrid(stage, self._change) for stage in Stage}
        head, body = LargeTextRows(), LargeTextRows()
        head.setSpacing(GRID)
        head.addLayout(row(Text("Level"), self.level, 1, self.reset), 1)
        head.addLayout(row(self.together, 1))
        body.setSpacing(5 * GRID)
        for grid in self.grids.values():
            body.addWidget(grid, 1, Qt.AlignmentFlag.AlignTop)
        column(head, PlaceIssues(session, frozenset({"passes"})), self._state, body, of=self)
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels that a change is made to."""
        level, method = self.level.currentData(), self._session.shown.method
        return alike(method, level) if self.together.isChecked() else (level,)

    def _refresh(self, _signal: object = None) -> None:
        method, reference = self._session.shown.method, self._session.shown.reference
        first = method.levels[min(1, len(method.levels) - 1)]
        self.level.offer([(level_title(each), each) for each in method.levels], first=first)
        level = self.level.currentData()
        others = [level_title(other) for other in alike(method, level) if other != level]
        words = f"also {', '.join(others)}, which have the same order" if others else ""
        self.together.setText(words)
        self.together.setAccessibleName(f"Change together: {words}")
        self.together.setVisible(bool(others))
        self._state.setText("" if has_order(method, level) else "No order is set at this level: this is what is done.")
        self._state.setVisible(not has_order(method, level))
        other_method = reference.scenario.topdown if reference is not None else None
        theirs = other_method.passes.get(level) if other_method is not None else None
        self.reset.setEnabled(theirs is not None and theirs != method.passes.get(level))
        for grid in self.grids.values():
            grid.show_level(self._session, level)

    def _change(self, what: str, change: Callable[[], Passes]) -> None:
        try:
            label, edit = order_edit(self.levels, change(), what)
        except PhexploreError as error:
            self._session.report(Refusal("", error.sentence, error.remedy))
        else:
            self._session.report(self._session.edit(label, edit))
        self._refresh()

    def _reset(self) -> None:
        reference, level = self._session.shown.reference, self.level.currentData()
        if reference is not None:
            passes = reference.scenario.topdown.passes[level]
            label, edit = order_edit((level,), passes, f"Take the passes from {reference.title}")
            self._session.report(self._session.edit(label, edit))
