"""The form that starts a run of group sizes or of releases under exact sums: data, trials, noise, workers, early stop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from phexplore.gui.run_manager.counts_launch import CountsFields, counts_explanation, read_counts_fields
from phexplore.gui.run_manager.launch_part import LaunchPart
from phexplore.gui.run_manager.launch_request import MOST_TRIALS, MOST_WORKERS, LaunchRequest
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.form import DeclaredForm
from phexplore.gui.widgets.labels import Text, field_label
from phexplore.gui.widgets.number_field import NumberField
from phexplore.model.fields import Declared, Field, declared_fields


class CountsLaunchForm(LaunchPart):
    """Asks for everything a run needs beside the scenario; a refused value keeps what was typed and says why.

    Signals:
        launched: the `LaunchRequest` the user wants.
    """

    def __init__(
        self,
        title: str,
        shipped: str,
        hint: str,
        parent: QWidget | None = None,
        *,
        options: type[Declared] | None = None,
    ) -> None:
        """Make the form.

        Args:
            title: what it starts.
            shipped: the counts that came with the program.
            hint: what files are read.
            parent: owner.
            options: what a run of the system can be asked beside, None for nothing; all of it has a default.
        """
        super().__init__(parent)
        self.setProperty("look", "card")
        self.setAccessibleName(title)
        self._title, self._blocked = title, ""
        self._options = None if options is None else options()
        self.options = None if options is None else DeclaredForm(declared_fields(options), self._take_option)
        self.data = Chooser("Data", letters=11)
        self.data.addItem(shipped, True)
        self.data.addItem("A file or folder…", False)
        self.path = _line("File or folder with the counts", hint)
        self.browse = TextButton("Browse…", name="Choose the file with the counts")
        self.browse.clicked.connect(self._browse)
        self.trials = NumberField("Trials", 1, MOST_TRIALS, 10)
        self.noisy = QCheckBox("With noise")
        self.noisy.setChecked(True)
        self.seeded = QCheckBox("Same noise again, seed")
        self.seeded.setChecked(True)
        self.seeded.setToolTip("The same seed gives the same noise again")
        self.seed = _line("Seed", "e.g. 1", "1", width=10 * GRID)
        self.workers = NumberField("Trials at the same time", 1, MOST_WORKERS, 1)
        self.stops = QCheckBox("Stop at coverage ±")
        self.stops.setToolTip("End once the Monte-Carlo error of the margins' coverage is at most this")
        self.stop_error = _line("Limit of the coverage's error", "e.g. 0.5 %", "0.5 %", width=12 * GRID)
        self.run = TextButton("Start run", look="primary", symbol="run")
        self.run.clicked.connect(self.launch)
        self._sentence = Text(look="muted", wrap=True)
        self._reasons = {name: Text(look="refused", wrap=True) for name in ("path", "seed", "stop_error")}
        self._lay_out()
        self.data.currentIndexChanged.connect(self._refresh)
        for line in (self.path, self.seed, self.stop_error):
            line.textChanged.connect(self._refresh)
        for box in (self.noisy, self.seeded, self.stops):
            box.toggled.connect(self._refresh)
        self._refresh()

    @property
    def fields(self) -> CountsFields:
        """What stands in the form."""
        return CountsFields(
            shipped=bool(self.data.currentData()),
            path=self.path.text(),
            trials=self.trials.value(),
            noisy=self.noisy.isChecked(),
            seeded=self.seeded.isChecked(),
            seed=self.seed.text(),
            workers=self.workers.value(),
            stops=self.stops.isChecked(),
            stop_error=self.stop_error.text(),
        )

    def block(self, reason: str) -> None:
        """Say why the scenario cannot be run now; "" allows it."""
        self._blocked = reason
        self._refresh()

    def launch(self) -> None:
        """Do what the button does."""
        read = read_counts_fields(self.fields)
        if isinstance(read, LaunchRequest) and not self._blocked:
            self.launched.emit(replace(read, options=self._options))

    def _take_option(self, part: Field, _key: object, value: Any) -> str:
        changed: Any = {part.name: value}
        self._options = replace(self._options, **changed) if self._options is not None else None
        self._refresh()
        return ""

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID)
        form.addRow(field_label("&Data", self.data), self.data)
        form.addRow("", _row(self.path, self.browse))
        form.addRow("", self._reasons["path"])
        form.addRow(field_label("&Trials", self.trials), self.trials)
        form.addRow("", self.noisy)
        form.addRow("", self.seeded)
        form.addRow("", self.seed)
        form.addRow("", self._reasons["seed"])
        form.addRow(field_label("&Workers", self.workers), self.workers)
        form.addRow("", self.stops)
        form.addRow("", self.stop_error)
        form.addRow("", self._reasons["stop_error"])
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, GRID + HALF, MARGIN, MARGIN)
        column.setSpacing(GRID)
        column.addWidget(Text(self._title, bold=True, relative=1.08))
        column.addLayout(form)
        if self.options is not None:
            column.addWidget(self.options)
        column.addWidget(self._sentence)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.run)
        column.addLayout(buttons)

    def _refresh(self, _signal: object = None) -> None:
        """Show what the fields mean, which of them count, and why the run cannot be started."""
        if self.options is not None:
            self.options.show_value(self._options)
        fields = self.fields
        for widget in (self.path, self.browse):
            widget.setVisible(not fields.shipped)
        for field in (self.trials, self.seeded, self.stops):
            field.setEnabled(fields.noisy)
        self.seed.setEnabled(fields.noisy and fields.seeded)
        self.stop_error.setEnabled(fields.noisy and fields.stops)
        read = read_counts_fields(fields)
        problems = {} if isinstance(read, LaunchRequest) else read
        for name, label in self._reasons.items():
            reason = problems.get(name, "")
            shown = bool(reason) and (name != "path" or bool(fields.path.strip()))
            label.setText(reason if shown else "")
            label.setVisible(shown)
        self._sentence.setText(self._blocked or counts_explanation(fields))
        self._sentence.set_look("attention" if self._blocked else "muted")
        self.run.setEnabled(not problems and not self._blocked)
        self.run.setToolTip(self._blocked or " ".join(problems.values()))

    def _browse(self) -> None:
        dialog = QFileDialog(self, "Choose the counts", self.path.text())
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["Counts (*.csv *.csv.gz)", "All files (*)"])
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


def _line(name: str, hint: str, text: str = "", *, width: int = 0) -> QLineEdit:
    field = QLineEdit(text)
    field.setAccessibleName(name)
    field.setPlaceholderText(hint)
    if width:
        field.setMaximumWidth(width)
    return field
