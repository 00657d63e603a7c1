"""The open project: the current workbook, its history, the file it lives in and the journal beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from phexplore.document.decided_versions import ApprovedVersions
from phexplore.document.history import History, Step
from phexplore.document.safekeeping import PREVIOUS_SUFFIX, Refuge, Safekeeping, set_aside, taken
from phexplore.document.soundness import FAILURES, refusal, require_sound, sound_content
from phexplore.errors import PhexploreError
from phexplore.files.atomic_files import WriteError, text_of, write_atomically
from phexplore.files.journal import Journal, journal_path, recover, refuse_if_in_use
from phexplore.files.project_file import LoggedStep, ProjectContent, encode_step, read_project, single, write_project
from phexplore.files.project_salvage import salvage_project
from phexplore.model.approval import Decision, DecisionError, decided
from phexplore.model.issues import Issue, Severity
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook, replace_active
from phexplore.opening import read_bytes

Listener = Callable[[Workbook, Workbook], None]


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
        scratch: the file that keeps a project that was never saved, None for one that was opened or is kept in no file.
        issues: what was wrong with the file when it was opened.
        recovered: how many edits were brought back from the journal of a program that did not end properly.
        lost: how many edits of such a journal were not because it is damaged.
        decisions: who recommended and approved what, oldest first; undo does not touch them, saving keeps them.
        spared: name of the approved scenario whose edit the last step made in a copy, "" for none, or once it was told.
    """

    def __init__(
        self,
        content: ProjectContent,
        path: Path | None,
        *,
        base: bytes,
        on_disk: ProjectContent,
        refuge: Refuge | None = None,
    ) -> None:
        """Use `Project.new`, `Project.open`, `Project.rescue` or `Project.salvage`.

        Args:
            content: versions and decisions.
            path: the project file, None while there is none.
            base: its bytes.
            on_disk: what they mean, without edits that were recovered.
            refuge: where edits are kept when they cannot be kept beside the file.
        """
        self.scratch: Path | None = None
        self.issues: tuple[Issue, ...] = content.issues
        self.recovered = self.lost = 0
        self.spared = ""
        self.decisions: tuple[Decision, ...] = content.decisions
        self._approved = ApprovedVersions()
        self._history = History([Step(s.label, s.workbook, s.at) for s in content.steps], content.cursor)
        self._keeping = Safekeeping(path, refuge, base, on_disk, self.content)

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
        """Return how many edits are in the journal of a file that a program left without closing it.

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
            found = [recover(journal, base, content) for journal in journals]
            return max(each.edits + (0 if each.base else each.lost) for each in found)
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
        project = cls(content, None, base=base, on_disk=content, refuge=refuge)
        project.scratch = scratch
        if scratch is not None:
            project._keeping.begin_scratch(scratch)
        return project

    @classmethod
    def _opened(cls, home: Path, path: Path | None, refuge: Refuge | None) -> Project:
        journal, reason = taken(journal_path(home))
        fled: Journal | None = None
        try:
            base = read_bytes(home)
            on_disk = read_project(text_of(base, home), name=home.name)
            left = [(journal_path(home), recover(journal_path(home), base, on_disk))]
            if path is not None and refuge is not None and (shelter := refuge(path)).exists():
                fled = Journal(journal_path(shelter))
                left.append((fled.path, recover(fled.path, base, on_disk)))
            found = max(reversed([each for _, each in left]), key=lambda each: each.edits > 0)
            content = sound_content(found.content, home.name)
        except BaseException:
            for held in (journal, fled):
                if held is not None:
                    held.close(remove=False)
            raise
        remarks = [issue for at, each in left for issue in set_aside(at, each, home)]
        content = replace(content, issues=(*content.issues, *remarks, *_clock_remarks(content.steps)))
        project = cls(content, path, base=base, on_disk=on_disk, refuge=refuge)
        project.recovered = found.edits
        project.lost = max(0 if each.base else each.lost for _, each in left)
        if path is None:
            project._keeping.scratch = project.scratch = home
        if found.edits or len(content.steps) != len(found.content.steps):
            project._history.forget_saved()
        project._keeping.begin(journal, reason, fled)
        return project

    @property
    def path(self) -> Path | None:
        """The project file, None until the first save."""
        return self._keeping.path

    @property
    def trouble(self) -> PhexploreError | None:
        """Why edits are not kept beside the file and what to do, None while they are."""
        return self._keeping.trouble

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
        before anything changes. An approved scenario stays in the list as it is: its edit is made in a copy.

        Args:
            label: of the step, in words.
            workbook: the new version.
            merge_key: equal keys of consecutive steps make them one step; None never merges.

        Raises:
            PhexploreError: the edit was refused; version, history, journal and file are as they were.
        """
        self.spared = ""
        if workbook == self.workbook:
            return False
        wanted = workbook.active
        workbook = self._approved.kept_in(workbook, self.workbook, self.decisions, self.steps)
        at, merges = _now(), self._history.would_merge(merge_key)
        ahead = self._history.steps[self.cursor - merges]
        try:
            require_sound(workbook, self.workbook)
            entry = encode_step(ahead.value, LoggedStep(label, at, workbook))
        except FAILURES as error:
            raise refusal(error) from error
        self.spared = wanted if workbook.active != wanted else ""
        self._history.commit(label, workbook, at=at, merge_key=merge_key)
        self._keeping.write(lambda journal: journal.step(entry, cursor=self.cursor, merged=merges))
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
            self._keeping.write(lambda journal: journal.moved(self.cursor))

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
        if target == self.path and not overwrite_foreign and self._keeping.is_foreign(target):
            raise FileChangedError(
                f"{target.name} was changed by another program since it was opened.",
                "Save under another name, or overwrite the other program's version.",
            )
        content = self.content()
        encoded = write_project(content)
        beside = self._keeping.journal_beside(target)
        try:
            write_atomically(target, encoded, keep_previous=PREVIOUS_SUFFIX, keep_link=True)
        except WriteError:
            self._keeping.leave(beside)
            raise
        self._history.mark_saved()
        self._keeping.settle(target, encoded, content, beside)

    def decide(self, decision: Decision, *, is_clock_right: bool = False) -> None:
        """Record a decision and save it at once: it counts when it is on disk.

        Args:
            decision: the new one.
            is_clock_right: whether the clock is confirmed where an earlier decision is dated later.

        Raises:
            DecisionError: the project has unsaved edits, or the decision does not follow from the ones before it.
            PhexploreError: it could not be saved; then it was not made.
        """
        if not self.is_clean:
            raise DecisionError("The project has edits that are not saved.", "Save it, then decide.")
        before = self.decisions
        self.decisions = decided(before, decision, is_clock_right=is_clock_right)
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
        self._keeping.flush()
        return self.is_clean or self._keeping.is_written

    def close(self) -> None:
        """End the session on purpose: the journal goes, unsaved edits with it."""
        self._keeping.close()

    def reopen_journal(self) -> None:
        """Take up the journal of a project that was closed for another one that then could not be opened."""
        self._keeping.resume()


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
