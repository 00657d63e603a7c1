from __future__ import annotations

import numpy as np
import pytest
from census_1940_files import synthesize_census_1940, write_census_1940

from phexplore.data.blocks.census_1940_reading import read_census_1940


@pytest.mark.parametrize("delimited", [False, True])
@pytest.mark.parametrize("name", ["census.dat", "census.dat.gz"])
def test_that_records_read_back_person_by_person(tmp_path, delimited, name):
    records = synthesize_census_1940(9, 2, ("09", "44"))
    assert write_census_1940(records, tmp_path / name, delimited=delimited) == len(records.persons)
    read = read_census_1940(tmp_path / name)
    assert read.total == len(records.persons) == records.size.sum()
    codes = ["".join(f"{n:0{w}d}" for n, w in zip(row, (2, 4, 3, 4), strict=True)) for row in records.geocode.tolist()]
    home = np.repeat(np.array(codes), records.size)
    assert read.geoids.tolist() == sorted(set(codes))
    assert read.totals().tolist() == [int((home == code).sum()) for code in read.geoids.tolist()]
    sex, age, hispanic, race, citizen = np.array(np.unravel_index(read.cells, read.schema.shape))[1:]
    counted = np.bincount(race, weights=read.counts, minlength=6).tolist()
    assert counted == [int((records.persons[:, 2] == code).sum()) for code in range(1, 7)]
    assert read.counts[sex == 1].sum() == (records.persons[:, 0] == 2).sum()
    assert read.counts[age == 30].sum() == (records.persons[:, 1] == 30).sum()
    assert read.counts[hispanic == 1].sum() == (records.persons[:, 3] > 0).sum()
    assert read.counts[citizen == 1].sum() == (records.persons[:, 4] < 3).sum()
