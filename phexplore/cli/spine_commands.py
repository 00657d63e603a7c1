"""Commands about geographic spines: spine build, spine describe, spine variance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from phexplore.cli.printing import print_json, print_table, say
from phexplore.cli.source import load_scenario
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.model.topdown import TopDown

if TYPE_CHECKING:
    from phexplore.accuracy.spine_forecast import SpineComparison
    from phexplore.spine.building import Spine
    from phexplore.spine.description import SpineDescription
    from phexplore.spine.settings import SpineSettings

JSON = typer.Option(False, "--json", help="Print JSON.")


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    spine = typer.Typer(help="Build geographic spines and know their accuracy before any run.", no_args_is_help=True)
    spine.command("build")(build)
    spine.command("describe")(describe)
    spine.command("variance")(variance)
    app.add_typer(spine, name="spine")


def build(
    blocks: Path = typer.Argument(
        help="Blocks with area codes: a geographic crosswalk (GRFC), a block file, or microdata."
    ),
    preset: str = typer.Option(..., "--preset", help="standard, aian, pl94-2020, pl94-2020-units or dhc-2020."),
    out: Path = typer.Option(..., "--out", help="File of the spine; replaced if it exists."),
    entities: str = typer.Option(
        "", "--entities", help="Areas to keep together instead of the preset's, e.g. place,cousub,gq."
    ),
    cutoff: int = typer.Option(-1, "--fanout-cutoff", help="Added to the root of n; the preset's without it."),
    grouping: str = typer.Option("", "--grouping", help="production or paper: how many blocks a block group holds."),
    tract_groups: str = typer.Option("", "--tract-groups", help="none, standard, production or paper (Algorithm 2)."),
    bypass: str = typer.Option(
        "", "--bypass", help="as-in-2020, single-child, pure-dp, sum-of-squares or none (Algorithm 3)."
    ),
    redefine_counties: str = typer.Option(
        "", "--redefine-counties", help="nowhere, in_strong_MCDs or everywhere: tribal areas in place of counties."
    ),
    as_json: bool = JSON,
) -> None:
    """Build a spine over blocks, write it, and say how far areas are from it.

    Example: phexplore spine build blocks.csv.gz --preset pl94-2020 --entities place --out places.spine
    """
    from phexplore.spine.building import build_spine
    from phexplore.spine.geography_reading import read_geography
    from phexplore.spine.settings import spine_preset
    from phexplore.spine.spine_file import write_spine

    chosen = spine_preset(preset)
    settings = _edited(
        chosen.settings,
        fanout_cutoff=None if cutoff < 0 else cutoff,
        grouping=grouping or None,
        tract_groups=tract_groups or None,
        bypass=bypass or None,
        redefine_counties=redefine_counties or None,
    )
    targets = [name.strip() for name in entities.split(",") if name.strip()]
    if targets:
        settings = settings.with_targets(targets)
    geography = read_geography(blocks)
    for issue in geography.warnings:
        say(f"{issue.place}: {issue.severity.value}: {issue.sentence} {issue.remedy}")
    spine = build_spine(geography, settings)
    write_spine(spine, out)
    say(f"Wrote {out} ({spine.tree.blocks:,} blocks)")
    _show(_described(spine), as_json=as_json)


def describe(
    file: Path = typer.Argument(help="A spine, as spine build writes it."),
    scenario: str = typer.Option(
        "", "--scenario", help="Whose budgets are bypassed; without it those the settings were published with."
    ),
    as_json: bool = JSON,
) -> None:
    """Say what a spine is: levels with their fan-out, distances of areas beside the standard spine, bypassed units.

    Example: phexplore spine describe places.spine --json
    """
    from phexplore.spine.spine_file import read_spine

    _show(_described(read_spine(file), scenario), as_json=as_json)


def variance(
    file: Path = typer.Argument(help="A spine, as spine build writes it."),
    scenario: str = typer.Argument(help="A preset id, a project file, or a production parameter file of TopDown."),
    queries: str = typer.Option(
        "",
        "--queries",
        help="Query groups with commas between, e.g. total,hispanic * cenrace; without it all measured.",
    ),
    entities: str = typer.Option("", "--entities", help="Classes of areas, e.g. place,cousub; without it all."),
    fit: str = typer.Option(
        "at-once", "--fit", help="at-once: the best linear estimate; top-down: level by level, as TopDown fits."
    ),
    as_json: bool = JSON,
) -> None:
    """Predict the margin of every query at every level, and of areas off the spine, before any run.

    Example: phexplore spine variance places.spine pl94-2020-persons-us --queries total --entities place
    """
    from phexplore.accuracy.spine_forecast import Fit, compare_with_standard
    from phexplore.spine.spine_file import read_spine

    if fit not in {each.value for each in Fit}:
        raise UnknownNameError("fit", fit, [each.value for each in Fit])
    chosen = load_scenario(scenario)
    method = _topdown(chosen.method, chosen.name)
    spine = read_spine(file)
    found = compare_with_standard(
        spine,
        method,
        chosen.conventions,
        queries=_names(queries) or None,
        classes=_names(entities) or None,
        fit=Fit(fit),
    )
    if as_json:
        conventions = chosen.conventions
        print_json(
            {
                "scenario": chosen.name,
                "schema": method.schema,
                "conventions": {"confidence": float(conventions.confidence), "z": float(found.this.z)},
                **found.json(),
            }
        )
    else:
        _print_variances(found)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _edited(settings: SpineSettings, **wishes: Any) -> SpineSettings:
    given = {name: value for name, value in wishes.items() if value is not None}
    return replace(settings, **given) if given else settings


def _topdown(method: object, name: str) -> TopDown:
    if not isinstance(method, TopDown):
        raise PhexploreError(
            f"Spines carry the budgets of TopDown, but {name!r} holds those of another system.",
            "Choose another scenario, e.g. pl94-2020-persons-us.",
        )
    return method


def _described(spine: Spine, scenario: str = "") -> SpineDescription:
    """Describe a spine with the budgets asked for, or with those its settings were published with."""
    from phexplore.spine.description import describe_spine
    from phexplore.spine.settings import preset_of

    name = scenario or preset_of(spine.settings).scenario
    chosen = load_scenario(name)
    method = _topdown(chosen.method, chosen.name)
    return describe_spine(spine, scenario=(name, method))


def _show(found: SpineDescription, *, as_json: bool) -> None:
    content = found.json()
    if as_json:
        print_json(content)
        return
    rows = [[level["name"], f"{level['units']:,}", *_fan_out(level["fan_out"])] for level in content["levels"]]
    print_table(("level", "units", "children: fewest", "median", "most"), rows, right=(1, 2, 3, 4))
    print()
    rows = [
        [
            each["class"],
            f"{each['entities']:,}",
            f"{each['standard']['mean']:.2f}",
            f"{each['this']['mean']:.2f}",
            f"{each['standard']['max']:,}",
            f"{each['this']['max']:,}",
            each["reason"] or "",
        ]
        for each in content["distance"]
    ]
    print_table(
        ("areas", "number", "mean distance: standard", "this", "largest: standard", "this", "why"),
        rows,
        right=range(1, 6),
    )
    print()
    bypassed = content["bypassed"]
    print(
        f"Bypassed with the budgets of {bypassed['scenario']} (rule {bypassed['rule']}): {bypassed['units']:,} units; "
        f"budget moved, all units added up: {bypassed['budget_moved']} of the total."
    )
    for level in bypassed["levels"]:
        shares = ", ".join(f"{share['share']} at {share['units']:,}" for share in level["shares"])
        print(f"  {level['level']}: {level['units']:,} ({shares})")
    print(f"Every path from the root to a block carries {bypassed['path_total']} of the total.")
    for part in bypassed["unspent"]:
        print(f"Unspent, because these blocks have no such level: {part['level']} ({part['share']}).")
    for remark in content["remarks"]:
        say(remark)


def _fan_out(quantiles: dict[str, float]) -> Sequence[str]:
    if not quantiles:
        return ("", "", "")
    return tuple(f"{quantiles[share]:,.0f}" for share in ("0.0", "0.5", "1.0"))


def _print_variances(found: SpineComparison) -> None:
    content = found.json()
    rows = [
        [level["level"], f"{level['units']:,}", query["query"], _answer(answer), *_margins(answer)]
        for level in content["levels"]
        for query in level["queries"]
        for answer in query["answers"]
    ]
    print_table(("level", "units", "query", "answer", "mean margin", "largest"), rows, right=(1, 4, 5))
    print()
    rows = [
        [
            each["class"],
            f"{each['entities']:,}",
            query["query"],
            _answer(answer),
            _margins(answer["standard"])[0] if answer["standard"] else "",
            _margins(answer["this"])[0],
            _margins(answer["added"])[0],
        ]
        for each in content["entities"]
        for query in each["queries"]
        for answer in query["answers"]
    ]
    print_table(
        ("areas", "number", "query", "answer", "mean margin: standard", "this", "this, parts added"),
        rows,
        right=(1, 4, 5, 6),
    )
    print()
    if content["standard_missing"]:
        print(content["standard_missing"])
    print(content["unseen"])
    for remark in content["remarks"]:
        say(remark)


def _answer(answer: dict[str, Any]) -> str:
    words = " × ".join(answer["answer"])
    return f"{words} (and {answer['alike'] - 1:,} alike)" if answer["alike"] > 1 else words


def _margins(figures: dict[str, Any]) -> tuple[str, str]:
    moe = figures["moe"]
    if moe is None:
        return "", ""
    return tuple("not determined" if moe[name] is None else f"{moe[name]:,.2f}" for name in ("mean", "max"))  # type: ignore[return-value]
