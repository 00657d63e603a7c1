"""Builders for run directories, and workers as real processes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from phexplore.catalog.tables import table
from phexplore.data.classification import Mode
from phexplore.model.keys import parse_query
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.runs.events import Event
from phexplore.runs.launch import WorkerProcess
from phexplore.runs.spec import RunSpec, describe_data
from phexplore.runs.store import prepare_directory
from phexplore.simulate.phsafe_count import CountingSpec, derived_counts
from phexplore.simulate.tabulation import Tabulation, region_ids

FAKE_WORKER = Path(__file__).with_name("runs") / "fake_worker.py"


@dataclass
class Started:
    """A fake worker and what it said so far."""

    process: WorkerProcess
    events: list[Event] = field(default_factory=list)

    def until(self, wanted: Callable[[Event], bool]) -> Event:
        for event in self._stream:
            self.events.append(event)
            if wanted(event):
                return event
        raise AssertionError(f"the wanted event never came: {self.events}")

    def to_end(self) -> Event:
        self.events += self._stream
        return self.events[-1]

    def __post_init__(self) -> None:
        self._stream = self.process.events()


@pytest.fixture
def scenario() -> Scenario:
    budgets = {parse_query("PH1_num/usa_*"): Fraction(1, 10)}
    return Scenario("small", PhSafe(budgets, {parse_query("PH1_num/usa_*").table: 10}, ("44",)))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    directory = tmp_path / "data"
    directory.mkdir()
    for name in ("persons", "units", "geo"):
        (directory / f"{name}.csv").write_text(f"{name}\n")
    return directory


@pytest.fixture
def make_spec(scenario: Scenario, data: Path) -> Callable[..., RunSpec]:
    def make(**changes: Any) -> RunSpec:
        fields = {"scenario": scenario, "data": describe_data(data), "trials": 10, "seed": 7}
        return RunSpec(**(fields | changes))

    return make


@pytest.fixture
def run_directory(tmp_path: Path, make_spec: Callable[..., RunSpec]) -> Callable[..., Path]:
    def make(name: str = "run", **changes: Any) -> Path:
        return prepare_directory(tmp_path / name, make_spec(**changes))

    return make


@pytest.fixture
def start() -> Iterator[Callable[..., Started]]:
    """Start the fake worker; whatever still lives at the end of the test is killed."""
    processes: list[WorkerProcess] = []

    def begin(directory: Path, behaviour: str = "quick") -> Started:
        process = WorkerProcess(directory, [sys.executable, str(FAKE_WORKER), str(directory), behaviour])
        processes.append(process)
        return Started(process)

    yield begin
    for process in processes:
        with process:
            pass


STATES = (9, 44)


@pytest.fixture
def tabulated(us: Scenario) -> tuple[Tabulation, Tabulation]:
    """Random counts of the 2020 tables in two states: private with truncation, and non-private."""
    rng = np.random.default_rng(5)
    private, dropped = {}, {}
    method = us.method
    for query in CountingSpec.measured(method).queries:
        product = table(query.table)
        regions = len(region_ids(query.level.region, STATES))
        shape = (regions, len(query.level.iteration.codes), len(product.basis_cells))
        private[query] = rng.integers(0, 5000, shape)
        if product.truncated:
            dropped[query] = rng.integers(0, 9, shape)
    private |= derived_counts(private)
    dropped |= derived_counts(dropped)
    exact = {}
    for query, counts in private.items():
        cells = table(query.table).cells
        basis = [cell.code for cell in cells if cell.basis]
        full = np.full((*counts.shape[:2], len(cells)), -1, np.int64)
        for place, cell in enumerate(cells):
            if cell.basis:
                full[..., place] = (counts + dropped.get(query, 0))[..., basis.index(cell.code)]
        exact[query] = full + (7 if query.table == "PH8_num" else 0)
    sizes = {name: np.bincount([1, 2, 2, 12, 40], minlength=1001) for name in ("PH1_num", "PH3")}
    return (
        Tabulation(Mode.PRIVATE, STATES, method.thresholds, private, {}, dropped, sizes, 1),
        Tabulation(Mode.NON_PRIVATE, STATES, {}, exact, {}, {}, {}, 1),
    )
