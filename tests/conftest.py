"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from phexplore.catalog.presets import preset

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def us():
    """The 2020 parameters of the United States."""
    return preset("sdhc-2020-us").scenario


@pytest.fixture(scope="session")
def puerto_rico():
    """The 2020 parameters of Puerto Rico."""
    return preset("sdhc-2020-pr").scenario


@pytest.fixture(scope="session")
def real_data():
    """The folder with census data beside the checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the census data folder is not beside the checkout")
    return SHARED_DATA
