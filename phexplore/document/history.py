"""Undo and redo without limit: the versions of a value and a cursor on the current one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Version = TypeVar("Version")


@dataclass(frozen=True, slots=True)
class Step(Generic[Version]):
    """One entry of the history.

    Attributes:
        label: what was done, in words.
        value: what it led to.
        at: when, ISO 8601 in UTC, "" when unknown.
        merge_key: steps with an equal key that follow each other are one step (a slider being dragged).
    """

    label: str
    value: Version
    at: str = ""
    merge_key: object = None


class History(Generic[Version]):
    """Versions of an immutable value.

    Because a version is a value, undo moves a cursor: there is one kind of step, whatever was edited.
    """

    def __init__(self, steps: Sequence[Step[Version]], cursor: int | None = None) -> None:
        """Start from at least one step; the cursor is on the last one unless said otherwise."""
        if not steps:
            raise ValueError("a history starts with one version")
        self._steps = list(steps)
        self._cursor = len(steps) - 1 if cursor is None else cursor
        if not 0 <= self._cursor < len(steps):
            raise ValueError(f"the cursor {cursor} is outside the {len(steps)} versions")
        self._saved = self._cursor
        self._open_key: object = None
        self._listeners: list[Callable[[Version, Version], None]] = []

    @property
    def current(self) -> Version:
        """The version under the cursor."""
        return self._steps[self._cursor].value

    @property
    def steps(self) -> tuple[Step[Version], ...]:
        """All versions, undone ones included."""
        return tuple(self._steps)

    @property
    def cursor(self) -> int:
        """Index of the current version."""
        return self._cursor

    @property
    def can_undo(self) -> bool:
        """Whether there is an earlier version."""
        return self._cursor > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone version."""
        return self._cursor < len(self._steps) - 1

    @property
    def is_saved(self) -> bool:
        """Whether the current version is the saved one."""
        return self._cursor == self._saved

    @property
    def saved(self) -> Version | None:
        """The version on disk, None when it is not among the steps any more."""
        return self._steps[self._saved].value if 0 <= self._saved < len(self._steps) else None

    def commit(self, label: str, value: Version, *, at: str = "", merge_key: object = None) -> bool:
        """Make `value` current and forget undone versions. Return whether anything changed.

        A step with the open merge key replaces the step before it, but never the first or the saved version.

        Args:
            label: of the step, in words.
            value: the new version.
            at: when, as ISO 8601 with offset.
            merge_key: equal keys of consecutive steps make them one step; None never merges.
        """
        before = self.current
        if value == before:
            return False
        merges = self.would_merge(merge_key)
        del self._steps[self._cursor + 1 :]
        if self._saved > self._cursor:
            self._saved = -1
        step = Step(label, value, at, merge_key)
        if merges:
            self._steps[-1] = step
        else:
            self._steps.append(step)
        self._cursor = len(self._steps) - 1
        self._open_key = merge_key
        self._notify(before)
        return True

    def would_merge(self, merge_key: object) -> bool:
        """Return whether a step with this key would replace the current one."""
        return merge_key is not None and merge_key == self._open_key and self._cursor not in {0, self._saved}

    def end_merge(self) -> None:
        """Close the step being merged (the slider was released)."""
        self._open_key = None

    def mark_saved(self) -> None:
        """Say that the current version is on disk."""
        self._saved = self._cursor

    def forget_saved(self) -> None:
        """Say that no version is on disk as it stands."""
        self._saved = -1

    def undo(self) -> bool:
        """Go one version back; return whether there was one."""
        return self.go_to(self._cursor - 1)

    def redo(self) -> bool:
        """Go one version forward; return whether there was one."""
        return self.go_to(self._cursor + 1)

    def go_to(self, cursor: int) -> bool:
        """Make the version with this index current; return whether it exists."""
        if not 0 <= cursor < len(self._steps):
            return False
        before = self.current
        self._cursor = cursor
        self._open_key = None
        if before is not self.current:
            self._notify(before)
        return True

    def listen(self, listener: Callable[[Version, Version], None]) -> None:
        """Call `listener(before, after)` after every change of the current version."""
        self._listeners.append(listener)

    def _notify(self, before: Version) -> None:
        for listener in self._listeners:
            listener(before, self.current)
