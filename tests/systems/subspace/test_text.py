from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.model.subspace import Axis, Grouping, Histogram, LinearCount, LinearQuery, Totals
from phexplore.systems.subspace.text import (
    TextRefusedError,
    axes_text,
    invariant_text,
    matrix_rows,
    parse_axes,
    parse_invariants,
    parse_query,
    query_text,
)

NAMES = ("place", "hour", "group", "state")
WEIGHTS = st.fractions(min_value=-50, max_value=50, max_denominator=97).filter(bool)
SUMS = st.builds(
    lambda name, cells, weights: LinearCount(name, tuple(zip(sorted(cells), weights, strict=False))),
    st.sampled_from(["north", "row 1", "a=b".replace("=", "-"), "ältere Menschen"]),
    st.sets(st.integers(0, 10**6), min_size=1, max_size=6),
    st.lists(WEIGHTS, min_size=6, max_size=6),
)
TOTALS = st.builds(lambda by: Totals(tuple(by)), st.lists(st.sampled_from(NAMES), unique=True, max_size=3))


@given(st.lists(st.one_of(SUMS, TOTALS), max_size=5))
def test_that_exact_sums_survive_being_written_and_read(invariants) -> None:
    assert parse_invariants(invariant_text(invariants), NAMES) == tuple(invariants)


@given(st.lists(SUMS, max_size=4))
def test_that_queries_survive_being_written_and_read(answers) -> None:
    query = LinearQuery(tuple(answers)) if answers else Histogram()
    assert parse_query(query_text(query)) == query


def test_that_people_may_write_it_their_own_way() -> None:
    assert parse_invariants("total by place x hour\n\ntotal by state, group", NAMES) == (
        Totals(("place", "hour")),
        Totals(("state", "group")),
    )
    (found,) = parse_invariants("north=#0+2 * #5-1/3·#7", NAMES)
    assert found.coefficients == ((0, Fraction(1)), (5, Fraction(2)), (7, Fraction(-1, 3)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("totals", "Line 1"),
        ("total\ntotal by plaice", "Did you mean"),
        ("a = ", "no coefficient"),
        ("a = #1 + #1", "twice"),
        ("a = 0*#1", "weight of 0"),
        ("a = #1 #2", "#2"),
        ("a = #x", "#x"),
        ("a = 1/0*#1", "Line 1"),
    ],
)
def test_that_a_line_that_cannot_be_read_is_named(text, words) -> None:
    with pytest.raises(TextRefusedError, match=words):
        parse_invariants(text, NAMES)


def test_that_axes_keep_their_labels_while_name_and_size_stay() -> None:
    county = Axis("county", 2, ("A", "B"), (Grouping("state", ("x", "x")),))
    assert parse_axes(axes_text((county, Axis("hour", 24))), (county,)) == (county, Axis("hour", 24))
    assert parse_axes("county 3", (county,)) == (Axis("county", 3),)
    assert parse_axes("cells 4,000", ()) == (Axis("cells", 4000),)
    for wrong in ("", "county", "county 0", "a 1, a 2"):
        with pytest.raises(TextRefusedError):
            parse_axes(wrong, ())


def test_that_a_matrix_is_read_row_by_row() -> None:
    rows = matrix_rows("1, 1, 0\n0;0.5;-1/3\n", 3)
    assert rows[0].coefficients == ((0, Fraction(1)), (1, Fraction(1)))
    assert rows[1].coefficients == ((1, Fraction(1, 2)), (2, Fraction(-1, 3)))
    for wrong in ("", "1 1", "0 0 0", "1 a 1"):
        with pytest.raises(TextRefusedError):
            matrix_rows(wrong, 3)
