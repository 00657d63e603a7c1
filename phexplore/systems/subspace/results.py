"""The results of a subspace run, read as far as they are there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from phexplore.accounting.subspace_noise import NoisePlan, noise_plans
from phexplore.model.subspace import Subspace
from phexplore.runs.run_folder import RunFolder
from phexplore.runs.store import (
    TRUTH_FILE,
    RunUnreadableError,
    load_spec,
    trial_file,
)
from phexplore.systems.subspace.run_files import AnswerNames, read_answers
from phexplore.systems.subspace.simulation import names_of
from phexplore.workload.subspace.exact import Rationals
from phexplore.workload.subspace.spaces import Floats


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseErrors:
    """The errors of one release in some trials.

    Attributes:
        plan: its noise.
        names: of the answers; empty for very large releases.
        truth: ``float64[answers]``, exact answers, people.
        errors: ``float64[trials, answers]``, released − exact, people; each rounded once.
        trials: zero-based numbers, one per row.
    """

    plan: NoisePlan
    names: tuple[str, ...]
    truth: Floats
    errors: Floats
    trials: tuple[int, ...]


class SubspaceResults(RunFolder):
    """One run directory."""

    @classmethod
    def open(cls, directory: Path) -> SubspaceResults:
        """Return the results of a run directory.

        Raises:
            RunUnreadableError: it holds no run of a subspace scenario.
            RunSpecError, InputProblemsError: its specification cannot be read or was altered.
        """
        spec = load_spec(directory)
        if not isinstance(spec.scenario.method, Subspace):
            raise RunUnreadableError(
                f"{directory} is no run of a subspace scenario.", "Name a directory that such a run has written."
            )
        return cls(directory, spec)

    @property
    def names(self) -> AnswerNames:
        """The answers of all releases."""
        return names_of(self.spec.scenario.subspace)

    def errors(self, trials: tuple[int, ...] | None = None) -> tuple[ReleaseErrors, ...]:
        """Return the errors of every release.

        Args:
            trials: which; all on disk when None.

        Raises:
            RunUnreadableError: the exact answers or a trial cannot be read.
        """
        names, chosen = self.names, self.trials if trials is None else trials
        truth = read_answers(self.directory / TRUTH_FILE, names)
        read = [read_answers(self.directory / trial_file(index), names) for index in chosen]
        found, start = [], 0
        for plan in noise_plans(self.spec.scenario.subspace):
            own = truth[plan.name]
            errors = [_difference(values[plan.name], own) for values in read]
            texts = names.texts[start : start + plan.space.size] if names.texts else ()
            start += plan.space.size
            shape = (len(errors), plan.space.size)
            found.append(ReleaseErrors(plan, texts, own.values, np.array(errors).reshape(shape), chosen))
        return tuple(found)


def _difference(released: Rationals, truth: Rationals) -> Floats:
    """Return released − exact, taken as fractions and rounded once."""
    left = released.numerators.astype(object) * truth.denominators
    right = truth.numerators.astype(object) * released.denominators
    return np.asarray((left - right) / (released.denominators * truth.denominators), dtype=np.float64)
