"""One real run, from the form to the pictures: real worker, real reader, real files."""

from __future__ import annotations

import pytest

from phexplore.document.project import Project
from phexplore.gui.binding.session import Session
from phexplore.gui.run_manager.report_process import FORMATS
from phexplore.gui.run_manager.results_page import ResultsPage
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.gui.run_manager.runs_page import RunsPage
from phexplore.model.workbook import Workbook
from phexplore.runs.states import RunState
from phexplore.runs.store import verify_run
from phexplore.systems.phsafe.system import PHSAFE

PATIENCE_MS = 600_000


@pytest.fixture
def controller(qapp, tmp_path):
    found = RunController(tmp_path / "runs")
    found.failures = []
    found.failed.connect(found.failures.append)
    yield found
    found.shut_down()


def test_that_a_run_started_in_the_window_ends_in_pictures_and_files(controller, puerto_rico, qtbot, tmp_path):
    session = Session(Project.new(Workbook((puerto_rico,), puerto_rico.name)))
    runs, results = RunsPage(controller, session), ResultsPage(controller, PHSAFE)
    for page in (runs, results):
        qtbot.addWidget(page)
        page.show()
    grown = []
    results.read.connect(lambda answer: grown.append(answer.trials))
    runs.forms["phsafe"].fill(data="demo-pr", trials=3, seed=5)
    runs.start_run()
    qtbot.waitUntil(lambda: bool(controller.rows) or bool(controller.failures), timeout=PATIENCE_MS)
    assert controller.failures == []
    qtbot.waitUntil(lambda: controller.rows[0].state.is_final and not controller.is_busy, timeout=PATIENCE_MS)
    row = controller.rows[0]
    assert (row.state, row.trials, row.problem) == (RunState.COMPLETE, 3, "")
    assert verify_run(row.directory) == ()

    qtbot.waitUntil(lambda: results.answer is not None and results.answer.trials == 3, timeout=PATIENCE_MS)
    assert grown == sorted(grown)
    assert 80 < float(results.answer.tiles[0].value.split()[0]) < 100
    results.choose({"table": "PH3", "level": "state_A-G"})
    for tab in [each.id for each in PHSAFE.results.tabs]:
        results.tabs.show_tab(tab)
        qtbot.waitUntil(lambda tab=tab: not results.charts[tab].is_empty, timeout=PATIENCE_MS)

    html = next(form for form in FORMATS if form.id == "html")
    with qtbot.waitSignal(results.written, timeout=PATIENCE_MS):
        results.export.write(html, tmp_path / "report.html")
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    results.stop()
