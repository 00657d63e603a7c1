"""``phexplore truncation`` and ``publish``: what a threshold does, and what would be published of a simulated release."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from phexplore.accuracy.truncation_study import (
    HouseholdSizes,
    StudyError,
    TruncationStudy,
    read_sizes,
    scaled,
    sizes_of_run,
    study,
)
from phexplore.cli.printing import print_json, print_table, say
from phexplore.cli.source import load_scenario, require_phsafe
from phexplore.errors import UnknownNameError
from phexplore.files.whole import read_text, write_whole
from phexplore.model.keys import TableId, parse_level
from phexplore.model.numbers import Unlimited, exact_text, parse_exact
from phexplore.model.scenario import Scenario
from phexplore.runs.store import load_summary


def truncation_study(
    text: str, query: str, *, sizes: Path | None, run: Path | None, part: str, share: str, keep_margin: bool
) -> TruncationStudy:
    """Return the study of one query of a scenario.

    Args:
        text: SCENARIO.
        query: ``PH3/state_A-G``.
        sizes: file of household sizes; or
        run: directory of a run whose data are studied.
        part: of these households the number is counted over, e.g. ``1/50``.
        share: of the truncated people that the number counts.
        keep_margin: whether the budget follows the margin.

    Raises:
        PhexploreError: something of it cannot be read or studied.
    """
    scenario = load_scenario(text)
    require_phsafe(scenario, "A study of truncation")
    table, _, level = query.partition("/")
    key = next(
        (q for q in scenario.phsafe.budgets if q.table == TableId(table) and q.level == parse_level(level)), None
    )
    if key is None or key.table not in scenario.phsafe.thresholds:
        raise UnknownNameError("truncated query", query, [q.text for q in scenario.phsafe.budgets])
    found = _sizes(sizes, run, table)
    if part:
        found = scaled(found, _number(part, "--part"))
    budget = scenario.phsafe.budgets[key]
    if isinstance(budget, Unlimited) or budget == 0:
        raise StudyError(f"{key.title} is published without noise or not at all.", "Give it a budget.")
    margin = _present_margin(scenario, key.text) if keep_margin else None
    return study(
        found,
        scenario.phsafe.framework,
        scenario.conventions,
        budget=None if keep_margin else budget,
        margin=margin,
        share=_number(share, "--share"),
        thresholds=sorted({*range(1, min(found.largest + 1, 20) + 1), scenario.phsafe.thresholds[key.table]}),
    )


def _number(text: str, option: str) -> Fraction:
    try:
        return parse_exact(text)
    except ValueError as error:
        raise StudyError(f"{option} cannot be read: {error}.", "Write e.g. 0.25, 1/50 or 20 %.") from error


def _sizes(sizes: Path | None, run: Path | None, table: str) -> HouseholdSizes:
    if (sizes is None) == (run is None):
        raise StudyError("A study needs household sizes from one place.", "Give --sizes FILE or --run RUN.")
    if sizes is not None:
        return read_sizes(read_text(sizes), sizes.name)
    summary = load_summary(run) if run is not None else None
    entries: Sequence[dict[str, Any]] = (summary or {}).get("truncation", ())
    return sizes_of_run(entries, table)


def _present_margin(scenario: Scenario, place: str) -> Fraction:
    from phexplore.decide.judging import analytic_margins

    targets = {query.text: margin for query, margin in scenario.phsafe.targets.items()}
    if place in targets:
        return targets[place]
    return Fraction(analytic_margins(scenario)[place] or 1)


def print_study(found: TruncationStudy, *, as_json: bool) -> None:
    """Print bias and noise of every threshold, apart and together."""
    if as_json:
        print_json(study_json(found))
        return
    rows = [
        (
            str(point.threshold) + (" *" if point.threshold == found.best else ""),
            exact_text(point.budget),
            f"{point.bias:,.1f}",
            f"{point.deviation:,.1f}",
            f"{point.margin:,.1f}",
            f"{point.rmse:,.1f}",
            f"{point.people_cut:.2%}",
            f"{point.households_cut:.2%}",
        )
        for point in found.points
    ]
    header = ("τ", "budget", "bias", "noise σ", "MOE", "RMSE", "people cut", "households cut")
    print_table(header, rows, right=range(8))
    print(f"* smallest root mean square error, over {found.sizes.households:,} households ({found.sizes.of})")
    if found.cheapest is not None:
        print(f"Cheapest threshold whose bias stays within the margin: {found.cheapest}")
    if found.sizes.is_open:
        print("The largest size is open: true bias is larger than shown.")


def study_json(found: TruncationStudy) -> dict[str, Any]:
    """Return a study as JSON."""
    return {
        "households": found.sizes.households,
        "people": found.sizes.people,
        "of": found.sizes.of,
        "open": found.sizes.is_open,
        "share": exact_text(found.share),
        "cells": found.cells,
        "best": found.best,
        "cheapest": found.cheapest,
        "points": [
            {
                "tau": point.threshold,
                "rho": exact_text(point.budget),
                "bias": point.bias,
                "sigma": point.deviation,
                "moe": point.margin,
                "rmse": point.rmse,
                "people_cut": point.people_cut,
                "households_cut": point.households_cut,
            }
            for point in found.points
        ],
    }


def publish_run(run: Path, trial: int, seed: int, draws: int, out: Path) -> list[dict[str, Any]]:
    """Write the published tables of a trial and return how often their intervals hold the truth, where it is known.

    Raises:
        PhexploreError: the run or the trial cannot be read, or the files cannot be written.
    """
    from phexplore.decide.publishing import coverage, publish_trial, published_files, truth_of
    from phexplore.runs.results import RunResults

    results = RunResults.open(run)
    require_phsafe(results.spec.scenario, "Publishing")
    published = publish_trial(results, trial, seed, draws)
    for name, content in published_files(published).items():
        write_whole(out / name, content)
        say(f"Wrote {out / name}")
    if not results.has_truth:
        return []
    return [
        {"table": table, "held": found.held, "of": found.errors, "share": found.share.value if found.share else None}
        for table, found in coverage(published, truth_of(results)).items()
    ]


def print_coverage(entries: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """Print how often published intervals held the truncated truth."""
    if as_json:
        print(json.dumps(list(entries), indent=2))
        return
    rows = [
        (e["table"], f"{e['held']:,}", f"{e['of']:,}", "-" if e["share"] is None else f"{e['share']:.1%}")
        for e in entries
    ]
    print_table(("table", "held", "of", "share"), rows, right=(1, 2, 3))
