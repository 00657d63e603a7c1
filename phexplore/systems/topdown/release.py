"""Microdata and published tables of every trial: the layouts people know (formats.md, section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from phexplore.data.blocks.age_microdata_writing import AGE_LAYOUTS, write_persons_with_ages
from phexplore.data.blocks.cell_lists import write_cells
from phexplore.data.blocks.columnar_microdata import write_columns
from phexplore.data.blocks.dhc_microdata_writing import write_dhc_persons, write_dhc_units
from phexplore.data.blocks.marks import MARK_NAME
from phexplore.data.blocks.microdata_writing import Metadata, write_persons, write_units
from phexplore.data.blocks.population import BlockPopulation
from phexplore.data.blocks.published_tables import published_tables, write_tables
from phexplore.runs.spec import RunSpec
from phexplore.runs.store import RELEASE_DIRECTORY
from phexplore.simulate.topdown.histograms import Histograms

COLUMNS_SUFFIX = ".parquet"
PERSONS_FILE, UNITS_FILE, CELLS_FILE, TABLES_DIRECTORY = "persons.txt", "units.txt", "cells.csv", "tables"


def trial_directory(directory: Path, index: int) -> Path:
    """Return where microdata and tables of a trial lie.

    Args:
        directory: of the run.
        index: number of the trial.
    """
    return directory / RELEASE_DIRECTORY / f"trial-{index:05d}"


def write_trial_release(
    place: Path, spec: RunSpec, population: BlockPopulation, index: int, *, in_columns: bool = False
) -> list[Path]:
    """Write one trial and return the files.

    Persons and units go into production's 13 and 9 columns, those of the DHC into 16 and 27, those with ages into the ones of the 2010
    demonstration and of 1940 with a list of cells beside them; a schema without a published layout becomes a list of cells. The tables
    that the schema determines are written for every level: P1 to P5 (or P1 to P4 of 16 cells), H1, those of the DHC.

    Args:
        place: directory that is written.
        spec: what the run does.
        population: exact counts of the blocks.
        index: number of the trial.
        in_columns: whether records of the redistricting data, and the tables, become Parquet: of runs that are estimated by state.
    """
    metadata = _metadata(spec, index, population)
    match population.schema.id:
        case "pl94_persons" if population.layout.id == "census-blocks" and in_columns:
            file = (place / PERSONS_FILE).with_suffix(COLUMNS_SUFFIX)
            write_columns(population, file, metadata)
        case "pl94_persons" if population.layout.id == "census-blocks":
            file = place / PERSONS_FILE
            write_persons(population, file, metadata)
        case "pl94_units" if population.layout.id == "census-blocks" and in_columns:
            file = (place / UNITS_FILE).with_suffix(COLUMNS_SUFFIX)
            write_columns(population, file, metadata)
        case "pl94_units" if population.layout.id == "census-blocks":
            file = place / UNITS_FILE
            write_units(population, file, metadata)
        case "dhc_persons" if population.layout.id == "census-blocks":
            file = place / PERSONS_FILE
            write_dhc_persons(population, file, metadata)
        case "dhc_households" if population.layout.id == "census-blocks":
            file = place / UNITS_FILE
            write_dhc_units(population, file, metadata)
        case schema if schema in AGE_LAYOUTS:
            file = place / PERSONS_FILE
            write_persons_with_ages(population, file, metadata)
            write_cells(population, place / CELLS_FILE, metadata)
            return [file, place / CELLS_FILE]
        case _:
            file = place / CELLS_FILE
            write_cells(population, file, metadata)
    if published_tables(population.schema.id):
        return [file, *write_tables([population], place / TABLES_DIRECTORY, in_columns=in_columns)]
    return [file]


def as_population(truth: BlockPopulation, leaves: Histograms, units: Histograms | None = None) -> BlockPopulation:
    """Return estimates in the shape of the exact counts. Facilities are published exactly, housing by occupancy is not.

    Args:
        truth: exact counts.
        leaves: published histograms of the blocks.
        units: published unit histograms, of a release that has them.
    """
    facilities = truth.facilities
    if units is not None and facilities is not None:
        facilities = np.zeros_like(facilities)
        facilities[np.repeat(np.arange(units.units), np.diff(units.starts)), units.cells] = units.counts
    return BlockPopulation(
        truth.schema,
        truth.geoids,
        leaves.starts,
        leaves.cells,
        leaves.counts.astype(np.int32),
        facilities=facilities,
        places=dict(truth.places),
        layout=truth.layout,
    )


def _metadata(spec: RunSpec, index: int, population: BlockPopulation) -> Metadata:
    lines: Mapping[str, str] = {
        "Classification": "Simulated; not an official statistic",
        "Scenario": spec.scenario.name,
        "Run": spec.identity,
        "Trial": str(index),
        "Records": str(population.total),
        MARK_NAME: (spec.provenance if spec.data.is_open else spec.data.provenance).kind.value,
    }
    return tuple(lines.items())
