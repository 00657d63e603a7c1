"""Collecting what is wrong with input files: every problem listed, none twice, the list kept readable."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.layout import position
from phexplore.model.issues import Issue, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from phexplore.data.layout import Frame

LISTED_PER_RULE = 1000
"""Problems of one rule listed one by one, as production's log does; the rest are counted."""


class Phase(enum.IntEnum):
    """What is checked, in order. A phase that finds an error is the last one."""

    FILES = 0
    """The files are there, readable, and have the columns in order."""
    TYPES = 1
    """Whole numbers are whole numbers."""
    VALUES = 2
    """Every value is legal."""
    KEYS = 3
    """MAFIDs are unique and match across the files; the states are legal or those of the run."""
    RECORDS = 4
    """Columns agree with each other: what production does not check."""


@dataclass(slots=True)
class _Rule:
    issues: list[Issue] = field(default_factory=list)
    unlisted: int = 0


@dataclass(slots=True)
class ProblemLog:
    """Problems by phase, file and rule, each rule's list cut after `LISTED_PER_RULE`."""

    _rules: dict[tuple[Phase, tuple[str, ...], str, Severity], _Rule] = field(default_factory=dict)

    def add(self, phase: Phase, rule: str, issues: Sequence[Issue], *, found: int | None = None) -> None:
        """Record problems of one rule in one file.

        Args:
            phase: in which they were found.
            rule: a short name; problems are cut and counted per rule.
            issues: the problems in file order, at most as many as can be listed.
            found: how many there are, when `issues` was cut already.
        """
        if not issues:
            return
        entry = self._rules.setdefault((phase, issues[0].path, rule, issues[0].severity), _Rule())
        room = LISTED_PER_RULE - len(entry.issues)
        entry.issues.extend(issues[:room])
        entry.unlisted += (len(issues) if found is None else found) - min(len(issues), max(room, 0))

    def forget(self, phase: Phase, path: tuple[str, ...]) -> None:
        """Drop the problems of a phase in one file, for a closer look that lists them all again.

        Args:
            phase: of the validation.
            path: keys that lead to the file.
        """
        for key in [key for key in self._rules if key[:2] == (phase, path)]:
            del self._rules[key]

    def issues(self, phase: Phase | None = None) -> tuple[Issue, ...]:
        """Return all problems of a phase (of all phases when None), errors before warnings."""
        listed: list[Issue] = []
        for (own_phase, path, rule, severity), entry in sorted(self._rules.items(), key=lambda item: item[0][0]):
            if phase is not None and own_phase is not phase:
                continue
            listed.extend(entry.issues)
            if entry.unlisted:
                listed.append(
                    Issue(
                        path,
                        f"{entry.unlisted:,} more problems of the same kind are not listed ({rule}).",
                        "Cure the listed ones first; they usually share a cause.",
                        severity,
                    )
                )
        return tuple(sorted(listed, key=lambda issue: issue.severity is not Severity.ERROR))

    def has_errors(self, up_to: Phase = Phase.RECORDS) -> bool:
        """Return whether any phase up to this one found an error."""
        return any(phase <= up_to and severity is Severity.ERROR for phase, _, _, severity in self._rules)

    def first_failing_phase(self) -> Phase | None:
        """Return the earliest phase with an error."""
        failing = [phase for phase, _, _, severity in self._rules if severity is Severity.ERROR]
        return min(failing, default=None)

    def totals(self, only: Phase | None = None) -> dict[Severity, int]:
        """Return how many problems there are of each severity, listed or not, in one phase or in all."""
        totals = dict.fromkeys(Severity, 0)
        for (phase, _, _, severity), entry in self._rules.items():
            if only is None or phase is only:
                totals[severity] += len(entry.issues) + entry.unlisted
        return totals


@dataclass(frozen=True, slots=True)
class Place:
    """Where the rows of a table stand in their file.

    Attributes:
        frame: which of the three files.
        file: its name, for messages.
        line_of: from 0-based record numbers in the file to 1-based lines.
        records: ``int64[n]``, record number of each row; None when row i is record ``first + i``.
        first: record number of row 0 when `records` is None.
    """

    frame: Frame
    file: str
    line_of: Callable[[Sequence[int]], list[int]]
    records: NDArray[np.int64] | None = None
    first: int = 0

    def lines(self, rows: NDArray[np.int64]) -> list[int]:
        """Return the lines of ``rows[n]``."""
        records = rows + self.first if self.records is None else self.records[rows]
        return self.line_of([int(record) for record in records])

    def kept(self, rows: NDArray[np.int64]) -> Place:
        """Return the places of ``rows[n]``, a selection."""
        records = rows + self.first if self.records is None else self.records[rows]
        return Place(self.frame, self.file, self.line_of, records)


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is checked on every row of a file.

    Attributes:
        name: short; problems are cut and counted per rule.
        phase: of the check.
        column: the column a reader should look at.
        remedy: what to do.
        severity: error or warning.
    """

    name: str
    phase: Phase
    column: str
    remedy: str
    severity: Severity = Severity.ERROR


def report(log: ProblemLog, rule: Rule, place: Place, found: NDArray[np.bool_], *, sentence: str) -> None:
    """Record the rows of a table that break a rule. The records are confidential: no message holds a value of theirs.

    Args:
        log: takes the problems.
        rule: the broken rule.
        place: where the rows stand.
        found: ``bool[n]``, true for each row that breaks the rule.
        sentence: what is wrong with all of them.
    """
    if not found.any():
        return
    rows = np.flatnonzero(found)
    listed = rows[:LISTED_PER_RULE]
    number = position(place.frame, rule.column)
    issues = [Issue((place.file,), sentence, rule.remedy, rule.severity, line, number) for line in place.lines(listed)]
    log.add(rule.phase, rule.name, issues, found=len(rows))
