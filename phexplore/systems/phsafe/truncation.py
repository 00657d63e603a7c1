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
from phexplore.errors import UnknownNameError
from phexplore.figures.wording import to_places
from phexplore.model.keys import TableId, parse_level
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.rounded import percent
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import print_json, print_table, tell
from phexplore.systems.phsafe.budget_edits import Keep
from phexplore.systems.phsafe.shared import require_phsafe
from phexplore.systems.phsafe.truncation_sources import (
    NATION,
    SizeSource,
    StudyRequest,
    average_share,
    average_words,
)
from phexplore.systems.phsafe.truncation_study import StudyError, TruncationStudy, judged


def study_request(
    scenario: Scenario,
    query: str,
    *,
    sizes: Path | None,
    run: Path | None,
    state: str,
    part: str,
    share: str,
    keep_margin: bool,
) -> StudyRequest:
    """Return what is to be studied of a query of a scenario.

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
    source = _source(scenario, sizes=sizes, run=run, state=state)
    return StudyRequest(
        scenario,
        key,
        source,
        _number(part, "--part") if part else source.average(key),
        _number(share, "--share") if share else average_share(key),
        Keep.MARGINS if keep_margin else Keep.BUDGETS,
    )


def _number(text: str, option: str) -> Fraction:
    try:
        return parse_exact(text)
    except ValueError as error:
        raise StudyError(f"{option} cannot be read: {error}.", "Write e.g. 0.25, 1/50 or 20 %.") from error


def _source(scenario: Scenario, *, sizes: Path | None, run: Path | None, state: str) -> SizeSource:
    if sum(place not in {None, ""} for place in (sizes, run, state)) > 1:
        raise StudyError("A study needs households from one place.", "Give one of --sizes, --run and --state.")
    if not state and sizes is None and run is None and scenario.phsafe.states == (PUERTO_RICO,):
        state = PUERTO_RICO
    return SizeSource(catalogue_state(state).fips if state else NATION, run=run, file=sizes)


def printed_study(found: TruncationStudy, present: int) -> dict[str, Any]:
    """Return a study as JSON, with what the scenario's threshold is beside the best.

    Args:
        found: the study.
        present: the scenario's τ.
    """
    return {**study_json(found), "present": {"tau": present, "judged": judged(found, present)}}


def print_study(found: TruncationStudy, request: StudyRequest, *, as_json: bool) -> None:
    """Print bias and noise of every threshold, apart and together, and what the scenario's threshold is beside the best.

    Args:
        found: the study.
        request: what was asked.
        as_json: whether to print JSON.
    """
    present = request.present
    if as_json:
        print_json(printed_study(found, present))
        return
    rows = [
        (
            str(point.threshold) + (" *" if point.threshold == found.best else ""),
            exact_text(point.budget),
            f"{point.bias:,.1f}",
            to_places(point.deviation, 1),
            to_places(point.margin, 1),
            to_places(point.rmse, 1),
            percent(point.people_cut, places=2),
            percent(point.households_cut, places=2),
        )
        for point in found.points
    ]
    header = ("τ", "budget", "bias", "noise σ", "MOE", "RMSE", "people cut", "households cut")
    print_table(header, rows, right=range(8))
    tell(f"* smallest root mean square error, over {found.sizes.households:,} households ({found.sizes.of})")
    if average := average_words(request.query, request.share):
        tell(average)
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
