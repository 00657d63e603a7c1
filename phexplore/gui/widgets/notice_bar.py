"""A sentence above the content that stays until it is closed or its cause is gone: refusals, recovered edits, failures."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QTimer
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QWidget

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import pixmap
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.buttons import SymbolButton, TextButton
from phexplore.gui.widgets.labels import Text, describe
from phexplore.gui.widgets.layout import row
from phexplore.gui.widgets.speech import Spoken, announce_notice, speak_as

_WIDEST = 90 * GRID
_INSET = 2
"""Above and below the words: one line fits into the bar at the foot, whichever frame a theme draws."""
_SYMBOLS = {"attention": "warning", "refused": "error", "card": "info"}


class NoticeBar(QFrame):
    """Hidden until there is something to say; shows one notice, the newest, at the foot of the window: nothing moves."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        speak_as(NoticeBar, lambda bar: Spoken(bar, QAccessible.Role.Notification))
        self._look = "card"
        self._action: Callable[[], object] | None = None
        self._cause: object = None
        self._place: QWidget | None = None
        self._bar: QWidget | None = None
        self._head: QWidget | None = None
        self._free: Callable[[], QRect] = QRect
        self._symbol = QLabel()
        self._text = Text(wrap=True)
        self._button = TextButton("", look="link", name="Act on the notice", run=self._act)
        self._close = SymbolButton("close", "Close the notice", run=self.hide)
        self._bar_of_steps = QProgressBar()
        self._bar_of_steps.setTextVisible(False)
        self._bar_of_steps.setFixedWidth(14 * GRID)
        self._bar_of_steps.hide()
        parts = (self._symbol, (self._text, 1), self._bar_of_steps, self._button, self._close)
        row(*parts, of=self, margins=(GRID + HALF, _INSET, HALF, _INSET))
        appearance().changed.connect(self._restyle)
        self.hide()

    @property
    def text(self) -> str:
        """What is being said, "" when nothing is."""
        return "" if self.isHidden() else self._text.text()

    @property
    def look(self) -> str:
        """How urgent what is being said is, "" when nothing is."""
        return "" if self.isHidden() else self._look

    def say(
        self,
        text: str,
        *,
        look: str = "card",
        action: str = "",
        run: Callable[[], object] | None = None,
        steps: tuple[int, int] | None = None,
        cause: object = None,
    ) -> None:
        """Show a notice.

        Args:
            text: sentence and remedy.
            look: "card" for information, "attention", or "refused".
            action: text of a button, "" for none.
            run: what it does.
            steps: the number of the step that is being done and how many there are, of work that goes on.
            cause: why it is said; whoever ends it drops the notice by it.
        """
        self._bar_of_steps.setVisible(steps is not None)
        if steps is not None:
            self._bar_of_steps.setRange(0, steps[1])
            self._bar_of_steps.setValue(steps[0] - 1)
            self._bar_of_steps.setAccessibleName(f"Step {steps[0]} of {steps[1]}")
        self._look, self._action, self._cause = look, run, cause
        self._text.setText(text)
        self._button.setText(action)
        describe(self._button, name=action or "Act on the notice")
        self._button.setVisible(bool(action))
        self.setProperty("look", look if look == "card" else f"notice-{look}")
        self.setAccessibleName(localised(text))
        self._restyle()
        was_hidden = self.isHidden()
        self.show()
        self._settle()
        announce_notice(self, f"{text} {action}".strip(), is_shown=was_hidden, is_urgent=look == "refused")

    def drop(self, *, look: str = "", action: str = "", cause: object = None) -> None:
        """Say no more what was said with a look, what offers an action, or what had a cause that is gone.

        Args:
            look: of the notice.
            action: words on its button.
            cause: it was said with.
        """
        is_over = self._look == look or (action and self._button.text() == action)
        if not self.isHidden() and (is_over or (cause is not None and self._cause is cause)):
            self.hide()

    def float_over(self, place: QWidget, bar: QWidget, free: Callable[[], QRect], head: QWidget) -> None:
        """Lie over the free part of a bar at the foot of a widget, else over what is above its pages: never over a page.

        Args:
            place: parent and room.
            bar: its other parts stay free.
            free: gives the part of the bar where nothing stands now.
            head: stands above the pages; what needs more room than the bar has ends with it.
        """
        self._place, self._bar, self._free, self._head = place, bar, free, head
        self.setParent(place)
        for watched in (place, bar, head):
            watched.installEventFilter(self)
        self.hide()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Keep the place in a window of another size, and where something else comes into the bar."""
        if event.type() in {QEvent.Type.Resize, QEvent.Type.LayoutRequest} and not self.isHidden():
            QTimer.singleShot(0, self, self._settle)  # once the bar is laid out
        return False

    def _settle(self) -> None:
        place, bar, head = self._place, self._bar, self._head
        if place is None or bar is None or head is None or self.isHidden():
            return
        free, widest = self._free(), min(_WIDEST * appearance().scale // 100, place.width() - 2 * GRID)
        widths = (min(widest, free.width()), free.width()) if 2 * free.width() >= widest else ()
        if any(self._take(width) <= free.height() for width in widths):  # a long one is wide before it leaves the foot
            self.move(bar.mapTo(place, free.center()) + QPoint(free.width() // 2 - self.width(), -(self.height() // 2)))
        else:
            foot = head.mapTo(place, QPoint(0, head.height())).y()
            self.move(place.width() - widest - GRID, max(foot - self._take(widest), 0))
        self.raise_()

    def _take(self, width: int) -> int:
        """Take a width and the height that needs; return the height."""
        self.setFixedWidth(width)
        height = self.heightForWidth(width) if self.hasHeightForWidth() else self.sizeHint().height()
        self.setFixedHeight(height)
        return height

    def _act(self) -> None:
        self.hide()
        if self._action is not None:
            self._action()

    def _restyle(self) -> None:
        role = {"attention": "attention", "refused": "refused"}.get(self._look, "accent_ink")
        self._symbol.setPixmap(pixmap(_SYMBOLS[self._look], getattr(appearance().colours, role), 2 * GRID + 2))
        self.style().unpolish(self)
        self.style().polish(self)
