"""The figures of a TopDown run that go into its summary, as JSON values. NaN and infinity become null."""

from __future__ import annotations

from typing import Any

import numpy as np

from phexplore.metrics.coverage import over_trials
from phexplore.metrics.summary import coverage_json, number
from phexplore.metrics.topdown.figures import ErrorFigures
from phexplore.metrics.topdown.redistricting import (
    QUANTILES as SHARE_QUANTILES,
)
from phexplore.metrics.topdown.redistricting import (
    RedistrictingResult,
)
from phexplore.metrics.topdown.reliability import Reliability
from phexplore.metrics.topdown.shapes import Floats

Json = dict[str, Any]


def figures_json(figures: ErrorFigures) -> Json:
    """Return figures by id, each over all trials and with its Monte-Carlo error."""
    return {name: figure_json(values, name) for name, values in figures.by_id().items()}


def figure_json(values: Floats, metric: str = "") -> Json:
    """Return the mean of ``values[trials]`` and its Monte-Carlo error, null with one trial; of a root mean square the root over all."""
    value, error = over_trials(metric, np.asarray(values, np.float64))
    return {"value": number(value), "error": number(error)}


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
