"""Theme and text size of the running program, changed at run time."""

from __future__ import annotations

import enum
import importlib.util
from pathlib import Path
from string import Template

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetrics, QPalette
from PySide6.QtWidgets import QApplication, QLayout
from shiboken6 import isValid

from phexplore.catalog.names import Naming, choose_naming, chosen_naming
from phexplore.gui.theme.colours import DARK, LIGHT, Colours
from phexplore.gui.theme.depth import Depth
from phexplore.gui.theme.number_style import NumberStyle, choose_style, has_decimal_comma
from phexplore.gui.theme.plain_words import speak_plainly
from phexplore.resources import resource

BASE_POINT_SIZE = 9.0
"""Size of normal text at 100 %."""
SMALLEST_SCALE, LARGEST_SCALE = 100, 200
"""Limits of the text size, in percent."""

_ROLES = {
    QPalette.ColorRole.Window: "window",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "base",
    QPalette.ColorRole.AlternateBase: "alternate",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.PlaceholderText: "muted",
    QPalette.ColorRole.Button: "raised",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "accent_text",
    QPalette.ColorRole.ToolTipBase: "raised",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.Highlight: "accent",
    QPalette.ColorRole.HighlightedText: "accent_text",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Link: "accent_ink",
    QPalette.ColorRole.LinkVisited: "accent_ink",
    QPalette.ColorRole.Light: "raised",
    QPalette.ColorRole.Midlight: "hover",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border",
    QPalette.ColorRole.Shadow: "border",
}


class ThemeChoice(enum.Enum):
    """What the user asked for. The value is the word in the settings."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Appearance(QObject):
    """The look of the whole program: one per application, found with `appearance()`.

    Signals:
        changed: the new `Colours`; theme, text size, names or depth changed and everything should be drawn again.

    Attributes:
        colours: in use.
        choice: what the user asked for.
        scale: text size in percent.
        depth: how much is shown.
    """

    changed = Signal(object)

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        self.setObjectName("appearance")
        self._application = application
        self.choice = ThemeChoice.SYSTEM
        self.scale = SMALLEST_SCALE
        self.depth = Depth.EXPERT
        self.colours = LIGHT
        self._applied: tuple[Colours, int] | None = None
        application.setStyle("Fusion")
        # Else another font reaches no widget of a style sheet, unless each is styled anew: seconds where there are thousands.
        application.setAttribute(Qt.ApplicationAttribute.AA_UseStyleSheetPropagationInWidgetStyles)
        _ensure_font(application)
        application.styleHints().colorSchemeChanged.connect(self._follow_system)
        self._apply()

    def choose(self, choice: ThemeChoice) -> None:
        """Use a theme, or follow the system."""
        self.choice = choice
        self._apply()

    def set_scale(self, percent: int) -> None:
        """Set the text size, kept within 100-200 %."""
        self.scale = min(LARGEST_SCALE, max(SMALLEST_SCALE, percent))
        self._apply()

    def write_numbers(self, style: NumberStyle) -> None:
        """Write numbers on the screen in another style."""
        had_comma = has_decimal_comma()
        choose_style(style)
        if has_decimal_comma() != had_comma:
            self.changed.emit(self.colours)

    def show_depth(self, depth: Depth) -> None:
        """Show what a committee asks, or everything."""
        if depth is not self.depth:
            self.depth = depth
            speak_plainly(depth is Depth.COMMITTEE)
            self.changed.emit(self.colours)

    @property
    def is_expert(self) -> bool:
        """Whether everything is shown."""
        return self.depth is Depth.EXPERT

    def call_things(self, naming: Naming) -> None:
        """Call tables, groups and places by their names, by production's codes, or by both."""
        if naming is not chosen_naming():
            choose_naming(naming)
            self.changed.emit(self.colours)

    def font(self, *, relative: float = 1.0, bold: bool = False) -> QFont:
        """Return the font of the program, with figures of equal width.

        Args:
            relative: size as a multiple of normal text.
            bold: bold face.
        """
        font = QFont(self._application.font())
        font.setPointSizeF(BASE_POINT_SIZE * self.scale / 100 * relative)
        font.setBold(bold)
        return font

    def _follow_system(self) -> None:
        if self.choice is ThemeChoice.SYSTEM:
            self._apply()

    def _apply(self) -> None:
        wanted = (self._wanted(), self.scale)
        before, self._applied = self._applied, wanted
        if wanted == before:
            return
        self.colours = wanted[0]
        font = QFont(self._application.font())
        font.setPointSizeF(BASE_POINT_SIZE * self.scale / 100)
        font.setFeature(QFont.Tag("tnum"), 1)
        self._application.setFont(font)
        QApplication.sendPostedEvents(None, QEvent.Type.ApplicationFontChange)  # who is told measures text
        if before is None or before[0] is not self.colours:
            self._application.setPalette(qt_palette(self.colours))
            self._application.setStyleSheet(stylesheet(self.colours))
        self.changed.emit(self.colours)
        for window in self._application.topLevelWidgets():
            for layout in window.findChildren(QLayout):
                layout.update()  # some keep the sizes their parts had in the text before

    def _wanted(self) -> Colours:
        match self.choice:
            case ThemeChoice.LIGHT:
                return LIGHT
            case ThemeChoice.DARK:
                return DARK
            case ThemeChoice.SYSTEM:
                system = self._application.styleHints().colorScheme()
                return DARK if system == Qt.ColorScheme.Dark else LIGHT


def appearance() -> Appearance:
    """Return the look of the running application, made on first use.

    Raises:
        TypeError: there is no QApplication yet.
    """
    if _FOUND and isValid(_FOUND[0]):
        return _FOUND[0]
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        raise TypeError("the appearance needs a QApplication")
    found = application.findChild(Appearance, "appearance")
    _FOUND[:] = [found if isinstance(found, Appearance) else Appearance(application)]
    return _FOUND[0]


_FOUND: list[Appearance] = []
"""The one of the running application: drawing asks for it a thousand times a second."""


def qt_palette(colours: Colours) -> QPalette:
    """Return the palette of a theme; disabled text is muted."""
    palette = QPalette()
    for role, name in _ROLES.items():
        palette.setColor(role, QColor(getattr(colours, name)))
    disabled = QPalette.ColorGroup.Disabled
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
        palette.setColor(disabled, role, QColor(colours.muted))
    palette.setColor(disabled, QPalette.ColorRole.Highlight, QColor(colours.border))
    palette.setColor(disabled, QPalette.ColorRole.HighlightedText, QColor(colours.text))
    return palette


def stylesheet(colours: Colours) -> str:
    """Return the style sheet of a theme: colours and pictures in the places of ``theme/window.qss`` that name them."""
    pictures = {
        "arrow": f"arrow-{colours.name}",
        "up": f"arrow-up-{colours.name}",
        "tick": "tick",
        "dash": "dash",
    }
    paths = {name: resource(f"icons/{file}.svg").as_posix() for name, file in pictures.items()}
    named = {name: getattr(colours, name) for name in colours.__slots__}
    rules = resource("theme/window.qss").read_text(encoding="utf-8")
    return Template(rules).substitute(named, **paths, accent_hover="#2a7cc1")


def _ensure_font(application: QApplication) -> None:
    """Load the DejaVu that comes with matplotlib when the system has no font at all: text would be empty boxes."""
    if QFontMetrics(application.font()).inFontUcs4(ord("A")):
        return
    found = importlib.util.find_spec("matplotlib")
    if found is None or found.origin is None:
        return
    path = Path(found.origin).parent / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf"
    families = QFontDatabase.applicationFontFamilies(QFontDatabase.addApplicationFont(str(path)))
    if families:
        application.setFont(QFont(families[0]))
