from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from phexplore.data.regions.household_sizes import (
    LEVELS,
    group_sizes_of,
    read_household_sizes,
    shipped_household_sizes,
    with_heavy_tail,
)
from phexplore.model.group_sizes import HeavyTail
from phexplore.model.issues import InputProblemsError

ROOT = Path(__file__).resolve().parents[3]
REAL = ROOT.parent / "shared" / "data" / "counties" / "county_household_size_2010.csv"
HEADER = "fips,name,households,hh1,hh2,hh3,hh4,hh5,hh6,hh7plus,complete"
FIRST = "01001,Autauga County,28,1,2,3,4,5,6,7,1"
SECOND = "02013,Aleutians East,36,1,1,1,1,1,1,30,1"
UNKNOWN = "01029,Cleburne County,5891,,,,,,,,0"


def table(tmp_path, *lines, header=HEADER):
    path = tmp_path / "sizes.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def problems(path):
    with pytest.raises(InputProblemsError) as caught:
        read_household_sizes(path)
    return caught.value.issues


def test_that_known_counties_are_read_in_order_and_unknown_ones_named(tmp_path):
    found = read_household_sizes(table(tmp_path, SECOND, UNKNOWN, FIRST))
    assert found.fips.tolist() == ["01001", "02013"]
    assert found.counts[0].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert found.unknown == ("01029",)
    groups = group_sizes_of(found)
    assert groups.tree.levels == LEVELS
    assert groups.tree.widths == (1, 2, 2)
    assert groups.tree.names[1] == ("Alabama", "Alaska")
    assert groups.groups == 28 + 36
    assert groups.open_ended
    assert "1 of 3 counties" in groups.remarks[0]


def test_that_every_contradiction_is_listed_with_its_place(tmp_path):
    found = problems(
        table(
            tmp_path,
            FIRST.replace(",28,", ",29,"),
            SECOND.replace("36,1", "36,-1"),
            UNKNOWN[:-1] + "1",
            FIRST.replace("01001", "01003")[:-1] + "0",
        )
    )
    # A field that is no number comes first; sums and marks are compared once all are numbers.
    assert [(issue.line, issue.column) for issue in found] == [(3, 4)]
    found = problems(table(tmp_path, FIRST.replace(",28,", ",29,"), UNKNOWN[:-1] + "1", SECOND[:-1] + "0"))
    assert [(issue.line, issue.column) for issue in found] == [(2, 3), (3, 11), (4, 11)]
    assert "sum of the seven sizes" in found[0].sentence


def test_that_a_table_without_any_complete_county_is_refused(tmp_path):
    assert "No county" in problems(table(tmp_path, UNKNOWN))[0].sentence
    assert "hh7plus" in problems(table(tmp_path, FIRST, header=HEADER.replace("hh7plus", "hh7")))[0].sentence


def test_that_the_tail_keeps_closed_sizes_and_every_regions_households(tmp_path):
    groups = group_sizes_of(read_household_sizes(table(tmp_path, FIRST, SECOND)))
    tail = with_heavy_tail(groups, 200, HeavyTail(outliers=0))
    assert (tail.counts[:, :6] == groups.counts[:, :6]).all()
    assert tail.counts.sum(axis=1).tolist() == [28, 36]
    assert not tail.open_ended
    again = with_heavy_tail(groups, 200, HeavyTail(outliers=0))
    assert (tail.counts == again.counts).all()
    other = with_heavy_tail(groups, 200, HeavyTail(outliers=0, seed=1))
    assert (tail.counts != other.counts).any()


def test_that_outliers_lie_in_their_range_in_every_state(tmp_path):
    groups = group_sizes_of(read_household_sizes(table(tmp_path, FIRST, SECOND)))
    bare = with_heavy_tail(groups, 300, HeavyTail(outliers=0)).counts
    found = with_heavy_tail(groups, 300, HeavyTail(outliers=400, smallest=100)).counts
    added = found - bare
    assert added.min() >= 0
    assert added.sum(axis=1).tolist() == [400, 400]
    assert added[:, :99].sum() == 0
    assert (added[:, 99:] > 0).sum() > 200


def test_that_consecutive_sizes_have_the_ratio_in_expectation(tmp_path):
    """With n₆ = 60,000 and 40,000 in the open class the ratio is 0.4; a size of expectation e deviates by 5 √e once in 10⁶."""
    line = "01001,Autauga County,100000,0,0,0,0,0,60000,40000,1"
    counts = with_heavy_tail(
        group_sizes_of(read_household_sizes(table(tmp_path, line))), 1000, HeavyTail(outliers=0)
    ).counts[0]
    expected = 60_000 * 0.4 ** np.arange(1, 8)
    assert (np.abs(counts[6:13] - expected) < 5 * np.sqrt(expected)).all()


def test_that_a_tail_needs_room(tmp_path):
    groups = group_sizes_of(read_household_sizes(table(tmp_path, FIRST)))
    with pytest.raises(ValueError, match="above 7"):
        with_heavy_tail(groups, 7, HeavyTail())
    with pytest.raises(ValueError, match="larger sizes need a tail"):
        groups.resized(8)
    smaller = groups.resized(3)
    assert smaller.counts[0].tolist() == [1, 2, 25]
    assert smaller.open_ended


def test_that_the_shipped_table_needs_nothing_else():
    found = shipped_household_sizes()
    assert len(found) == 3107
    assert len(found.unknown) == 36
    assert found.counts.sum() == 115_715_751
    assert group_sizes_of(found).tree.widths == (1, 51, 3107)


@pytest.mark.real_data
@pytest.mark.skipif(not REAL.exists(), reason="the census data folder does not stand beside the checkout")
def test_that_the_shipped_table_is_derived_from_the_real_one():
    source = ROOT / "packaging" / "derive_household_sizes.py"
    spec = importlib.util.spec_from_file_location("derive_household_sizes", source)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.TARGET.read_text(encoding="utf-8") == script.derived(REAL)
    real = read_household_sizes(REAL)
    assert (real.counts == shipped_household_sizes().counts).all()
