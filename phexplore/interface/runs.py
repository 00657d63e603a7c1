"""Runs in Python: full simulated releases in a worker process, kept on disk, read back as frames and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.interface.arguments import argument_of, typed, typed_class, whole
from phexplore.interface.frames import data_path, draw, table_frame
from phexplore.interface.scenarios import Scenario, load
from phexplore.systems.registry import system_of

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from pandas import DataFrame

    from phexplore.figures.figure import Figure
    from phexplore.interface.frames import Population
    from phexplore.model.provenance import Provenance
    from phexplore.runs.events import Event
    from phexplore.systems.protocol import PlaceName


@typed_class
class Run:
    """A run on disk: its scenario, its summary, the errors of its trials and their pictures.

    Attributes:
        directory: where it is.
        scenario: what was simulated.

    Example:
        >>> import phexplore as px
        >>> blocks = px.synth("pl94", 300, "blocks.csv", seed=1)
        >>> run = px.run("pl94-2020-persons-us", blocks, out="runs/first", seed=1, progress=False)
        >>> run.is_complete, run.trials
        (True, 1)
    """

    def __init__(self, directory: Path) -> None:
        """Open it.

        Raises:
            RunUnreadableError: there is no run, or it is damaged.
        """
        from phexplore.runs.store import load_spec

        self.directory = directory
        self._spec = load_spec(directory)
        self.scenario = Scenario(self._spec.scenario)

    @property
    def provenance(self) -> Provenance:
        """The provenance of its data: ``kind`` (synthetic, published, imputed or real) and ``source``.

        Example:
            >>> import phexplore as px
            >>> blocks = px.synth("pl94", 300, "blocks.csv", seed=1)
            >>> run = px.run("pl94-2020-persons-us", blocks, out="runs/first", seed=1, progress=False)
            >>> run.provenance.kind.value
            'synthetic'
        """
        return self._spec.provenance

    @property
    def trials(self) -> int:
        """Readable trials."""
        from phexplore.runs.store import present_trials

        return len(present_trials(self.directory))

    @property
    def is_complete(self) -> bool:
        """Whether it ended as it should."""
        return self.state == "complete"

    @property
    def state(self) -> str:
        """The state of the run: ``complete``, ``cancelled``, ``interrupted``, ``failed``, ``running`` or ``queued``."""
        from phexplore.runs.store import state_of

        return state_of(self.directory).value

    def summary(self) -> dict[str, Any] | None:
        """Return ``summary.json``: checks, metrics, seconds; None before the run is complete. Without metrics for confidential records.

        Example:
            >>> import phexplore as px
            >>> blocks = px.synth("pl94", 300, "blocks.csv", seed=1)
            >>> run = px.run("pl94-2020-persons-us", blocks, out="runs/first", seed=1, progress=False)
            >>> run.summary()["checks"]["budget_spent_equals_declared"]
            True
        """
        from phexplore.runs.confidentiality import summary_to_leave

        return summary_to_leave(self.directory)

    @property
    def pictures(self) -> dict[str, str]:
        """Titles of its pictures by the name that `plot` and `errors` take.

        Example:
            >>> import phexplore as px
            >>> blocks = px.synth("pl94", 300, "blocks.csv", seed=1)
            >>> run = px.run("pl94-2020-persons-us", blocks, out="runs/first", seed=1, progress=False)
            >>> run.pictures["bias"]
            'Bias by size'
        """
        return {tab.id: tab.title for tab in system_of(self._spec.scenario).results.tabs}

    def errors(self, level: str = "", query: str = "", *, by: str = "errors", **choices: str) -> DataFrame:
        """Return the numbers behind a picture of its results: errors by level, by size, by place.

        Args:
            level: geographic or population-group level: what the picture is of where it asks for one, else the rows that are returned.
            query: table or query group, likewise.
            by: name of the picture, see `pictures`.
            choices: what else it asks for, as on the page of results; a name may end in ``_`` and have ``_`` for spaces.

        Raises:
            UnknownNameError: there is no such picture, level or query, or the picture does not offer a choice.
            PhexploreError: there is nothing to show: no trial yet, or the picture asks for more.

        Example:
            >>> import phexplore as px
            >>> blocks = px.synth("pl94", 300, "blocks.csv", seed=1)
            >>> run = px.run("pl94-2020-persons-us", blocks, out="runs/first", seed=1, progress=False)
            >>> run.errors().Level.tolist()
            ['State', 'County', 'Tract', 'Block group', 'Block']
            >>> run.errors("Block_Group", "votingage").Units.tolist()
            [12]
        """
        wanted = {name: text for name, text in (("level", level), ("query", query)) if text}
        asked = self._asked(by)
        given = {name: text for name, text in wanted.items() if name in asked}
        if "table" in asked and "query" in wanted:
            given["table"] = query
        found = table_frame(self._figure(by, {**given, **choices}).table)
        for name in wanted.keys() - asked - ({"query"} if "table" in given else set()):
            found = _rows_of(found, name, wanted[name], system_of(self._spec.scenario).place_name)
        return found

    def plot(self, picture: str = "errors", ax: Axes | None = None, **choices: str) -> Axes:
        """Draw a picture of its results and return its axes.

        Args:
            picture: its name, see `pictures`.
            ax: axes to draw into; None for new ones.
            choices: what it asks for, as on the page of results, e.g. ``level="County"``.

        Raises:
            UnknownNameError: there is no such picture, or it does not offer a choice.
            PhexploreError: there is no trial to show yet.

        Example:
            >>> import phexplore as px
            >>> blocks = px.synth("pl94", 300, "blocks.csv", seed=1)
            >>> run = px.run("pl94-2020-persons-us", blocks, out="runs/first", seed=1, progress=False)
            >>> run.plot("shape", level="Tract").get_xlabel()
            'published − true, people'
        """
        return draw((self._figure(picture, choices),), "", ax)

    def resume(self, *, progress: bool | Callable[[Event], None] = True) -> Run:
        """Compute the trials that are missing and return the run.

        Args:
            progress: whether a line follows the run, or what is given every event.

        Raises:
            PhexploreError: it failed or was interrupted.
            CancelledError: it was cancelled again; finished trials are saved.

        Example:
            >>> import phexplore as px
            >>> blocks = px.synth("pl94", 300, "blocks.csv", seed=1)
            >>> run = px.run("pl94-2020-persons-us", blocks, out="runs/first", seed=1, progress=False)
            >>> run.resume(progress=False).is_complete
            True
        """
        from phexplore.runs.launch import run_worker
        from phexplore.runs.place import HERE
        from phexplore.runs.store import prepare_directory
        from phexplore.systems.running import confirm_finished

        prepare_directory(self.directory, self._spec, replace=True)
        with _following(progress) as show:
            confirm_finished(run_worker(self.directory, show, place=HERE))
        return self

    def _asked(self, picture: str) -> set[str]:
        from phexplore.systems.run_pictures import asked_of

        if picture not in self.pictures:
            raise UnknownNameError("picture", picture, list(self.pictures))
        return set(asked_of(system_of(self._spec.scenario).results, self.directory, picture))

    def _figure(self, picture: str, choices: Mapping[str, str]) -> Figure:
        from phexplore.systems.run_pictures import chosen_figure

        plain = {name.rstrip("_").replace("_", " "): name for name in choices}
        asked = {plain.get(name, name): name for name in self._asked(picture)}
        given = {asked.get(name, name): value for name, value in choices.items()}
        return chosen_figure(system_of(self._spec.scenario).results, self.directory, picture, given)

    def __repr__(self) -> str:
        """Return directory, scenario and trials."""
        return f"<Run {self.directory.name!r} of {self.scenario.name!r}, {self.trials} of {self._spec.trials} trials>"


_COLUMNS = {"level": ("Level",), "query": ("Query", "Table")}
"""What the columns are called in which a picture states its levels, tables and queries."""


def _rows_of(found: DataFrame, name: str, wanted: str, called: Callable[[str], PlaceName]) -> DataFrame:
    """Return the rows of a level, table or query, named as in files or as people see it."""
    header = next((each for each in _COLUMNS[name] if each in found.columns), "")
    if not header:
        raise PhexploreError(f"The picture does not tell one {name} from another.", f"Leave out {name}.")
    tables = dict.fromkeys(found["Table"]) if "Table" in found.columns else ()
    known = {wanted, called(f"{wanted}/").group, *(called(f"{table}/{wanted}").name for table in tables)}
    plain = {text.replace("_", " ").casefold() for text in known}
    texts = found[header].astype(str)
    rows = found[texts.str.replace("_", " ").str.casefold().isin(plain)]
    if rows.empty:
        raise UnknownNameError(name, wanted, list(dict.fromkeys(texts)))
    return rows.reset_index(drop=True)


@typed
def open_run(directory: str | PathLike[str]) -> Run:
    """Return a run that is on disk, finished or not.

    Args:
        directory: of the run.

    Raises:
        RunUnreadableError: there is no run, or it is damaged.

    Example:
        >>> import phexplore as px
        >>> blocks = px.synth("pl94", 300, "blocks.csv", seed=1)
        >>> px.run("pl94-2020-persons-us", blocks, out="runs/first", seed=1, progress=False)
        <Run 'first' of 'P.L. 94-171 production, US persons', 1 of 1 trials>
        >>> px.open_run("runs/first").scenario == px.load("pl94-2020-persons-us")
        True
    """
    from phexplore.runs.store import confirm_counts

    found = Run(Path(directory))
    confirm_counts(Path(directory))
    return found


@typed
def run(
    scenario: Scenario | str | PathLike[str],
    data: Population | None = None,
    *,
    out: str | PathLike[str],
    trials: int = 1,
    seed: int | None = None,
    workers: int | None = None,
    memory: str = "",
    scheduler: str = "",
    release: str = "private",
    stop_at: Mapping[str, Any] | None = None,
    progress: bool | Callable[[Event], None] = True,
    **options: Any,
) -> Run:
    """Simulate full releases in a worker process and return the run; the same order again is resumed.

    An interrupt (Ctrl-C, or the stop button of a notebook) cancels; finished trials are kept.

    Args:
        scenario: or what names one.
        data: what ``phexplore run --data`` takes; or a frame with the columns of a block file or table, or of blocks as
            `Data.to_frame` returns them; None for what came
            with the parameters, or with the ``measurements`` among the options.
        out: directory of the run.
        trials: how many releases.
        seed: of the noise; None takes it from the operating system.
        workers: trials computed at the same time, or threads; they change no byte. None for as many as the system proposes.
        memory: what the run may take, e.g. ``"4G"``; TopDown data that need more, or have 250,000 blocks or more, are estimated
            state by state.
        scheduler: address of a Dask cluster, for TopDown.
        release: ``private``, ``no-noise`` or ``non-private``.
        stop_at: end before the last trial once a figure's error is small, e.g. ``{"County/total/mae": 0.5}``.
        progress: whether a line follows the run, or what is given every event.
        options: of the system, by the names of its fields, e.g. ``expand=1`` or ``estimator="pooled"``.

    Raises:
        DataProblemsError: the data hold problems.
        PhexploreError: the scenario or the data are not fit, or the run failed or was interrupted.
        CancelledError: it was cancelled; finished trials are saved.

    Example:
        >>> import phexplore as px
        >>> blocks = px.synth("pl94", 300, "blocks.csv", seed=1)
        >>> run = px.run("pl94-2020-persons-us", blocks, out="runs/first", seed=1, progress=False)
        >>> run
        <Run 'first' of 'P.L. 94-171 production, US persons', 1 of 1 trials>
    """
    from phexplore.runs.events import Note
    from phexplore.runs.place import Place, read_memory
    from phexplore.runs.run_settings import RunSettings
    from phexplore.runs.spec import RunMode
    from phexplore.systems.registry import system_of
    from phexplore.systems.running import data_read_with, own_data, run_options_of, simulate
    from phexplore.systems.stop_metrics import read_stop

    value, directory = load(scenario).value, Path(out)
    modes = {mode.value: mode for mode in RunMode}
    if release not in modes:
        raise UnknownNameError("release", release, list(modes))
    if len(stop_at or {}) > 1:
        raise PhexploreError("A run ends early by one figure.", "Name one in stop_at.")
    metrics = system_of(value).runs.metrics()
    workers = whole(workers or 0) or system_of(value).runs.workers
    with argument_of("a setting of the run"):
        settings = RunSettings(
            mode=modes[release],
            trials=whole(trials),
            seed=None if seed is None else whole(seed),
            workers=workers,
            place=Place(workers, scheduler),
            memory=read_memory(memory) if memory else None,
            stop=next((read_stop(f"{name}={limit}", metrics) for name, limit in (stop_at or {}).items()), None),
        )
    chosen = run_options_of(value, options)
    path = data_path(data, directory) or data_read_with(chosen) or own_data(value)
    with _following(progress) as show:
        simulate(value, path, directory, settings, show, lambda said: show(Note(said)), chosen)
    return Run(directory)


class _following:  # noqa: N801 - used as a function
    """Shows the events of a run: a line on a terminal or in a notebook, somebody's function, or nothing."""

    def __init__(self, progress: bool | Callable[[Event], None]) -> None:
        from phexplore.report.progress import ProgressLine

        self._line = ProgressLine(is_quiet=True) if progress is True else None
        self._show = progress if callable(progress) else self._line.show if self._line else lambda _event: None

    def __enter__(self) -> Callable[[Event], None]:
        return self._show

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.__exit__(None, None, None)
