"""The input of a TopDown run: block-level data, expanded or not, persons or units, on a tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.ages import TARGET as WITH_AGES
from phexplore.data.blocks.ages import with_ages
from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.facilities import assume_facilities
from phexplore.data.blocks.households import with_households
from phexplore.data.blocks.population import BlockPopulation, from_dense
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.topdown import TopDown
from phexplore.published.door import read_population
from phexplore.simulate.topdown.bounds import facility_bounds
from phexplore.simulate.topdown.design import Design, DesignError
from phexplore.systems.topdown.chained_release import redistricting_of
from phexplore.systems.topdown.run_options import TopDownOptions
from phexplore.workload.queries import parse_query
from phexplore.workload.schema import Schema, load_schema

_MOST_LISTED = 1000

EXPANDABLE, EXPANDED = "pl94_reduced16", "pl94_persons"
SEED_OF_HOUSEHOLDS = 1
"""Of what a DHC scenario invents from counts of blocks where no other seed is asked for: without households there is nothing to run."""


@dataclass(frozen=True, slots=True)
class Input:
    """What a run starts from.

    Attributes:
        population: in the schema that is estimated.
        remarks: what was assumed on the way.
    """

    population: BlockPopulation
    remarks: tuple[str, ...]


def read_input(path: Path, method: TopDown, options: TopDownOptions) -> Input:
    """Return the population a scenario meets.

    Args:
        path: file or folder of blocks.
        method: the parameters.
        options: of the run.

    Raises:
        DesignError: the scenario's schema is forecast, not simulated.
        InputProblemsError: the data cannot be read, or are not what the scenario counts.
    """
    refuse_analytic(method)
    return as_input(
        path, read_population(path, seed=options.expand or 0, wanted=wanted_schema(method)), method, options
    )


def wanted_schema(method: TopDown) -> str:
    """Return the schema that data are read in where their records tell several, "" for the first they tell."""
    schema = load_schema(method.schema)
    return schema.id if schema.is_chained else ""


def refuse_analytic(method: TopDown) -> None:
    """Refuse a schema that is forecast, not simulated.

    Raises:
        DesignError: it is such a schema.
    """
    schema = load_schema(method.schema)
    if schema.analytic_only:
        raise DesignError(f"{schema.title}: {schema.analytic_only}", "Choose another scenario.")


def as_input(
    path: Path,
    population: BlockPopulation,
    method: TopDown,
    options: TopDownOptions,
    *,
    is_one_of_several: bool = False,
) -> Input:
    """Return what a scenario makes of block-level data that were read.

    Args:
        path: where they were read.
        population: as it was read.
        method: the parameters.
        options: of the run.
        is_one_of_several: whether these are the blocks of one state of a nation.

    Raises:
        InputProblemsError: the data are not what the scenario counts.
    """
    schema = load_schema(method.schema)
    if population.schema.is_chained and schema.id in {"pl94_persons", "pl94_units"}:
        population = redistricting_of(_facilities_known(population))
    seed = options.expand
    if seed is None and schema.is_chained and not population.schema.is_chained:
        seed = SEED_OF_HOUSEHOLDS
    if seed is not None and population.schema.id != EXPANDED:
        if population.schema.id != EXPANDABLE:
            raise _refused(
                path,
                f"Data in the schema {population.schema.id} cannot be expanded.",
                f"--expand takes block files ({EXPANDABLE}); leave it out.",
            )
        population = expand(population, seed, is_one_of_several=is_one_of_several)
    if seed is not None and schema.id == WITH_AGES:
        population = with_ages(population, seed)
    if schema.is_chained and population.schema != schema:
        population = _with_households(path, population, schema, seed)
    if schema.id == "pl94_units" and population.schema.id != "pl94_units":
        population = units_of_persons(path, population)
    population = _facilities_known(population)
    if not population.blocks:
        raise _refused(path, "The data hold no block.", "Give a file with at least one.")
    return Input(population, population.remarks)


def _facilities_known(population: BlockPopulation) -> BlockPopulation:
    """Return a population that has the facilities its schema bounds, assumed where they are not known."""
    return population if population.schema.facility_bounds is None else assume_facilities(population)


def _with_households(path: Path, population: BlockPopulation, schema: Schema, seed: int | None) -> BlockPopulation:
    """Return data in a DHC schema, invented from redistricting counts by the seed.

    Raises:
        InputProblemsError: no seed, or counts that do not say enough.
    """
    if seed is None or population.schema.id != "pl94_persons" or population.housing is None:
        raise _refused(
            path,
            f"The data are in the schema {population.schema.id}: relationships, ages and households are not in them.",
            "Give counts of people and housing units by block, from which they are invented, or microdata that have them.",
        )
    both = with_households(assume_facilities(population), seed)
    return both.persons if schema == both.persons.schema else both.households


def units_of_persons(path: Path, persons: BlockPopulation) -> BlockPopulation:
    """Return the housing units of data that know them, in the schema ``pl94_units``.

    Args:
        path: file or folder of blocks.
        persons: exact counts of people.

    Raises:
        InputProblemsError: they do not.
    """
    if persons.housing is None:
        raise _refused(
            path,
            "The data do not say how many housing units are vacant and occupied.",
            "Give a unit file, or --expand SEED, which invents them.",
        )
    return from_dense(
        load_schema("pl94_units"),
        persons.geoids,
        persons.housing.astype(np.int64),
        facilities=persons.facilities,
        places=dict(persons.places),
        remarks=persons.remarks,
        layout=persons.layout,
    )


def check_input(path: Path, population: BlockPopulation, design: Design) -> None:
    """Refuse data that break what post-processing keeps: no estimate could be right.

    Args:
        path: file or folder of blocks.
        population: exact counts of the blocks.
        design: what is measured and kept.

    Raises:
        InputProblemsError: every leaf with people where nobody can be.
    """
    issues: list[Issue] = []
    schema = population.schema
    impossible = ~design.possible()
    wrong = np.flatnonzero(impossible[population.cells])
    rows = population.rows()
    for place in wrong[:_MOST_LISTED].tolist():
        labels = ", ".join(schema.cell_labels(int(population.cells[place])))
        issues.append(
            Issue(
                (path.name, str(population.geoids[rows[place]])),
                f"{int(population.counts[place])} {schema.record}s are counted as {labels}, which the scenario rules out.",
                "Correct the data, or take that constraint out of the scenario.",
            )
        )
    leaf = design.levels[-1]
    if schema.facility_bounds is not None and population.facilities is not None and (leaf.least or leaf.most):
        issues += _facility_problems(path, population, least=leaf.least, most=leaf.most)
    if issues:
        raise InputProblemsError(issues[:_MOST_LISTED])


def _facility_problems(path: Path, population: BlockPopulation, *, least: bool, most: bool) -> list[Issue]:
    bounds = population.schema.facility_bounds
    if bounds is None or population.facilities is None:
        return []
    query = parse_query(population.schema, bounds.query)
    people = people_by(population, query.cell_map(), query.answers)
    lower, upper = facility_bounds(bounds, population.facilities.astype(np.int64), None)
    wrong = np.zeros(people.shape, bool)
    if least:
        wrong |= people < lower
    if most:
        wrong |= people > upper
    return [
        Issue(
            (path.name, str(population.geoids[block])),
            f"{people[block, kind]} people live in {int(population.facilities[block, kind])} facilities of the type "
            f"{query.answer_labels(kind)[0]}; there may be {lower[block, kind]} to {upper[block, kind]}.",
            "Correct persons or units, or take the facility bounds out of the scenario.",
        )
        for block, kind in np.argwhere(wrong)[:_MOST_LISTED].tolist()
    ]


def people_by(population: BlockPopulation, answer_of: NDArray[np.int32], answers: int) -> NDArray[np.int64]:
    """Return a query's answers per leaf, ``int64[blocks, answers]``.

    Args:
        population: exact counts of the blocks.
        answer_of: answer of every cell, ``int32[cells]``; below 0 for none.
        answers: how many there are.
    """
    out = np.zeros((population.blocks, answers), np.int64)
    kept = answer_of[population.cells] >= 0
    np.add.at(out, (population.rows()[kept], answer_of[population.cells][kept]), population.counts[kept])
    return out


def _refused(path: Path, sentence: str, remedy: str) -> InputProblemsError:
    return InputProblemsError([Issue((path.name,), sentence, remedy)])
