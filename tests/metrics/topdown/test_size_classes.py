from __future__ import annotations

import numpy as np
import pytest

from phexplore.metrics.topdown.size_classes import FIFTIES, SMALL_COUNTS, TENS, SizeClasses


@pytest.mark.parametrize("classes", [TENS, FIFTIES, SMALL_COUNTS], ids=lambda each: each.id)
def test_that_every_number_has_one_class_whose_label_names_it(classes):
    sizes = np.unique([0, 1, 9, 10, 49, 50, 51, 99, 100, 101, 499, 500, 999, 1_000, 2_500, 2_501, 10**5, 3 * 10**8])
    for size, index in zip(sizes.tolist(), classes.class_of(sizes).tolist(), strict=True):
        label = classes.labels[index].replace(",", "").replace(" or more", "-")
        low, _, high = label.partition("-")
        assert int(low) <= size
        assert size <= (int(high) if high else 10**9 if label.endswith("-") else int(low))
    assert len(set(classes.labels)) == len(classes.starts)


def test_that_classes_are_those_of_the_census_tables():
    assert (FIFTIES.labels[:3], FIFTIES.labels[-2:]) == (("0", "1-50", "51-100"), ("2,451-2,500", "2,501 or more"))


@pytest.mark.parametrize("starts", [(), (1, 2), (0, 5, 5), (0, 7, 3)])
def test_that_classes_that_are_none_are_refused(starts):
    with pytest.raises(ValueError, match="classes start at 0"):
        SizeClasses("x", "x", starts)


def test_that_negative_sizes_are_refused():
    with pytest.raises(ValueError, match="-3"):
        TENS.class_of(np.array([4, -3]))
