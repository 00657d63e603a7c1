"""All runs of a project as the window sees them: how they are made, driven, and ended. No widget in here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from phexplore.errors import PhexploreError
from phexplore.gui.binding.run_process import RunProcess
from phexplore.gui.binding.tasks import Tasks
from phexplore.gui.run_manager.launch_form import LaunchRequest
from phexplore.gui.run_manager.run_homes import RunHomes, described
from phexplore.gui.run_manager.run_list import RunList
from phexplore.gui.run_manager.run_rows import RunAction, RunRow, refusal
from phexplore.gui.run_manager.run_workers import MakeProcess, RunWorkers
from phexplore.model.scenario import Scenario
from phexplore.runs.confidentiality import ConfidentialityWarning, person_here, record_override, salt_for, warning_about
from phexplore.runs.events import Failed, Finished
from phexplore.runs.place import HERE, Place
from phexplore.runs.spec import RunSpec, data_of
from phexplore.runs.states import RunState
from phexplore.runs.store import RunEntry, RunStore, describe_run, record_final


class RunNotPossibleError(PhexploreError):
    """Something was asked of a run that its state does not allow."""


def _now() -> datetime:
    return datetime.now(UTC)


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
        self._now = now
        self._tasks = Tasks(self)
        self._tasks.failed.connect(self.failed)
        self._tasks.busy_changed.connect(self.busy_changed)
        self._listed = RunList(self)
        self._listed.changed.connect(self.changed)
        self._listed.progressed.connect(self.progressed)
        self._workers = RunWorkers(make_process, self)
        self._workers.state_changed.connect(self._listed.show_state)
        self._workers.reported.connect(self._listed.add_event)
        self._workers.ended.connect(self._on_end)
        self._workers.queue_changed.connect(self._listed.number)
        self.homes = RunHomes(root, self._listed, self._workers, self._tasks, self)
        self.homes.relocated.connect(self.relocated)
        self.homes.failed.connect(self.failed)
        self.homes.reread()

    @property
    def rows(self) -> tuple[RunRow, ...]:
        """All runs, newest first, as of now."""
        return self._listed.newest_first

    @property
    def active(self) -> tuple[RunRow, ...]:
        """Runs with a worker, in the order they started."""
        rows = self._listed.rows
        return tuple(rows[path] for path in self._workers.queue.active if path in rows)

    @property
    def is_busy(self) -> bool:
        """Whether data is being described or files are being worked on."""
        return self._tasks.is_busy

    def row(self, directory: Path) -> RunRow | None:
        """Return one run, also by the directory it was moved from; None when it is not here."""
        return self._listed.rows.get(self.homes.now(directory))

    def leave(self, root: Path, *, discard: bool) -> None:
        """Look after another project: end the workers of the one before and list none of its runs. Blocks for seconds at most.

        Args:
            root: folder of the other project's runs.
            discard: whether the folder of the runs before is removed: its project was given up.
        """
        self._workers.end_all()
        self.homes.leave(root, discard=discard)

    def launch(self, scenario: Scenario, request: LaunchRequest) -> None:
        """Describe the data, make the run and put it in the queue; data that may be confidential wait for `confirm`."""
        store = RunStore(self.homes.root)

        def examine() -> DoubtedRun:
            return _examined(
                request.spec(scenario, data_of(scenario, request.settings.path)), store, request.settings.where
            )

        self._tasks.do(examine, self._take_examined)

    def repeat(self, directory: Path, place: Place = HERE) -> None:
        """Make a new run with the specification of another one: the same bytes when it has a seed, wherever it is computed."""
        row = self._demand(directory, RunAction.RERUN)
        spec, store = row.spec, RunStore(self.homes.root)
        if spec is not None:
            self._tasks.do(lambda: _examined(_fresh(spec), store, place), self._take_examined)

    def confirm(self, doubted: DoubtedRun) -> None:
        """Make a run in spite of the warning; who did so, when and on which content is written into its record."""
        if (home := self.homes.of(doubted.store.root)) is None:
            return  # it was asked for in a project that is not open any more
        here = replace(doubted, store=RunStore(home))
        self._tasks.do(lambda: _made(here, self._now()), partial(self._take_new, doubted.place))

    def _take_examined(self, examined: DoubtedRun) -> None:
        if examined.doubt is None:
            self.confirm(examined)
        elif self.homes.of(examined.store.root) is not None:
            self.doubted.emit(examined)

    def pause(self, directory: Path) -> None:
        """Let a run rest after the current piece of work."""
        self._demand(directory, RunAction.PAUSE)
        self._workers.pause(directory)

    def resume(self, directory: Path, place: Place = HERE) -> None:
        """Let a paused run go on; start a cancelled, interrupted or failed one again, its finished trials count.

        Args:
            directory: of the run.
            place: where it is computed from now on: a person says so, never a file. A paused run goes on where it is.

        Raises:
            RunNotPossibleError: it is not paused, cancelled, interrupted or failed.
        """
        row = self._demand(directory, RunAction.RESUME)
        if row.state is RunState.PAUSED:
            self._workers.resume(directory)
            return
        self._listed.rows[directory] = replace(row, state=RunState.QUEUED, problem="", remedy="", details="", phase="")
        self._workers.enqueue(directory, place)

    def cancel(self, directory: Path) -> None:
        """Stop a run; finished trials are kept. A run that waits leaves the queue."""
        row = self._demand(directory, RunAction.CANCEL)
        if self._workers.cancel(directory):
            return
        self._workers.withdraw(directory)
        self._listed.rows[directory] = replace(row, state=RunState.CANCELLED)
        self._listed.number(self._workers.queue)

    def remove(self, directory: Path) -> None:
        """Delete a run and its files."""
        self._demand(directory, RunAction.DELETE)
        self._workers.withdraw(directory)
        store = RunStore(directory.parent)

        def forget(_nothing: object) -> None:
            self._listed.rows.pop(directory, None)
            self._listed.tell()

        self._tasks.do(lambda: store.remove(directory), forget)

    def attempt(self, act: Callable[[], object]) -> None:
        """Do what a state may not allow; `failed` says why it was not done."""
        try:
            act()
        except PhexploreError as error:
            self.failed.emit(error)

    def shut_down(self) -> None:
        """End all workers because the window closes; their finished trials stay. Blocks for at most a few seconds."""
        self._workers.end_all()
        self._tasks.stop()
        self.homes.gather_at_last()

    def _take_new(self, place: Place, row: RunRow) -> None:
        if self.homes.of(row.directory.parent) is None:
            return  # it waits in its own project, which is not open any more
        self._listed.rows[row.directory] = row
        self._workers.enqueue(row.directory, place)
        self.launched.emit(row.directory)

    def _on_end(self, directory: Path, final: Finished | Failed, state: RunState) -> None:
        self._listed.add_end(directory, final, state)
        self._tasks.do(lambda: _close(directory, final), partial(self._take_end, directory))

    def _take_end(self, directory: Path, entry: RunEntry) -> None:
        rows = self._listed.rows
        row = rows.get(directory)
        if row is None or directory in self._workers.queue.active:
            return
        ended = rows[directory] = replace(row, state=entry.state, trials=entry.trials)
        if self.homes.is_left(directory):
            del rows[directory]
        self.homes.gather()
        self._listed.tell()
        self.progressed.emit(directory)
        self.ended.emit(ended)

    def _demand(self, directory: Path, action: RunAction) -> RunRow:
        row = self._listed.rows.get(directory)
        if row is None:
            raise RunNotPossibleError(f"There is no run in {directory}.", "Choose one of the list.")
        if directory in self.homes.moving:
            raise RunNotPossibleError("The run is being moved beside the project.", "Try again in a moment.")
        if (reason := refusal(row, action)) is not None:
            raise RunNotPossibleError(reason, "Choose another run, or wait until its state allows it.")
        return row


def _examined(spec: RunSpec, store: RunStore, place: Place) -> DoubtedRun:
    doubt = warning_about(spec.scenario, spec.data)
    return DoubtedRun(replace(spec, salt=salt_for(doubt)), store, doubt, place)


def _made(run: DoubtedRun, now: datetime) -> RunRow:
    """Make the directory of a run, with the name of whoever overruled the guard."""
    directory = run.store.create(run.spec, now)
    if run.doubt is not None:
        record_override(directory, run.doubt, person_here(), now)
    return described(describe_run(directory))


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
