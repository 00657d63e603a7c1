from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.data.blocks.collecting import CellCounter

RECORDS = st.lists(st.tuples(st.integers(0, 10**15 - 1) | st.integers(0, 3), st.integers(0, 9)), max_size=30)


@pytest.mark.parametrize("ascending", [True, False])
@given(st.lists(RECORDS, max_size=4))
def test_that_records_of_any_batches_are_counted(ascending, batches):
    counter, expected = CellCounter(10), {}
    for batch in batches:
        records = sorted(batch) if ascending else batch
        for record in records:
            expected[record] = expected.get(record, 0) + 1
        blocks, cells = (np.array([record[place] for record in records], np.int64) for place in (0, 1))
        counter.add(blocks, cells)
    numbers, rows, cells, counts = counter.result()
    assert numbers.tolist() == sorted({block for block, _ in expected})
    found = zip(numbers[rows].tolist(), cells.tolist(), counts.tolist(), strict=True)
    assert list(found) == [(*record, expected[record]) for record in sorted(expected)]


def test_that_a_record_may_stand_for_many():
    counter = CellCounter(4)
    counter.add(np.array([5, 5]), np.array([1, 1]), np.array([3, 4]))
    assert [column.tolist() for column in counter.result()] == [[5], [0], [1], [7]]
