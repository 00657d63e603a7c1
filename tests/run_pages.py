"""Run directories written by hand, worker processes that only pretend, and pages around them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from origins import SYNTHETIC
from PySide6.QtCore import QObject, Signal

from phexplore.catalog.tables import tables
from phexplore.gui.run_manager.run_controller import RunController
from phexplore.metrics.accuracy_report import Truth
from phexplore.metrics.numbers import REGION_TYPES, NumberKeys
from phexplore.model.keys import QueryKey, Region
from phexplore.runs.events import Failed, Finished, Outcome, Progress, Started, TrialDone
from phexplore.runs.simulation import TrialFigures
from phexplore.runs.spec import RunData, RunSpec
from phexplore.runs.states import RunState
from phexplore.runs.store import TRUTH_FILE, RunStore, trial_file
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.number_files import NumberFiles

REGIONS = {Region.NATION: ("1",), Region.STATE: ("09", "44")}
MADE = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@dataclass
class WrittenRun:
    """A run directory whose counts are known.

    Attributes:
        directory: of the run.
        spec: of the run.
        keys: what each number is.
        truth: exact counts.
        noise: per trial, ``int64[numbers]``.
    """

    directory: Path
    spec: RunSpec
    keys: NumberKeys
    truth: Truth
    noise: list[np.ndarray] = field(default_factory=list)

    def add_trial(self, noise=None):
        """Write one more trial with this noise, or noise of the forecast's spread."""
        index = len(self.noise)
        if noise is None:
            noise = np.rint(np.random.default_rng(index).normal(0, self.sigma)).astype(np.int64)
        self.noise.append(noise)
        blank = np.full(len(self.keys), "Discrete Gaussian")
        writer = NumberFiles(self.keys).trial_writer(blank, self.sigma**2, {"label": "a test"})
        writer.write(self.directory / trial_file(index), self.truth.truncated + noise, TrialFigures(0, 0))

    @property
    def sigma(self):
        """Spread of the noise of each number, people; derived tables have that of their source."""
        figures = forecast(self.spec.scenario)
        found = np.zeros(len(self.keys))
        for row in range(len(self.keys)):
            product = tables()[str(self.keys.table[row])]
            source = QueryKey(product.derived_from or product.id, _level(self.keys, row))
            found[row] = figures.query(source).sigma
        return found


def _level(keys, row):
    region = next(region for region, text in REGION_TYPES.items() if text == keys.region_type[row])
    code = str(keys.iteration_code[row])
    return next(
        level
        for level in tables()[str(keys.table[row])].levels
        if level.region is region and code in level.iteration.codes
    )


def all_keys(names):
    """Return the keys of these tables in one nation and two states, in the order of a run's files."""
    rows = [
        (name, REGION_TYPES[level.region], region, code, cell.code)
        for name in names
        for level in tables()[name].levels
        for region in REGIONS[level.region]
        for code in level.iteration.codes
        for cell in tables()[name].basis_cells
    ]
    columns = list(zip(*rows, strict=True))
    return NumberKeys(*(np.array(column, np.str_) for column in columns[:4]), np.array(columns[4], np.int64))


@pytest.fixture
def run_data(tmp_path):
    """The description of data nobody reads."""
    return RunData(str(tmp_path / "data"), "0" * 64, 1, provenance=SYNTHETIC)


@pytest.fixture
def write_run(tmp_path, us, run_data):
    """Write a run of some tables with given truncation, and as many trials as asked."""

    def write(
        trials=2, *, names=("PH1_num", "PH1_denom", "PH3", "PH7", "PH8_num"), root=None, scenario=None, **changes
    ):
        spec = RunSpec(scenario or us, run_data, changes.pop("wanted", 5), 1, **changes)
        directory = RunStore(root or tmp_path / "runs").create(spec, MADE)
        keys = all_keys(names)
        rng = np.random.default_rng(11)
        untruncated = rng.integers(50, 5000, len(keys))
        cut = np.where(
            np.isin(keys.table, [n for n in names if tables()[n].truncated]), rng.integers(0, 4, len(keys)), 0
        )
        truth = Truth(untruncated - cut, untruncated, untruncated)
        sizes = [
            {"size": 2, "households": 9, "persons": 18, "cut": 0},
            {"size": 12, "households": 1, "persons": 12, "cut": 2},
        ]
        extra = {"truncation": [{"table": "PH3", "tau": 10, "sizes": sizes, "or_larger": 99}]}
        NumberFiles(keys).write_truth(directory / TRUTH_FILE, truth, extra, provenance=SYNTHETIC)
        run = WrittenRun(directory, spec, keys, truth)
        for _ in range(trials):
            run.add_trial()
        return run

    return write


class PretendedProcess(QObject):
    """Has the signals and commands of a `RunProcess`; the test plays the worker."""

    reported = Signal(object)
    state_changed = Signal(object)

    def __init__(self, directory, parent):
        super().__init__(parent)
        self.directory, self.state, self.commands = directory, RunState.QUEUED, []

    def start(self):
        self.commands.append("start")
        self.become(RunState.STARTING)

    def pause(self):
        self.commands.append("pause")

    def resume(self):
        self.commands.append("resume")

    def cancel(self):
        self.commands.append("cancel")
        self.become(RunState.CANCELLING)

    def shut_down(self):
        self.commands.append("shut down")

    def become(self, state):
        self.state = state
        self.state_changed.emit(state)

    def begin(self, trials=5):
        self.become(RunState.RUNNING)
        self.reported.emit(Started(trials))

    def finish_trial(self, index, total=5):
        self.reported.emit(TrialDone(index))
        self.reported.emit(Progress("trials", index + 1, total, 3.0))

    def end(self, outcome=Outcome.COMPLETE):
        self.become(RunState.COMPLETE if outcome is Outcome.COMPLETE else RunState.CANCELLED)
        self.reported.emit(Finished(outcome))

    def fail(self, failure=None):
        self.become(RunState.FAILED)
        self.reported.emit(failure or Failed("It broke.", "Mend it.", "Traceback: here"))


@dataclass
class DeskOfPretence:
    """A run controller and its pretended workers, oldest first."""

    controller: RunController
    processes: list[PretendedProcess]
    failures: list[Exception] = field(default_factory=list)


@pytest.fixture
def pretence(qtbot, tmp_path):
    """A run controller over an empty folder, with workers played by the test."""
    processes = []

    def make(directory, parent, place):
        processes.append(PretendedProcess(directory, parent))
        processes[-1].place = place
        return processes[-1]

    controller = RunController(tmp_path / "runs", make_process=make)
    found = DeskOfPretence(controller, processes)
    controller.failed.connect(found.failures.append)
    qtbot.waitUntil(lambda: not controller.is_busy)
    yield found
    controller.shut_down()
