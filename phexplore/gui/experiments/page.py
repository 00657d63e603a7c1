"""The page of experiments: what the papers show, reproduced by one click, with the published figures beside."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from phexplore.errors import PhexploreError
from phexplore.gui.experiments.process import ExperimentProcess
from phexplore.gui.figures.view import FigureView
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import ElidedText, Text, field_label
from phexplore.systems.experiments import Experiment, Parameter, Picture, read_pictures

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
            item = QListWidgetItem(experiment.title)
            item.setToolTip(experiment.sentence)
            self.list.addItem(item)
        self._about, self._duration = Text(wrap=True), Text(look="muted", wrap=True)
        self._forms = QStackedWidget()
        self.fields = {each.id: self._make_form(each) for each in self._experiments}
        self.start = TextButton("Run experiment", look="primary", symbol="run")
        self.start.clicked.connect(self.run)
        self.cancel = TextButton("Stop")
        self.cancel.clicked.connect(self.process.stop)
        self.bar = QProgressBar()
        self.bar.setAccessibleName("Progress of the experiment")
        self.bar.setTextVisible(False)
        self._said = ElidedText(look="muted")
        self.picture = Chooser("Picture", letters=16)
        self.notes = Text(look="muted", wrap=True)
        self.view = FigureView("Figures of the experiment", _TEACHING)
        self.view.failed.connect(self.failed)
        self._lay_out()
        self.list.currentRowChanged.connect(self._show_experiment)
        self.picture.currentIndexChanged.connect(self._show_picture)
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

    def shut_down(self) -> None:
        """End what is running because the window closes."""
        self.process.shut_down()

    # Building

    def _make_form(self, experiment: Experiment) -> dict[str, Callable[[], str]]:
        place = QWidget()
        form = QFormLayout(place)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID)
        found: dict[str, Callable[[], str]] = {}
        for parameter in experiment.parameters:
            widget, read = self._field(experiment, parameter)
            form.addRow(parameter.title, widget)
            found[parameter.key] = read
        self._forms.addWidget(place)
        return found

    def _field(self, experiment: Experiment, parameter: Parameter) -> tuple[QWidget, Callable[[], str]]:
        name = f"{parameter.title}: {experiment.title}"
        if parameter.choices:
            chooser = Chooser(name)
            for value, words in parameter.choices:
                chooser.addItem(words, value)
            chooser.select(parameter.default)
            chooser.currentIndexChanged.connect(self._reload)
            return chooser, lambda: str(chooser.currentData())
        line = QLineEdit(parameter.default)
        line.setAccessibleName(name)
        line.setPlaceholderText(parameter.hint)
        line.editingFinished.connect(self._reload)
        if not parameter.is_file:
            return line, line.text
        browse = TextButton("Browse…", name=f"Choose the file: {name}")
        browse.clicked.connect(lambda: self._browse(line))
        both = QWidget()
        row = QHBoxLayout(both)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(HALF)
        row.addWidget(line, 1)
        row.addWidget(browse)
        return both, line.text

    def _lay_out(self) -> None:
        card = QFrame()
        card.setProperty("look", "card")
        column = QVBoxLayout(card)
        column.setContentsMargins(MARGIN, GRID + HALF, MARGIN, MARGIN)
        column.setSpacing(GRID)
        column.addWidget(Text("Experiments", bold=True, relative=1.08))
        self.list.setFixedHeight(max(2, len(self._experiments)) * 4 * GRID)
        for widget in (self.list, self._about, self._forms, self._duration):
            column.addWidget(widget)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.start)
        column.addLayout(buttons)
        column.addWidget(self.bar)
        column.addWidget(self._said)
        column.addStretch(1)
        left = QScrollArea()
        left.setWidgetResizable(True)
        left.setFrameShape(QFrame.Shape.NoFrame)
        left.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        left.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        left.setWidget(card)
        left.setMinimumWidth(40 * GRID)
        right = QWidget()
        pictures = QVBoxLayout(right)
        pictures.setContentsMargins(0, 0, 0, 0)
        pictures.setSpacing(GRID)
        head = QHBoxLayout()
        head.addWidget(field_label("&Picture", self.picture))
        head.addWidget(self.picture, 1)
        pictures.addLayout(head)
        pictures.addWidget(self.view, 1)
        pictures.addWidget(self.notes)
        both = QSplitter(Qt.Orientation.Horizontal)
        both.setChildrenCollapsible(False)
        both.addWidget(left)
        both.addWidget(right)
        both.setStretchFactor(1, 1)
        both.setHandleWidth(GRID)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(MARGIN, GRID, MARGIN, GRID)
        whole.addWidget(both)

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
        blocked = self.picture.blockSignals(True)
        self.picture.clear()
        for number, picture in enumerate(self._pictures):
            self.picture.addItem(picture.title, number)
        self.picture.blockSignals(blocked)
        self.picture.setEnabled(len(self._pictures) > 1)
        self._show_picture()

    def _show_picture(self, _index: int = 0) -> None:
        number = self.picture.currentIndex()
        if not 0 <= number < len(self._pictures):
            self.view.show_empty(_TEACHING)
            self.notes.setText("")
            return
        picture = self._pictures[number]
        self.view.show_figure(picture.content)
        self.notes.setText(" ".join(picture.notes))

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
        self.start.setEnabled(not busy)
        self.cancel.setEnabled(busy)
        self.bar.setVisible(busy)
        self.bar.setRange(0, 0)
        if busy and self._running is not None:
            self._said.setText(f"{self._running.title} is running beside the window.")
        elif not busy and self._running is not None:
            self._said.setText("Stopped; what was finished is kept.")

    def _browse(self, line: QLineEdit) -> None:
        dialog = QFileDialog(self, "Choose the table", line.text())
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["Tables (*.csv *.csv.gz)", "All files (*)"])

        def take(name: str) -> None:
            line.setText(name)
            self._reload()

        dialog.fileSelected.connect(take)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
