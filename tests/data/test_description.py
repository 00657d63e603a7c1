from __future__ import annotations

from pathlib import Path

import pytest
from population_files import with_value, write_csv, write_parquet

from phexplore.data.description import describe_data
from phexplore.data.source import Storage
from phexplore.model.issues import InputProblemsError


@pytest.mark.parametrize(("write", "storage"), [(write_csv, Storage.CSV), (write_parquet, Storage.PARQUET)])
def test_that_a_population_is_described_in_figures(tmp_path, write, storage):
    found = describe_data(write(tmp_path))
    suffix = storage.value
    assert (found.directory, found.storage) == (tmp_path, storage)
    assert found.rows == {f"persons.{suffix}": 8, f"units.{suffix}": 5, f"geo.{suffix}": 5}
    assert found.states == {"09": 2, "44": 3}
    assert (found.persons_in_households, found.persons_in_group_quarters) == (6, 2)
    assert (found.households, found.vacant_units, found.group_quarters) == (3, 1, 1)
    assert found.household_sizes == {"1": 1, "2": 1, "3": 1, "4": 0, "5": 0, "6": 0, "7+": 0}
    assert found.largest_household == 3
    assert not found.is_synthetic


def test_that_large_households_share_the_last_class(tmp_path):
    found = describe_data(write_csv(tmp_path, with_value("units", 0, "FINAL_POP", "12")))
    assert found.household_sizes["7+"] == 1
    assert found.largest_household == 12


def test_that_a_synthetic_population_is_recognised():
    assert describe_data(Path("demo")).is_synthetic


def test_that_values_that_are_not_legal_are_refused(tmp_path):
    with pytest.raises(InputProblemsError, match="QAGE"):
        describe_data(write_csv(tmp_path, with_value("persons", 0, "QAGE", "116")))
