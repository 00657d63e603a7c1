"""Records a private run would stop at, found before the run."""

import numpy as np
import pytest

from phexplore.data.population import SdhcData, SdhcGeo, SdhcPersons, SdhcUnits
from phexplore.data.unclassifiable import unclassifiable_records


def frame(kind, *rows):
    return kind(*(np.array([row[i] for row in rows], dtype) for i, dtype in enumerate(kind.DTYPES.values())))


UNIT = {
    "rtype": 2,
    "mafid": 100000001,
    "pop": 2,
    "npf": 0,
    "hhspan": 1,
    "hhrace": 1,
    "ten": 1,
    "hht": 1,
    "hht2": 2,
    "cplt": 1,
}


def data_of(*persons, geo_rtype=2, **unit):
    row = tuple((UNIT | unit).values())
    return SdhcData(
        frame(SdhcPersons, *(persons or [(3, 100000001, 40, 1, 1, 20)])),
        frame(SdhcUnits, row),
        frame(SdhcGeo, (geo_rtype, 100000001, 44)),
    )


def test_that_clean_records_are_not_reported():
    assert unclassifiable_records(data_of()) == ()


def test_that_a_finding_names_table_and_place():
    found = unclassifiable_records(data_of((3, 100000001, 40, 1, 1, 20), (3, 100000001, 5, 1, 1, 25)))
    assert [(record.table, record.person_row, record.unit_row) for record in found] == [("PH3", 1, 0), ("PH6", 1, 0)]
    assert found[0].fits_no_cell
    assert found[0].sentence == "PH3 counts a person whose record fits no basis cell."


@pytest.mark.parametrize(
    ("unit", "tables"),
    [
        ({"cplt": 5}, ["PH2"]),
        ({"hht2": 0}, ["PH2"]),
        ({"ten": 0}, ["PH8_denom", "PH7"]),
        ({"hhrace": 0}, ["PH1_denom", "PH5_denom", "PH8_denom", "PH1_num", "PH4", "PH7"]),
        ({"hhrace": 64}, ["PH1_denom", "PH5_denom", "PH8_denom", "PH1_num", "PH4", "PH7"]),
    ],
)
def test_that_contradicting_units_are_reported_for_every_table_they_stop(unit, tables):
    assert [record.table for record in unclassifiable_records(data_of(**unit))] == tables


def test_that_the_race_of_a_child_is_checked_where_its_own_race_counts():
    found = unclassifiable_records(data_of((3, 100000001, 5, 1, 0, 30)))
    assert [(record.table, record.fits_no_cell) for record in found] == [("PH3", False)]
    assert "no race code" in found[0].sentence


def test_that_vacant_units_and_group_quarters_are_nobodys_concern():
    vacant = {"pop": 0, "hhspan": 0, "hhrace": 0, "ten": 0, "hht": 0, "hht2": 0, "cplt": 0}
    nobody = (5, 100000002, 40, 1, 1, 38)
    assert unclassifiable_records(data_of(nobody, **vacant)) == ()
    assert unclassifiable_records(data_of((5, 100000001, 40, 1, 1, 38), geo_rtype=4, **vacant)) == ()


def test_that_only_wanted_states_tables_and_numbers_are_reported():
    data = data_of((3, 100000001, 5, 1, 1, 25), (3, 100000001, 6, 1, 1, 25))
    assert len(unclassifiable_records(data)) == 4
    assert len(unclassifiable_records(data, limit=3)) == 3
    assert unclassifiable_records(data, states=(1,)) == ()
    assert {record.table for record in unclassifiable_records(data, table_ids=["PH6", "PH7"])} == {"PH6"}
