from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QStandardPaths

from phexplore.gui.run_manager import report_process
from phexplore.gui.run_manager.report_process import FORMATS, ExportButton, ReportProcess
from phexplore.runs.store import load_spec


@pytest.fixture
def report(qapp, monkeypatch, tmp_path):
    found = ReportProcess()
    found.written_to, found.failures = [], []
    found.written.connect(found.written_to.append)
    found.failed.connect(found.failures.append)

    def pretend(code, *, arguments=False):
        command = lambda *given: [sys.executable, "-c", code, *(given if arguments else ())]
        monkeypatch.setattr("phexplore.gui.run_manager.report_process.program_command", command)

    found.pretend = pretend
    yield found
    found.shut_down()


def test_that_the_command_line_writes_the_report(report, qtbot, tmp_path):
    html = next(form for form in FORMATS if form.id == "html")
    report.pretend(f"import sys; open({str(tmp_path / 'said')!r}, 'w').write(' '.join(sys.argv[1:]))", arguments=True)
    report.write(Path("/runs/a"), html, Path("/out/a.html"), {"level": "Block", "others": ("/b", "/c")})
    qtbot.waitUntil(lambda: bool(report.written_to))
    chosen = "--choose level=Block --choose others=/b --choose others=/c --names codes"
    assert (tmp_path / "said").read_text() == f"report /runs/a --format html --out /out/a.html {chosen}"


def test_that_a_written_report_is_told_once_with_its_place(report, qtbot, tmp_path):
    report.pretend("pass")
    busy = []
    report.busy_changed.connect(busy.append)
    report.write(tmp_path, FORMATS[0], tmp_path / "out")
    qtbot.waitUntil(lambda: report.written_to == [tmp_path / "out"])
    assert busy == [True, False]
    assert report.failures == []


def test_that_a_failure_gives_the_sentence_and_the_remedy_of_the_command_line(report, qtbot, tmp_path):
    report.pretend("import sys; print('No run here.\\nChoose another.', file=sys.stderr); sys.exit(1)")
    report.write(tmp_path, FORMATS[0], tmp_path / "out")
    qtbot.waitUntil(lambda: bool(report.failures))
    assert (report.failures[0].sentence, report.failures[0].remedy) == ("No run here.", "Choose another.")


def test_that_one_report_is_written_at_a_time_and_a_closing_window_ends_it(report, qtbot, tmp_path):
    report.pretend("import time; time.sleep(60)")
    report.write(tmp_path, FORMATS[0], tmp_path / "out")
    report.write(tmp_path, FORMATS[0], tmp_path / "out")
    assert "under way already" in report.failures[0].sentence
    report.shut_down()
    assert not report.is_busy


def test_that_a_report_is_proposed_by_the_name_of_the_scenario_and_never_among_runs(qtbot, write_run, monkeypatch):
    run, asked = write_run(), []
    button = ExportButton(lambda: run.directory, dict)
    qtbot.addWidget(button)
    monkeypatch.setattr(report_process, "ask_to_save", lambda *_args, proposed: asked.append(proposed))
    form = next(each for each in FORMATS if each.id == "pdf")
    button._choose(form)
    places = QStandardPaths.StandardLocation
    monkeypatch.setattr(
        QStandardPaths,
        "writableLocation",
        lambda place: {places.AppDataLocation: str(run.directory.parent.parent)}.get(place, "/home/anna/Documents"),
    )
    button._choose(form)
    name = f"{load_spec(run.directory).scenario.name} results.pdf"
    assert asked == [run.directory.parent.parent / name, Path("/home/anna/Documents") / name]


def test_that_the_button_says_how_far_a_report_is_and_its_failure_does_not(qtbot, monkeypatch, tmp_path):
    code = (
        "import sys; print('Step 3 of 14: Drawing picture 2 of 12', 'No room.', 'Free some.', sep='\\n', file=sys.stderr);"
        " sys.exit(1)"
    )
    command = lambda *_: [sys.executable, "-c", code]
    monkeypatch.setattr("phexplore.gui.run_manager.report_process.program_command", command)
    button = ExportButton(lambda: tmp_path, dict)
    qtbot.addWidget(button)
    shown, failures = [], []
    button.process.said.connect(lambda _line: shown.append((button.text(), button.toolTip())))
    button.failed.connect(failures.append)
    button.write(next(form for form in FORMATS if form.id == "html"), tmp_path / "a.html")
    qtbot.waitUntil(lambda: bool(failures))
    assert shown[0] == ("Step 3 of 14…", "Drawing picture 2 of 12")
    assert (failures[0].sentence, failures[0].remedy) == ("No room.", "Free some.")
    assert (button.text(), button.toolTip()) == ("Export…", "")
