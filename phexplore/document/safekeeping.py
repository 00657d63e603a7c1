"""Every edit on disk before it is acknowledged: in the journal beside the project file, or in a refuge while that is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from phexplore.errors import PhexploreError
from phexplore.figures.wording import counted
from phexplore.files.atomic_files import WriteError, remove_parts, write_atomically
from phexplore.files.journal import SUFFIX, Journal, Recovered, journal_path, keep_copy
from phexplore.files.project_file import ProjectContent
from phexplore.model.issues import InputProblemsError, Issue, Severity
from phexplore.opening import read_bytes

PREVIOUS_SUFFIX = ".previous"
"""The content before the last save stays beside the file under this suffix."""

KEPT_SUFFIX, DAMAGED_SUFFIX = ".kept", ".damaged-1"
"""A journal whose edits belong to another state of the file, or that is damaged, is copied to its name and this suffix."""

Refuge = Callable[[Path], Path]
"""Returns where edits of a project are kept while they cannot be kept beside its file."""


class Safekeeping:
    """Keeps the edits of a project.

    Where the journal beside the file cannot be written (read-only folder, full disk, a network drive that is gone) it moves to
    a refuge, with every edit that is not in the file.

    Attributes:
        path: the project file, None until the first save.
        scratch: the file whose journal keeps a project that has none, or that had to leave its own.
        trouble: why edits are not kept beside the file and what to do, None while they are.
        is_on: whether edits are kept at all; those of a project without file and scratch are not.
    """

    def __init__(
        self,
        path: Path | None,
        refuge: Refuge | None,
        base: bytes,
        on_disk: ProjectContent,
        content: Callable[[], ProjectContent],
    ) -> None:
        """Keep nothing yet.

        Args:
            path: the project file, None while there is none.
            refuge: where edits are kept when they cannot be kept beside the file, None for nowhere.
            base: bytes of the file as it was read or written last.
            on_disk: what they mean.
            content: returns what would be saved now.
        """
        self.path = path
        self.scratch: Path | None = None
        self.trouble: PhexploreError | None = None
        self.is_on = False
        self._refuge, self._content = refuge, content
        self._base, self._on_disk = base, on_disk
        self._journal: Journal | None = None
        self._held: Journal | None = None

    def begin_scratch(self, scratch: Path) -> None:
        """Keep a project that has no file yet in a scratch file and its journal."""
        self.scratch, self.is_on = scratch, True
        try:
            write_atomically(scratch, self._base)
            self._journal = Journal(journal_path(scratch))
            self._journal.restart(self._base)
        except WriteError as error:
            self._flee(error)

    @property
    def is_written(self) -> bool:
        """Whether edits go to a journal on disk."""
        return self._journal is not None

    def flush(self) -> None:
        """Force the journal to disk."""
        self.write(lambda journal: journal.flush())

    def resume(self) -> None:
        """Keep the edits of a project that was closed because another one was to take its place, and did not."""
        self.is_on = self.path is not None
        self.flush()

    def close(self) -> None:
        """Remove the journals: the session ended on purpose."""
        self._drop(self._journal, self._held)
        self._journal = self._held = None
        self._drop_scratch()
        self.is_on = False

    def leave(self, beside: Journal | None) -> None:
        """Give back a journal that was taken for a file that could not be written."""
        if beside is not None and beside not in {self._journal, self._held}:
            beside.close(remove=False)

    def write(self, write: Callable[[Journal], None]) -> None:
        """Write to the journal; where that is refused, go on in the refuge with everything that is not in the file."""
        if not self.is_on:
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
        home = self.path or self.scratch
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
        home = self.path or self.scratch
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
        if shelter != self.scratch:
            self._drop_scratch()
        self.scratch = shelter
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

    def begin(self, journal: Journal | None, reason: PhexploreError | None, fled: Journal | None) -> None:
        """Start the journal of a file just opened; what was recovered goes back into it.

        Args:
            journal: of the file, None when it cannot be had.
            reason: why not.
            fled: of the refuge, None when no edits were kept there.
        """
        self.is_on = True
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
        now, then = self._content(), self._on_disk
        if now.steps == then.steps and now.cursor == then.cursor:
            journal.restart(self._base)
            return
        same = 0
        while same < min(len(now.steps), len(then.steps)) and now.steps[same] == then.steps[same]:
            same += 1
        journal.restart(self._base, now.steps, first=same, cursor=now.cursor)

    def journal_beside(self, target: Path) -> Journal | None:
        """Return the journal of a file that is about to be written, held by this process; None if it cannot be had."""
        for held in (self._journal, self._held):
            if held is not None and held.path == journal_path(target):
                return held
        return taken(journal_path(target))[0]

    def settle(self, target: Path, encoded: bytes, content: ProjectContent, beside: Journal | None) -> None:
        """Take note of a file that was written: from now on the journal begins with it.

        Args:
            target: the file.
            encoded: its bytes.
            content: what they mean.
            beside: its journal, held by this process; None when it cannot be had.
        """
        self._drop(*(held for held in (self._journal, self._held) if held is not beside))
        self._drop_scratch()
        self.path, self._base, self._on_disk = target, encoded, content
        self.is_on, self.trouble, self._journal, self._held = True, None, beside, None
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
        if self.scratch is not None:
            with suppress(OSError):
                self.scratch.unlink(missing_ok=True)
            self.scratch = None

    def is_foreign(self, path: Path) -> bool:
        """Return whether a file holds something else than what was read or written last.

        Raises:
            WriteError: it cannot be compared.
        """
        try:
            return path.exists() and read_bytes(path) != self._base
        except InputProblemsError as error:
            raise WriteError(
                f"{path} cannot be compared with what was opened. {error.issues[0].sentence}",
                "Nothing was lost. Save under another name.",
            ) from error


def taken(path: Path) -> tuple[Journal | None, PhexploreError | None]:
    """Return the journal of a project, or why it cannot be had although nobody else has it."""
    try:
        return Journal(path), None
    except WriteError as error:
        return None, error


def set_aside(journal: Path, found: Recovered, home: Path) -> list[Issue]:
    """Copy a journal whose edits were not all restored; remove files that killed programs left half-written.

    A journal of the state before the last save contains no new edit: the program ended after it wrote the file and
    before it began a new journal.

    Args:
        journal: path of the journal that was left.
        found: what was restored of it.
        home: the file.
    """
    remove_parts(home)
    remove_parts(journal)
    if not found.lost or (found.base and found.base == _digest(home.with_name(home.name + PREVIOUS_SUFFIX))):
        return []
    try:
        copy = keep_copy(journal, KEPT_SUFFIX if found.base else DAMAGED_SUFFIX)
        named = copy.name if copy.parent == home.parent else copy
        remedy = (
            f"To repeat the edits, see {named}."
            if found.base
            else f"Repeat the missing edits. {named} is a copy of the journal."
        )
    except WriteError as error:
        remedy = f"The edits are in {journal}. {error.full}"
    sentence = (
        f"{found.lost} unsaved edits belong to another state of the file, which was replaced. They were not restored."
        if found.base
        else "The journal of unsaved edits is damaged. "
        f"Restored: {counted(found.edits, 'edit')}. Not restored: {counted(found.lost, 'edit')}."
    )
    return [Issue((home.name,), sentence, remedy, Severity.WARNING)]


def _digest(path: Path) -> str:
    with suppress(InputProblemsError):
        return hashlib.sha256(read_bytes(path)).hexdigest()
    return ""
