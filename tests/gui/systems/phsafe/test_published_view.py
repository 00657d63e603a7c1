from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtWidgets import QPushButton

from phexplore.figures.marks import Dot
from phexplore.gui.systems.phsafe.published_view import PublishedView
from phexplore.systems.phsafe.published_figure import PublishedNumber, coverage_bars, published_figure, read_release

COLUMNS = "TABLE|REGION_TYPE|REGION_ID|ITERATION_CODE|DATA_CELL|NOISY|PRED|PRED_LO|PRED_HI|TRUTH|ROOM"
PARTS = [
    {"from_sigma": 0.0, "to_sigma": 1.0, "held": 5, "of": 10, "share": 0.5, "low": 0.24, "high": 0.76},
    {"from_sigma": 6.0, "to_sigma": None, "held": 9, "of": 10, "share": 0.9, "low": 0.6, "high": 0.98},
]
ROWS = [
    "PH1|USA|1|*|1|2.5|2.48|2.4|2.6|2.51|40.0",
    "PH1|STATE|44|A|1|nan|2.1|1.9|2.3|2.6|0.5",
    "PH4|STATE|44|*|1|-5|12|0|31|0|0.0",
]
FAKE = f"""
import sys, pathlib
out = pathlib.Path(sys.argv[sys.argv.index("--out") + 1]); out.mkdir(parents=True, exist_ok=True)
(out / "comparison.csv").write_text({chr(10).join([COLUMNS, *ROWS, ""])!r})
print({json.dumps([{"table": "PH1", "held": 1, "of": 2, "share": 0.5, "by_room": PARTS}])!r})
"""


@dataclass
class OneRun:
    directory: Path
    spec: object
    trials: int = 3


@dataclass
class Spec:
    scenario: object


class Runs(QObject):
    changed = Signal()

    def __init__(self, rows) -> None:
        super().__init__()
        self.rows = rows


@pytest.fixture
def make(qtbot, session, tmp_path):
    made = []

    def build(script=FAKE, *, runs=True):
        rows = [OneRun(tmp_path / "first", Spec(session.scenario))] if runs else []
        found = PublishedView(session, Runs(rows), command=[sys.executable, "-c", script])
        qtbot.addWidget(found)
        found.resize(1100, 650)
        found.show()
        made.append(found)
        return found

    yield build
    for found in made:
        found.stop()


def test_that_without_runs_the_page_teaches_and_leads_to_them(qtbot, make) -> None:
    view = make(runs=False)
    assert view.pages.currentIndex() == 0
    with qtbot.waitSignal(view.runs_wanted):
        view.pages.currentWidget().findChild(QPushButton).click()


def test_that_a_trial_is_published_beside_the_window_and_shown(qtbot, make) -> None:
    view = make()
    assert view.table.parentWidget().isHidden()
    assert (view.pages.currentIndex(), view.trial.count()) == (1, 3)
    view.publish_button.click()
    assert not view.publish_button.isEnabled()
    qtbot.waitUntil(lambda: view.release is not None)
    assert view.release.tables == ("PH1", "PH4")
    assert [row.group for row in view.chart.marks] == ["Nation", "Rhode Island"]
    assert "50.0 % of 2 intervals" in view.chart.title
    assert "90.0 %" in view.coverage.title
    assert "cannot hold 90 %" in view.words.text()
    assert not view.table.parentWidget().isHidden()
    view.table.select("PH4")
    view._fill_cells()
    assert view.chart.marks[0].text == ""
    qtbot.waitUntil(view.publish_button.isEnabled)


def test_that_rows_are_walked_by_keyboard(qtbot, make) -> None:
    view = make()
    view.publish()
    qtbot.waitUntil(lambda: view.release is not None)
    view.chart.canvas.setFocus()
    qtbot.keyClick(view.chart.canvas, Qt.Key.Key_Down)
    assert "Nation" in view.chart.canvas.accessibleDescription()
    view.chart.plot.gestures.pointer_moved(QPointF(300, 60))
    view.chart.show_table(visible=True)
    assert view.chart.numbers.column("Held") == ("yes", "no")


def test_that_tables_are_saved_into_a_folder(qtbot, make, tmp_path) -> None:
    view = make()
    view.publish()
    qtbot.waitUntil(lambda: view.release is not None)
    with qtbot.waitSignal(view.noted):
        view.save(tmp_path / "published")
    assert (tmp_path / "published" / "comparison.csv").exists()


def test_that_failures_are_said_with_their_reason(qtbot, make) -> None:
    view = make("import sys; print('The run cannot be read.', file=sys.stderr); sys.exit(1)")
    with qtbot.waitSignal(view.failed) as caught:
        view.publish()
    assert "cannot be read" in str(caught.args[0])
    unreadable = make("print('[]')")
    with qtbot.waitSignal(unreadable.failed):
        unreadable.publish()


def test_that_publishing_is_stopped(qtbot, make) -> None:
    view = make("import time\ntime.sleep(60)")
    view.publish_button.setFocus()
    view.publish()
    assert view.window().focusWidget() is view.stop_button, "not the chooser of scenarios, which was next"
    qtbot.waitUntil(lambda: view.process.process_id > 0)
    with qtbot.waitSignal(view.process.stopped):
        view.process.stop()
    assert "Stopped" in view.words.text()
    qtbot.waitUntil(lambda: view.window().focusWidget() is view.publish_button)


def test_that_bars_mark_ninety_per_cent() -> None:
    found = coverage_bars([{"table": "PH3", "by_room": PARTS}])
    assert [bar.before for bar in found.marks] == [90.0, 90.0]
    assert [bar.name for bar in found.marks] == ["below 1 σ", "from 6 σ on"]
    assert coverage_bars([]).marks == ()
    assert max(found.x.values_between(0.0, 200.0)) == 100.0


def test_that_a_number_beyond_the_axis_is_drawn_whole_and_said_to_be_there() -> None:
    near = [PublishedNumber("A", str(n), 10 + n / 50, 10, 9, 11, 10) for n in range(60)]
    figure = published_figure("PH3", "people", [*near, PublishedNumber("A", "far", 900, 10, 9, 11, 10)])
    (diamond,) = [part for part in figure.marks[-1].parts if isinstance(part, Dot) and part.is_hollow]
    assert diamond.x < figure.x.domain[1] < 100
    assert "Diamonds at an edge are farther off (1)." in figure.summary
    assert "edge" not in published_figure("PH3", "people", near[:1]).summary


def test_that_huge_and_missing_values_are_drawn(qtbot, make) -> None:
    view = make()
    rows = [PublishedNumber("A", "x" * 200, float("nan"), 1e12, 0, 1e12, 5), PublishedNumber("B", "", 0, 0, 0, 0, 0)]
    view.chart.show_figure(published_figure("PH3", "people", rows))
    assert not view.chart.sheet.image(1.0).isNull()
    view.chart.show_figure(published_figure("PH3", "people", []))
    assert view.chart.is_empty


@pytest.mark.defect("F6")
def test_that_tables_without_a_comparison_are_published_and_not_shown_beside_the_truth(tmp_path) -> None:
    (tmp_path / "PH2" / "estimates").mkdir(parents=True)
    assert read_release((tmp_path, "[]")).numbers == {}


def test_that_counts_of_the_nation_keep_all_their_digits() -> None:
    row = PublishedNumber("Nation", "*", 1234567.0, 1234568.0, 1230000.0, 1240000.0, 1234569.0)
    words = published_figure("PH4", "people", (row,)).marks[0].tip
    assert all(text in words for text in ("1,234,567", "1,234,568", "1,230,000", "1,234,569"))
