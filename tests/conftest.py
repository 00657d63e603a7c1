"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from phexplore.catalog import names
from phexplore.systems.registry import preset
from phexplore.text import quoted

# The same examples in every run, however fast the machine is: a new one is found by changing the code or the profile, not by chance.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def own_configuration(tmp_path_factory):
    """Keep the user's store of keys and library out of all tests, and tests out of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("configuration")))
        patch.setenv("PHEXPLORE_LIBRARY", str(tmp_path_factory.mktemp("library")))
        yield


@pytest.fixture(scope="module", autouse=True)
def names_of_files():
    """Let no module see the names of areas, or the texts, that another one's files gave: they stay for the life of a process."""
    yield
    quoted._KNOWN.clear()
    quoted._FIRST_WORD.clear()
    quoted._found.cache_clear()
    names._areas.cache_clear()
    names._in_words.cache_clear()


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
