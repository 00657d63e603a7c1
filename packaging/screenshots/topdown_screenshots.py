"""Pictures of TopDown's results: two runs that share their random numbers, every picture of the page, light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from phexplore.gui.binding.areas import Area
from phexplore.gui.main.window import MainWindow
from phexplore.gui.run_manager.results_page import ResultsPage
from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.gui.theme.appearance import ThemeChoice, appearance
from phexplore.runs.spec import DEMONSTRATION
from phexplore.systems.run_results import Choice
from phexplore.systems.topdown.edits import set_level_share
from phexplore.systems.topdown.system import TOPDOWN

_TRIALS = 4
_POLL_MS, _SETTLE_MS = 100, 400
_LONGEST_RUN_MS, _LONGEST_READ_MS = 900_000, 120_000


@dataclass(frozen=True, slots=True)
class BlockFiles:
    """What the pictures of TopDown are made from.

    Attributes:
        blocks: block data, or "demo".
        shapes: of its blocks for the map, "" for none.
    """

    blocks: str = DEMONSTRATION
    shapes: str = ""


def topdown_results_tour(
    window: MainWindow, files: BlockFiles, themes: Sequence[ThemeChoice], save: Callable[[str], None]
) -> Iterator[int]:
    """Run the active scenario, and again with more budget for the counties, with one seed; then look at every picture.

    Args:
        window: with a TopDown scenario.
        files: data of the runs.
        themes: to draw in.
        save: takes the name of a picture that is on screen.

    Yields:
        Milliseconds to wait before the next step.
    """
    yield from _run(window, files, runs=1)
    window.session.edit("Set County to 30 %", lambda s: set_level_share(s, "County", Fraction(3, 10)))
    yield from _run(window, files, runs=2)
    window.session.undo()
    window.navigation.choose(Area.RESULTS)
    yield _SETTLE_MS
    page = window.areas.runs.results["topdown"]
    finished = [row.directory for row in _ended(window) if row.trials]
    if len(finished) < 2:
        return
    newest, proposal = finished[:2]
    page.show_run(proposal)
    for theme in themes:
        appearance().choose(theme)
        for tab in TOPDOWN.results.tabs if TOPDOWN.results is not None else ():
            if tab.id == "map" and not files.shapes:
                continue
            yield from _look(page, tab.id, {"level": "Block_Group", "others": (str(newest),), "shapes": files.shapes})
            save(f"topdown-results-{tab.id}-{theme.value}")


def _run(window: MainWindow, files: BlockFiles, *, runs: int) -> Iterator[int]:
    """Start a run from the form and wait until so many TopDown runs have ended."""
    from phexplore.gui.run_manager.runs_page import RunsPage

    window.navigation.choose(Area.RUNS)
    yield _SETTLE_MS
    page = window.pages.currentWidget()
    if not isinstance(page, RunsPage):
        return
    page.forms["topdown"].fill(data=files.blocks, trials=_TRIALS, seed=1, keep_measurements=True)
    page.start_run()
    waited = 0
    while waited < _LONGEST_RUN_MS and len(_ended(window)) < runs:
        yield _POLL_MS
        waited += _POLL_MS
    yield _SETTLE_MS


def _ended(window: MainWindow) -> list[RunRow]:
    """Return the TopDown runs that have ended, newest first."""
    return [
        row
        for row in window.areas.runs.controller.rows
        if row.spec is not None and row.spec.options is not None and row.state.is_final
    ]


def _look(page: ResultsPage, tab: str, choices: Mapping[str, Choice]) -> Iterator[int]:
    """Show a picture and wait until it has every trial."""
    page.tabs.show_tab(tab)
    page.choose(choices)
    waited = 0
    while waited < _LONGEST_READ_MS:
        yield _POLL_MS
        waited += _POLL_MS
        answer = page.answer
        if answer is not None and answer.request.tab == tab and not answer.waiting and not page.reader.is_busy:
            break
    yield _SETTLE_MS
