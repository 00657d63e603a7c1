"""Converting public-use person samples into the S-DHC layout, and saying what had to be imputed.

The records of a sample lack tenure, vacant units and exact geography, and their codes are not the census ones. What
follows from the records is derived (household types, householder's race, number of persons); the rest is imputed by
a stated rule with a seed, counted, and listed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phexplore import __version__
from phexplore.catalog.states import PUERTO_RICO
from phexplore.catalog.states import state as find_state
from phexplore.data.cross_field import (
    GROUP_QUARTERS_UNIT,
    HOUSING_UNIT,
    IN_GROUP_QUARTERS,
    IN_HOUSING_UNIT,
)
from phexplore.data.household_types import HOUSEHOLDER, PARTNERS, SPOUSES, compose, household_types
from phexplore.data.layout import LARGEST_MAFID, SMALLEST_MAFID
from phexplore.data.provenance import PopulationMark
from phexplore.data.pums_reading import PARTNER_RELP, ROOMER_RELP, SPOUSE_RELP, PumsPersons, read_pums
from phexplore.data.source import Storage
from phexplore.data.synthetic.places import county_ends, place_units
from phexplore.data.synthetic.tables import StateFigures, puerto_rico_figures, state_figures, tenure_table
from phexplore.data.writing import PopulationPart, PopulationWriter
from phexplore.errors import PhexploreError
from phexplore.model.issues import InputProblemsError, Issue

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

UNITS_PER_PART = 100_000
_FIRST_GROUP_QUARTERS_RELSHIP = 37
_OTHER_RELATIVE, _OTHER_NONRELATIVE = 33, 36
_SOME_OTHER_RACE = 6
_SAME_SEX = {21: 23, 22: 24}


@dataclass(frozen=True, slots=True)
class Imputation:
    """Something the sample does not say.

    Attributes:
        what: and by which rule, in words.
        records: how many records of the sample it concerns.
    """

    what: str
    records: int

    @property
    def text(self) -> str:
        """One line for a list."""
        return f"{self.what}: {self.records:,}"


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a conversion made.

    Attributes:
        provenance: the mark written beside the files.
        imputations: everything imputed or assumed.
        persons: written.
        units: written.
    """

    provenance: PopulationMark
    imputations: tuple[Imputation, ...]
    persons: int
    units: int

    @property
    def statement(self) -> str:
        """What the population is, in one sentence."""
        return self.provenance.statement

    @property
    def imputed(self) -> tuple[str, ...]:
        """The imputations as lines of a list."""
        return tuple(imputation.text for imputation in self.imputations)


def convert_pums(
    file: Path,
    out: Path,
    *,
    seed: int = 0,
    weighted: bool = False,
    state: str | None = None,
    storages: Collection[Storage] = tuple(Storage),
    progress: Callable[[int, int], None] | None = None,
) -> Conversion:
    """Convert a PUMS person file; the result passes this program's validation without errors or warnings.

    Args:
        file: .csv or .csv.gz with SERIALNO, RELP (or RELSHIPP), AGEP, SEX, HISP and the race flags; ST (or STATE),
            SPORDER, PWGTP and TEN are used when there.
        out: directory, made when missing; files of the same names are replaced.
        seed: of the imputed tenure.
        weighted: repeat every household as often as the weight of its reference person says, and every
            group-quarters person by the own weight, for a population of full size. Otherwise each record counts once.
        state: FIPS code, postal abbreviation or name for files without ST.
        storages: CSV, Parquet or both.
        progress: told the units written so far and all units; may raise `CancelledError`.

    Raises:
        InputProblemsError: the file is not such a sample; lists every problem.
        PhexploreError: the state is missing or unknown, weights are asked for but absent, or `out` cannot be written.
    """
    sample = _Sample(read_pums(file), file, state)
    if weighted and not sample.raw.has_weights:
        raise PhexploreError(
            f"{file.name} has no column PWGTP, so its records have no weights.", "Convert it without weights."
        )
    repeats = sample.weights if weighted else np.ones(sample.units, np.int64)
    total = int(repeats.sum())
    if total > LARGEST_MAFID - SMALLEST_MAFID + 1:
        raise PhexploreError(f"{total:,} units are more than there are MAFIDs.", "Convert the file without weights.")
    mark = PopulationMark(
        kind="converted-sample",
        generator=f"phexplore {__version__}",
        synthetic=True,
        seed=seed,
        states=sample.states,
        matched=(f"Records of the public-use sample {file.name}: age, sex, relationship, race and Hispanic origin",),
        imputed=tuple(imputation.text for imputation in sample.imputations(repeats)),
        statement="Converted public-use sample: tenure and geography are imputed; not a census.",
        options={"file": file.name, "weighted": weighted},
    )
    persons = done = 0
    try:
        with PopulationWriter(out, storages) as writer:
            for part in sample.parts(repeats, seed):
                writer.write(part)
                persons += len(part.persons["MAFID"])
                done += len(part.units["MAFID"])
                if progress is not None:
                    progress(done, total)
            mark = writer.close(mark)
    except OSError as error:
        raise PhexploreError(
            f"The population cannot be written to {out}: {error.strerror or error}.",
            "Choose a directory you may write to, on a disk with enough room.",
        ) from error
    return Conversion(mark, sample.imputations(repeats), persons, total)


class _Sample:
    """The records of a sample in census codes, sorted by state and unit, the householder first."""

    def __init__(self, raw: PumsPersons, file: Path, state: str | None) -> None:
        self.raw = raw
        self._file = file
        code = np.full(len(raw.household), int(find_state(state).fips), np.uint8) if state else raw.state
        if not code.all():
            raise PhexploreError(
                f"{file.name} has no column ST that says the state.", "Name the state, e.g. 44 for Rhode Island."
            )
        quarters = raw.relship >= _FIRST_GROUP_QUARTERS_RELSHIP
        self._refuse_mixed(quarters)
        # Each group-quarters person is a unit: the sample hides who lives together.
        number = np.where(quarters, len(raw.serials) + np.arange(len(quarters)), raw.household)
        first_state = np.zeros(number.max() + 1, np.uint8)
        first_state[number[::-1]] = code[::-1]
        head_last = np.where(raw.relship == HOUSEHOLDER, 0, 1)
        order = np.lexsort((raw.order, head_last, number, first_state[number]))
        self._order = order
        _, start, unit = np.unique(
            self._key(first_state[number][order], number[order]), return_index=True, return_inverse=True
        )
        self.start: NDArray[np.int64] = start
        self.size: NDArray[np.int64] = np.diff(start, append=len(order))
        self.units = len(start)
        self.unit: NDArray[np.int64] = unit
        self.state_of_unit = first_state[number[order]][start]
        self.is_quarters = quarters[order][start]
        self.qage = raw.qage[order]
        self.female = raw.female[order]
        self.cenhisp = np.where(raw.hispanic[order], 2, 1).astype(np.uint8)
        self.cenrace = _race_codes()[raw.races[order]]
        self.relship = self._relationships(raw.relship[order], raw.relp[order])
        self._derive()

    @staticmethod
    def _key(state: NDArray[np.uint8], number: NDArray[np.int64]) -> NDArray[np.int64]:
        return (state.astype(np.int64) << 40) | number

    def _refuse_mixed(self, quarters: NDArray[np.bool_]) -> None:
        households = len(self.raw.serials)
        both = np.bincount(self.raw.household[quarters], minlength=households).astype(bool)
        both &= np.bincount(self.raw.household[~quarters], minlength=households).astype(bool)
        if both.any():
            raise InputProblemsError(
                [
                    Issue(
                        (self._file.name,),
                        f"SERIALNO {self.raw.serials[place]} holds group-quarters persons and household members.",
                        "Give them different serial numbers.",
                    )
                    for place in np.flatnonzero(both)
                ]
            )

    def _relationships(self, relship: NDArray[np.uint8], relp: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Make every household have one householder and at most one couple, and give couples their sexes."""
        relship = relship.copy()
        household = ~self.is_quarters[self.unit]
        heads = np.bincount(self.unit[relship == HOUSEHOLDER], minlength=self.units)
        headless = np.flatnonzero((heads == 0) & ~self.is_quarters)
        self.made_householder = len(headless)
        for place in headless:
            members = slice(self.start[place], self.start[place] + self.size[place])
            relship[self.start[place] + int(np.argmax(self.qage[members]))] = HOUSEHOLDER
        extra = household & (relship == HOUSEHOLDER) & ~_first_of_each(relship == HOUSEHOLDER, self.unit)
        couples = np.isin(relship, (*SPOUSES, *PARTNERS))
        more = household & couples & ~_first_of_each(couples, self.unit)
        self.demoted = int(extra.sum() + more.sum())
        relship[extra] = _OTHER_NONRELATIVE
        relship[more & np.isin(relship, SPOUSES)] = _OTHER_RELATIVE
        relship[more & np.isin(relship, PARTNERS)] = _OTHER_NONRELATIVE
        head = np.flatnonzero(relship == HOUSEHOLDER)
        self.female_head = np.zeros(self.units, np.bool_)
        self.female_head[self.unit[head]] = self.female[head]
        same = self.female == self.female_head[self.unit]
        for code, same_sex in _SAME_SEX.items():
            given = SPOUSE_RELP if code in SPOUSES else PARTNER_RELP
            relship[(relship == code) & (relp == given) & same] = same_sex
        self.roomers = int((relp == ROOMER_RELP).sum())
        return relship

    def _derive(self) -> None:
        composition = compose(self.unit, self.relship, self.qage, self.units)
        self.types = household_types(composition, self.female_head)
        self.head = np.zeros(self.units, np.int64)
        head = np.flatnonzero(self.relship == HOUSEHOLDER)
        self.head[self.unit[head]] = head
        tenure = np.zeros(self.units, np.uint8)
        np.maximum.at(tenure, self.unit, self.raw.tenure[self._order])
        self.tenure = np.where(self.is_quarters, 0, tenure)

    @property
    def weights(self) -> NDArray[np.int64]:
        """``int64[units]``, weight of the householder or of the person in group quarters."""
        weight = self.raw.weight[self._order]
        return np.where(self.is_quarters, weight[self.start], weight[self.head])

    @property
    def states(self) -> tuple[str, ...]:
        """FIPS codes."""
        return tuple(f"{code:02d}" for code in np.unique(self.state_of_unit))

    def imputations(self, repeats: NDArray[np.int64]) -> tuple[Imputation, ...]:
        """Return everything the records did not say, with the number of sample records concerned."""
        households = int((~self.is_quarters).sum())
        no_race = int((self.raw.races == 0).sum())
        found = (
            (
                "Tenure, drawn from the rates of an Oregon sample 2006-2010 by household type and householder's age",
                int(((self.tenure == 0) & ~self.is_quarters).sum()),
            ),
            (
                "County, tract and block of units, made up: counties in proportion to their households of 2010",
                self.units,
            ),
            (
                "Group quarters: each person is a unit of its own, the sample does not say who lives together",
                self.units - households,
            ),
            (
                "Roomers and boarders counted as other nonrelatives, as the list of relationships of 2020 does",
                self.roomers,
            ),
            ("Householder named in households without a reference person: the oldest member", self.made_householder),
            ("Second reference persons, spouses and partners counted as other relatives or nonrelatives", self.demoted),
            ("Race of persons who report none: Some Other Race", no_race),
            ("Units left out because their weight is 0", int((repeats == 0).sum())),
        )
        listed = tuple(Imputation(what, records) for what, records in found if records)
        return (*listed, Imputation("Vacant units: the sample has none, none were made", 0))

    def parts(self, repeats: NDArray[np.int64], seed: int) -> Iterator[PopulationPart]:
        """Yield the population, each unit as often as `repeats` says, numbered by MAFID."""
        next_mafid = SMALLEST_MAFID
        for code in np.unique(self.state_of_unit):
            own = np.flatnonzero(self.state_of_unit == code)
            figures = _figures(f"{code:02d}")
            counties = county_ends(figures, int(repeats[own].sum()))
            first = 0
            rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(int(code),))))
            groups = (np.cumsum(repeats[own]) - 1) // UNITS_PER_PART
            for group in range(int(groups[-1]) + 1):
                chosen = own[groups == group]
                units = np.repeat(chosen, repeats[chosen])
                if len(units) == 0:
                    continue
                yield self._part(units, next_mafid, figures, counties, first, rng)
                next_mafid += len(units)
                first += len(units)

    def _part(
        self,
        units: NDArray[np.int64],
        first_mafid: int,
        figures: StateFigures,
        counties: tuple[NDArray[np.int64], NDArray[np.int64]],
        first_unit: int,
        rng: np.random.Generator,
    ) -> PopulationPart:
        size = self.size[units]
        mafid = np.arange(first_mafid, first_mafid + len(units), dtype=np.int64)
        person = np.repeat(self.start[units] - (np.cumsum(size) - size), size) + np.arange(size.sum())
        head, quarters = self.head[units], self.is_quarters[units]
        table = tenure_table()
        age = np.maximum(np.searchsorted(table.ages, self.qage[head], side="right") - 1, 0)
        chances = table.cumulative[np.minimum(self.types.hht[units], 7), age]
        drawn = 1 + (rng.random(len(units))[:, None] >= chances[:, :3]).sum(axis=1)
        tenure = np.where(quarters, 0, np.where(self.tenure[units] > 0, self.tenure[units], drawn))
        rtype = np.where(quarters, GROUP_QUARTERS_UNIT, HOUSING_UNIT).astype(np.uint8)
        return PopulationPart(
            persons={
                "RTYPE": np.repeat(np.where(quarters, IN_GROUP_QUARTERS, IN_HOUSING_UNIT), size),
                "MAFID": np.repeat(mafid, size),
                "QAGE": self.qage[person],
                "CENHISP": self.cenhisp[person],
                "CENRACE": self.cenrace[person],
                "RELSHIP": self.relship[person],
            },
            units={
                "RTYPE": rtype,
                "MAFID": mafid,
                "FINAL_POP": size,
                "NPF": np.where(quarters, 0, self.types.npf[units]),
                "HHSPAN": np.where(quarters, 0, self.cenhisp[head]),
                "HHRACE": np.where(quarters, 0, self.cenrace[head]),
                "TEN": tenure,
                "HHT": np.where(quarters, 0, self.types.hht[units]),
                "HHT2": np.where(quarters, 0, self.types.hht2[units]),
                "CPLT": np.where(quarters, 0, self.types.cplt[units]),
            },
            geo={"MAFID": mafid, **place_units(figures, counties, first_unit, rtype)},
        )


def _figures(fips: str) -> StateFigures:
    return puerto_rico_figures() if fips == PUERTO_RICO else state_figures()[fips]


def _first_of_each(chosen: NDArray[np.bool_], unit: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the chosen persons are the first chosen ones of their unit; persons are sorted by unit."""
    first = np.zeros(len(chosen), np.bool_)
    rows = np.flatnonzero(chosen)
    first[rows[np.unique(unit[rows], return_index=True)[1]]] = True
    return first


def _race_codes() -> NDArray[np.uint8]:
    """Return the census race code of each set of the six race flags; no race at all is Some Other Race."""
    codes = np.full(64, _SOME_OTHER_RACE, np.uint8)
    combinations = (combination for size in range(1, 7) for combination in itertools.combinations(range(6), size))
    for code, combination in enumerate(combinations, start=1):
        codes[sum(1 << place for place in combination)] = code
    return codes
