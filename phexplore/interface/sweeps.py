"""Sweeps in Python: a grid over any parameters as one frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phexplore.interface.arguments import argument_of, several, typed, whole
from phexplore.interface.frames import data_path, draw, frame
from phexplore.interface.scenarios import Scenario, load

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from pandas import DataFrame

    from phexplore.interface.frames import Population


@typed
def sweep(
    scenario: Scenario | str | PathLike[str],
    grid: Mapping[str, Sequence[Any]],
    *,
    measure: Sequence[str] = (),
    data: Population | None = None,
    out: str | PathLike[str] | None = None,
    trials: int = 1,
    seed: int = 1,
    workers: int = 1,
    ax: Axes | None = None,
    column: str = "",
    **options: Any,
) -> DataFrame:
    """Return one row per combination of parameter values; with `out`, each is run as well.

    Every run draws by the same seed (common random numbers), so what differs is what the parameters do. Points that were run
    before are not run again.

    Args:
        scenario: to start from, or what names one.
        grid: values by parameter path, e.g. ``{"total": [1, 2, 4]}``.
        measure: places whose margins are asked for, e.g. ``PH3/state_A-G`` or ``County/total``; ``["*"]`` for all.
        data: of the runs, see `run`.
        out: directory of the runs, one folder per point; None forecasts only.
        trials: releases per point.
        seed: of every run.
        workers: points computed at the same time.
        ax: axes that the picture of the sweep is drawn into; None for none.
        column: of the frame that the picture shows; figures of runs first, then margins, then ε, without it.
        options: of the system, see `run`.

    Returns:
        The parameters under their paths (floats, or words), ``total`` (float), ``epsilon``, a column per place with its margin in
        people, a column per figure of the runs, and ``exact`` (`fractions.Fraction` of the total).

    Raises:
        UnknownNameError: no such parameter or place.
        EditRefusedError: a combination is no scenario.
        PhexploreError: a run failed; those before are kept.

    Example:
        >>> import phexplore as px
        >>> px.sweep("pl94-2020-persons-us", {"total": [1, 2]}).epsilon.round(2).tolist()
        [10.03, 14.87]
    """
    from phexplore.decide.sweeping import stated_table, with_runs
    from phexplore.decide.sweeping import sweep as swept

    with argument_of("grid"):
        values = {path: several(each) for path, each in grid.items()}
    found = swept(load(scenario).value, values, several(measure))
    if out is not None:
        from phexplore.runs.run_settings import RunSettings
        from phexplore.systems.running import run_options_of, run_quietly

        with argument_of("a setting of the runs"):
            settings = RunSettings(trials=whole(trials), seed=whole(seed))
        one = run_quietly(data_path(data, Path(out)), settings, run_options_of(found.scenario, options))
        found = with_runs(found, Path(out), one, max(1, whole(workers)))
    if ax is not None:
        from phexplore.decide.sweeping import sweep_figure

        draw((sweep_figure(found, column),), "", ax)
    table = stated_table(found)
    exact = [point.total if isinstance(point.total, Fraction) else None for point in found.points]
    rows = [(*row, total) for row, total in zip(table.rows, exact, strict=True)]
    return frame((*table.headers, "exact"), rows, exact=("exact",))
