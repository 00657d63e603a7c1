"""Round trips: one changed field changes one field, whatever the layout of the files."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ini_chains import CHAIN, DEMONSTRATION, differing_values, write_chain

from phexplore.errors import ExportError
from phexplore.model.edits import set_field, set_item
from phexplore.model.topdown import LevelQuery, SpineChoice, TopDown
from phexplore.systems.registry import preset, presets
from phexplore.systems.topdown.edits import set_level_share, set_query_share
from phexplore.systems.topdown.handover import placed_files
from phexplore.systems.topdown.ini_reading import load_ini, read_chain
from phexplore.systems.topdown.ini_text import IniChain, decode_chain, effective
from phexplore.systems.topdown.ini_writing import exact_scale, scale_not_above, write_ini

TOPDOWN = [name for name, found in presets().items() if isinstance(found.scenario.method, TopDown)]


@pytest.fixture
def production():
    return read_chain(IniChain("persons/US.ini", CHAIN))[0]


def chain_of(output):
    return IniChain(output.root, output.files)


def changed_keys(before, output):
    return set(differing_values(decode_chain(before.source_text), chain_of(output)))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_that_an_untouched_chain_comes_back_byte_for_byte(tmp_path, newline, mark):
    root = write_chain(tmp_path / "in", newline=newline, mark=mark)
    output = write_ini(load_ini(root)[0])
    for name in CHAIN:
        assert output.files[name].encode() == (tmp_path / "in" / name).read_bytes()


def with_setting(scenario, key, value):
    settings = tuple((name, value if name == key else text) for name, text in scenario.topdown.spine.settings)
    return set_field(scenario, "spine", SpineChoice(scenario.topdown.spine.kind, settings))


EDITS = {
    ("budget", "global_scale"): lambda s: set_field(s, "total", Fraction(4, 9)),
    ("budget", "geolevel_budget_prop"): lambda s: set_level_share(s, "US", Fraction(1, 10)),
    ("constraints", "theconstraints.state"): lambda s: set_item(s, "constraints", "State", ("total",)),
    ("constraints", "theconstraints.block"): lambda s: set_item(s, "constraints", "Block", ("hhgq_total_lb",)),
    ("constraints", "theinvariants.county"): lambda s: set_item(s, "invariants", "County", ("tot",)),
    ("geodict", "entity_threshold"): lambda s: with_setting(s, "entity_threshold", "10"),
    ("geodict", "target_das_aian_areas"): lambda s: with_setting(s, "target_das_aian_areas", "false"),
    ("geodict", "ignore_gqs_in_block_groups"): lambda s: with_setting(s, "ignore_gqs_in_block_groups", "true"),
    ("geodict", "aian_areas"): lambda s: with_setting(s, "aian_areas", '["Hawaiian_Home_Land"]'),
    ("budget", "approx_dp_delta"): lambda s: set_field(
        s, "conventions", replace(s.conventions, delta=Fraction(1, 10**6))
    ),
}


@pytest.mark.parametrize("place", EDITS, ids=lambda place: place[1])
def test_that_one_edit_changes_one_value_and_is_read_back(production, place):
    edited = EDITS[place](production)
    output = write_ini(edited)
    assert changed_keys(production, output) == {place}
    back, _ = read_chain(chain_of(output))
    assert (back.method, back.conventions) == (edited.method, edited.conventions)


def test_that_an_edit_leaves_included_files_alone(production):
    for edit in EDITS.values():
        files = write_ini(edit(production)).files
        assert {name: files[name] for name in ("all.ini", "persons/persons.ini")} == {
            name: CHAIN[name] for name in ("all.ini", "persons/persons.ini")
        }


def lines_changed(before, after):
    old, new = before.split("\n"), after.split("\n")
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_that_only_the_shares_that_moved_are_rewritten(production):
    method = production.topdown
    shares = {**method.level_shares, "US": Fraction(105, 4099), "Block": Fraction(164, 4099)}
    output = write_ini(replace(production, method=replace(method, level_shares=shares)))
    assert lines_changed(CHAIN["persons/US.ini"], output.files["persons/US.ini"]) == (
        ["geolevel_budget_prop = 104/4099, 1440/4099, 447/4099, 687/4099, 1256/4099, 165/4099"],
        ["geolevel_budget_prop = 105/4099, 1440/4099, 447/4099, 687/4099, 1256/4099, 164/4099"],
    )


def test_that_a_value_of_an_included_file_is_overridden_in_the_first(production):
    output = write_ini(set_field(production, "total", Fraction(4, 9)))
    assert lines_changed(CHAIN["persons/US.ini"], output.files["persons/US.ini"]) == ([], ["global_scale = 3/2"])
    assert effective(chain_of(output)).shadowed["budget", "global_scale"][0].text == "339/542"


def test_that_other_query_shares_travel_as_a_table(production):
    edited = set_query_share(production, LevelQuery("US", "detailed"), Fraction(1, 2))
    output = write_ini(edited)
    assert changed_keys(production, output) == {("budget", "strategy"), ("phexplore", "strategy_table")}
    assert "production code" in output.notes[0]
    again = read_chain(chain_of(output))[0]
    assert again.method == edited.method
    third = set_query_share(again, LevelQuery("US", "detailed"), Fraction(1, 3))
    assert read_chain(chain_of(write_ini(third)))[0].method == third.method
    assert changed_keys(again, write_ini(third)) == set()  # the table alone changes


def test_that_shares_of_a_published_strategy_are_named_not_tabled(production):
    method = production.topdown
    shares = {LevelQuery(level, "detailed"): Fraction(1) for level in method.levels}
    output = write_ini(replace(production, method=replace(method, query_shares=shares)))
    assert changed_keys(production, output) == {("budget", "strategy")}
    assert effective(chain_of(output)).get("budget", "strategy").text == "DetailedOnly"


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_that_a_random_edit_changes_its_field_alone(data):
    production = read_chain(IniChain("persons/US.ini", CHAIN))[0]
    place = data.draw(st.sampled_from(sorted(EDITS)))
    first = EDITS[place](production)
    other = data.draw(st.sampled_from(sorted(EDITS)))
    output = write_ini(EDITS[other](first))
    assert changed_keys(production, output) == {place, other}


def test_that_listed_queries_are_edited_in_their_list():
    scenario = read_chain(IniChain("a.ini", {"a.ini": DEMONSTRATION}))[0]
    method = scenario.topdown
    shares = {
        key: {"hhgq": Fraction(3, 10), "detailed": Fraction(0)}.get(key.query, share)
        for key, share in method.query_shares.items()
    }
    output = write_ini(replace(scenario, method=replace(method, query_shares=shares)))
    assert changed_keys(scenario, output) == {("budget", "queriesprop"), ("budget", "detailedprop")}
    assert "queriesprop = 0.3, .5, 0.05, 0.05, 0.05, 0.05\n" in output.files["a.ini"]
    uneven = set_query_share(scenario, LevelQuery("Block", "hhgq"), Fraction(1, 3))
    assert read_chain(chain_of(write_ini(uneven)))[0].method == uneven.method


@pytest.mark.parametrize("name", TOPDOWN)
def test_that_every_preset_is_written_and_read_back(name):
    scenario = preset(name).scenario
    output = write_ini(scenario, "x.ini")
    back, warnings = read_chain(chain_of(output))
    assert back.method == scenario.method
    assert warnings == ()
    assert output.notes == ()


def test_that_a_fresh_file_ends_in_a_new_line_and_names_its_table():
    output = write_ini(preset("pl94-2020-units-pr").scenario, "units.ini")
    assert set(output.files) == {"units.ini", "units_strategy.csv"}
    assert "geolevel_leng = 16,12,11,5,2\n" in output.files["units.ini"]
    assert output.files["units.ini"].endswith("strategy_table = units_strategy.csv\n")


def test_that_a_budget_without_a_rational_scale_is_refused_with_the_nearest(production):
    with pytest.raises(ExportError, match="no rational global_scale") as caught:
        write_ini(set_field(production, "total", Fraction(2)))
    assert "Set the total to " in caught.value.remedy


@settings(max_examples=100, deadline=None)
@given(st.fractions(Fraction(1, 1000), 100, max_denominator=10**6))
def test_that_the_nearest_scale_never_spends_more(total):
    scale = scale_not_above(total)
    assert 1 / scale**2 <= total < 1 / (scale - Fraction(1, 10**6)) ** 2
    assert exact_scale(1 / scale**2) == scale


def test_that_dhc_budgets_are_overridden_one_by_one():
    scenario = read_chain(IniChain("x.ini", write_ini(preset("dhc-2020-units-us").scenario, "x.ini").files))[0]
    plain = replace(scenario, source_text="")
    text = write_ini(plain, "x.ini").files["x.ini"].replace("[phexplore]\nstrategy_table = x_strategy.csv\n", "")
    named = read_chain(IniChain("x.ini", {"x.ini": text}))[0]
    assert named.method == scenario.method
    method = named.topdown
    key = LevelQuery("County", "detailed")
    budgets = {other: method.budget(other) for other in method.query_shares} | {key: Fraction(1, 4)}
    total = sum(budgets.values())
    levels = {level: sum(b for k, b in budgets.items() if k.level == level) for level in method.levels}
    edited = replace(
        method,
        total=total,
        level_shares={level: part / total for level, part in levels.items()},
        query_shares={k: b / levels[k.level] for k, b in budgets.items()},
    )
    output = write_ini(replace(named, method=edited))
    assert changed_keys(named, output) == {("budget", "county_detailed")}
    assert read_chain(chain_of(output))[0].method == edited


def test_that_files_of_a_wide_chain_need_a_folder(production, tmp_path):
    output = write_ini(production)
    assert set(placed_files(output, tmp_path, is_file=False)) == {tmp_path / name for name in output.files}
    with pytest.raises(ExportError, match="lies above it"):
        placed_files(output, tmp_path / "x.ini", is_file=True)


def test_that_a_fresh_hand_over_keeps_the_name_it_was_given(tmp_path):
    placed = placed_files(write_ini(preset("pl94-2020-units-us").scenario, "u.ini"), tmp_path / "u.ini", is_file=True)
    assert [path.name for path in placed] == ["u.ini", "u_strategy.csv"]


def test_that_a_damaged_source_is_a_sentence(production):
    broken = replace(production, source_text=IniChain("a.ini", {"a.ini": "[budget]\n"}).encoded())
    with pytest.raises(ExportError, match="can no longer be read"):
        write_ini(broken)
