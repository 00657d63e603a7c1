"""Households invented for the DHC: drawn in the sizes that their county had in 2010."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from phexplore.data.blocks.expansion import expand
from phexplore.data.blocks.generator import synthesize_states
from phexplore.data.blocks.households import _compositions
from phexplore.data.synthetic.tables import templates
from phexplore.resources import resource

DRAWN = 40_000


@pytest.fixture(scope="module")
def blocks():
    return expand(synthesize_states(60, 7, ("25", "44")), 3)


def test_compositions_have_the_sizes_of_their_county(blocks):
    with resource("tables/household_sizes_2010.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["fips"]: [int(row[name]) for name in list(row)[2:]] for row in csv.DictReader(file) if row["hh1"]}
    counties = blocks.geoids.astype("U5")
    first = np.unique(counties, return_index=True)[1]
    home = np.repeat(first, DRAWN)
    drawn = _compositions(blocks, home, np.random.default_rng(2))
    sizes = np.minimum(templates().size[drawn], 7)
    for place in first:
        known = np.array(rows[str(counties[place])]) / sum(rows[str(counties[place])])
        found = np.bincount(sizes[home == place], minlength=8)[1:] / DRAWN
        # 4.5 standard deviations of a share: one false alarm in 10,000; the state's shares of singles are further off.
        assert np.abs(found - known) == pytest.approx(0, abs=4.5 * np.sqrt(0.25 / DRAWN))
    assert len(first) >= 2
