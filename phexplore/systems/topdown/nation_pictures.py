"""Pictures and tiles of a run's states together, from its summary alone: no state is read. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from phexplore.figures.figure import Figure, nothing
from phexplore.metrics.coverage import coverage_of
from phexplore.systems.run_results import Chooser, Option
from phexplore.systems.topdown.error_pictures import (
    Judged,
    LevelSpread,
    criterion_title,
    judged_figure,
    spread_figure,
)
from phexplore.systems.topdown.run_choice import ALL_STATES, state_chooser
from phexplore.systems.topdown.wording import level_title, query_title

Summary = Mapping[str, Any]
Entry = Mapping[str, Any]

_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def spread_of_nation(summary: Summary, query: str, unit: str) -> Figure:
    """Return one row per level: the errors of all states.

    Args:
        summary: of a complete run.
        query: name of a query group.
        unit: what is counted.
    """
    spreads = []
    for entry in summary.get("metrics", ()):
        if entry.get("query") != query or "quantiles" not in entry:
            continue
        known = dict(zip(entry["quantiles"]["probability"], entry["quantiles"]["signed"], strict=True))
        figures = [entry["total"][name]["value"] for name in ("me", "mae", "rmse")]
        quantiles = tuple(float(known[share]) for share in _SHARES)
        spreads.append(LevelSpread(entry["level"], entry["units"], entry["numbers"], quantiles, *figures))
    if not spreads:
        return nothing("errors", "The summary has no errors of this query.")
    return spread_figure(spreads, (judged_level(summary), query), "all states", int(summary["trials"]), unit)


def criterion_of_nation(summary: Summary) -> Figure:
    """Return one row per level: the share of all states' units within five points."""
    entries: Sequence[Entry] = summary.get("redistricting", ())
    if not entries:
        return nothing("criterion", "The schema has no race and ethnicity groups to judge.")
    units = {entry["level"]: int(entry["units"]) for entry in summary["metrics"]}
    judged = []
    for entry in entries:
        title, criterion = level_title(entry["level"]), entry["criterion"]
        coverage = coverage_of(criterion["share"]["held"], criterion["share"]["of"])
        said = _reliable_words(entry, units)
        words = f"{title}: {criterion['units']:,} units with 500 people or more\n{said}"
        judged.append(Judged(entry["level"], title, coverage, words))
    level = judged_level(summary)
    title = next(_reliable_words(entry, units) for entry in entries if entry["level"] == level)
    return judged_figure(judged, title, query_title(entries[0]["query"]), int(summary["trials"]))


def _reliable_words(entry: Entry, units: Mapping[str, int]) -> str:
    level, reliable = entry["level"], entry["reliable"]
    coverage = coverage_of(reliable["share"]["held"], reliable["share"]["of"])
    return criterion_title(level_title(level), reliable["people"], coverage, units[level])


def judged_level(summary: Summary) -> str:
    """Return the lowest level with units of 500 people, on which redistricting looks; the lowest of all where none has them."""
    metrics, entries = summary.get("metrics", ()), summary.get("redistricting", ())
    large = [entry["level"] for entry in entries if entry["criterion"]["units"] >= 20]
    levels = large or [entry["level"] for entry in metrics]
    return str(levels[-1]) if levels else ""


def nation_choosers(summary: Summary, tab: str, query: str, states: Sequence[str]) -> tuple[Chooser, ...]:
    """Return what can be chosen for a picture of all states: a state, and the query whose errors are shown.

    Args:
        summary: of a complete run.
        tab: see `NATION_TABS`.
        query: the one shown.
        states: codes of the run's states.
    """
    found = [state_chooser(states, ALL_STATES, with_all=True)]
    if tab == "errors":
        names = dict.fromkeys(entry["query"] for entry in summary.get("metrics", ()) if "quantiles" in entry)
        offered = tuple(Option(name, query_title(name)) for name in names)
        found.append(Chooser("query", "&Query", "Query group", offered, query, letters=18))
    return tuple(found)
