"""The page of post-processing: the order of passes, and what every published histogram keeps."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from phexplore.gui.binding.session import entered
from phexplore.gui.systems.topdown.place_issues import PlaceIssues
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser, SymbolButton, TextButton, TickBox
from phexplore.gui.widgets.flow import LARGE_TEXT, LargeTextRows
from phexplore.gui.widgets.labels import Text, describe
from phexplore.gui.widgets.layout import column, emptied, row, stacked
from phexplore.gui.widgets.page import Page, Section, Sideways
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import set_item
from phexplore.model.topdown import Passes, TopDown
from phexplore.systems.topdown.pass_order import (
    PassColumn,
    Stage,
    alike,
    columns,
    has_order,
    moved,
    order_edit,
    passes_of,
    rows,
    toggled,
    with_pass,
    without_empty,
)
from phexplore.systems.topdown.rules import Rule, constraint_rule, constraint_rules, invariant_rule, invariant_rules
from phexplore.systems.topdown.wording import level_title, query_title
from phexplore.workload.schema import load_schema

_NAME_WIDTH = 20 * GRID
"""Least width of a name before its ticks: a longer one takes another line."""


class RuleKind(enum.Enum):
    """Which rules are ticked. The value is the field of the parameters."""

    INVARIANT = "invariants"
    CONSTRAINT = "constraints"


def processing_page(session: TopDownSession) -> Page:
    """Return the page of post-processing."""
    order = "Which query groups are used in which order. Earlier passes bind later ones."
    exact = "Counts that are published without noise. What holds for a unit holds for every sum of units above it."
    kept = "What every published histogram keeps, whatever the noise says."
    sections = [
        Section("Passes", order, PassesEditor(session)),
        Section("Invariants", exact, RulesEditor(session, RuleKind.INVARIANT)),
        Section("Constraints", kept, RulesEditor(session, RuleKind.CONSTRAINT)),
    ]
    return Page("Post-processing", sections)


class TickGrid(QGridLayout):
    """Ticks in rows and columns under headings, made anew where these change.

    Attributes:
        ticks: by what each stands for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ticks: dict[tuple[str, ...], QCheckBox] = {}
        self._shape: object = None
        self.setHorizontalSpacing(2 * GRID)
        self.setVerticalSpacing(HALF)  # lines of one rule stand closer than those of two

    def needs(self, shape: object) -> bool:
        """Return whether rows or columns are others than those shown; then the grid is empty."""
        is_other, self._shape = shape != self._shape, shape
        if is_other:
            emptied(self)
            self.ticks = {}
        return is_other

    def fill(self, heads: Iterable[QWidget], lines: Iterable[tuple[QWidget, ...]], *, is_narrow: bool = False) -> None:
        """Put headings above and lines below each other, the first of each line before its ticks.

        Args:
            heads: above the ticks.
            lines: name, ticks, and what follows them.
            is_narrow: what follows the ticks stands below them.
        """
        middle = Qt.AlignmentFlag.AlignHCenter
        for place, head in enumerate(heads, start=1):
            self.addWidget(head, 0, place, middle)
        for number, line in enumerate(lines, start=1):
            for place, part in enumerate(line):
                if isinstance(part, QCheckBox):
                    self.addWidget(part, 2 * number, place, middle)
                elif place and is_narrow:
                    self.addWidget(part, 2 * number + 1, 0, 1, place)
                else:
                    self.addWidget(part, 2 * number, place)
        self.setColumnStretch(0, 1)

    def tick(self, key: tuple[str, ...], name: str, run: Callable[[], object]) -> QCheckBox:
        """Return a new tick.

        Args:
            key: what it stands for.
            name: for people who do not see its row and column.
            run: what a click does.
        """
        tick = self.ticks[key] = TickBox()
        describe(tick, name=name, tip=name)
        tick.clicked.connect(lambda _checked: run())
        return tick


class StageGrid(QWidget):
    """The passes of one stage: a row per query group, a column per pass, a tick where it is used."""

    def __init__(
        self, session: TopDownSession, stage: Stage, change: Callable[[str, Callable[[], Passes]], None]
    ) -> None:
        """Make the grid.

        Args:
            session: whose passes.
            stage: which one.
            change: takes the name of a step and what gives the new passes.
        """
        super().__init__()
        self._session, self.stage, self._change = session, stage, change
        self._level = ""
        self.grid = TickGrid()
        name = f"Add a pass to {stage.value.lower()}"
        self.add = SymbolButton("plus", name, text="Pass", bordered=True)
        self.add.clicked.connect(lambda: change(name, lambda: with_pass(self._method, self._level, stage)))
        head = row(Text(stage.value, bold=True), 1, self.add)
        passes = Sideways(stage.value, stacked(self.grid))
        column(head, Text(stage.about, look="muted", wrap=True), passes, 1, of=self)

    @property
    def _method(self) -> TopDown:
        return self._session.shown.method

    def show_level(self, level: str) -> None:
        """Show the passes of a level."""
        self._level = level
        measured, names = self._method.queries_at(level), rows(self._method, level, self.stage)
        shown = columns(passes_of(self._method, level), self.stage)
        if self.grid.needs((level, tuple((each.place, each.title) for each in shown), names, measured)):
            self.grid.fill(
                [self._heading(each, shown) for each in shown],
                [(self._name(name, measured), *(self._tick(name, each) for each in shown)) for name in names],
            )
        for each in shown:
            for name in names:
                self.grid.ticks[name, each.title].setChecked(name in each.queries)

    def _name(self, query: str, measured: tuple[str, ...]) -> Text:
        needs_noise = self.stage is Stage.LEAST_SQUARES and query not in measured
        label = Text(query_title(query) + (" (not measured here)" if needs_noise else ""), wrap=True)
        label.setMinimumWidth(_NAME_WIDTH)
        label.setContentsMargins(0, HALF // 2, 0, HALF // 2)  # names of two lines stay apart
        label.set_look("attention" if needs_noise else "")
        return label

    def _tick(self, query: str, each: PassColumn) -> QCheckBox:
        name = f"{self.stage.value}, {each.title.lower()}: use {query_title(query)}"
        return self.grid.tick((query, each.title), name, partial(self._toggle, query, each.place, each.title.lower()))

    def _heading(self, each: PassColumn, shown: tuple[PassColumn, ...]) -> QWidget:
        siblings = [other for other in shown if other.place[0] == each.place[0]]
        parts: list[QWidget] = [Text(each.title, look="muted")]
        for sign, word, by, end in (("<", "earlier", -1, siblings[0]), (">", "later", 1, siblings[-1])):
            if each is not end:
                button = TextButton(sign, look="link", name=f"Make {each.title.lower()} {word}")
                button.setToolTip(f"Make this pass {word}")
                button.clicked.connect(partial(self._move, each, word, by))
                parts.insert(0 if by < 0 else len(parts), button)
        head = QWidget()
        row(*parts, of=head, gap=HALF)
        return head

    def _toggle(self, query: str, place: tuple[int, int], title: str) -> None:
        ticked = {each.place: each.queries for each in columns(passes_of(self._method, self._level), self.stage)}
        adds = query not in ticked[place]
        word = f"Use {query_title(query)} in {title}" if adds else f"Leave {query_title(query)} out"

        def change() -> Passes:
            passes = toggled(self._method, self._level, self.stage, query, place)
            return passes if adds else without_empty(passes, self.stage)

        self._change(f"{word} of {self.stage.value.lower()}", change)

    def _move(self, each: PassColumn, word: str, by: int, _checked: bool = False) -> None:
        self._change(
            f"Make {each.title.lower()} of {self.stage.value.lower()} {word}",
            lambda: moved(self._method, self._level, self.stage, each.place, by),
        )


class PassesEditor(QWidget):
    """Level, and the two grids of its passes; levels of the same order are changed together unless one is told apart."""

    def __init__(self, session: TopDownSession) -> None:
        super().__init__()
        self._session = session
        self.level = Chooser("Level whose passes are shown")
        self.level.currentIndexChanged.connect(self._refresh)
        self.together = TickBox()
        self.together.setChecked(True)
        self.reset = TextButton("As in the reference", name="Take the passes from the reference", run=self._reset)
        self._state = Text(look="muted", wrap=True)
        self.grids = {stage: StageGrid(session, stage, self._change) for stage in Stage}
        head = LargeTextRows((row(Text("Level"), self.level, 1, self.reset), 1), row(self.together, 1))
        body = LargeTextRows(*(stacked(grid, 1) for grid in self.grids.values()), gap=5 * GRID)
        column(head, PlaceIssues(session, frozenset({"passes"})), self._state, body, of=self)
        self._seen = WhenSeen(self, self._refresh, session.updated)
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
            grid.show_level(level)

    def _change(self, what: str, change: Callable[[], Passes]) -> None:
        self._session.report(entered(self._session, lambda: order_edit(self.levels, change(), what)))
        self._refresh()

    def _reset(self) -> None:
        reference, level = self._session.shown.reference, self.level.currentData()
        if reference is not None:
            passes = reference.scenario.topdown.passes[level]
            step = order_edit((level,), passes, f"Take the passes from {reference.title}")
            self._session.report(self._session.edit(*step))


class RulesEditor(QWidget):
    """A row per rule with a tick per level; a rule holds at every level above, because units add up."""

    def __init__(self, session: TopDownSession, kind: RuleKind) -> None:
        super().__init__()
        self._session, self._kind = session, kind
        self.grid = TickGrid()
        column(
            PlaceIssues(session, frozenset({kind.value})),
            Sideways(kind.value.capitalize(), stacked(self.grid)),
            of=self,
        )
        self._seen = WhenSeen(self, self._refresh, session.updated)
        appearance().changed.connect(self._refresh)
        self._refresh()

    def _rules(self, method: TopDown) -> tuple[Rule, ...]:
        offered, named = invariant_rules(method.schema), invariant_rule
        if self._kind is RuleKind.CONSTRAINT:
            offered, named = constraint_rules(method.schema), partial(constraint_rule, load_schema(method.schema))
        held = [named(name) for names in getattr(method, self._kind.value).values() for name in names]
        return tuple({rule.name: rule for rule in (*offered, *held)}.values())

    def _held(self, method: TopDown, level: str) -> tuple[str, ...]:
        found: tuple[str, ...] = getattr(method, self._kind.value).get(level, ())
        return found

    def _refresh(self, _update: object = None) -> None:
        method, reference = self._session.shown.method, self._session.shown.reference
        rules = self._rules(method)
        is_narrow = appearance().scale >= LARGE_TEXT
        if self.grid.needs((method.levels, rules, is_narrow)):
            self._build(method.levels, rules, is_narrow=is_narrow)
        titles = {rule.name: rule.title for rule in rules}
        for (name, level), tick in self.grid.ticks.items():
            is_held = name in self._held(method, level)
            tick.setChecked(is_held)
            was = is_held if reference is None else name in self._held(reference.scenario.topdown, level)
            tick.setText("•" if was is not is_held else "")
            tip = f"{titles[name]} at {level_title(level)}"
            if was is not is_held:
                tip = f"{tip}\n{'Held' if was else 'Not held'} in the reference"
            describe(tick, tip=tip)

    def _build(self, levels: tuple[str, ...], rules: tuple[Rule, ...], *, is_narrow: bool) -> None:
        heads = [Text("\n".join(level_title(level).split(" ")), look="muted") for level in levels]
        self.grid.fill(heads, [self._line(rule, levels) for rule in rules], is_narrow=is_narrow)
        if not is_narrow:
            self.grid.addWidget(Text("What it forces", look="muted"), 0, len(levels) + 1)
        self.grid.setColumnStretch(len(levels) + 1, 0 if is_narrow else 3)

    def _line(self, rule: Rule, levels: tuple[str, ...]) -> tuple[QWidget, ...]:
        title = Text(rule.title, bold=True, wrap=True)
        title.setMinimumWidth(_NAME_WIDTH)
        title.setToolTip(f"Production calls it {rule.name}")
        ticks = (
            self.grid.tick(
                (rule.name, level), f"{rule.title} at {level_title(level)}", partial(self._toggle, rule, level)
            )
            for level in levels
        )
        return (title, *ticks, Text(rule.forces, look="muted", wrap=True))

    def _toggle(self, rule: Rule, level: str) -> None:
        held = self._held(self._session.shown.method, level)
        adds = rule.name not in held
        after = (*held, rule.name) if adds else tuple(name for name in held if name != rule.name)
        label = f"{'Hold' if adds else 'Drop'} “{rule.title}” at {level_title(level)}"
        self._session.report(self._session.edit(label, lambda s: set_item(s, self._kind.value, level, after)))
        self._refresh()
