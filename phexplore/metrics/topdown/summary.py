"""The figures of a TopDown run that go into its summary, as JSON values. NaN and infinity become null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from phexplore.metrics.summary import coverage_json, number
from phexplore.metrics.topdown.accuracy import level_accuracy
from phexplore.metrics.topdown.figures import ErrorFigures, error_figures, error_quantiles, figures_by_class
from phexplore.metrics.topdown.plausibility import CheckResult
from phexplore.metrics.topdown.redistricting import (
    QUANTILES as SHARE_QUANTILES,
)
from phexplore.metrics.topdown.redistricting import (
    RedistrictingResult,
    group_shares,
    redistricting_criterion,
)
from phexplore.metrics.topdown.reliability import Reliability, reliable_from
from phexplore.metrics.topdown.shapes import Floats, Integers, mean_and_error
from phexplore.metrics.topdown.size_classes import TENS, SizeClasses

Json = dict[str, Any]


def level_entry(level: str, query: str, truth: Integers, estimate: Integers, classes: SizeClasses = TENS) -> Json:
    """Return one entry of ``metrics``: a level and a query over all trials.

    Args:
        level: name.
        query: name.
        truth: ``int64[units, answers]``.
        estimate: the same shape, or behind one axis of trials.
        classes: of true counts.

    Raises:
        ValueError: the shapes do not fit.
    """
    accuracy = level_accuracy(truth, estimate)
    quantiles = error_quantiles(truth, estimate)
    return {
        "level": level,
        "query": query,
        "units": len(truth),
        "numbers": truth.size,
        "total": figures_json(error_figures(truth, estimate)),
        "one_minus_tvd": figure_json(accuracy.one_minus_tvd),
        "mean_largest": figure_json(accuracy.mean_largest),
        "quantiles": {
            "probability": list(quantiles.probabilities),
            "signed": [number(value) for value in quantiles.signed.tolist()],
            "absolute": [number(value) for value in quantiles.absolute.tolist()],
        },
        "by_size": {
            label: {"numbers": figures.numbers, **figures_json(figures)}
            for label, figures in figures_by_class(truth, estimate, truth, classes).items()
        },
    }


def figures_json(figures: ErrorFigures) -> Json:
    """Return figures by id, each with its mean over trials and the Monte-Carlo error of that mean."""
    return {name: figure_json(values) for name, values in figures.by_id().items()}


def figure_json(values: Floats) -> Json:
    """Return the mean over trials and its Monte-Carlo error, null with one trial."""
    mean, error = mean_and_error(np.asarray(values, np.float64))
    return {"value": number(mean), "error": number(error)}


def redistricting_entry(level: str, query: str, truth: Integers, estimate: Integers) -> Json:
    """Return the redistricting criterion and from how many people on a level is reliable.

    Args:
        level: name.
        query: name of the query whose answers are the groups.
        truth: ``int64[units, groups]``.
        estimate: the same shape, or behind one axis of trials.

    Raises:
        ValueError: the shapes do not fit.
    """
    shares = group_shares(truth, estimate)
    return {
        "level": level,
        "query": query,
        "criterion": criterion_json(redistricting_criterion(shares)),
        "reliable": reliability_json(reliable_from(shares)),
    }


def criterion_json(result: RedistrictingResult) -> Json:
    """Return the criterion's result."""
    return {
        "least_people": result.least_people,
        "units": result.units,
        "required": str(result.required),
        "met": result.is_met,
        "trials_met": result.trials_met,
        "share": coverage_json(result.coverage),
        "mean_error": figure_json(result.mean_error),
        "quantiles": {
            "probability": list(SHARE_QUANTILES),
            "error": [number(value) for value in result.error_quantiles.tolist()],
        },
        "incomparable": result.incomparable.tolist(),
    }


def reliability_json(result: Reliability) -> Json:
    """Return from how many people on units are reliable."""
    return {
        "people": result.people,
        "lasting": result.lasting,
        "units": result.units,
        "least_units": result.least_units,
        "share": coverage_json(result.coverage),
    }


def plausibility_json(results: tuple[CheckResult, ...]) -> list[Mapping[str, Any]]:
    """Return all checks, computed or not."""
    names = [each.name for each in fields(CheckResult) if each.compare]
    return [{name: getattr(result, name) for name in names} for result in results]
