from __future__ import annotations

import numpy as np
import pytest

from phexplore.data.household_types import compose, household_types

# Households by relationship and age, the householder's sex, and HHT, HHT2, CPLT, NPF as the 2020 Census defines them.
HOUSEHOLDS = {
    "woman alone": ([(20, 70)], "F", (6, 5, 0, 0)),
    "man alone": ([(20, 70)], "M", (4, 9, 0, 0)),
    "married": ([(20, 50), (21, 50)], "M", (1, 2, 1, 2)),
    "married, own child": ([(20, 50), (21, 50), (25, 17)], "F", (1, 1, 1, 3)),
    "married, adult child": ([(20, 50), (21, 50), (25, 18)], "F", (1, 2, 1, 3)),
    "married, grandchild": ([(20, 50), (21, 50), (30, 3)], "F", (1, 2, 1, 3)),
    "married, foster child": ([(20, 50), (21, 50), (35, 3)], "F", (1, 2, 1, 2)),
    "same-sex spouses": ([(20, 50), (23, 50), (26, 0)], "F", (1, 1, 2, 3)),
    "cohabiting": ([(20, 30), (22, 30)], "M", (5, 4, 3, 0)),
    "cohabiting, own child": ([(20, 30), (22, 30), (27, 5)], "M", (2, 3, 3, 2)),
    "same-sex partners, parent": ([(20, 30), (24, 30), (29, 60)], "F", (3, 4, 4, 2)),
    "mother": ([(20, 30), (25, 1), (25, 3)], "F", (3, 6, 5, 3)),
    "father": ([(20, 30), (25, 1)], "M", (2, 10, 5, 2)),
    "woman with relatives": ([(20, 30), (28, 40), (34, 20)], "F", (3, 7, 5, 2)),
    "man with relatives": ([(20, 30), (33, 40)], "M", (2, 11, 5, 2)),
    "woman with roommates": ([(20, 30), (34, 40), (36, 20)], "F", (7, 8, 5, 0)),
    "man with a roommate": ([(20, 30), (34, 4)], "M", (5, 12, 5, 0)),
}


def _types(households):
    unit = np.repeat(np.arange(len(households)), [len(members) for members, _ in households])
    relship, qage = (
        np.array([member[place] for members, _ in households for member in members], np.uint8) for place in (0, 1)
    )
    composition = compose(unit, relship, qage, len(households))
    return composition, household_types(composition, np.array([sex == "F" for _, sex in households]))


@pytest.mark.parametrize("kind", HOUSEHOLDS)
def test_that_a_household_has_its_types(kind):
    members, sex, expected = HOUSEHOLDS[kind]
    _, types = _types([(members, sex)])
    assert (types.hht[0], types.hht2[0], types.cplt[0], types.npf[0]) == expected


def test_that_households_do_not_mix():
    _, types = _types([(members, sex) for members, sex, _ in HOUSEHOLDS.values()])
    found = list(zip(types.hht, types.hht2, types.cplt, types.npf, strict=True))
    assert found == [expected for *_, expected in HOUSEHOLDS.values()]


def test_that_a_unit_without_persons_has_no_types():
    empty = np.empty(0, np.uint8)
    composition = compose(empty.astype(np.int64), empty, empty, 2)
    types = household_types(composition, np.zeros(2, bool))
    assert [column.tolist() for column in (types.npf, types.hht, types.hht2, types.cplt)] == [[0, 0]] * 4


def test_that_the_first_of_several_couples_counts():
    composition, _ = _types([([(20, 50), (22, 40), (21, 45)], "M")])
    assert (composition.couple[0], composition.couples[0]) == (21, 2)
