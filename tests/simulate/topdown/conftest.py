"""Worlds that several tests descend through."""

from dataclasses import replace
from fractions import Fraction

import pytest
from topdown_worlds import PERSONS, blocks, full, world_of

from phexplore.model.phsafe import PrivacyFramework


@pytest.fixture(scope="session")
def reduced_world():
    return world_of(blocks())


@pytest.fixture(scope="session")
def full_world():
    return world_of(full())


@pytest.fixture(scope="session")
def pure_method():
    return replace(PERSONS, framework=PrivacyFramework.PURE_DP, total=Fraction(4))
