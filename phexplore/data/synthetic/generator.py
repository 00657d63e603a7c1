"""The synthetic S-DHC population: real counts per state, sampled households, any size, the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np

from phexplore import __version__
from phexplore.catalog.states import PUERTO_RICO, state
from phexplore.data.layout import LARGEST_MAFID, SMALLEST_MAFID
from phexplore.data.provenance import PopulationMark
from phexplore.data.source import Storage
from phexplore.data.synthetic.people import make_part
from phexplore.data.synthetic.places import county_ends, place_units
from phexplore.data.synthetic.plan import plan_state
from phexplore.data.synthetic.tables import StateFigures, assumptions, puerto_rico_figures, state_figures
from phexplore.data.synthetic.targets import split_in_parts, split_over_states, state_target
from phexplore.data.writing import PopulationPart, PopulationWriter
from phexplore.errors import PhexploreError

if TYPE_CHECKING:
    from pathlib import Path

MATCHED = (
    (
        "Persons, households and group-quarters persons per state: 2010 Census (county file; group quarters as "
        "carried by USDA), in proportion to the size asked for"
    ),
    "Households of 1 to 6 and of 7 or more persons per state: 2010 Census, complete counties, raked to the state",
    (
        "Eight race and ethnicity groups by voting age per state: 2010 Census, P.L. 94-171, compiled by the ALARM "
        "Project (CC BY-SA 4.0)"
    ),
)
SAMPLED = (
    "Ages and relationships: American Community Survey 2018, public-use sample of Rhode Island, for every state",
    (
        "Households of 7 and more persons: large households of that sample with members added; sizes above 7 follow "
        "a geometric tail up to 20"
    ),
    "Tenure: public-use sample of one area of Oregon 2006-2010, by household type and age of the householder",
    "Races inside the groups: national shares of 2010 for Hispanics, the Rhode Island sample for two or more races",
    "Vacant units (12.8 per 100 households), kinds and sizes of group quarters: one rate everywhere",
    "Tracts, blocks and MAFIDs: made up; counties real, units in proportion to their households",
)
PUERTO_RICO_REMARK = (
    "Puerto Rico: only its total of 3,725,789 persons is real; household sizes, races, ages and all else are those of "
    "the 50 states and DC"
)


def synthesize(
    persons: int, *, seed: int, states: Collection[str] | None = None, puerto_rico: bool = False
) -> Iterator[PopulationPart]:
    """Yield a synthetic population in parts of whole households, sorted by MAFID.

    Memory holds one part of about 250,000 persons, whatever the size.

    Args:
        persons: how many, group quarters included, at least 1.
        seed: any whole number of 0 or more; the same seed and arguments give the same population.
        states: FIPS codes, postal abbreviations or names; the 50 states and DC when None.
        puerto_rico: make Puerto Rico instead.

    Raises:
        PhexploreError: a size, seed or state that cannot be.
    """
    figures = chosen_figures(states, puerto_rico=puerto_rico)
    _refuse_impossible(persons, seed, figures)
    next_mafid = SMALLEST_MAFID
    for own, share in zip(figures, split_over_states(persons, figures), strict=True):
        if share == 0:
            continue
        plan = plan_state(own)
        parts = list(split_in_parts(state_target(own, share)))
        counties = county_ends(own, sum(part.units for part in parts))
        first_unit = 0
        for place, target in enumerate(parts):
            # A stream of its own per part: no part depends on how many numbers another one used.
            rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(int(own.fips), place))))
            people, units = make_part(plan, target, next_mafid, rng)
            geo = {"MAFID": units["MAFID"], **place_units(own, counties, first_unit, units["RTYPE"].astype(np.uint8))}
            yield PopulationPart(people, units, geo)
            next_mafid += target.units
            first_unit += target.units


def generate_sdhc(
    persons: int,
    out: Path,
    *,
    seed: int,
    states: Collection[str] | None = None,
    puerto_rico: bool = False,
    storages: Collection[Storage] = tuple(Storage),
    progress: Callable[[int, int], None] | None = None,
) -> PopulationMark:
    """Write a synthetic population into a directory, with its provenance mark; return the mark.

    Args:
        persons: how many, group quarters included, at least 1.
        out: directory, made when missing; files of the same names are replaced.
        seed: any whole number of 0 or more.
        states: FIPS codes, postal abbreviations or names; the 50 states and DC when None.
        puerto_rico: make Puerto Rico instead.
        storages: CSV, Parquet or both.
        progress: told the persons written so far and all persons, after each part; may raise `CancelledError`.

    Raises:
        PhexploreError: a size, seed or state that cannot be, or a directory that cannot be written.
    """
    figures = chosen_figures(states, puerto_rico=puerto_rico)
    _refuse_impossible(persons, seed, figures)
    mark = _mark(persons, seed, figures, puerto_rico=puerto_rico)
    try:
        with PopulationWriter(out, storages) as writer:
            done = 0
            for part in synthesize(persons, seed=seed, states=states, puerto_rico=puerto_rico):
                writer.write(part)
                done += len(part.persons["MAFID"])
                if progress is not None:
                    progress(done, persons)
            return writer.close(mark)
    except OSError as error:
        raise PhexploreError(
            f"The population cannot be written to {out}: {error.strerror or error}.",
            "Choose a directory you may write to, on a disk with enough room (about 60 MB per million persons).",
        ) from error


def chosen_figures(states: Collection[str] | None, *, puerto_rico: bool) -> list[StateFigures]:
    """Return the figures of the wanted states by ascending FIPS code.

    Args:
        states: FIPS codes, postal codes or names; None for the 50 states and the District.
        puerto_rico: whether Puerto Rico is asked for instead.

    Raises:
        PhexploreError: a state is unknown, or Puerto Rico is mixed with states.
    """
    known = state_figures()
    if puerto_rico:
        if states:
            raise PhexploreError(
                "Puerto Rico is a population of its own and cannot be combined with states.",
                "Ask for either, in two runs if you need both.",
            )
        return [puerto_rico_figures()]
    if states is None:
        return list(known.values())
    codes = sorted({state(text).fips for text in states})
    if PUERTO_RICO in codes:
        if len(codes) > 1:
            raise PhexploreError(
                "Puerto Rico (72) is a population of its own and cannot be combined with states.",
                "Ask for either, in two runs if you need both.",
            )
        return [puerto_rico_figures()]
    if not codes:
        raise PhexploreError("No state is named.", "Name at least one, e.g. 44 for Rhode Island.")
    return [known[code] for code in codes]


def _refuse_impossible(persons: int, seed: int, figures: list[StateFigures]) -> None:
    if persons < 1:
        raise PhexploreError(f"A population has at least 1 person, not {persons}.", "Ask for 1 or more.")
    if seed < 0:
        raise PhexploreError(f"A seed is 0 or more, not {seed}.", "Give a whole number without a sign.")
    units = sum(state.households for state in figures) * (1 + assumptions().vacant_per_household)
    largest = int((LARGEST_MAFID - SMALLEST_MAFID) * 0.99 * sum(state.persons for state in figures) / units)
    if persons > largest:
        raise PhexploreError(
            f"{persons:,} persons need more units than there are MAFIDs.", f"Ask for at most {largest:,}."
        )


def _mark(persons: int, seed: int, figures: list[StateFigures], *, puerto_rico: bool) -> PopulationMark:
    island = puerto_rico or figures[0].fips == PUERTO_RICO
    return PopulationMark(
        kind="synthetic-population",
        generator=f"phexplore {__version__}",
        synthetic=True,
        seed=seed,
        states=tuple(state.fips for state in figures),
        matched=(PUERTO_RICO_REMARK,) if island else MATCHED,
        imputed=SAMPLED,
        statement="Synthetic population: counts per state follow the 2010 Census, no record describes a real person.",
        options={"persons": persons, "puerto_rico": island},
    )
