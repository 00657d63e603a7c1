from __future__ import annotations

import datetime as dt
import io
from fractions import Fraction

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_fixtures import NOW

from phexplore.model.issues import InputProblemsError
from phexplore.model.keys import parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.systems.phsafe.edits import set_budget, set_target
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.snapshot import scenario_snapshot
from phexplore.systems.phsafe.table10 import PAPER_HEADERS, table10_csv
from phexplore.systems.phsafe.table10_read import Table10Entry, read_table10
from phexplore.systems.phsafe.table10_xlsx import table10_xlsx

HEAD = ",".join(PAPER_HEADERS)

WRITERS = {
    "csv": lambda scenario: table10_csv(scenario, forecast(scenario)),
    "xlsx": lambda scenario: table10_xlsx(scenario_snapshot(scenario, NOW)),
}


def what_it_says(scenario):
    method = scenario.method
    return [
        Table10Entry(query, method.targets.get(query), method.thresholds.get(query.table), budget)
        for query, budget in method.budgets.items()
    ]


def read_lines(*lines, head=HEAD):
    return read_table10("\r\n".join([head, *lines]).encode(), "t.csv")


def problems(content, name="t.csv"):
    with pytest.raises(InputProblemsError) as caught:
        read_table10(content if isinstance(content, bytes) else "\r\n".join(content).encode(), name)
    return [(issue.place, issue.sentence) for issue in caught.value.issues]


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
def test_that_what_was_exported_is_read_back_exactly(write, scenario):
    assert read_table10(write(scenario)) == what_it_says(scenario)


BUDGETS = st.fractions(min_value=0, max_value=10**4, max_denominator=10**20) | st.decimals(
    min_value=0, max_value=1000, places=18
).map(Fraction)


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(budget=BUDGETS, target=st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_that_no_digit_of_any_budget_or_target_is_lost(write, us, budget, target):
    query = parse_query("PH3/state_H,I")
    edited = set_budget(set_target(us, query, target), query, budget)
    if 0 < budget < Fraction(1, 10**9):
        return  # noise too wide to forecast
    assert read_table10(write(edited)) == what_it_says(edited)


def test_that_the_paper_s_own_shape_is_read():
    entries = read_lines(
        'PH1_num,10,"(Nation, Unattributed)",500,0.002619,0.005238',
        ',,"(State, H-I)",200,0.016371,0.032742',
        'PH1_denom,NA,"(Nation, A-G)",500,0.000022,',
        ",,usa_*,,,0.000044",
    )
    assert [(entry.query.text, entry.threshold, entry.target) for entry in entries] == [
        ("PH1_num/usa_*", 10, 500),
        ("PH1_num/state_H,I", 10, 200),
        ("PH1_denom/usa_A-G", None, 500),
        ("PH1_denom/usa_*", None, None),
    ]
    assert [entry.budget for entry in entries] == [
        Fraction("0.002619"),
        Fraction("0.016371"),
        Fraction("0.000022"),
        Fraction("0.000022"),
    ]


def test_that_a_file_of_a_semicolon_locale_is_read_with_decimal_commas():
    head = HEAD.replace(",", ";")
    (entry,) = read_lines("PH3;6;(State, A-G);20;0,662976;1,325952", head=head)
    assert (entry.target, entry.budget) == (20, Fraction("0.662976"))
    (entry,) = read_lines("PH3;6;(State, A-G);20;1,326;", head=head)
    assert entry.budget == Fraction("1.326")


def test_that_a_byte_order_mark_a_title_and_other_columns_do_no_harm():
    text = "Proposal of May\n\nNote," + HEAD + '\nx,PH2,10,"(State, Unattributed)",200,0.02,0.04\n'
    (entry,) = read_table10(b"\xef\xbb\xbf" + text.encode())
    assert (entry.query.text, entry.budget) == ("PH2/state_*", Fraction("0.02"))


@pytest.mark.parametrize(
    ("line", "place", "words"),
    [
        ('PH9,10,"(State, A-G)",1,1,2', "t.csv:2:1", "'PH9' is not a measured table"),
        ('PH5_num,10,"(State, A-G)",1,1,2', "t.csv:2:1", "not a measured table"),
        ('PH2,10,"(State, A-G)",1,1,2', "t.csv:2:3", "PH2 is not published at State, A-G"),
        ('PH3,6,"(County, A-G)",1,1,2', "t.csv:2:3", "'(County, A-G)' is not a population-group level"),
        ('PH3,0,"(State, A-G)",1,1,2', "t.csv:2:2", "got '0'"),
        ('PH3,6.5,"(State, A-G)",1,1,2', "t.csv:2:2", "got '6.5'"),
        ('PH1_denom,3,"(State, A-G)",1,1,2', "t.csv:2:2", "PH1_denom is not truncated"),
        ('PH3,6,"(State, A-G)",0,1,2', "t.csv:2:4", "more than 0, got 0"),
        ('PH3,6,"(State, A-G)",1,-1,', "t.csv:2:5", "got -1"),
        ('PH3,6,"(State, A-G)",1,3-Jan,', "t.csv:2:5", "'3-Jan' is not a number"),
        ('PH3,6,"(State, A-G)","1,000",1,2', "t.csv:2:4", "1,000 can mean 1000 or a decimal number"),
        ('PH3,6,"(State, A-G)",1,,', "t.csv:2:5", "no privacy loss"),
        ('PH3,6,"(State, A-G)",1,1,3', "t.csv:2:6", "different unbounded privacy losses: 1 and 1.5"),
        ('PH3,6,"(State, A-G)",1,Infinity,3', "t.csv:2:6", "different unbounded privacy losses"),
        ('PH3,,"(State, A-G)",1,1,2', "t.csv:2:2", "PH3 needs a truncation threshold"),
    ],
)
def test_that_every_mistake_is_named_with_its_cell(line, place, words):
    ((where, sentence),) = problems([HEAD, line])
    assert where == place
    assert words in sentence


def test_that_all_mistakes_are_listed_at_once_and_nothing_is_returned():
    found = problems(
        [
            HEAD,
            'PH3,6,"(State, A-G)",1,x,',
            'PH3,6,"(State, H-I)",1,1,2',
            'PH3,7,"(State, H-I)",1,1,2',
        ]
    )
    assert [place for place, _ in found] == ["t.csv:2:5", "t.csv:4:3", "t.csv:4:2"]
    assert "comes twice" in found[1][1]
    assert "two truncation thresholds, 6 and 7" in found[2][1]


@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n", b"\xff\xfe=", HEAD.encode(), b'Table,"Population Group Level\n']
)
def test_that_a_file_without_a_table_is_refused(content):
    assert problems(content)


@pytest.mark.parametrize("content", [b"PK\x03\x04 not a workbook", b"PK\x03\x04"])
def test_that_a_broken_workbook_is_refused_with_a_sentence(content):
    ((place, sentence),) = problems(content, "b.xlsx")
    assert place == "b.xlsx"
    assert "cannot be opened" in sentence


class TestAnEditedWorkbook:
    @pytest.fixture
    def sheet(self, us):
        self.book = openpyxl.load_workbook(io.BytesIO(table10_xlsx(scenario_snapshot(us, NOW))))
        return self.book["Budgets"]

    def read(self):
        buffer = io.BytesIO()
        self.book.save(buffer)
        return {entry.query.text: entry for entry in read_table10(buffer.getvalue(), "b.xlsx")}

    def problems(self):
        buffer = io.BytesIO()
        self.book.save(buffer)
        return problems(buffer.getvalue(), "b.xlsx")

    def test_that_a_new_budget_is_read_as_it_was_typed(self, sheet):
        sheet["E2"] = 0.1
        sheet["E3"] = "1/3"
        sheet["E4"] = "Infinity"
        sheet["D4"] = 12.5
        found = self.read()
        assert found["PH1_num/usa_*"].budget == Fraction(1, 10)
        assert found["PH1_num/usa_A-G"].budget == Fraction(1, 3)
        assert found["PH1_num/usa_H,I"].budget is UNLIMITED
        assert found["PH1_num/usa_H,I"].target == Fraction(25, 2)

    def test_that_a_bounded_value_typed_over_the_formula_must_agree(self, sheet):
        sheet["F2"] = 0.9
        assert [place for place, _ in self.problems()] == ["b.xlsx › Budgets!F2"]
        sheet["E2"] = None
        assert self.read()["PH1_num/usa_*"].budget == Fraction("0.45")

    def test_that_a_date_a_truth_value_and_an_unsaved_formula_are_named(self, sheet):
        sheet["E2"] = dt.datetime(2026, 1, 3)  # noqa: DTZ001 - a spreadsheet has no zones
        sheet["E3"] = True
        sheet["E4"] = "=1+1"
        assert [(place, sentence.split(",")[0]) for place, sentence in self.problems()] == [
            ("b.xlsx › Budgets!E2", "holds the date or time 2026-01-03 00:00:00"),
            ("b.xlsx › Budgets!E3", "holds True"),
            ("b.xlsx › Budgets!E4", "holds a formula whose value was not saved."),
        ]

    def test_that_a_stale_exact_text_contradicts_an_edited_number(self, us):
        precise = set_budget(us, parse_query("PH1_num/usa_*"), Fraction("0.12345678901234567890123"))
        self.book = openpyxl.load_workbook(io.BytesIO(table10_xlsx(scenario_snapshot(precise, NOW))))
        sheet = self.book["Budgets"]
        assert self.read()["PH1_num/usa_*"].budget == Fraction("0.12345678901234567890123")
        sheet["E2"] = 0.2
        ((place, sentence),) = self.problems()
        assert place.endswith("!E2")
        assert "0.12345678901234567890123 and 0.2" in sentence
