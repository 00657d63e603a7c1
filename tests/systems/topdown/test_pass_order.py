"""Passes as the window edits them: a query group is in one pass of a stage at most; empty passes go."""

from __future__ import annotations

import pytest

from phexplore.model.edits import EditRefusedError
from phexplore.systems.registry import preset
from phexplore.systems.topdown.pass_order import (
    Stage,
    alike,
    columns,
    has_order,
    moved,
    order_edit,
    passes_of,
    rows,
    toggled,
    with_pass,
    without_empty,
)

PERSONS = preset("pl94-2020-persons-us").scenario
METHOD = PERSONS.topdown
LEAST, ROUNDER = Stage.LEAST_SQUARES, Stage.ROUNDER


def test_that_levels_of_one_order_are_found():
    assert alike(METHOD, "County") == ("State", "County", "Tract", "Block_Group")
    assert alike(METHOD, "US") == ("US",)


def test_that_a_query_moves_to_the_pass_it_is_ticked_in():
    after = toggled(METHOD, "County", LEAST, "hispanic", (0, 0))
    first, second = columns(after, LEAST)
    assert first.queries == ("total", "hispanic")
    assert "hispanic" not in second.queries
    assert after.rounder == METHOD.passes["County"].rounder


def test_that_an_emptied_pass_disappears():
    emptied = toggled(METHOD, "County", LEAST, "total", (0, 0))
    assert next(column.queries for column in columns(emptied, LEAST)) == ()
    assert len(columns(without_empty(emptied, LEAST), LEAST)) == 1


def test_that_a_pass_is_added_once_and_moved():
    more = with_pass(METHOD, "County", ROUNDER)
    assert [column.title for column in columns(more, ROUNDER)] == ["Pass 1", "Pass 2", "Pass 3"]
    label, edit = order_edit(("County",), more, "Add a pass")
    assert label == "Add a pass at County"
    with pytest.raises(EditRefusedError, match="still empty"):
        with_pass(edit(PERSONS).topdown, "County", ROUNDER)
    swapped = moved(METHOD, "County", LEAST, (0, 1), -1)
    assert columns(swapped, LEAST)[1].queries == ("total",)
    with pytest.raises(EditRefusedError, match="no pass on that side"):
        moved(METHOD, "County", LEAST, (0, 0), -1)


def test_that_several_levels_change_in_one_edit():
    after = toggled(METHOD, "County", LEAST, "hispanic", (0, 0))
    _, edit = order_edit(alike(METHOD, "County"), after, "Change")
    changed = edit(PERSONS).topdown
    assert {changed.passes[level] for level in alike(METHOD, "County")} == {after}
    assert changed.passes["US"] == METHOD.passes["US"]


def test_that_rows_offer_what_is_measured_and_the_rounder_the_catalogue():
    assert "total" not in rows(METHOD, "US", LEAST)
    assert "total" in rows(METHOD, "US", ROUNDER)


def test_that_a_level_without_order_says_what_is_done():
    method = preset("ddp-2019-persons-us").scenario.topdown
    assert not has_order(method, "County")
    assert passes_of(method, "County").least_squares == ((method.queries_at("County"),),)


def test_that_outer_passes_are_numbered():
    method = preset("dhc-2020-persons-us").scenario.topdown
    assert [column.title for column in columns(passes_of(method, "County"), LEAST)] == ["Pass 1.1", "Pass 2.1"]
