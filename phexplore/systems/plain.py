"""What a system says that states nothing else: its forecast as JSON and as text, and the report of a run made of its pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from phexplore.figures.figure import Figure
from phexplore.figures.style import Chart
from phexplore.figures.table import Value
from phexplore.figures.table_files import table_csv
from phexplore.figures.to_matplotlib import chart_of
from phexplore.figures.wording import bound_text, budget_text
from phexplore.model.diff import changed_values, diff, parameters_only
from phexplore.model.fingerprint import fingerprint
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario, stated_as
from phexplore.report.document import Column, Document, Part, TableView, Tile, colophon, table_of
from phexplore.report.forecast_json import conventions_json, epsilon_json, margins_json
from phexplore.report.provenance import Section, conventions_section, epsilon_name, epsilon_text
from phexplore.report.run_report import RunReport
from phexplore.report.run_sections import run_document_of, unfinished_warning
from phexplore.report.terminal import margin_texts, print_epsilons, print_guarantees, print_table, tell
from phexplore.runs.store import load_spec, state_of
from phexplore.systems.figures import entries_figure
from phexplore.systems.registry import check, forecast, system_of
from phexplore.systems.result_tabs import Results
from phexplore.systems.run_pictures import run_figures
from phexplore.systems.run_results import Choice, RunRequest

_SHORT = 9
"""Letters of an exact number that a tile shows as it is."""


def forecast_json(scenario: Scenario, _: Path | None = None) -> dict[str, Any]:
    """Return the content of ``forecast --json``."""
    found = forecast(scenario)
    loss, total = found.loss, exact_text(found.loss.total)
    is_pure = loss.framework is PrivacyFramework.PURE_DP
    return {
        "scenario": scenario.name,
        "conventions": {**conventions_json(scenario.conventions), "neighbours": loss.neighbours.value},
        "privacy": {
            "rho": None if is_pure else total,
            "pure_epsilon": total if is_pure else None,
            "epsilon": [epsilon_json(figure) for figure in found.stated()],
            "protected": list(found.protected),
            "not_protected": list(found.not_protected),
        },
        "cells": [
            {
                "level": entry.level,
                "query": entry.name,
                "epsilon" if is_pure else "rho": None if entry.budget is None else exact_text(entry.budget),
                "moe": margins_json(entry.margins),
            }
            for entry in found.entries
        ],
        "derived": [],
    }


def print_forecast(scenario: Scenario, _: Path | None = None) -> None:
    """Print all figures."""
    found = forecast(scenario)
    symbol = found.loss.framework.symbol
    tell(scenario.name)
    tell(f"{symbol} {exact_text(found.loss.total)} ({found.loss.neighbours.value} neighbors)")
    print_epsilons(found.stated())
    print_guarantees(found.protected, found.not_protected)
    rows = [
        (entry.place, "-" if entry.budget is None else budget_text(entry.budget), *margin_texts(entry.margins)[:2])
        for entry in found.entries
    ]
    print_table(("query", symbol, "MOE exact", "MOE normal"), rows, right=range(1, 4))


def scenario_figures(scenario: Scenario, compared: Scenario | None) -> tuple[Figure, ...]:
    """Return the margin of every measured query, beside that of another scenario where one is given.

    Args:
        scenario: of any system.
        compared: of the same system, None for nothing.
    """
    before = None if compared is None else forecast(stated_as(compared, scenario))
    return (entries_figure(system_of(scenario), scenario.conventions, forecast(scenario), before),)


def scenario_charts(scenario: Scenario, compared: Scenario | None, _: datetime) -> tuple[Chart, ...]:
    """Return the pictures of a scenario as its report shows them; arguments as in `scenario_document`."""
    found = system_of(scenario).figures(scenario, compared)
    return tuple(chart_of(figure) for figure in found if not figure.is_empty)


def scenario_document(scenario: Scenario, compared: Scenario | None, now: datetime) -> Document:
    """Return the report of a scenario: pictures, what changed, tables, issues, then what is protected and by which conventions.

    Args:
        scenario: of any system.
        compared: of the same system, None for nothing.
        now: time printed in the document, with its zone.
    """
    system, found = system_of(scenario), forecast(scenario)
    figures = [figure for figure in system.figures(scenario, compared) if not figure.is_empty]
    issues = tuple(f"{issue.place}: {issue.sentence} {issue.remedy}" for issue in check(scenario))
    loss = found.loss
    entries = (
        (f"{loss.framework.symbol}, total, {loss.neighbours.value} neighbors", exact_text(loss.total)),
        *dict.fromkeys((epsilon_name(figure), epsilon_text(figure)) for figure in found.stated()),
        *(("Protected", sentence) for sentence in found.protected),
        *(("Not protected", sentence) for sentence in found.not_protected),
    )
    parts = [
        Part("pictures", "What it costs and what it gives", charts=scenario_charts(scenario, compared, now)),
        *(() if compared is None else (_changes(scenario, compared),)),
        Part("tables", "The figures", tables=tuple(map(_view, figures))),
        *((Part("issues", "Open issues", ("Each is worth a decision.",), findings=issues),) if issues else ()),
        Part(
            "method",
            "How to read and check the figures",
            sections=(
                Section("Privacy loss", entries),
                conventions_section(replace(scenario.conventions, neighbours=loss.neighbours), loss.framework),
            ),
        ),
    ]
    exact = exact_text(loss.total)
    is_short = len(exact) <= _SHORT
    value = "∞" if loss.bound is None else exact if is_short else bound_text(loss.bound)
    return Document(
        title=scenario.name,
        subtitle=f"Parameters and forecast, {system.title}",
        colophon=colophon(now, f"parameters {fingerprint(scenario)}"),
        tiles=(
            Tile(
                loss.framework.symbol,
                value,
                f"{loss.neighbours.value} neighbors{'' if is_short else f', exactly {exact}'}",
            ),
        ),
        parts=tuple(parts),
        made=now.isoformat(timespec="seconds"),
    )


def _changes(scenario: Scenario, compared: Scenario) -> Part:
    changes = parameters_only(diff(compared, scenario))
    if not changes:
        return Part("changes", f"Compared with {compared.name}", ("The parameters are the same.",))
    whole = f"the whole {forecast(scenario).loss.framework.symbol}"
    titles = {"total": whole, "epsilon": whole}
    said = tuple(f"{titles.get(change.path, change.path)}: {' → '.join(changed_values(change))}" for change in changes)
    return Part("changes", f"What changed against {compared.name}", findings=said)


def report_of_results(results: Results, subtitle: str) -> Callable[..., RunReport]:
    """Return what writes the report of a run of a system: its `System.report`.

    Args:
        results: what the system shows of its runs.
        subtitle: what kind of run it was.
    """

    def report(run: Path, now: datetime, choices: Mapping[str, Choice] | None = None) -> RunReport:
        spec, summary = load_spec(run), results.stated_reader().answer(RunRequest(run))
        drawn = run_figures(results, run, choices)
        charts = [chart_of(figure) for figure in drawn]
        parts = [
            Part(figure.id, figure.title, charts=(chart,), tables=(_view(figure),))
            for figure, chart in zip(drawn, charts, strict=True)
        ]
        tables = {f"{figure.id}.csv": table_csv(figure.table) for figure in drawn}
        warning = " ".join(unfinished_warning(state_of(run), summary.trials))
        tiles = [
            Tile(each.caption, each.value, f"{each.beside} {each.change}".strip())
            for each in dict.fromkeys(summary.tiles)
        ]
        return RunReport(
            lambda: run_document_of(
                spec, now, subtitle, tiles, parts, trials=summary.trials, warning=warning, keywords=(subtitle,)
            ),
            lambda: charts,
            lambda: next(iter(tables.values()), b""),
            tables=None if len(tables) < 2 else tables.items,
        )

    return report


def _view(figure: Figure) -> TableView:
    table = figure.table
    columns: list[Column[Any]] = []
    for place, header in enumerate(table.headers):
        numbers = [row[place] for row in table.rows if not isinstance(row[place], str)]
        places = 0 if all(value is None or value == int(value) for value in numbers) else 3
        # One row needs no name among the others.
        is_name = place == 0 and len(table.rows) > 1
        columns.append(Column(header, partial(_shown, place), places, number=bool(numbers), heading=is_name))
    return table_of(f"{figure.id}-table", figure.title.replace("\n", " "), columns, table.rows)


def _shown(place: int, row: Sequence[Value]) -> str | float | None:
    """Return a value of a row as a report shows it: exact ones as their text.

    Args:
        place: of the column.
        row: of the table.
    """
    value = row[place]
    return exact_text(value) if isinstance(value, Fraction) else value
