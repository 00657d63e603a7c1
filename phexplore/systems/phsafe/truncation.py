"""``phexplore truncation``: what a threshold does to the numbers of a query.

Args:
    found: a study.
    present: the scenario's threshold.
    as_json: for programs.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from phexplore.catalog.states import PUERTO_RICO
from phexplore.catalog.states import state as catalogue_state
from phexplore.data.synthetic.tables import state_figures
from phexplore.errors import UnknownNameError
from phexplore.files.atomic_files import read_text
from phexplore.model.keys import QueryKey, TableId, parse_level
from phexplore.model.numbers import Unlimited, exact_text, parse_exact
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import print_json, print_table, say, tell
from phexplore.runs.confidentiality import TREATED_AS_CONFIDENTIAL, is_confidential
from phexplore.runs.store import load_spec, load_summary
from phexplore.systems.phsafe.shared import forecast, require_phsafe
from phexplore.systems.phsafe.truncation_sources import average_area, average_share, states_in_run, synthetic_sizes
from phexplore.systems.phsafe.truncation_study import (
    HouseholdSizes,
    StudyError,
    TruncationStudy,
    judged,
    read_sizes,
    scaled,
    sizes_of_run,
    study,
)


def truncation_study(
    scenario: Scenario,
    query: str,
    *,
    sizes: Path | None,
    run: Path | None,
    state: str,
    part: str,
    share: str,
    keep_margin: bool,
) -> tuple[TruncationStudy, int]:
    """Return the study of one query of a scenario, and the scenario's threshold.

    Args:
        scenario: any; one of another system is refused.
        query: ``PH3/state_A-G``.
        sizes: file of household sizes; or
        run: directory of a run whose data are studied; or
        state: of the synthetic population, "" for the nation: what is studied without file and run.
        part: of these households the number is counted over, e.g. ``1/50``; "" for an average area of the query's
            level.
        share: of the truncated people that the number counts; "" for the average number.
        keep_margin: whether the budget follows the margin.

    Raises:
        PhexploreError: something of it cannot be read or studied.
    """
    require_phsafe(scenario, "A study of truncation")
    table, _, level = query.partition("/")
    key = next(
        (q for q in scenario.phsafe.budgets if q.table == TableId(table) and q.level == parse_level(level)), None
    )
    if key is None or key.table not in scenario.phsafe.thresholds:
        raise UnknownNameError("truncated query", query, [q.text for q in scenario.phsafe.budgets])
    found, area = _sizes(scenario, key, sizes=sizes, run=run, state=state)
    if part:
        area = _number(part, "--part")
    if area != 1:
        found = scaled(found, area)
    budget = scenario.phsafe.budgets[key]
    if isinstance(budget, Unlimited) or budget == 0:
        raise StudyError(f"{key.title} is published without noise or not at all.", "Give it a budget.")
    margin = _present_margin(scenario, key.text) if keep_margin else None
    present = scenario.phsafe.thresholds[key.table]
    result = study(
        found,
        scenario.phsafe.framework,
        scenario.conventions,
        budget=None if keep_margin else budget,
        margin=margin,
        share=_number(share, "--share") if share else average_share(key),
        thresholds=sorted({*range(1, min(found.largest + 1, 20) + 1), present}),
    )
    return result, present


def _number(text: str, option: str) -> Fraction:
    try:
        return parse_exact(text)
    except ValueError as error:
        raise StudyError(f"{option} cannot be read: {error}.", "Write e.g. 0.25, 1/50 or 20 %.") from error


def _sizes(
    scenario: Scenario, query: QueryKey, *, sizes: Path | None, run: Path | None, state: str
) -> tuple[HouseholdSizes, Fraction]:
    """Return the households, and the part of them that an average area of the query has."""
    if sum(place not in {None, ""} for place in (sizes, run, state)) > 1:
        raise StudyError("A study needs households from one place.", "Give one of --sizes, --run and --state.")
    if sizes is not None:
        return read_sizes(read_text(sizes), sizes.name), Fraction(1)
    if run is not None:
        summary = load_summary(run) or {}
        if is_confidential(load_spec(run), summary):
            say(TREATED_AS_CONFIDENTIAL)
        areas = states_in_run(summary, query)
        return sizes_of_run(summary.get("truncation", ()), query.table), average_area(query, areas)
    if not state and scenario.phsafe.states == (PUERTO_RICO,):
        state = PUERTO_RICO
    if not state:
        return synthetic_sizes(query.table), average_area(query, len(state_figures()))
    return synthetic_sizes(query.table, catalogue_state(state).fips), Fraction(1)


def _present_margin(scenario: Scenario, place: str) -> Fraction:
    targets = {query.text: margin for query, margin in scenario.phsafe.targets.items()}
    if place in targets:
        return targets[place]
    margins = next(entry.margins for entry in forecast(scenario).entries if entry.place == place)
    return Fraction(margins.by(scenario.conventions.margin) if margins else 1)


def print_study(found: TruncationStudy, present: int, *, as_json: bool) -> None:
    """Print bias and noise of every threshold, apart and together, and what the scenario's threshold is beside the best.

    Args:
        found: the study.
        present: the scenario's τ.
        as_json: whether to print JSON.
    """
    if as_json:
        print_json({**study_json(found), "present": {"tau": present, "judged": judged(found, present)}})
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
    tell(f"* smallest root mean square error, over {found.sizes.households:,} households ({found.sizes.of})")
    if (count := round(1 / found.share) if found.share else 0) > 1:
        tell(f"Studied is the average of {count:,} numbers of an area; the largest numbers lose more.")
    tell(judged(found, present))
    if found.cheapest is not None:
        tell(f"Cheapest threshold whose bias stays within the margin: {found.cheapest}")
    if found.sizes.is_open:
        tell("The largest size is open: true bias is larger than shown.")


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
