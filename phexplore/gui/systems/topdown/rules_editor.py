"""Invariants and constraints: a tick per level, and what each forces."""

from __future__ import annotations

import enum
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from phexplore.gui.systems.topdown.place_issues import PlaceIssues
from phexplore.gui.systems.topdown.session import TopDownSession
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.layout import column, emptied
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import set_item
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.systems.topdown.rules import (
    Rule,
    constraint_rule,
    constraint_rules,
    invariant_rule,
    invariant_rules,
)
from phexplore.systems.topdown.wording import level_title, short_level
from phexplore.workload.schema import load_schema


class RuleKind(enum.Enum):
    """What is ticked. The value is the first word of its issues' paths."""

    INVARIANT = "invariants"
    CONSTRAINT = "constraints"


class RulesEditor(QWidget):
    """A row per rule with a tick per level; a rule holds at every level above, because units add up."""

    def __init__(self, session: TopDownSession, kind: RuleKind) -> None:
        super().__init__()
        self._session, self._kind = session, kind
        self.ticks: dict[tuple[str, str], QCheckBox] = {}
        self._built: object = None
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(2 * GRID)
        self._grid.setVerticalSpacing(HALF + 2)
        column(PlaceIssues(session, frozenset({kind.value})), self._grid, of=self)
        self._seen = WhenSeen(self, self._refresh)
        session.updated.connect(self._seen.request)
        self._refresh()

    def _rules(self, method: TopDown) -> tuple[Rule, ...]:
        schema = load_schema(method.schema)
        if self._kind is RuleKind.INVARIANT:
            offered, held = invariant_rules(method.schema), method.invariants
            named = [invariant_rule(name) for names in held.values() for name in names]
        else:
            offered, held = constraint_rules(method.schema), method.constraints
            named = [constraint_rule(schema, name) for names in held.values() for name in names]
        return tuple({rule.name: rule for rule in (*offered, *named)}.values())

    def _held(self, method: TopDown, level: str) -> tuple[str, ...]:
        places = method.invariants if self._kind is RuleKind.INVARIANT else method.constraints
        return places.get(level, ())

    def _refresh(self, _update: object = None) -> None:
        method = self._session.shown.method
        rules = self._rules(method)
        shape = (method.levels, rules)
        if shape != self._built:
            self._built = shape
            self._build(method.levels, rules)
        reference = self._session.shown.reference
        other = reference.scenario.topdown if reference is not None else None
        for (name, level), tick in self.ticks.items():
            is_held = name in self._held(method, level)
            with QSignalBlocker(tick):
                tick.setChecked(is_held)
            was = other is not None and name in self._held(other, level)
            differs = other is not None and was != is_held
            tick.setText("•" if differs else "")
            tip = tick.accessibleName()
            tick.setToolTip(f"{tip}\n{'Held' if was else 'Not held'} in the reference" if differs else tip)

    def _build(self, levels: tuple[str, ...], rules: tuple[Rule, ...]) -> None:
        emptied(self._grid)
        self.ticks = {}
        for place, level in enumerate(levels, start=1):
            head = Text(short_level(level), look="muted")
            head.setToolTip(level_title(level))
            self._grid.addWidget(head, 0, place, Qt.AlignmentFlag.AlignHCenter)
        self._grid.addWidget(Text("What it forces", look="muted"), 0, len(levels) + 1)
        for number, rule in enumerate(rules, start=1):
            title = Text(rule.title, bold=True, wrap=True)
            title.setMinimumWidth(20 * GRID)
            title.setToolTip(f"Production calls it {rule.name}")
            self._grid.addWidget(title, number, 0)
            for place, level in enumerate(levels, start=1):
                tick = QCheckBox()
                tick.setAccessibleName(f"{rule.title} at {level_title(level)}")
                tick.clicked.connect(partial(self._toggle, rule, level))
                self.ticks[rule.name, level] = tick
                self._grid.addWidget(tick, number, place, Qt.AlignmentFlag.AlignHCenter)
            self._grid.addWidget(Text(rule.forces, look="muted", wrap=True), number, len(levels) + 1)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(len(levels) + 1, 3)

    def _toggle(self, rule: Rule, level: str, _checked: bool = False) -> None:
        held = self._held(self._session.shown.method, level)
        adds = rule.name not in held
        after = (*held, rule.name) if adds else tuple(name for name in held if name != rule.name)
        name = "invariants" if self._kind is RuleKind.INVARIANT else "constraints"

        def edit(scenario: Scenario) -> Scenario:
            return set_item(scenario, name, level, after)

        label = f"{'Hold' if adds else 'Drop'} “{rule.title}” at {level_title(level)}"
        self._session.report(self._session.edit(label, edit))
        self._refresh()
