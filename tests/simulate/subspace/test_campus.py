"""The paper's spatio-temporal case."""

from __future__ import annotations

from fractions import Fraction

import pytest

from phexplore.simulate.subspace.campus import PRINTED, campus_figures


def test_that_the_printed_band_is_that_of_the_variance():
    """False alarm below 1e-4: the mean square of 6,720 cells has a standard deviation of 0.016."""
    found = campus_figures(50, 2020)
    assert (found.cells, found.rank, found.variance, found.broken) == (6720, 740, Fraction(299, 336), 0)
    assert found.variances[1] == pytest.approx(PRINTED[1], abs=0.02)
    assert found.variances[0] == pytest.approx(PRINTED[0], abs=0.02)
    assert found.variances[2] == pytest.approx(PRINTED[2], abs=0.02)
    assert found.deviations[0] > PRINTED[2]
