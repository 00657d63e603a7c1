from __future__ import annotations

import pytest

from phexplore.data.regions.group_records import read_group_records
from phexplore.model.issues import InputProblemsError

# Table 2 of the paper: five people in Georgia, six in New York.
RUNNING_EXAMPLE = """user,unit,region,quantity
01,A,GA,1
02,B,GA,1
03,A,GA,1
04,A,GA,1
05,C,GA,1
06,D,NY,1
07,E,NY,1
08,D,NY,1
09,D,NY,1
10,F,NY,1
11,F,NY,1
"""
LEVELS = ("US", "State")


def records(tmp_path, text=RUNNING_EXAMPLE, name="records.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def problems(path, levels=LEVELS, quantity=1):
    with pytest.raises(InputProblemsError) as caught:
        read_group_records(path, levels, 4, quantity)
    return caught.value.issues


def test_that_the_papers_running_example_is_counted(tmp_path):
    found = read_group_records(records(tmp_path), LEVELS, 4, 1)
    assert found.tree.codes == (("",), ("GA", "NY"))
    assert found.counts.tolist() == [[2, 0, 1, 0], [1, 1, 1, 0]]
    assert found.by_level()[0].tolist() == [[3, 1, 2, 0]]
    assert (found.groups, found.individuals) == (6, 11)


def test_that_quantities_are_added_up_and_large_or_empty_groups_said(tmp_path):
    text = "unit,region,quantity,user\nA,GA,3,1\nA,GA,2,2\nB,GA,0,3\nC,GA,1,4\n"
    found = read_group_records(records(tmp_path, text), LEVELS, 4, 3)
    assert found.counts.tolist() == [[1, 0, 0, 1]]
    assert found.open_ended
    assert any("size 0" in remark for remark in found.remarks)
    assert any("more than 4" in remark for remark in found.remarks)


def test_that_listed_regions_count_even_when_empty(tmp_path):
    records(tmp_path)
    records(tmp_path, "region\nNY\nGA\nAL\n", "regions.csv")
    found = read_group_records(tmp_path, LEVELS, 4, 1)
    assert found.tree.codes[1] == ("AL", "GA", "NY")
    assert found.counts[0].sum() == 0
    records(tmp_path, "region\nNY\n", "regions.csv")
    assert [issue.line for issue in problems(tmp_path)] == [2, 3, 4, 5, 6]


def test_that_deeper_regions_are_paths(tmp_path):
    text = "user,unit,region,quantity\n1,A,GA/Fulton,1\n2,B,GA/Cobb,1\n3,C,NY/Kings,1\n"
    found = read_group_records(records(tmp_path, text), ("US", "State", "County"), 2, 1)
    assert found.tree.codes[2] == ("GA/Cobb", "GA/Fulton", "NY/Kings")
    assert found.tree.widths == (1, 2, 3)


def test_that_every_bad_record_is_listed_with_line_and_column(tmp_path):
    text = (
        "user,unit,region,quantity\n1,A,GA,1\n,A,GA,1\n2,,GA,1\n3,B,GA,one\n4,C,GA,-1\n5,D,GA/Fulton,1\n6,A,NY,1\n1,A,GA,1\n7,E,,1\n"
        "8,F,GA,2\n"
    )
    found = problems(records(tmp_path, text))
    assert [(issue.line, issue.column) for issue in found] == [
        (3, 1), (4, 2), (5, 4), (6, 4), (7, 3), (8, 3), (9, 1), (10, 3), (11, 4),
    ]  # fmt: skip
    assert "limit in the parameters, 1." in found[-1].sentence
    assert "another region than on its first record" in found[5].sentence


def test_that_missing_columns_and_empty_files_are_said(tmp_path):
    assert "unit" in problems(records(tmp_path, "user,region,quantity\n1,GA,1\n"))[0].sentence
    assert "no row" in problems(records(tmp_path, "user,unit,region,quantity\n"))[0].sentence
    assert "cannot be read" in problems(tmp_path / "absent.csv")[0].sentence
