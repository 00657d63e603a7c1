from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from population_files import column_place, tiny_population, with_value, write_csv

from phexplore.data.cross_field import Linked, check_records
from phexplore.data.layout import FRAMES, LAYOUT
from phexplore.data.problems import Phase, Place, ProblemLog
from phexplore.data.reading import KEPT, Table
from phexplore.data.unclassifiable import unclassifiable_records
from phexplore.data.validation import as_population, check_data, link
from phexplore.model.issues import Severity

# One value of the tiny population changed, and the place of the error it must give. The rules are those of
# production's private tabulation, which stops at such records.
ERRORS = {
    "married without couple type": ("units", 0, "CPLT", "5", [("units.csv", 2, "CPLT")]),
    "cohabiting with a married couple type": ("units", 4, "CPLT", "1", [("units.csv", 6, "CPLT")]),
    "no household type 2": ("units", 1, "HHT2", "00", [("units.csv", 3, "HHT2")]),
    "own child, household says none": ("units", 0, "HHT2", "02", [("persons.csv", 4, "RELSHIP")]),
    "own child in a household of a man with relatives": ("units", 0, "HHT2", "11", [("persons.csv", 4, "RELSHIP")]),
    "no tenure": ("units", 4, "TEN", "0", [("units.csv", 6, "TEN")]),
    "no race of the householder": ("units", 1, "HHRACE", "00", [("units.csv", 3, "HHRACE")]),
    "institution in a housing unit": ("persons", 3, "RELSHIP", "37", [("persons.csv", 5, "RELSHIP")]),
    "quarters in a housing unit": ("persons", 2, "RELSHIP", "38", [("persons.csv", 4, "RELSHIP")]),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_that_a_record_without_basis_cell_is_an_error(tmp_path, kind):
    frame, row, column, value, expected = ERRORS[kind]
    report = check_data(write_csv(tmp_path, with_value(frame, row, column, value)))
    errors = [issue for issue in report.issues if issue.severity is Severity.ERROR]
    assert report.reached is Phase.RECORDS
    places = {"persons": {}, "units": {}}
    for name, columns in places.items():
        columns.update({own.name: column_place(name, own.name) + 1 for own in LAYOUT[name]})
    wanted = [(file, line, places[file.removesuffix(".csv")][own]) for file, line, own in expected]
    assert [(issue.path[0], issue.line, issue.column) for issue in errors] == wanted


WARNINGS = {
    "number of persons": ("units", 0, "FINAL_POP", "4", "units.csv", 2),
    "householder's race": ("units", 0, "HHRACE", "02", "units.csv", 2),
    "householder's origin": ("units", 1, "HHSPAN", "1", "units.csv", 3),
    "two householders": ("persons", 1, "RELSHIP", "20", "units.csv", 2),
    "no householder": ("persons", 3, "RELSHIP", "36", "units.csv", 3),
    "two partners": ("persons", 2, "RELSHIP", "22", "units.csv", 2),
    "type of unit and geography": ("geo", 2, "RTYPE", "4", "units.csv", 4),
    "type of person and unit": ("persons", 4, "RTYPE", "3", "persons.csv", 6),
    "household relationship in quarters": ("persons", 4, "RELSHIP", "36", "persons.csv", 6),
    "household type": ("units", 1, "HHT", "5", "units.csv", 3),
    "sexes of the householder": ("units", 1, "HHT2", "05", "units.csv", 3),
    "people in family": ("units", 0, "NPF", "2", "units.csv", 2),
    "couple of other sexes": ("units", 0, "CPLT", "2", "units.csv", 2),
    "vacant with tenure": ("units", 2, "TEN", "3", "units.csv", 4),
    "quarters with type": ("units", 3, "HHT", "6", "units.csv", 5),
}


@pytest.mark.parametrize("kind", WARNINGS)
def test_that_a_contradiction_is_a_warning(tmp_path, kind):
    frame, row, column, value, file, line = WARNINGS[kind]
    report = check_data(write_csv(tmp_path, with_value(frame, row, column, value)))
    warnings = [issue for issue in report.issues if issue.severity is Severity.WARNING]
    assert (file, line) in [(issue.path[0], issue.line) for issue in warnings]
    assert all(issue.remedy for issue in warnings)


def test_that_a_person_alone_may_have_either_spelling_of_no_couple(tmp_path):
    assert check_data(write_csv(tmp_path, with_value("units", 1, "CPLT", "5"))).issues == ()
    assert len(check_data(write_csv(tmp_path, with_value("units", 1, "CPLT", "3"))).issues) == 1


def test_that_an_adult_child_does_not_need_a_household_with_own_children(tmp_path):
    population = with_value("persons", 2, "QAGE", "18")
    population["units"][0][column_place("units", "HHT2")] = "02"
    assert check_data(write_csv(tmp_path, population)).issues == ()


def test_that_an_own_child_needs_a_cell_of_ph6_whatever_its_record_type(tmp_path):
    population = with_value("persons", 2, "RTYPE", "5")
    population["units"][0][column_place("units", "HHT2")] = "02"
    assert check_data(write_csv(tmp_path, population)).errors == 1


def test_that_group_quarters_may_hold_children_without_household_type(tmp_path):
    assert check_data(write_csv(tmp_path, with_value("persons", 5, "QAGE", "3"))).issues == ()


def _linked(population):
    tables = {}
    for frame in FRAMES:
        rows = np.array([[int(value) for value in row] for row in population[frame]])
        columns = {
            name: rows[:, column_place(frame, name.upper())].astype(dtype) for name, dtype in KEPT[frame].items()
        }
        tables[frame] = Table(columns, Place(frame, f"{frame}.csv", lambda records: [r + 2 for r in records]))
    linked = link(tables, None, ProblemLog())
    assert isinstance(linked, Linked)
    return linked


_CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("persons"), st.integers(0, 7), st.sampled_from(["RTYPE", "QAGE", "RELSHIP"]), st.integers()),
        st.tuples(
            st.just("units"),
            st.integers(0, 4),
            st.sampled_from(["RTYPE", "HHSPAN", "HHRACE", "TEN", "HHT", "HHT2", "CPLT"]),
            st.integers(),
        ),
        st.tuples(st.just("geo"), st.integers(0, 4), st.just("RTYPE"), st.integers()),
    ),
    max_size=6,
)


@settings(max_examples=150, deadline=None)
@given(_CHANGES)
@example([("geo", 3, "RTYPE", 0), ("units", 3, "HHT", 1)])
def test_that_what_passes_has_a_cell_in_every_table(changes):
    """Against the catalogue: whatever legal values are changed, no record without a cell goes unseen."""
    population = tiny_population()
    for frame, row, column, choice in changes:
        own = LAYOUT[frame][column_place(frame, column)]
        legal = [code for low, high in own.legal for code in range(low, high + 1)]
        population[frame][row][column_place(frame, column)] = own.text(legal[choice % len(legal)])
    linked, log = _linked(population), ProblemLog()
    check_records(linked, log)
    homeless = unclassifiable_records(as_population(linked.persons, linked.units, linked.geo))
    if homeless:
        assert log.has_errors(), homeless[0].sentence
