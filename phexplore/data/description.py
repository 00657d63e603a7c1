"""What a population is, without judging it: kind, rows, states, household sizes, provenance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.data.layout import FRAMES
from phexplore.data.problems import Phase, ProblemLog
from phexplore.data.reading import read_batches
from phexplore.data.source import Storage, find_source
from phexplore.model.issues import InputProblemsError
from phexplore.model.provenance import UNMARKED, Provenance

if TYPE_CHECKING:
    from pathlib import Path

    from phexplore.data.provenance import PopulationMark

LARGEST_SIZE_CLASS = 7


@dataclass(frozen=True, slots=True)
class DataDescription:
    """A population in figures, as the files say them.

    Attributes:
        directory: of the files.
        storage: CSV or Parquet.
        rows: by file name.
        states: rows of the geography by FIPS code.
        persons_in_households: RTYPE 3.
        persons_in_group_quarters: RTYPE 5.
        households: units of RTYPE 2 with a household type.
        vacant_units: units of RTYPE 2 without.
        group_quarters: units of RTYPE 4.
        household_sizes: households by FINAL_POP ``1`` to ``6`` and ``7+``.
        largest_household: FINAL_POP of the largest.
        provenance: the mark beside the files; None for confidential or foreign data.
    """

    directory: Path
    storage: Storage
    rows: dict[str, int]
    states: dict[str, int]
    persons_in_households: int
    persons_in_group_quarters: int
    households: int
    vacant_units: int
    group_quarters: int
    household_sizes: dict[str, int]
    largest_household: int
    provenance: PopulationMark | None

    @property
    def is_synthetic(self) -> bool:
        """Whether the files carry the mark of this program's generator."""
        return self.origin.is_synthetic

    @property
    def origin(self) -> Provenance:
        """The provenance that the mark states, real data without one."""
        return UNMARKED if self.provenance is None else self.provenance.provenance

    def json(self) -> dict[str, Any]:
        """Return the figures as JSON values; of confidential records without the largest household, a value of one of them."""
        return {
            "storage": self.storage.value,
            "rows": self.rows,
            "states": self.states,
            "persons_in_households": self.persons_in_households,
            "persons_in_group_quarters": self.persons_in_group_quarters,
            "households": self.households,
            "vacant_units": self.vacant_units,
            "group_quarters": self.group_quarters,
            "household_sizes": self.household_sizes,
            "largest_household": self.largest_household if self.provenance else None,
            "synthetic": self.is_synthetic,
            "provenance": self.origin.json(),
            "statement": self.provenance.statement if self.provenance else None,
        }


def describe_data(path: Path) -> DataDescription:
    """Return what a population is. Values must be legal; keys and records are not compared.

    Raises:
        InputProblemsError: the files cannot be read, or hold values that are not legal.
    """
    source, log = find_source(path), ProblemLog()
    rows = dict.fromkeys((source.file_name(frame) for frame in FRAMES), 0)
    states, sizes = np.zeros(256, np.int64), np.zeros(LARGEST_SIZE_CLASS + 1, np.int64)
    record_types, vacant, largest = np.zeros(256, np.int64), 0, 0
    for frame in FRAMES:
        for table in read_batches(source, frame, log):
            rows[source.file_name(frame)] += len(table)
            columns = table.columns
            if frame == "geo":
                states += np.bincount(columns["tabblkst"], minlength=256)
                continue
            record_types += np.bincount(columns["rtype"], minlength=256)
            if frame == "units":
                housing = columns["rtype"] == 2
                lived_in = housing & (columns["hht"] != 0)
                vacant += int((housing & ~lived_in).sum())
                size = columns["final_pop"][lived_in]
                largest = max(largest, int(size.max(initial=0)))
                sizes += np.bincount(np.minimum(size, LARGEST_SIZE_CLASS), minlength=LARGEST_SIZE_CLASS + 1)
    if log.has_errors(Phase.VALUES):
        raise InputProblemsError(log.issues(log.first_failing_phase()))
    return DataDescription(
        directory=source.directory,
        storage=source.storage,
        rows=rows,
        states={f"{code:02d}": int(count) for code, count in enumerate(states) if count},
        persons_in_households=int(record_types[3]),
        persons_in_group_quarters=int(record_types[5]),
        households=int(record_types[2]) - vacant,
        vacant_units=vacant,
        group_quarters=int(record_types[4]),
        household_sizes={f"{n}" if n < LARGEST_SIZE_CLASS else "7+": int(sizes[n]) for n in range(1, len(sizes))},
        largest_household=largest,
        provenance=source.provenance,
    )
