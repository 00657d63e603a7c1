from __future__ import annotations

import json
from fractions import Fraction

import pytest

from phexplore.catalog.tables import queries
from phexplore.files.goals_file import goals_json, read_goals, select_queries
from phexplore.model.conventions import Conversion, Neighbours
from phexplore.model.goals import Cap, CapOn, GoalError, Goals, Tie, TiedBy
from phexplore.model.issues import InputProblemsError
from phexplore.model.keys import parse_query
from phexplore.model.topdown import LevelQuery
from phexplore.systems.registry import preset

CHILDREN = parse_query("PH3/state_A-G")


def read(value):
    return read_goals(json.dumps(value).encode())


def problems(content):
    with pytest.raises(InputProblemsError) as caught:
        read_goals(content if isinstance(content, bytes) else json.dumps(content).encode(), "t.json")
    return caught.value.issues


@pytest.mark.parametrize(
    ("text", "count"),
    [("PH3/state_A-G", 1), ("PH3/usa_*", 1), ("PH3/usa", 3), ("*/state_A-G", 7), ("*/usa", 23), ("PH2", 2), ("*", 46)],
)
def test_that_a_selection_names_queries_in_catalogue_order(text, count):
    chosen = select_queries(text)
    assert len(chosen) == count
    assert list(chosen) == [query for query in queries() if query in chosen]


@pytest.mark.parametrize("text", ["PH9", "PH2/state_A-G", "PH5_num"])
def test_that_a_selection_of_nothing_is_refused(text):
    with pytest.raises(GoalError):
        select_queries(text)


def test_that_a_later_target_replaces_a_general_one():
    goals = read({"targets": {"*/state": 200, "*/state_A-G": "68", "PH3": {"state_A-G": 20.5}}})
    assert goals.margins[CHILDREN] == Fraction("20.5")
    assert goals.margins[parse_query("PH7/state_A-G")] == 68
    assert goals.margins[parse_query("PH7/state_*")] == 200


def test_that_targets_may_stand_alone_as_presets_list_them():
    assert read({"PH3": {"state_A-G": 20}, "PH2/usa_*": 500}).margins == {
        CHILDREN: Fraction(20),
        parse_query("PH2/usa_*"): Fraction(500),
    }


def test_that_goals_written_as_json_are_read_back_as_they_were():
    goals = Goals(
        margins={CHILDREN: Fraction(41, 2)},
        floors={parse_query("PH6/usa_*"): Fraction(1, 3)},
        caps=(
            Cap(CapOn.BOUNDED, Fraction(5, 2)),
            Cap(CapOn.UNBOUNDED, Fraction(1), frozenset({CHILDREN})),
            Cap(CapOn.EPSILON, Fraction(11), None, Neighbours.UNBOUNDED, Fraction(1, 10**6), Conversion.BUN_STEINKE),
        ),
        ties=(Tie(select_queries("*/usa"), TiedBy.BUDGET),),
        locks=frozenset({parse_query("PH2/usa_*")}),
    )
    assert read(goals_json(goals)) == goals


@pytest.mark.parametrize(
    ("content", "place", "sentence"),
    [
        (b'{"targets": {\n "PH9/usa": 3}}', (2, 2), "'PH9' is not measured"),
        (b'{"targets": {"PH3/mars": 3}}', (1, 14), "nothing measured at 'mars'"),
        (b'{"targets": {"PH3/usa": true}}', (1, 25), "A number is expected"),
        (b'{"targets": {"PH3/usa": -1}}', (1, 25), "more than 0"),
        (b'{"targets": {"PH3/usa": 1, "PH3/usa": 2}}', (1, 28), "stands twice"),
        (b'{"targets": 3}', (1, 13), "not an object"),
        (b'{"targets": {}, "cap": []}', (1, 17), "'cap' is unknown"),
        (b'{"caps": [{"rho": 1, "epsilon": 2}]}', (1, 11), "exactly one of"),
        (b'{"caps": [{"rho": 0}]}', (1, 19), "more than 0"),
        (b'{"caps": [3]}', (1, 11), "not an object"),
        (b'{"caps": [{"epsilon": 1, "delta": 2}]}', (1, 35), "between 0 and 1"),
        (b'{"caps": [{"epsilon": 1, "conversion": "best"}]}', (1, 40), "conversion is none of"),
        (b'{"ties": [{"queries": ["PH3/usa_*"]}]}', (1, 11), "at least two"),
        (b'{"ties": [{"queries": ["*"], "equal": "luck"}]}', (1, 39), "tied by margin or by budget"),
        (b'{"ties": [{"queries": ["PH3/usa"]}, {"queries": ["PH3/usa"]}]}', (1, 1), "tied twice"),
        (b'{"locks": [1]}', (1, 12), "text in quotes"),
        (b"[]", (1, 1), "holds no object"),
        (b'{"targets": }', (1, 13), "Not JSON"),
    ],
)
def test_that_every_problem_has_its_place(content, place, sentence):
    found = problems(content)
    assert any(sentence in issue.sentence and (issue.line, issue.column) == place for issue in found), found


def test_that_all_problems_are_listed_together():
    assert len(problems({"targets": {"PH9": 1, "PH3/usa": "x"}, "locks": ["PH8"]})) == 3


def test_that_a_csv_of_margins_is_read():
    text = "table;level;MOE\nPH3;state_A-G;20,5\n*;usa;500\n\n"
    goals = read_goals(text.encode())
    assert goals.margins[CHILDREN] == Fraction("20.5")
    assert len(goals.margins) == 24


def test_that_problems_of_a_csv_name_their_line():
    found = problems(b"table,level,MOE\nPH3,state_A-G,x\nPH3,mars,1\nPH3\nPH3,usa_*,0\n")
    assert [issue.line for issue in found] == [2, 3, 4, 5]
    assert problems(b"a,b\n1,2\n")[0].line == 1
    assert problems(b"table,level,MOE\n\xff\n")[0].line == 2


def test_that_goals_of_topdown_name_levels_and_queries():
    known = tuple(preset("pl94-2020-persons-us").scenario.topdown.query_shares)
    goals = read_goals(
        b'{"targets": {"*/total": 10, "Block_Group": {"hispanic * cenrace": 4}, "State": 7}}', "t", known
    )
    assert goals.margins[LevelQuery("Tract", "total")] == 10
    assert goals.margins[LevelQuery("Block_Group", "hispanic * cenrace")] == 4
    assert goals.margins[LevelQuery("State", "total")] == 7
    assert read_goals(b"level,query,MOE\nBlock,total,90\n", "t", known).margins == {LevelQuery("Block", "total"): 90}
    with pytest.raises(InputProblemsError) as caught:
        read_goals(b'{"targets": {"Block/totl": 1}}', "t", known)
    assert caught.value.issues[0].remedy == "Did you mean 'total'?"
