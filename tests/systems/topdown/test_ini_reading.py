"""What .ini files mean: the published presets from production's own layout, every problem at its place."""

from __future__ import annotations

from fractions import Fraction

import pytest
from ini_chains import CHAIN, DEMONSTRATION, write_chain

from phexplore.model.issues import InputProblemsError, Severity
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.registry import preset
from phexplore.systems.topdown.ini_reading import load_ini, read_chain
from phexplore.systems.topdown.ini_text import IniChain


def read(text=None, **replaced):
    files = dict(CHAIN)
    root = "persons/US.ini"
    if text is not None:
        files, root = {"a.ini": text}, "a.ini"
    for old, new in replaced.get("swaps", []):
        files[root] = files[root].replace(old, new)
        assert new in files[root]
    return read_chain(IniChain(root, files))


def problems(swaps, text=None):
    with pytest.raises(InputProblemsError) as caught:
        read(text, swaps=swaps)
    return [(issue.path[0], issue.line, issue.sentence) for issue in caught.value.issues]


def test_that_the_production_chain_is_the_published_preset(tmp_path):
    scenario, warnings = load_ini(write_chain(tmp_path))
    assert scenario.method == preset("pl94-2020-persons-us").scenario.method
    assert scenario.name == "US"
    assert [(issue.place, issue.severity) for issue in warnings] == [("persons/persons.ini:10:1", Severity.WARNING)]


def test_that_the_demonstration_of_2010_is_the_published_preset():
    method = read(DEMONSTRATION)[0].topdown
    published = preset("ddp-2019-persons-us").scenario.topdown
    assert method.framework is PrivacyFramework.PURE_DP
    assert (method.total, dict(method.level_shares)) == (published.total, dict(published.level_shares))
    assert dict(method.query_shares) == dict(published.query_shares)
    assert method.invariants["State"] == ("tot",)


def test_that_shares_are_read_top_down_and_levels_bottom_up():
    method = read()[0].topdown
    assert method.levels == ("US", "State", "County", "Tract", "Block_Group", "Block")
    assert method.level_shares["State"] == Fraction(1440, 4099)


SHARES = "104/4099, 1440/4099, 447/4099, 687/4099, 1256/4099, 165/4099"


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        (SHARES, "1/2, 1/2", 17, "6 levels have 2 shares"),
        (SHARES, "x, 0, 0, 0, 0, 1", 17, "'x' is not a number"),
        (SHARES, "$A, 0, 0, 0, 0, 1", 17, "comes from the environment"),
        (SHARES, "-1, 1, 1, 0, 0, 0", 17, "is not between 0 and 1"),
        ("Block,Block_Group,Tract,County,State,US", "US,State,County,Tract,Block_Group,Block", 8, "listed top-down"),
        ("Block,Block_Group", "Block,Block", 8, "named twice"),
        ("16,12,11,5,2,0", "0,2,5,11,12,16", 9, "The lengths grow"),
        ("16,12,11,5,2,0", "16,12", 9, "6 levels have 2 lengths"),
        ("16,12,11,5,2,0", "16,12,11,5,2,many", 9, "not a whole number"),
        ("ProductionCandidate20210527US_mult8_add02_dsepJune3", "MyOwn", 18, "not among the published ones"),
        ("ProductionCandidate20210527US_mult8", "ProductionCandidate20210527PR_mult8", 18, "no shares for some"),
    ],
)
def test_that_a_wrong_value_is_named_with_file_and_line(old, new, line, sentence):
    found = problems([(old, new)])
    assert any(place == "persons/US.ini" and at == line and sentence in text for place, at, text in found), found


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("global_scale = 339/542", "global_scale = 0", "more than 0"),
        ("PL94_2020_SCHEMA", "PL95_SCHEMA", "PL95_SCHEMA"),
    ],
)
def test_that_a_problem_in_an_included_file_names_that_file(old, new, sentence):
    files = {**CHAIN, "persons/persons.ini": CHAIN["persons/persons.ini"].replace(old, new)}
    with pytest.raises(InputProblemsError) as caught:
        read_chain(IniChain("persons/US.ini", files))
    assert caught.value.issues[0].path == ("persons/persons.ini",)
    assert sentence in caught.value.issues[0].sentence


def test_that_all_problems_are_listed_together():
    assert len(problems([("16,12,11,5,2,0", "1,2"), (SHARES, "1"), ("US\ngeolevel_leng", "US,US\ngeolevel_leng")])) >= 3


@pytest.mark.parametrize("key", ["schema", "geolevel_names", "epsilon_budget_total", "geolevel_budget_prop"])
def test_that_a_missing_key_is_named(key):
    lines = [line for line in DEMONSTRATION.splitlines() if not line.startswith(key)]
    with pytest.raises(InputProblemsError) as caught:
        read("\n".join(lines))
    assert any(f"The key {key!r} is missing" in issue.sentence for issue in caught.value.issues)


def test_that_without_strategy_and_queries_nothing_is_guessed():
    lines = [line for line in DEMONSTRATION.splitlines() if not line.startswith(("dpq", "detailed", "queries"))]
    assert "'strategy' is missing" in problems([], "\n".join(lines))[0][2]


def test_that_queries_and_shares_of_different_number_are_refused():
    assert (
        "6 queries have 5 shares" in problems([("0.05, 0.05, 0.05, 0.05\n", "0.05, 0.05, 0.05\n")], DEMONSTRATION)[0][2]
    )


def test_that_shares_that_nearly_add_to_one_are_a_warning():
    _, warnings = read(DEMONSTRATION, swaps=[("0.2, 0.2, 0.12,", "0.2, 0.1999, 0.12,")])
    assert "add to 0.9999, not exactly 1" in warnings[0].sentence


def test_that_lengths_of_other_geographies_are_a_warning():
    _, warnings = read(swaps=[("16,12,11,5,2,0", "16,12,10,5,2,0")])
    assert any("not those of these levels, 16,12,11,5,2,0" in warning.sentence for warning in warnings)
    assert not any("lengths" in warning.sentence for warning in read(DEMONSTRATION)[1])


def test_that_unknown_orderings_and_levels_of_constraints_are_warnings():
    _, warnings = read(swaps=[("Strategy1b_ST", "Mine_ST"), ("theConstraints.US", "theConstraints.Mars")])
    texts = [issue.sentence for issue in warnings]
    assert any("'Mine_ST_CTY_TR_BG_isoTot_Ordering_dsepJune3' is not among" in text for text in texts)
    assert any("theConstraints.Mars names no level" in text for text in texts)


def test_that_another_delta_becomes_a_convention():
    scenario, _ = read(swaps=[("[setup]", "[budget]\napprox_dp_delta = 1e-6\n[setup]")])
    assert scenario.conventions.delta == Fraction(1, 10**6)
    assert "δ lies between 0 and 1" in problems([("[setup]", "[budget]\napprox_dp_delta = 2\n[setup]")])[0][2]


def test_that_frameworks_and_spines_nobody_knows_are_refused():
    assert "no privacy framework" in problems([("[setup]", "[budget]\nprivacy_framework = magic\n[setup]")])[0][2]
    assert "is no spine" in problems([("[setup]", "[geodict]\nspine = backbone\n[setup]")])[0][2]


def test_that_the_published_dhc_strategy_gives_absolute_budgets_and_single_ones_can_be_overridden():
    published = preset("dhc-2020-persons-us").scenario.topdown
    text = f"""
[schema]
schema = DHCP_SCHEMA
[geodict]
geolevel_names = {",".join(reversed(published.levels))}
spine = opt_spine
prim_spine = True
[budget]
global_scale = 254/485
strategy = test_strategy_dhcp_20220922_exp_iteration_23_1
State_hispanic * sex = 7/10
"""
    method = read(text)[0].topdown
    changed = {key.text for key in method.query_shares if method.budget(key) != published.budget(key)}
    assert changed == {"State/hispanic * sex"}
    assert method.spine.kind == "prim"
    assert method.total == published.total - published.budget(
        next(k for k in published.query_shares if k.text == "State/hispanic * sex")
    ) + Fraction(7, 10)
    assert sum(method.level_shares.values()) == 1


@pytest.mark.parametrize("names", ["Block," * 50_000, "".join(f"L{number}," for number in range(50_000))])
def test_that_a_list_of_very_many_levels_is_refused_like_any_other(names):
    found = problems([("Block,Block_Group", f"{names}Block,Block_Group")])
    assert any("lengths" in sentence or "named twice" in sentence for _, _, sentence in found)
