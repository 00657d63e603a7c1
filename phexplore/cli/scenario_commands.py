"""Commands about parameters: presets, check, forecast, diff, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

import typer

from phexplore.accuracy.check import check as check_scenario
from phexplore.accuracy.check import has_errors
from phexplore.accuracy.forecast import EpsilonFigure
from phexplore.accuracy.margins import Margins
from phexplore.catalog.presets import presets as all_presets
from phexplore.cli.outputs import writes_into_out
from phexplore.cli.printing import print_json, print_table, say, tell
from phexplore.cli.source import load_scenario, load_with_warnings, say_if_confidential
from phexplore.errors import PhexploreError
from phexplore.model.diff import diff as differences
from phexplore.model.diff import in_parts, parameters_only, value_text
from phexplore.model.group_sizes import GroupSizes
from phexplore.model.numbers import Unlimited, exact_text, total_budget
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import Subspace
from phexplore.model.topdown import TopDown

if TYPE_CHECKING:
    from phexplore.accuracy.spine_forecast import SpineComparison

SCENARIO = typer.Argument(
    help="A preset id, a project file (.phx, #NAME for one of its scenarios), a config.json or a DAS .ini."
)
JSON = typer.Option(False, "--json", help="Print JSON.")


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(presets)
    app.command()(check)
    app.command()(forecast)
    app.command()(diff)
    app.command()(export)


def presets(as_json: bool = JSON) -> None:
    """List the shipped parameters with their sources.

    Example: phexplore presets
    """
    entries = list(all_presets().values())
    if as_json:
        print_json([{"id": p.id, "title": p.title, "product": p.product, "source": p.source} for p in entries])
        return
    print_table(("id", "title", "source"), [(p.id, p.title, p.source) for p in entries])


def check(scenario: str = SCENARIO, as_json: bool = JSON) -> None:
    """List everything that needs attention before a run or an export.

    Example: phexplore check proposal.phx
    """
    found, warnings = load_with_warnings(scenario)
    issues = [*check_scenario(found), *warnings]
    if as_json:
        print_json(
            [
                {
                    "severity": i.severity.value,
                    "path": list(i.path),
                    "sentence": i.sentence,
                    "remedy": i.remedy,
                    **({"line": i.line, "column": i.column} if i.line else {}),
                }
                for i in issues
            ]
        )
    else:
        for issue in issues:
            tell(f"{issue.severity.value}: {issue.place}: {issue.sentence} {issue.remedy}")
        if not issues:
            tell("No issues.")
    if has_errors(issues):
        raise typer.Exit(1)


def forecast(
    scenario: str = SCENARIO,
    data: Path | None = typer.Option(
        None,
        "--data",
        help="TopDown: blocks with area codes, for exact margins on the scenario's spine. Nobody is counted.",
    ),
    as_json: bool = JSON,
) -> None:
    """Print every margin of error and the privacy loss; needs no data.

    Example: phexplore forecast sdhc-2020-us --json
    """
    found = load_scenario(scenario)
    _refuse_errors(found)
    if data is not None and not isinstance(found.method, TopDown):
        raise PhexploreError(
            f"{found.name!r} has no geographic spine, so its forecast needs no blocks.", "Leave out --data."
        )
    match found.method:
        case PhSafe():
            _forecast_phsafe(found, as_json=as_json)
        case TopDown():
            _forecast_topdown(found, data, as_json=as_json)
        case Subspace() as method:
            from phexplore.accuracy.subspace_forecast import forecast_subspace
            from phexplore.cli.subspace_printing import print_forecast

            print_forecast(found, forecast_subspace(method, found.conventions), as_json=as_json)
        case GroupSizes() as method:
            from phexplore.accuracy.group_sizes_forecast import forecast_group_sizes
            from phexplore.cli.group_sizes_printing import print_forecast as print_group_sizes

            print_group_sizes(found, forecast_group_sizes(method, found.conventions), as_json=as_json)
        case _:
            assert_never(found.method)


def _forecast_phsafe(found: Scenario, *, as_json: bool) -> None:
    from phexplore.accuracy.forecast import forecast as compute
    from phexplore.accuracy.ratios import ratio_forecasts
    from phexplore.report.forecast_json import forecast_json

    figures = compute(found)
    if as_json:
        print_json(forecast_json(found, figures, ratio_forecasts(figures)))
        return
    privacy = figures.privacy
    symbol = privacy.framework.symbol
    tell(f"{found.name}")
    tell(f"{symbol} bounded {exact_text(privacy.bounded_total)}, unbounded {exact_text(privacy.total)}")
    _print_epsilons(privacy.epsilons)
    rows = [
        (
            entry.query.table,
            entry.query.level.title,
            str(entry.threshold or "-"),
            exact_text(entry.budget),
            exact_text(entry.bounded_budget),
            *_margin_texts(entry.margins),
        )
        for entry in figures.queries
    ]
    z = exact_text(figures.conventions.z)
    header = ("table", "level", "τ", symbol, f"bounded {symbol}", "MOE exact", f"MOE z={z}", "MOE ⌊1.64σ⌋")
    print_table(header, rows, right=range(2, 8))


def _forecast_topdown(found: Scenario, data: Path | None, *, as_json: bool) -> None:
    from phexplore.accuracy.topdown_forecast import WITHOUT_BLOCKS, forecast_topdown, joint_release
    from phexplore.cli.spine_printing import print_variances
    from phexplore.report.forecast_json import topdown_json

    method = found.topdown
    figures = forecast_topdown(method, found.conventions)
    preset = all_presets().get(found.baseline)
    joint = None
    if preset is not None and preset.partner:
        joint = joint_release(method, preset.partner, all_presets()[preset.partner].scenario.topdown)
    errata = preset.errata if preset is not None else ()
    predicted = None if data is None else _on_blocks(found, data, queries=None if as_json else ["total"])
    if as_json:
        print_json(topdown_json(found, figures, joint, errata, predicted))
        return
    tell(found.name)
    tell(f"{figures.framework.symbol} {exact_text(figures.total)} ≈ {float(figures.total):.6f} (replace one record)")
    _print_epsilons(figures.epsilons)
    for loss in figures.block_within:
        tell(f"ε = {loss.epsilon:.2f} for the block within {loss.name}")
    for loss in figures.attributes:
        tell(f"ε = {loss.epsilon:.2f} for {loss.name} alone")
    if joint is not None:
        tell(
            f"with {joint.partner}: ε = {joint.epsilon:.3f} as one release (sum of both ε {joint.sum_of_epsilons:.3f}; "
            f"ρ + 2√(ρ ln 1/δ) = {joint.loose_epsilon:.3f})"
        )
    for erratum in errata:
        tell(f"erratum: {erratum}")
    rows = [
        (
            entry.key.level,
            entry.key.query,
            f"{entry.cells:,}",
            exact_text(entry.share),
            f"{float(entry.budget):.6g}",
            *_margin_texts(entry.margins),
        )
        for entry in figures.entries
    ]
    header = ("level", "query", "cells", "share", figures.framework.symbol, "MOE exact", "MOE normal", "MOE ⌊1.64σ⌋")
    print_table(header, rows, right=range(2, 8))
    tell()
    if predicted is None:
        tell(WITHOUT_BLOCKS)
    else:
        print_variances(predicted)


def _on_blocks(found: Scenario, data: Path, *, queries: list[str] | None) -> SpineComparison:
    from phexplore.accuracy.spine_forecast import forecast_on_blocks
    from phexplore.spine.geography_reading import read_geography

    say_if_confidential(data)
    geography = read_geography(data)
    for issue in geography.warnings:
        say(f"{issue.place}: {issue.severity.value}: {issue.sentence} {issue.remedy}")
    return forecast_on_blocks(geography, found.topdown, found.conventions, queries=queries)


def _print_epsilons(figures: tuple[EpsilonFigure, ...]) -> None:
    for figure in figures:
        how = figure.conversion.value if figure.conversion else "pure DP"
        tell(f"ε = {figure.value:.4f} at δ = {float(figure.delta):.0e}  ({how}, {figure.neighbours.value} neighbours)")


def _margin_texts(margins: Margins | None) -> tuple[str, str, str]:
    if margins is None:
        return "-", "-", "-"
    return f"{margins.exact}", f"{margins.normal:.2f}", "-" if margins.paper is None else f"{margins.paper}"


def diff(a: str = SCENARIO, b: str = SCENARIO, as_json: bool = JSON) -> None:
    """Show which parameters differ between two scenarios, and what that changes.

    Example: phexplore diff sdhc-2020-us proposal.phx
    """
    first, second = load_scenario(a), load_scenario(b)
    _refuse_errors(first)
    _refuse_errors(second)
    parts = [part for change in parameters_only(differences(first, second)) for part in in_parts(change)]
    total, effects = _effects(first, second)
    if as_json:
        print_json(
            {
                "parameters": [
                    {"path": path, "before": value_text(before), "after": value_text(after)}
                    for path, before, after in parts
                ],
                "effects": {"total": total, "margins": effects},
            }
        )
        return
    if not parts:
        tell("The parameters are equal.")
        return
    print_table(
        ("parameter", "before", "after"),
        [(path, value_text(before), value_text(after)) for path, before, after in parts],
    )
    tell("", f"total privacy loss {total['before']} → {total['after']}")
    if effects:
        rows = [(e["name"], e["level"], _people(e["before"]), _people(e["after"])) for e in effects]
        print_table(("name", "level", "MOE before", "MOE after"), rows, right=(2, 3))


def _effects(first: Scenario, second: Scenario) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return the totals before and after, and the margins that differ, by name and level."""
    before, after = _margins(first), _margins(second)
    places = [*before, *(place for place in after if place not in before)]
    effects = [
        {"name": name, "level": level, "before": before.get((name, level)), "after": after.get((name, level))}
        for name, level in places
        if before.get((name, level)) != after.get((name, level))
    ]
    return {"before": _total(first), "after": _total(second)}, effects


def _total(scenario: Scenario) -> str:
    match scenario.method:
        case PhSafe() as method:
            total = total_budget(list(method.budgets.values()))
            return exact_text(total if isinstance(total, Unlimited) else 2 * total)
        case TopDown() as method:
            return exact_text(method.total)
        case Subspace() as method:
            return exact_text(method.epsilon)
        case GroupSizes() as method:
            return exact_text(method.total)
        case _:
            assert_never(scenario.method)


def _margins(scenario: Scenario) -> dict[tuple[str, str], float | None]:
    from phexplore.accuracy.forecast import forecast as compute
    from phexplore.accuracy.group_sizes_forecast import forecast_group_sizes
    from phexplore.accuracy.subspace_forecast import subspace_margins
    from phexplore.accuracy.topdown_forecast import forecast_topdown

    convention = scenario.conventions.margin
    match scenario.method:
        case PhSafe():
            return {
                (entry.query.table, entry.query.level.text): entry.margins.by(convention) if entry.margins else None
                for entry in compute(scenario).queries
            }
        case TopDown() as method:
            return {
                (entry.key.query, entry.key.level): entry.margins.by(convention) if entry.margins else None
                for entry in forecast_topdown(method, scenario.conventions).entries
            }
        case Subspace() as method:
            return subspace_margins(method, scenario.conventions)
        case GroupSizes() as method:
            return {
                ("one size", level.level): level.size_margins.by(convention)
                for level in forecast_group_sizes(method, scenario.conventions).levels
            }
        case _:
            assert_never(scenario.method)


def _people(value: float | None) -> str:
    return "not published" if value is None else f"{value:,.2f}"


def _refuse_errors(scenario: Scenario) -> None:
    """Refuse a scenario that is incomplete.

    Raises:
        PhexploreError: naming the first error and how many there are.
    """
    errors = [issue for issue in check_scenario(scenario) if has_errors([issue])]
    if errors:
        more = f" ({len(errors) - 1} more: phexplore check)" if len(errors) > 1 else ""
        raise PhexploreError(f"{errors[0].place}: {errors[0].sentence}{more}", errors[0].remedy)


@writes_into_out("export")
def export(
    scenario: str = SCENARIO,
    form: str = typer.Option(
        ...,
        "--format",
        help="phsafe-config, das-ini, subspace-json, group-sizes-json, csv, xlsx, html, pdf, svg or png.",
    ),
    out: Path = typer.Option(..., "--out", help="File or directory to write; it may exist."),
) -> None:
    """Write a parameter file that production reads, or a table or report of the parameters.

    Example: phexplore export sdhc-2020-us --format phsafe-config --out config.json
    """
    from phexplore.cli.exporting import export_scenario

    found = load_scenario(scenario)
    _refuse_errors(found)
    for path in export_scenario(found, form, out):
        say(f"Wrote {path}")
