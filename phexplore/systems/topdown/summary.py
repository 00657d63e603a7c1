"""The part of ``summary.json`` that TopDown runs have: checks, privacy, failsafe, metrics per level and query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.geocodes import layout_of
from phexplore.metrics.summary import number, overall_coverage
from phexplore.metrics.topdown.distribution import ErrorDistribution, merge
from phexplore.metrics.topdown.figures import QUANTILES, ErrorFigures
from phexplore.metrics.topdown.redistricting import GroupShares, redistricting_criterion
from phexplore.metrics.topdown.reliability import MeetingSizes, reliable_from, trials_together
from phexplore.metrics.topdown.size_classes import TENS
from phexplore.metrics.topdown.summary import criterion_json, figure_json, figures_json, reliability_json
from phexplore.model.numbers import exact_text
from phexplore.runs.simulation import outcome
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.simulate.topdown import run_checks as topdown_checks
from phexplore.simulate.topdown.error_folding import LevelErrors, QueryErrors, level_errors, query_errors
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.systems.topdown.run_options import topdown_options
from phexplore.workload.queries import MarginalQuery, parse_query, total_query
from phexplore.workload.schema import Schema

if TYPE_CHECKING:
    from phexplore.simulate.topdown.design import Design, LevelDesign

Integers = NDArray[np.int64]

Levels = Sequence[Histograms]
"""Of every level, the widest first."""

MOST_NUMBERS = 8_000_000
"""Whoever shows single numbers of a query at a level makes a table of no more than this many."""

_GROUP_QUERIES = {
    "pl94_persons": "hispanic * cenrace_7lev_two_comb",
    "pl94_reduced16": "race_ethnicity",
    "dhc_persons": "hispanic * cenrace_7lev_two_comb",
}
"""The query whose answers are the groups of the redistricting criterion, by schema; production's where the schema has it."""


def criterion_query(schema: Schema) -> MarginalQuery | None:
    """Return the query whose answers are the groups of the redistricting criterion, None where a schema has none."""
    name = _GROUP_QUERIES.get(schema.id)
    return None if name is None else parse_query(schema, name)


def measured_queries(level: LevelDesign) -> tuple[MarginalQuery, ...]:
    """Return the queries whose errors a summary has: the total, what is measured, and what production reports above the leaves."""
    schema = level.plan.schema
    reported = () if level.name == layout_of(schema).names[-1] else schema.metrics
    return tuple(
        dict.fromkeys((total_query(schema), *level.plan.measured, *(parse_query(schema, name) for name in reported)))
    )


def production_metrics(schema: Schema) -> dict[str, Any]:
    """Return which of the figures are those that production reports: by its names, those of ``metrics``; what it skips; what is unknown."""
    return {
        "queries": {name: parse_query(schema, name).name for name in schema.metrics},
        "skipped_levels": [layout_of(schema).names[-1]],
        "unknown": list(schema.metrics_unknown),
    }


def tallied(levels: Sequence[LevelDesign], errors: Sequence[LevelErrors]) -> tuple[Tally, ...]:
    """Return the tallies of one trial.

    Args:
        levels: what is measured at each.
        errors: of each.
    """
    tallies = tuple(map(Tally, levels))
    for tally, found in zip(tallies, errors, strict=True):
        tally.add(found)
    return tallies


def trial_errors(levels: Sequence[LevelDesign], truth: Levels, estimate: Levels) -> tuple[LevelErrors, ...]:
    """Return the errors of one trial per level.

    Args:
        levels: what is measured at each.
        truth: exact histograms of every level.
        estimate: published ones.
    """
    return tuple(
        level_errors(one, other, measured_queries(level), criterion_query(level.plan.schema))
        for level, one, other in zip(levels, truth, estimate, strict=True)
    )


def topdown_summary(
    spec: RunSpec,
    estimated: Design,
    tallies: Sequence[Tally],
    marks: Sequence[Mapping[str, Any]],
    *,
    is_counted: bool = True,
) -> dict[str, Any]:
    """Return the summary of a run.

    Args:
        spec: what was to be done.
        estimated: what was measured and kept, at the levels of the tabulation or at the leaves alone.
        tallies: errors of all trials, a level of the tabulation each, the widest first.
        marks: what the trials' files say of themselves.
        is_counted: whether the exact counts are known; without them there are no errors.
    """
    covered, numbers = [int(each["covered"]) for each in marks], int(marks[0]["numbers"]) if marks else 0
    return {
        "estimator": topdown_options(spec).estimator.value,
        "checks": {
            "budget_spent_equals_declared": estimated.spent + estimated.unspent == spec.scenario.topdown.total,
            **{
                name: outcome(sum(int(each["checks"][name]) for each in marks))
                for name in (marks[0]["checks"] if marks else topdown_checks.CHECKS)
            },
        },
        "failsafe": sum(int(each["failsafe"]) for each in marks),
        "relaxed": sum(int(each["relaxed"]) for each in marks),
        "unfinished": sum(int(each["unfinished"]) for each in marks),
        "broken_totals": {tally.level: tally.broken_totals for tally in tallies if tally.exact_total},
        "privacy": privacy_json(spec, estimated),
        "design": design_json(spec, estimated),
        "coverage": overall_coverage(covered, numbers, float(spec.scenario.conventions.confidence)),
        "metrics": [entry for tally in tallies for entry in tally.entries()] if is_counted else [],
        **({"production_metrics": production_metrics(estimated.schema)} if estimated.schema.metrics else {}),
        "redistricting": [entry for tally in tallies if is_counted and (entry := tally.redistricting())],
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
                        level.measured, level.measuring.budgets, level.measuring.noises, strict=True
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
    """The errors of one level, query by query, growing trial by trial.

    Attributes:
        level: its name.
        exact_total: whether the total of every unit is to be the true one.
    """

    def __init__(self, level: LevelDesign) -> None:
        """Start without a trial of a level."""
        self.level, self.exact_total = level.name, level.exact_total
        self._units, self._broken = 0, list[int]()
        self._queries = [_QueryTally(query) for query in measured_queries(level)]
        self._groups = criterion_query(level.plan.schema)
        self._large: list[GroupShares] = []
        self._sizes: list[MeetingSizes] = []

    def add(self, errors: LevelErrors) -> None:
        """Add one trial."""
        for tally, found in zip(self._queries, errors.queries, strict=True):
            tally.add(found)
        self._units = errors.units
        self._broken.append(errors.broken)
        if errors.shares is not None:
            self._large.append(errors.shares.large)
            self._sizes.append(errors.shares.sizes)

    def extend(self, later: Tally) -> None:
        """Add the trials of another tally of this level."""
        for tally, further in zip(self._queries, later._queries, strict=True):
            tally.extend(further)
        self._units = later._units
        self._broken += later._broken
        self._large += later._large
        self._sizes += later._sizes

    @property
    def broken_totals(self) -> dict[str, int]:
        """How many units there are, in how many trials, and how many totals were not the true ones."""
        return {"units": self._units, "trials": len(self._broken), "broken": sum(self._broken)}

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield one entry of ``metrics`` per query."""
        for tally in self._queries:
            yield {"level": self.level, **tally.entry()}

    def redistricting(self) -> dict[str, Any] | None:
        """Return the redistricting criterion of this level, None where the schema has no groups."""
        if self._groups is None or not self._large:
            return None
        return {
            "level": self.level,
            "query": self._groups.name,
            "criterion": criterion_json(redistricting_criterion(shares_together(self._large))),
            "reliable": reliability_json(reliable_from(trials_together(self._sizes))),
        }


class _QueryTally:
    """The errors of one query at one level."""

    def __init__(self, query: MarginalQuery) -> None:
        self._query = query
        self._units = self._numbers = 0
        self._figures: list[ErrorFigures] = []
        self._classes: list[Mapping[str, ErrorFigures]] = []
        self._errors: list[ErrorDistribution] = []
        self._one_minus_tvd: list[float] = []
        self._mean_largest: list[float] = []

    def add(self, errors: QueryErrors) -> None:
        """Add one trial."""
        self._units, self._numbers = errors.units, errors.numbers
        self._figures.append(errors.figures)
        self._classes.append(errors.figures_by_size(TENS))
        self._errors.append(errors.distribution)
        self._one_minus_tvd.append(errors.one_minus_tvd)
        self._mean_largest.append(errors.mean_largest)

    def extend(self, later: _QueryTally) -> None:
        """Add the trials of another tally of this query."""
        self._units, self._numbers = later._units, later._numbers
        self._figures += later._figures
        self._classes += later._classes
        self._errors += later._errors
        self._one_minus_tvd += later._one_minus_tvd
        self._mean_largest += later._mean_largest

    def entry(self) -> dict[str, Any]:
        """Return the figures of all trials."""
        merged = merge(self._errors)
        sizes = merged.sizes()
        return {
            "query": self._query.name,
            "units": self._units,
            "numbers": self._numbers,
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
    return query_errors(truth, estimate, query).distribution


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
