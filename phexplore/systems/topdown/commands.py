"""Commands of TopDown: spine build, spine describe, spine variance, and tune."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.files.output_folder import writes_into_out
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import TopDown
from phexplore.report.terminal import print_json, say, say_if_confidential, say_issues, tell
from phexplore.systems.arguments import JSON, SCENARIO
from phexplore.systems.topdown.run_options import Estimator
from phexplore.systems.topdown.spine_printing import print_variances, show_description

if TYPE_CHECKING:
    from phexplore.spine.building import Spine
    from phexplore.spine.description import SpineDescription
    from phexplore.spine.settings import SpineSettings


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    spine = typer.Typer(help="Build geographic spines and know their accuracy before any run.", no_args_is_help=True)
    spine.command("build")(build)
    spine.command("describe")(describe)
    spine.command("variance")(variance)
    app.add_typer(spine, name="spine")
    app.command()(tune)
    measurements = typer.Typer(help="Noisy measurement files in the published layout.", no_args_is_help=True)
    measurements.command("describe")(describe_measured)
    measurements.callback()(_measurements)
    app.add_typer(measurements, name="measurements")
    published = typer.Typer(help="The published record beside the program's own figures.", no_args_is_help=True)
    published.command("errors")(errors)
    published.command("confidence")(confident)
    published.command("tables")(tables)
    app.add_typer(published, name="published")


def errors(
    file: Path = typer.Argument(
        help="A file with true and published columns, e.g. an NHGIS demonstration table; ZIP too."
    ),
    run: str = typer.Option("", "--run", help="A run directory on the same areas, or a file in it: its errors beside."),
    as_json: bool = JSON,
) -> None:
    """Say how far published figures are from the true ones: by level, size and group, beside a run.

    Example: phexplore published errors nhgis_ppdd_20210608_block_RI.zip --run runs/first --json
    """
    from phexplore.systems.experiments import answer
    from phexplore.systems.topdown.published_errors import published_errors
    from phexplore.systems.topdown.published_pictures import ERRORS

    answer(ERRORS, published_errors(file, _run_at(run) if run else None), Path(), as_json=as_json)


def confident(
    files: list[Path] = typer.Argument(
        None, help="Reruns (AMC) or GLS estimates, beside the seven cells that came with the program."
    ),
    run: list[str] = typer.Option([], "--run", help="A run directory whose errors are compared with reruns; repeat."),
    as_json: bool = JSON,
) -> None:
    """Compare the program's figures with the Bureau's reruns, GLS standard deviations and certificates; misses first.

    Example: phexplore published confidence jupyter_data.csv --run runs/first --json
    """
    from phexplore.systems.experiments import answer
    from phexplore.systems.topdown.confidence import confidence_json
    from phexplore.systems.topdown.published_pictures import CONFIDENCE

    answer(CONFIDENCE, confidence_json(files or (), [_run_at(each) for each in run]), Path(), as_json=as_json)


@writes_into_out("published tables")
def tables(
    run: Path = typer.Argument(help="A run directory of TopDown."),
    out: Path = typer.Option(..., "--out", help="Directory for one CSV file per table; it may exist."),
    trial: int = typer.Option(0, "--trial", min=0, help="Which simulated release."),
) -> None:
    """Write every published table of a trial, at every level: P1 to P5 and H1, or those of the DHC, such as P12 and H4.

    Example: phexplore published tables runs/persons --out tables
    """
    from phexplore.systems.topdown.table_pictures import write_run_tables

    for path in write_run_tables(run, trial, out):
        say(f"Wrote {path}")


def _run_at(text: str) -> Path:
    path = Path(text)
    return path.parent if path.is_file() else path


def _measurements() -> None:
    """Noisy measurement files in the published layout."""


def describe_measured(
    path: Path = typer.Argument(help="Folder or ZIP archive of noisy measurements; or a run that kept some as nmf."),
    as_json: bool = JSON,
) -> None:
    """Say what noisy measurement files hold: products, levels, units, queries with their variances, what is exact.

    Example: phexplore measurements describe 2020-pl94-nmf-parquets.zip --json
    """
    from phexplore.published.measurements import describe_measurements

    found = describe_measurements(path)
    if as_json:
        print_json(found)
        return
    for product in found["products"]:
        tell(f"{product['product']} ({product['schema']}), parts of states: {', '.join(product['states'])}")
        for level in product["levels"]:
            variances = sorted({value for query in level["queries"] for value in query["variances"]})
            spread = f"{variances[0]:g} to {variances[-1]:g}" if variances else "none"
            tell(
                f"  {level['level']}: {level['units']:,} units, {len(level['queries'])} queries, variances {spread}, "
                f"{level['negative']:,} of {level['answers']:,} answers negative; exact: {', '.join(level['constraints']) or 'nothing'}"
            )
    for note in found["notes"]:
        tell(note)


def build(
    context: typer.Context,
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
    say_if_confidential(blocks)
    geography = read_geography(blocks)
    say_issues(geography.warnings)
    spine = build_spine(geography, settings)
    write_spine(spine, out)
    say(f"Wrote {out} ({spine.tree.blocks:,} blocks)")
    show_description(_described(spine, context), as_json=as_json)


def describe(
    context: typer.Context,
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

    show_description(_described(read_spine(file), context, scenario), as_json=as_json)


def variance(
    context: typer.Context,
    file: Path = typer.Argument(help="A spine, as spine build writes it."),
    scenario: str = typer.Argument(help="A preset id, a project file, or a production parameter file of TopDown."),
    queries: str = typer.Option(
        "",
        "--queries",
        help="Query groups with commas between, e.g. total,hispanic * cenrace; without it all measured.",
    ),
    entities: str = typer.Option("", "--entities", help="Classes of areas, e.g. place,cousub; without it all."),
    fit: str = typer.Option(
        "at-once",
        "--fit",
        help="at-once: the best linear estimate, which pooling reaches where siblings are measured alike and misses elsewhere (bypassed units, tribal branches); top-down: level by level.",
    ),
    as_json: bool = JSON,
) -> None:
    """Predict the margin of every query at every level, and of areas off the spine, before any run.

    Example: phexplore spine variance places.spine pl94-2020-persons-us --queries total --entities place
    """
    from phexplore.spine.spine_file import read_spine
    from phexplore.systems.topdown.spine_forecast import Fit, compare_with_standard

    if fit not in {each.value for each in Fit}:
        raise UnknownNameError("fit", fit, [each.value for each in Fit])
    chosen: Scenario = context.obj(scenario)
    method = _topdown(chosen)
    spine = read_spine(file)
    found = compare_with_standard(
        spine,
        method,
        chosen.conventions,
        queries=_names(queries) or None,
        classes=_names(entities) or None,
        fit=Fit(fit),
        with_pooled=True,
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
        print_variances(found)


def tune(
    context: typer.Context,
    scenario: str = SCENARIO,
    data: Path = typer.Option(..., "--data", help="Block data; never confidential: tuning on them leaks."),
    judge: str = typer.Option(
        ..., "--judge", help="Levels whose areas are judged, with commas between, e.g. Block_Group."
    ),
    probes: Path = typer.Option(
        ..., "--out", help="Where every probe is stored (JSON lines); the search goes on from it."
    ),
    strategy: str = typer.Option(
        "", "--strategy", help="A starting strategy, e.g. 'collapsed, uniform'; else the scenario's."
    ),
    seed: int = typer.Option(1, "--seed", min=0, help="Of the noise, the same in every setting."),
    trials: int = typer.Option(1, "--trials", min=1, help="Releases per setting."),
    at_least: str = typer.Option(
        "95", "--at-least", help="Criterion: per cent of the areas that keep their largest group."
    ),
    within: str = typer.Option("5", "--within", help="Criterion: points by which its share may be off."),
    people: int = typer.Option(500, "--people", min=0, help="Criterion: people of an area that counts."),
    estimator: str = typer.Option("top-down", "--estimator", help="top-down, as in production, or pooled."),
    as_json: bool = JSON,
) -> None:
    """Find the budget of every level by the published procedure on simulated runs. Ctrl-C stops; the same command goes on.

    Example: phexplore tune pl94-2020-persons-us --data blocks.csv.gz --judge Block_Group --out probes.jsonl
    """
    from phexplore.systems.topdown.tuning_probes import criterion_of, print_tuning
    from phexplore.systems.topdown.tuning_probes import tune as tuned

    rule, known = criterion_of(at_least, within, people), [each.value for each in Estimator]
    if estimator not in known:
        raise UnknownNameError("estimator", estimator, known)
    is_pooled = Estimator(estimator) is Estimator.POOLED
    found = tuned(context.obj(scenario), data, judge, probes, strategy, seed, trials, rule, is_pooled=is_pooled)
    print_tuning(found, as_json=as_json)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _edited(settings: SpineSettings, **wishes: Any) -> SpineSettings:
    given = {name: value for name, value in wishes.items() if value is not None}
    return replace(settings, **given) if given else settings


def _topdown(scenario: Scenario) -> TopDown:
    if not isinstance(scenario.method, TopDown):
        raise PhexploreError(
            f"Spines carry the budgets of TopDown, but {scenario.name!r} holds those of another system.",
            "Choose another scenario, e.g. pl94-2020-persons-us.",
        )
    return scenario.method


def _described(spine: Spine, context: typer.Context, scenario: str = "") -> SpineDescription:
    """Describe a spine with the budgets asked for, or with those its settings were published with."""
    from phexplore.spine.description import describe_spine
    from phexplore.systems.topdown.spine_answers import published_with

    name = scenario or published_with(spine)
    return describe_spine(spine, scenario=(name, _topdown(context.obj(name))))
