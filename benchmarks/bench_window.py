"""The window: start to first picture, edit to painted screen, a dragged slider, the event loop while a run works.

An edit counts as on screen when everything that shows it was painted: table, tiles, panel and pictures.

Usage: python benchmarks/bench_window.py [--json FILE] [--without-run] [--against OLD]

Edits of another commit (`git worktree add OLD COMMIT`) are measured by its own copy of this file in a process of its own,
eight at a time in turns with this one: a shared machine is a tenth slower or faster from one minute to the next, and one
process than the next by where its memory lies.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

if os.environ.get("QT_QPA_PLATFORM", "offscreen") == "offscreen":  # its own screen is too small for the window
    os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={Path(__file__).with_name('screen.json')}"

STEPS = 200
PAIRS, ROUNDS = 4, 10
"""Against another commit: pairs of processes, and how often each of a pair measures."""
PROOFS = 30
SIZES = ((1280, 800), (1920, 1080))
STARTS = 5
POLLING_S = 1 / 125
"""A mouse tells its position this often."""
BUDGETS, OVERVIEW = "budgets", "overview"


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--without-run", action="store_true")
    arguments.add_argument("--start", action="store_true", help="only start, say when the first picture stood")
    arguments.add_argument("--against", type=Path, metavar="OLD", help="only compare edits with another checkout")
    options = arguments.parse_args()
    if options.start:
        start_once()
    if options.against:
        print(json.dumps(compare(options.against), indent=1))
        return
    result = {"load": os.getloadavg()[0], "start": measure_start()}
    bench = Bench()
    for width, height in SIZES:
        bench.window.resize(width, height)
        for area in (BUDGETS, OVERVIEW):
            result[f"{area}_{width}x{height}"] = bench.edits(area)
    result["proven"] = bench.proofs()
    result["slider"] = bench.slider()
    if not options.without_run:
        result["run"] = bench.run()
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


_MEASURED = """
import sys
sys.path.insert(0, "benchmarks")
import bench_window
bench_window.STEPS = 8
bench = bench_window.Bench()
for line in sys.stdin:
    area, width, height = line.split()
    bench.window.resize(int(width), int(height))
    print(bench.edits(area)["processor_median_ms"], flush=True)
"""


def compare(other: Path):
    """Edit here and in another checkout in turns: processor time here as a part of that there, medians and quartiles."""
    found: dict[str, list[float]] = {}
    places = (Path(__file__).resolve().parents[1], other.resolve())
    screen = f"offscreen:configfile={Path(__file__).resolve().with_name('screen.json')}"
    for _ in range(PAIRS):
        pair = [
            subprocess.Popen(
                [sys.executable, "-c", _MEASURED], cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(place), "QT_QPA_PLATFORM": screen},
            )
            for place in places
        ]  # fmt: skip
        for width, height in SIZES:
            for area in (BUDGETS, OVERVIEW):
                for turn in range(ROUNDS + 1):
                    took = {}
                    for each in pair if turn % 2 else reversed(pair):
                        each.stdin.write(f"{area} {width} {height}\n")
                        each.stdin.flush()
                        took[each] = float(each.stdout.readline())
                    if turn:  # the first fills what is kept
                        found.setdefault(f"{area}_{width}x{height}", []).append(took[pair[0]] / took[pair[1]])
        for each in pair:
            each.communicate()
    quartiles = {row: statistics.quantiles(ratios, n=4) for row, ratios in found.items()}
    return {row: [round(part, 3) for part in parts] for row, parts in quartiles.items()}


def measure_start():
    """Start the program in processes of its own; the first fills the caches of the file system and is left out."""
    found = []
    with tempfile.TemporaryDirectory() as home:
        places = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), home)
        places["PYTHONPYCACHEPREFIX"] = f"{home}/compiled"  # compiled once, as an installed program is
        own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        for number in range(STARTS + 1):
            answer = subprocess.run(
                [sys.executable, __file__, "--start"],
                env={**own, **places, "BENCH_BEGIN": str(time.time())},
                check=True, capture_output=True, text=True,
            )  # fmt: skip
            if number:
                found.append(json.loads(answer.stdout))
    return {f"{key}_median": statistics.median(each[key] for each in found) for key in found[0]}


def start_once() -> None:
    """Start as `phexplore gui` does and end when all pictures of the first page were painted."""
    from phexplore import __main__ as program
    from phexplore.gui.main import start

    begin = float(os.environ["BENCH_BEGIN"])

    def watch(window) -> None:
        shown = time.time()
        first = Painted([window.centralWidget()])

        def look() -> None:
            page = window.pages.currentWidget()
            charts = [chart for chart in getattr(page, "charts", ()) if chart.isVisible()]
            if charts and not hasattr(first, "all"):
                first.all = Painted([chart.canvas for chart in charts])
                for chart in charts:  # what was painted before it was watched
                    chart.canvas.update()
            if charts and first.all.complete:
                answer = {
                    "window_s": shown - begin,
                    "first_picture_s": time.time() - begin,
                    "processor_s": time.process_time(),
                    "modules": len(sys.modules),
                }
                print(json.dumps(answer), flush=True)
                os._exit(0)

        from PySide6.QtCore import QTimer

        timer = QTimer(window)
        timer.timeout.connect(look)
        timer.start(1)

    program._open_window = lambda path: start.main(path, watch)
    sys.argv = ["phexplore"]
    sys.exit(program.main())


def painted_class():
    """Return a filter that knows which of its widgets were painted."""
    from PySide6.QtCore import QEvent, QObject

    class Painted(QObject):
        def __init__(self, widgets) -> None:
            super().__init__()
            self.widgets, self.seen = list(widgets), set()
            for widget in self.widgets:
                widget.installEventFilter(self)

        @property
        def complete(self):
            return len(self.seen) == len(self.widgets)

        def eventFilter(self, watched, event):  # noqa: N802 - Qt's name
            if event.type() == QEvent.Type.Paint:
                self.seen.add(watched)
            return False

    return Painted


def Painted(widgets):  # noqa: N802 - a class that is made when Qt is there
    """Watch widgets."""
    return painted_class()(widgets)


class Bench:
    """A window on the parameters of 2020."""

    def __init__(self) -> None:
        from PySide6.QtWidgets import QApplication

        from phexplore.gui.binding.areas import Area
        from phexplore.gui.binding.settings import Settings
        from phexplore.gui.main.project_files import project_of
        from phexplore.gui.main.window import MainWindow
        from phexplore.model.keys import parse_query
        from phexplore.systems.registry import preset

        self.application = QApplication([])
        self.folder = Path(tempfile.mkdtemp())
        settings = Settings(self.folder / "settings.json")
        self.window = MainWindow(project_of(preset("sdhc-2020-us")), settings, self.folder / "runs")
        self.areas = {BUDGETS: Area.BUDGETS, OVERVIEW: Area.OVERVIEW}
        self.query = parse_query("PH3/state_A-G")
        self.margin = 20
        self.window.show()
        self.wait(5.0)  # pages are made ahead meanwhile

    def wait(self, seconds: float) -> None:
        """Let the event loop work."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            self.application.processEvents()
            time.sleep(0.002)

    def go(self, area: str):
        """Show an area with the query chosen; return what an edit of it paints."""
        window = self.window
        window.navigation.choose(self.areas[area])
        window.session.select(None)
        window.session.select(self.query)
        self.wait(0.5)
        found = [window.headline.tiles[0]._value]
        if window.inspector.isVisible():
            found.append(window.inspector.card._result)
        if area == BUDGETS:
            found += [window.rooms["phsafe"].budgets.view.viewport(), window.rooms["phsafe"].budgets.panel.budget.field]
            if (picture := window.rooms["phsafe"]._page.picture).isVisible():
                found.append(picture.canvas)
        else:
            page = window.pages.currentWidget()
            page.chart("margins").select_key(self.query)
            found += [chart.canvas for chart in page.charts]
            self.wait(0.2)
        return [widget for widget in found if not widget.visibleRegion().isEmpty()]

    def proofs(self):
        """Edit the margin of one query from rest until the proven ε of the edit is painted, and again: milliseconds."""
        from phexplore.systems.phsafe.budget_edits import edit_margin

        self.go(BUDGETS)
        session = self.window.session
        wall, processor = [], []
        for step in range(PROOFS):
            self.wait(0.5)  # what follows a pause in the edits is done
            people = Fraction(30 + step)
            start, used = time.perf_counter(), time.process_time()
            session.edit("Prove", lambda s, m=people: edit_margin(s, self.query, m), merge_key="bench")
            version = session.shown
            while self.window.headline._proven[0] is not version and time.perf_counter() - start < 5:
                self.application.processEvents()
            self.application.processEvents()  # paints it
            wall.append(1e3 * (time.perf_counter() - start))
            processor.append(1e3 * (time.process_time() - used))
        session.project.end_merge()
        return {
            "edit_to_proven_median_ms": statistics.median(wall),
            "edit_to_proven_p95_ms": sorted(wall)[int(0.95 * PROOFS)],
            "processor_median_ms": statistics.median(processor),
            "processor_p95_ms": sorted(processor)[int(0.95 * PROOFS)],
        }

    def edits(self, area: str):
        """Edit the margin of one query, wait until all of it is painted, and again: milliseconds."""
        from phexplore.systems.phsafe.budget_edits import edit_margin

        painted = Painted(self.go(area))
        session = self.window.session
        before = len(session.project.labels)
        wall, processor = [], []
        for _ in range(STEPS):
            self.margin = 20 + (self.margin - 19) % 480
            people = Fraction(self.margin)
            painted.seen.clear()
            start, used = time.perf_counter(), time.process_time()
            session.edit("Drag", lambda s, m=people: edit_margin(s, self.query, m), merge_key="bench")
            while not painted.complete and time.perf_counter() - start < 5:
                self.application.processEvents()
            wall.append(1e3 * (time.perf_counter() - start))
            processor.append(1e3 * (time.process_time() - used))
            self.wait(0.02)
        session.project.end_merge()
        return {
            "edit_to_paint_median_ms": statistics.median(wall),
            "edit_to_paint_p95_ms": sorted(wall)[int(0.95 * STEPS)],
            "processor_median_ms": statistics.median(processor),
            "painted": painted.complete,
            "steps_in_history": len(session.project.labels) - before,
        }

    def slider(self):
        """Drag the slider of the margin as a mouse does; how late is each position, and the last one on screen?"""
        from PySide6.QtCore import QEvent, QPointF, Qt
        from PySide6.QtGui import QMouseEvent

        painted = Painted(self.go(BUDGETS))
        slider, session = self.window.rooms["phsafe"].budgets.panel.margin.slider, self.window.session
        middle, left, none = slider.height() / 2, Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        before = len(session.project.labels)

        def send(kind, x, button, buttons) -> None:
            place = QPointF(x, middle)
            event = QMouseEvent(kind, place, slider.mapToGlobal(place), button, buttons, Qt.KeyboardModifier.NoModifier)
            self.application.sendEvent(slider, event)

        at = 8 + (slider.width() - 16) * slider.value() / slider.maximum()
        send(QEvent.Type.MouseButtonPress, at, left, left)
        late, begin = [], time.perf_counter()
        for step in range(STEPS):
            due = begin + step * POLLING_S
            while time.perf_counter() < due:
                self.application.processEvents()
            late.append(1e3 * (time.perf_counter() - due))
            send(QEvent.Type.MouseMove, 20 + (slider.width() - 40) * step / STEPS, none, left)
        painted.seen.clear()
        last, session_frames = time.perf_counter(), session._frames
        while session_frames._timer.isActive() or session_frames._waiting:
            self.application.processEvents()
        self.application.processEvents()
        drained = 1e3 * (time.perf_counter() - last)
        stop = slider.stops[slider.value()]  # let go, the handle goes to the stop next to what was reached
        send(QEvent.Type.MouseButtonRelease, 0, left, none)
        from phexplore.systems.phsafe.budget_edits import edit_margin

        ended = session.scenario
        wanted = edit_margin(ended, self.query, stop)  # budgets are rounded up: the margin may end below the stop
        return {
            "steps": STEPS,
            "late_median_ms": statistics.median(late),
            "late_p95_ms": sorted(late)[int(0.95 * STEPS)],
            "last_position_to_screen_ms": drained,
            "ends_on_last_value": ended.phsafe.budgets[self.query] == wanted.phsafe.budgets[self.query],
            "steps_in_history": len(session.project.labels) - before,
        }

    def run(self):
        """Watch the event loop while a run starts, works and its results are opened: gaps between two turns, ms."""
        from phexplore.gui.binding.areas import Area

        found = {}
        window = self.window
        for name, act, until in (
            ("runs_page", lambda: window.navigation.choose(Area.RUNS), self._after(1.0)),
            (
                "run",
                lambda: window.areas.runs.page.start_run(),  # noqa: PLW0108 - made with the page
                lambda: any(row.state.is_final for row in window.areas.runs.controller.rows),
            ),
            ("results_page", lambda: window.navigation.choose(Area.RESULTS), self._after(6.0)),
            ("overview_again", lambda: window.navigation.choose(Area.OVERVIEW), self._after(1.0)),
        ):
            found[name] = self._gaps(act, until)
        return found

    @staticmethod
    def _after(seconds: float):
        due: list[float] = []

        def passed() -> bool:
            due[:] = due or [time.perf_counter() + seconds]
            return time.perf_counter() >= due[0]

        return passed

    def _gaps(self, act, until):
        from PySide6.QtCore import QTimer

        beats = []
        timer = QTimer()
        timer.timeout.connect(lambda: beats.append(time.perf_counter()))
        timer.start(2)
        QTimer.singleShot(20, act)
        end = time.perf_counter() + 240
        while not (beats and until()) and time.perf_counter() < end:
            self.application.processEvents()
            time.sleep(0.0005)
        timer.stop()
        gaps = sorted((1e3 * (b - a) for a, b in pairwise(beats)), reverse=True)
        return {"longest_gaps_ms": [round(gap, 1) for gap in gaps[:5]], "above_50_ms": sum(gap > 50 for gap in gaps)}


if __name__ == "__main__":
    main()
