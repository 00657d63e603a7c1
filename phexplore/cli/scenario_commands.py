"""Commands about parameters: presets, check, forecast, diff, export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from phexplore.accuracy.check import check as check_scenario
from phexplore.accuracy.check import has_errors
from phexplore.catalog.presets import presets as all_presets
from phexplore.cli.printing import print_json, print_table, say
from phexplore.cli.source import load_scenario
from phexplore.errors import PhexploreError
from phexplore.model.conventions import MarginConvention
from phexplore.model.diff import Change, parameters_only
from phexplore.model.diff import diff as differences
from phexplore.model.keys import QueryKey
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario

SCENARIO = typer.Argument(help="A preset id, a project file (.phx, #NAME for one of its scenarios) or a config.json.")
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
    issues = check_scenario(load_scenario(scenario))
    if as_json:
        print_json(
            [
                {"severity": i.severity.value, "path": list(i.path), "sentence": i.sentence, "remedy": i.remedy}
                for i in issues
            ]
        )
    else:
        for issue in issues:
            print(f"{issue.severity.value}: {issue.place}: {issue.sentence} {issue.remedy}")
        if not issues:
            print("No issues.")
    if has_errors(issues):
        raise typer.Exit(1)


def forecast(scenario: str = SCENARIO, as_json: bool = JSON) -> None:
    """Print every margin of error and the privacy loss; needs no data.

    Example: phexplore forecast sdhc-2020-us --json
    """
    from phexplore.accuracy.forecast import forecast as compute
    from phexplore.accuracy.ratios import ratio_forecasts
    from phexplore.cli.figures import forecast_json

    found = load_scenario(scenario)
    _refuse_errors(found)
    figures = compute(found)
    if as_json:
        print_json(forecast_json(found, figures, ratio_forecasts(figures)))
        return
    privacy = figures.privacy
    symbol = privacy.framework.symbol
    print(f"{found.name}")
    print(f"{symbol} bounded {exact_text(privacy.bounded_total)}, unbounded {exact_text(privacy.total)}")
    for figure in privacy.epsilons:
        how = figure.conversion.value if figure.conversion else "pure DP"
        print(f"ε = {figure.value:.4f} at δ = {float(figure.delta):.0e}  ({how}, {figure.neighbours.value} neighbours)")
    rows = []
    for entry in figures.queries:
        margins = entry.margins
        rows.append(
            (
                entry.query.table,
                entry.query.level.title,
                str(entry.threshold or "-"),
                exact_text(entry.budget),
                exact_text(entry.bounded_budget),
                f"{margins.exact}" if margins else "-",
                f"{margins.normal:.2f}" if margins else "-",
                f"{margins.paper}" if margins and margins.paper is not None else "-",
            )
        )
    z = exact_text(figures.conventions.z)
    header = ("table", "level", "τ", symbol, f"bounded {symbol}", "MOE exact", f"MOE z={z}", "MOE ⌊1.64σ⌋")
    print_table(header, rows, right=range(2, 8))


def diff(a: str = SCENARIO, b: str = SCENARIO, as_json: bool = JSON) -> None:
    """Show which parameters differ between two scenarios, and what that changes.

    Example: phexplore diff sdhc-2020-us proposal.phx
    """
    from phexplore.accuracy.forecast import forecast as compute

    first, second = load_scenario(a), load_scenario(b)
    changes = parameters_only(differences(first, second))
    before, after = compute(first), compute(second)
    effects = _margin_effects(first, before, after)
    total = {
        "before": exact_text(before.privacy.bounded_total),
        "after": exact_text(after.privacy.bounded_total),
    }
    if as_json:
        print_json(
            {
                "parameters": [{"path": c.path, "before": _shown(c.before), "after": _shown(c.after)} for c in changes],
                "effects": {"bounded_total": total, "margins": effects},
            }
        )
        return
    if not changes:
        print("The parameters are equal.")
        return
    print_table(("parameter", "before", "after"), [(c.path, _shown(c.before), _shown(c.after)) for c in changes])
    print(f"\nbounded total {total['before']} → {total['after']}")
    if effects:
        rows = [(e["table"], e["level"], e["before"], e["after"]) for e in effects]
        print_table(
            ("table", "level", "MOE before", "MOE after"),
            [(t, lev, _people(x), _people(y)) for t, lev, x, y in rows],
            right=(2, 3),
        )


def _margin_effects(first: Scenario, before: Any, after: Any) -> list[dict[str, Any]]:
    convention: MarginConvention = first.conventions.margin
    found = []
    for old, new in zip(before.queries, after.queries, strict=True):
        x = old.margins.by(convention) if old.margins else None
        y = new.margins.by(convention) if new.margins else None
        if x != y:
            key: QueryKey = old.query
            found.append({"table": key.table, "level": key.level.text, "before": x, "after": y})
    return found


def _people(value: float | None) -> str:
    return "not published" if value is None else f"{value:,.2f}"


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    try:
        return exact_text(value)
    except AttributeError:
        return ", ".join(value) if isinstance(value, tuple) else str(getattr(value, "value", value))


def _refuse_errors(scenario: Scenario) -> None:
    """Refuse a scenario that is incomplete.

    Raises:
        PhexploreError: naming the first error and how many there are.
    """
    errors = [issue for issue in check_scenario(scenario) if has_errors([issue])]
    if errors:
        more = f" ({len(errors) - 1} more: phexplore check)" if len(errors) > 1 else ""
        raise PhexploreError(f"{errors[0].place}: {errors[0].sentence}{more}", errors[0].remedy)


def export(
    scenario: str = SCENARIO,
    form: str = typer.Option(..., "--format", help="phsafe-config, csv, xlsx, html, pdf, svg or png."),
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


def shown_change(change: Change) -> tuple[str, str, str]:
    """Return path, old and new value of a change as text."""
    return change.path, _shown(change.before), _shown(change.after)
