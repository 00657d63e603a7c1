"""The part of ``summary.json`` that subspace runs have: invariants to the last bit, errors against their formulas, privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from phexplore.accounting.subspace_noise import NoisePlan
from phexplore.metrics.summary import conventions_json, overall_coverage
from phexplore.model.numbers import exact_text
from phexplore.runs.simulation import TrialFigures, Watch, outcome
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.simulate.subspace.drawing import Answers
from phexplore.systems.subspace.forecast import forecast_subspace
from phexplore.systems.subspace.release_errors import ReleaseErrors
from phexplore.systems.subspace.run_files import AnswerNames, read_answers
from phexplore.workload.subspace.spaces import Floats

SIGMAS = 6
"""A mean error farther from 0, or a squared error farther from its formula, than this many standard errors fails its check."""

JUDGED = 30
"""Trials from which on these two are judged; by chance a check then fails about once in a million runs."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What a subspace run is judged by.

    Attributes:
        spec: what was to be done.
        plans: the noise of each release.
        answers: exact, in the same order.
        names: of the answers.
        expected: squared error of each release by its formula, people².
        variances: ``float64[n]`` of each release.
        figures: of every trial.
        paths: of every trial.
        watch: told of progress.
    """

    spec: RunSpec
    plans: Sequence[NoisePlan]
    answers: Sequence[Answers]
    names: AnswerNames
    expected: Mapping[str, float]
    variances: Mapping[str, Floats]
    figures: Sequence[TrialFigures]
    paths: Sequence[Path]
    watch: Watch


def subspace_summary(run: Evidence) -> dict[str, Any]:
    """Return the summary.

    Raises:
        RunUnreadableError: a trial cannot be read.
        CancelledError: the run is to stop.
    """
    pairs = zip(run.plans, run.answers, strict=True)
    tallies = {plan.name: ReleaseErrors(plan, (), own.exact) for plan, own in pairs}
    for place, path in enumerate(run.paths):
        run.watch.progress("summary", place + 1, len(run.paths))
        values = read_answers(path, run.names)
        for name, tally in tallies.items():
            tally.add(values[name])
    figures = [_release_figures(run, plan, tallies[plan.name]) for plan in run.plans]
    method, conventions = run.spec.scenario.subspace, run.spec.scenario.conventions
    forecast = forecast_subspace(method, conventions)
    private = run.spec.mode is RunMode.PRIVATE
    return {
        "checks": {
            "invariants_exact": outcome(sum(sum(tally.broken) for tally in tallies.values())),
            **(
                {
                    "budget_spent_equals_declared": True,
                    "unbiased": outcome(sum(not figure["unbiased"] for figure in figures)),
                    "squared_error_equals_formula": outcome(sum(not figure["as_expected"] for figure in figures)),
                }
                if private
                else {}
            ),
        },
        "failsafe": 0,
        "privacy": {
            "framework": "subspace",
            "epsilon": exact_text(method.epsilon),
            "delta": exact_text(method.delta),
            "protected": list(forecast.protected),
            "not_protected": list(forecast.not_protected),
        },
        "conventions": conventions_json(conventions),
        "numbers": run.names.size,
        **(
            {
                "coverage": overall_coverage(
                    [each.covered for each in run.figures], run.names.size, float(conventions.confidence)
                )
            }
            if private
            else {}
        ),
        "metrics": figures,
    }


def _release_figures(run: Evidence, plan: NoisePlan, tally: ReleaseErrors) -> dict[str, Any]:
    trials, size, expected = len(run.paths), plan.space.size, run.expected[plan.name]
    spread = np.sqrt(run.variances[plan.name] / trials)
    moved = np.abs(tally.mean)[spread > 0] / spread[spread > 0]
    observed, error = math.fsum(tally.squared) / trials, tally.squared_error_doubt
    return {
        "release": plan.name,
        "mechanism": plan.release.mechanism.value,
        "answers": size,
        "trials": trials,
        "mean_error": float(tally.total.mean() / trials),
        "mae": tally.absolute / trials / size,
        "rmse": math.sqrt(observed / size),
        "largest": tally.largest,
        "squared_error": observed,
        "squared_error_se": error,
        "expected_squared_error": expected,
        "largest_bias_in_standard_errors": float(moved.max()) if moved.size else 0.0,
        "unbiased": trials < JUDGED or not moved.size or float(moved.max()) <= SIGMAS + math.sqrt(2 * math.log(size)),
        "as_expected": trials < JUDGED or not error or abs(observed - expected) <= SIGMAS * error,
    }
