"""The tree of a spine as intervals: units, looks, the figure, and what is said of a unit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from phexplore.catalog.names import Naming, called
from phexplore.systems.topdown.spine_tree import Fill, SpineTree, Unit, tree_figure
from phexplore.systems.topdown.spine_views import IcicleLevel, TreeContent

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


def content(blocks=6, **changes):
    """A state of two counties; the second has one block, which was bypassed."""
    starts = [np.array([0, blocks]), np.array([0, blocks - 1, blocks]), np.arange(blocks + 1)]
    shares = (Fraction(0), QUARTER, HALF)
    of_unit = [np.array([2]), np.array([1, 2]), np.array([1] * (blocks - 1) + [0])]
    levels = tuple(
        IcicleLevel(
            name,
            np.array([f"{name[0]}{n}".encode() for n in range(len(first) - 1)]),
            first.astype(np.int64),
            share.astype(np.int32),
            None,
            np.full(len(first) - 1, 4.0),
        )
        for name, first, share in zip(("State", "County", "Block"), starts, of_unit, strict=True)
    )
    values = {
        "levels": levels,
        "shares": shares,
        "level_shares": (HALF, QUARTER, QUARTER),
        "total": Fraction(2),
        "symbol": "ρ",
        "z": Fraction(1645, 1000),
        "bypassed": (("County", 1),),
    }
    return TreeContent(**(values | changes))


@pytest.fixture
def tree():
    return SpineTree(content())


def test_that_units_are_found_above_below_and_beside(tree):
    block = tree.unit_at(2, 4.7)
    assert block == Unit(2, 4)
    assert tree.parent(block) == Unit(1, 0)
    assert tree.parent(Unit(0, 0)) is None
    assert tree.unit_at(2, 6) is None
    assert tree.unit_at(7, 0) is None
    assert tree.find("County", "C1") == Unit(1, 1)
    assert tree.find("County", "X") is None


def test_that_looks_say_what_became_of_the_budget(tree):
    assert [tree.fill(Unit(1, n)) for n in (0, 1)] == [Fill.OWN, Fill.RAISED]
    assert tree.fill(Unit(2, 5)) is Fill.COPIED
    assert tree.uses(Fill.RAISED)
    assert not tree.uses(Fill.ADDED)


def test_that_a_unit_is_explained_with_its_exact_budget(tree):
    words = tree.sentence(Unit(1, 1))
    assert "County C1: 1 block." in words
    assert "ρ 1, 50.00 % of the total instead of 25.00 %" in words
    assert "±3.29 people" in words
    assert "copies its parent" in tree.sentence(Unit(2, 5))


def test_that_every_path_of_the_table_adds_up_to_the_same(tree):
    for unit in (Unit(0, 0), Unit(1, 0), Unit(1, 1), Unit(2, 2), Unit(2, 5)):
        last = tree.path_numbers(unit).rows[-1]
        assert last[0] == "Whole path"
        assert last[3] == 1
        assert last[4] == Fraction(2)


def test_that_an_area_is_made_up_of_marked_units():
    plain = content()
    signs = [np.zeros(len(level.codes), np.int8) for level in plain.levels]
    signs[1][0], signs[2][2] = 1, -1
    levels = tuple(
        IcicleLevel(level.name, level.codes, level.first_block, level.share, sign, level.variance)
        for level, sign in zip(plain.levels, signs, strict=True)
    )
    tree = SpineTree(content(levels=levels, area="place 0600001", parts=2))
    assert tree.fill(Unit(1, 0)) is Fill.ADDED
    assert tree.fill(Unit(2, 2)) is Fill.SUBTRACTED
    assert tree.sentence(Unit(2, 2)).endswith("It is subtracted to make up place 0600001.")


def test_that_wide_units_have_their_own_borders(tree):
    runs = tree.runs(1, 0.0, 6.0, 600)
    assert [(run.left, run.right, run.fill) for run in runs] == [(0.0, 500.0, Fill.OWN), (500.0, 600.0, Fill.RAISED)]
    assert all(run.is_unit for run in tree.runs(2, 0.0, 6.0, 600))


def test_that_many_narrow_units_cost_no_more_than_the_pixels():
    tree = SpineTree(content(blocks=400_000))
    runs = tree.runs(2, 0.0, 400_000.0, 1000)
    assert len(runs) <= 1000
    assert sum(run.right - run.left for run in runs) == pytest.approx(1000)
    # The last block copies its parent: it is found as soon as it is a column wide.
    assert tree.runs(2, 399_990.0, 400_000.0, 1000)[-1].fill is Fill.COPIED


def test_that_nothing_is_drawn_beside_the_blocks(tree):
    assert [(run.left, run.right) for run in tree.runs(0, -6.0, 12.0, 300)] == [(100.0, 200.0)]


def test_that_the_figure_holds_every_unit_that_can_be_told_apart(tree):
    figure = tree_figure(tree)
    assert [mark.key for mark in figure.marks if mark.row == 1] == [Unit(1, 0), Unit(1, 1)]
    assert [label.name for label in figure.labels] == ["State", "County", "Block"]
    county = next(mark for mark in figure.marks if mark.key == Unit(1, 1))
    assert (county.parts[0].low, county.parts[0].text) == (5.0, "C1")
    assert county.tip() == tree.sentence(Unit(1, 1))
    assert [entry.text for entry in figure.key] == [
        "bypassed: budget of its only child added",
        "copies its parent, not measured",
    ]
    assert figure.table.column("Units") == (1, 2, 6)


def test_that_a_unit_fills_the_figure_and_those_above_stand_over_it(tree):
    figure = tree_figure(tree, Unit(1, 0), Unit(2, 3))
    assert figure.x.domain == (0, 5)
    assert {mark.key for mark in figure.marks} == {Unit(0, 0), Unit(1, 0), *(Unit(2, n) for n in range(5))}
    assert [(part.low, part.high) for part in figure.over] == [(0, 5), (0, 5), (3, 4)]


def test_that_a_large_tree_has_few_marks_that_say_how_many_units_they_stand_for():
    tree = SpineTree(content(blocks=400_000))
    blocks = [mark for mark in tree_figure(tree).marks if mark.row == 2]
    assert len(blocks) < 10
    assert "400,000 blocks" in tree_figure(tree).title
    assert any("399,999 blocks too narrow" in mark.tip or "400,000 blocks too narrow" in mark.tip for mark in blocks)


def test_that_the_title_counts_parts_of_tribal_areas_beside_the_counties():
    levels = content().levels
    parts = replace(levels[1], codes=np.array([b"04410009", b"14410009"]))
    title = tree_figure(SpineTree(content(levels=(levels[0], parts, levels[2])))).title
    assert "2 counties (1 of tribal areas)" in title


def test_that_units_of_a_spine_alone_are_counted_within_the_unit_above():
    county, prims = b"044001", (b"0440010000", b"0440010001")
    groups = (prims[0] + b"0000", prims[1] + b"0000", prims[1] + b"0001")
    codes = ((b"044",), (county,), prims, groups, (b"440010301001000", b"440010301001001", b"440010302001000"))
    starts = ((0, 3), (0, 3), (0, 1, 3), (0, 1, 2, 3), (0, 1, 2, 3))
    names = ("State", "County", "Prim", "Tract_Subset_Group", "Block")
    levels = tuple(
        IcicleLevel(name, np.array(each), np.array(first, np.int64), np.ones(len(each), np.int32), None, None)
        for name, each, first in zip(names, codes, starts, strict=True)
    )
    plain = content(levels=levels, shares=(HALF, HALF), level_shares=(HALF,) * 5, bypassed=())
    tree = SpineTree(plain)
    with called(Naming.NAMES):
        second = "primitive area 2 of Bristol County, Rhode Island"
        assert tree.name(Unit(2, 1)) == second
        assert tree.name(Unit(3, 2)) == f"tract subset group 2 of {second}"
        assert tree.sentence(Unit(2, 1)).startswith(f"P{second[1:]}: 2 tract subset groups")
        boxes = {mark.key: mark.parts[0] for mark in tree_figure(tree).marks}
        assert [boxes[Unit(3, n)].short for n in range(3)] == [f"tract subset group {n}" for n in (1, 1, 2)]
    assert tree.name(Unit(2, 1)) == "0440010001"
    with called(Naming.BOTH):
        assert tree.name(Unit(2, 1)) == f"0440010001 ({second})"
