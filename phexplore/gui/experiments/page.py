"""The page of experiments: what the papers show, reproduced by one click, with the published figures beside."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QProgressBar, QSizePolicy, QStackedWidget, QWidget

from phexplore import entry
from phexplore.errors import PhexploreError
from phexplore.figures.wording import capital
from phexplore.files.atomic_files import write_atomically
from phexplore.gui.binding.process_service import CommandError, CommandProcess
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.theme.number_style import localised
from phexplore.gui.widgets.beside import Beside
from phexplore.gui.widgets.buttons import Chooser, TextButton, take_turns
from phexplore.gui.widgets.file_dialogs import ask_to_open
from phexplore.gui.widgets.labels import ElidedText, Text, field_label
from phexplore.gui.widgets.layout import card, column, form, row, stacked
from phexplore.gui.widgets.number_field import LineField
from phexplore.gui.widgets.page import scrolling
from phexplore.systems.experiments import RESULT_FILE, Experiment, Parameter, Picture, read_pictures

_PROGRESS = re.compile(r"([0-9,]+) of ([0-9,]+)\b")


class ExperimentProcess(CommandProcess):
    """Runs one experiment at a time. Stopped, it keeps what is finished; the next start takes that over.

    Signals:
        progressed: (sentence, units done, units in all; 0 = unknown).
        finished: the `Path` of its folder, which holds `RESULT_FILE`.
    """

    progressed = Signal(object, object, object)
    finished = Signal(object)

    def __init__(self, parent: QObject | None = None, *, command: Sequence[str] | None = None) -> None:
        """Prepare.

        Args:
            parent: owner.
            command: program to start instead of this one.
        """
        super().__init__(parent, work="The experiment", niceness=0)
        self._command = list(entry.program_command() if command is None else command)
        self._folder = Path()
        self.said.connect(self._on_line)
        self.done.connect(self._keep)

    def run(self, arguments: Sequence[str], folder: Path) -> None:
        """Start an experiment; refused while another one runs.

        Args:
            arguments: of the command line.
            folder: takes its result.
        """
        if not self.is_busy:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                self.failed.emit(CommandError(f"{folder} cannot be made: {error.strerror}.", "Free some space."))
                return
            self._folder = folder
        self.start([*self._command, *arguments])

    def _on_line(self, line: str) -> None:
        if line.strip():
            match = _PROGRESS.search(line)
            done, total = (int(part.replace(",", "")) for part in match.groups()) if match else (0, 0)
            self.progressed.emit(line.strip(), done, total)

    def _keep(self, answer: str) -> None:
        try:
            json.loads(answer)
            write_atomically(self._folder / RESULT_FILE, answer.encode())
        except (ValueError, PhexploreError) as error:
            self.failed.emit(CommandError(f"The result cannot be kept: {error}", "Run it again."))
            return
        self.finished.emit(self._folder)


_TEACHING = "Run the experiment: its figures appear here, with the published ones beside where the paper prints any."


class ExperimentPage(QWidget):
    """A list of experiments with their forms at the left, the pictures of the chosen one at the right.

    Signals:
        failed: a `PhexploreError` of a chart or an experiment.
    """

    failed = Signal(object)

    def __init__(
        self,
        experiments: Sequence[Experiment],
        home: Path,
        parent: QWidget | None = None,
        *,
        process: ExperimentProcess | None = None,
    ) -> None:
        """Offer experiments.

        Args:
            experiments: that the system of the active scenario offers.
            home: folder of the results, which are kept from one start of the program to the next.
            parent: owner.
            process: runs them; one of its own by default.
        """
        super().__init__(parent)
        self._home = home
        self._experiments = tuple(experiments)
        self._pictures: tuple[Picture, ...] = ()
        self.process = process or ExperimentProcess(self)
        self._running: Experiment | None = None
        self.list = QListWidget()
        self.list.setAccessibleName("Experiments")
        self.list.setWordWrap(True)
        for experiment in self._experiments:
            item = QListWidgetItem(localised(experiment.title))
            item.setToolTip(localised(experiment.sentence))
            self.list.addItem(item)
        self._about, self._duration = Text(wrap=True), Text(look="muted", wrap=True)
        self._forms = QStackedWidget()
        self._lines: dict[tuple[str, str], LineField] = {}
        self.fields = {each.id: self._make_form(each) for each in self._experiments}
        self.start = TextButton("Run experiment", look="primary", symbol="run", run=self.run)
        self.cancel = TextButton("Stop", run=self.process.stop)
        self.bar = QProgressBar()
        self.bar.setAccessibleName("Progress of the experiment")
        self.bar.setTextVisible(False)
        self._said = ElidedText(look="muted")
        self.picture = Chooser("Picture", letters=16, run=self._show_picture)
        self.notes = Text(look="muted", wrap=True)
        self.view = FigureView("Figures of the experiment", _TEACHING)
        self.view.failed.connect(self.failed)
        self._lay_out()
        self.list.currentRowChanged.connect(self._show_experiment)
        self.process.progressed.connect(self._on_progress)
        self.process.finished.connect(self._on_finished)
        self.process.failed.connect(self._on_failed)
        self.process.busy_changed.connect(self._on_busy)
        self._on_busy(busy=False)
        self.list.setCurrentRow(0)

    @property
    def experiment(self) -> Experiment:
        """The chosen experiment."""
        return self._experiments[max(0, self.list.currentRow())]

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """What can be looked at."""
        return self._pictures

    def choose(self, experiment: str) -> None:
        """Show an experiment by its id."""
        self.list.setCurrentRow([each.id for each in self._experiments].index(experiment))

    def run(self) -> None:
        """Start the chosen experiment with what stands in its form."""
        experiment = self.experiment
        given = {key: read() for key, read in self.fields[experiment.id].items()}
        folder = self._folder(experiment)
        self._running = experiment
        self.process.run(list(experiment.command(folder, given)), folder)

    def run_with(self, experiment: str, values: Mapping[str, str]) -> None:
        """Show an experiment with values in fields of its form, and run it if it was not run with them before.

        Args:
            experiment: its id.
            values: by the key of the field.
        """
        self.choose(experiment)
        for key, value in values.items():
            self._lines[experiment, key].setText(value)
        self._reload()
        if not self._pictures:
            self.run()

    def shut_down(self) -> None:
        """End what is running because the window closes."""
        self.process.shut_down()

    # Building

    def _make_form(self, experiment: Experiment) -> dict[str, Callable[[], str]]:
        fields = {each.key: self._field(experiment, each) for each in experiment.parameters}
        place = QWidget()
        form(*((each.title, fields[each.key][0]) for each in experiment.parameters), of=place)
        self._forms.addWidget(place)
        return {key: read for key, (_, read) in fields.items()}

    def _field(self, experiment: Experiment, parameter: Parameter) -> tuple[QWidget, Callable[[], str]]:
        name = f"{parameter.title}: {experiment.title}"
        if parameter.choices:
            options = [(words, value) for value, words in parameter.choices]
            chooser = Chooser(name, options=options, run=self._reload)
            chooser.select(parameter.default)
            return chooser, lambda: str(chooser.currentData())
        example = "" if parameter.is_file else parameter.hint
        line = self._lines[experiment.id, parameter.key] = LineField(name, parameter.default, example=example)
        line.editingFinished.connect(self._reload)
        if not parameter.is_file:
            return line, line.text
        browse = TextButton("Browse…", name=f"Choose the file: {name}", run=lambda: self._browse(line))
        about = Text(f"{capital(parameter.hint)}.", look="muted", wrap=True)  # longer than the field is wide
        return stacked(row((line, 1), browse, gap=HALF), about, gap=HALF), line.text

    def _lay_out(self) -> None:
        self.list.setSizeAdjustPolicy(QListWidget.SizeAdjustPolicy.AdjustToContents)
        self.list.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        chosen = card(
            Text("Experiments", bold=True, relative=1.08),
            *(self.list, self._about, self._forms, self._duration),
            row(1, self.cancel, self.start),
            *(self.bar, self._said, 1),
            margins=(MARGIN, GRID + HALF, MARGIN, MARGIN),
        )
        left = scrolling("Experiments and their parameters", chosen)
        self._head = stacked(row(field_label("&Picture", self.picture), (self.picture, 1)))
        right = stacked(self._head, (self.view, 1), self.notes)
        both = Beside("Experiment", left, right, shares=(0, 1), sizes=(40 * GRID, 100 * GRID), handle=GRID)
        column(both, of=self, margins=(MARGIN, GRID, MARGIN, GRID))

    # What is shown

    def _show_experiment(self, row: int) -> None:
        if row < 0:
            return
        experiment = self.experiment
        self._about.setText(experiment.sentence)
        self._duration.setText(experiment.duration)
        self._forms.setCurrentIndex(row)
        self._reload()

    def _reload(self, _signal: object = None) -> None:
        """Show what was found earlier with exactly these parameters, if anything."""
        experiment = self.experiment
        folder = self._folder(experiment)
        try:
            self._pictures = read_pictures(experiment, folder)
        except PhexploreError as error:
            self._pictures = ()
            self.failed.emit(error)
        self.picture.offer([(picture.title, number) for number, picture in enumerate(self._pictures)])
        self.picture.select(0)
        self.picture.setEnabled(len(self._pictures) > 1)
        self._head.setVisible(bool(self._pictures))
        self._show_picture()

    def _show_picture(self, _index: int = 0) -> None:
        number = self.picture.currentIndex()
        picture = self._pictures[number] if 0 <= number < len(self._pictures) else None
        notes = "" if picture is None else " ".join(picture.notes)
        self.notes.setText(notes)
        self.notes.setVisible(bool(notes))  # else the picture ends above the card beside it
        if picture is None:
            self.view.show_empty(_TEACHING)
        else:
            self.view.show_figure(picture.content)

    def _folder(self, experiment: Experiment) -> Path:
        """Return the folder of an experiment with these values; another number of workers changes no figure."""
        given = {key: read() for key, read in self.fields[experiment.id].items() if key != "workers"}
        mark = hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:12]
        return self._home / f"{experiment.id}-{mark}"

    # What the process says

    def _on_progress(self, sentence: str, done: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self._said.setText(sentence)

    def _on_finished(self, folder: Path) -> None:
        self._said.setText("Finished.")
        if folder == self._folder(self.experiment):
            self._reload()

    def _on_failed(self, error: PhexploreError) -> None:
        self._said.setText(error.sentence)
        self.failed.emit(error)

    def _on_busy(self, busy: bool) -> None:
        take_turns(self.start, self.cancel, is_first=not busy)
        self.bar.setVisible(busy)
        self.bar.setRange(0, 0)
        if busy and self._running is not None:
            self._said.setText(f"{self._running.title} is running beside the window.")
        elif not busy and self._running is not None:
            self._said.setText("Stopped; what was finished is kept.")

    def _browse(self, line: LineField) -> None:
        def take(path: Path) -> None:
            line.setText(str(path))
            self._reload()

        kinds = "Tables (*.csv *.csv.gz);;All files (*)"
        ask_to_open(self, "Choose the table", take, kinds=kinds, folder=line.text())
