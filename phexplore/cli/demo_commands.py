"""The demonstration: the whole journey without a window, from opening the parameters of 2020 to the exported files."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import typer

from phexplore.errors import PhexploreError
from phexplore.files.output_folder import writes_into_out
from phexplore.report.terminal import say

TRIALS = 20
SEED = 2020


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(demo)


@writes_into_out("demo")
def demo(
    out: Path = typer.Option(Path("out"), "--out", help="Directory for everything the journey leaves."),
    trials: int = typer.Option(TRIALS, "--trials", min=1, help="Simulated releases."),
) -> None:
    """Run the demonstration journey without a window: edit, forecast, simulate, report, export.

    Example: phexplore demo --out out
    """
    from phexplore.cli.exporting import export_run, export_scenario
    from phexplore.data.source import demonstration_directory
    from phexplore.document.project import Project
    from phexplore.model.edits import rename
    from phexplore.model.keys import parse_query
    from phexplore.model.numbers import exact_text
    from phexplore.model.workbook import Workbook
    from phexplore.report.progress import ProgressLine
    from phexplore.runs.run_settings import RunSettings
    from phexplore.systems.phsafe.budget_edits import edit_margin
    from phexplore.systems.phsafe.forecast import forecast
    from phexplore.systems.registry import preset
    from phexplore.systems.running import simulate

    start = preset("sdhc-2020-us")
    say(f"1. Open: {start.title}, bounded ρ {exact_text(forecast(start.scenario).headline)}")
    project = Project.new(Workbook((rename(start.scenario, "Demonstration"),), "Demonstration", start.id))
    query, margin = parse_query("PH3/state_A-G"), Fraction(25)
    project.edit(
        f"Set the margin of {query.title} to {margin} people", lambda scenario: edit_margin(scenario, query, margin)
    )
    headline = exact_text(forecast(project.scenario).headline)
    say(f"2. Edit: margin of {query.title} from 20 to {margin} people; bounded ρ follows: {headline}")
    _make_folder(out)
    project.save(out / "demonstration.phx")
    project.close()
    files = [out / "demonstration.phx"]
    for form, name in _EXPORTS:
        files += export_scenario(project.scenario, form, out / name).files
    say(f"3. Export: {', '.join(path.name for path in files)}")
    say(f"4. Simulate {trials} releases on the shipped synthetic population")
    with ProgressLine() as line:
        settings = RunSettings(trials=trials, seed=SEED)
        simulate(project.scenario, demonstration_directory(), out / "run", settings, line.show, say)
    for form, name in (("html", "run-report.html"), ("png", "run-charts.png"), ("csv", "run-tables")):
        files += export_run(out / "run", form, out / name)
    say(f"5. Done. {len(files)} files and the run are in {out.resolve()}")
    say(f"   The file production reads: {out / CONFIG_NAME} (phsafe-config); start with {out / 'run-report.html'}")


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PhexploreError(f"The folder {out} cannot be made: {reason}.", "Name another one with --out.") from error


CONFIG_NAME = "config.json"
_EXPORTS = (
    ("phsafe-config", CONFIG_NAME),
    ("csv", "parameters.csv"),
    ("xlsx", "parameters.xlsx"),
    ("png", "forecast-charts.png"),
    ("html", "forecast-report.html"),
)
