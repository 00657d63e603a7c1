"""A program with a system of its own: counts per place with two-sided geometric noise. Started as the program is.

Everything a fifth system needs is in this file; nothing in ``phexplore/`` knows of it.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import typer

from phexplore.accuracy.margins import margins_of
from phexplore.catalog.presets import Preset
from phexplore.cli.app import run
from phexplore.files.spreadsheet import csv_bytes
from phexplore.model.conventions import Neighbours
from phexplore.model.data_kinds import DataKind
from phexplore.model.fields import Declared, declared, parameter
from phexplore.model.issues import Issue
from phexplore.model.kinds import Exact, Whole
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import TwoSidedGeometric
from phexplore.noise.entropy import SeededEntropy
from phexplore.noise.sampler import sampler_for
from phexplore.report.document import Part, figures, heading, table_of
from phexplore.report.export_formats import formats_by_id, parameters_json
from phexplore.report.run_report import RunReport
from phexplore.report.run_sections import run_document_of
from phexplore.runs.launch import start_workers_with
from phexplore.runs.simulation import TrialFigures
from phexplore.runs.store import load_spec, trial_file
from phexplore.systems.protocol import Entry, Forecast, Loss, System
from phexplore.systems.registry import register


@declared
class Counts(Declared):
    """ε of every place; a record is added or removed."""

    kind: ClassVar[str] = "counts"
    data_kind: ClassVar[DataKind] = DataKind.COUNTS
    demonstration: ClassVar[str] = "tables/illinois_counties_2010.csv"
    file_kind: ClassVar[str] = "counts"

    epsilon: Fraction = parameter(Exact(above=0), title="ε")
    places: int = parameter(Whole(1), title="number of places")


@declared
class Options(Declared):
    """What a run can be asked: so many draws of every place."""

    draws: int = parameter(Whole(1, 100), default=1, option="--draws", doc="Draw every place so often.")


def noise_of(scenario):
    return TwoSidedGeometric(1 / scenario.method.epsilon)


def check(scenario):
    return [Issue(("places",), "One place is no table.", "Name more places.")] if scenario.method.places == 1 else []


def loss(scenario):
    return Loss(PrivacyFramework.PURE_DP, scenario.method.epsilon, Neighbours.UNBOUNDED)


def forecast(scenario):
    margins = margins_of(noise_of(scenario), 1, scenario.conventions.confidence, scenario.conventions.z)
    entry = Entry("count", "", "count", scenario.method.epsilon, margins)
    return Forecast(loss(scenario), (entry,), ("Every record.",), (), None)


def forecast_json(scenario, _):
    return {"scenario": scenario.name, "privacy": {"rho": None, "pure_epsilon": exact_text(scenario.method.epsilon)}}


class Simulation:
    """Draws every place once per trial."""

    def __init__(self, spec, directory, _):
        self.spec, self.directory = spec, directory

    def prepare(self, watch):
        watch.note("Nothing is read: all counts are 0.")

    def write_trial(self, index, path):
        wanted = self.spec.scenario.method.places * self.spec.options.draws
        drawn = sampler_for(noise_of(self.spec.scenario)).sample(SeededEntropy(self.spec.seed, (index,)), wanted)
        path.write_text(json.dumps([int(each) for each in drawn]), encoding="utf-8")
        return self.read_figures(path)

    def read_figures(self, path):
        return TrialFigures(0, len(json.loads(path.read_text(encoding="utf-8"))))

    def finish(self, trials, watch):
        return {"checks": {"every_trial_counted": True}, "metrics": []}


def report(run_directory, now):
    spec = load_spec(run_directory)
    trials = [json.loads((run_directory / trial_file(index)).read_text()) for index in range(spec.trials)]
    columns = (heading("Trial", lambda each: str(each[0])), figures("Sum of noise", lambda each: sum(each[1])))
    parts = [Part("tables", "The figures", tables=(table_of("trials", "Noise", columns, enumerate(trials)),))]
    return RunReport(
        document=lambda: run_document_of(spec, now, "Counts", (), parts, warning="", keywords=("counts",)),
        charts=lambda: (),
        table=lambda: csv_bytes([["TRIAL", "NOISE"], *([index, sum(each)] for index, each in enumerate(trials))]),
    )


def presets():
    scenario = Scenario("Counts of 2010", Counts(Fraction(1, 4), 3), baseline="counts-2010")
    return {"counts-2010": Preset("counts-2010", "Counts of 2010", "This test", "Counts", scenario)}


def places(context: typer.Context, scenario: str) -> None:
    print(context.obj(scenario).method.places)


COUNTS = System(
    id="counts",
    title="Counts",
    summary="Counts per place with two-sided geometric noise.",
    parameters=Counts,
    check=check,
    loss=loss,
    forecast=forecast,
    forecast_json=forecast_json,
    print_forecast=lambda scenario, _: print(scenario.name),
    simulate=Simulation,
    formats=formats_by_id(parameters_json("json", "counts.json")),
    report=report,
    run_options=Options,
    presets=presets,
    commands=lambda app: app.command()(places),
)


register(COUNTS)
start_workers_with([sys.executable, str(Path(__file__).absolute()), "--worker"])

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
