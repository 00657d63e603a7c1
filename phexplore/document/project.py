"""The open project: the current workbook, its history, the file it lives in and the journal beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from phexplore.document.history import History, Step
from phexplore.errors import PhexploreError
from phexplore.files.journal import Journal, journal_path, recover, refuse_if_in_use
from phexplore.files.project_file import LoggedStep, ProjectContent, read_project, single, write_project
from phexplore.files.whole import read_text, write_whole
from phexplore.model.approval import Decision, DecisionError, decided
from phexplore.model.issues import Issue
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook, replace_active

PREVIOUS_SUFFIX = ".previous"
"""The content before the last save stays beside the file under this suffix."""

Listener = Callable[[Workbook, Workbook], None]


class FileChangedError(PhexploreError):
    """Another program changed the project file since it was opened or saved."""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Project:
    """A workbook with unlimited undo that survives a crash.

    Attributes:
        path: the project file, None until the first save.
        issues: what was wrong with the file when it was opened.
        recovered: how many edits were brought back from the journal of a program that did not end properly.
        decisions: who recommended and approved what, oldest first; undo does not touch them, saving keeps them.
    """

    def __init__(
        self, content: ProjectContent, path: Path | None, scratch: Path | None, *, base: bytes, recovered: int
    ) -> None:
        """Use `Project.new`, `Project.open` or `Project.rescue`."""
        self.path = path
        self.issues: tuple[Issue, ...] = content.issues
        self.recovered = recovered
        self.decisions: tuple[Decision, ...] = content.decisions
        self._scratch = scratch
        self._base = base
        self._history = History([Step(s.label, s.workbook, s.at) for s in content.steps], content.cursor)
        self._journal: Journal | None = None
        if (home := path or scratch) is not None:
            self._journal = _journal_of(home, base, content if recovered else None)
        if recovered:
            self._history.forget_saved()

    @classmethod
    def new(cls, workbook: Workbook, label: str = "New project", *, scratch: Path | None = None) -> Project:
        """Return an unsaved project.

        Args:
            workbook: its content.
            label: name of the first step.
            scratch: a file for the journal of a project that has no file yet, so that a crash loses nothing.
        """
        content = single(workbook, label, _now())
        base = write_project(content)
        if scratch is not None:
            write_whole(scratch, base)
        return cls(content, None, scratch, base=base, recovered=0)

    @classmethod
    def open(cls, path: Path) -> Project:
        """Open a project file and bring back edits that were never saved.

        Raises:
            InputProblemsError: the file cannot be understood.
            JournalInUseError: another window has it open.
            PhexploreError: the file cannot be read.
        """
        content, base, recovered = _read(path)
        return cls(content, path, None, base=base, recovered=recovered)

    @classmethod
    def rescue(cls, scratch: Path) -> Project:
        """Open what a program that did not end properly left of an unsaved project.

        Raises:
            PhexploreError: it cannot be read, or another window is using it.
        """
        content, base, recovered = _read(scratch)
        return cls(content, None, scratch, base=base, recovered=recovered)

    @property
    def workbook(self) -> Workbook:
        """The current version."""
        return self._history.current

    @property
    def scenario(self) -> Scenario:
        """The active scenario of the current version."""
        return self.workbook.scenario

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of all steps, undone ones included."""
        return tuple(step.label for step in self._history.steps)

    @property
    def steps(self) -> Sequence[Step[Workbook]]:
        """All versions with label and time."""
        return self._history.steps

    @property
    def cursor(self) -> int:
        """Index of the current version."""
        return self._history.cursor

    @property
    def can_undo(self) -> bool:
        """Whether there is an earlier version."""
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone version."""
        return self._history.can_redo

    @property
    def is_clean(self) -> bool:
        """Whether the current version is the one on disk."""
        return self.path is not None and self._history.is_saved

    @property
    def saved_workbook(self) -> Workbook | None:
        """The version on disk, None before the first save or when the log no longer holds it."""
        return self._history.saved if self.path is not None else None

    def commit(self, label: str, workbook: Workbook, merge_key: object = None) -> bool:
        """Make `workbook` current as one named step; return whether anything changed."""
        before = len(self._history.steps), self._history.cursor
        at = _now()
        pending = LoggedStep(label, at, workbook)
        changed = self._history.commit(label, workbook, at=at, merge_key=merge_key)
        if changed:
            self._record(pending, merged=self._history.cursor == before[1])
        return changed

    def edit(self, label: str, change: Callable[[Scenario], Scenario], merge_key: object = None) -> bool:
        """Apply an edit to the active scenario as one named step; return whether anything changed.

        Raises:
            PhexploreError: the edit was refused; nothing was changed.
        """
        return self.commit(label, replace_active(self.workbook, change(self.scenario)), merge_key)

    def end_merge(self) -> None:
        """Close the step being merged (the slider was released)."""
        self._history.end_merge()

    def undo(self) -> None:
        """Go one step back."""
        self.go_to(self.cursor - 1)

    def redo(self) -> None:
        """Go one step forward."""
        self.go_to(self.cursor + 1)

    def go_to(self, cursor: int) -> None:
        """Make the version with this index current; an index outside the history does nothing."""
        if self._history.go_to(cursor) and self._journal is not None:
            self._journal.moved(self.cursor)

    def listen(self, listener: Listener) -> None:
        """Call `listener(before, after)` after every change."""
        self._history.listen(listener)

    def content(self) -> ProjectContent:
        """Return what would be saved now."""
        steps = tuple(LoggedStep(step.label, step.at, step.value) for step in self._history.steps)
        return ProjectContent(steps, self.cursor, decisions=self.decisions)

    def save(self, path: Path | None = None, *, overwrite_foreign: bool = False) -> None:
        """Write the project, to another file if `path` is given; the file's previous content is kept beside it.

        Raises:
            FileChangedError: another program changed the file meanwhile, unless `overwrite_foreign`.
            WriteError: it could not be written; the old file is untouched.
            ValueError: no path is known yet.
        """
        target = path or self.path
        if target is None:
            raise ValueError("the project has no file yet; give a path")
        if target == self.path and not overwrite_foreign and self._changed_by_another(target):
            raise FileChangedError(
                f"{target.name} was changed by another program since it was opened.",
                "Save under another name, or overwrite the other program's version.",
            )
        if target != self.path:
            refuse_if_in_use(journal_path(target))
        content = write_project(self.content())
        write_whole(target, content, keep_previous=PREVIOUS_SUFFIX)
        self._drop_journal()
        self.path, self._scratch, self._base = target, None, content
        self._history.mark_saved()
        self._journal = _journal_of(target, content, None)

    def decide(self, decision: Decision) -> None:
        """Record a decision and save it at once: it counts when it is on disk.

        Raises:
            DecisionError: the project has unsaved edits, or the decision does not follow from the ones before it.
            PhexploreError: it could not be saved; then it was not made.
        """
        if not self.is_clean:
            raise DecisionError("The project has edits that are not saved.", "Save it, then decide.")
        before = self.decisions
        self.decisions = decided(before, decision)
        try:
            self.save()
        except PhexploreError:
            self.decisions = before
            raise

    def flush(self) -> None:
        """Force the journal to disk; the window calls it within a second of an edit."""
        if self._journal is not None:
            self._journal.flush()

    def close(self) -> None:
        """End the session on purpose: the journal goes, unsaved edits with it."""
        self._drop_journal()

    def _drop_journal(self) -> None:
        if self._journal is not None:
            self._journal.close(remove=True)
            self._journal = None
        if self._scratch is not None:
            self._scratch.unlink(missing_ok=True)

    def _record(self, step: LoggedStep, *, merged: bool) -> None:
        if self._journal is None:
            return
        before = self._history.steps[self.cursor - 1]
        self._journal.step(LoggedStep(before.label, before.at, before.value), step, cursor=self.cursor, merged=merged)

    def _changed_by_another(self, path: Path) -> bool:
        return path.exists() and path.read_bytes() != self._base


def _read(path: Path) -> tuple[ProjectContent, bytes, int]:
    refuse_if_in_use(journal_path(path))
    text = read_text(path)
    base = path.read_bytes()
    content, recovered = recover(journal_path(path), base, read_project(text, name=path.name))
    return content, base, recovered


def _journal_of(path: Path, base: bytes, recovered: ProjectContent | None) -> Journal:
    """Start the journal of a file; recovered steps go back into it, so that a second crash loses nothing either."""
    if recovered is None:
        return Journal(journal_path(path), base)
    on_disk, steps = read_project(base.decode("utf-8-sig"), name=path.name).steps, recovered.steps
    same = 0
    while same < min(len(steps), len(on_disk)) and steps[same] == on_disk[same]:
        same += 1
    return Journal(journal_path(path), base, steps, first=same, cursor=recovered.cursor)
