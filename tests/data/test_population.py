"""The frames of a population keep their promise about types and lengths."""

import pickle

import numpy as np
import pytest

from phexplore.data.population import SdhcGeo, SdhcPersons, SdhcUnits


def columns(frame, rows):
    return {name: np.zeros(rows, dtype) for name, dtype in frame.DTYPES.items()}


@pytest.mark.parametrize("frame", [SdhcPersons, SdhcUnits, SdhcGeo])
def test_that_a_frame_is_read_only_and_crosses_a_process_border(frame):
    original = frame(**columns(frame, 3))
    copy = pickle.loads(pickle.dumps(original))  # noqa: S301 - our own bytes
    assert len(original) == len(copy) == 3
    for name in frame.DTYPES:
        with pytest.raises(ValueError, match="read-only"):
            getattr(copy, name)[0] = 1


def test_that_a_column_of_another_type_is_refused():
    wrong = columns(SdhcGeo, 2) | {"mafid": np.zeros(2, np.int32)}
    with pytest.raises(TypeError, match="mafid of SdhcGeo is int64, got int32"):
        SdhcGeo(**wrong)
    with pytest.raises(TypeError, match="got list"):
        SdhcGeo(**(columns(SdhcGeo, 2) | {"rtype": [1, 2]}))


def test_that_columns_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="same length"):
        SdhcGeo(**(columns(SdhcGeo, 2) | {"rtype": np.zeros(3, np.uint8)}))
    with pytest.raises(ValueError, match="one dimension"):
        SdhcGeo(**(columns(SdhcGeo, 2) | {"rtype": np.zeros((2, 1), np.uint8)}))
