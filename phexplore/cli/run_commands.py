"""Commands that compute on data: tabulate, run, report."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import typer

from phexplore.cli.run_options import chosen_options, chosen_settings, with_run_options
from phexplore.errors import CancelledError, PhexploreError
from phexplore.files.output_folder import writes_into_out
from phexplore.model.data_kinds import DataKind
from phexplore.model.fields import Declared
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import print_json, say, say_issues
from phexplore.runs.events import Event, Note, PhaseDone, Progress
from phexplore.runs.place import HERE
from phexplore.runs.run_settings import RunSettings
from phexplore.systems.arguments import SCENARIO
from phexplore.systems.registry import system_of
from phexplore.systems.sources import load_scenario

_MOST_NAMED = 12
_BAR = 24

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
    loaded = load_scenario(scenario)
    settings = chosen_settings(loaded, asked, (tls_ca_file, tls_cert, tls_key))
    options = chosen_options(loaded, asked)
    data = Path(settings["data"]) if "data" in settings else _own_data(loaded)
    if settings.get("place", HERE).scheduler:
        settings.setdefault("workers", _TRIALS_ON_CLUSTER)
    summary = simulate(loaded, data, out, RunSettings(**settings), options)
    if as_json:
        print_json(summary)
    else:
        say(f"Complete: {out}")


def simulate(
    scenario: Scenario, data: Path, out: Path, settings: RunSettings, options: Declared | None = None
) -> dict[str, Any] | None:
    """Run a scenario in a worker process, show its progress, and return its summary.

    Args:
        scenario: to run.
        data: input.
        out: directory of the run.
        settings: trials, seed, release, where the run is computed and when it ends.
        options: of the system.

    Raises:
        PhexploreError: the scenario or the data are not fit, or the run failed.
        CancelledError: it was cancelled; finished trials are kept.
    """
    from phexplore.data.source import find_source
    from phexplore.model.issues import has_errors
    from phexplore.runs.confidentiality import make_private, person_here, record_override, warning_about
    from phexplore.runs.events import Failed, Finished, Outcome
    from phexplore.runs.launch import run_worker
    from phexplore.runs.spec import RunSpec, data_of
    from phexplore.runs.states import RunState
    from phexplore.runs.store import load_summary, prepare_directory, state_of
    from phexplore.systems.registry import check

    errors = [issue for issue in check(scenario) if has_errors([issue])]
    if errors:
        raise PhexploreError(f"{errors[0].place}: {errors[0].sentence}", errors[0].remedy)
    if scenario.method.data_kind is DataKind.POPULATION:
        say_issues(find_source(data).remarks)
    spec = RunSpec(
        scenario,
        data_of(scenario, data),
        settings.trials,
        settings.seed,
        settings.mode,
        settings.workers,
        stop=settings.stop,
        options=options,
    )
    spec = system_of(scenario).complete_run(spec)
    if (warning := warning_about(scenario, spec.data)) is not None:
        say(warning.sentence)
        make_private(out)
    directory = prepare_directory(out, spec, replace=True)
    if warning is not None and state_of(directory) is not RunState.COMPLETE:
        record_override(directory, warning, person_here())
    with ProgressLine() as line:
        final = run_worker(directory, line.show, place=replace(settings.place, workers=settings.workers))
    match final:
        case Failed(details=listed, problems=problems) if problems:
            say(listed)
            raise typer.Exit(2)
        case Failed(sentence, remedy):
            raise PhexploreError(sentence, remedy)
        case Finished(Outcome.CANCELLED):
            raise CancelledError("The run was cancelled; finished trials are kept.")
        case _:
            return load_summary(directory)


def _own_data(scenario: Scenario) -> Path:
    """Return the data that came with the parameters.

    Raises:
        typer.BadParameter: none did.
    """
    if (found := system_of(scenario).own_data(scenario)) is not None:
        return found
    raise typer.BadParameter("Name the data with --data; these parameters came with none.")


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
    form: str = typer.Option(..., "--format", help="html, csv, png or pdf."),
    out: Path = typer.Option(..., "--out", help="File, or directory for csv and png; it may exist."),
    choose: list[str] = typer.Option(
        [], "--choose", help="NAME=VALUE for the pictures, as on the page of results: level, query, shapes, others."
    ),
) -> None:
    """Write the results of a run.

    Example: phexplore report runs/first --format html --out report.html

    Example: phexplore report runs/first --format html --out report.html --choose others=runs/second
    """
    from phexplore.cli.exporting import export_run
    from phexplore.runs.confidentiality import is_confidential
    from phexplore.runs.disclosure import LEFT_OUT
    from phexplore.runs.store import load_spec, load_summary

    written = export_run(run, form, out, _choices(choose))
    if is_confidential(load_spec(run), load_summary(run)):
        say(LEFT_OUT)
    for path in written[:_MOST_NAMED]:
        say(f"Wrote {path}")
    if len(written) > _MOST_NAMED:
        say(f"… and {len(written) - _MOST_NAMED} more files.")


class ProgressLine:
    """Shows the progress of a run on standard error: a bar on a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._open = False

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the line."""
        self._end()

    def show(self, event: Event) -> None:
        """Show an event of a worker."""
        match event:
            case Progress(phase, done, total, seconds_left) if self._live and total:
                filled = round(_BAR * done / total)
                left = "" if seconds_left is None else f"  {_duration(seconds_left)} left"
                bar = "█" * filled + "░" * (_BAR - filled)
                sys.stderr.write(f"\r{phase:<12} {bar} {done:,}/{total:,}{left}\x1b[K")
                sys.stderr.flush()
                self._open = True
            case PhaseDone(name, seconds):
                self._line(f"{name}: {seconds:.2f} s")
            case Note(text):
                self._line(text)
            case _:
                pass

    def _line(self, text: str) -> None:
        self._end()
        say(text)

    def _end(self) -> None:
        if self._open:
            sys.stderr.write("\r\x1b[K")
            self._open = False


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
