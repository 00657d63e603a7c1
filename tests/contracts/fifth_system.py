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

from phexplore.__main__ import main
from phexplore.accuracy.margins import margins_of
from phexplore.catalog.presets import Preset
from phexplore.entry import start_with
from phexplore.figures.figure import row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Table
from phexplore.figures.tile import TileContent
from phexplore.model.conventions import Neighbours
from phexplore.model.data_kinds import DataKind
from phexplore.model.fields import Declared, declared, parameter
from phexplore.model.issues import Issue
from phexplore.model.kinds import Exact, Whole
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import TwoSidedGeometric
from phexplore.noise.entropy import SeededEntropy
from phexplore.noise.sampler import sampler_for
from phexplore.runs.simulation import TrialFigures
from phexplore.runs.store import TRUTH_FILE
from phexplore.systems.plain import report_of_results
from phexplore.systems.protocol import Entry, Forecast, Loss, System
from phexplore.systems.registry import register
from phexplore.systems.result_tabs import Results, ResultTab
from phexplore.systems.run_results import Shown, trials_reader


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


def forecast(scenario):
    margins = margins_of(noise_of(scenario), 1, scenario.conventions.confidence, scenario.conventions.z)
    loss = Loss(PrivacyFramework.PURE_DP, scenario.method.epsilon, Neighbours.UNBOUNDED)
    entry = Entry("count", "", "count", scenario.method.epsilon, margins)
    return Forecast(loss, (entry,), ("Every record.",), (), None)


def drawn_in(path):
    return json.loads(path.read_text(encoding="utf-8"))


class Simulation:
    """Draws every place once per trial."""

    def __init__(self, spec, directory, _):
        self.spec, self.directory = spec, directory

    def prepare(self, watch):
        (self.directory / TRUTH_FILE).write_text("all counts are 0", encoding="utf-8")

    def write_trial(self, index, path):
        wanted = self.spec.scenario.method.places * self.spec.options.draws
        drawn = sampler_for(noise_of(self.spec.scenario)).sample(SeededEntropy(self.spec.seed, (index,)), wanted)
        path.write_text(json.dumps([int(each) for each in drawn]), encoding="utf-8")
        return self.read_figures(path)

    def read_figures(self, path):
        return TrialFigures(0, len(drawn_in(path)))

    def finish(self, trials, watch):
        return {"checks": {"every_trial_counted": True}, "metrics": []}


def picture(run):
    sums = dict(zip(run.trials, map(sum, run.values), strict=True))
    rows = [Row(index, "", f"Trial {index}", each, tick=0) for index, each in sums.items()]
    table = Table(("Trial", "Noise"), tuple(sums.items()))
    return row_figure("noise", rows, "sum", f"{max(sums.values())} at most", "The noise of every trial.", table)


def show(run, _):
    tile = TileContent("Trials", str(len(run.values)), "drawn")
    return Shown((tile,) * 4, tile, (), lambda: picture(run))


RESULTS = Results((ResultTab("noise", "Noise", "Noise"),), "No noise yet.", lambda: trials_reader(drawn_in, show))


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
    forecast=forecast,
    simulate=Simulation,
    report=report_of_results(RESULTS, "Counts"),
    results=RESULTS,
    run_options=Options,
    presets=presets,
    commands=lambda app: app.command()(places),
)


register(COUNTS)
start_with([sys.executable, str(Path(__file__).absolute())])

if __name__ == "__main__":
    sys.exit(main())
