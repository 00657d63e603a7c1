"""Builders for run directories, and workers as real processes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from phexplore.model.keys import parse_query
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.runs.events import Event
from phexplore.runs.launch import WorkerProcess
from phexplore.runs.spec import RunSpec, describe_data
from phexplore.runs.store import prepare_directory

FAKE_WORKER = Path(__file__).with_name("fake_worker.py")


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
