"""The order of the Tab key: pages are made when they are wanted, so Qt puts them behind everything that was there before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def put_behind(page: QWidget, parts: Sequence[QWidget]) -> None:
    """Let the Tab key reach the parts of a window after its page, each in the order it has.

    Args:
        page: what comes first.
        parts: what comes behind it, in this order; in the window of the page.
    """
    chain: list[QWidget] = []
    widget = page.nextInFocusChain()
    while widget is not None and widget is not page:
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            chain.append(widget)
        widget = widget.nextInFocusChain()
    late = [widget for part in parts for widget in chain if part.isAncestorOf(widget)]
    order = [widget for widget in chain if page.isAncestorOf(widget)] + late
    if chain[: len(order)] != order:
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)
