"""The run of releases under subspace privacy: count once, add exact noise per trial, check every invariant to the last bit.

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

from phexplore.accounting.subspace_noise import NoisePlan, confirm_budget, noise_plans
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import Histogram, Subspace
from phexplore.runs.place import HERE, Place
from phexplore.runs.run_files import read_trial_figures
from phexplore.runs.simulation import PreparedSimulation, Simulation, TrialFigures, Watch
from phexplore.runs.spec import RunSpec
from phexplore.runs.store import RELEASE_DIRECTORY, TRUTH_FILE
from phexplore.runs.writing import writing
from phexplore.simulate.subspace.cell_counts import read_cell_counts, shipped_table
from phexplore.simulate.subspace.drawing import Answers, draw_noise, released
from phexplore.systems.subspace.errors import answer_classes, expected_squared_error, variances
from phexplore.systems.subspace.run_files import (
    MOST_NAMED,
    AnswerNames,
    read_answers,
    read_released,
    write_answers,
    write_release,
)
from phexplore.systems.subspace.summary import Evidence, subspace_summary
from phexplore.workload.subspace.releases import answer_names
from phexplore.workload.subspace.spaces import Floats


def make_simulation(spec: RunSpec, directory: Path, _: Place = HERE) -> Simulation:
    """Return the simulation of a specification.

    Args:
        spec: of the run.
        directory: of the run.
    """
    return SubspaceSimulation(spec, directory)


def names_of(method: Subspace) -> AnswerNames:
    """Return the answers of all releases by name."""
    sizes = {name: method.answers(release) for name, release in method.releases.items()}
    if sum(sizes.values()) > MOST_NAMED:
        return AnswerNames(sizes, ())
    texts: list[str] = []
    for release in method.releases.values():
        if isinstance(release.query, Histogram) and len(method.axes) == 1:
            (axis,) = method.axes
            texts += [axis.label(level) for level in range(axis.size)]
        else:
            texts += answer_names(method, release)
    return AnswerNames(sizes, tuple(texts))


@dataclass(frozen=True, slots=True, eq=False)
class _Prepared:
    """What all trials share."""

    plans: tuple[NoisePlan, ...]
    answers: tuple[Answers, ...]
    names: AnswerNames
    margin: Floats


class SubspaceSimulation(PreparedSimulation[_Prepared]):
    """One run: releases of one histogram."""

    exact_label = "Exact answers, not protected."

    def prepare(self, watch: Watch) -> None:
        """Read the counts, work out the noise and write the exact answers; see `Simulation.prepare`."""
        spec, method = self._spec, self._spec.scenario.subspace
        with watch.phase("read"):
            counts = read_cell_counts(Path(spec.data.path), method)
        watch.checkpoint()
        with watch.phase("prepare"):
            plans = noise_plans(method)
            confirm_budget(method, plans)
            answers = tuple(Answers.of(plan, counts) for plan in plans)
            names = names_of(method)
            self._shared = _Prepared(plans, answers, names, self._margins(plans))
            with writing(self._directory / TRUTH_FILE) as part:
                truth = {plan.name: own.exact for plan, own in zip(plans, answers, strict=True)}
                write_answers(part, names, truth, self._spec.provenance.mark_of_counts())
        watch.note(self.label)

    def _margins(self, plans: tuple[NoisePlan, ...]) -> Floats:
        """Return the scenario's margin of every answer, 0 where nothing is added: ``float64[answers]``."""
        conventions = self._spec.scenario.conventions
        parts = []
        for plan in plans:
            own = np.zeros(plan.space.size)
            if self.is_private:
                classes = answer_classes(plan, conventions)
                if len(classes) == 1:
                    own[:] = classes[0].margins.by(conventions.margin)
                else:
                    known = np.array([kind.variance for kind in classes])
                    margins = np.array([kind.margins.by(conventions.margin) for kind in classes])
                    own = margins[np.abs(np.subtract.outer(variances(plan), known)).argmin(axis=1)]
            parts.append(own)
        return np.concatenate(parts)

    def write_trial(self, index: int, path: Path) -> TrialFigures:
        """Draw one trial; arguments as in `Simulation.write_trial`."""
        shared = self.prepared
        entropy = self.entropy(index)
        values, errors = {}, []
        for number, (plan, own) in enumerate(zip(shared.plans, shared.answers, strict=True)):
            if self.is_private:
                noise = draw_noise(plan, entropy.spawn(number))
                values[plan.name] = released(own, noise)
                errors.append(noise.values)
            else:
                values[plan.name] = own.exact
                errors.append(np.zeros(plan.space.size))
        covered = int(np.count_nonzero(np.abs(np.concatenate(errors)) <= shared.margin))
        figures = TrialFigures(covered, shared.names.size) if self.is_private else TrialFigures(0, 0)
        meta = {"covered": figures.covered, "numbers": figures.numbers, **self.mark}
        write_answers(path, shared.names, values, meta)
        return figures

    def read_figures(self, path: Path) -> TrialFigures:
        """Return the figures of a trial on disk, its answers read; see `Simulation.read_figures`."""
        read_released(path, self.prepared.names)
        return read_trial_figures(path)

    def finish(self, trials: tuple[int, ...], watch: Watch) -> Mapping[str, Any]:
        """Write the first trial as CSV, check every trial and sum up; arguments as in `Simulation.finish`."""
        shared = self.prepared
        paths = self.paths(trials)
        write_release(self._directory / RELEASE_DIRECTORY, shared.names, read_answers(paths[0], shared.names))
        private = self.is_private
        evidence = Evidence(
            spec=self._spec,
            plans=shared.plans,
            answers=shared.answers,
            names=shared.names,
            expected={plan.name: expected_squared_error(plan) if private else 0.0 for plan in shared.plans},
            variances={plan.name: variances(plan) if private else np.zeros(plan.space.size) for plan in shared.plans},
            figures=[read_trial_figures(path) for path in paths],
            paths=paths,
            watch=watch,
        )
        return subspace_summary(evidence)


def own_data(scenario: Scenario) -> Path | None:
    """Return the table that came with the parameters, None when none did."""
    return shipped_table(scenario.subspace)
