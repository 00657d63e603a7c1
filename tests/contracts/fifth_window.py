"""Drives the window of a program with a fifth system, as a person would, and prints what is seen as JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

HOME = Path(sys.argv[1])
os.environ.update(QT_QPA_PLATFORM="offscreen", HOME=str(HOME), XDG_CONFIG_HOME=str(HOME), XDG_DATA_HOME=str(HOME))
sys.argv = ["phexplore"]

import fifth_system  # noqa: E402, F401 - registers the system
from PySide6.QtCore import QEventLoop, Qt, QTimer  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402

from phexplore.gui.binding.areas import Area  # noqa: E402
from phexplore.gui.decision.status import DecisionTab  # noqa: E402
from phexplore.gui.dialogs.preset_dialog import PresetDialog  # noqa: E402
from phexplore.gui.main.exporting import export_formats  # noqa: E402
from phexplore.gui.main.start import main  # noqa: E402
from phexplore.gui.run_manager.report_process import FORMATS  # noqa: E402
from phexplore.model.rules import Bound, Measure, Rule  # noqa: E402
from phexplore.model.workbook import set_rules  # noqa: E402

SEEN = {}
TRIALS = ("trial-00000.parquet", "trial-00001.parquet")


def until(holds):
    """Handle events until something holds, for a minute at most."""
    loop, ticks = QEventLoop(), QTimer()
    ticks.setInterval(10)
    ticks.timeout.connect(lambda: loop.quit() if holds() else None)
    ticks.start()
    QTimer.singleShot(60_000, loop, lambda: loop.exit(1))
    assert loop.exec() == 0


def type_into(line, text):
    line.selectAll()
    QTest.keyClicks(line, text)
    QTest.keyClick(line, Qt.Key.Key_Return)


def page(window, area):
    window.navigation.choose(area)
    return window.pages.currentWidget()


def drive(window):
    dialog = PresetDialog(window, window.files.new)
    (row,) = dialog.list.findItems("Counts of 2010", Qt.MatchFlag.MatchContains)
    dialog.list.setCurrentItem(row)
    SEEN["preset"] = dialog._about.text()
    dialog._take()
    session = window.session
    overview = page(window, Area.OVERVIEW)
    SEEN["overview"] = [mark.value for mark in overview.chart("margins").marks]
    SEEN["areas"] = [area.name for area in window.navigation.offered]
    SEEN["tiles"] = [(tile.caption, tile.value) for tile in window.room.tiles()]
    fields = page(window, Area.BUDGETS).parameters.form.controls
    type_into(fields["epsilon"].line, "none")
    SEEN["refused"] = fields["epsilon"].reason
    type_into(fields["epsilon"].line, "1")
    type_into(fields["epsilon"].line, "2")
    type_into(fields["places"].line, "9")
    session.undo()
    SEEN["labels"] = session.project.labels[1:]
    path = HOME / "mine.phx"
    session.project.save(path)
    window.files.open(path)
    SEEN["reopened"] = session.scenario.method.canonical()
    session.edit_workbook("Ask", lambda book: set_rules(book, (Rule(Measure.EPSILON, Bound.AT_MOST, 1),)))
    SEEN["rules"] = [tile.change for tile in window._tiles()]
    SEEN["targets"] = window.areas.targets.offered
    SEEN["inspector"] = [each.text() for pair in window.inspector.parts for each in pair]
    SEEN["decision"] = window.room.decision_part().changes
    forms = {form.id: form for form in export_formats()}
    window.commands.exports.export(forms["json"], HOME / "mine.json")
    until((HOME / "mine.json").exists)
    window.files.import_parameters(HOME / "mine.json")
    SEEN["imported"] = [each.method == session.scenario.method for each in session.shown.workbook.scenarios]
    type_into(page(window, Area.BUDGETS).parameters.form.controls["epsilon"].line, "3")
    window.areas.decision.compare([f"scenario:{name}" for name in session.shown.workbook.names])
    table = window.areas.decision.page[DecisionTab.COMPARE]
    until(lambda: "differs" in table.title.text())
    SEEN["compared"] = table.title.text()
    form = page(window, Area.RUNS).form_of(window.room.system)
    form.fill(trials=2, draws=3)
    form.launch()
    until(lambda: [row.state.name for row in window.areas.runs.controller.rows] == ["COMPLETE"])
    (run,) = window.areas.runs.controller.rows
    SEEN["options"] = run.spec.options.draws
    window.areas.runs.show_results(run.directory)
    results = window.areas.runs.results["counts"]
    until(lambda: results.answer is not None and results.answer.trials == 2)
    chart = results.charts["noise"]
    SEEN["results"] = results.answer.picture.table.rows
    SEEN["marks"] = [mark.value for mark in chart.marks]
    QTest.keyClick(chart.plot.canvas, Qt.Key.Key_Plus)
    SEEN["zoomed"] = chart.plot.viewport.is_zoomed
    chart.show_table(visible=True)
    SEEN["table of results"] = chart.table.numbers.rows
    chart.menu.save_picture(HOME / "noise.svg")
    exports = {form.id: form for form in FORMATS}
    for form in ("html", "pdf"):
        results.export.write(exports[form], HOME / f"report.{form}")
        until(results.export.isEnabled)
    window.navigation.choose(Area.OVERVIEW)  # elsewhere the headline is one line
    headline = window.headline.tiles[3]
    until(lambda: "reading" not in headline.accessibleName())
    SEEN["headline"] = headline.accessibleName()
    SEEN["drawn"] = [sum(json.loads((run.directory / name).read_text())) for name in TRIALS]
    SEEN["lengths"] = [len(json.loads((run.directory / name).read_text())) for name in TRIALS]
    window.areas.decision.start_meeting()
    meeting = window.areas.decision.page[DecisionTab.MEETING].view
    QTest.keyClick(meeting.sliders[0].slider, Qt.Key.Key_Right)
    SEEN["meeting"] = [meeting.sliders[0].parameter.title, session.scenario.method.epsilon > 3]
    meeting.picture.refresh()
    SEEN["picture"] = [mark.value for mark in meeting.picture.marks]
    meeting.close()


def on_shown(window):
    def started():
        try:
            drive(window)
        finally:
            window._leaves_without_asking = True
            window.close()

    QTimer.singleShot(0, window, started)


status = main(None, on_shown)
print(json.dumps(SEEN))
sys.exit(status)
