"""Units joined to the geography, against nested loops."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.data.population import SdhcGeo, SdhcUnits
from phexplore.data.unit_geography import locate

MAFIDS = st.integers(100000001, 100000012)
GEO_ROWS = st.tuples(st.sampled_from([2, 2, 2, 4, 5]), MAFIDS, st.sampled_from([1, 44, 56]))


def units_of(mafids):
    columns = {name: np.zeros(len(mafids), dtype) for name, dtype in SdhcUnits.DTYPES.items()}
    columns["mafid"] = np.array(mafids, np.int64)
    return SdhcUnits(**columns)


def geo_of(rows):
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return SdhcGeo(*(np.array(c, d) for c, d in zip(columns, SdhcGeo.DTYPES.values(), strict=True)))


@settings(deadline=None)  # the first join compiles
@given(st.lists(MAFIDS, max_size=15), st.lists(GEO_ROWS, max_size=15), st.sampled_from([None, (44,), (1, 56), ()]))
def test_that_units_meet_every_row_of_their_geography(mafids, geo, states):
    located = locate(units_of(mafids), geo_of(geo), states)
    kept = [row for row in geo if row[0] == 2 and (states is None or row[2] in states)]
    expected = [(unit, state) for unit, mafid in enumerate(mafids) for _, other, state in kept if other == mafid]
    assert list(zip(located.unit.tolist(), located.state.tolist(), strict=True)) == expected
    assert located.mafid.tolist() == [mafids[unit] for unit, _ in expected]
    assert located.states == tuple(sorted({state for *_, state in kept}))
    everyone = [mafid for _, mafid, _ in kept]
    most = max((everyone.count(mafid) for mafid in everyone), default=0)
    assert located.geo_multiplicity == most


def test_that_frames_in_the_same_order_are_joined_as_they_stand():
    mafids = [100000001, 100000005, 100000009]
    located = locate(units_of(mafids), geo_of([(2, mafid, 44) for mafid in mafids]))
    assert located.unit.tolist() == [0, 1, 2]
    assert located.geo_multiplicity == 1


def test_that_a_state_without_units_is_still_present():
    located = locate(units_of([100000001]), geo_of([(2, 100000001, 44), (2, 100000002, 56)]))
    assert located.states == (44, 56)
