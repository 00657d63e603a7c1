from __future__ import annotations

import numpy as np
import pytest

from phexplore.data.blocks.facilities import assume_facilities, join_units, people_by_type
from phexplore.data.blocks.microdata_writing import write_persons, write_units
from phexplore.data.blocks.population import from_dense
from phexplore.data.blocks.source import read_population
from phexplore.model.issues import InputProblemsError
from phexplore.workload.schema import load_schema

PERSONS, UNITS = load_schema("pl94_persons"), load_schema("pl94_units")
CODES = np.array(["440010301001000", "440010301001001"])


def people(*by_type):
    """Blocks with so many white adults of each type."""
    table = np.zeros((len(by_type), PERSONS.cells), np.int64)
    for block, row in enumerate(by_type):
        for kind, count in enumerate(row):
            table[block, np.ravel_multi_index((kind, 1, 0, 0), PERSONS.shape)] = count
    return from_dense(PERSONS, CODES[: len(by_type)], table)


def housing(*blocks, codes=CODES):
    """Blocks with vacant units, occupied ones and group quarters."""
    table = np.array([row[:2] for row in blocks])
    facilities = np.array([[sum(row[:2]), row[2]] for row in blocks], np.int32)
    codes = codes[: len(blocks)]
    return from_dense(UNITS, codes, table, facilities=facilities, housing=table.astype(np.int32))


def test_that_people_are_counted_by_type(synthetic_full):
    dense = synthetic_full.dense(0, synthetic_full.blocks).reshape(-1, 8, 252)
    assert (people_by_type(synthetic_full) == dense.sum(axis=2)).all()


def test_that_assumed_facilities_can_hold_everybody(synthetic_full):
    bare = from_dense(PERSONS, synthetic_full.geoids, synthetic_full.dense(0, synthetic_full.blocks))
    assumed = assume_facilities(bare)
    found = people_by_type(assumed)
    assert (found >= assumed.facilities * np.array(PERSONS.facility_bounds.least_per_unit)).all()
    assert ((assumed.facilities > 0) == (found > 0)).all()
    assert "assumed" in assumed.remarks[-1]
    assert assume_facilities(synthetic_full) is synthetic_full


def test_that_a_schema_without_facilities_is_refused(synthetic):
    with pytest.raises(ValueError, match="pl94_reduced16"):
        assume_facilities(synthetic)


@pytest.mark.parametrize(
    ("by_type", "quarters", "expected"),
    [
        ((5, 0, 0, 0, 0, 0, 0, 0), 0, (0, 0, 0, 0, 0, 0, 0)),
        ((5, 3, 0, 0, 0, 9, 0, 0), 2, (1, 0, 0, 0, 1, 0, 0)),
        ((5, 3, 0, 0, 0, 9, 0, 0), 6, (1, 0, 0, 0, 5, 0, 0)),
        ((5, 3, 0, 0, 0, 9, 0, 0), 11, (2, 0, 0, 0, 9, 0, 0)),
        ((5, 3, 0, 0, 0, 9, 0, 0), 12, (3, 0, 0, 0, 9, 0, 0)),
        ((5, 4, 0, 0, 0, 4, 0, 0), 4, (3, 0, 0, 0, 1, 0, 0)),
    ],
)
def test_that_quarters_are_given_to_types_by_the_stated_rule(by_type, quarters, expected):
    joined = join_units(people(by_type), housing((1, 2, quarters)))
    assert joined.facilities.tolist() == [[3, *expected]]
    assert joined.housing.tolist() == [[1, 2]]


def test_that_blocks_of_either_file_are_kept():
    joined = join_units(
        people((2,)), housing((1, 0, 0), (3, 4, 0), codes=np.array(["440010301001000", "440010301001009"]))
    )
    assert joined.geoids.tolist() == ["440010301001000", "440010301001009"]
    assert joined.totals().tolist() == [2, 0]
    assert joined.facilities[:, 0].tolist() == [1, 7]


@pytest.mark.parametrize(
    ("by_type", "units", "said"),
    [
        ((5, 3, 0, 2), (1, 1, 1), "in more types of group quarters than it has"),
        ((5, 3), (1, 1, 4), "more group quarters than people in them"),
        ((5,), (1, 1, 1), "more group quarters than people in them"),
        ((5,), (0, 0, 0), "no housing unit"),
    ],
)
def test_that_files_that_contradict_each_other_are_refused(by_type, units, said):
    with pytest.raises(InputProblemsError, match=said) as caught:
        join_units(people(by_type), housing(units))
    assert caught.value.issues[0].sentence.startswith("1 of 1 blocks: ")


def test_that_written_persons_and_units_join_to_what_they_were(tmp_path, synthetic_full, units):
    write_persons(synthetic_full, tmp_path / "p.txt")
    write_units(units, tmp_path / "u.txt")
    joined = join_units(read_population(tmp_path / "p.txt"), read_population(tmp_path / "u.txt"))
    kept = np.isin(synthetic_full.geoids, joined.geoids)
    assert (joined.facilities == synthetic_full.facilities[kept]).all()
    assert (joined.housing == synthetic_full.housing[kept]).all()
    assert synthetic_full.totals()[~kept].sum() == 0


def test_that_only_persons_and_units_are_joined(synthetic_full, synthetic):
    with pytest.raises(ValueError, match="pl94_reduced16"):
        join_units(synthetic_full, synthetic)
