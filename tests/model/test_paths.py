"""Parameters by path: read all, set any, refuse the rest; shares stay on their simplex."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.errors import UnknownNameError
from phexplore.model.diff import diff, in_parts, parameters_only
from phexplore.model.edits import EditRefusedError
from phexplore.model.paths import parameters, with_parameters
from phexplore.systems.registry import presets

PRESETS = tuple(presets())


@pytest.mark.parametrize("preset", PRESETS)
def test_that_every_parameter_set_to_itself_changes_nothing(preset) -> None:
    scenario = presets()[preset].scenario
    for path, value in parameters(scenario).items():
        assert with_parameters(scenario, {path: value}) == scenario, path


@pytest.mark.parametrize("preset", PRESETS)
def test_that_differences_call_a_parameter_by_its_path(preset) -> None:
    scenario = presets()[preset].scenario
    for path, value in parameters(scenario).items():
        if not isinstance(value, Fraction) or not value or "share" in path:
            continue
        try:
            changed = with_parameters(scenario, {path: value * Fraction(9, 10)})
        except EditRefusedError:
            continue
        parts = [part for change in parameters_only(diff(scenario, changed)) for part in in_parts(change)]
        assert parts == [(path, value, value * Fraction(9, 10))]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(("US", "State", "County", "Tract", "Block_Group", "Block")), st.fractions(0, 1))
def test_that_level_shares_always_add_to_one(level, share) -> None:
    scenario = presets()["pl94-2020-persons-us"].scenario
    changed = with_parameters(scenario, {f"level share {level}": share})
    assert sum(changed.topdown.level_shares.values()) == 1
    assert changed.topdown.level_shares[level] == share


def test_that_shares_given_together_are_one_block() -> None:
    scenario = presets()["pl94-2020-persons-us"].scenario
    changed = with_parameters(scenario, {"level share US": "0.1", "level share State": "0.2"})
    shares = changed.topdown.level_shares
    assert (shares["US"], shares["State"]) == (Fraction(1, 10), Fraction(1, 5))
    with pytest.raises(EditRefusedError):
        with_parameters(scenario, {"level share US": "0.7", "level share State": "0.6"})


def test_that_a_float_means_the_decimal_it_is_written_as() -> None:
    scenario = presets()["sdhc-2020-us"].scenario
    assert parameters(with_parameters(scenario, {"budget PH3/state_A-G": 0.1}))["budget PH3/state_A-G"] == Fraction(
        1, 10
    )


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (np.float64(0.1), Fraction(1, 10)), (np.int64(2), 2), (Decimal("0.3"), Fraction(3, 10)), (Fraction(1, 3), Fraction(1, 3)),
        (3, 3), ("1/7", Fraction(1, 7)),
    ],
)  # fmt: skip
def test_that_numbers_of_other_libraries_are_taken_exactly(value, exact) -> None:
    scenario = presets()["pl94-2020-persons-us"].scenario
    assert with_parameters(scenario, {"total": value}).topdown.total == exact
    tables = presets()["sdhc-2020-us"].scenario
    assert parameters(with_parameters(tables, {"threshold PH2": np.int64(8)}))["threshold PH2"] == 8


@pytest.mark.parametrize("value", [Decimal("1e999999999"), "1e999999999", float("inf"), True, Decimal("NaN"), 10**5000])
def test_that_numbers_out_of_all_bounds_are_refused_at_once(value) -> None:
    with pytest.raises(EditRefusedError):
        with_parameters(presets()["pl94-2020-persons-us"].scenario, {"total": value})


def test_that_parts_of_one_record_are_set_together() -> None:
    scenario = presets()["sdhc-2020-us"].scenario
    changed = with_parameters(scenario, {"conventions: confidence": "0.95", "conventions: delta": "1e-6"})
    assert (changed.conventions.confidence, changed.conventions.delta) == (Fraction(19, 20), Fraction(1, 10**6))


@pytest.mark.parametrize(
    "path", ["", "budget", "budget PH3/nowhere", "total ", "conventions: nothing", "budgets PH3/state_A-G"]
)
def test_that_an_unknown_path_is_named(path) -> None:
    with pytest.raises(UnknownNameError):
        with_parameters(presets()["sdhc-2020-us"].scenario, {path: 1})


@pytest.mark.parametrize(
    ("path", "value"),
    [("budget PH3/state_A-G", -1), ("budget PH3/state_A-G", "x"), ("threshold PH2", 2.5), ("framework", "other"),
     ("budget PH3/state_A-G", float("nan")), ("budget PH3/state_A-G", None), ("conventions: confidence", 1)],
)  # fmt: skip
def test_that_an_impossible_value_is_refused_with_a_remedy(path, value) -> None:
    with pytest.raises(EditRefusedError) as caught:
        with_parameters(presets()["sdhc-2020-us"].scenario, {path: value})
    assert caught.value.remedy
