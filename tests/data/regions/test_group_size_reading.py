from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from phexplore.data.regions.group_size_reading import read_group_sizes, read_size_counts, shipped_group_sizes
from phexplore.data.regions.taxi_shaped import GROUPS, INDIVIDUALS, LARGEST, LEVELS, taxi_shaped, write_size_counts
from phexplore.model.group_sizes import GroupSizes, equal_shares
from phexplore.model.issues import InputProblemsError
from phexplore.systems.registry import preset

CENSUS = preset("group-sizes-census-2010").scenario.group_sizes
TWO = GroupSizes(("US", "State"), (1, 2), Fraction(1), equal_shares(("US", "State")), 4)


def written(tmp_path, text):
    path = tmp_path / "groups.csv"
    path.write_text(text, encoding="utf-8")
    return path


def problems(path, method=TWO):
    with pytest.raises(InputProblemsError) as caught:
        read_group_sizes(path, method)
    return caught.value.issues


def test_that_each_form_is_recognised(tmp_path):
    sizes = read_group_sizes(written(tmp_path, "region,size,count\nGA,1,5\nNY,3,2\nGA,9,1\n"), TWO)
    assert sizes.counts.tolist() == [[5, 0, 0, 1], [0, 0, 2, 0]]
    people = read_group_sizes(written(tmp_path, "user,unit,region,quantity\n1,A,GA,1\n2,A,GA,1\n"), TWO)
    assert people.counts.tolist() == [[0, 1, 0, 0]]
    assert "no table of group sizes" in problems(written(tmp_path, "a,b\n1,2\n"))[0].sentence


def test_that_the_preset_reads_what_is_shipped():
    found = read_group_sizes(shipped_group_sizes(), CENSUS)
    assert found.counts.shape == (3107, 1000)
    assert found.groups == 115_715_751 + 51 * 50
    assert found.tree.widths == CENSUS.regions


def test_that_household_sizes_need_a_tail_above_seven():
    without = replace(CENSUS, tail=None)
    assert "need a tail" in problems(shipped_group_sizes(), without)[0].sentence
    assert read_group_sizes(shipped_group_sizes(), replace(without, largest=7)).open_ended
    assert "3 levels" in problems(shipped_group_sizes(), TWO)[0].sentence


def test_that_bad_lines_of_sizes_are_listed(tmp_path):
    text = "region,size,count\nGA,1,5\nGA/x,1,1\nNY,x,1\nNY,2,-3\n"
    assert [(issue.line, issue.column) for issue in problems(written(tmp_path, text))] == [(3, 1), (4, 2), (5, 3)]
    text = "region,size,count\nGA,0,5\nNY,2000000,1\n"
    assert [(issue.line, issue.column) for issue in problems(written(tmp_path, text))] == [(2, 2), (3, 2)]
    text = "region,size,count\nGA,1,5\nGA,1,6\n"
    assert [(issue.line, issue.column) for issue in problems(written(tmp_path, text))] == [(3, 2)]


def test_that_taxi_shaped_groups_have_the_papers_shape_and_survive_a_file(tmp_path):
    groups = taxi_shaped(3)
    assert (groups.groups, groups.largest, groups.tree.widths) == (GROUPS, LARGEST, (1, 6, 263))
    assert groups.individuals == pytest.approx(INDIVIDUALS, rel=0.05)
    assert groups.synthetic
    assert (groups.counts == taxi_shaped(3).counts).all()
    path = tmp_path / "taxis.csv"
    write_size_counts(groups, path)
    back = read_size_counts(path, LEVELS)
    assert back.tree.codes == groups.tree.codes
    assert (back.counts == groups.counts[:, : back.largest]).all()
    assert back.groups == GROUPS
