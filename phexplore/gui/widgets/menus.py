"""Menus that the right button of the mouse or the menu key opens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractScrollArea, QMenu, QWidget


def offer(widget: QWidget, commands: Mapping[str, Callable[[], object]]) -> None:
    """Offer commands in the menu of a widget.

    The menu is not Qt's own one of a widget's actions. Qt keeps that one on the stack and waits in it: the program crashes
    when the widget is deleted meanwhile.
    """
    for words, run in commands.items():
        action = QAction(words, widget)
        action.triggered.connect(run)
        widget.addAction(action)
    widget.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    widget.customContextMenuRequested.connect(partial(_open, widget))


def _open(widget: QWidget, at: QPoint) -> None:
    menu = QMenu(widget)
    menu.addActions(widget.actions())
    open_menu(menu, widget, at)


def open_menu(menu: QMenu, widget: QWidget, at: QPoint) -> None:
    """Open a menu at a place in a widget; it is deleted when it closes, or with the widget."""
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    place = widget.viewport() if isinstance(widget, QAbstractScrollArea) else widget
    menu.popup(place.mapToGlobal(at))
