"""Where the runs of a project belong: listed from its folder, moved there when the project was saved. No widget in here."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from phexplore.errors import PhexploreError
from phexplore.gui.binding.tasks import Tasks
from phexplore.gui.run_manager.run_list import RunList
from phexplore.gui.run_manager.run_rows import RunRow, after_event, row_of
from phexplore.gui.run_manager.run_workers import RunWorkers
from phexplore.runs.belonging import fetch_runs
from phexplore.runs.store import RunEntry, RunStore, describe_run, load_events


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


class RunHomes(QObject):
    """Looks after the folder of a project's runs; a run a worker is at moves when it has ended.

    Signals:
        relocated: where all runs are now (`Path` by `Path`) that were moved with their project; before the list changes.
        failed: a `PhexploreError`: a run could not be moved.
    """

    relocated = Signal(object)
    failed = Signal(object)

    def __init__(self, root: Path, listed: RunList, workers: RunWorkers, tasks: Tasks, parent: QObject) -> None:
        """Look after a folder.

        Args:
            root: folder of runs; need not exist.
            listed: filled with the runs of the folder, and those of the project that are still elsewhere.
            workers: at whose runs no file is moved.
            tasks: does what is done with files.
            parent: owner.
        """
        super().__init__(parent)
        self.root = root
        self.moving: set[Path] = set()
        self._homes: dict[Path, Path] = {root: root}
        """Where runs belong that are in one of the project's folders: elsewhere once the unsaved project was saved."""
        self._relocated: dict[Path, Path] = {}
        self._listed, self._workers, self._tasks = listed, workers, tasks

    def of(self, folder: Path) -> Path | None:
        """Return where the runs in a folder belong, None when it is not one of the open project."""
        return self._homes.get(folder)

    def now(self, directory: Path) -> Path:
        """Return where a run is now that was moved with its project."""
        return self._relocated.get(directory, directory)

    def is_left(self, directory: Path) -> bool:
        """Return whether a run stays with a file: the project was saved under another name meanwhile."""
        return self._home(directory) == directory.parent != self.root

    def follow(self, root: Path, *, takes_runs: bool) -> None:
        """Look after the folder of the project's new file; runs that wait or work go on and stay listed.

        Args:
            root: the folder.
            takes_runs: whether the runs there are come along, as those of a project that had no file do. Runs at work move
                when they have ended. Else they stay where they were started.
        """
        before = self.root
        if root == before:
            return
        if takes_runs:
            self._homes = {path: root if home == before else home for path, home in self._homes.items()}
        self.root, self._homes = root, self._homes | {root: root}
        self._listed.rows = self._kept(self._held)
        self._listed.tell()
        self.gather()
        self.reread()

    def leave(self, root: Path, *, discard: bool) -> None:
        """Look after another project, when the workers of the one before have ended, and list none of its runs.

        Args:
            root: folder of the other project's runs.
            discard: whether the folder of the runs before is removed: its project was given up.
        """
        before = self.root
        self.gather()
        self._listed.rows = {}
        self.root, self._homes = root, {root: root}
        if discard and before != root:
            self._tasks.do(lambda: shutil.rmtree(before, ignore_errors=True), lambda _nothing: None)
        self._listed.tell()
        self.reread()

    def fetch(self, find: Callable[[], Iterable[Path]]) -> None:
        """Move runs here that were left elsewhere; those a worker is at are left out."""
        root = self.root
        self._tasks.do(lambda: fetch_runs(find(), root), lambda moved: self.reread() if moved else None)

    def reread(self) -> None:
        """Look at the folder again."""
        store = RunStore(self.root)
        self._tasks.do(lambda: _Found(store.root, tuple(map(described, store.entries()))), self._take_found)

    def gather(self) -> None:
        """Move runs to where they belong unless they are at work."""
        held = self._held
        astray = [path for path in self._listed.rows if path not in held and self._is_astray(path)]
        for root in {self._home(path) for path in astray}:
            these = tuple(path for path in astray if self._home(path) == root)
            self.moving.update(these)
            self._tasks.do(partial(_fetched, these, root), self._take_moved)

    def gather_at_last(self) -> None:
        """Move runs to where they belong, because the window closes; whoever opens the project next fetches what is left."""
        with suppress(PhexploreError):
            for root in set(self._homes.values()):
                fetch_runs([path for path in self._listed.rows if self._home(path) == root != path.parent], root)

    @property
    def _held(self) -> set[Path]:
        """Runs that wait or work, and those whose answers they read."""
        own = self._workers.runs
        specs = [row.spec for path, row in self._listed.rows.items() if path in own]
        return own | {path for spec in specs if spec is not None for path in spec.runs_read}

    def _home(self, directory: Path) -> Path:
        return self._homes.get(directory.parent, directory.parent)

    def _is_astray(self, directory: Path) -> bool:
        return self._home(directory) != directory.parent

    def _kept(self, held: set[Path]) -> dict[Path, RunRow]:
        """Return the rows that stay whatever the folder holds."""
        return {path: row for path, row in self._listed.rows.items() if path in held or self._is_astray(path)}

    def _take_moved(self, moved: _Moved) -> None:
        self.moving.difference_update(moved.asked)
        rows = self._listed.rows
        for path, row in moved.rows.items():
            if rows.pop(path, None) is not None and row.directory.parent == self.root:
                rows[row.directory] = row
        self._relocated |= {path: row.directory for path, row in moved.rows.items()}
        self.relocated.emit(self._relocated)
        self._listed.tell()
        if moved.problem is not None:
            self.failed.emit(moved.problem)

    def _take_found(self, found: _Found) -> None:
        if found.root != self.root:
            return
        held = self._workers.runs
        self._listed.rows = {row.directory: row for row in found.rows if row.directory not in held} | self._kept(held)
        self._listed.tell()


def _fetched(directories: tuple[Path, ...], root: Path) -> _Moved:
    rows: dict[Path, RunRow] = {}
    for directory in directories:
        try:
            moved = fetch_runs([directory], root)
        except PhexploreError as error:
            return _Moved(directories, rows, error)
        rows |= {before: described(describe_run(after)) for before, after in moved.items()}
    return _Moved(directories, rows)


def described(entry: RunEntry) -> RunRow:
    """Return the row of a run with what its record tells; the reason of a failure stands in its last event."""
    row = row_of(entry)
    for event in load_events(entry.directory):
        row = replace(after_event(row, event), trials=entry.trials)
    return row
