"""Which population-group levels of which table are published: a matrix of ticks."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from phexplore.catalog.tables import TableProduct, tables
from phexplore.gui.binding.system_session import PlainSession
from phexplore.gui.theme.metrics import GRID
from phexplore.gui.widgets.labels import Text
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.edits import EditRefusedError
from phexplore.model.keys import LEVELS, QueryKey
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.budget_edits import set_published
from phexplore.systems.phsafe.budget_model import numbers_of

_ALL = len(LEVELS) + 1


class LevelsEditor(QWidget):
    """A tick per query, one per table and one per level for all of them. The number beside a tick is what it publishes."""

    def __init__(self, session: PlainSession) -> None:
        super().__init__()
        self._session = session
        self.ticks: dict[QueryKey, QCheckBox] = {}
        self._whole: dict[str, tuple[QCheckBox, tuple[QueryKey, ...]]] = {}
        self._derived: dict[QueryKey, tuple[Text, QueryKey]] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(2 * GRID)
        self._grid.setVerticalSpacing(GRID // 2)
        self._add_head()
        for number, product in enumerate(tables().values(), start=1):
            self._add_table(number, product)
        self._add_foot(len(tables()) + 1)
        self._grid.setColumnStretch(_ALL + 1, 1)
        self._seen = WhenSeen(self, self._refresh, session.updated)
        self._refresh()

    def _add_head(self) -> None:
        for number, level in enumerate(LEVELS, start=1):
            words = f"{level.region.title}\n{level.iteration.title}"
            self._grid.addWidget(Text(words, look="muted"), 0, number, Qt.AlignmentFlag.AlignBottom)
        self._grid.addWidget(Text("Whole\ntable", look="muted"), 0, _ALL, Qt.AlignmentFlag.AlignBottom)

    def _add_table(self, number: int, product: TableProduct) -> None:
        title = Text(product.id, bold=product.measured, look="" if product.measured else "muted")
        title.setToolTip(product.title)
        self._grid.addWidget(title, number, 0)
        for level in product.levels:
            place = LEVELS.index(level) + 1
            source = QueryKey(product.derived_from or product.id, level)
            if product.measured:
                tick = self._tick(f"Publish {source.title}", source)
                self._grid.addWidget(tick, number, place)
            else:
                follows = Text(look="muted")
                follows.setToolTip(f"{product.id} is computed from {product.derived_from}")
                self._derived[QueryKey(product.id, level)] = (follows, source)
                self._grid.addWidget(follows, number, place)
        if product.measured:
            self._add_whole(f"Publish all levels of {product.id}", product.queries, number, _ALL)
        else:
            note = Text(f"from {product.derived_from}", look="muted")
            self._grid.addWidget(note, number, _ALL)

    def _add_foot(self, number: int) -> None:
        self._grid.addWidget(Text("Whole level", look="muted"), number, 0)
        for place, level in enumerate(LEVELS, start=1):
            queries = tuple(query for query in self.ticks if query.level == level)
            self._add_whole(f"Publish {level.title} of all tables", queries, number, place)

    def _tick(self, name: str, query: QueryKey) -> QCheckBox:
        tick = QCheckBox()
        tick.setAccessibleName(name)
        self.ticks[query] = tick
        tick.clicked.connect(lambda checked: self._publish((query,), published=checked))
        tick.pressed.connect(lambda: self._session.select(query))
        return tick

    def _add_whole(self, name: str, queries: tuple[QueryKey, ...], number: int, place: int) -> None:
        tick = QCheckBox("all" if place == _ALL else "")
        tick.setAccessibleName(name)
        tick.setToolTip(name)
        tick.clicked.connect(lambda: self._toggle_all(queries))
        self._whole[name] = (tick, queries)
        self._grid.addWidget(tick, number, place)

    def _toggle_all(self, queries: tuple[QueryKey, ...]) -> None:
        published = set(self._session.scenario.phsafe.published)
        self._publish(queries, published=not all(query in published for query in queries))

    def _publish(self, queries: tuple[QueryKey, ...], *, published: bool) -> None:
        def edit(scenario: Scenario) -> Scenario:
            for query in queries:
                if query in scenario.phsafe.locks and len(queries) > 1:
                    raise EditRefusedError(f"{query.title} is locked.", "Unlock it, or tick the levels one by one.")
                scenario = set_published(scenario, query, published=published)
            return scenario

        word = "Publish" if published else "Leave out"
        name = queries[0].title if len(queries) == 1 else f"{len(queries)} queries"
        self._session.report(self._session.edit(f"{word} {name}", edit))
        self._refresh()

    def _refresh(self, _update: object = None) -> None:
        method = self._session.scenario.phsafe
        published = set(method.published)
        for query, tick in self.ticks.items():
            _show(tick, Qt.CheckState.Checked if query in published else Qt.CheckState.Unchecked)
            locked = query in method.locks
            tick.setEnabled(not locked)
            tick.setToolTip(f"{query.title} is locked" if locked else f"Publish {query.title}")
            tick.setText(f"{numbers_of(query, len(method.states)):,}")
        for derived, (label, source) in self._derived.items():
            label.setText(f"{numbers_of(derived, len(method.states)):,}" if source in published else "–")
        for tick, queries in self._whole.values():
            count = sum(query in published for query in queries)
            some = Qt.CheckState.PartiallyChecked if count else Qt.CheckState.Unchecked
            _show(tick, Qt.CheckState.Checked if count == len(queries) else some)


def _show(tick: QCheckBox, state: Qt.CheckState) -> None:
    if tick.checkState() != state:
        blocked = tick.blockSignals(True)
        tick.setTristate(state == Qt.CheckState.PartiallyChecked)
        tick.setCheckState(state)
        tick.blockSignals(blocked)
