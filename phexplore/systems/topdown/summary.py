"""The part of ``summary.json`` that TopDown runs have: checks, privacy, failsafe, metrics per level and query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.metrics.summary import number, overall_coverage
from phexplore.metrics.topdown.distribution import ErrorDistribution, merge
from phexplore.metrics.topdown.figures import QUANTILES, ErrorFigures
from phexplore.metrics.topdown.redistricting import GroupShares, group_shares, redistricting_criterion
from phexplore.metrics.topdown.reliability import reliable_from
from phexplore.metrics.topdown.size_classes import TENS
from phexplore.metrics.topdown.summary import criterion_json, figure_json, figures_json, reliability_json
from phexplore.model.numbers import exact_text
from phexplore.runs.run_files import read_mark
from phexplore.runs.simulation import Watch, outcome
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.simulate.topdown.design import Design, LevelDesign
from phexplore.simulate.topdown.driver import World
from phexplore.simulate.topdown.histograms import Histograms, sums_up
from phexplore.systems.topdown import run_checks as topdown_checks
from phexplore.systems.topdown import run_errors as errors
from phexplore.systems.topdown.run_errors import answers_of
from phexplore.systems.topdown.run_files import LeafFiles
from phexplore.systems.topdown.run_options import topdown_options
from phexplore.workload.queries import MarginalQuery, parse_query, total_query
from phexplore.workload.schema import Schema

Integers = NDArray[np.int64]

MOST_NUMBERS = 8_000_000
"""Whoever shows single numbers of a query at a level makes a table of no more than this many."""

_GROUP_QUERIES = {
    "pl94_persons": "hispanic * cenrace_7lev_two_comb",
    "pl94_reduced16": "race_ethnicity",
}
"""The query whose answers are the groups of the redistricting criterion, by schema; production's where the schema has it."""


def criterion_query(schema: Schema) -> MarginalQuery | None:
    """Return the query whose answers are the groups of the redistricting criterion, None where a schema has none."""
    name = _GROUP_QUERIES.get(schema.id)
    return None if name is None else parse_query(schema, name)


class TrialReader:
    """The trials of a run, read one at a time."""

    def __init__(self, files: LeafFiles, paths: Sequence[Path], watch: Watch) -> None:
        self._files = files
        self.paths = tuple(paths)
        self._watch = watch

    def __iter__(self) -> Iterator[Histograms]:
        """Yield the estimates of every trial's leaves.

        Raises:
            RunUnreadableError: a trial cannot be read.
            CancelledError: the run is to stop.
        """
        for place, path in enumerate(self.paths):
            self._watch.progress("summary", place, len(self.paths))
            yield self._files.read(path)
        self._watch.progress("summary", len(self.paths), len(self.paths))

    def metadata(self) -> list[dict[str, Any]]:
        """Return what the trials' files say of themselves."""
        return [read_mark(path) for path in self.paths]


def topdown_summary(
    spec: RunSpec, full: World, estimated: World, trials: TrialReader, *, is_counted: bool = True
) -> dict[str, Any]:
    """Return the summary of a run.

    Args:
        spec: what was to be done.
        full: exact counts and bounds of every level.
        estimated: what was estimated: the same, or the leaves alone.
        trials: on disk.
        is_counted: whether the exact counts are known; without them there are no errors.

    Raises:
        BudgetMismatchError: the noise did not cost exactly what was declared.
    """
    found = trials.metadata()
    tallies = [Tally(level, truth) for level, truth in zip(full.design.levels, full.truth, strict=True)]
    tallies = tallies if is_counted else []
    broken: dict[str, dict[str, int]] = {}
    for leaves in trials:
        levels = sums_up(leaves, full.tree, full.design.schema.cells)
        for tally, estimate in zip(tallies, levels, strict=is_counted):
            tally.add(estimate)
        for name, counts in topdown_checks.broken_totals(full, leaves).items():
            held = broken.setdefault(name, {"units": counts["units"], "trials": 0, "broken": 0})
            held["trials"] += 1
            held["broken"] += counts["broken"]
    covered, numbers = [int(each["covered"]) for each in found], int(found[0]["numbers"]) if found else 0
    return {
        "estimator": topdown_options(spec).estimator.value,
        "checks": {
            "budget_spent_equals_declared": estimated.design.spent + estimated.design.unspent
            == spec.scenario.topdown.total,
            **{name: outcome(sum(int(each["checks"][name]) for each in found)) for name in topdown_checks.CHECKS},
        },
        "failsafe": sum(int(each["failsafe"]) for each in found),
        "relaxed": sum(int(each["relaxed"]) for each in found),
        "unfinished": sum(int(each["unfinished"]) for each in found),
        "broken_totals": broken,
        "privacy": privacy_json(spec, estimated.design),
        "design": design_json(spec, estimated.design),
        "coverage": overall_coverage(covered, numbers, float(spec.scenario.conventions.confidence)),
        "metrics": [entry for tally in tallies for entry in tally.entries()],
        "redistricting": [entry for tally in tallies if (entry := tally.redistricting())],
    }


def privacy_json(spec: RunSpec, design: Design) -> dict[str, Any]:
    """Return what one released trial costs; every further one costs it again.

    Args:
        spec: what the run does.
        design: what is measured and kept.
    """
    method = spec.scenario.topdown
    unlimited = spec.mode is RunMode.NO_NOISE
    return {
        "framework": method.framework.value,
        "budget": "unlimited" if unlimited else exact_text(design.spent),
        "declared": exact_text(method.total),
        "unspent": exact_text(design.unspent),
        "neighbours": "bounded",
    }


def design_json(spec: RunSpec, design: Design) -> dict[str, Any]:
    """Return what the rule for smaller schemas and the data's root made of the scenario.

    Args:
        spec: what the run does.
        design: what is measured and kept.
    """
    return {
        "scenario_schema": spec.scenario.topdown.schema,
        "schema": design.schema.id,
        "levels": [
            {
                "level": level.name,
                "budget": exact_text(level.measuring.spent),
                "exact_total": level.exact_total,
                "shared_total": level.shared_total,
                "facility_bounds": level.least or level.most,
                "structural_zeros": list(level.zeros),
                "queries": [
                    {
                        "query": query.name,
                        "cells": query.answers,
                        "budget": exact_text(budget),
                        "share": exact_text(budget / level.measuring.spent),
                        "variance": None if noise is None else number(noise.variance()),
                    }
                    for query, budget, noise in zip(
                        level.plan.measured, level.measuring.budgets, level.measuring.noises, strict=True
                    )
                ],
                "passes": [[query.name for query in queries] for queries in level.plan.passes],
                "rounder": [[query.name for query in queries] for queries in level.plan.rounding],
            }
            for level in design.levels
        ],
        "images": [{"level": key.level, "query": key.query, "image": image} for key, image in design.images],
        "dropped": [{"level": name, "budget": exact_text(budget)} for name, budget in design.dropped],
        "remarks": list(design.remarks),
    }


class Tally:
    """The errors of one level, query by query, growing trial by trial."""

    def __init__(self, level: LevelDesign, truth: Histograms) -> None:
        """Start without a trial.

        Args:
            level: what is measured beside the total.
            truth: exact histograms of its units.
        """
        self.level, schema = level.name, level.plan.schema
        queries = dict.fromkeys((total_query(schema), *level.plan.measured))
        self._queries = [_QueryTally(query, answers_of(truth, query)) for query in queries]
        self._groups = criterion_query(schema)
        self._group_truth = None if self._groups is None else answers(truth, self._groups)
        self._shares: list[GroupShares] = []

    def add(self, estimate: Histograms) -> None:
        """Add one trial."""
        for tally in self._queries:
            tally.add(estimate)
        if self._groups is not None and self._group_truth is not None:
            self._shares.append(group_shares(self._group_truth, answers(estimate, self._groups)))

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield one entry of ``metrics`` per query."""
        for tally in self._queries:
            yield {"level": self.level, **tally.entry()}

    def redistricting(self) -> dict[str, Any] | None:
        """Return the redistricting criterion of this level, None where the schema has no groups."""
        if self._groups is None or not self._shares:
            return None
        shares = shares_together(self._shares)
        return {
            "level": self.level,
            "query": self._groups.name,
            "criterion": criterion_json(redistricting_criterion(shares)),
            "reliable": reliability_json(reliable_from(shares)),
        }


class _QueryTally:
    """The errors of one query at one level."""

    def __init__(self, query: MarginalQuery, truth: Histograms) -> None:
        self._query = query
        self._truth = truth
        self._figures: list[ErrorFigures] = []
        self._classes: list[Mapping[str, ErrorFigures]] = []
        self._errors: list[ErrorDistribution] = []
        self._one_minus_tvd: list[float] = []
        self._mean_largest: list[float] = []

    def add(self, estimate: Histograms) -> None:
        """Add one trial."""
        pairs = errors.paired(self._truth, answers_of(estimate, self._query), self._query)
        self._figures.append(errors.figures(pairs))
        self._classes.append(errors.figures_by_size(pairs, TENS))
        self._errors.append(errors.distribution(pairs))
        self._one_minus_tvd.append(errors.one_minus_tvd(pairs))
        self._mean_largest.append(errors.mean_largest(pairs))

    def entry(self) -> dict[str, Any]:
        """Return the figures of all trials."""
        merged = merge(self._errors)
        sizes = merged.sizes()
        return {
            "query": self._query.name,
            "units": self._truth.units,
            "numbers": self._truth.units * self._query.answers,
            "total": figures_json(together(self._figures)),
            "one_minus_tvd": figure_json(np.array(self._one_minus_tvd)),
            "mean_largest": figure_json(np.array(self._mean_largest)),
            "quantiles": {
                "probability": list(QUANTILES),
                "signed": [number(merged.interpolated(share)) for share in QUANTILES],
                "absolute": [number(sizes.interpolated(share)) for share in QUANTILES],
            },
            "by_size": {
                label: {
                    "numbers": self._classes[0][label].numbers,
                    **figures_json(together([each[label] for each in self._classes])),
                }
                for label in self._classes[0]
            },
        }


def answers(histograms: Histograms, query: MarginalQuery) -> Integers:
    """Return a query's answers, ``int64[units, answers]``.

    Args:
        histograms: of the units.
        query: which answers.
    """
    return histograms.answers(query.cell_map(), query.answers)


def sparse_distribution(truth: Histograms, estimate: Histograms, query: MarginalQuery) -> ErrorDistribution:
    """Return the errors of a query's answers without a table of all of them: what neither counts is off by 0.

    Args:
        truth: exact histograms of the units.
        estimate: published ones.
        query: whose answers.
    """
    return errors.distribution(errors.paired(answers_of(truth, query), answers_of(estimate, query), query))


def together(parts: Sequence[ErrorFigures]) -> ErrorFigures:
    """Return the figures of several trials as one."""
    joined = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(ErrorFigures)
        if field.name != "numbers"
    }
    return ErrorFigures(numbers=parts[0].numbers, **joined)


def shares_together(parts: Sequence[GroupShares]) -> GroupShares:
    """Return the group shares of several trials as one."""
    return GroupShares(
        group=np.concatenate([part.group for part in parts]),
        error=np.concatenate([part.error for part in parts]),
        comparable=np.concatenate([part.comparable for part in parts]),
        meets=np.concatenate([part.meets for part in parts]),
        people=parts[0].people,
    )
