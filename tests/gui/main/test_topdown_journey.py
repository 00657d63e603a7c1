"""One real TopDown run from the window: form, worker, trials arriving, pictures, headline, and post-processing again."""

from __future__ import annotations

import pytest

from phexplore.gui.binding.areas import Area
from phexplore.gui.main.project_files import project_of
from phexplore.gui.main.window import MainWindow
from phexplore.gui.run_manager.last_run import EDITED
from phexplore.model.edits import set_item
from phexplore.runs.states import RunState
from phexplore.runs.store import verify_run
from phexplore.systems.registry import preset
from phexplore.systems.topdown.system import TOPDOWN

PATIENCE_MS = 180_000


@pytest.fixture
def window(qtbot, settings, tmp_path):
    found = MainWindow(project_of(preset("pl94-2020-persons-us")), settings, tmp_path / "runs")
    qtbot.addWidget(found, before_close_func=lambda w: setattr(w, "_leaves_without_asking", True))
    found.resize(1280, 800)
    found.show()
    qtbot.waitExposed(found)
    return found


def run_to_the_end(qtbot, window, fields, runs):
    """Start a run with these fields and wait until there are so many runs and all have ended."""
    window.navigation.choose(Area.RUNS)
    controller = window.areas.runs.controller
    window.pages.currentWidget().forms["topdown"].fill(**fields)
    window.areas.runs.page.start_run()
    qtbot.waitUntil(lambda: len(controller.rows) == runs, timeout=PATIENCE_MS)
    qtbot.waitUntil(
        lambda: all(row.state.is_final for row in controller.rows) and not controller.is_busy, timeout=PATIENCE_MS
    )
    return controller.rows[0]


def test_that_a_topdown_run_started_in_the_window_ends_in_pictures(qtbot, window):
    window.navigation.choose(Area.RESULTS)
    results = window.areas.runs.results["topdown"]
    grown = []
    results.read.connect(lambda answer: grown.append(answer.trials))
    window.navigation.choose(Area.RUNS)
    controller = window.areas.runs.controller
    window.pages.currentWidget().forms["topdown"].fill(trials=3, seed=5, keep_measurements=True, workers=1)
    window.areas.runs.page.start_run()
    qtbot.waitUntil(lambda: bool(controller.rows), timeout=PATIENCE_MS)
    window.navigation.choose(Area.RESULTS)  # looks on while trials arrive
    qtbot.waitUntil(lambda: controller.rows[0].state.is_final and not controller.is_busy, timeout=PATIENCE_MS)
    first = controller.rows[0]
    assert (first.state, first.trials, first.problem) == (RunState.COMPLETE, 3, "")
    assert verify_run(first.directory) == ()
    qtbot.waitUntil(lambda: bool(grown) and grown[-1] == 3, timeout=PATIENCE_MS)
    assert grown == sorted(grown)

    for tab in [each.id for each in TOPDOWN.results.tabs]:
        results.tabs.show_tab(tab)
        if tab not in {"map", "compare"}:  # they need a file of shapes, and another run
            qtbot.waitUntil(lambda tab=tab: not results.charts[tab].is_empty, timeout=PATIENCE_MS)
    assert "all rounded at once" in results.sentence.text()
    window.navigation.choose(Area.OVERVIEW)  # elsewhere the headline is one line
    last = window.headline.tiles[3]
    qtbot.waitUntil(
        lambda: last.accessibleName().startswith("Last run (synthetic): within 5 points"), timeout=PATIENCE_MS
    )

    window.session.edit("Drop constraints", lambda s: set_item(s, "constraints", "Block", ()))
    qtbot.waitUntil(lambda: EDITED in last.accessibleName())
    again = run_to_the_end(qtbot, window, {"measurements": str(first.directory), "trials": 3}, runs=2)
    assert (again.state, again.trials, again.problem) == (RunState.COMPLETE, 3, "")
    assert again.spec.options.measured_identity == first.spec.identity
    window.navigation.choose(Area.OVERVIEW)
    qtbot.waitUntil(
        lambda: EDITED not in last.accessibleName() and "Last run (synthetic): " in last.accessibleName(),
        timeout=PATIENCE_MS,
    )

    window.navigation.choose(Area.RESULTS)
    results.show_run(again.directory)
    results.tabs.show_tab("compare")
    qtbot.waitUntil(lambda: not results.charts["compare"].is_empty, timeout=PATIENCE_MS)
    assert results.choosers.fields["others"].chosen == (str(first.directory),)
    rows = [row for row in results.charts["compare"].numbers.rows if row[0] == "State"]
    assert [row[2] for row in rows] == [0, 0]  # published exactly by both
