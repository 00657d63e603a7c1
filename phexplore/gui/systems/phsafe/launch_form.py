"""The form that starts a run: data, trials, noise, workers, early stop."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from phexplore.gui.run_manager.launch_part import LaunchPart
from phexplore.gui.run_manager.launch_request import MOST_TRIALS, MOST_WORKERS, LaunchRequest
from phexplore.gui.systems.phsafe.launch import DATA_WORDS, FOLDER, LaunchFields, explanation, read_fields
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import Text, field_label
from phexplore.gui.widgets.number_field import NumberField
from phexplore.runs.spec import MODE_WORDS, RunMode

SHORT_FIELD = 12 * GRID
"""Width of fields for a few figures."""


class LaunchForm(LaunchPart):
    """Asks for everything a run needs beside the scenario; a refused value keeps what was typed and says why.

    Signals:
        launched: the `LaunchRequest` the user wants.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "card")
        self.setAccessibleName("Start a run")
        self._blocked = ""
        self._make_fields()
        self._lay_out()
        self._refresh()

    @property
    def fields(self) -> LaunchFields:
        """What stands in the form."""
        return LaunchFields(
            data=self.data.currentData(),
            folder=self.folder.text(),
            trials=self.trials.value(),
            mode=self.mode.currentData(),
            seeded=self.seeded.isChecked(),
            seed=self.seed.text(),
            workers=self.workers.value(),
            stops=self.stops.isChecked(),
            stop_error=self.stop_error.text(),
        )

    def show_fields(self, fields: LaunchFields) -> None:
        """Fill the form."""
        self.data.setCurrentIndex(self.data.findData(fields.data))
        self.folder.setText(fields.folder)
        self.trials.setValue(fields.trials)
        self.mode.setCurrentIndex(self.mode.findData(fields.mode))
        self.seeded.setChecked(fields.seeded)
        self.seed.setText(fields.seed)
        self.workers.setValue(fields.workers)
        self.stops.setChecked(fields.stops)
        self.stop_error.setText(fields.stop_error)

    def use_folder(self, folder: Path) -> None:
        """Take the data from a folder, e.g. one dropped on the window."""
        self.data.setCurrentIndex(self.data.findData(FOLDER))
        self.folder.setText(str(folder))

    def block(self, reason: str) -> None:
        """Say why the scenario cannot be run now; "" allows it."""
        self._blocked = reason
        self._refresh()

    def launch(self) -> None:
        """Do what the button does."""
        read = read_fields(self.fields)
        if isinstance(read, LaunchRequest) and not self._blocked:
            self.launched.emit(read)

    def _make_fields(self) -> None:
        self.data = Chooser("Data", letters=11)
        for key, words in DATA_WORDS.items():
            self.data.addItem(words, key)
        self.folder = QLineEdit()
        self.folder.setAccessibleName("Folder of the data")
        self.folder.setPlaceholderText("folder with persons, units, geo (.csv or .parquet)")
        self.browse = TextButton("Choose…", name="Choose the folder of the data")
        self.browse.clicked.connect(self._browse)
        self.mode = Chooser("What is released", letters=11)
        for mode, words in MODE_WORDS.items():
            self.mode.addItem(words[0].upper() + words[1:], mode)
        self.trials = NumberField("Trials", 1, MOST_TRIALS, 20)
        self.trials.setToolTip("How many simulated releases. The error of a simulated margin falls with their root.")
        self.seeded = QCheckBox("Noise from a &seed")
        self.seeded.setChecked(True)
        self.seeded.setToolTip(
            "With a seed a run can be repeated byte for byte; without one, nobody can draw it again."
        )
        self.seed = QLineEdit("1")
        self.seed.setAccessibleName("Seed")
        self.seed.setMaximumWidth(SHORT_FIELD)
        self.workers = NumberField("Workers", 1, MOST_WORKERS, 1)
        self.workers.setToolTip("Trials computed at the same time; changes no byte of the result.")
        self.stops = QCheckBox("Stop &early: coverage ±")
        self.stop_error = QLineEdit("0.5 %")
        self.stop_error.setAccessibleName("Limit of the error of the coverage")
        self.stop_error.setMaximumWidth(SHORT_FIELD)
        self.run = TextButton("Start run", look="primary", symbol="run")
        self.run.clicked.connect(self.launch)
        self._reasons = {name: Text(look="refused", wrap=True) for name in ("folder", "seed", "stop_error")}
        self._sentence = Text(look="muted", wrap=True)
        for chooser in (self.data, self.mode):
            chooser.currentIndexChanged.connect(self._refresh)
        for line_edit in (self.folder, self.seed, self.stop_error):
            line_edit.textChanged.connect(self._refresh)
        for box in (self.seeded, self.stops):
            box.toggled.connect(self._refresh)

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID)
        form.addRow(field_label("&Data", self.data), self.data)
        self._folder_row = self._row(self.folder, self.browse)
        form.addRow("", self._folder_row)
        form.addRow("", self._reasons["folder"])
        form.addRow(field_label("&Release", self.mode), self.mode)
        form.addRow(field_label("&Trials", self.trials), self.trials)
        form.addRow("", self._row(self.seeded, self.seed))
        form.addRow("", self._reasons["seed"])
        form.addRow(field_label("&Workers", self.workers), self.workers)
        form.addRow("", self._row(self.stops, self.stop_error))
        form.addRow("", self._reasons["stop_error"])
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, GRID + HALF, MARGIN, MARGIN)
        column.setSpacing(GRID)
        column.addWidget(Text("Start a run", bold=True, relative=1.08))
        column.addLayout(form)
        column.addWidget(self._sentence)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.run)
        column.addLayout(buttons)

    @staticmethod
    def _row(first: QWidget, second: QWidget) -> QWidget:
        both = QWidget()
        row = QHBoxLayout(both)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(first, 1)
        row.addWidget(second)
        return both

    def _refresh(self) -> None:
        """Show what the fields mean, which of them count, and why the run cannot be started."""
        fields = self.fields
        noisy, folder = fields.mode is RunMode.PRIVATE, fields.data == FOLDER
        self._folder_row.setVisible(folder)
        for field in (self.trials, self.seeded, self.stops, self.workers):
            field.setEnabled(noisy)
        self.seed.setEnabled(noisy and fields.seeded)
        self.stop_error.setEnabled(noisy and fields.stops)
        read = read_fields(fields)
        problems = {} if isinstance(read, LaunchRequest) else read
        for name, label in self._reasons.items():
            reason = problems.get(name, "")
            asked = name != "folder" or bool(fields.folder)
            label.setText(reason if asked else "")
            label.setVisible(bool(reason) and asked)
        for name, typed in (("folder", self.folder), ("seed", self.seed), ("stop_error", self.stop_error)):
            _mark_refused(typed, refused=name in problems and bool(typed.text()))
        self._sentence.setText(self._blocked or explanation(fields))
        self._sentence.set_look("attention" if self._blocked else "muted")
        self.run.setEnabled(not problems and not self._blocked)
        self.run.setToolTip(self._blocked or " ".join(problems.values()))

    def _browse(self) -> None:
        dialog = QFileDialog(self, "Choose the folder of the data", self.folder.text())
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.folder.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


def _mark_refused(field: QLineEdit, *, refused: bool) -> None:
    if bool(field.property("refused")) != refused:
        field.setProperty("refused", refused)
        field.style().unpolish(field)
        field.style().polish(field)
