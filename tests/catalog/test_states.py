"""The states against the codes the production configuration accepts."""

import pytest

from phexplore.catalog.states import PUERTO_RICO, state, states, us_states
from phexplore.errors import UnknownNameError


def test_that_the_codes_are_those_a_state_filter_may_hold():
    legal = {f"{code:02d}" for code in range(1, 57)} - {"03", "07", "14", "43", "52"}
    assert set(us_states()) == legal
    assert len(us_states()) == 51
    assert set(states()) == legal | {PUERTO_RICO}


def test_that_states_ascend_by_code_and_by_name():
    """FIPS numbers the states alphabetically, so both orders agree; Puerto Rico is last."""
    names = [states()[fips].name for fips in us_states()]
    assert list(us_states()) == sorted(us_states())
    assert names == sorted(names)


def test_that_abbreviations_are_two_distinct_capitals():
    postal = {entry.postal for entry in states().values()}
    assert len(postal) == 52
    assert all(len(text) == 2 and text.isupper() for text in postal)


@pytest.mark.parametrize("text", ["44", "ri", "RI", " Rhode island "])
def test_that_a_state_is_found_by_code_abbreviation_or_name(text):
    assert state(text).fips == "44"


def test_that_an_unknown_state_names_the_nearest():
    with pytest.raises(UnknownNameError, match="'Oregano'") as caught:
        state("Oregano")
    assert "Oregon" in caught.value.remedy
