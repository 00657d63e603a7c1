"""Bias against true size: post-processing keeps counts at 0 or more, so small counts grow and large ones pay for it.

The mean error is that of `metrics.errors` (workbook of 2023-04-03), class by class of the true count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from phexplore.metrics.topdown.shapes import Floats, Integers, as_trials
from phexplore.metrics.topdown.size_classes import SMALL_COUNTS, SizeClasses


@dataclass(frozen=True, slots=True, eq=False)
class BiasBySize:
    """Errors (estimate − truth) by the true count, one value per class with numbers.

    Attributes:
        labels: of the classes.
        numbers: per trial, ``int64[classes]``.
        truth: mean true count.
        bias: mean error over numbers and trials, people.
        error_between_trials: Monte-Carlo error of `bias`; infinite with one trial.
        spread: standard deviation of the errors, people.
        absolute: mean absolute error, people.
        raised: share of numbers that are published larger than they are.
        lowered: share that is published smaller.
    """

    labels: tuple[str, ...]
    numbers: Integers
    truth: Floats
    bias: Floats
    error_between_trials: Floats
    spread: Floats
    absolute: Floats
    raised: Floats
    lowered: Floats


def bias_by_size(truth: Integers, estimate: Integers, classes: SizeClasses = SMALL_COUNTS) -> BiasBySize:
    """Return the errors by true count.

    Args:
        truth: ``int64[...]``, 0 or more.
        estimate: the same shape, or behind one axis of trials.
        classes: of true counts.

    Raises:
        ValueError: the shapes do not fit, or a true count is negative.
    """
    trials = as_trials(truth, estimate)
    flat = truth.ravel()
    found = classes.class_of(flat)
    width = len(classes.starts)
    numbers = np.bincount(found, minlength=width)
    kept = np.flatnonzero(numbers)
    sums = {name: np.zeros((len(trials), width)) for name in ("error", "square", "absolute", "raised", "lowered")}
    for place, trial in enumerate(trials):
        error = (trial.ravel() - flat).astype(np.float64)
        for name, values in (
            ("error", error),
            ("square", error * error),
            ("absolute", np.abs(error)),
            ("raised", error > 0),
            ("lowered", error < 0),
        ):
            sums[name][place] = np.bincount(found, weights=values, minlength=width)
    per_trial = sums["error"][:, kept] / numbers[kept]
    count = numbers[kept] * max(len(trials), 1)
    bias = sums["error"][:, kept].sum(axis=0) / count
    square = sums["square"][:, kept].sum(axis=0) / count
    return BiasBySize(
        labels=tuple(classes.labels[index] for index in kept.tolist()),
        numbers=numbers[kept].astype(np.int64),
        truth=np.bincount(found, weights=flat, minlength=width)[kept] / numbers[kept],
        bias=bias,
        error_between_trials=_between(per_trial),
        spread=np.sqrt(np.maximum(square - bias * bias, 0.0)),
        absolute=sums["absolute"][:, kept].sum(axis=0) / count,
        raised=sums["raised"][:, kept].sum(axis=0) / count,
        lowered=sums["lowered"][:, kept].sum(axis=0) / count,
    )


def bias_together(parts: Sequence[BiasBySize]) -> BiasBySize:
    """Return the errors of several trials as one, from those of each: nothing else need be kept of a trial.

    Args:
        parts: of one trial each, of the same numbers.

    Raises:
        ValueError: there is none, or they have other classes.
    """
    if not parts or any(part.labels != parts[0].labels for part in parts):
        raise ValueError("trials of the same numbers are put together")
    stacked = {
        name: np.stack([getattr(part, name) for part in parts])
        for name in ("bias", "spread", "absolute", "raised", "lowered")
    }
    bias = stacked["bias"].mean(axis=0)
    square = (stacked["spread"] ** 2 + stacked["bias"] ** 2).mean(axis=0)
    return replace(
        parts[0],
        bias=bias,
        error_between_trials=_between(stacked["bias"]),
        spread=np.sqrt(np.maximum(square - bias * bias, 0.0)),
        **{name: stacked[name].mean(axis=0) for name in ("absolute", "raised", "lowered")},
    )


def _between(figures: Floats) -> Floats:
    if len(figures) < 2:
        return np.full(figures.shape[1], np.inf)
    error: Floats = figures.std(axis=0, ddof=1) / np.sqrt(len(figures))
    return error
