from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.catalog.tables import queries
from phexplore.errors import ExportError
from phexplore.files.atomic_files import read_text
from phexplore.model.diff import diff, parameters_only
from phexplore.model.issues import InputProblemsError, Severity
from phexplore.model.keys import TableId, parse_query
from phexplore.model.numbers import UNLIMITED
from phexplore.systems.phsafe.config_file import BYTE_ORDER_MARK, read_config, write_config
from phexplore.systems.phsafe.edits import set_budget, set_reader, set_states, set_threshold


def test_that_the_production_presets_survive_their_file(us, puerto_rico):
    for scenario in (us, puerto_rico):
        again, warnings = read_config(write_config(scenario))
        assert warnings == ()
        assert (again.method.budgets, again.method.thresholds) == (scenario.method.budgets, scenario.method.thresholds)
        assert (again.method.states, again.method.reader) == (scenario.method.states, scenario.method.reader)
        assert again.method.framework is scenario.method.framework


def test_that_an_independent_reader_finds_what_production_requires(us):
    value = json.loads(write_config(us))
    assert list(value) == ["privacy_budget", "tau", "state_filter", "reader", "privacy_defn"]
    assert sum(len(levels) for levels in value["privacy_budget"].values()) == 46
    assert set(value["privacy_budget"]["PH2"]) == {"usa_*", "state_*"}
    assert set(value["privacy_budget"]["PH3"]) == {f"{r}_{i}" for r in ("usa", "state") for i in ("A-G", "H,I", "*")}
    assert all(isinstance(b, float) for levels in value["privacy_budget"].values() for b in levels.values())
    assert value["privacy_budget"]["PH3"]["state_A-G"] == 0.662976
    assert value["tau"] == {"PH1_num": 10, "PH2": 10, "PH3": 6, "PH4": 10, "PH6": 6, "PH7": 10}
    assert len(value["state_filter"]) == 51
    assert value["privacy_defn"] == "zcdp"


FOREIGN = """{
  "comment": "keep me",   "tau": {"PH1_num": 10, "PH2":10, "PH3": 6,
     "PH4": 10, "PH6": 6, "PH7": 10 },
  "reader": "csv", "privacy_defn"  :"zcdp",
  "state_filter": ["44" ,"09"],
  "privacy_budget": BUDGETS,
  "later": [1, {"x": 2e0}]
}
"""


@pytest.fixture
def foreign(us):
    budgets = json.loads(write_config(us))["privacy_budget"]
    budgets["PH2"]["usa_*"] = 0.123456
    return FOREIGN.replace("BUDGETS", json.dumps(budgets))


def test_that_an_unchanged_import_is_written_byte_for_byte(foreign):
    scenario, warnings = read_config(foreign)
    assert write_config(scenario) == foreign
    assert [(issue.severity, issue.line) for issue in warnings] == [(Severity.WARNING, 2), (Severity.WARNING, 7)]


EDITS = {
    "budget": (lambda s: set_budget(s, parse_query("PH2/usa_*"), Fraction(1, 4)), '"usa_*": 0.123456', '"usa_*": 0.25'),
    "threshold": (lambda s: set_threshold(s, TableId("PH2"), 12), '"PH2":10', '"PH2":12'),
    "states": (lambda s: set_states(s, ("44",)), '["44" ,"09"]', '["44"]'),
    "reader": (lambda s: set_reader(s, "cef"), '"reader": "csv"', '"reader": "cef"'),
}


@pytest.mark.parametrize(("edit", "old", "new"), EDITS.values(), ids=EDITS.keys())
def test_that_one_edit_changes_one_place_of_an_imported_file(foreign, edit, old, new):
    scenario, _ = read_config(foreign)
    assert foreign.count(old) == 1
    assert write_config(edit(scenario)) == foreign.replace(old, new)


@pytest.mark.parametrize(("edit", "old", "new"), EDITS.values(), ids=EDITS.keys())
def test_that_a_byte_order_mark_is_written_again(foreign, edit, old, new, tmp_path):
    """Some editors put one before the text; the file stays the one that was handed over, byte for byte."""
    path = tmp_path / "config.json"
    path.write_bytes(b"\xef\xbb\xbf" + foreign.encode())
    scenario, warnings = read_config(read_text(path, keep_mark=True))
    assert [issue.line for issue in warnings] == [2, 7]
    assert write_config(scenario).encode() == path.read_bytes()
    assert write_config(edit(scenario)).encode() == path.read_bytes().replace(old.encode(), new.encode())


def test_that_a_problem_behind_a_byte_order_mark_has_its_own_column(foreign):
    broken = foreign.replace('"PH2":10', '"PH2":x')
    places = []
    for text in (broken, BYTE_ORDER_MARK + broken):
        with pytest.raises(InputProblemsError) as caught:
            read_config(text)
        places.append([(issue.line, issue.column) for issue in caught.value.issues])
    assert places[0] == places[1]


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(queries()), st.integers(0, 10**9))
def test_that_any_decimal_budget_survives_the_file(us, query, millionths):
    budget = Fraction(millionths, 10**6)
    again, _ = read_config(write_config(set_budget(us, query, budget)))
    assert again.method.budgets[query] == budget


def test_that_unlimited_budgets_are_written_as_production_spells_them(us):
    scenario = set_budget(us, queries()[0], UNLIMITED)
    text = write_config(scenario)
    assert ": Infinity" in text
    assert read_config(text)[0].method.budgets[queries()[0]] is UNLIMITED


def test_that_a_third_is_refused_rather_than_rounded_silently(us):
    with pytest.raises(ExportError, match="1/3"):
        write_config(set_budget(us, queries()[0], Fraction(1, 3)))


DAMAGES = {
    "not JSON": (lambda t: t[:-3], "Not JSON"),
    "no object": (lambda _: "[1]", "no object"),
    "negative budget": (lambda t: t.replace("0.002619", "-0.1", 1), "0 or more"),
    "budget is text": (lambda t: t.replace("0.002619", '"x"', 1), "0 or more"),
    "missing table": (lambda t: t.replace('"PH2": {', '"PH22": {'), "'PH2' is missing"),
    "missing level": (lambda t: t.replace('"usa_H,I"', '"usa_H-I"', 1), "'usa_H,I' is missing"),
    "fractional threshold": (lambda t: t.replace('"PH3": 6', '"PH3": 6.5'), "whole number"),
    "zero threshold": (lambda t: t.replace('"PH3": 6', '"PH3": 0'), "whole number"),
    "unknown state": (lambda t: t.replace('"01"', '"03"', 1), "state code"),
    "state twice": (lambda t: t.replace('"02"', '"01"', 1), "twice"),
    "state as number": (lambda t: t.replace('"01"', "1", 1), "state code"),
    "mixed with Puerto Rico": (lambda t: t.replace('"01"', '"72"', 1), "by itself"),
    "unknown reader": (lambda t: t.replace('"cef"', '"xml"'), "reader"),
    "unknown definition": (lambda t: t.replace('"zcdp"', '"rdp"'), "privacy_defn"),
    "repeated key": (lambda t: t.replace('"PH4": 10', '"PH3": 10'), "stands twice"),
}


@pytest.mark.parametrize(("damage", "sentence"), DAMAGES.values(), ids=DAMAGES.keys())
def test_that_a_damaged_file_is_refused_with_place_and_remedy(us, damage, sentence):
    with pytest.raises(InputProblemsError) as caught:
        read_config(damage(write_config(us)), name="proposal.json")
    issue = next(issue for issue in caught.value.issues if sentence in issue.sentence)
    assert issue.path == ("proposal.json",)
    assert issue.line >= 1
    assert issue.column >= 1
    assert issue.remedy


def test_that_reading_changes_nothing_but_provenance(us):
    again, _ = read_config(write_config(us))
    fields = {change.word for change in parameters_only(diff(us, again))}
    assert fields <= {"target"}
