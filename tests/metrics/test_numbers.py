from __future__ import annotations

import numpy as np
import pytest

from phexplore.metrics.numbers import NumberKeys, level_of


def keys(cells: list[int]) -> NumberKeys:
    text = np.array(["x"] * 3)
    return NumberKeys(text, text, text, text, np.array(cells))


def test_that_columns_have_one_length() -> None:
    with pytest.raises(ValueError, match="one length"):
        keys([1, 2])


def test_that_columns_cannot_be_edited() -> None:
    with pytest.raises(ValueError, match="read-only"):
        keys([1, 2, 3]).cell[0] = 7


@pytest.mark.parametrize(
    ("region_type", "code", "level"),
    [("USA", "*", "usa_*"), ("STATE", "A", "state_A-G"), ("STATE", "G", "state_A-G"), ("USA", "H", "usa_H,I")],
)
def test_that_a_code_names_its_level(region_type: str, code: str, level: str) -> None:
    assert level_of(region_type, code).text == level


def test_that_an_unknown_code_is_refused() -> None:
    with pytest.raises(KeyError):
        level_of("STATE", "Z")
