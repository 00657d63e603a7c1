"""Commands that compute on data: tabulate, run, report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from phexplore.catalog.names import Naming, choose_naming
from phexplore.cli.run_options import chosen_options, chosen_settings, with_run_options
from phexplore.files.output_folder import writes_into_out
from phexplore.report.progress import ProgressLine
from phexplore.report.terminal import print_json, say
from phexplore.runs.place import HERE
from phexplore.runs.run_settings import RunSettings
from phexplore.systems.arguments import SCENARIO
from phexplore.systems.registry import system_of
from phexplore.systems.sources import load_scenario

_MOST_NAMED = 12

_TRIALS_ON_CLUSTER = 4
"""Few units stand at the top of a tree: while one trial estimates them, the others keep the cluster busy."""


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(with_run_options(run))
    app.command()(report)


def run(
    scenario: str = SCENARIO,
    out: Path = typer.Option(..., "--out", help="Run directory; the same run is resumed, another one replaced."),
    as_json: bool = typer.Option(False, "--json", help="Print the summary as JSON."),
    tls_ca_file: str = typer.Option(
        "", "--tls-ca-file", help="Certificate (PEM) of the authority of a scheduler at tls://host:8786."
    ),
    tls_cert: str = typer.Option("", "--tls-cert", help="This machine's certificate (PEM) for that scheduler."),
    tls_key: str = typer.Option("", "--tls-key", help="The key (PEM) of that certificate."),
    **asked: Any,
) -> None:
    """Simulate full releases in a worker process and keep every one of them. Ctrl-C cancels; finished trials stay.

    With --scheduler, 4 trials are computed at the same time unless --workers says otherwise.

    Example: phexplore run sdhc-2020-us --data demo --trials 20 --seed 1 --out runs/first

    Example: phexplore run pl94-2020-persons-us --data blocks.csv.gz --expand 1 --trials 2 --seed 1 --out runs/blocks
    """
    from phexplore.runs.confidentiality import summary_to_leave
    from phexplore.systems.running import DataProblemsError, data_read_with, own_data, simulate

    loaded = load_scenario(scenario)
    settings = chosen_settings(loaded, asked, (tls_ca_file, tls_cert, tls_key))
    options = chosen_options(loaded, asked)
    if "data" not in settings and (read := data_read_with(options)):
        settings["data"] = str(read)
    if "data" not in settings and system_of(loaded).own_data(loaded) is None:
        raise typer.BadParameter("Name the data with --data; these parameters came with none.")
    data = Path(settings["data"]) if "data" in settings else own_data(loaded)
    if settings.get("place", HERE).scheduler:
        settings.setdefault("workers", _TRIALS_ON_CLUSTER)
    settings.setdefault("workers", system_of(loaded).runs.workers)
    with ProgressLine() as line:
        try:
            simulate(loaded, data, out, RunSettings(**settings), line.show, say, options)
        except DataProblemsError as error:
            say(*error.listed.splitlines())
            raise typer.Exit(2) from error
    if as_json:
        print_json(summary_to_leave(out))
    else:
        say(f"Complete: {out}")


def _choices(texts: list[str]) -> dict[str, str | tuple[str, ...]]:
    """Return choices by name; what is named several times is several.

    Raises:
        typer.BadParameter: no NAME=VALUE.
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not (name and sign):
            raise typer.BadParameter(f"--choose takes NAME=VALUE, got {text!r}.")
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else tuple(values) for name, values in found.items()}


@writes_into_out("report")
def report(
    run: Path = typer.Argument(help="A run directory."),
    form: str = typer.Option(..., "--format", help="html, pdf, docx, pptx, csv, svg or png."),
    out: Path = typer.Option(..., "--out", help="File, or directory for csv and png; it may exist."),
    choose: list[str] = typer.Option(
        [], "--choose", help="NAME=VALUE for the pictures, as on the page of results: level, query, shapes, others."
    ),
    names: Naming = typer.Option(
        Naming.CODES, "--names", help="What tables, groups and places are called in documents and pictures."
    ),
) -> None:
    """Write the results of a run.

    Example: phexplore report runs/first --format html --out report.html

    Example: phexplore report runs/first --format html --out report.html --choose others=runs/second
    """
    from phexplore.cli.exporting import export_run
    from phexplore.runs.confidentiality import is_confidential_run
    from phexplore.runs.disclosure import LEFT_OUT

    choose_naming(names)
    written = export_run(run, form, out, _choices(choose))
    if is_confidential_run(run):
        say(LEFT_OUT)
    for path in written[:_MOST_NAMED]:
        say(f"Wrote {path}")
    if len(written) > _MOST_NAMED:
        say(f"… and {len(written) - _MOST_NAMED} more files.")
