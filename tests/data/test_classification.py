"""Look-up tables against the conditions of the catalogue, record by record."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.catalog.races import iteration_levels
from phexplore.catalog.tables import table
from phexplore.data.classification import GROUP_ITERATIONS, OUTSIDE, Mode, classification
from phexplore.data.population import SdhcPersons, SdhcUnits

CODE = st.integers(0, 255)


def frame(kind, codes):
    columns = {name: np.zeros(1, dtype) for name, dtype in kind.DTYPES.items()}
    columns |= {name.lower(): np.array([code], np.uint8) for name, code in codes.items()}
    return kind(**columns)


def codes_of(columns):
    """Mostly legal codes, sometimes any."""
    legal = {"RTYPE": 5, "QAGE": 115, "RELSHIP": 38, "HHT": 7, "HHT2": 12, "CPLT": 5, "TEN": 4}
    return st.fixed_dictionaries({c: st.one_of(st.integers(0, legal[c]), CODE) for c in columns})


@pytest.mark.parametrize("mode", Mode)
def test_that_every_record_gets_the_cells_its_conditions_say(mode):
    rules = classification(mode)

    @settings(deadline=None)
    @given(codes_of(("RTYPE", "QAGE", "RELSHIP")), codes_of(("RTYPE", "HHT", "HHT2", "CPLT", "TEN")))
    def check(person, unit):
        person_class = rules.persons.of(frame(SdhcPersons, person))[0]
        unit_class = rules.units.of(frame(SdhcUnits, unit))[0]
        atoms = {p.id: rules.person_atoms[unit_class, person_class, i] for i, p in enumerate(rules.person_tables)}
        atoms |= {p.id: rules.unit_atoms[unit_class, i] for i, p in enumerate(rules.unit_tables)}
        for name, atom in atoms.items():
            product = table(name)
            tabulated = product.private if mode is Mode.PRIVATE else product.non_private
            cells = product.basis_cells if mode is Mode.PRIVATE else product.cells
            inside = tabulated.universe.holds(person, unit)
            expected = [cell.code for cell in cells if inside and cell.where.holds(person, unit)]
            if atom == OUTSIDE:
                assert not inside or (mode is Mode.NON_PRIVATE and not expected)
            else:
                members = rules.membership[name][atom]
                assert [cell.code for cell, member in zip(cells, members, strict=True) if member] == expected
                assert (atom == rules.unfit[name]) == (mode is Mode.PRIVATE and not expected)
        for position, product in enumerate(rules.person_tables):
            universe = (product.private if mode is Mode.PRIVATE else product.non_private).universe
            assert rules.person_in[person_class, position] == all(c.holds(person[c.column]) for c in universe.person)
            assert rules.unit_in[unit_class, position] == all(c.holds(unit[c.column]) for c in universe.unit)

    check()


@pytest.mark.parametrize("mode", Mode)
def test_that_every_race_and_origin_gets_its_place_in_every_iteration(mode):
    groups = classification(mode).groups
    race, hispanic = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(5, dtype=np.uint8), indexing="ij")
    places = np.unravel_index(groups.of(race.ravel(), hispanic.ravel()), groups.shape)
    for axis, iteration in enumerate(GROUP_ITERATIONS):
        level = iteration_levels()[iteration]
        expected = [
            level.place(int(r), int(h), private=mode is Mode.PRIVATE)
            for r, h in zip(race.ravel(), hispanic.ravel(), strict=True)
        ]
        nowhere = len(level.codes)
        assert places[axis].tolist() == [nowhere if place is None else place for place in expected]


def test_that_derived_tables_are_counted_in_non_private_mode_only():
    counted = {mode: set(classification(mode).membership) for mode in Mode}
    assert counted[Mode.NON_PRIVATE] - counted[Mode.PRIVATE] == {"PH5_num", "PH8_num"}
    assert [p.id for p in classification(Mode.NON_PRIVATE).unit_tables] == [
        "PH1_denom",
        "PH5_denom",
        "PH8_num",
        "PH8_denom",
    ]
