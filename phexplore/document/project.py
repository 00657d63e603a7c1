"""The open project: the current workbook, its history, the file it lives in and the journal beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from phexplore.document.history import History, Step
from phexplore.document.soundness import FAILURES, refusal, require_sound, sound_content
from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import WriteError, remove_parts, text_of, write_atomically
from phexplore.files.journal import SUFFIX, Journal, journal_path, left_over, recover, refuse_if_in_use
from phexplore.files.project_file import LoggedStep, ProjectContent, encode_step, read_project, single, write_project
from phexplore.files.project_salvage import salvage_project
from phexplore.model.approval import Decision, DecisionError, decided
from phexplore.model.issues import InputProblemsError, Issue, Severity
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook, replace_active
from phexplore.opening import read_bytes

PREVIOUS_SUFFIX = ".previous"
"""The content before the last save stays beside the file under this suffix."""

KEPT_SUFFIX = ".kept"
"""A journal whose edits belong to another state of the file is kept under its name and this suffix."""

Listener = Callable[[Workbook, Workbook], None]
Refuge = Callable[[Path], Path]
"""Returns where edits of a project are kept while they cannot be kept beside its file."""


class FileChangedError(PhexploreError):
    """Another program changed the project file since it was opened or saved."""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Project:
    """A workbook with unlimited undo that survives a crash.

    Every edit is in the journal beside the file before it is acknowledged. Where that cannot be written (read-only
    folder, full disk, a network drive that is gone) the journal moves to a refuge, with every edit that is not in the
    file.

    Attributes:
        path: the project file, None until the first save.
        scratch: the file that keeps a project that was never saved, None for one that was opened or is kept in no file.
        issues: what was wrong with the file when it was opened.
        recovered: how many edits were brought back from the journal of a program that did not end properly.
        decisions: who recommended and approved what, oldest first; undo does not touch them, saving keeps them.
        trouble: why edits are not kept beside the file and what to do, None while they are.
    """

    def __init__(self, content: ProjectContent, path: Path | None, *, base: bytes, on_disk: ProjectContent) -> None:
        """Use `Project.new`, `Project.open`, `Project.rescue` or `Project.salvage`."""
        self.path = path
        self.scratch: Path | None = None
        self.issues: tuple[Issue, ...] = content.issues
        self.recovered = 0
        self.decisions: tuple[Decision, ...] = content.decisions
        self.trouble: PhexploreError | None = None
        self._scratch: Path | None = None
        self._refuge: Refuge | None = None
        self._base, self._base_content = base, on_disk
        self._history = History([Step(s.label, s.workbook, s.at) for s in content.steps], content.cursor)
        self._journal: Journal | None = None
        self._held: Journal | None = None
        self._is_kept = False

    @classmethod
    def new(
        cls,
        workbook: Workbook,
        label: str = "New project",
        *,
        scratch: Path | None = None,
        refuge: Refuge | None = None,
    ) -> Project:
        """Return an unsaved project.

        Args:
            workbook: its content.
            label: name of the first step.
            scratch: a file for the journal of a project that has no file yet, so that a crash loses nothing.
            refuge: where edits are kept when they cannot be kept beside the file, once there is one.

        Raises:
            PhexploreError: the figures of a scenario cannot be computed.
        """
        require_sound(workbook)
        return cls._unsaved(single(workbook, label, _now()), scratch, refuge)

    @classmethod
    def salvage(cls, path: Path, *, scratch: Path | None = None, refuge: Refuge | None = None) -> Project:
        """Return an unsaved project with what can be read of a damaged file; `issues` name the rest.

        Args:
            path: of the damaged file.
            scratch: file that holds the project, with a journal beside it, until it is saved; None for none.
            refuge: where edits are kept when the journal cannot be written.

        Raises:
            InputProblemsError: nothing of it can be read.
        """
        return cls._unsaved(sound_content(salvage_project(path), path.name), scratch, refuge)

    @classmethod
    def open(cls, path: Path, *, refuge: Refuge | None = None) -> Project:
        """Open a project file and bring back edits that were never saved.

        Args:
            path: of the file.
            refuge: where edits are kept when they cannot be kept beside the file, and looked for.

        Raises:
            InputProblemsError: the file cannot be understood.
            JournalInUseError: another window has it open.
            PhexploreError: the file cannot be read.
        """
        return cls._opened(path, path, refuge)

    @staticmethod
    def interrupted_edits(path: Path, *, refuge: Refuge | None = None) -> int | None:
        """Return how many edits `open` would bring back to a file that a program left without closing it.

        Nothing is changed. None for a file that was closed, is open in a window, or cannot be read.

        Args:
            path: of the file.
            refuge: where else edits are looked for.
        """
        journals = [journal_path(path)]
        if refuge is not None and (shelter := refuge(path)).exists():
            journals.append(journal_path(shelter))
        try:
            if not any(journal.stat().st_size for journal in journals if journal.exists()):
                return None
            for journal in journals:
                refuse_if_in_use(journal)
            base = read_bytes(path)
            content = read_project(text_of(base, path), name=path.name)
            return max(recover(journal, base, content)[1] for journal in journals)
        except (PhexploreError, OSError):
            return None

    @classmethod
    def rescue(cls, scratch: Path, *, refuge: Refuge | None = None) -> Project:
        """Open what a program that did not end properly left of an unsaved project.

        Args:
            scratch: file beside which the journal was left.
            refuge: where edits are kept when the journal cannot be written.

        Raises:
            PhexploreError: it cannot be read, or another window is using it.
        """
        return cls._opened(scratch, None, refuge)

    @classmethod
    def _unsaved(cls, content: ProjectContent, scratch: Path | None, refuge: Refuge | None) -> Project:
        base = write_project(content)
        project = cls(content, None, base=base, on_disk=content)
        project._refuge, project._scratch, project.scratch = refuge, scratch, scratch
        if scratch is not None:
            project._is_kept = True
            try:
                write_atomically(scratch, base)
                project._journal = Journal(journal_path(scratch))
                project._journal.restart(base)
            except WriteError as error:
                project._flee(error)
        return project

    @classmethod
    def _opened(cls, home: Path, path: Path | None, refuge: Refuge | None) -> Project:
        journal, reason = _taken(journal_path(home))
        fled: Journal | None = None
        try:
            base = read_bytes(home)
            on_disk = read_project(text_of(base, home), name=home.name)
            content, recovered = recover(journal_path(home), base, on_disk)
            if path is not None and refuge is not None and (shelter := refuge(path)).exists():
                fled = Journal(journal_path(shelter))
                elsewhere, count = recover(journal_path(shelter), base, on_disk)
                content, recovered = (elsewhere, count) if count else (content, recovered)
            read = content
            content = sound_content(content, home.name)
        except BaseException:
            for held in (journal, fled):
                if held is not None:
                    held.close(remove=False)
            raise
        remarks = [] if journal is None else _set_aside(journal, home, base)
        content = replace(content, issues=(*content.issues, *remarks, *_clock_remarks(content.steps)))
        project = cls(content, path, base=base, on_disk=on_disk)
        project._refuge, project._is_kept, project.recovered = refuge, True, recovered
        if path is None:
            project._scratch = project.scratch = home
        if recovered or len(content.steps) != len(read.steps):
            project._history.forget_saved()
        project._begin(journal, reason, fled)
        return project

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
        """Make `workbook` current as one named step; return whether anything changed.

        Every edit of every system passes here, so it is evaluated here: what cannot be computed or written is refused
        before anything changes.

        Args:
            label: of the step, in words.
            workbook: the new version.
            merge_key: equal keys of consecutive steps make them one step; None never merges.

        Raises:
            PhexploreError: the edit was refused; version, history, journal and file are as they were.
        """
        if workbook == self.workbook:
            return False
        at, merges = _now(), self._history.would_merge(merge_key)
        ahead = self._history.steps[self.cursor - merges]
        try:
            require_sound(workbook, self.workbook)
            entry = encode_step(ahead.value, LoggedStep(label, at, workbook))
        except FAILURES as error:
            raise refusal(error) from error
        self._history.commit(label, workbook, at=at, merge_key=merge_key)
        self._keep(lambda journal: journal.step(entry, cursor=self.cursor, merged=merges))
        return True

    def edit(self, label: str, change: Callable[[Scenario], Scenario], merge_key: object = None) -> bool:
        """Apply an edit to the active scenario as one named step; return whether anything changed.

        Args:
            label: of the step, in words.
            change: gives the scenario after the edit.
            merge_key: as in `Project.commit`.

        Raises:
            PhexploreError: the edit was refused; nothing was changed.
        """
        return self.edit_workbook(
            label, lambda workbook: replace_active(workbook, change(workbook.scenario)), merge_key
        )

    def edit_workbook(self, label: str, change: Callable[[Workbook], Workbook], merge_key: object = None) -> bool:
        """Apply an edit to the list of scenarios as one named step; return whether anything changed.

        Args:
            label: of the step, in words.
            change: gives the workbook after the edit.
            merge_key: as in `Project.commit`.

        Raises:
            PhexploreError: the edit was refused; nothing was changed.
        """
        try:
            workbook = change(self.workbook)
        except FAILURES as error:
            raise refusal(error) from error
        return self.commit(label, workbook, merge_key)

    def end_merge(self) -> None:
        """Close the step being merged (the slider was released)."""
        self._history.end_merge()

    def undo(self) -> None:
        """Go one step back; steps of a damaged file that have no figures are passed over."""
        self._go_to_first(range(self.cursor - 1, -1, -1))

    def redo(self) -> None:
        """Go one step forward; steps of a damaged file that have no figures are passed over."""
        self._go_to_first(range(self.cursor + 1, len(self.steps)))

    def go_to(self, cursor: int) -> None:
        """Make the version with this index current; an index outside the history does nothing.

        Raises:
            PhexploreError: the version comes from a damaged file and its figures cannot be computed; nothing was
                changed.
        """
        if not 0 <= cursor < len(self.steps):
            return
        require_sound(self.steps[cursor].value, self.workbook)
        if self._history.go_to(cursor):
            self._keep(lambda journal: journal.moved(self.cursor))

    def _go_to_first(self, cursors: Iterable[int]) -> None:
        for cursor in cursors:
            with suppress(PhexploreError):
                self.go_to(cursor)
                return

    def listen(self, listener: Listener) -> None:
        """Call `listener(before, after)` after every change."""
        self._history.listen(listener)

    def content(self) -> ProjectContent:
        """Return what would be saved now."""
        steps = tuple(LoggedStep(step.label, step.at, step.value) for step in self._history.steps)
        return ProjectContent(steps, self.cursor, decisions=self.decisions)

    def save(self, path: Path | None = None, *, overwrite_foreign: bool = False) -> None:
        """Write the project, to another file if `path` is given; the file's previous content is kept beside it.

        Args:
            path: of the file; None for the project's own.
            overwrite_foreign: whether what another program wrote meanwhile may be lost.

        Raises:
            FileChangedError: another program changed the file meanwhile, unless `overwrite_foreign`.
            JournalInUseError: the other file is open in another window.
            WriteError: it could not be written; the old file is untouched.
            ValueError: no path is known yet.
        """
        target = path or self.path
        if target is None:
            raise ValueError("the project has no file yet; give a path")
        if not target.parent.is_dir():
            raise WriteError(
                f"{target} could not be written: the folder is not there.",
                "Nothing was lost. Connect the drive again, or save under another name.",
            )
        if target == self.path and not overwrite_foreign and self._changed_by_another(target):
            raise FileChangedError(
                f"{target.name} was changed by another program since it was opened.",
                "Save under another name, or overwrite the other program's version.",
            )
        content = self.content()
        encoded = write_project(content)
        beside = self._journal_beside(target)
        try:
            write_atomically(target, encoded, keep_previous=PREVIOUS_SUFFIX, keep_link=True)
        except WriteError:
            if beside is not None and beside not in {self._journal, self._held}:
                beside.close(remove=False)
            raise
        self._settle(target, encoded, content, beside)

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

    def flush(self) -> bool:
        """Force the journal to disk; the window calls it within a second of an edit. A refusal is in `trouble`.

        Returns:
            Whether every edit is on disk, in the file or in a journal.
        """
        self._keep(lambda journal: journal.flush())
        return self.is_clean or self._journal is not None

    def close(self) -> None:
        """End the session on purpose: the journal goes, unsaved edits with it."""
        self._drop(self._journal, self._held)
        self._journal = self._held = None
        self._drop_scratch()
        self._is_kept = False

    def resume(self) -> None:
        """Go on with a project that was closed because another one was to take its place, and did not."""
        self._is_kept = self.path is not None
        self._keep(lambda journal: journal.flush())

    def _keep(self, write: Callable[[Journal], None]) -> None:
        """Write to the journal; where that is refused, go on in the refuge with everything that is not in the file."""
        if not self._is_kept:
            return
        try:
            if self._journal is None:
                self._come_back()
            else:
                write(self._journal)
        except PhexploreError as error:
            self._flee(error)

    def _come_back(self) -> None:
        """Begin the journal anew after edits were kept in no file, with all of them."""
        home = self.path or self._scratch
        if home is None:
            return
        journal = self._held or Journal(journal_path(home))
        try:
            self._restart(journal)
        except WriteError:
            if journal is not self._held:
                journal.close(remove=False)
            raise
        self._journal, self._held, self.trouble = journal, None, None

    def _flee(self, reason: PhexploreError) -> None:
        """Keep the edits in the refuge, with all that are not in the file; `trouble` says what became of them."""
        before, self._journal = self._journal, None
        home = self.path or self._scratch
        shelter = None
        if self._refuge is not None and home is not None:
            with suppress(OSError):
                shelter = self._refuge(home)
        if shelter is None or not self._shelters(shelter):
            self._held = before or self._held  # what it holds is better than nothing
            self.trouble = PhexploreError(
                f"{reason.sentence} New edits are in this window only: a crash would lose them.",
                "Free space, or save the project under another name now.",
            )
            return
        if before is not None and self.path is not None and before.path == journal_path(self.path):
            before.retire()
            self._held = before
        else:
            self._drop(before)
        if shelter != self._scratch:
            self._drop_scratch()
        self._scratch = shelter
        self.trouble = PhexploreError(
            f"{reason.sentence} Edits are kept in the program's own folder and come back after a crash.",
            "Save the project under another name, or free its folder and save it.",
        )

    def _shelters(self, shelter: Path) -> bool:
        """Start the journal in the refuge; return whether that was possible."""
        journal: Journal | None = None
        try:
            write_atomically(shelter, self._base)
            journal = Journal(journal_path(shelter))
            self._restart(journal)
        except PhexploreError:
            if journal is not None:
                journal.close(remove=False)
            return False
        self._journal = journal
        return True

    def _begin(self, journal: Journal | None, reason: PhexploreError | None, fled: Journal | None) -> None:
        """Start the journal of a file just opened; what was recovered goes back into it."""
        if journal is not None:
            try:
                self._restart(journal)
            except WriteError as error:
                reason, self._held = error, journal
            else:
                self._journal = journal
        if fled is not None:
            fled.close(remove=self._journal is not None)
            if self._journal is not None:
                with suppress(OSError):
                    fled.path.with_name(fled.path.name.removesuffix(SUFFIX)).unlink(missing_ok=True)
        if self._journal is None and reason is not None:
            self._flee(reason)

    def _restart(self, journal: Journal) -> None:
        """Begin a journal with every step that is not in the file."""
        now, then = self.content(), self._base_content
        if now.steps == then.steps and now.cursor == then.cursor:
            journal.restart(self._base)
            return
        same = 0
        while same < min(len(now.steps), len(then.steps)) and now.steps[same] == then.steps[same]:
            same += 1
        journal.restart(self._base, now.steps, first=same, cursor=now.cursor)

    def _journal_beside(self, target: Path) -> Journal | None:
        """Return the journal of a file that is about to be written, held by this process; None if it cannot be had."""
        for held in (self._journal, self._held):
            if held is not None and held.path == journal_path(target):
                return held
        return _taken(journal_path(target))[0]

    def _settle(self, target: Path, encoded: bytes, content: ProjectContent, beside: Journal | None) -> None:
        """Take note of a file that was written: from now on the journal begins with it."""
        self._drop(*(held for held in (self._journal, self._held) if held is not beside))
        self._drop_scratch()
        self.path, self._base, self._base_content = target, encoded, content
        self._history.mark_saved()
        self._is_kept, self.trouble, self._journal, self._held = True, None, beside, None
        try:
            if beside is None:
                self._come_back()
            else:
                beside.restart(encoded)
        except PhexploreError as error:  # the file is there; only what follows could not be kept beside it
            self._flee(error)

    @staticmethod
    def _drop(*journals: Journal | None) -> None:
        for journal in journals:
            if journal is not None:
                journal.close(remove=True)

    def _drop_scratch(self) -> None:
        if self._scratch is not None:
            with suppress(OSError):
                self._scratch.unlink(missing_ok=True)
            self._scratch = None

    def _changed_by_another(self, path: Path) -> bool:
        try:
            return path.exists() and read_bytes(path) != self._base
        except InputProblemsError as error:
            raise WriteError(
                f"{path} cannot be compared with what was opened. {error.issues[0].sentence}",
                "Nothing was lost. Save under another name.",
            ) from error


def _taken(path: Path) -> tuple[Journal | None, PhexploreError | None]:
    """Return the journal of a project, or why it cannot be had although nobody else has it."""
    try:
        return Journal(path), None
    except WriteError as error:
        return None, error


def _set_aside(journal: Journal, home: Path, base: bytes) -> list[Issue]:
    """Keep a journal whose edits belong to another state of the file; remove what killed programs left half-written.

    A journal of the state before the last save says nothing new: the program ended between writing the file and
    beginning the journal anew.
    """
    remove_parts(home)
    remove_parts(journal.path)
    previous = home.with_name(home.name + PREVIOUS_SUFFIX)
    with suppress(OSError):
        bases = (base, previous.read_bytes()) if previous.is_file() else (base,)
        if entries := left_over(journal.path, *bases):
            kept = _unused(journal.path.with_name(journal.path.name + KEPT_SUFFIX))
            write_atomically(kept, journal.path.read_bytes())
            return [
                Issue(
                    (home.name,),
                    f"{entries} unsaved edits belong to another state of the file, which was replaced since; they were not made.",
                    f"They are kept in {kept.name}.",
                    Severity.WARNING,
                )
            ]
    return []


def _unused(path: Path) -> Path:
    """Return a name nobody has yet: this one, or it with the first free number behind it."""
    names = chain([path], (path.with_name(f"{path.name}-{number}") for number in count(2)))
    return next(name for name in names if not os.path.lexists(name))


def _clock_remarks(steps: Sequence[LoggedStep]) -> list[Issue]:
    """Say so when the clock is behind the log: the order of edits does not depend on it, the times people read do."""
    latest, now = max((step.at for step in steps), key=_moment, default=""), _now()
    if _moment(latest) <= _moment(now):
        return []
    return [
        Issue(
            ("log",),
            f"The last edit was made at {latest}, but the clock of this computer says {now}.",
            "Check the clock: times of new edits will be wrong. Their order is kept whatever it says.",
            Severity.WARNING,
        )
    ]


def _moment(at: str) -> datetime:
    """Return a recorded time; one that cannot be read counts as long ago."""
    with suppress(ValueError):
        moment = datetime.fromisoformat(at)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return datetime.min.replace(tzinfo=UTC)
