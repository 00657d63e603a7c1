"""Validation of S-DHC inputs: production's three phases, then the rules between columns that production lacks.

Validation reads the confidential records. The privacy guarantee does not cover which lines break a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phexplore.catalog.states import states as all_states
from phexplore.data.cross_field import GROUP_QUARTERS_UNIT, HOUSING_UNIT, Linked, check_records
from phexplore.data.layout import FRAMES, Frame
from phexplore.data.mafid_index import NO_ROW, MafidIndex
from phexplore.data.population import SdhcData, SdhcGeo, SdhcPersons, SdhcUnits
from phexplore.data.problems import Phase, ProblemLog, Rule, report
from phexplore.data.reading import Table, read_table
from phexplore.data.source import DataSource, find_source
from phexplore.model.issues import InputProblemsError, Issue, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

PRIVACY_NOTE = (
    "Validation reads the records. Its messages contain no value, but they name the lines that break a rule. The privacy "
    "guarantee does not cover this: treat the output as confidential, like the input."
)


@dataclass(frozen=True, slots=True)
class DataCounts:
    """How much there is, after the filter by state.

    Attributes:
        persons: all persons.
        household_persons: those in units that the geography calls housing units.
        households: housing units with a household type.
        vacant_units: housing units without.
        group_quarters: group-quarters units.
        states: FIPS codes present, ascending.
    """

    persons: int
    household_persons: int
    households: int
    vacant_units: int
    group_quarters: int
    states: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DataReport:
    """What validation found.

    Attributes:
        source: the files.
        issues: errors first; repeats of one rule are cut after 1000 and counted.
        errors: how many errors there are, listed or not.
        warnings: how many warnings there are, listed or not.
        reached: the last phase that was checked; later ones were skipped because this one found errors.
        counts: None when a phase before RECORDS failed.
        note: what validation means for privacy.
    """

    source: DataSource | None
    issues: tuple[Issue, ...]
    errors: int
    warnings: int
    reached: Phase
    counts: DataCounts | None
    note: str = PRIVACY_NOTE

    @property
    def is_clean(self) -> bool:
        """Whether a run would accept the data: no errors."""
        return self.errors == 0


def check_data(
    path: Path, states: tuple[str, ...] | None = None, progress: Callable[[str], None] | None = None
) -> DataReport:
    """Check a population and list everything that is wrong with it.

    The phases follow production: types, legal values, keys; each stops the check when it finds errors. Before them
    the files and their columns are checked, after them the rules between columns that production lacks.

    Args:
        path: the directory, one of its files, or ``demo``.
        states: FIPS codes of the run's state filter. As in production, keys and records are then checked on the data
            restricted by it. None checks everything, and every TABBLKST must be a state, DC or Puerto Rico.
        progress: told what is being done, in words.
    """
    return _check(path, states, progress)[0]


def load_data(
    path: Path,
    states: tuple[str, ...] | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    up_to: Phase = Phase.RECORDS,
) -> SdhcData:
    """Return a population that passed validation, restricted to `states` when given.

    Args:
        path: the directory, one of its files, or ``demo``.
        states: FIPS codes of the run's state filter.
        progress: told what is being done, in words.
        up_to: the last phase whose errors refuse the data. ``Phase.KEYS`` accepts what production accepts: exact counts
            put a record that fits no cell into totals, a private count refuses it itself where it matters.

    Raises:
        InputProblemsError: it did not pass; carries every problem, and nothing is loaded.
    """
    found, linked = _check(path, states, progress)
    if linked is None or (up_to is Phase.RECORDS and not found.is_clean):
        raise InputProblemsError(found.issues)
    return as_population(linked.persons, linked.units, linked.geo)


def as_population(persons: Table, units: Table, geo: Table) -> SdhcData:
    """Return checked tables as a population.

    Args:
        persons: checked.
        units: checked.
        geo: checked.
    """
    return SdhcData(SdhcPersons(**persons.columns), SdhcUnits(**units.columns), SdhcGeo(**geo.columns))


def _check(
    path: Path, states: tuple[str, ...] | None, progress: Callable[[str], None] | None
) -> tuple[DataReport, Linked | None]:
    try:
        source = find_source(path)
    except InputProblemsError as error:
        return DataReport(None, error.issues, len(error.issues), 0, Phase.FILES, None), None
    log = ProblemLog()
    log.add(Phase.FILES, "choice of files", source.remarks)
    tables: dict[Frame, Table] = {}
    for frame in FRAMES:
        _tell(progress, f"Reading {source.file_name(frame)}")
        tables[frame] = read_table(source, frame, log)
    if log.has_errors(Phase.VALUES):
        return _failed(source, log), None
    _tell(progress, "Matching records")
    linked = link(restrict(tables, states), states, log)
    if linked is None:
        return _failed(source, log), None
    _tell(progress, "Comparing columns")
    check_records(linked, log)
    if not len(linked.persons):
        log.add(Phase.RECORDS, "no persons", [_nobody(source, states)])
    totals = log.totals()
    counts = _count(linked)
    return DataReport(
        source, log.issues(), totals[Severity.ERROR], totals[Severity.WARNING], Phase.RECORDS, counts
    ), linked


def _tell(progress: Callable[[str], None] | None, words: str) -> None:
    if progress is not None:
        progress(words)


def _nobody(source: DataSource, states: tuple[str, ...] | None) -> Issue:
    where = f" in the states {', '.join(states)}" if states else ""
    return Issue(
        (source.file_name("persons"),),
        f"There are no persons{where}.",
        "Check that these are the intended files and states.",
        Severity.WARNING,
    )


def _failed(source: DataSource, log: ProblemLog) -> DataReport:
    phase = log.first_failing_phase() or Phase.FILES
    issues, totals = log.issues(phase), log.totals(phase)
    if phase is not Phase.FILES:
        # Remarks about which files were read belong to every report.
        issues = (*issues, *source.remarks)
        totals[Severity.WARNING] += len(source.remarks)
    return DataReport(source, issues, totals[Severity.ERROR], totals[Severity.WARNING], phase, counts=None)


def restrict(tables: Mapping[Frame, Table], states: tuple[str, ...] | None) -> dict[Frame, Table]:
    """Keep the geography rows of some states, and the units and persons whose MAFID they hold.

    Args:
        tables: of the three files.
        states: FIPS codes to keep, None for all.
    """
    if states is None:
        return dict(tables)
    geo = tables["geo"]
    codes = np.array([int(code) for code in states], np.uint8)
    geo = geo.kept(np.flatnonzero(np.isin(geo.columns["tabblkst"], codes)))
    index = MafidIndex(geo.columns["mafid"])
    kept: dict[Frame, Table] = {"geo": geo}
    for frame in ("persons", "units"):
        table = tables[frame]
        kept[frame] = table.kept(np.flatnonzero(index.rows(table.columns["mafid"]) != NO_ROW))
    return kept


def link(tables: Mapping[Frame, Table], states: tuple[str, ...] | None, log: ProblemLog) -> Linked | None:
    """Match the rows by MAFID (phase 3); None when the keys are not in order, and the log says why.

    Args:
        tables: of the three files.
        states: FIPS codes that the geography may name, None for all.
        log: receives the problems.
    """
    persons, units, geo = (tables[frame] for frame in FRAMES)
    in_units, in_geo = MafidIndex(units.columns["mafid"]), MafidIndex(geo.columns["mafid"])
    unit_of_person = in_units.rows(persons.columns["mafid"])
    geo_of_unit = in_geo.rows(units.columns["mafid"])
    unit_of_geo = in_units.rows(geo.columns["mafid"])
    for table, index in ((units, in_units), (geo, in_geo)):
        _report_mafid(
            log,
            table,
            _is_repeat(table.columns["mafid"], index),
            "unique MAFID",
            "occurs more than once",
            "Keep one row per unit; production drops all units of a repeated MAFID.",
        )
    remedy = "Add the missing rows, or remove these."
    for table, found, other in (
        (persons, unit_of_person, units),
        (units, geo_of_unit, geo),
        (geo, unit_of_geo, units),
    ):
        words = f"is not in {other.place.file}"
        _report_mafid(log, table, found == NO_ROW, f"MAFID in {other.place.file}", words, remedy)
    _check_states(geo, states, log)
    if log.has_errors(Phase.KEYS):
        return None
    return Linked(persons, units, geo, unit_of_person, geo_of_unit)


def _is_repeat(mafid: NDArray[np.int64], index: MafidIndex) -> NDArray[np.bool_]:
    if index.multiplicity <= 1:
        return np.zeros(len(mafid), np.bool_)
    repeats: NDArray[np.bool_] = index.rows(mafid) != np.arange(len(mafid))
    return repeats


def _report_mafid(log: ProblemLog, table: Table, found: NDArray[np.bool_], name: str, words: str, remedy: str) -> None:
    report(
        log,
        Rule(name, Phase.KEYS, "MAFID", remedy),
        table.place,
        found,
        sentence=f"The MAFID {words}.",
    )


def _check_states(geo: Table, states: Sequence[str] | None, log: ProblemLog) -> None:
    legal = np.array([int(code) for code in (states or all_states())], np.uint8)
    codes = geo.columns["tabblkst"]
    words = "is not in the state filter" if states else "is no state, DC or Puerto Rico"
    report(
        log,
        Rule("state", Phase.KEYS, "TABBLKST", "Legal: 01 to 56 without 03, 07, 14, 43, 52; or 72."),
        geo.place,
        ~np.isin(codes, legal),
        sentence=f"TABBLKST {words}.",
    )


def _count(linked: Linked) -> DataCounts:
    geo, units = linked.geo.columns, linked.units.columns
    housing = geo["rtype"][linked.geo_of_unit] == HOUSING_UNIT
    households = housing & (units["rtype"] == HOUSING_UNIT) & (units["hht"] != 0)
    quarters = units["rtype"] == GROUP_QUARTERS_UNIT
    return DataCounts(
        persons=len(linked.persons),
        household_persons=int(housing[linked.unit_of_person].sum()),
        households=int(households.sum()),
        vacant_units=int((~households & ~quarters).sum()),
        group_quarters=int(quarters.sum()),
        states=tuple(f"{code:02d}" for code in np.unique(geo["tabblkst"])),
    )
