"""The form that starts a TopDown run: data, expansion, trials, noise, workers, cluster, what is kept, early stop."""

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
from phexplore.gui.run_manager.launch_request import MOST_TRIALS, MOST_WORKERS
from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.gui.systems.topdown.launch import (
    MECHANISM_WORDS,
    TARGET_WORDS,
    TLS,
    TopDownFields,
    TopDownLaunch,
    read_place,
    read_topdown_fields,
    topdown_explanation,
)
from phexplore.gui.systems.topdown.launch_parts import (
    SHORT_FIELD,
    CommonSeed,
    KeptRun,
    Partner,
    StopPart,
    TlsPart,
    kept_runs,
    partner_of,
)
from phexplore.gui.theme.metrics import GRID, HALF, MARGIN
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import Text, field_label
from phexplore.gui.widgets.number_field import NumberField
from phexplore.model.scenario import Scenario
from phexplore.resources import resource
from phexplore.runs.place import HERE, Place
from phexplore.runs.spec import DEMONSTRATION, DEMONSTRATION_BLOCKS
from phexplore.workload.schema import load_schema


class TopDownLaunchForm(LaunchPart):
    """Asks for everything a TopDown run needs beside the scenario; a refused value keeps what was typed and says why.

    Signals:
        launched: the `TopDownLaunch` the user wants.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "card")
        self.setAccessibleName("Start a TopDown run")
        self._blocked = ""
        self._scenario: Scenario | None = None
        self._rows: tuple[RunRow, ...] = ()
        self._kept: tuple[KeptRun, ...] = ()
        self._partner: Partner | None = None
        self._asked: tuple[Scenario | None, tuple[Path, ...]] = (None, ())
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
            tls=self.tls.files,
            stops=self.stop.stops.isChecked(),
            stop_figure=self.stop.figure.currentData(),
            stop_level=self.stop.level.currentData() or "",
            stop_query=self.stop.query.currentData() or "",
            stop_error=self.stop.limit.text(),
            again=self.measurements.currentData() or "",
        )

    @property
    def place(self) -> Place:
        """Where a run is to be computed: on the scheduler whose address stands in the form, else here."""
        try:
            return read_place(self.scheduler.text(), self.tls.files)
        except ValueError:
            return HERE

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
        self.tls.show_files(fields.tls)
        self.stop.stops.setChecked(fields.stops)
        self.stop.figure.select(fields.stop_figure)
        self.stop.level.select(fields.stop_level or self.stop.level.currentData())
        self.stop.query.select(fields.stop_query or self.stop.query.currentData())
        self.stop.limit.setText(fields.stop_error)
        self.measurements.select(fields.again)
        self._refresh()

    def leave_place(self) -> None:
        """Forget the address of the scheduler."""
        self.scheduler.clear()

    def refusal(self, scenario: Scenario) -> str:
        """Return why the schema cannot be simulated yet, "" where it can."""
        limit = load_schema(scenario.topdown.schema).analytic_only
        return f"This schema cannot be simulated yet. {limit} Its forecast is complete." if limit else ""

    def show_scenario(self, scenario: Scenario) -> None:
        """Offer the levels and query groups of the scenario a run would simulate."""
        method = scenario.topdown
        queries = dict.fromkeys(["total", *(key.query for key in method.query_shares)])
        self.stop.offer(method.levels, [each for each in queries if each != "detailed"])
        self._scenario = scenario
        self._offer_kept()
        self._find_partner()

    def show_runs(self, rows: tuple[RunRow, ...]) -> None:
        """Offer the measurements that runs kept, and the seed of another scenario's run."""
        self._rows = rows
        self._offer_kept()
        self._find_partner()

    def use_blocks(self, path: Path | None) -> None:
        """Take the data from a file of blocks, from the demonstration where there is none."""
        self.path.setText(DEMONSTRATION if path is None or path == resource(DEMONSTRATION_BLOCKS) else str(path))

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
        self.path = _line("Block data", "block file, or folder with microdata", DEMONSTRATION)
        self.path.setToolTip("“demo” is 4,000 synthetic blocks in 16 cells, shipped with the program.")
        self.measurements = Chooser("Where the noisy answers come from", letters=11)
        self.measurements.setToolTip(
            "Noisy answers that a run kept can be post-processed again with the passes, invariants and constraints of this "
            "scenario."
        )
        self.measurements.addItem("Draw new ones", "")
        self.browse = TextButton("Choose…", name="Choose the block data")
        self.browse.clicked.connect(self._browse)
        self.expands = QCheckBox("E&xpand 16 cells, seed")
        self.expands.setToolTip(
            "Public block files have 16 cells per block. The full 2,016 are invented by a seeded rule that keeps every "
            "published margin."
        )
        self.expand = _line("Seed of the expansion", "", "1", SHORT_FIELD)
        self.trials = NumberField("Trials", 1, MOST_TRIALS, 4)
        self.noisy = QCheckBox("Draw &noise")
        self.noisy.setChecked(True)
        self.noisy.setToolTip(
            "Without noise the estimate starts from exact measurements: it shows post-processing alone."
        )
        self.seeded = QCheckBox("Noise from a &seed")
        self.seeded.setChecked(True)
        self.seed = _line("Seed", "", "1", SHORT_FIELD)
        self.workers = NumberField("Workers", 1, MOST_WORKERS, min(2, MOST_WORKERS))
        self.workers.setToolTip("Threads of this machine; they change no byte of the result.")
        self.mechanism = Chooser("Mechanism", letters=11)
        for mechanism, words in MECHANISM_WORDS.items():
            self.mechanism.addItem(words, mechanism)
        self.target = Chooser("What the rounder draws to", letters=11)
        for target, words in TARGET_WORDS.items():
            self.target.addItem(words, target)
        self.microdata = QCheckBox("Write &microdata and tables")
        self.keeps = QCheckBox("&Keep the noisy answers")
        self.keeps.setToolTip("Post-processing can then be run again alone, with other passes or constraints.")
        self.scheduler = _line("Address of a Dask scheduler", "this machine; or tls://host:8786")
        self.scheduler.setToolTip(
            "The machine at this address can run code here. It is asked for each time, also before Resume and Run again."
        )
        self.tls = TlsPart()
        self.tls.changed.connect(self._refresh)
        self.common = CommonSeed()
        self.common.wanted.connect(self.seed.setText)
        self.stop = StopPart()
        self._typed = {
            "path": self.path,
            "expand": self.expand,
            "seed": self.seed,
            "scheduler": self.scheduler,
            "stop_error": self.stop.limit,
        }
        self.run = TextButton("Start run", look="primary", symbol="run")
        self.run.clicked.connect(self.launch)
        self._reasons = {name: Text(look="refused", wrap=True) for name in self._typed}
        self._sentence = Text(look="muted", wrap=True)
        for chooser in (self.mechanism, self.target):
            chooser.currentIndexChanged.connect(self._refresh)
        self.measurements.currentIndexChanged.connect(self._on_measurements)
        self.stop.changed.connect(self._refresh)
        for line in (self.path, self.expand, self.seed, self.scheduler):
            line.textChanged.connect(self._refresh)
        for box in (self.expands, self.noisy, self.seeded):
            box.toggled.connect(self._refresh)

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID)
        form.addRow("Noisy answers", self.measurements)
        form.addRow(field_label("&Data", self.path), _row(self.path, self.browse))
        form.addRow("", self._reasons["path"])
        form.addRow("", _row(self.expands, self.expand))
        form.addRow("", self._reasons["expand"])
        form.addRow(field_label("&Trials", self.trials), self.trials)
        form.addRow("", self.noisy)
        form.addRow("", _row(self.seeded, self.seed))
        form.addRow("", self._reasons["seed"])
        form.addRow("", self.common)
        form.addRow("Mechanism", self.mechanism)
        form.addRow("Rounding", self.target)
        form.addRow(field_label("&Workers", self.workers), self.workers)
        form.addRow("Cluster", self.scheduler)
        form.addRow("", self.tls)
        form.addRow("", self._reasons["scheduler"])
        form.addRow("", self.microdata)
        form.addRow("", self.keeps)
        form.addRow("", self.stop)
        form.addRow("", self._reasons["stop_error"])
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, GRID + HALF, MARGIN, MARGIN)
        column.setSpacing(GRID)
        head = QHBoxLayout()
        head.addWidget(Text("TopDown run", bold=True, relative=1.08), 1)
        head.addWidget(self.run)
        column.addLayout(head)
        column.addWidget(self._sentence)
        column.addLayout(form)

    def _refresh(self) -> None:
        """Show what the fields mean, which of them count, and why the run cannot be started."""
        fields = self.fields
        measures = not fields.again
        draws = measures and fields.noisy
        for field in (self.path, self.browse, self.expands, self.noisy, self.mechanism, self.keeps):
            field.setEnabled(measures)
        self.trials.setEnabled(draws or not measures)
        self.seeded.setEnabled(draws)
        self.seed.setEnabled(draws and fields.seeded)
        self.stop.allow(allowed=draws)
        self.expand.setEnabled(measures and fields.expands)
        self.common.show_partner(self._partner, fields.seed if draws and fields.seeded else None)
        self.tls.setVisible(fields.scheduler.strip().startswith(TLS))
        read = read_topdown_fields(fields)
        problems = {} if isinstance(read, TopDownLaunch) else read
        for name, label in self._reasons.items():
            reason, typed = problems.get(name, ""), self._typed[name]
            shown = bool(reason) and (name != "path" or bool(fields.path.strip()))
            label.setText(reason if shown else "")
            label.setVisible(shown)
            _mark_refused(typed, refused=shown)
        self._sentence.setText(self._blocked or topdown_explanation(fields))
        self._sentence.set_look("attention" if self._blocked else "muted")
        self.run.setEnabled(not problems and not self._blocked)
        self.run.setToolTip(self._blocked or " ".join(problems.values()))

    def _offer_kept(self) -> None:
        found = () if self._scenario is None else kept_runs(self._rows, self._scenario.topdown.schema)
        if found == self._kept:
            return
        self._kept = found
        held = self.measurements.currentData() or ""
        blocked = self.measurements.blockSignals(True)
        self.measurements.clear()
        self.measurements.addItem("Draw new ones", "")
        for each in found:
            self.measurements.addItem(each.words, str(each.directory))
        self.measurements.select(held if held in {str(each.directory) for each in found} else "")
        self.measurements.blockSignals(blocked)
        self._on_measurements(0)

    def _on_measurements(self, _index: int) -> None:
        """Take data and number of trials from the run whose answers are post-processed again."""
        directory = self.measurements.currentData() or ""
        kept = next((each for each in self._kept if str(each.directory) == directory), None)
        self.trials.setMaximum(MOST_TRIALS if kept is None else kept.trials)
        if kept is not None:
            self.path.setText(kept.data)
            self.trials.setValue(kept.trials)
        self._refresh()

    def _find_partner(self) -> None:
        asked = (self._scenario, tuple(row.directory for row in self._rows))
        if asked == self._asked:
            return  # rows come four times a second while a run works
        self._asked = asked
        found = None if self._scenario is None else partner_of(self._scenario, self._rows)
        if found != self._partner:
            self._partner = found
            self._refresh()

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


def _mark_refused(field: QLineEdit, *, refused: bool) -> None:
    wanted = "true" if refused else "false"
    if field.property("refused") != wanted:
        field.setProperty("refused", wanted)
        field.style().unpolish(field)
        field.style().polish(field)
