"""What the first look around shows, in order."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtWidgets import QMenuBar, QWidget

from phexplore.gui.binding.areas import Area
from phexplore.gui.main.guided_tour import Stop
from phexplore.gui.main.header import HeaderBar
from phexplore.gui.main.navigation import Navigation


class TouredWindow(Protocol):
    """What the tour needs of the window."""

    navigation: Navigation

    @property
    def header(self) -> HeaderBar: ...
    @property
    def headline(self) -> QWidget: ...
    @property
    def pages(self) -> QWidget: ...
    def menuBar(self) -> QMenuBar: ...


def tour_stops(window: TouredWindow) -> list[Stop]:
    """Return the stops: what is decided, what it costs, how to change, ask, try and hand over."""
    go = window.navigation.choose
    header = window.header

    return [
        Stop(
            "What you are working on",
            "The scenario at the left is a proposal: one set of parameters. Everything is compared with the one beside it, at "
            "first with what production used in 2020. Nothing you change touches either file until you save or export.",
            lambda: go(Area.OVERVIEW),
            lambda: header.scenario,
        ),
        Stop(
            "What it costs, what it gives",
            "The privacy loss, the accuracy, what is published, and what the last simulated run saw, each with its change. "
            "They follow every edit at once.",
            lambda: go(Area.OVERVIEW),
            lambda: window.headline,
        ),
        Stop(
            "One question per place",
            "Overview shows the whole, Budgets and its neighbours change it, Runs and Results try it, History takes it back. "
            "Ctrl and a number goes there.",
            lambda: go(Area.OVERVIEW),
            lambda: window.navigation,
        ),
        Stop(
            "Change a number",
            "Double click or type into a cell: 1/3, 25 % and 2.2e-5 are read exactly. A margin sets its budget and the other "
            "way round. Ctrl+Z takes anything back, also tomorrow. Select a row, and the inspector explains its numbers.",
            lambda: go(Area.BUDGETS),
            lambda: window.pages,
        ),
        Stop(
            "Try it",
            "Run… simulates the whole release in the background, on the shipped population or on your data, and plots what "
            "errors came out beside what was predicted.",
            lambda: go(Area.RUNS),
            lambda: header.run,
        ),
        Stop(
            "Hand it over",
            "Export writes the files that production reads unchanged, tables, pictures and a report.",
            lambda: go(Area.OVERVIEW),
            lambda: header.export,
        ),
        Stop(
            "Find the rest",
            "Ctrl+Shift+P finds every command and every parameter by name, F1 opens the glossary. The tour is in the Help menu.",
            lambda: go(Area.OVERVIEW),
            window.menuBar,
        ),
    ]
