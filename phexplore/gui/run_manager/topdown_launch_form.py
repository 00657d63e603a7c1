"""The form that starts a TopDown run: data, expansion, trials, noise, workers, cluster, what is kept, early stop."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from phexplore.gui.charts.controls import field_label
from phexplore.gui.run_manager.launch import MOST_TRIALS, MOST_WORKERS
from phexplore.gui.run_manager.topdown_launch import (
    MECHANISM_WORDS,
    TARGET_WORDS,
    TopDownFields,
    TopDownLaunch,
    read_topdown_fields,
    topdown_explanation,
)
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import Text

SHORT_FIELD = 12 * GRID
_TYPED = ("path", "expand", "seed", "scheduler", "stop_error")


class TopDownLaunchForm(QFrame):
    """Asks for everything a TopDown run needs beside the scenario; a refused value keeps what was typed and says why.

    Signals:
        launched: the `TopDownLaunch` the user wants.
    """

    launched = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "card")
        self.setAccessibleName("Start a TopDown run")
        self._blocked = ""
        self._make_fields()
        self._lay_out()
        self._refresh()

    @property
    def fields(self) -> TopDownFields:
        """What stands in the form."""
        return TopDownFields(
            path=self.path.text(),
            expands=self.expands.isChecked(),
            expand=self.expand.text(),
            trials=self.trials.value(),
            noisy=self.noisy.isChecked(),
            seeded=self.seeded.isChecked(),
            seed=self.seed.text(),
            workers=self.workers.value(),
            mechanism=self.mechanism.currentData(),
            target=self.target.currentData(),
            microdata=self.microdata.isChecked(),
            keeps=self.keeps.isChecked(),
            scheduler=self.scheduler.text(),
            stops=self.stops.isChecked(),
            stop_error=self.stop_error.text(),
        )

    def show_fields(self, fields: TopDownFields) -> None:
        """Fill the form."""
        self.path.setText(fields.path)
        self.expands.setChecked(fields.expands)
        self.expand.setText(fields.expand)
        self.trials.setValue(fields.trials)
        self.noisy.setChecked(fields.noisy)
        self.seeded.setChecked(fields.seeded)
        self.seed.setText(fields.seed)
        self.workers.setValue(fields.workers)
        self.mechanism.select(fields.mechanism)
        self.target.select(fields.target)
        self.microdata.setChecked(fields.microdata)
        self.keeps.setChecked(fields.keeps)
        self.scheduler.setText(fields.scheduler)
        self.stops.setChecked(fields.stops)
        self.stop_error.setText(fields.stop_error)

    def use_folder(self, folder: Path) -> None:
        """Take the data from a file or folder, e.g. one dropped on the window."""
        self.path.setText(str(folder))

    def block(self, reason: str) -> None:
        """Say why the scenario cannot be run now; "" allows it."""
        self._blocked = reason
        self._refresh()

    def launch(self) -> None:
        """Do what the button does."""
        read = read_topdown_fields(self.fields)
        if isinstance(read, TopDownLaunch) and not self._blocked:
            self.launched.emit(read)

    def _make_fields(self) -> None:
        self.path = _line("Block data", "block file, or folder with microdata")
        self.browse = TextButton("Choose…", name="Choose the block data")
        self.browse.clicked.connect(self._browse)
        self.expands = QCheckBox("E&xpand 16 cells to the full schema, seed")
        self.expands.setToolTip(
            "Public block files have 16 cells per block. The full 2,016 are invented by a seeded rule that keeps every "
            "published margin."
        )
        self.expand = _line("Seed of the expansion", "", "1", SHORT_FIELD)
        self.trials = _number("Trials", 1, MOST_TRIALS, 4)
        self.noisy = QCheckBox("Draw &noise")
        self.noisy.setChecked(True)
        self.noisy.setToolTip(
            "Without noise the estimate starts from exact measurements: it shows post-processing alone."
        )
        self.seeded = QCheckBox("Noise from a &seed")
        self.seeded.setChecked(True)
        self.seed = _line("Seed", "", "1", SHORT_FIELD)
        self.workers = _number("Workers", 1, MOST_WORKERS, min(2, MOST_WORKERS))
        self.workers.setToolTip("Threads of this machine; they change no byte of the result.")
        self.mechanism = Chooser("Mechanism")
        for mechanism, words in MECHANISM_WORDS.items():
            self.mechanism.addItem(words, mechanism)
        self.target = Chooser("What the rounder draws to")
        for target, words in TARGET_WORDS.items():
            self.target.addItem(words, target)
        self.microdata = QCheckBox("Write &microdata and tables")
        self.keeps = QCheckBox("&Keep the noisy answers")
        self.keeps.setToolTip("Post-processing can then be run again alone, with other passes or constraints.")
        self.scheduler = _line("Address of a Dask scheduler", "this machine; or tcp://host:8786")
        self.stops = QCheckBox("Stop &early: coverage known to ±")
        self.stop_error = _line("Limit of the error of the coverage", "", "0.5 %", SHORT_FIELD)
        self.run = TextButton("Start run", look="primary", symbol="run")
        self.run.clicked.connect(self.launch)
        self._reasons = {name: Text(look="refused", wrap=True) for name in _TYPED}
        self._sentence = Text(look="muted", wrap=True)
        for chooser in (self.mechanism, self.target):
            chooser.currentIndexChanged.connect(self._refresh)
        for line in (self.path, self.expand, self.seed, self.scheduler, self.stop_error):
            line.textChanged.connect(self._refresh)
        for box in (self.expands, self.noisy, self.seeded, self.stops):
            box.toggled.connect(self._refresh)

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID)
        form.addRow(field_label("&Data", self.path), _row(self.path, self.browse))
        form.addRow("", self._reasons["path"])
        form.addRow("", _row(self.expands, self.expand))
        form.addRow("", self._reasons["expand"])
        form.addRow(field_label("&Trials", self.trials), self.trials)
        form.addRow("", self.noisy)
        form.addRow("", _row(self.seeded, self.seed))
        form.addRow("", self._reasons["seed"])
        form.addRow("Mechanism", self.mechanism)
        form.addRow("Rounding", self.target)
        form.addRow(field_label("&Workers", self.workers), self.workers)
        form.addRow("Cluster", self.scheduler)
        form.addRow("", self._reasons["scheduler"])
        form.addRow("", self.microdata)
        form.addRow("", self.keeps)
        form.addRow("", _row(self.stops, self.stop_error))
        form.addRow("", self._reasons["stop_error"])
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, GRID + HALF, MARGIN, MARGIN)
        column.setSpacing(GRID)
        column.addWidget(Text("Start a TopDown run", bold=True, relative=1.08))
        column.addLayout(form)
        column.addWidget(self._sentence)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.run)
        column.addLayout(buttons)

    def _refresh(self) -> None:
        """Show what the fields mean, which of them count, and why the run cannot be started."""
        fields = self.fields
        for field in (self.trials, self.seeded, self.stops):
            field.setEnabled(fields.noisy)
        self.seed.setEnabled(fields.noisy and fields.seeded)
        self.stop_error.setEnabled(fields.noisy and fields.stops)
        self.expand.setEnabled(fields.expands)
        read = read_topdown_fields(fields)
        problems = {} if isinstance(read, TopDownLaunch) else read
        for name, label in self._reasons.items():
            reason, typed = problems.get(name, ""), getattr(self, name)
            shown = bool(reason) and (name != "path" or bool(fields.path.strip()))
            label.setText(reason if shown else "")
            label.setVisible(shown)
            _mark_refused(typed, refused=shown)
        self._sentence.setText(self._blocked or topdown_explanation(fields))
        self._sentence.set_look("attention" if self._blocked else "muted")
        self.run.setEnabled(not problems and not self._blocked)
        self.run.setToolTip(self._blocked or " ".join(problems.values()))

    def _browse(self) -> None:
        dialog = QFileDialog(self, "Choose the block data", self.path.text())
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["Block data (*.csv *.csv.gz *.txt *.gz)", "All files (*)"])
        dialog.fileSelected.connect(self.path.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


def _row(first: QWidget, second: QWidget) -> QWidget:
    both = QWidget()
    row = QHBoxLayout(both)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(GRID)
    row.addWidget(first, 1)
    row.addWidget(second)
    return both


def _line(name: str, hint: str, text: str = "", width: int = 0) -> QLineEdit:
    field = QLineEdit(text)
    field.setAccessibleName(name)
    field.setPlaceholderText(hint)
    if width:
        field.setMaximumWidth(width)
    return field


def _number(name: str, least: int, most: int, value: int) -> QSpinBox:
    """Return a field for a whole number; runs are counted in it, never budgets."""
    box = QSpinBox()
    box.setAccessibleName(name)
    box.setRange(least, most)
    box.setValue(value)
    box.setGroupSeparatorShown(True)
    box.lineEdit().setTextMargins(GRID, 0, 0, 0)  # the style sheet pads the box, not the line in it
    return box


def _mark_refused(field: QLineEdit, *, refused: bool) -> None:
    wanted = "true" if refused else "false"
    if field.property("refused") != wanted:
        field.setProperty("refused", wanted)
        field.style().unpolish(field)
        field.style().polish(field)
