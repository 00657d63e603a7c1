"""The run of hierarchical group sizes: read once, draw and fit every trial, check every promise.

Args:
    spec: of the run.
    directory: of the run.
    index: zero-based number of a trial.
    path: of its unfinished file.
    trials: numbers of the finished ones.
    watch: told of progress.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.data.regions.group_size_reading import read_group_sizes, shipped_group_sizes
from phexplore.model.scenario import Scenario
from phexplore.runs.place import HERE, Place
from phexplore.runs.run_files import read_trial_figures
from phexplore.runs.simulation import PreparedSimulation, Simulation, TrialFigures, Watch
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.store import RELEASE_DIRECTORY, TRUTH_FILE
from phexplore.runs.writing import writing
from phexplore.simulate.group_sizes.release import GroupSizeReleaser
from phexplore.systems.group_sizes.forecast import forecast_group_sizes
from phexplore.systems.group_sizes.presets import group_sizes_presets
from phexplore.systems.group_sizes.run_files import read_sizes, write_release, write_sizes
from phexplore.systems.group_sizes.summary import Evidence, group_sizes_summary

Ints = NDArray[np.int64]

_INCONSISTENT = "This baseline rounds every value by itself: its regions need not add up."


def make_simulation(spec: RunSpec, directory: Path, _: Place = HERE) -> Simulation:
    """Return the simulation of a specification.

    Args:
        spec: of the run.
        directory: of the run.
    """
    return GroupSizesSimulation(spec, directory)


@dataclass(frozen=True, slots=True, eq=False)
class _Prepared:
    """What all trials share.

    Attributes:
        releaser: draws releases.
        margins: per level, of the number of groups of one size.
    """

    releaser: GroupSizeReleaser
    margins: tuple[float, ...]


class GroupSizesSimulation(PreparedSimulation[_Prepared]):
    """One run."""

    def prepare(self, watch: Watch) -> None:
        """Read the groups, work out the noise and write the exact counts; see `Simulation.prepare`."""
        spec, scenario = self._spec, self._spec.scenario
        method = scenario.group_sizes
        with watch.phase("read"):
            table = read_group_sizes(Path(spec.data.path), method)
        watch.checkpoint()
        with watch.phase("prepare"):
            releaser = GroupSizeReleaser(table, method, noise=self.is_private)
            figures = forecast_group_sizes(method, scenario.conventions)
            margins = tuple(level.size_margins.by(scenario.conventions.margin) for level in figures.levels)
            self._shared = _Prepared(releaser, margins if self.is_private else (0.0,) * len(margins))
            with writing(self._directory / TRUTH_FILE) as part:
                mark = spec.provenance.mark_of_counts() | {"remarks": table.remarks}
                write_sizes(part, table.tree, releaser.levels, mark)
        for remark in table.remarks:
            watch.note(remark)
        if not method.mechanism.is_exact:
            watch.note(_INCONSISTENT)
        watch.note(self.label)

    def write_trial(self, index: int, path: Path) -> TrialFigures:
        """Draw one trial; arguments as in `Simulation.write_trial`."""
        shared = self.prepared
        releaser = shared.releaser
        exact = self._spec.mode is RunMode.NON_PRIVATE
        levels = releaser.levels if exact else releaser.release(self.entropy(index))
        figures = self._figures(levels)
        meta = {"covered": figures.covered, "numbers": figures.numbers, **self.mark}
        write_sizes(path, releaser.table.tree, levels, meta)
        return figures

    def _figures(self, levels: list[Ints]) -> TrialFigures:
        if not self.is_private:
            return TrialFigures(0, 0)
        shared = self.prepared
        covered = sum(
            int(np.count_nonzero(np.abs(values - exact) <= margin))
            for values, exact, margin in zip(levels, shared.releaser.levels, shared.margins, strict=True)
        )
        return TrialFigures(covered, sum(level.size for level in levels))

    def read_figures(self, path: Path) -> TrialFigures:
        """Return the figures of a trial on disk, its counts read; see `Simulation.read_figures`."""
        table = self.prepared.releaser.table
        read_sizes(path, table.tree, table.largest)
        return read_trial_figures(path)

    def finish(self, trials: tuple[int, ...], watch: Watch) -> Mapping[str, Any]:
        """Write the first trial as CSV, check every trial and sum up; arguments as in `Simulation.finish`."""
        table = self.prepared.releaser.table
        paths = self.paths(trials)
        write_release(self._directory / RELEASE_DIRECTORY, table.tree, read_sizes(paths[0], table.tree, table.largest))
        figures = [read_trial_figures(path) for path in paths]
        return group_sizes_summary(Evidence(self._spec, table, figures, paths, watch))


def own_data(scenario: Scenario) -> Path | None:
    """Return the table of the preset a scenario started from, None when it started from none."""
    return shipped_group_sizes() if scenario.baseline in group_sizes_presets() else None
