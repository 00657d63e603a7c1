"""What a screen reader is told beyond what the toolkit says of itself: roles and values of drawn controls, and news."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from weakref import ref

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleEvent,
    QAccessibleValueInterface,
    QGuiApplication,
)
from PySide6.QtWidgets import QAccessibleWidget, QApplication, QListView, QTableView, QWidget
from shiboken6 import VoidPtr, isValid

from phexplore.gui.theme.number_style import localised

_FRACTION = re.compile(r" = \d{7,}/\d{7,}")
"""An exact value behind its decimals: nobody follows twenty digits by ear; the table beside a picture has them."""

_AT_SPI = frozenset({"xcb", "wayland"})
"""Platforms of screens where the reader may be an Orca that knows no announcements."""

_DECIMALS = re.compile(r"\d\.(\d+)")
"""Of the first number in some words, as they are before they are written for a country."""


def said(text: str) -> str:
    """Return a text as it is read aloud: as it is shown, without fractions of many digits."""
    return localised(_FRACTION.sub("", text))


def announce(widget: QWidget, text: str, *, is_urgent: bool = False) -> None:
    """Let a screen reader say what happened away from where the person is.

    Args:
        widget: where it happened.
        text: what.
        is_urgent: it interrupts what is being said.
    """
    _announce(widget, said(text), is_urgent=is_urgent)


def say_beside(widget: QWidget, shown: str) -> None:
    """Let a screen reader say what came of what is done with a control: it is the control's description from now on.

    Orca 43 knows no announcements, but says another description of what has the focus. Elsewhere, and of another control, it is
    announced.

    Args:
        widget: the control.
        shown: what came of it, as it is shown.
    """
    widget.setAccessibleDescription(shown)
    if QGuiApplication.platformName() not in _AT_SPI or not widget.hasFocus():
        _announce(widget, shown)


def _announce(widget: QWidget, text: str, *, is_urgent: bool = False) -> None:
    if text and QAccessible.isActive():
        event = QAccessibleAnnouncementEvent(widget, text)
        politeness = QAccessible.AnnouncementPoliteness
        event.setPoliteness(politeness.Assertive if is_urgent else politeness.Polite)
        QAccessible.updateAccessibility(event)


def tell(widget: QWidget, event: QAccessible.Event) -> None:
    """Let a screen reader know of an event of a control where the toolkit does not, or too late.

    Args:
        widget: the control.
        event: what happens to it.
    """
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleEvent(widget, event))


def tell_place(_before: QWidget | None, now: QWidget | None) -> None:
    """Let a screen reader know where in a table or list the focus is: the toolkit names the whole last, after which no line is read.

    Args:
        now: what has the focus.
    """
    if isinstance(now, QTableView | QListView) and QAccessible.isActive():
        QTimer.singleShot(0, now, lambda: _tell_place(now))  # once the toolkit has told of the whole


def _tell_place(view: QTableView | QListView) -> None:
    here, event = view.currentIndex(), QAccessibleEvent(view, QAccessible.Event.Focus)
    if not here.isValid() or not view.hasFocus():
        return
    if isinstance(view, QTableView):
        event.setChild((here.row() + 1) * (here.model().columnCount() + 1) + here.column() + 1)  # headers count, too
    elif view.selectionModel().isSelected(here):
        return  # a chosen line is read with its list
    else:
        event.setChild(here.row())
    QAccessible.updateAccessibility(event)


def announce_notice(notice: QWidget, text: str, *, is_shown: bool, is_urgent: bool) -> None:
    """Let a screen reader say what a control of the role of a notification has come to say.

    Args:
        notice: the control, with its name.
        text: of the announcement.
        is_shown: it was hidden before, which the toolkit tells.
        is_urgent: it interrupts what is being said.
    """
    if not is_shown:  # readers that know no announcements, e.g. Orca 43, say a notification when it is shown
        tell(notice, QAccessible.Event.ObjectShow)
    announce(notice, text, is_urgent=is_urgent)


class Spoken(QAccessibleWidget):
    """A drawn control to a screen reader: its own role, and what it stands for in words."""

    def words(self) -> str:
        """Return what the control stands for now."""
        return ""

    def text(self, t: QAccessible.Text) -> str:
        return said(self.words()) if t is QAccessible.Text.Value else super().text(t)


class SpokenNumber(Spoken):
    """A control that stands for a number with a unit, not for a position."""

    def __init__(self, control: QWidget, role: QAccessible.Role) -> None:
        super().__init__(control, role)
        self._value = _Value(self)

    def number(self) -> float:
        """Return the number it stands for."""
        return 0.0

    def span(self) -> tuple[float, float]:
        """Return the smallest and the largest number."""
        return 0.0, 0.0

    def step(self) -> float:
        """Return the difference that is worth saying: a reader says as many decimals as it has."""
        decimals = _DECIMALS.search(self.words())
        return 10.0 ** -len(decimals[1] if decimals else "")

    def take(self, number: float) -> None:
        """Go to the nearest number, as one step."""

    def interface_cast(self, t: QAccessible.InterfaceType) -> object:  # type: ignore[override]  # the stub says int
        if t is QAccessible.InterfaceType.ValueInterface:
            return self._value
        found: object = super().interface_cast(t)
        return VoidPtr(0) if found is None else found  # to the binding None is an object, which Qt would call


class _Value(QAccessibleValueInterface):
    """The number of a control as the toolkit asks for it."""

    def __init__(self, spoken: SpokenNumber) -> None:
        super().__init__()
        self._spoken = ref(spoken)

    def currentValue(self) -> float:
        return 0.0 if (spoken := self._spoken()) is None else spoken.number()

    def minimumValue(self) -> float:
        return 0.0 if (spoken := self._spoken()) is None else spoken.span()[0]

    def maximumValue(self) -> float:
        return 0.0 if (spoken := self._spoken()) is None else spoken.span()[1]

    def minimumStepSize(self) -> float:
        return 0.0 if (spoken := self._spoken()) is None else spoken.step()

    def setCurrentValue(self, value: object) -> None:
        if isinstance(value, int | float) and (spoken := self._spoken()) is not None:
            spoken.take(value)


_SPOKEN: dict[type[QWidget], Callable[[Any], Spoken]] = {}
_KEPT: list[Spoken] = []


def speak_as(kind: type[QWidget], make: Callable[[Any], Spoken]) -> None:
    """Let screen readers know every control of a kind so.

    Args:
        kind: of the control.
        make: what speaks for one of them.
    """
    if not _SPOKEN:
        QAccessible.installFactory(_speak)
        if isinstance(application := QApplication.instance(), QApplication):
            application.focusChanged.connect(tell_place)
    _SPOKEN[kind] = make


def _speak(_kind: str, control: QObject) -> Spoken | None:
    make = next((_SPOKEN[kind] for kind in type(control).__mro__ if kind in _SPOKEN), None)
    if make is None:
        return None
    # Qt owns what is returned, until its widget goes, but the binding would delete it with its last reference.
    _KEPT[:] = [each for each in _KEPT if isValid(each)]
    _KEPT.append(make(control))
    return _KEPT[-1]
