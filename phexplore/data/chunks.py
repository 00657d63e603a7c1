"""Streaming a population that does not fit into memory: whole households at a time, in MAFID order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.cross_field import check_records
from phexplore.data.layout import FRAMES, LARGEST_MAFID, Frame
from phexplore.data.problems import Phase, ProblemLog, Rule, report
from phexplore.data.reading import Table, join_tables, read_batches
from phexplore.data.source import DataSource, find_source
from phexplore.data.validation import as_population, check_data, link, restrict
from phexplore.model.issues import InputProblemsError, Issue, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from phexplore.data.population import SdhcData

PERSONS_PER_CHUNK = 500_000


class UnsortedError(InputProblemsError):
    """The files are not sorted by MAFID, so they can only be loaded whole."""


def iter_chunks(
    path: Path,
    *,
    states: tuple[str, ...] | None = None,
    persons_per_chunk: int = PERSONS_PER_CHUNK,
    up_to: Phase = Phase.RECORDS,
) -> Iterator[SdhcData]:
    """Yield a population in parts of whole households, each part checked like a whole population.

    Memory holds a few parts, whatever the size of the files. All three files must be sorted by MAFID, which the
    generator's and the converter's are. A problem is raised when its part is reached: a caller whose result must not
    start on bad data calls `check_data` first.

    Args:
        path: the directory, one of its files, or ``demo``.
        states: FIPS codes to keep, all when None.
        persons_per_chunk: about how many persons a part holds; the last household is never cut.
        up_to: the last phase whose errors refuse the data, as in `load_data`.

    Raises:
        UnsortedError: a file is not sorted.
        InputProblemsError: a part did not pass validation; lists the problems of that part.
        ValueError: `persons_per_chunk` is below 1.
    """
    if persons_per_chunk < 1:
        raise ValueError(f"a part holds at least 1 person, got {persons_per_chunk}")
    source = find_source(path)
    log = ProblemLog()
    streams = {frame: _Stream(source, frame, log) for frame in FRAMES}
    while any(not stream.is_spent for stream in streams.values()):
        boundary = streams["persons"].boundary_after(persons_per_chunk)
        tables = {frame: stream.take_through(boundary) for frame, stream in streams.items()}
        _refuse(log, Phase.VALUES)
        linked = link(restrict(tables, states), states, log)
        if linked is not None:
            check_records(linked, log)
        _refuse(log, up_to)
        if linked is not None and len(linked.units):
            yield as_population(linked.persons, linked.units, linked.geo)


def record_problems(path: Path, states: tuple[str, ...] | None = None) -> tuple[Issue, ...]:
    """Return the problems between columns of a population that passed up to the phase of keys; none when it is clean.

    Files sorted by MAFID are read in parts, and only the first part with problems is listed; others are loaded whole.

    Args:
        path: the directory, one of its files, or ``demo``.
        states: FIPS codes to keep, all when None.
    """
    try:
        for _ in iter_chunks(path, states=states):
            pass
    except UnsortedError:
        found = check_data(path, states).issues
    except InputProblemsError as error:
        found = error.issues
    else:
        return ()
    return tuple(issue for issue in found if issue.severity is Severity.ERROR)


def _refuse(log: ProblemLog, up_to: Phase) -> None:
    if log.has_errors(up_to):
        raise InputProblemsError(log.issues(log.first_failing_phase()))


class _Stream:
    """Rows of one file that were read but not yet handed on."""

    def __init__(self, source: DataSource, frame: Frame, log: ProblemLog) -> None:
        self._batches = read_batches(source, frame, log)
        self._source, self._frame = source, frame
        self._pending: list[Table] = []
        self._last = 0
        self._ended = False

    @property
    def is_spent(self) -> bool:
        """Whether no row is left."""
        if not self._pending and not self._ended:
            self._read()
        return self._ended and not self._pending

    def boundary_after(self, rows: int) -> int:
        """Return the largest MAFID of which all rows are known once `rows` rows or more are pending."""
        while not self._ended and (sum(map(len, self._pending)) < rows or not self._has_two_mafids()):
            self._read()
        return LARGEST_MAFID if self._ended else self._last - 1

    def _has_two_mafids(self) -> bool:
        return bool(self._pending) and int(self._pending[0].columns["mafid"][0]) != self._last

    def take_through(self, boundary: int) -> Table:
        """Return and forget all rows up to a MAFID."""
        while not self._ended and self._last <= boundary:
            self._read()
        taken: list[Table] = []
        while self._pending:
            table = self._pending[0]
            cut = int(np.searchsorted(table.columns["mafid"], boundary, side="right"))
            if cut:
                taken.append(table.part(0, cut))
            if cut < len(table):
                self._pending[0] = table.part(cut, len(table))
                break
            self._pending.pop(0)
        return join_tables(taken, self._source, self._frame)

    def _read(self) -> None:
        table = next(self._batches, None)
        if table is None:
            self._ended = True
        elif len(table):
            self._confirm_order(table)
            self._last = int(table.columns["mafid"][-1])
            self._pending.append(table)

    def _confirm_order(self, table: Table) -> None:
        mafid = table.columns["mafid"]
        falls = np.diff(mafid, prepend=np.int64(self._last)) < 0
        # A MAFID that is not legal was read as 0; that is another problem, already in the log.
        falls &= mafid > 0
        if falls.any():
            log = ProblemLog()
            rule = Rule("order", Phase.KEYS, "MAFID", "Sort the three files by MAFID, or load the population whole.")
            report(log, rule, table.place, falls, sentence="The MAFID is below the one before it.")
            raise UnsortedError(log.issues())
