"""Commands about parameters and their files: presets, check, forecast, diff, export, formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from phexplore.catalog.names import Naming, choose_naming
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.files.output_folder import writes_into_out
from phexplore.model.issues import has_errors
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import print_json, print_table, say, say_if_confidential, tell
from phexplore.systems.arguments import JSON, SCENARIO
from phexplore.systems.registry import check as check_scenario
from phexplore.systems.registry import loss_of, system_of
from phexplore.systems.registry import presets as all_presets
from phexplore.systems.sources import load_scenario, load_with_warnings


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(presets)
    app.command()(library)
    app.command()(check)
    app.command()(forecast)
    app.command()(diff)
    app.command()(export)
    app.command()(formats)


def presets(as_json: bool = JSON) -> None:
    """List the parameters that came with the program and those of the user's library, with their sources.

    Example: phexplore presets
    """
    entries = list(all_presets().values())
    if as_json:
        print_json(
            [
                {"id": p.id, "title": p.title, "product": p.product, "source": p.source, "library": p.is_own}
                for p in entries
            ]
        )
        return
    print_table(("id", "title", "source"), [(p.id, p.title, p.source) for p in entries])


def library(as_json: bool = JSON) -> None:
    """List the user's own presets, spines, tables, schemas and rules, and what is wrong with those left out.

    Example: phexplore library
    """
    from phexplore.library import left_out
    from phexplore.systems.own_library import read_library

    found = read_library()
    if as_json:
        print_json(
            {
                "folder": str(found.folder),
                "files": [{"kind": each.kind, "name": each.name, "file": str(each.path)} for each in found.files],
                "problems": [{"file": str(path), "sentence": sentence} for path, sentence in found.problems],
            }
        )
        return
    tell(f"Library: {found.folder}")
    print_table(("kind", "name", "file"), [(each.kind, each.name, str(each.path)) for each in found.files])
    for said in left_out():
        tell(f"Left out: {said}")


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
    system = system_of(found)
    if data is not None:
        if not system.has_geography:
            raise PhexploreError(
                f"{found.name!r} has no geographic spine, so its forecast needs no blocks.", "Leave out --data."
            )
        say_if_confidential(data)
    if as_json:
        print_json(system.forecast_json(found, data))
    else:
        system.print_forecast(found, data)


def diff(a: str = SCENARIO, b: str = SCENARIO, as_json: bool = JSON) -> None:
    """Show which parameters differ between two scenarios, and what that changes.

    Example: phexplore diff sdhc-2020-us proposal.phx
    """
    from phexplore.model.diff import diff as differences
    from phexplore.model.diff import in_parts, parameters_only, value_text

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
    return {"before": exact_text(loss_of(first).total), "after": exact_text(loss_of(second).total)}, effects


def _margins(scenario: Scenario) -> dict[tuple[str, str], float | None]:
    convention = scenario.conventions.margin
    return {
        (entry.name, entry.level): entry.margins.by(convention) if entry.margins else None
        for entry in system_of(scenario).forecast(scenario).entries
    }


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
        help="phsafe-config, das-ini, subspace-json, group-sizes-json, csv, xlsx, html, pdf, docx, pptx, svg or png.",
    ),
    out: Path = typer.Option(..., "--out", help="File or directory to write; it may exist."),
    names: Naming = typer.Option(
        Naming.CODES, "--names", help="What tables, groups and places are called in documents and pictures."
    ),
    as_json: bool = JSON,
) -> None:
    """Write a parameter file that production reads, or a table or report of the parameters.

    It lists the parts of the scenario that the file cannot contain. With --json, they are in ``left_out``.

    Example: phexplore export sdhc-2020-us --format phsafe-config --out config.json
    """
    from phexplore.cli.exporting import export_scenario

    found = load_scenario(scenario)
    _refuse_errors(found)
    choose_naming(names)
    made = export_scenario(found, form, out, scenario)
    for path in made.files:
        say(f"Wrote {path}")
    if as_json:
        print_json({"files": [str(path) for path in made.files], "notes": made.notes, "left_out": made.left_out})


@writes_into_out("formats")
def formats(
    name: str = typer.Argument("", help="A format; all of them are listed without one."),
    out: str = typer.Option("", "--out", help="Write NAME.schema.json of every format, or of this one, into a folder."),
) -> None:
    """List the file formats, or print the JSON Schema of one.

    Example: phexplore formats project
    """
    from phexplore.systems.formats import FORMATS, json_schema

    if name and name not in FORMATS:
        raise UnknownNameError("file format", name, list(FORMATS))
    if out:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        for each in [name] if name else FORMATS:
            text = json.dumps(json_schema(each), indent=2, ensure_ascii=False) + "\n"
            (folder / f"{each}.schema.json").write_text(text, encoding="utf-8")
    elif name:
        print_json(json_schema(name))
    else:
        print_table(("format", "content", "files"), [(f.name, f.title, f.files) for f in FORMATS.values()])
