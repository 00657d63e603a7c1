"""The record order of truncation against the rule as it is written."""

import random
from hashlib import sha256

import numpy as np
import pytest

from phexplore.data.population import SdhcPersons
from phexplore.simulate.phsafe_order import row_key, truncation_order


def key_of(row, repetition):
    return row_key(row, sha256(f"{row[1]:b}".encode()).hexdigest().encode(), repetition)


def as_text(row):
    names = ("RTYPE", "MAFID", "QAGE", "CENHISP", "CENRACE", "RELSHIP")
    rtype, mafid, age, hispanic, race, relationship = row
    return dict(
        zip(names, (str(rtype), str(mafid), str(age), str(hispanic), f"{race:02d}", str(relationship)), strict=True)
    )


def persons_of(rows):
    columns = zip(*rows, strict=True)
    return SdhcPersons(*(np.array(c, d) for c, d in zip(columns, SdhcPersons.DTYPES.values(), strict=True)))


def test_that_the_key_of_a_row_is_the_published_hash():
    """Worked out step by step with a shell's sha256sum for: 3, 100000002, 19, 1, "01", "20", first of equal rows."""
    key = key_of((3, 100000002, 19, 1, 1, 20), 1)
    assert key.hex() == "198c4337736c4f5958350ceef3890e758bf6b6d15daa1febc7ea09c706661107"


@pytest.mark.parametrize("seed", range(5))
def test_that_the_order_is_that_of_the_rule(slow, seed):
    rng = random.Random(seed)
    rows = [
        (3, rng.choice([100000001, 100000002, 899999999]), rng.choice([0, 1, 17, 115]), 1, rng.choice([1, 63]), 20)
        for _ in range(200)
    ]
    ordered = truncation_order(persons_of(rows), np.arange(200))
    found = [rows[at] for at in ordered]
    assert sorted(ordered.tolist()) == list(range(200))
    expected = []
    for mafid in (100000001, 100000002, 899999999):
        household = [as_text(row) for row in rows if row[1] == mafid]
        expected += slow.keep_smallest(household, len(household))
    assert [as_text(row) for row in found] == expected


def test_that_the_order_does_not_depend_on_the_order_of_the_input():
    rng = random.Random(1)
    rows = [(3, 100000001, rng.randint(0, 90), 1, 1, 34) for _ in range(60)]
    first = [rows[at] for at in truncation_order(persons_of(rows), np.arange(60))]
    rng.shuffle(rows)
    assert [rows[at] for at in truncation_order(persons_of(rows), np.arange(60))] == first


def test_that_more_than_255_equal_rows_have_an_order():
    rows = [(3, 100000001, 30, 1, 1, 34)] * 300 + [(3, 100000001, 31, 1, 1, 34)]
    ordered = truncation_order(persons_of(rows), np.arange(301))
    keys = sorted([key_of(rows[0], k) for k in range(1, 301)] + [key_of(rows[300], 1)])
    assert np.flatnonzero(ordered == 300)[0] == keys.index(key_of(rows[300], 1))


def test_that_nobody_selected_gives_nobody():
    assert truncation_order(persons_of([(3, 100000001, 30, 1, 1, 34)]), np.array([], np.int64)).tolist() == []
