"""Caps on the privacy loss: a list, and a line that adds one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtWidgets import QWidget

from phexplore.errors import PhexploreError
from phexplore.gui.binding.session import Refusal
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser, SymbolButton
from phexplore.gui.widgets.exact_field import ExactField
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import ElidedText, labelled
from phexplore.gui.widgets.layout import column, row
from phexplore.model.goals import Cap, CapOn, Key
from phexplore.model.numbers import parse_exact

_ON = {CapOn.BOUNDED: "bounded ρ", CapOn.UNBOUNDED: "unbounded ρ", CapOn.EPSILON: "ε (δ = 10⁻¹⁰)"}
_ALL = "All queries"


class CapsEditor(QWidget):
    """Shows caps and offers another; edits are passed on."""

    def __init__(self, add: Callable[[Cap], Refusal | None], remove: Callable[[int], object]) -> None:
        """Make the editor.

        Args:
            add: takes a cap; returns why it is refused, None when it was accepted.
            remove: takes the place of a cap.
        """
        super().__init__()
        self._add, self._remove = add, remove
        self._caps: tuple[Cap, ...] | None = None
        self._scopes: Mapping[str, tuple[Key, ...]] = {}
        self.on = Chooser("What is capped", options=[(f"Cap on {words}", on) for on, words in _ON.items()])
        self.scope = Chooser("Queries that the cap counts", letters=18)
        self.limit = ExactField("Limit of the new cap", self._take, width=12 * GRID)
        self.add = SymbolButton("plus", "Add the cap", text="Add", bordered=True, run=self.limit.line.returnPressed)
        self._lines = column(gap=HALF)
        limit, scope = labelled("at most", self.limit), labelled("over", self.scope)
        column(self._lines, FlowRow(self.on, limit, scope, self.add, gap=GRID), of=self, gap=HALF)

    def show_caps(self, caps: Sequence[Cap], scopes: Mapping[str, tuple[Key, ...]]) -> None:
        """Show these caps, and what a further one can count."""
        self._scopes = scopes
        self.scope.offer([(title, title) for title in scopes])
        if tuple(caps) == self._caps:
            return
        self._caps = tuple(caps)
        while (item := self._lines.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for number, cap in enumerate(self._caps):
            self._lines.addWidget(self._line(number, cap))

    def _line(self, number: int, cap: Cap) -> QWidget:
        remove = SymbolButton("close", f"Remove the cap: {cap.title}", run=lambda: self._remove(number))
        place = QWidget()
        row((ElidedText(cap.title[0].upper() + cap.title[1:]), 1), remove, of=place)
        return place

    def _take(self, typed: str) -> str:
        title = self.scope.currentData()
        queries = None if title == _ALL or title is None else frozenset(self._scopes[title])
        try:
            cap = Cap(self.on.currentData(), parse_exact(typed), queries)
        except ValueError as error:
            return f"{error}."
        except PhexploreError as error:
            return error.full
        refusal = self._add(cap)
        return "" if refusal is None else refusal.full
