"""All runs of a project as the window sees them: the queue, the workers, what became of them. No widget in here."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from phexplore.errors import PhexploreError
from phexplore.gui.binding.frame_throttle import FrameThrottle
from phexplore.gui.binding.run_process import RunProcess
from phexplore.gui.run_manager.file_tasks import FileTasks
from phexplore.gui.run_manager.launch_form import LaunchRequest
from phexplore.gui.run_manager.run_rows import RunAction, RunRow, after_event, refusal, row_of
from phexplore.model.scenario import Scenario
from phexplore.runs.belonging import fetch_runs
from phexplore.runs.confidentiality import ConfidentialityWarning, person_here, record_override, warning_about
from phexplore.runs.events import Event, Failed, Finished
from phexplore.runs.place import HERE, Place
from phexplore.runs.queue import RunQueue, activate, enqueue, leave
from phexplore.runs.spec import RunSpec, data_of
from phexplore.runs.states import RunState
from phexplore.runs.store import RunEntry, RunStore, describe_run, load_events, record_final

NEWS_MS = 250
"""Progress is shown at most four times a second."""

MakeProcess = Callable[..., RunProcess]
"""Of a directory and an owner, with the place as ``place``."""


class RunNotPossibleError(PhexploreError):
    """Something was asked of a run that its state does not allow."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a look at the disk returned."""

    root: Path
    rows: tuple[RunRow, ...]


@dataclass(frozen=True, slots=True)
class _Moved:
    """What became of runs that were to be moved.

    Attributes:
        asked: where they were.
        rows: those that were moved, by where they were.
        problem: why others were not, None for nothing.
    """

    asked: tuple[Path, ...]
    rows: dict[Path, RunRow]
    problem: PhexploreError | None = None


@dataclass(frozen=True, slots=True)
class DoubtedRun:
    """A run that is not made yet.

    Attributes:
        spec: what it does.
        store: where it is to be made.
        doubt: what speaks against its data, None for nothing.
        place: where it is computed.
    """

    spec: RunSpec
    store: RunStore
    doubt: ConfidentialityWarning | None
    place: Place


class RunController(QObject):
    """Keeps the runs of one folder, starts workers one after the other, and tells what they report.

    Signals:
        changed: the rows (tuple of `RunRow`, newest first); at once when a state changes, else at most every 250 ms.
        progressed: the `Path` of a run with new trials, at most every 250 ms, and once more when it has ended.
        launched: the `Path` of a run that was made.
        ended: the `RunRow` of a run that ended.
        failed: a `PhexploreError`: the data is unreadable, the disk is full, a run cannot be deleted …
        busy_changed: whether data is being described or files are being worked on (bool).
        doubted: a `DoubtedRun`: its data may be confidential; it is made by `confirm` only.
        relocated: where all runs are now (`Path` by `Path`) that were moved with their project; before `changed`.
    """

    changed = Signal(object)
    progressed = Signal(object)
    launched = Signal(object)
    ended = Signal(object)
    failed = Signal(object)
    busy_changed = Signal(object)
    doubted = Signal(object)
    relocated = Signal(object)

    def __init__(
        self,
        root: Path,
        parent: QObject | None = None,
        *,
        make_process: MakeProcess = RunProcess,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """Look after a folder.

        Args:
            root: folder of runs; need not exist.
            parent: owner.
            make_process: makes the worker process of a run directory.
            now: the time, with a time zone.
        """
        super().__init__(parent)
        self._store = RunStore(root)
        self._homes: dict[Path, Path] = {root: root}
        """Where runs belong that are in one of the project's folders: elsewhere once the unsaved project was saved."""
        self._make_process, self._now = make_process, now
        self._queue = RunQueue()
        self._rows: dict[Path, RunRow] = {}
        self._processes: dict[Path, RunProcess] = {}
        self._places: dict[Path, Place] = {}
        self._chores = FileTasks(self)
        self._chores.failed.connect(self._on_chore_failed)
        self._news = FrameThrottle(self, interval_ms=NEWS_MS)
        self._news.due.connect(self._tell_progress)
        self._moved: set[Path] = set()
        self._moving: set[Path] = set()
        self._relocated: dict[Path, Path] = {}
        self.reread()

    @property
    def root(self) -> Path:
        """The folder new runs go into."""
        return self._store.root

    @property
    def rows(self) -> tuple[RunRow, ...]:
        """All runs, newest first, as of now."""
        return tuple(self._rows[path] for path in sorted(self._rows, key=lambda path: path.name, reverse=True))

    @property
    def active(self) -> tuple[RunRow, ...]:
        """Runs with a worker, in the order they started."""
        return tuple(self._rows[path] for path in self._queue.active if path in self._rows)

    @property
    def is_busy(self) -> bool:
        """Whether data is being described or files are being worked on."""
        return self._chores.is_busy

    def row(self, directory: Path) -> RunRow | None:
        """Return one run, also by the directory it was moved from; None when it is not here."""
        return self._rows.get(self._relocated.get(directory, directory))

    def follow(self, root: Path, *, takes_runs: bool) -> None:
        """Look after the folder of the project's new file; runs that wait or work go on and stay listed.

        Args:
            root: the folder.
            takes_runs: whether the runs there are come along, as those of a project that had no file do. Runs at work move
                when they have ended. Else they stay where they were started.
        """
        before = self._store.root
        if root == before:
            return
        if takes_runs:
            self._homes = {path: root if home == before else home for path, home in self._homes.items()}
        self._store, self._homes = RunStore(root), self._homes | {root: root}
        held = self._held
        self._rows = {path: row for path, row in self._rows.items() if path in held or self._is_astray(path)}
        self._tell()
        self._gather()
        self.reread()

    def leave(self, root: Path, *, discard: bool) -> None:
        """Look after another project: end the workers of the one before and list none of its runs. Blocks for seconds at most.

        Args:
            root: folder of the other project's runs.
            discard: whether the folder of the runs before is removed: its project was given up.
        """
        before = self._store.root
        self._end_workers()
        self._gather()
        for process in self._processes.values():
            process.deleteLater()
        self._rows, self._processes = {}, {}
        self._store, self._homes = RunStore(root), {root: root}
        if discard and before != root:
            self._do(lambda: shutil.rmtree(before, ignore_errors=True), _forget_result)
        self._tell()
        self.reread()

    def fetch(self, find: Callable[[], Iterable[Path]]) -> None:
        """Move runs here that were left elsewhere; those a worker is at are left out."""
        root = self._store.root
        self._do(lambda: fetch_runs(find(), root), lambda moved: self.reread() if moved else None)

    def reread(self) -> None:
        """Look at the folder again."""
        store = self._store
        self._do(lambda: _Found(store.root, tuple(map(_described, store.entries()))), self._take_found)

    def launch(self, scenario: Scenario, request: LaunchRequest) -> None:
        """Describe the data, make the run and put it in the queue; data that may be confidential wait for `confirm`."""
        store = self._store

        def examine() -> DoubtedRun:
            return _examined(
                request.spec(scenario, data_of(scenario, request.settings.path)), store, request.settings.place
            )

        self._do(examine, self._take_examined)

    def repeat(self, directory: Path, place: Place = HERE) -> None:
        """Make a new run with the specification of another one: the same bytes when it has a seed, wherever it is computed."""
        row = self._demand(directory, RunAction.RERUN)
        spec, store = row.spec, self._store
        if spec is not None:
            self._do(lambda: _examined(_fresh(spec), store, place), self._take_examined)

    def confirm(self, doubted: DoubtedRun) -> None:
        """Make a run in spite of the warning; who did so, when and on which content is written into its record."""
        if (home := self._homes.get(doubted.store.root)) is None:
            return  # it was asked for in a project that is not open any more
        here = replace(doubted, store=RunStore(home))
        self._do(lambda: _made(here, self._now()), partial(self._take_new, doubted.place))

    def _take_examined(self, examined: DoubtedRun) -> None:
        if examined.doubt is None:
            self.confirm(examined)
        elif examined.store.root in self._homes:
            self.doubted.emit(examined)

    def pause(self, directory: Path) -> None:
        """Let a run rest after the current piece of work."""
        self._demand(directory, RunAction.PAUSE)
        self._processes[directory].pause()

    def resume(self, directory: Path, place: Place = HERE) -> None:
        """Let a paused run go on; start a cancelled or failed one again, its finished trials count.

        Args:
            directory: of the run.
            place: where it is computed from now on: a person says so, never a file. A paused run goes on where it is.

        Raises:
            RunNotPossibleError: it is not paused, cancelled or failed.
        """
        row = self._demand(directory, RunAction.RESUME)
        if row.state is RunState.PAUSED:
            self._processes[directory].resume()
            return
        self._rows[directory] = replace(row, state=RunState.QUEUED, problem="", remedy="", details="", phase="")
        self._enqueue(directory, place)

    def cancel(self, directory: Path) -> None:
        """Stop a run; finished trials are kept. A run that waits leaves the queue."""
        row = self._demand(directory, RunAction.CANCEL)
        if directory in self._processes:
            self._processes[directory].cancel()
            return
        self._queue = leave(self._queue, directory)
        self._rows[directory] = replace(row, state=RunState.CANCELLED)
        self._renumber()
        self._tell()

    def remove(self, directory: Path) -> None:
        """Delete a run and its files."""
        self._demand(directory, RunAction.DELETE)
        self._queue = leave(self._queue, directory)
        store = RunStore(directory.parent)
        self._do(lambda: store.remove(directory), partial(self._forget, directory))

    def shut_down(self) -> None:
        """End all workers because the window closes; their finished trials stay. Blocks for at most a few seconds."""
        self._end_workers()
        self._chores.stop()
        with suppress(PhexploreError):  # whoever opens the project next fetches what is left
            for root in set(self._homes.values()):
                fetch_runs([path for path in self._rows if self._home(path) == root != path.parent], root)

    def _end_workers(self) -> None:
        self._queue = RunQueue()
        for process in list(self._processes.values()):
            process.shut_down()

    # Where runs belong

    @property
    def _held(self) -> set[Path]:
        """Runs that wait or work, and those whose answers they read."""
        own = {*self._queue.waiting, *self._queue.active}
        specs = [row.spec for path, row in self._rows.items() if path in own]
        return own | {path for spec in specs if spec is not None for path in spec.runs_read}

    def _home(self, directory: Path) -> Path:
        return self._homes.get(directory.parent, directory.parent)

    def _is_astray(self, directory: Path) -> bool:
        return self._home(directory) != directory.parent

    def _gather(self) -> None:
        """Move runs to where they belong unless they are at work."""
        held = self._held
        astray = [path for path in self._rows if path not in held and self._is_astray(path)]
        for root in {self._home(path) for path in astray}:
            these = tuple(path for path in astray if self._home(path) == root)
            self._moving.update(these)
            self._do(partial(_fetched, these, root), self._take_moved)

    def _take_moved(self, moved: _Moved) -> None:
        self._moving.difference_update(moved.asked)
        for path, row in moved.rows.items():
            if self._rows.pop(path, None) is not None and row.directory.parent == self._store.root:
                self._rows[row.directory] = row
        self._relocated |= {path: row.directory for path, row in moved.rows.items()}
        self.relocated.emit(self._relocated)
        self._tell()
        if moved.problem is not None:
            self.failed.emit(moved.problem)

    # What the thread of file tasks brings

    def _do(self, task: Callable[[], object], then: Callable[..., object]) -> None:
        self._chores.do(task, partial(self._deliver, then))
        self.busy_changed.emit(True)

    def _deliver(self, then: Callable[..., object], result: object) -> None:
        then(result)
        self.busy_changed.emit(self._chores.is_busy)

    def _on_chore_failed(self, error: PhexploreError) -> None:
        self.busy_changed.emit(self._chores.is_busy)
        self.failed.emit(error)

    def _take_found(self, found: _Found) -> None:
        if found.root != self._store.root:
            return
        held = {*self._queue.waiting, *self._queue.active}
        listed = {row.directory: row for row in found.rows if row.directory not in held}
        own = {path: row for path, row in self._rows.items() if path in held or self._is_astray(path)}
        self._rows = listed | own
        self._tell()

    def _take_new(self, place: Place, row: RunRow) -> None:
        if row.directory.parent not in self._homes:
            return  # it waits in its own project, which is not open any more
        self._rows[row.directory] = row
        self._enqueue(row.directory, place)
        self.launched.emit(row.directory)

    def _forget(self, directory: Path, _nothing: object) -> None:
        self._rows.pop(directory, None)
        self._tell()

    # The queue and its workers

    def _enqueue(self, directory: Path, place: Place) -> None:
        self._places[directory] = place
        self._queue = enqueue(self._queue, directory)
        self._start_due()

    def _start_due(self) -> None:
        for directory in self._queue.due:
            self._queue = activate(self._queue, directory)
            process = self._make_process(directory, self, place=self._places.pop(directory, HERE))
            self._processes[directory] = process
            process.reported.connect(self._on_event)
            process.state_changed.connect(self._on_state)
            process.start()
        self._renumber()
        self._tell()

    def _renumber(self) -> None:
        for directory in list(self._rows):
            waits = None
            if directory in self._queue.waiting:
                waits = len(self._queue.active) + self._queue.waiting.index(directory)
            self._rows[directory] = replace(self._rows[directory], waits_behind=waits)

    def _sender_directory(self) -> Path:
        """Return whose signal is being handled. A closure would keep the desk alive with every process."""
        sender = self.sender()
        return next(path for path, process in self._processes.items() if process is sender)

    def _on_state(self, state: RunState) -> None:
        directory = self._sender_directory()
        self._rows[directory] = replace(self._rows[directory], state=state)
        self._tell()

    def _on_event(self, event: Event) -> None:
        directory = self._sender_directory()
        before = self._rows[directory]
        self._rows[directory] = after_event(before, event)
        if isinstance(event, Finished | Failed):
            self._on_end(directory, event)
            return
        if self._rows[directory].trials != before.trials:
            self._moved.add(directory)
        self._news.request(None)

    def _on_end(self, directory: Path, final: Finished | Failed) -> None:
        process = self._processes.pop(directory)
        process.deleteLater()
        self._rows[directory] = replace(self._rows[directory], state=process.state)
        self._queue = leave(self._queue, directory)
        self._moved.add(directory)
        self._do(lambda: _close(directory, final), partial(self._take_end, directory))
        self._start_due()

    def _take_end(self, directory: Path, entry: RunEntry) -> None:
        row = self._rows.get(directory)
        if row is None or directory in self._queue.active:
            return
        ended = self._rows[directory] = replace(row, state=entry.state, trials=entry.trials)
        if self._home(directory) == directory.parent != self._store.root:
            del self._rows[
                directory
            ]  # the project was saved under another name; the run stays with the file it was started in
        self._gather()
        self._tell()
        self.progressed.emit(directory)
        self.ended.emit(ended)

    def _demand(self, directory: Path, action: RunAction) -> RunRow:
        row = self._rows.get(directory)
        if row is None:
            raise RunNotPossibleError(f"There is no run in {directory}.", "Choose one of the list.")
        if directory in self._moving:
            raise RunNotPossibleError("The run is being moved beside the project.", "Try again in a moment.")
        if (reason := refusal(row, action)) is not None:
            raise RunNotPossibleError(reason, "Choose another run, or wait until its state allows it.")
        return row

    def _tell(self) -> None:
        self.changed.emit(self.rows)

    def _tell_progress(self, _nothing: object) -> None:
        moved, self._moved = self._moved, set()
        self._tell()
        for directory in moved:
            self.progressed.emit(directory)


def _forget_result(_nothing: object) -> None:
    """Take the result of a task that has none."""


def _fetched(directories: tuple[Path, ...], root: Path) -> _Moved:
    rows: dict[Path, RunRow] = {}
    for directory in directories:
        try:
            moved = fetch_runs([directory], root)
        except PhexploreError as error:
            return _Moved(directories, rows, error)
        rows |= {before: _described(describe_run(after)) for before, after in moved.items()}
    return _Moved(directories, rows)


def _examined(spec: RunSpec, store: RunStore, place: Place) -> DoubtedRun:
    return DoubtedRun(spec, store, warning_about(spec.scenario, spec.data), place)


def _made(run: DoubtedRun, now: datetime) -> RunRow:
    """Make the directory of a run, with the name of whoever overruled the guard."""
    directory = run.store.create(run.spec, now)
    if run.doubt is not None:
        directory.chmod(0o700)  # what is counted there is for its owner only
        record_override(directory, run.doubt, person_here(), now)
    return _described(describe_run(directory))


def _described(entry: RunEntry) -> RunRow:
    """Return the row of a run with what its record tells; the reason of a failure stands in its last event."""
    row = row_of(entry)
    for event in load_events(entry.directory):
        row = replace(after_event(row, event), trials=entry.trials)
    return row


def _close(directory: Path, final: Finished | Failed) -> RunEntry:
    """Record an end the worker could not record, and look at what is on disk."""
    try:
        record_final(directory, final)
    except OSError as error:
        raise RunNotPossibleError(
            f"The end of the run in {directory} could not be recorded ({error.strerror or error}).",
            "Free some space; finished trials are kept.",
        ) from error
    return describe_run(directory)


def _fresh(spec: RunSpec) -> RunSpec:
    """Return the specification as this version of the program makes it."""
    return RunSpec(
        spec.scenario,
        spec.data,
        spec.trials,
        spec.seed,
        mode=spec.mode,
        workers=spec.workers,
        stop=spec.stop,
        options=spec.options,
    )
