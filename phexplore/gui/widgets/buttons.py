"""Buttons and choosers with the program's symbols, redrawn when the theme changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, QSignalBlocker, QSize, Qt, SignalInstance
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPaintEvent, QPalette, QShowEvent, QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStyleOptionComboBox,
    QStylePainter,
    QToolButton,
    QToolTip,
    QWidget,
)

from phexplore.gui.theme.appearance import appearance
from phexplore.gui.theme.icons import icon
from phexplore.gui.theme.lettering import elided
from phexplore.gui.theme.metrics import GRID, HALF, LEAST_TARGET
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.labels import describe

Run = Callable[..., object] | SignalInstance | None
_LETTERS = 18
"""That a chooser, or a line of a box to tick, shows at least."""
_HIGHEST = 10_000
_MNEMONIC = int(Qt.TextFlag.TextShowMnemonic)
_BROKEN = _MNEMONIC | int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_ONCE = {"run", "plus"}
"""What a button does whose second click of a double click does nothing: another run would start, a rule stand twice."""
_DIRECTLY = Qt.FindChildOption.FindDirectChildrenOnly


def spoken_name(text: str, name: str) -> str:
    """Return the name of a button for people who do not see it; the words on it are in it, for those who speak to the program.

    Args:
        text: on the button.
        name: says more, "" when the text says all.
    """
    words = text.replace("&", "").removesuffix("…")
    if not name:
        return words
    return name if words.lower() in name.lower() else f"{words}: {name}"


class SymbolButton(QToolButton):
    """A flat button with a symbol, and text beside it if asked."""

    def __init__(
        self, symbol: str, name: str, *, text: str = "", tip: str = "", bordered: bool = False, checkable: bool = False,
        run: Run = None,
    ) -> None:  # fmt: skip
        """Make the button.

        Args:
            symbol: name of its picture.
            name: for people who do not see the picture.
            text: shown beside the symbol.
            tip: shown when the pointer rests on it, the name if "".
            bordered: with a border.
            checkable: stays pressed.
            run: what a click does.
        """
        super().__init__()
        self._symbol, self._role = symbol, ""
        self._drawn: object = None
        describe(self, name=spoken_name(text, name), tip=tip or name)
        self.setCheckable(checkable)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setIconSize(QSize(2 * GRID + 2, 2 * GRID + 2))
        if text:
            self.setText(text)
            self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        if bordered:
            self.setProperty("look", "bordered")
        if run is not None:
            self.clicked.connect(run)
        appearance().changed.connect(self._restyle)
        self._restyle()

    def set_symbol(self, symbol: str, *, role: str = "") -> None:
        """Show another picture, in the colour of a role of the theme if one is named."""
        if (symbol, role) != (self._symbol, self._role):
            self._symbol, self._role = symbol, role
            self._restyle()

    def _restyle(self) -> None:
        role = self._role or ("accent_ink" if self.isChecked() else "text")
        wanted = (self._symbol, appearance().colours, role)
        if wanted != self._drawn:  # a new icon asks the window for a new layout
            self._drawn = wanted
            self.setIcon(icon(self._symbol, appearance().colours, role=role))

    def checkStateSet(self) -> None:
        super().checkStateSet()
        self._restyle()

    def nextCheckState(self) -> None:
        super().nextCheckState()
        self._restyle()


class TextButton(QPushButton):
    """A button with words.

    The look is "primary" for the one thing to do next, "link" for text that leads elsewhere, else plain.
    """

    def __init__(
        self, text: str, *, look: str = "", name: str = "", symbol: str = "", tip: str = "", run: Run = None
    ) -> None:
        """Make the button.

        Args:
            text: on it.
            look: as above.
            name: for people who do not see it, where it says more than the text.
            symbol: name of a picture beside the text.
            tip: shown when the pointer rests on it.
            run: what a click does.
        """
        super().__init__(localised(text))
        if run is not None:
            self.clicked.connect(run)
        self._symbol, self._look = symbol, look
        describe(self, name=spoken_name(text, name), tip=tip or None)
        self.setAutoDefault(False)
        if look:
            self.setProperty("look", look)
        if look == "link":
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        if symbol:
            appearance().changed.connect(self._restyle)
            self._restyle()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the button that has the focus with Enter, too; a dialog would press its main one instead."""
        if event.key() not in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            super().keyPressEvent(event)
        elif not event.isAutoRepeat():
            self.click()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Start work, or add what is entered, once, also for somebody who double clicks everything."""
        if self._symbol not in _ONCE:
            super().mouseDoubleClickEvent(event)

    def _restyle(self) -> None:
        role = "accent_text" if self._look == "primary" else "text"
        self.setIcon(icon(self._symbol, appearance().colours, role=role))


def take_turns(first: QWidget, second: QWidget, *, is_first: bool) -> None:
    """Enable one of two buttons and disable the other, which gives it the focus: keys must not reach what is next on the page.

    Args:
        first: starts something.
        second: ends it.
        is_first: whether the first can be pressed now.
    """
    now, before = (first, second) if is_first else (second, first)
    now.setEnabled(True)
    if before.hasFocus():
        now.setFocus()
    before.setEnabled(False)


TICK_SIDE = 16
"""Of a box to tick at normal text size, with its border."""


def tick_side() -> int:
    """Return the side of a box to tick: as high as its text, which grows."""
    return min(TICK_SIDE * appearance().scale // 100, 28)


class TickBox(QCheckBox):
    """A box to tick whose words break into lines where there is no room."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True

    def sizeHint(self) -> QSize:
        side = tick_side()
        return (super().sizeHint() + QSize(side - TICK_SIDE, 0)).expandedTo(
            QSize(LEAST_TARGET, max(side, LEAST_TARGET))
        )

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, width - self._box(), _HIGHEST)
        lines = self.fontMetrics().boundingRect(room, _BROKEN, self.text()).height()
        return self.sizeHint().height() - self.fontMetrics().height() + max(lines, self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        least = _LETTERS * self.fontMetrics().averageCharWidth() + self._box()
        return super().minimumSizeHint().boundedTo(QSize(least, _HIGHEST))

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def paintEvent(self, _event: QPaintEvent) -> None:
        option, painter = QStyleOptionButton(), QStylePainter(self)
        self.initStyleOption(option)
        text, side = option.text, tick_side()
        left = 0 if text else (self.width() - side) // 2
        option.rect = QRect(left, (self.height() - side) // 2, side, side)
        painter.drawPrimitive(QStyle.PrimitiveElement.PE_IndicatorCheckBox, option)
        room, role = self.rect().adjusted(self._box(), 0, 0, 0), QPalette.ColorRole.WindowText
        self.style().drawItemText(painter, room, _BROKEN, self.palette(), self.isEnabled(), text, role)
        if self.hasFocus():  # a box with a tick looks the same with another border
            painter.setPen(QColor(appearance().colours.accent_ink))
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), HALF, HALF)

    def _box(self) -> int:
        """Return the width of the box and the gap behind it."""
        return self.sizeHint().width() - self.fontMetrics().size(_MNEMONIC, self.text()).width()


class Chooser(QComboBox):
    """A choice of a few; the wheel scrolls the page and never changes the choice by accident."""

    def __init__(
        self,
        name: str,
        *,
        tip: str = "",
        letters: int = 0,
        grows: bool = False,
        parent: QWidget | None = None,
        options: Iterable[tuple[str, object]] = (),
        run: Run = None,
    ) -> None:
        """Make the chooser.

        Args:
            name: for people who do not see its label.
            tip: shown when the pointer rests on it.
            letters: width in letters; 0 = as wide as the widest entry.
            grows: wants to be wider where the chosen entry is longer.
            parent: owner.
            options: words and value of each entry.
            run: what another choice does.
        """
        super().__init__(parent)
        self._written: tuple[list[str], Sequence[str]] = [], ()
        self._grows = grows
        describe(self, name=name, tip=tip)
        self.offer(options)
        if grows:
            self.currentIndexChanged.connect(self._fit)
        if run is not None:
            self.currentIndexChanged.connect(run)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        policies = QComboBox.SizeAdjustPolicy
        self.setSizeAdjustPolicy(
            policies.AdjustToMinimumContentsLengthWithIcon if letters else policies.AdjustToContents
        )
        self.setMinimumContentsLength(letters)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def sizeHint(self) -> QSize:
        """Return the width of the letters, or of the chosen entry where that is longer and the chooser grows; else of all."""
        hint = super().sizeHint()
        if not self.minimumContentsLength():  # Qt counts a pixel too few for large text
            return hint + QSize(HALF, 0)
        if not self._grows:
            return hint
        frame = hint.width() - self.minimumContentsLength() * self.fontMetrics().horizontalAdvance("X")
        return hint.expandedTo(QSize(frame + self.fontMetrics().horizontalAdvance(self.currentText()) + HALF, 0))

    def minimumSizeHint(self) -> QSize:
        """Return a width that a narrow page has: a longer entry ends in …, and its list shows all of it."""
        least = _LETTERS * self.fontMetrics().averageCharWidth() + 8 * GRID
        return super().minimumSizeHint().boundedTo(QSize(least, 2 * self.sizeHint().height()))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the entry, and … where it is longer than its place: Qt cuts it within a letter."""
        option, painter = QStyleOptionComboBox(), QStylePainter(self)
        self.initStyleOption(option)
        of, parts = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl
        room = self.style().subControlRect(of, option, parts.SC_ComboBoxEditField, self).width()
        option.currentText = elided(self.fontMetrics(), option.currentText, room)
        painter.drawComplexControl(of, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def event(self, event: QEvent) -> bool:
        """Show the whole entry with the tool tip."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            said = (self.currentText(), self.toolTip())
            QToolTip.showText(event.globalPos(), "\n".join(filter(None, said)), self)
            return True
        return super().event(event)

    def showPopup(self) -> None:
        """Show the list as wide as its entries, where the chooser is narrower."""
        bar = self.view().verticalScrollBar().sizeHint().width()
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + bar)
        super().showPopup()

    def showEvent(self, event: QShowEvent) -> None:
        """Give the chooser a label: on Linux, Qt names a chooser by its entry, and only a label beside it says what it is."""
        super().showEvent(event)
        parent = self.parentWidget()
        if parent is not None and not any(
            label.buddy() is self for label in parent.findChildren(QLabel, options=_DIRECTLY)
        ):
            label = QLabel(self.accessibleName(), parent)
            label.setBuddy(self)
            label.hide()

    @property
    def values(self) -> list[object]:
        """What can be chosen."""
        return [self.itemData(n) for n in range(self.count())]

    def offer(self, options: Iterable[tuple[str, object]], *, first: object = None, tips: Sequence[str] = ()) -> None:
        """Offer other entries without telling anybody; the choice stays where it is still offered.

        Args:
            options: words and value of each entry.
            first: the value to choose where the present one is gone; the first entry where it is not offered.
            tips: shown when the pointer rests on an entry, one each.
        """
        offered = list(options)
        written, values = ([words for words, _ in offered], tips), [value for _, value in offered]
        is_same = values == self.values
        if is_same and written == self._written:
            return
        chosen = self.currentData()
        with QSignalBlocker(self):
            if not is_same:
                self.clear()
                for words, value in offered:
                    self.addItem(localised(words), value)
                wanted = next((each for each in (chosen, first) if each in values), values[0] if values else None)
                self.setCurrentIndex(values.index(wanted) if values else -1)
            self._written = written
            self.rewrite()
        self._fit()

    def rewrite(self) -> None:
        """Show the same entries again, after another style of numbers or names was chosen."""
        texts, tips = self._written
        with QSignalBlocker(self):
            for place, words in enumerate(map(localised, texts)):
                if self.itemText(place) != words:
                    self.setItemText(place, words)  # in place, so that an open list stays open
            for place, tip in enumerate(map(localised, tips)):
                if self.itemData(place, Qt.ItemDataRole.ToolTipRole) != tip:
                    self.setItemData(place, tip, Qt.ItemDataRole.ToolTipRole)

    def select(self, value: object) -> None:
        """Show the entry with this data, without telling anybody."""
        with QSignalBlocker(self):
            self.setCurrentIndex(next((n for n in range(self.count()) if self.itemData(n) == value), -1))
        self._fit()

    def _fit(self, _place: int = 0) -> None:
        if self._grows:
            self.updateGeometry()
