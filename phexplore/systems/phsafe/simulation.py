"""The PHSafe run: count once, draw every trial from the same exact counts, sum up.

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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.catalog.tables import table
from phexplore.metrics.accuracy_report import Expectation, Truth, covered
from phexplore.metrics.numbers import NumberKeys
from phexplore.metrics.summary import truncation_by_size
from phexplore.model.numbers import UNLIMITED
from phexplore.model.phsafe import PhSafe
from phexplore.model.provenance import Provenance
from phexplore.runs.place import HERE, Place
from phexplore.runs.simulation import PreparedSimulation, Simulation, TrialFigures, Watch
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.store import RELEASE_DIRECTORY, TRUTH_FILE
from phexplore.runs.writing import writing
from phexplore.simulate.phsafe_count import CountingSpec
from phexplore.simulate.phsafe_output import write_output
from phexplore.simulate.phsafe_release import PhsafeReleaser
from phexplore.simulate.tabulation import Tabulation
from phexplore.systems.phsafe.counting import count_population
from phexplore.systems.phsafe.expectation import expectation_of
from phexplore.systems.phsafe.number_files import NumberFiles, TrialWriter
from phexplore.systems.phsafe.number_rows import keys_of, noise_columns, release_of, truth_of, values_of
from phexplore.systems.phsafe.summary import Evidence, ReleasedCounts, exact_summary, private_summary


def make_simulation(spec: RunSpec, directory: Path, _: Place = HERE) -> Simulation:
    """Return the simulation of a specification.

    Args:
        spec: of the run.
        directory: of the run.
    """
    if spec.mode is RunMode.NON_PRIVATE:
        return ExactSimulation(spec, directory)
    return PrivateSimulation(spec, directory)


@dataclass(frozen=True, slots=True, eq=False)
class _Prepared:
    """What all trials share."""

    tabulation: Tabulation
    releaser: PhsafeReleaser
    truth: Truth
    expectation: Expectation
    measured: NDArray[np.bool_]
    files: NumberFiles
    writer: TrialWriter


class PrivateSimulation(PreparedSimulation[_Prepared]):
    """Production's private mode, with noise or at infinite budget."""

    def prepare(self, watch: Watch) -> None:
        """Read, count with and without truncation, and write the truth; see `Simulation.prepare`."""
        spec, method = self._spec, self._spec.scenario.phsafe
        published = {query.table for query in method.published}
        what = (CountingSpec.measured(method), CountingSpec.exact(method.states, published))
        measured, exact = count_population(Path(spec.data.path), method.states, what, watch)
        with watch.phase("prepare"):
            releaser = PhsafeReleaser(measured, self._parameters)
            keys, truth = keys_of(measured), truth_of(measured, exact)
            files = NumberFiles(keys)
            _write_truth(self._directory, files, truth, measured, provenance=spec.provenance)
            columns = noise_columns(releaser.noise, keys)
            self._shared = _Prepared(
                tabulation=measured,
                releaser=releaser,
                truth=truth,
                expectation=expectation_of(spec, keys),
                measured=_directly_measured(keys),
                files=files,
                writer=files.trial_writer(*columns, self.mark),
            )
        watch.note(self.label)

    @property
    def _parameters(self) -> PhSafe:
        """The parameters of the noise: without noise, every published query gets an unlimited budget."""
        method = self._spec.scenario.phsafe
        if self.is_private:
            return method
        return replace(
            method, budgets={q: UNLIMITED if budget != 0 else budget for q, budget in method.budgets.items()}
        )

    def write_trial(self, index: int, path: Path) -> TrialFigures:
        """Draw one trial; arguments as in `Simulation.write_trial`."""
        shared = self.prepared
        counts = values_of(shared.tabulation, shared.releaser.release(self.entropy(index)).counts)
        noise = counts - shared.truth.truncated
        figures = TrialFigures(*covered(shared.files.keys, shared.measured, noise, shared.expectation.margin))
        shared.writer.write(path, counts, figures)
        return figures

    def read_figures(self, path: Path) -> TrialFigures:
        """Return the figures of a trial on disk, its counts checked; see `Simulation.read_figures`."""
        self.prepared.files.read_counts(path)
        return self.prepared.files.read_figures(path)

    def finish(self, trials: tuple[int, ...], watch: Watch) -> Mapping[str, Any]:
        """Write the first trial in production's layout and sum up; arguments as in `Simulation.finish`."""
        shared = self.prepared
        paths = self.paths(trials)
        noise = shared.files.read_noise(paths[0])
        first = shared.files.read_counts(paths[0])
        release = release_of(shared.files.keys, first, *noise, is_reproducible=self._spec.is_reproducible)
        write_output(release, self._directory / RELEASE_DIRECTORY)
        evidence = Evidence(
            spec=self._spec,
            parameters=self._parameters,
            measurements=shared.releaser.measurements,
            regions={query: len(counts) for query, counts in shared.tabulation.counts.items()},
            keys=shared.files.keys,
            truth=shared.truth,
            expectation=shared.expectation,
            variances=noise[1],
            figures=[shared.files.read_figures(path) for path in paths],
            released=ReleasedCounts(shared.files, paths, watch),
        )
        return private_summary(evidence, _truncation(shared.tabulation))


class ExactSimulation(PreparedSimulation[tuple[Tabulation, NumberFiles, TrialWriter]]):
    """Production's non-private mode: every cell exactly, totals too. All trials are the same."""

    def prepare(self, watch: Watch) -> None:
        """Read and count; see `Simulation.prepare`."""
        spec, method = self._spec, self._spec.scenario.phsafe
        wanted = CountingSpec.exact(method.states, [query.table for query in method.published])
        (exact,) = count_population(Path(spec.data.path), method.states, (wanted,), watch)
        keys, counts = keys_of(exact), values_of(exact, exact.counts)
        files = NumberFiles(keys)
        truth = Truth(counts, counts, counts)
        _write_truth(self._directory, files, truth, exact, provenance=spec.provenance)
        writer = files.trial_writer(np.full(len(keys), ""), np.zeros(len(keys)), self.mark)
        self._shared = exact, files, writer
        watch.note(self.label)

    def write_trial(self, index: int, path: Path) -> TrialFigures:
        """Write the counts; arguments as in `Simulation.write_trial`."""
        del index
        (exact, _, writer), figures = self.prepared, TrialFigures(0, 0)
        writer.write(path, values_of(exact, exact.counts), figures)
        return figures

    def read_figures(self, path: Path) -> TrialFigures:
        """Return the figures of a trial on disk, its counts checked; see `Simulation.read_figures`."""
        _, files, _ = self.prepared
        files.read_counts(path)
        return files.read_figures(path)

    def finish(self, trials: tuple[int, ...], watch: Watch) -> Mapping[str, Any]:
        """Write production's layout and sum up; arguments as in `Simulation.finish`."""
        del trials
        watch.checkpoint()
        exact, _, _ = self.prepared
        write_output(exact, self._directory / RELEASE_DIRECTORY)
        return exact_summary(exact)


def _directly_measured(keys: NumberKeys) -> NDArray[np.bool_]:
    names = np.unique(keys.table)
    return np.isin(keys.table, [name for name in names.tolist() if table(name).measured])


def _write_truth(
    directory: Path, files: NumberFiles, truth: Truth, tabulation: Tabulation, *, provenance: Provenance
) -> None:
    with writing(directory / TRUTH_FILE) as part:
        files.write_truth(part, truth, {"truncation": _truncation(tabulation)}, provenance=provenance)


def _truncation(tabulation: Tabulation) -> list[dict[str, Any]]:
    return truncation_by_size(tabulation.household_sizes, tabulation.thresholds)
