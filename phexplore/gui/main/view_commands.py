"""What the View menu does: areas, theme, numbers, size of text, panels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from phexplore.gui.binding.actions import Action
from phexplore.gui.binding.areas import AREAS, Area
from phexplore.gui.binding.settings import INSPECTOR, ISSUES, NUMBERS, TEXT_SIZE, THEME, Settings
from phexplore.gui.editors.issues_panel import IssuesPanel
from phexplore.gui.main.navigation import Navigation
from phexplore.gui.theme.appearance import LARGEST_SCALE, SMALLEST_SCALE, ThemeChoice, appearance
from phexplore.gui.theme.number_style import NumberStyle, number_style
from phexplore.gui.widgets.labels import rewrite_labels

_STYLES = {
    NumberStyle.SYSTEM: "As the system",
    NumberStyle.POINT: "Decimal point: 1,234.5",
    NumberStyle.COMMA: "Decimal comma: 1 234,5",
}
_SCALE_STEP = 25
_THEMES = {ThemeChoice.SYSTEM: "As the system", ThemeChoice.LIGHT: "Light", ThemeChoice.DARK: "Dark"}


class ViewedWindow(Protocol):
    """What the actions of the View menu need of the window."""

    settings: Settings
    navigation: Navigation
    issues: IssuesPanel

    def show_inspector(self, *, shown: bool) -> None: ...
    def show_issues(self, *, shown: bool) -> None: ...


class ViewCommands:
    """Builds the View menu of a window."""

    def __init__(self, window: ViewedWindow) -> None:
        self._window = window

    def table(self) -> list[Action]:
        """Return the actions in the order of the menu."""
        window = self._window
        settings = window.settings
        areas = [
            Action(
                f"view.{area.name.lower()}",
                area.value,
                self._goer(area),
                enabled=self._is_offered(area),
                checked=self._is_area(area),
                shown=self._is_offered(area),
            )
            for area in AREAS
        ]
        themes = [
            Action(
                f"view.theme-{choice.value}",
                title,
                self._themer(choice),
                checked=self._is_theme(choice),
                group="&Theme",
                starts_part=choice is ThemeChoice.SYSTEM,
            )
            for choice, title in _THEMES.items()
        ]
        styles = [
            Action(
                f"view.numbers-{style.value}",
                title,
                self._styler(style),
                checked=self._is_style(style),
                group="N&umbers",
            )
            for style, title in _STYLES.items()
        ]
        sizes = [
            Action(
                "view.larger",
                "&Larger text",
                lambda: self._scale(appearance().scale + _SCALE_STEP),
                "Ctrl++",
                enabled=lambda: appearance().scale < LARGEST_SCALE,
            ),
            Action(
                "view.smaller",
                "&Smaller text",
                lambda: self._scale(appearance().scale - _SCALE_STEP),
                "Ctrl+-",
                enabled=lambda: appearance().scale > SMALLEST_SCALE,
            ),
            Action("view.normal", "&Normal text", lambda: self._scale(SMALLEST_SCALE), "Ctrl+0"),
        ]
        panels = [
            Action(
                "view.inspector",
                "&Inspector",
                lambda: window.show_inspector(shown=not settings.read(INSPECTOR)),
                "F4",
                checked=lambda: settings.read(INSPECTOR),
                starts_part=True,
            ),
            Action(
                "view.issues",
                "Iss&ues",
                lambda: window.show_issues(shown=window.issues.isHidden()),
                "F8",
                checked=lambda: settings.read(ISSUES),
            ),
        ]
        return [*areas, *themes, *styles, *sizes, *panels]

    def _scale(self, percent: int) -> None:
        appearance().set_scale(percent)
        self._window.settings.keep(TEXT_SIZE, appearance().scale)

    def _is_area(self, area: Area) -> Callable[[], bool]:
        return lambda: self._window.navigation.area is area

    def _is_offered(self, area: Area) -> Callable[[], bool]:
        return lambda: self._window.navigation.is_offered(area)

    def _is_theme(self, choice: ThemeChoice) -> Callable[[], bool]:
        return lambda: appearance().choice is choice

    def _goer(self, area: Area) -> Callable[[], object]:
        return lambda: self._window.navigation.choose(area)

    def _is_style(self, style: NumberStyle) -> Callable[[], bool]:
        return lambda: number_style() is style

    def _styler(self, style: NumberStyle) -> Callable[[], object]:
        def choose() -> None:
            appearance().write_numbers(style)
            rewrite_labels()
            self._window.settings.keep(NUMBERS, style.value)

        return choose

    def _themer(self, choice: ThemeChoice) -> Callable[[], object]:
        def choose() -> None:
            appearance().choose(choice)
            self._window.settings.keep(THEME, choice.value)

        return choose
