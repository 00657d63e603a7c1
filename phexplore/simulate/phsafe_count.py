"""Filter, truncate, join and count: the exact part of PHSafe, over data of any size.

The algorithm is the paper's section 3.2, Algorithms 1-4, with production's record order (`phsafe_order`). Persons are
counted untruncated in one pass; the few beyond a threshold are counted a second time and subtracted, so that the
truncation bias is known on its own. A population larger than memory is added chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from phexplore.catalog.races import iteration_levels
from phexplore.catalog.tables import (
    Counted,
    RaceOf,
    TableProduct,
    own_tables,
    production_tables,
    queries,
    table,
    tables,
)
from phexplore.data.classification import GROUP_ITERATIONS, OUTSIDE, Classification, CodeClasses, Mode, classification
from phexplore.data.mafid_index import MafidIndex
from phexplore.data.population import SdhcData, SdhcPersons, SdhcUnits
from phexplore.data.unclassifiable import UnclassifiableRecord, unclassifiable_records
from phexplore.data.unit_geography import locate
from phexplore.errors import PhexploreError
from phexplore.model.keys import Iteration, QueryKey, Region, TableId
from phexplore.simulate import phsafe_kernel as kernel
from phexplore.simulate.phsafe_order import truncation_order
from phexplore.simulate.tabulation import Tabulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phexplore.model.phsafe import PhSafe

_BLOCK = 1 << 22
"""Persons classed together: what is made for them takes some 100 MB at most."""

_NEAR = 1 << 14
"""MAFIDs closer than this have their units within the processor's cache."""

_SOURCES = {RaceOf.NOBODY: kernel.NOBODY, RaceOf.HOUSEHOLDER: kernel.HOUSEHOLDER, RaceOf.PERSON: kernel.PERSON}


class UnclassifiableRecordError(PhexploreError):
    """A record of a table's universe fits none of its cells or groups: production's private run fails on it."""

    def __init__(self, record: UnclassifiableRecord) -> None:
        super().__init__(
            record.sentence,
            "Correct the record; `phexplore data check` lists all records of this kind with file and line.",
        )
        self.record = record


@dataclass(frozen=True, slots=True)
class CountingSpec:
    """What is counted.

    Attributes:
        mode: private or non-private.
        queries: the measured queries wanted, in catalogue order; all of them in non-private mode.
        thresholds: τ per truncated table of `queries`; empty in non-private mode.
        states: FIPS codes of the states in the run, None for all present.
    """

    mode: Mode
    queries: tuple[QueryKey, ...]
    thresholds: tuple[tuple[TableId, int], ...] = ()
    states: tuple[int, ...] | None = None

    @classmethod
    def exact(cls, states: Collection[str] | None = None, own: Iterable[TableId] = ()) -> CountingSpec:
        """Return production's non-private tables, and the user's own among some.

        Args:
            states: two-digit codes, None for all present.
            own: tables, e.g. those of a scenario.
        """
        wanted = None if states is None else tuple(sorted(int(code) for code in states))
        counted = (*production_tables(), *own_tables(own))
        every = tuple(QueryKey(name, level) for name in counted for level in table(name).levels)
        return cls(Mode.NON_PRIVATE, every, (), wanted)

    @classmethod
    def measured(cls, parameters: PhSafe) -> CountingSpec:
        """Return what a private run with these parameters measures: published queries, τ and states."""
        published = set(parameters.published)
        own = own_tables(query.table for query in published)
        known = (*queries(), *(query for name in own for query in table(name).queries))
        wanted = tuple(query for query in known if query in published)
        names = {query.table for query in wanted}
        thresholds = tuple(
            (name, parameters.thresholds[name]) for name in tables() if name in names and table(name).truncated
        )
        return cls(Mode.PRIVATE, wanted, thresholds, tuple(sorted(int(code) for code in parameters.states)))

    @property
    def table_ids(self) -> tuple[TableId, ...]:
        """The tables that are counted, in catalogue order."""
        return tuple(dict.fromkeys(query.table for query in self.queries))


class PhsafeCounter:
    """Adds up chunks of a population. A chunk holds whole households: all rows of its MAFIDs in all three frames.

    Chunks may come in any order and may be counted apart and merged: the result is the same.
    """

    def __init__(self, spec: CountingSpec) -> None:
        self.spec = spec
        self._plan = _plan(spec.mode, own_tables(spec.table_ids))
        plan, tau = self._plan, dict(spec.thresholds)
        # A table that is not truncated keeps everybody: no household is larger than any count.
        self._tau = np.array([tau.get(p.id, np.iinfo(np.int64).max) for p in plan.rules.person_tables], np.int64)
        self._counts = np.zeros(plan.places, np.int64)
        self._dropped = np.zeros(plan.places, np.int64)
        self._records = np.zeros(plan.places, np.int64)
        self._sizes = np.zeros((len(plan.rules.person_tables), kernel.LARGEST_SIZE + 1), np.int64)
        self._states: set[int] = set()
        self._multiplicity = 0

    def add(self, data: SdhcData) -> None:
        """Count a chunk.

        Raises:
            UnclassifiableRecordError: private mode, and a record that would be counted fits no cell or group. The
                counter must not be used any further.
            ValueError: a state code of more than two digits.
        """
        plan, rules = self._plan, self._plan.rules
        located = locate(data.units, data.geo, self.spec.states)
        if located.states and located.states[-1] >= kernel.STATE_SLOTS:
            raise ValueError(f"a state has a two-digit FIPS code, got {located.states[-1]}")
        index = MafidIndex(located.mafid)
        units = _records(rules, rules.units, data.units, (data.units.hhrace, data.units.hhspan))
        units = units[located.unit] | located.state
        counts, dropped = np.zeros(plan.places, np.int64), np.zeros(plan.places, np.int64)
        private = self.spec.mode is Mode.PRIVATE
        sizes = np.zeros((len(units), plan.lanes.shape[1] if private else 0), np.uint64)
        join = _Join(plan, located.mafid, units, index.following)
        # 32 bits suffice for the counts of a chunk, and twice as many of them fit the processor's cache.
        together = np.zeros(plan.joint.places, np.int32)
        for start in range(0, len(data.persons), _BLOCK):
            mafid, persons = _near(*_person_records(rules, data.persons, slice(start, start + _BLOCK)))
            rows = index.rows(mafid)
            kernel.count_persons(
                rows, persons, units, index.following, plan.joint.atoms, plan.joint.layout, together, plan.lanes, sizes
            )
            if len(index.following):
                repeated = (rows >= 0) & (index.following[rows] >= 0)
                join.count_every_table(rows[repeated], persons[repeated], counts)
        plan.add_joint(together, counts)
        if private:
            self._count_dropped(data, index, join, sizes, dropped)
        weights = data.units.final_pop[located.unit] if plan.weighted.any() else np.zeros(len(units), np.int32)
        kernel.count_units(units, rules.unit_atoms, weights, plan.weighted, plan.unit_places, counts, self._records)
        if private:
            self._refuse_unclassifiable(data, counts - dropped)
        self._counts += counts
        self._dropped += dropped
        self._states.update(located.states)
        self._multiplicity = max(self._multiplicity, located.geo_multiplicity)

    def result(self) -> Tabulation:
        """Return the counts so far."""
        plan, states = self._plan, tuple(sorted(self._states))
        private = self.spec.mode is Mode.PRIVATE
        counts: dict[QueryKey, NDArray[np.int64]] = {}
        records: dict[QueryKey, NDArray[np.int64]] = {}
        dropped: dict[QueryKey, NDArray[np.int64]] = {}
        for query in self.spec.queries:
            total = plan.level(query, self._counts, states)
            if private and table(query.table).truncated:
                dropped[query] = plan.level(query, self._dropped, states)
                total = total - dropped[query]
            if plan.is_weighted(query.table):
                records[query] = plan.level(query, self._records, states)
            counts[query] = total
        if private:
            counts |= derived_counts(counts)
            dropped |= derived_counts(dropped)
        return Tabulation(
            mode=self.spec.mode,
            states=states,
            thresholds=dict(self.spec.thresholds),
            counts=_in_catalogue_order(counts),
            records=records,
            dropped=_in_catalogue_order(dropped),
            household_sizes={
                product.id: self._sizes[position].copy()
                for position, product in enumerate(plan.rules.person_tables)
                if product.id in dict(self.spec.thresholds)
            },
            geo_multiplicity=self._multiplicity,
        )

    def _count_dropped(
        self,
        data: SdhcData,
        index: MafidIndex,
        join: _Join,
        sizes: NDArray[np.uint64],
        dropped: NDArray[np.int64],
    ) -> None:
        """Count the persons beyond the threshold of each table, in the order production keeps them."""
        rules, tables_counted = self._plan.rules, range(len(self._tau))
        exceeding = kernel.exceeding_households(sizes, self._tau)
        kernel.count_sizes(join.units, index.following, rules.unit_in, sizes, exceeding, self._sizes)
        if not exceeding.any():
            return
        large = MafidIndex(join.mafid[exceeding])
        chosen = _rows_of(data.persons, np.flatnonzero(large.rows(data.persons.mafid) >= 0))
        mafid, persons = _person_records(rules, chosen, slice(None))
        rows = index.rows(mafid)
        counted = rules.person_in[persons >> 16]
        household, number = np.unique(rows, return_inverse=True)
        members = np.stack(
            [np.bincount(number[counted[:, t]], minlength=len(household)) for t in tables_counted], axis=-1
        )
        for position in tables_counted:
            matched = join.single_match(position, household) >= 0
            held = np.minimum(members[matched, position], kernel.LARGEST_SIZE)
            self._sizes[position] += np.bincount(held[held > 0], minlength=kernel.LARGEST_SIZE + 1)
        cut = (counted & (members > self._tau)[number]).any(axis=-1)
        chosen = _rows_of(chosen, truncation_order(chosen, np.flatnonzero(cut)))
        mafid, persons = _person_records(rules, chosen, slice(None))
        rows = index.rows(mafid)
        first = np.flatnonzero(np.diff(rows, prepend=-1))
        start_of = np.repeat(first, np.diff(first, append=len(rows)))
        for position, tau in enumerate(self._tau):
            counts_here = rules.person_in[persons >> 16, position]
            before = np.cumsum(counts_here) - counts_here
            beyond = counts_here & (before - before[start_of] >= tau)
            join.count(position, rows[beyond], persons[beyond], dropped)

    def _refuse_unclassifiable(self, data: SdhcData, counts: NDArray[np.int64]) -> None:
        for name in self.spec.table_ids:
            if not self._plan.is_unclassifiable(name, counts, self.spec.queries):
                continue
            found = unclassifiable_records(data, states=self.spec.states, table_ids=(name,))
            published = {query.level.iteration for query in self.spec.queries if query.table == name}
            unplaced_matters = any(iteration_levels()[i].complete for i in published if i is not Iteration.ALL)
            raise UnclassifiableRecordError(next(r for r in found if unplaced_matters or r.fits_no_cell))


def tabulate(chunks: Iterable[SdhcData], spec: CountingSpec) -> Tabulation:
    """Count a population given in chunks of whole households (one chunk for all of it is fine).

    Args:
        chunks: whole households each; a household is in one chunk.
        spec: tables, thresholds and mode.

    Raises:
        UnclassifiableRecordError: private mode, and a record that would be counted fits no cell or group.
    """
    counter = PhsafeCounter(spec)
    for chunk in chunks:
        counter.add(chunk)
    return counter.result()


def derived_counts(counts: Mapping[QueryKey, NDArray[np.int64]]) -> dict[QueryKey, NDArray[np.int64]]:
    """Return PH5_num and PH8_num for the levels at which their sources are given, as sums of source cells.

    Args:
        counts: per query ``int64[regions, codes, basis cells]``.
    """
    derived = {}
    for product in tables().values():
        if product.derived_from is None:
            continue
        source_codes = [cell.code for cell in table(product.derived_from).basis_cells]
        for level in product.levels:
            source = QueryKey(product.derived_from, level)
            if source in counts:
                columns = [[source_codes.index(code) for code in cell.sources] for cell in product.basis_cells]
                summed = [counts[source][..., column].sum(axis=-1) for column in columns]
                derived[QueryKey(product.id, level)] = np.stack(summed, axis=-1)
    return derived


class _Join:
    """Persons matched to units one table at a time: for the few whose MAFID repeats and the few that are cut."""

    def __init__(
        self, plan: _Plan, mafid: NDArray[np.int64], units: NDArray[np.uint32], following: NDArray[np.int32]
    ) -> None:
        self._plan = plan
        self.mafid = mafid
        self.units = units
        self._following = following

    def count_every_table(
        self, rows: NDArray[np.int32], persons: NDArray[np.uint32], counts: NDArray[np.int64]
    ) -> None:
        for position in range(len(self._plan.rules.person_tables)):
            self.count(position, rows, persons, counts)

    def count(
        self, position: int, rows: NDArray[np.int32], persons: NDArray[np.uint32], counts: NDArray[np.int64]
    ) -> None:
        """Add persons to one table: once per matching unit in non-private mode, else only if exactly one matches."""
        rules = self._plan.rules
        if rules.mode is Mode.PRIVATE:
            matched = self.single_match(position, rows)
            person = np.flatnonzero(matched >= 0)
            row = matched[person]
        else:
            person, row = self._matches(position, rows)
        unit, code = self.units[row].astype(np.int64), persons[person].astype(np.int64)
        atom = rules.person_atoms[unit >> 16, code >> 16, position].astype(np.int64)
        source, offset, groups, width = self._plan.person_places[:, position].tolist()
        group = {kernel.NOBODY: 0 * code, kernel.HOUSEHOLDER: unit >> 8 & 0xFF, kernel.PERSON: code >> 8 & 0xFF}[source]
        place = offset + ((unit & 0xFF) * groups + group) * width + atom
        np.add.at(counts, place[atom != OUTSIDE], 1)

    def single_match(self, position: int, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the only unit of each MAFID that a table's universe takes, -1 if none or several: ``int64[n]``."""
        person, row = self._matches(position, rows)
        number = np.bincount(person, minlength=len(rows))
        matched = np.full(len(rows), -1, np.int64)
        matched[person] = row
        matched[number != 1] = -1
        return matched

    def _matches(self, position: int, rows: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        person, row = np.arange(len(rows)), rows.astype(np.intp)
        persons_of, rows_of = [person], [row]
        while len(self._following) and len(row):
            row = self._following[row].astype(np.intp)
            person, row = person[row >= 0], row[row >= 0]
            persons_of.append(person)
            rows_of.append(row)
        person, row = np.concatenate(persons_of), np.concatenate(rows_of)
        matching = self._plan.rules.unit_in[self.units[row] >> 16, position]
        return person[matching], row[matching]


@dataclass(frozen=True, slots=True, eq=False)
class _Joint:
    """The person tables with the same source of the group, counted together.

    A joint atom is a combination of one atom (or none) of each of these tables.

    Attributes:
        atoms: ``int16[unit classes, person classes, sources]``.
        layout: ``int64[4, sources]``; see `kernel.count_persons`.
        places: length of the flat joint counts.
        parts: per person table: its source and ``int64[joint atoms, atoms]``, 1 where the joint atom contains the atom.
    """

    atoms: NDArray[np.int16]
    layout: NDArray[np.int64]
    places: int
    parts: tuple[tuple[int, NDArray[np.int64]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """Look-up tables and places of the flat count arrays for some tables in one mode."""

    rules: Classification
    joint: _Joint
    lanes: NDArray[np.uint64]
    person_places: NDArray[np.int64]
    unit_places: NDArray[np.int64]
    weighted: NDArray[np.bool_]
    offsets: Mapping[TableId, int]
    places: int

    def view(self, table_id: TableId, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the counts of a table: ``[state slots, groups, atoms]``."""
        groups, width = self._groups(table(table_id)), len(self.rules.membership[table_id])
        first = self.offsets[table_id]
        return counts[first : first + kernel.STATE_SLOTS * groups * width].reshape(kernel.STATE_SLOTS, groups, width)

    def add_joint(self, block: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
        """Split joint counts into the counts of the tables."""
        for product, (source, part) in zip(self.rules.person_tables, self.joint.parts, strict=True):
            _, first, groups, width = self.joint.layout[:, source]
            here = block[first : first + kernel.STATE_SLOTS * groups * width].reshape(-1, width)
            self.view(product.id, counts)[...] += (here @ part).reshape(kernel.STATE_SLOTS, groups, -1)

    def level(self, query: QueryKey, counts: NDArray[np.int64], states: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the counts of a query: ``[regions, codes, cells]``."""
        by_state = self.view(query.table, counts) @ self.rules.membership[query.table]
        rows = by_state[list(states)]
        if query.level.region is Region.NATION:
            rows = rows.sum(axis=0, keepdims=True)[: len(states)]
        shape = self.rules.groups.shape if table(query.table).iterated else (1,) * len(GROUP_ITERATIONS)
        rows = rows.reshape(len(rows), *shape, rows.shape[-1])
        for axis, iteration in enumerate(GROUP_ITERATIONS, start=1):
            if iteration is query.level.iteration:
                rows = rows.take(range(len(iteration.codes)), axis=axis)
            else:
                rows = rows.sum(axis=axis, keepdims=True)
        return np.ascontiguousarray(rows.reshape(len(rows), len(query.level.iteration.codes), rows.shape[-1]))

    def is_weighted(self, table_id: TableId) -> bool:
        return any(
            product.id == table_id and weighted
            for product, weighted in zip(self.rules.unit_tables, self.weighted.tolist(), strict=True)
        )

    def is_unclassifiable(self, table_id: TableId, counts: NDArray[np.int64], wanted: Iterable[QueryKey]) -> bool:
        view, unfit = self.view(table_id, counts), self.rules.unfit[table_id]
        if view[:, :, unfit].any():
            return True
        if not table(table_id).iterated:
            return False
        by_group = view.sum(axis=(0, 2)).reshape(self.rules.groups.shape)
        published = {query.level.iteration for query in wanted if query.table == table_id}
        return any(
            by_group.take(-1, axis=axis).any()
            for axis, iteration in enumerate(GROUP_ITERATIONS)
            if iteration in published and iteration_levels()[iteration].complete
        )

    def _groups(self, product: TableProduct) -> int:
        return self.rules.groups.count if product.iterated else 1


def _joint(rules: Classification) -> _Joint:
    kinds = [_SOURCES[product.iteration_source] for product in rules.person_tables]
    shape = rules.person_atoms.shape[:2]
    atoms, layout, parts = [], [], {}
    places = 0
    for source, kind in enumerate(sorted(set(kinds))):
        positions = [position for position, other in enumerate(kinds) if other == kind]
        combinations = rules.person_atoms[:, :, positions].reshape(-1, len(positions))
        distinct, number = np.unique(combinations, axis=0, return_inverse=True)
        atoms.append(number.reshape(shape))
        groups = 1 if kind == kernel.NOBODY else rules.groups.count
        layout.append([kind, places, groups, len(distinct)])
        places += kernel.STATE_SLOTS * groups * len(distinct)
        for column, position in enumerate(positions):
            width = len(rules.membership[rules.person_tables[position].id])
            parts[position] = (source, (distinct[:, column, None] == np.arange(width)).astype(np.int64))
    return _Joint(
        np.stack(atoms, axis=-1).astype(np.int16),
        np.array(layout, np.int64).T.copy(),
        places,
        tuple(parts[position] for position in range(len(kinds))),
    )


def _person_records(
    rules: Classification, persons: SdhcPersons, block: slice
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return MAFID and record of some persons."""
    part = _rows_of(persons, block)
    return part.mafid, _records(rules, rules.persons, part, (part.cenrace, part.cenhisp))


def _near(mafid: NDArray[np.int64], records: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the same persons, put near their neighbours if their order jumps about."""
    sample = mafid[: len(mafid) // 64 * 64].reshape(-1, 64)[:, :2]
    jumps = np.count_nonzero(np.abs(np.diff(sample, axis=1)) > _NEAR)
    if jumps * 20 < len(sample):
        return mafid, records
    near = np.empty_like(mafid), np.empty_like(records)
    kernel.gather_neighbours(mafid, records, *near)
    return near


def _rows_of(persons: SdhcPersons, rows: slice | NDArray[np.int64]) -> SdhcPersons:
    return SdhcPersons(*(getattr(persons, name)[rows] for name in SdhcPersons.DTYPES))


def _records(
    rules: Classification,
    classes: CodeClasses,
    frame: SdhcPersons | SdhcUnits,
    race_and_origin: tuple[NDArray[np.uint8], NDArray[np.uint8]],
) -> NDArray[np.uint32]:
    """Return class << 16 | group << 8 of every record of a frame."""
    index = np.zeros(len(frame), np.uint16)
    for summands, codes in zip(classes.summands, classes.arrays(frame), strict=True):
        kernel.sum_summands(codes, summands, index)
    record = np.empty(len(frame), np.uint32)
    race, hispanic = (np.ascontiguousarray(codes) for codes in race_and_origin)
    groups = rules.groups
    kernel.write_records(classes.class_of, index, groups.group_of, groups.summands, race, hispanic, record)
    return record


@lru_cache(maxsize=2 * len(Mode))
def _plan(mode: Mode, own: tuple[TableId, ...]) -> _Plan:
    # All tables of production, wanted or not: the compiled loops then have one shape, and a table costs little.
    rules = classification(mode, own)
    offsets: dict[TableId, int] = {}
    places = 0
    for product in (*rules.person_tables, *rules.unit_tables):
        offsets[product.id] = places
        groups = rules.groups.count if product.iterated else 1
        places += kernel.STATE_SLOTS * groups * len(rules.membership[product.id])

    def places_of(products: tuple[TableProduct, ...]) -> NDArray[np.int64]:
        return np.array(
            [
                [_SOURCES[p.iteration_source] for p in products],
                [offsets[p.id] for p in products],
                [rules.groups.count if p.iterated else 1 for p in products],
                [len(rules.membership[p.id]) for p in products],
            ],
            np.int64,
        ).reshape(4, len(products))

    tabulated = [p.private if mode is Mode.PRIVATE else p.non_private for p in rules.unit_tables]
    if any(t.weight not in {None, "FINAL_POP"} or t.counted is not Counted.UNITS for t in tabulated):
        raise ValueError("only FINAL_POP can be summed over units")
    return _Plan(
        rules=rules,
        joint=_joint(rules),
        lanes=kernel.lane_words(rules.person_in),
        person_places=places_of(rules.person_tables),
        unit_places=places_of(rules.unit_tables),
        weighted=np.array([t.weight is not None for t in tabulated], bool),
        offsets=offsets,
        places=places,
    )


def _in_catalogue_order(counts: dict[QueryKey, NDArray[np.int64]]) -> dict[QueryKey, NDArray[np.int64]]:
    order = [QueryKey(product.id, level) for product in tables().values() for level in product.levels]
    return {query: counts[query] for query in order if query in counts}
