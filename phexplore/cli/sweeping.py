"""``phexplore sweep``: one row per point of a grid over parameters."""

from __future__ import annotations

from pathlib import Path

import typer

from phexplore.report.terminal import say
from phexplore.systems.arguments import SCENARIO
from phexplore.systems.sources import load_scenario


def sweep(
    scenario: str = SCENARIO,
    grid: Path = typer.Option(..., "--grid", help='Values by parameter path (JSON): {"total": ["1", "2.5"]}.'),
    out: Path = typer.Option(..., "--out", help="Table to write: .csv, .xlsx or .json; replaced if it exists."),
    measure: list[str] = typer.Option(
        [], "--measure", help="A place whose margin is asked for, e.g. PH3/state_A-G; repeat, or * for all."
    ),
    runs: Path | None = typer.Option(
        None, "--runs", help="Run every point into a folder here; what is complete there is not run again."
    ),
    data: Path | None = typer.Option(None, "--data", help="Data of the runs, as run takes them."),
    trials: int = typer.Option(1, "--trials", min=1, help="Releases per point."),
    seed: int = typer.Option(1, "--seed", min=0, help="Of every run: what differs is what the parameters do."),
    workers: int = typer.Option(1, "--workers", min=1, help="Points run at the same time."),
    picture: Path | None = typer.Option(None, "--picture", help="Draw the table as a picture: .png, .svg or .pdf."),
) -> None:
    """Vary parameters over a grid: loss, ε and margins of every combination, with runs where they are asked for.

    Example: phexplore sweep sdhc-2020-us --grid grid.json --measure PH3/state_A-G --out sweep.csv
    """
    from phexplore.decide.sweeping import read_grid, stated_table, with_runs
    from phexplore.decide.sweeping import sweep as swept
    from phexplore.figures.table_files import SUFFIXES, write_table
    from phexplore.files.atomic_files import read_text, write_atomically

    form = None
    if picture is not None:
        from phexplore.figures.style import FigureFormat

        forms = {each.value: each for each in FigureFormat}
        if (form := forms.get(picture.suffix.removeprefix(".").lower())) is None:
            raise typer.BadParameter(f"--picture is a file of {', '.join(forms)}, got {picture.name!r}.")
    if out.suffix.lower() not in SUFFIXES:
        raise typer.BadParameter(f"--out is a table, {', '.join(SUFFIXES)}, got {out.name!r}.")
    if runs is None and data is not None:
        raise typer.BadParameter("--data is for the runs; name their folder with --runs.")
    found = swept(load_scenario(scenario), read_grid(read_text(grid), grid.name), measure)
    if runs is not None:
        from phexplore.runs.run_settings import RunSettings
        from phexplore.systems.running import run_options_of, run_quietly

        one = run_quietly(data, RunSettings(trials=trials, seed=seed), run_options_of(found.scenario, {}))
        found = with_runs(found, runs, one, workers)
    write_table(stated_table(found), out)
    say(f"Wrote {out} ({len(found.points):,} points)")
    if picture is not None and form is not None:
        from phexplore.decide.sweeping import sweep_figure
        from phexplore.figures.to_matplotlib import figure_bytes

        write_atomically(picture, figure_bytes(sweep_figure(found), form))
        say(f"Wrote {picture}")
