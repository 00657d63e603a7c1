"""Auto-tune: the published level-by-level search on simulated runs, from published starting strategies, beside the window."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from phexplore.entry import program_command
from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import write_atomically
from phexplore.files.project_file import single, write_project
from phexplore.gui.binding.process_service import CommandProcess
from phexplore.gui.binding.session import Session
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.beside import Beside
from phexplore.gui.widgets.buttons import Chooser, TextButton, TickBox, take_turns
from phexplore.gui.widgets.file_dialogs import ask_to_open
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Paragraph, Reason, Text, labelled
from phexplore.gui.widgets.layout import column, emptied, stacked
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.pointers import PAGE
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.fingerprint import fingerprint
from phexplore.model.numbers import parse_exact
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.model.workbook import Workbook, add_scenario
from phexplore.runs.confidentiality import warning_about_blocks
from phexplore.runs.disclosure import HELD_BACK
from phexplore.systems.topdown.tune_answers import (
    FoundBudgets,
    as_scenario,
    probe_figure,
    read_probes,
    read_result,
    result_words,
    strategies,
    strategy_words,
)
from phexplore.systems.topdown.wording import level_title

_TEACHING = (
    "Every simulated setting appears here with the share of areas that are near enough. Choose block data and a starting "
    "strategy and press Start; you can pause and continue the search at any time."
)
_FILES = "Block data (*.csv *.csv.gz);;All files (*)"


_DEMO = "demo"
_ABOUT = (
    "Every level alone is fitted first with the others without noise, then from the top down together. A search of many "
    "settings takes a while; you can pause and continue at any time."
)


_LINES = {
    "data": ("Block data", "Block data", _DEMO, 26),
    "at-least": ("At least", "Per cent of the areas that must meet the criterion", "95", 6),
    "within": ("within percentage points", "Percentage points by which the largest group's share may differ", "5", 6),
    "people": ("with people ≥", "People of an area that counts", "500", 7),
}
"""By option of the command: label, name, text to begin with, and letters of what is typed."""


class TuneSettings(QWidget):
    """Block data, the criterion, and the strategies a search starts from."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, LineField] = {}
        labels: dict[str, QWidget] = {}
        for option, (label, name, text, letters) in _LINES.items():
            field = self.lines[option] = LineField(name, text)
            field.setMaxLength(1000)
            field.setMinimumWidth(letters * GRID)
            labels[option] = labelled(label, field)
        data = self.lines["data"]
        data.setToolTip("A block file, or demo for the shipped one; never confidential data: tuning on them leaks")
        self.level = Chooser("Level whose areas are judged")
        self.estimator = Chooser(
            "Estimator", options=[("Top-down, as in production", "top-down"), ("Pooled from below", "pooled")]
        )
        self.ticks: dict[str, QCheckBox] = {}
        self._ticks = column(gap=HALF)

        def browse() -> None:
            def take(path: Path) -> None:
                data.setText(str(path))

            ask_to_open(self, "Choose the block data", take, kinds=_FILES, folder=data.text())

        column(
            Text("Data and criterion", bold=True),
            FlowRow(labels["data"], TextButton("Choose…", name="Choose the block data", run=browse), gap=GRID),
            FlowRow(
                labels["at-least"],
                labelled("% of the areas of level", self.level),
                labels["people"],
                labels["within"],
                gap=GRID,
            ),
            labelled("Estimator", self.estimator),
            Text("Starting strategies", bold=True),
            self._ticks,
            of=self,
        )

    @property
    def typed(self) -> dict[str, str]:
        """What is typed, by option of the command."""
        return {option: line.text().strip() for option, line in self.lines.items()}

    @property
    def chosen(self) -> list[str]:
        """The strategies that are ticked."""
        return [name for name, tick in self.ticks.items() if tick.isChecked()]

    def options(self) -> dict[str, str]:
        """Return data, criterion and another estimator than production's as options of the command line."""
        typed, estimator = self.typed, self.estimator.currentData()
        other = {"estimator": estimator} if estimator != "top-down" else {}
        return {"data": typed.pop("data"), "judge": self.level.currentData(), **typed, **other}

    def problem(self) -> str:
        """Return why the search cannot start, "" where it can."""
        typed = self.typed
        if not self.chosen:
            return "No starting strategy is chosen."
        for option, words in (("at-least", "The share of areas"), ("within", "The tolerance")):
            try:
                value = parse_exact(typed[option])
            except ValueError as error:
                return f"{words} cannot be read: {error}."
            if not 0 < value <= 100:
                return f"{words} lies between 0 and 100, got {typed[option]}."
        if not typed["people"].isdigit():
            return "The size of an area is a whole number of people."
        return "" if typed["data"] else "No block data are named."

    def offer(self, method: TopDown) -> None:
        """Offer the strategies and levels of a scenario."""
        names = strategies(method)
        if tuple(self.ticks) != names:
            emptied(self._ticks)
            self.ticks = {}
            for name in names:
                tick = self.ticks[name] = TickBox(strategy_words(name))
                tick.setAccessibleName(f"Start from: {strategy_words(name)}")
                tick.setChecked(name == names[0])
                self._ticks.addWidget(tick)
        usual = "Block_Group" if "Block_Group" in method.levels else method.levels[-1]
        self.level.offer([(level_title(level), level) for level in method.levels], first=usual)


class TuneView(QWidget):
    """Choose data, criterion and strategies; watch the search; take what it finds.

    Signals:
        failed: a `PhexploreError`.
        noted: a sentence about what was done.
        doubted: a sentence about data that may be confidential; the search starts by `start_all_the_same` only.
    """

    failed = Signal(object)
    noted = Signal(object)
    doubted = Signal(object)

    def __init__(self, session: Session, home: Callable[[], Path], *, command: list[str] | None = None) -> None:
        """Make the view.

        Args:
            session: the project.
            home: gives the folder that searches are stored in.
            command: the command line's program, instead of the shipped one.
        """
        super().__init__()
        self.setProperty(PAGE, "docs/decisions_of_committees.md#tuning-phexplore-tune")
        self._session, self._home, self._command = session, home, command
        self._scenario: Scenario | None = None
        self._waiting: list[str] = []
        self._at = ""
        self._file: Path | None = None
        self._answered_for: Path | None = None
        self.found: list[FoundBudgets] = []
        self.settings = TuneSettings()
        self._results = column(gap=HALF)
        self.start_button = TextButton(
            "Start", look="primary", symbol="run", name="Start or go on with the search", run=self.start
        )
        self.pause_button = TextButton("Pause", symbol="pause", name="Pause the search", run=self.pause)
        self.pause_button.setEnabled(False)
        self.reason = Reason()
        self.words, self.detail = Paragraph(_ABOUT, look="muted"), Paragraph("")
        self.process = CommandProcess(self)
        self.process.said.connect(self._on_line)
        self.process.done.connect(self._on_done)
        self.process.stopped.connect(self._on_stopped)
        self.process.failed.connect(self._on_failed)
        self.process.busy_changed.connect(self._on_busy)
        self.chart = FigureView("Search", _TEACHING)
        self.chart.failed.connect(self.failed)
        self.chart.key_selected.connect(lambda _key: self.detail.setText(self.chart.plot.chosen_words))
        side = stacked(
            self.settings,
            self.reason,
            FlowRow(self.start_button, self.pause_button, gap=GRID),
            *(self.words, self._results, 1),
            margins=(MARGIN, GRID, GRID, GRID),
        )
        right = stacked((self.chart, 1), self.detail, margins=(GRID, GRID, MARGIN, GRID))
        parts = (scrolling("Settings of the search", side), right)
        column(Beside("Auto-tune", *parts, shares=(2, 3), sizes=(52 * GRID, 80 * GRID)), of=self)
        session.opened.connect(self._forget)
        self._seen = WhenSeen(self, self._refresh, session.settled)
        self._seen.request()

    def stop(self) -> None:
        """End the search because the window closes; its probes are stored."""
        self._waiting.clear()
        self.process.shut_down()

    def start(self) -> None:
        """Start the chosen strategies one after the other, or go on with what was stored of them."""
        scenario = self._session.scenario
        if self.process.is_busy or not isinstance(scenario.method, TopDown):
            return
        if self.reason.say(self.settings.problem()):
            return
        path = Path(self.settings.typed["data"])
        if (warning := warning_about_blocks(path)) and path != self._answered_for:
            self.doubted.emit(warning)
            return
        self.chart.hold_back(HELD_BACK if warning else "")
        self._scenario, self._waiting, self.found = scenario, self.settings.chosen, []
        self._show_found()
        self._next()

    def start_all_the_same(self) -> None:
        """Start on data that may be confidential: somebody has answered for them. The search records what they are."""
        self._answered_for = Path(self.settings.typed["data"])
        self.start()

    def pause(self) -> None:
        """Stop the search; Start goes on with it."""
        self._waiting.clear()
        self.process.stop()

    def load(self, found: FoundBudgets, *, smaller: bool = False) -> None:
        """Add what was found as a scenario."""
        scenario = self._scenario
        if scenario is None:
            return
        try:
            made = as_scenario(scenario, found, smaller=smaller)
        except PhexploreError as error:
            self.failed.emit(error)
            return
        refusal = self._session.edit_workbook(f"Add {made.name}", lambda book: add_scenario(book, made))
        if self._session.report(refusal):
            added = f"“{self._session.scenario.name}” was added and is being edited."
            if kept := [level for level in made.topdown.levels if level not in found.budgets]:
                total = float(made.topdown.total)
                added += f" Levels that the data lack keep their budgets ({', '.join(kept)}): ρ {total:.6g} in all."
            self.noted.emit(added)

    def _forget(self) -> None:
        """End the search when another project is opened: what it found belongs to the scenario of the one before."""
        self.pause()
        self._scenario, self._file, self.found = None, None, []
        self.settings.lines["data"].setText(_DEMO)
        self.words.setText(_ABOUT)
        self._show_found()
        self._refresh_probes()

    def _next(self) -> None:
        if not self._waiting or self._scenario is None:
            return
        self._at = self._waiting.pop(0)
        try:
            folder = self._home() / fingerprint(self._scenario)[:12]
            folder.mkdir(parents=True, exist_ok=True)
            project = folder / "parameters.phx"
            if not project.exists():
                now = datetime.now(UTC).isoformat(timespec="seconds")
                book = Workbook((self._scenario,), self._scenario.name)
                write_atomically(project, write_project(single(book, "Tuned from here", now)))
        except OSError as error:
            self.failed.emit(
                PhexploreError(
                    f"The search cannot be stored: {error.strerror or error}.", "Free some space and try again."
                )
            )
            return
        data, *criterion = self.settings.options().values()
        asked = "-".join((self._at or "own", Path(data).name, *criterion))
        self._file = folder / f"{re.sub(r'[^A-Za-z0-9]+', '-', asked).strip('-').lower()}.jsonl"
        self._refresh_probes()
        options = {**self.settings.options(), "out": str(self._file), **({"strategy": self._at} if self._at else {})}
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        command = [*(self._command or program_command()), "tune", str(project), *arguments, "--json"]
        self.words.setText(f"{strategy_words(self._at)}: simulating; every setting is stored in {self._file.name}.")
        self.process.start(command)

    def _on_line(self, line: str) -> None:
        if line.strip() and self._scenario is not None:
            self.words.setText(f"{strategy_words(self._at)}: {line.strip()}")
        self._refresh_probes()

    def _on_done(self, printed: str) -> None:
        if self._scenario is None:  # it was started in a project that is closed
            return
        self._refresh_probes()
        try:
            self.found.append(read_result(self._at, printed))
        except (ValueError, KeyError) as error:
            self.failed.emit(PhexploreError(f"The result of the search cannot be read: {error}.", "Start it again."))
        self._show_found()
        if self._waiting:
            self._next()
        else:
            self.words.setText("The search is finished. Load what it found as a scenario, or start another strategy.")

    def _on_stopped(self) -> None:
        if self._scenario is None:
            return
        self._refresh_probes()
        self.words.setText(f"Paused after {len(self.chart.marks)} settings. Start goes on where it stopped.")

    def _on_failed(self, error: PhexploreError) -> None:
        self._waiting.clear()
        self.words.setText(f"{strategy_words(self._at)}: {error.sentence}")
        self.failed.emit(error)

    def _on_busy(self, busy: bool) -> None:
        take_turns(self.start_button, self.pause_button, is_first=not busy)
        self.settings.setEnabled(not busy)

    def _refresh(self, _signal: object = None) -> None:
        method = self._session.scenario.method
        if isinstance(method, TopDown):
            self.settings.offer(method)

    def _refresh_probes(self) -> None:
        probes = read_probes(self._file) if self._file is not None else ()
        if probes:
            self.chart.show_figure(probe_figure(probes, float(parse_exact(self.settings.typed["at-least"]) / 100)))
        else:
            self.chart.show_empty()

    def _show_found(self) -> None:
        emptied(self._results)
        for found in sorted(self.found, key=lambda each: each.total):
            own_total = found.total if self._scenario is None else self._scenario.topdown.total
            data = self.settings.typed["data"]
            data = "the demonstration blocks" if data == _DEMO else data
            self._results.addWidget(Paragraph(result_words(found, own_total, data)))
            offers = [("Load as scenario", False)] + [("Load the smaller one", True)] * (found.smaller is not None)
            for title, smaller in offers:
                name = f"{title}: {strategy_words(found.strategy)}"
                load = TextButton(title, look="link", name=name)
                load.clicked.connect(lambda _checked, each=found, smaller=smaller: self.load(each, smaller=smaller))
                self._results.addWidget(load, 0, Qt.AlignmentFlag.AlignLeft)
