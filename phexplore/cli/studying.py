"""``phexplore truncation`` and ``publish``: what a threshold does, and what would be published of a simulated release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from phexplore.catalog.states import PUERTO_RICO
from phexplore.catalog.states import state as catalogue_state
from phexplore.data.synthetic.tables import state_figures
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.files.atomic_files import read_text, write_atomically
from phexplore.metrics.coverage import Coverage
from phexplore.model.keys import QueryKey, TableId, parse_level
from phexplore.model.numbers import Unlimited, exact_text, parse_exact
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import print_json, print_table, say, tell
from phexplore.runs.confidentiality import TREATED_AS_CONFIDENTIAL, is_confidential
from phexplore.runs.store import load_spec, load_summary
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
from phexplore.systems.sources import load_scenario, require_phsafe


def truncation_study(
    text: str, query: str, *, sizes: Path | None, run: Path | None, state: str, part: str, share: str, keep_margin: bool
) -> tuple[TruncationStudy, int]:
    """Return the study of one query of a scenario, and the scenario's threshold.

    Args:
        text: SCENARIO.
        query: ``PH3/state_A-G``.
        sizes: file of household sizes; or
        run: directory of a run whose data are studied; or
        state: of the synthetic population, "" for the nation: what is studied without file and run.
        part: of these households the number is counted over, e.g. ``1/50``; "" for an average area of the query's level.
        share: of the truncated people that the number counts; "" for the average number.
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
    from phexplore.systems.registry import margins_of_entries

    targets = {query.text: margin for query, margin in scenario.phsafe.targets.items()}
    if place in targets:
        return targets[place]
    return Fraction(margins_of_entries(scenario)[place] or 1)


def print_study(found: TruncationStudy, present: int, *, as_json: bool) -> None:
    """Print bias and noise of every threshold, apart and together, and what the scenario's threshold is beside the best."""
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


def publish_run(run: Path, trial: int, seed: int, draws: int, out: Path) -> list[dict[str, Any]]:
    """Write the published tables of a trial, and of marked data every number beside its truth.

    Returns:
        How often intervals hold the truth, by table and by how far the truth lies from a limit; empty without a truth.

    Raises:
        PhexploreError: the run or the trial cannot be read, or the files cannot be written.
    """
    from phexplore.runs.release_note import NOTE_FILE, release_note
    from phexplore.runs.spec import RunMode
    from phexplore.systems.phsafe.published_coverage import comparison_file, coverage_by_room, rooms_of
    from phexplore.systems.phsafe.publishing import coverage, publish_trial, published_files, truth_of
    from phexplore.systems.phsafe.results import RunResults

    results = RunResults.open(run)
    require_phsafe(results.spec.scenario, "Publishing")
    confidential = is_confidential(results.spec, results.summary)
    if confidential and results.spec.mode is not RunMode.PRIVATE:
        raise PhexploreError(
            f"The run added no noise, so its tables would be exact counts. {TREATED_AS_CONFIDENTIAL}",
            "Publish a run with noise.",
        )
    published = publish_trial(results, trial, seed, draws)
    files = published_files(published) | {NOTE_FILE: release_note(results.spec).encode()}
    truth = truth_of(results) if results.has_truth else {}
    room = rooms_of(results, trial) if results.has_truth else {}
    if truth and not confidential:
        files["comparison.csv"] = comparison_file(published, truth, room)
    if confidential:
        say(f"comparison.csv was left out, for it holds exact counts. {TREATED_AS_CONFIDENTIAL}")
        if results.spec.is_reproducible:
            say("The noise can be drawn again from the run's seed: these tables are as confidential as the data.")
    for name, content in files.items():
        write_atomically(out / name, content, private=confidential and results.spec.is_reproducible)
        say(f"Wrote {out / name}")
    classes = coverage_by_room(published, truth, room)
    return [
        {
            **_coverage_json(found),
            "table": table,
            "by_room": [
                {"from_sigma": each.low, "to_sigma": None if math.isinf(each.high) else each.high,
                 **_coverage_json(each.coverage)}
                for each in classes
                if each.table == table
            ],
        }
        for table, found in coverage(published, truth).items()
        if truth
    ]  # fmt: skip


def _coverage_json(found: Coverage) -> dict[str, Any]:
    has = bool(found.errors)
    return {"held": found.held, "of": found.errors, "share": found.share.value if has else None,
            "low": found.share.low if has else None, "high": found.share.high if has else None}  # fmt: skip


def print_coverage(entries: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """Print how often published intervals held the truncated truth, by table and by room."""
    if as_json:
        print_json(list(entries))
        return
    rows = []
    for entry in entries:
        rows.append((entry["table"], "all", *_coverage_cells(entry)))
        for part in entry["by_room"]:
            end = "on" if part["to_sigma"] is None else f"to {part['to_sigma']:g}"
            rows.append(("", f"from {part['from_sigma']:g} {end} σ", *_coverage_cells(part)))
    print_table(("table", "room of the truth", "held", "of", "share"), rows, right=(2, 3, 4))
    if entries:
        tell(
            "The room of a number is how many standard deviations the truth lies from a limit such as 0. Close to a limit the "
            "published intervals hold another share than 90 %; averaged over all counts their prior allows they hold 90 %."
        )


def _coverage_cells(entry: dict[str, Any]) -> tuple[str, str, str]:
    return f"{entry['held']:,}", f"{entry['of']:,}", "-" if entry["share"] is None else f"{entry['share']:.1%}"
