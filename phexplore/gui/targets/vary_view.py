"""Vary parameters: one or two of them over values, every combination forecast and, where asked for, run beside the window."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from phexplore.decide.parameter_words import parameter_words
from phexplore.decide.sweep_answer import PointRuns, SweepAnswer, SweepProgress, SweepRequest, read_values
from phexplore.decide.sweeping import ALL
from phexplore.errors import PhexploreError
from phexplore.figures.wording import capital
from phexplore.gui.binding.project_data import ProjectData
from phexplore.gui.binding.request_service import RequestService, Wording, reader_process
from phexplore.gui.binding.session import Session
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.metrics import GRID, MARGIN
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.beside import Beside
from phexplore.gui.widgets.buttons import Chooser, TextButton, TickBox, take_turns
from phexplore.gui.widgets.file_dialogs import ask_to_open
from phexplore.gui.widgets.flow import FlowRow
from phexplore.gui.widgets.labels import Reason, Text, labelled
from phexplore.gui.widgets.layout import column, form, stacked
from phexplore.gui.widgets.number_field import LineField, NumberField
from phexplore.gui.widgets.page import scrolling
from phexplore.gui.widgets.when_seen import WhenSeen
from phexplore.model.diff import value_text
from phexplore.model.numbers import exact_text
from phexplore.model.paths import parameters
from phexplore.model.scenario import Scenario
from phexplore.runs.spec import DEMONSTRATION
from phexplore.systems.registry import system_of

_TEACHING = (
    "How loss, margins and errors move with a parameter appears here: choose one, give it values, and press Vary."
)
_WORDING = Wording(
    "The sweep stopped",
    "Press Vary again: points that were run are kept.",
    "The process of sweeps could not be started.",
)
_LETTERS = 14
_MOST_DIGITS = 24
"""Of a fraction that is shown whole."""
_WIDE = (QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
_MOST_TRIALS = 10_000
_MOST_WORKERS = 16
_LARGEST_SEED = 2**31 - 1


class Varied(QObject):
    """A parameter and the values it takes.

    Args:
        which: "First" or "Second", for its name.
        is_needed: whether there must be one.
    """

    def __init__(self, which: str, *, is_needed: bool) -> None:
        super().__init__()
        self._is_needed = is_needed
        self.parameter = Chooser(f"{which} parameter", letters=_LETTERS, run=self._follow)
        self.parameter.setMaxVisibleItems(20)
        self.parameter.setSizePolicy(*_WIDE)
        self.values = LineField(f"Values of the {which.lower()} parameter")
        self._now = Text("", look="muted", wrap=True)
        self._known: Mapping[str, object] = {}
        self._now.hide()  # until a parameter is chosen
        self.rows = (f"{which} parameter", self.parameter), ("Values", self.values), self._now

    def offer(self, scenario: Scenario) -> None:
        """Offer the parameters of a scenario that are numbers or words."""
        self._known = {path: value for path, value in parameters(scenario).items() if not isinstance(value, tuple)}
        none = [] if self._is_needed else [("none", "")]
        before = self.parameter.currentData()
        paths = [(parameter_words(system_of(scenario), path), path) for path in self._known]
        self.parameter.offer([*none, *paths], first=before if before in self._known else None)
        self._follow()

    def read(self) -> dict[str, list[str]]:
        """Return the values by path, nothing without a parameter.

        Raises:
            ValueError: the values cannot be read.
        """
        path = self.parameter.currentData()
        return {path: read_values(self.values.text())} if path else {}

    def _follow(self, _row: object = None) -> None:
        path = self.parameter.currentData()
        self.values.setEnabled(bool(path))
        now = _shown(self._known[path]) if path in self._known else ""
        values, *also = _example(self._known.get(path))
        # The chooser cuts long names, the field long examples: here both stand whole.
        self._now.setText(
            ". ".join((f"{capital(self.parameter.currentText())}: now {now}", *also)) + "." if now else ""
        )
        self._now.setVisible(bool(now))
        self.values.setPlaceholderText(localised(values))


class VaryView(QWidget):
    """Choose parameters and values; watch the points; see and save the picture and the table.

    Signals:
        failed: a `PhexploreError`.
        noted: a sentence about what was done.
    """

    failed = Signal(object)
    noted = Signal(object)

    def __init__(
        self,
        session: Session,
        home: Callable[[], Path],
        service: RequestService | None = None,
        data: ProjectData | None = None,
    ) -> None:
        """Make the view.

        Args:
            session: the project.
            home: gives the folder of the runs of sweeps.
            service: the process that answers; None starts the shipped one with the first question.
            data: of the project; None knows none.
        """
        super().__init__()
        self._session, self._home, self._of_project = session, home, data
        self._offered = ""
        self._answer: SweepAnswer | None = None
        self.first, self.second = Varied("First", is_needed=True), Varied("Second", is_needed=False)
        self.measure = Chooser("Margins to look at", letters=_LETTERS)
        self.measure.setSizePolicy(*_WIDE)
        self.runs = TickBox("&Run every point as well")
        self.data = LineField("Data of the runs", example="what came with the parameters, or demo")
        self.trials = NumberField("Trials per point", 1, _MOST_TRIALS, 1)
        self.seed = NumberField("Seed of every run", 0, _LARGEST_SEED, 1)
        self.workers = NumberField("Points run at the same time", 1, _MOST_WORKERS, 1)
        self.reason, self.progress, self.doing = Reason(), QProgressBar(), Text("", look="muted", wrap=True)
        self.progress.setAccessibleName("Points that are done")
        self.start_button = TextButton("Vary", look="primary", symbol="run", name="Compute every point", run=self.start)
        self.cancel_button = TextButton("Cancel", name="Cancel the sweep", run=self.cancel)
        self.figure = FigureView("Sweep", _TEACHING)
        self.figure.failed.connect(self.failed)
        self.column = Chooser("Figure to look at", letters=_LETTERS, run=self._show_column)
        self.service = service or RequestService(reader_process(self, wording=_WORDING), self, is_alone=True)
        self.service.answered.connect(self._show_answer)
        self.service.progressed.connect(self._show_progress)
        self.service.failed.connect(self._refuse)
        self.service.busy_changed.connect(self._follow_work)
        self._lay_out()
        self.runs.toggled.connect(self._follow_runs)
        self._follow_runs()
        self._follow_work(False)
        session.opened.connect(self._forget)
        changes = () if data is None else (data.changed,)
        self._seen = WhenSeen(self, self._refresh, session.settled, *changes)
        self._seen.request()

    def start(self) -> None:
        """Compute every point; those that were run before are not run again."""
        try:
            request = self._read()
        except (ValueError, PhexploreError) as error:
            remedy = error.remedy if isinstance(error, PhexploreError) else "Correct it and press Vary again."
            self.reason.say(f"{error}".rstrip(".") + f". {remedy}")
            return
        self.reason.say("")
        self.service.request(request)

    def cancel(self) -> None:
        """End the sweep; finished points stay on disk, and Vary goes on from them."""
        self.service.end()
        self.doing.setText("Cancelled. Points that were run are kept; Vary goes on from them.")

    def stop(self) -> None:
        """End what is being computed, because the window closes."""
        self.service.stop()

    def _refuse(self, error: PhexploreError) -> None:
        """Say beside the fields why there is no answer, until it is asked for again."""
        self.doing.clear()
        self.reason.say(error.full)

    def _read(self) -> SweepRequest:
        grid = self.first.read()
        other = self.second.read()
        if grid.keys() & other.keys():
            raise ValueError("the same parameter is chosen twice")
        asked, typed = self.measure.currentData(), self.data.text().strip()
        runs = None
        if self.runs.isChecked():
            data = Path(typed) if typed else None
            runs = PointRuns(self._home(), data, self.trials.read(), self.seed.read(), self.workers.read())
        return SweepRequest(self._session.scenario, grid | other, (asked,) if asked else (), runs)

    def _lay_out(self) -> None:
        def browse() -> None:
            ask_to_open(self, "Choose the data", lambda path: self.data.setText(str(path)), folder=self.data.text())

        choose = TextButton("Choose…", name="Choose the data of the runs", run=browse)
        common = "All points draw the same random numbers: what differs is what the parameters do."
        self._run_fields = stacked(
            Text(common, look="muted", wrap=True),
            FlowRow(labelled("Data", self.data), choose, gap=GRID),
            FlowRow(
                labelled("Trials", self.trials),
                labelled("Seed", self.seed),
                labelled("At once", self.workers),
                gap=GRID,
            ),
        )
        self.data.setMinimumWidth(2 * _LETTERS * GRID)
        about = "Every combination is forecast. Values are listed, or evenly apart in a range; numbers are exact."
        fields = QWidget()
        form(*self.first.rows, *self.second.rows, ("Margins", self.measure), of=fields)
        buttons = FlowRow(self.start_button, self.cancel_button, gap=GRID)
        side = stacked(
            Text("Vary parameters", bold=True, relative=1.08),
            *(Text(about, look="muted", wrap=True), fields, self.runs, self._run_fields, self.reason),
            *(buttons, self.progress, self.doing, 1),
            margins=(MARGIN, GRID, MARGIN, GRID),
        )
        self.figure.controls.addWidget(self.column)
        self.column.hide()
        right = stacked((self.figure, 1), margins=(GRID, GRID, MARGIN, GRID))
        parts = (scrolling("What is varied", side), right)
        column(Beside("Vary", *parts, shares=(2, 3), sizes=(52 * GRID, 80 * GRID)), of=self)

    def _follow_runs(self, _ticked: object = None) -> None:
        self._run_fields.setVisible(self.runs.isChecked())

    def _follow_work(self, busy: bool) -> None:
        take_turns(self.start_button, self.cancel_button, is_first=not busy)
        self.progress.setVisible(busy)
        if busy:
            self.progress.setRange(0, 0)
            self.doing.setText("Starting")

    def _show_progress(self, progress: SweepProgress) -> None:
        self.progress.setRange(0, progress.count)
        self.progress.setValue(progress.done)
        verb = "run" if progress.is_running else "forecast"
        self.doing.setText(f"{progress.done:,} of {progress.count:,} points {verb}")

    def _show_answer(self, answer: SweepAnswer) -> None:
        self._answer = answer
        self.doing.setText(f"{len(answer.table.rows):,} points; the picture and its table are saved from its menu.")
        self.column.offer([(title, name) for name, title in answer.titles.items()])
        self.column.show()
        self._show_column()

    def _show_column(self, _row: object = None) -> None:
        if self._answer is not None and (figure := self._answer.figures.get(self.column.currentData())) is not None:
            self.figure.show_figure(figure)

    def _forget(self) -> None:
        """End the sweep when another project is opened."""
        self.cancel()
        self._answer = None
        self.data.clear()
        self.column.hide()
        self.figure.show_empty()
        self.doing.clear()

    def _refresh(self) -> None:
        scenario, forecast = self._session.scenario, self._session.shown.forecast
        for varied in (self.first, self.second):
            varied.offer(scenario)
        system, blocks = system_of(scenario), None if self._of_project is None else self._of_project.blocks
        usual = str(blocks) if blocks is not None and system.has_geography else DEMONSTRATION
        if self.data.text() in {"", self._offered} and system.own_data(scenario) is None:
            self._offered = usual
            self.data.setText(usual)
        name = system.place_name
        places = [] if forecast is None else [(name(entry.place).title, entry.place) for entry in forecast.entries]
        self.measure.offer(
            [("none: loss and ε alone", ""), ("all margins", ALL), *places], first=self.measure.currentData()
        )


def _example(value: object) -> tuple[str, ...]:
    """Return how values of a parameter may be written: the words it takes, or half of its value, itself and double; and a range."""
    if isinstance(value, enum.Enum):
        return ("; ".join(value_text(each) for each in type(value)),)
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        return ("" if value is None else value_text(value),)
    low, high = (
        (max(1, value // 2), 2 * value or 2) if isinstance(value, int) else (value / 2, 2 * value or Fraction(1))
    )
    steps = next(each for each in (4, 3, 5, 2) if isinstance(value, Fraction) or (high - low) % (each - 1) == 0)
    low_text, now, high_text = (
        text if len(text := exact_text(Fraction(each))) <= _LETTERS else f"{float(each):.4g}"
        for each in (low, value, high)
    )
    return f"{low_text}; {now}; {high_text}", f"A range is written as {low_text} to {high_text} in {steps}"


def _shown(value: object) -> str:
    text = value_text(value)
    if not isinstance(value, Fraction) or "/" not in text:
        return text
    about = f"about {float(value):.6g}"
    return f"{text}, {about}" if len(text) <= _MOST_DIGITS else about
