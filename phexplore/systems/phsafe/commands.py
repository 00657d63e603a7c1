"""Commands of the S-DHC: exact tables, what a threshold does, and the published tables of a simulated release."""

from __future__ import annotations

from pathlib import Path

import typer

from phexplore.catalog.states import parse_states
from phexplore.files.output_folder import writes_into_out
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import say, say_issues
from phexplore.systems.arguments import JSON, SCENARIO


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(tabulate)
    app.command()(truncation)
    app.command()(publish)


@writes_into_out("tabulate")
def tabulate(
    context: typer.Context,
    data: Path = typer.Argument(help="Directory of a population, or demo."),
    out: Path = typer.Option(..., "--out", help="Directory for one directory per table; it may exist."),
    truncate: str = typer.Option("", "--truncate", help="Count what a private run of this scenario measures."),
    states: str = typer.Option("", "--states", help="Only these states, e.g. 44,09 (as a state filter)."),
) -> None:
    """Count the tables exactly, without noise. The counts are as confidential as the data; about.json says what they are.

    Example: phexplore tabulate population --out tables --truncate sdhc-2020-us
    """
    from phexplore.data.source import find_source
    from phexplore.systems.phsafe.shared import require_phsafe
    from phexplore.systems.phsafe.tabulating import tabulate_to

    scenario: Scenario | None = context.obj(truncate) if truncate else None
    if scenario is not None and states:
        raise typer.BadParameter("--truncate takes the states of its scenario; leave out --states.")
    if scenario is not None:
        require_phsafe(scenario, "A truncated tabulation")
    say_issues(find_source(data).remarks)
    for path in tabulate_to(data, out, scenario, parse_states(states)):
        say(f"Wrote {path}")


def truncation(
    context: typer.Context,
    scenario: str = SCENARIO,
    query: str = typer.Option(..., "--query", help="A truncated query, e.g. PH3/state_A-G."),
    sizes: Path | None = typer.Option(None, "--sizes", help="CSV with size and households."),
    run: Path | None = typer.Option(None, "--run", help="A run: the households of its data."),
    state: str = typer.Option(
        "", "--state", help="A state of the synthetic population; else the average state or the nation."
    ),
    part: str = typer.Option(
        "", "--part", help="Part of these households that one number counts, e.g. 1/50; else that of an average area."
    ),
    share: str = typer.Option(
        "", "--share", help="Part of the truncated people that the number counts; else that of the average number."
    ),
    keep_margin: bool = typer.Option(False, "--keep-margin", help="Let the budget follow, so that the margin stays."),
    as_json: bool = JSON,
) -> None:
    """Show bias and noise of a count for every truncation threshold, apart and together.

    Without a file or a run, households are those of the synthetic population with the members that the table counts.

    Example: phexplore truncation sdhc-2020-us --query PH3/state_A-G --state 44
    """
    from phexplore.runs.confidentiality import refuse_confidential
    from phexplore.systems.phsafe.truncation import print_study, study_request
    from phexplore.systems.phsafe.truncation_sources import study_of

    request = study_request(
        context.obj(scenario), query, sizes=sizes, run=run, state=state, part=part, share=share, keep_margin=keep_margin
    )
    if run is not None:
        refuse_confidential(run)
    print_study(study_of(request), request, as_json=as_json)


@writes_into_out("publish")
def publish(
    run: Path = typer.Argument(help="A run directory of the S-DHC."),
    out: Path = typer.Option(..., "--out", help="Directory for the published tables; it may exist."),
    trial: int = typer.Option(0, "--trial", min=0, help="Which simulated release."),
    seed: int = typer.Option(777, "--seed", min=0, help="Of the draws behind intervals."),
    draws: int = typer.Option(10_000, "--draws", min=100, help="Per average; ten times as many per sum."),
    as_json: bool = JSON,
) -> None:
    """Turn a simulated release into the published tables: estimates and 90 % intervals of counts and averages.

    Example: phexplore publish runs/first --out published
    """
    from phexplore.systems.phsafe.published_run import print_coverage, publish_run

    print_coverage(publish_run(run, trial, seed, draws, out), as_json=as_json)
