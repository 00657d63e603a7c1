"""Joins by MAFID against dictionaries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.data.mafid_index import NO_ROW, MafidIndex

NARROW = st.integers(100000001, 100000020)
WIDE = st.integers(100000001, 899999999)


def as_array(values):
    return np.array(values, np.int64)


@pytest.mark.parametrize("mafids", [NARROW, WIDE], ids=["dense", "scattered"])
def test_that_every_look_up_finds_the_first_row_and_its_followers(mafids):
    @settings(deadline=None)  # the first look-up compiles
    @given(st.lists(mafids, max_size=40), st.lists(mafids, max_size=20))
    def check(keys, wanted):
        index = MafidIndex(as_array(keys))
        wanted = [*wanted, *keys]
        found = index.rows(as_array(wanted))
        for value, first in zip(wanted, found.tolist(), strict=True):
            row = first
            rows = [at for at, key in enumerate(keys) if key == value]
            chain = []
            while row != NO_ROW:
                chain.append(row)
                row = index.following[row] if len(index.following) else NO_ROW
            assert chain == rows
        most = max((keys.count(key) for key in keys), default=0)
        assert index.multiplicity == most
        assert (len(index.following) > 0) == (most > 1)

    check()


def test_that_a_full_hash_table_still_ends_every_search():
    """Keys that collide modulo the table size, looked up with absent ones."""
    keys = np.arange(5000, dtype=np.int64) * 65536 + 100000001
    index = MafidIndex(keys)
    assert (index.rows(keys) == np.arange(5000)).all()
    assert (index.rows(keys + 1) == NO_ROW).all()


def test_that_an_empty_index_finds_nothing():
    index = MafidIndex(as_array([]))
    assert index.multiplicity == 0
    assert index.rows(as_array([100000001])).tolist() == [NO_ROW]
