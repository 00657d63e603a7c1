"""The errors of a release over trials, and which exact sums were broken: what the summary and the window are made of."""

from __future__ import annotations

import math

import numpy as np

from phexplore.accounting.subspace_noise import NoisePlan
from phexplore.workload.subspace.exact import Rationals, integers, largest
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
        absolute: Σ |error| over answers and trials.
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
        self.absolute = 0.0
        self.errors: list[Floats] = []
        self.squared: list[float] = []
        self.negative: list[int] = []
        self.broken: list[int] = []

    def add(self, released: Rationals) -> None:
        """Count one trial."""
        errors = _errors(released, self._exact)
        self.total += errors
        self.squares += errors**2
        self.absolute += float(np.abs(errors).sum())
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
    def largest(self) -> float:
        """The largest error of any answer and trial, people."""
        return float(max(self.highest.max(), -self.lowest.min()))

    @property
    def root_mean_square(self) -> float:
        """Of the errors of all answers and trials, people."""
        return math.sqrt(float(np.mean(self.squared)) / len(self.truth))

    @property
    def squared_error_doubt(self) -> float | None:
        """The Monte-Carlo error of the mean squared error over trials, people²; None with one trial."""
        return float(np.std(self.squared, ddof=1)) / math.sqrt(self.trials) if self.trials > 1 else None


def _errors(released: Rationals, exact: Rationals) -> Floats:
    """Return released − exact, the difference taken before anything is rounded: ``float64[answers]``."""
    over, under = released.denominators, exact.denominators
    bound = 2 * max(largest(under) * largest(released.numerators), largest(over) * largest(exact.numerators))
    left, right = (integers(each.numerators, bound) for each in (released, exact))
    return np.asarray((left * under - right * over) / (over * under), dtype=np.float64)


def _broken(plan: NoisePlan, released: Rationals, truth: Rationals) -> int:
    """Return how many exact sums differ, compared as fractions of one denominator."""
    scale = math.lcm(*map(int, np.atleast_1d(truth.denominators).tolist()))
    if scale == 1:
        return plan.space.broken(released, truth.numerators)
    numerators = truth.numerators.astype(object) * (scale // truth.denominators.astype(object))
    scaled = Rationals(released.numerators.astype(object) * scale, released.denominators)
    return plan.space.broken(scaled, numerators)
