"""Three parts of the form that starts a TopDown run: early end, kept measurements, certificates of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.gui.systems.topdown.launch import TLS_WORDS
from phexplore.gui.theme.metrics import GRID, HALF
from phexplore.gui.widgets.buttons import Chooser, TextButton
from phexplore.gui.widgets.labels import Text
from phexplore.model.fingerprint import fingerprint
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.runs.spec import RunMode
from phexplore.runs.states import RunState
from phexplore.runs.store import started_words
from phexplore.systems.topdown.run_options import Mechanism, TopDownOptions
from phexplore.systems.topdown.stop_choices import FEWEST_TRIALS, WATCHABLE, watchable
from phexplore.systems.topdown.wording import level_title, query_title

SHORT_FIELD = 12 * GRID


class TlsPart(QWidget):
    """Asks for the certificates of an encrypted connection to a scheduler.

    Signals:
        changed: another file is named.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.lines = [QLineEdit() for _words in TLS_WORDS]
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(HALF)
        for words, hint, field in zip(TLS_WORDS, ("authority", "certificate", "its key"), self.lines, strict=True):
            field.setAccessibleName(f"{words} (PEM)")
            field.setToolTip(f"{words} (PEM)")
            field.setPlaceholderText(f"{hint} (PEM)")
            field.textChanged.connect(self.changed)
            browse = TextButton("Choose…", name=f"Choose: {words}")
            browse.clicked.connect(partial(self._browse, words, field))
            row = QHBoxLayout()
            row.setSpacing(GRID)
            row.addWidget(field, 1)
            row.addWidget(browse)
            column.addLayout(row)
        self.hide()

    @property
    def files(self) -> tuple[str, ...]:
        """What was typed."""
        return tuple(field.text() for field in self.lines)

    def show_files(self, files: Sequence[str]) -> None:
        """Fill the fields."""
        for field, text in zip(self.lines, files, strict=True):
            field.setText(text)

    def _browse(self, words: str, field: QLineEdit) -> None:
        dialog = QFileDialog(self, words, field.text(), "Certificates and keys (*.pem *.crt *.key);;All files (*)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(field.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


class StopPart(QWidget):
    """Asks whether a run may end early: once which figure is known how precisely.

    Signals:
        changed: something else is asked for.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.stops = QCheckBox("Stop &early, once known")
        self.stops.setToolTip(
            "Trials end once the Monte-Carlo error of this figure (standard deviation between trials / √trials) is at most the "
            f"limit, after {FEWEST_TRIALS} trials at the earliest."
        )
        self.figure = Chooser("Figure that may end the run", letters=11)
        for choice in WATCHABLE:
            self.figure.addItem(choice.words, choice.id)
        self.level = Chooser("Level of the figure", letters=8)
        self.query = Chooser("Query of the figure", letters=10)
        self.limit = QLineEdit(WATCHABLE[0].limit)
        self.limit.setAccessibleName("Limit of the error of the figure")
        self.limit.setMaximumWidth(SHORT_FIELD)
        self._lay_out()
        self.figure.currentIndexChanged.connect(self._on_figure)
        for chooser in (self.level, self.query):
            chooser.currentIndexChanged.connect(self.changed)
        self.limit.textChanged.connect(self.changed)
        self.stops.toggled.connect(self.changed)
        self.allow(allowed=True)

    def offer(self, levels: Sequence[str], queries: Sequence[str]) -> None:
        """Offer these levels and query groups; what was chosen stays chosen where it can."""
        lists = (
            (self.level, [(level_title(each), each) for each in levels], "County"),
            (self.query, [(query_title(each), each) for each in queries], "total"),
        )
        for chooser, entries, otherwise in lists:
            if [chooser.itemData(n) for n in range(chooser.count())] == [data for _words, data in entries]:
                continue
            names = [data for _words, data in entries]
            held = chooser.currentData()
            blocked = chooser.blockSignals(True)
            chooser.clear()
            for words, data in entries:
                chooser.addItem(words, data)
            chooser.select(held if held in names else otherwise if otherwise in names else next(iter(names), None))
            chooser.blockSignals(blocked)

    def allow(self, *, allowed: bool) -> None:
        """Let the fields be used: there is noise, and fresh noise."""
        self.stops.setEnabled(allowed)
        wanted, choice = self.stops.isChecked(), watchable(self.figure.currentData())
        self._fields.setVisible(wanted)
        self._fields.setEnabled(allowed)
        self._where.setVisible(choice.has_level)
        self.query.setVisible(choice.has_query)

    def _on_figure(self, _index: int) -> None:
        self.limit.setText(watchable(self.figure.currentData()).limit)
        self.changed.emit()

    def _lay_out(self) -> None:
        self._fields = QWidget()
        self._where = QWidget()
        where = QHBoxLayout(self._where)
        what = QHBoxLayout()
        for row in (where, what):
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(GRID)
        where.addWidget(self.level, 1)
        where.addWidget(self.query, 1)
        what.addWidget(self.figure, 1)
        what.addWidget(Text("±"))
        what.addWidget(self.limit)
        inner = QVBoxLayout(self._fields)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(HALF)
        inner.addLayout(what)
        inner.addWidget(self._where)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(HALF)
        column.addWidget(self.stops)
        column.addWidget(self._fields)


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run whose noisy answers can be post-processed again.

    Attributes:
        directory: of the run.
        words: in the chooser.
        data: path of what it measured.
        trials: how many it measured.
    """

    directory: Path
    words: str
    data: str
    trials: int


def kept_runs(rows: Sequence[RunRow], schema: str) -> tuple[KeptRun, ...]:
    """Return the complete runs that kept their measurements, newest first.

    Args:
        rows: all runs, newest first.
        schema: of the scenario whose passes and constraints they are to be post-processed with.
    """
    found = []
    for row in rows:
        options = row.spec.options if row.spec is not None else None
        if row.spec is None or not isinstance(options, TopDownOptions) or row.state is not RunState.COMPLETE:
            continue
        if row.spec.scenario.topdown.schema != schema:
            continue
        if options.keep_measurements and options.mechanism is Mechanism.TOP_DOWN:
            words = f"Of {row.title}, {started_words(row.directory)}".rstrip(", ")
            found.append(KeptRun(row.directory, words, row.spec.data.path, row.trials))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Partner:
    """A seeded run of another scenario: with its seed both draw common random numbers.

    Attributes:
        name: of the scenario.
        seed: of the run.
    """

    name: str
    seed: int


def partner_of(scenario: Scenario, rows: Sequence[RunRow]) -> Partner | None:
    """Return the newest seeded TopDown run of other parameters, None without one."""
    mine = fingerprint(scenario)
    for row in rows:
        spec = row.spec
        if spec is None or not isinstance(spec.scenario.method, TopDown) or spec.mode is not RunMode.PRIVATE:
            continue
        if spec.seed is not None and spec.data.blocks and fingerprint(spec.scenario) != mine:
            return Partner(spec.scenario.name, spec.seed)
    return None


class CommonSeed(QWidget):
    """Offers the seed of another scenario's run, so that a comparison of both is not blurred by different noise.

    Signals:
        wanted: the seed (str).
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._partner: Partner | None = None
        self._words = Text(look="muted", wrap=True)
        self.use = TextButton("Use its seed", look="link")
        self.use.clicked.connect(self._ask)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._words)
        column.addWidget(self.use)
        self.hide()

    def show_partner(self, partner: Partner | None, typed: str | None) -> None:
        """Say whether the noise is that of another scenario's run.

        Args:
            partner: the run to compare with.
            typed: the seed that stands in the form, None where no seed is used.
        """
        self._partner = partner
        self.setVisible(partner is not None and typed is not None)
        if partner is None:
            return
        same = (typed or "").strip() == str(partner.seed)
        self.use.setVisible(not same)
        self._words.setText(
            f"The seed of the run of {partner.name}: on the same data both draw common random numbers, so that a comparison "
            "shows the scenarios and not the noise."
            if same
            else f"The run of {partner.name} has seed {partner.seed}; the same seed gives both common random numbers."
        )

    def _ask(self) -> None:
        if self._partner is not None:
            self.wanted.emit(str(self._partner.seed))
