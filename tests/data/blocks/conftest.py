"""Block data for tests: real, expanded, and small ones written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.generator import synthesize_blocks
from phexplore.data.blocks.population import from_dense
from phexplore.data.blocks.source import read_population
from phexplore.workload.schema import load_schema


@pytest.fixture(scope="session")
def rhode_island(real_data):
    """Every 2010 block of Rhode Island in 16 cells."""
    return read_population(real_data / "blocks" / "pl94_ri_2010_blocks.csv.gz")


@pytest.fixture(scope="session")
def expanded(rhode_island):
    """The same in the full schema."""
    return expand(rhode_island, 1)


@pytest.fixture(scope="session")
def synthetic():
    """A synthetic population in 16 cells."""
    return synthesize_blocks(2_000, 7)


@pytest.fixture(scope="session")
def synthetic_full(synthetic):
    """The same in the full schema."""
    return expand(synthetic, 3)


@pytest.fixture(scope="session")
def units(synthetic_full):
    """The housing units and group quarters of the same blocks."""
    return from_dense(
        load_schema("pl94_units"),
        synthetic_full.geoids,
        synthetic_full.housing,
        facilities=synthetic_full.facilities,
        housing=synthetic_full.housing,
    )


@pytest.fixture
def two_blocks():
    """Two blocks of 16 cells with counts 0 to 31."""
    return from_dense(
        load_schema("pl94_reduced16"), np.array(["440010301001001", "440010301001000"]), np.arange(32).reshape(2, 16)
    )
