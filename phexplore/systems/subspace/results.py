"""The results of a subspace run, trial by trial: errors of every answer, and which exact sums were broken."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from phexplore.accounting.subspace_noise import NoisePlan, noise_plans
from phexplore.model.subspace import Subspace
from phexplore.runs.spec import RunMode
from phexplore.runs.store import TRUTH_FILE, RunUnreadableError
from phexplore.systems.run_results import WholeRun
from phexplore.systems.subspace.run_files import read_answers
from phexplore.systems.subspace.simulation import names_of
from phexplore.workload.subspace.exact import Rationals
from phexplore.workload.subspace.spaces import Floats

MOST_KEPT = 2_000_000
"""Errors of a release that are kept one by one."""


class ReleaseErrors:
    """The errors of one release, released − exact in people, each rounded once.

    Attributes:
        plan: its noise.
        names: of the answers; empty for very large releases.
        truth: ``float64[answers]``, exact answers.
        errors: ``float64[answers]`` per trial, as many as are kept.
        total: ``float64[answers]``, Σ error over trials.
        squares: ``float64[answers]``, Σ error² over trials.
        lowest: ``float64[answers]``.
        highest: ``float64[answers]``.
        squared: Σ error² of each trial.
        negative: numbers below 0 in each trial.
        broken: exact sums that do not hold in each trial.
    """

    def __init__(self, plan: NoisePlan, names: tuple[str, ...], exact: Rationals) -> None:
        self.plan, self.names, self._exact, self.truth = plan, names, exact, exact.values
        size = len(self.truth)
        self.total, self.squares = np.zeros(size), np.zeros(size)
        self.lowest, self.highest = np.full(size, np.inf), np.full(size, -np.inf)
        self.errors: list[Floats] = []
        self.squared: list[float] = []
        self.negative: list[int] = []
        self.broken: list[int] = []

    def add(self, released: Rationals) -> None:
        """Count one trial."""
        left = released.numerators.astype(object) * self._exact.denominators
        right = self._exact.numerators.astype(object) * released.denominators
        errors = np.asarray((left - right) / (released.denominators * self._exact.denominators), dtype=np.float64)
        self.total += errors
        self.squares += errors**2
        np.minimum(self.lowest, errors, out=self.lowest)
        np.maximum(self.highest, errors, out=self.highest)
        self.squared.append(float((errors**2).sum()))
        self.negative.append(int((released.numerators < 0).sum()))
        self.broken.append(_broken(self.plan, released, self._exact))
        if (len(self.errors) + 1) * len(errors) <= MOST_KEPT:
            self.errors.append(errors)

    @property
    def trials(self) -> int:
        """How many were counted."""
        return len(self.squared)

    @property
    def mean(self) -> Floats:
        """The mean error of every answer over trials, ``float64[answers]``."""
        return self.total / self.trials

    @property
    def root_mean_square(self) -> float:
        """Of the errors of all answers and trials, people."""
        return math.sqrt(float(np.mean(self.squared)) / len(self.truth))

    @property
    def squared_error_doubt(self) -> float | None:
        """The Monte-Carlo error of the mean squared error over trials, people²; None with one trial."""
        return float(np.std(self.squared, ddof=1)) / math.sqrt(self.trials) if self.trials > 1 else None


def _broken(plan: NoisePlan, released: Rationals, truth: Rationals) -> int:
    """Return how many exact sums differ, compared as fractions of one denominator."""
    scale = math.lcm(*map(int, np.atleast_1d(truth.denominators).tolist()))
    if scale == 1:
        return plan.space.broken(released, truth.numerators)
    numerators = truth.numerators.astype(object) * (scale // truth.denominators.astype(object))
    scaled = Rationals(released.numerators.astype(object) * scale, released.denominators)
    return plan.space.broken(scaled, numerators)


class ReleaseRun(WholeRun):
    """One open run: releases of one histogram.

    Attributes:
        releases: errors by name.
    """

    def __init__(self, directory: Path) -> None:
        """Read the exact answers.

        Raises:
            RunUnreadableError: the directory holds no run of a subspace scenario, or they cannot be read.
        """
        super().__init__(directory)
        method = self.spec.scenario.method
        if not isinstance(method, Subspace):
            raise RunUnreadableError(
                f"{directory} is no run of a subspace scenario.", "Name a directory that such a run has written."
            )
        self._names = names_of(method)
        exact = read_answers(directory / TRUTH_FILE, self._names)
        starts = np.cumsum([0, *self._names.releases.values()]).tolist()
        self.releases = {
            plan.name: ReleaseErrors(plan, self._names.texts[start : start + plan.space.size], exact[plan.name])
            for plan, start in zip(noise_plans(method), starts, strict=False)
        }

    @property
    def is_private(self) -> bool:
        """Whether noise was added."""
        return self.spec.mode is RunMode.PRIVATE

    def read_trial(self, path: Path) -> None:
        """Read a trial; see `WholeRun.read_trial`."""
        released = read_answers(path, self._names)
        for name, release in self.releases.items():
            release.add(released[name])
