"""The part of the tour of pictures that shows group sizes and releases under exact sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from phexplore.gui.binding.areas import Area
from phexplore.gui.main.window import MainWindow
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.model.workbook import add_scenario, compare_with
from phexplore.systems.registry import preset

PRESETS = {"group-sizes": "group-sizes-census-2010", "subspace": "counties-invariant-2010"}
EXPERIMENTS = {"group-sizes": "systems", "subspace": "figure-1"}
"""The experiment shown of each: both take seconds."""
_SETTLE_MS = 300
_POLL_MS = 100
_LONGEST_MS = 180_000


def mechanism_tour(
    window: MainWindow, themes: Sequence[ThemeChoice], save: Callable[[str], object], *, with_run: bool
) -> Iterator[int]:
    """Yield how long to wait before each next step.

    Args:
        window: driven as a user would.
        themes: to draw in.
        save: keeps a picture under a name.
        with_run: simulate, and run an experiment, first.
    """
    for system, chosen in PRESETS.items():
        found = preset(chosen).scenario
        window.session.edit_workbook(f"Add {found.name}", partial(add_scenario, scenario=found))
        window.session.edit_workbook("Compare", partial(compare_with, name=chosen))
        if with_run:
            yield from _run(window)
            yield from _experiment(window, system)
        for theme in themes:
            appearance().choose(theme)
            for area in (*window.room.makers(), Area.RUNS, Area.RESULTS):
                window.navigation.choose(area)
                yield 2 * _SETTLE_MS
                if area is Area.RESULTS and with_run:
                    yield from _results(window, system)
                save(f"{system}-{area.name.lower()}-{theme.value}")


def _run(window: MainWindow) -> Iterator[int]:
    window.navigation.choose(Area.RUNS)
    yield _SETTLE_MS
    window.areas.runs.page.start_run()
    waited = 0
    while waited < _LONGEST_MS and not (
        window.areas.runs.controller.rows and window.areas.runs.controller.rows[0].state.is_final
    ):
        yield _POLL_MS
        waited += _POLL_MS


def _experiment(window: MainWindow, system: str) -> Iterator[int]:
    window.navigation.choose(Area.EXPERIMENT)
    yield _SETTLE_MS
    page: Any = window.pages.currentWidget()
    page.choose(EXPERIMENTS[system])
    page.run()
    waited = 0
    while waited < _LONGEST_MS and (page.process.is_busy or not page.pictures):
        yield _POLL_MS
        waited += _POLL_MS


def _results(window: MainWindow, system: str) -> Iterator[int]:
    page = window.areas.runs.results[system]
    page.tabs.show_tab("truth")
    waited = 0
    while waited < _LONGEST_MS and (page.answer is None or page.answer.request.tab != "truth"):
        yield _POLL_MS
        waited += _POLL_MS
    yield _SETTLE_MS
