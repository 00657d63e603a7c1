"""Forms that production's configurations take and a hand-written example would not: silent keys, other names, contradictions."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from ini_chains import differing_values

from phexplore.cli.app import run
from phexplore.model.edits import set_item
from phexplore.model.issues import InputProblemsError, Severity
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.topdown import LevelQuery
from phexplore.systems.registry import check, preset
from phexplore.systems.topdown.edits import set_level_share, set_query_share
from phexplore.systems.topdown.ini_reading import load_ini
from phexplore.systems.topdown.ini_text import decode_chain
from phexplore.systems.topdown.ini_writing import write_ini

PRODUCTION = Path(__file__).parents[3] / "shared" / "domain" / "ini"
needs_production = pytest.mark.skipif(
    not PRODUCTION.is_dir(), reason="needs the released .ini files beside the checkout"
)

SILENT_LEVELS = """\
[budget]
dp_mechanism = discrete_gaussian_mechanism
epsilon_budget_total =
geolevel_budget_prop =
global_scale =
privacy_framework = zcdp
query_ordering = test_strategy_regular_ordering_dhcp_20220811_exp_21_1
strategy = test_strategy_dhcp_20220922_exp_iteration_23_1

[constraints]
theconstraints.us = pl94, hhgq_total_ub, hhgq_total_lb
theinvariants.state = tot

[geodict]
geolevel_leng = 16,13,12,11,6,5,2,0
geolevel_names =
prim_spine = True
spine = opt_spine

[schema]
schema = DHCP_SCHEMA
"""

NATIONAL = """\
[geodict]
geolevel_names: Block,Block_Group,Tract,Tract_Group,County,State,National
geolevel_leng: 16,12,11,9,5,2,1

[schema]
schema: Household2010

[budget]
epsilon_budget_total: 2
geolevel_budget_prop: 0.2,0.2,0.12,0.12,0.12,.12,0.12
detailedprop: .2
DPqueries: hisp * hhrace * size * hhtype, hhsex * hisp * hhrace * hhtype, hisp * hhrace * multi, hhsex * hhtype * elderly, hhsex * hhage * hhtype
queriesprop: .25, .25, .1, .1, .1

[constraints]
theInvariants.Block: tot,gqhh_vect
theConstraints.National: total
"""

INHERITED = """\
[budget]
privacy_framework = zcdp
global_scale = 339/542
approx_dp_delta = 1e-10
"""
OVERLAY = """\
[DEFAULT]
include = inherited.ini

[schema]
schema = PL94_2020_SCHEMA

[geodict]
geolevel_names = Block,Block_Group,Tract,County,State,US

[budget]
dp_mechanism = geometric_mechanism
epsilon_budget_total = 4.0
geolevel_budget_prop = 104/4099, 1440/4099, 447/4099, 687/4099, 1256/4099, 165/4099
strategy = ProductionCandidate20210527US_mult8_add02_dsepJune3
"""


def load(tmp_path, text, **others):
    for name, content in others.items():
        (tmp_path / f"{name}.ini").write_text(content)
    (tmp_path / "root.ini").write_text(text)
    return load_ini(tmp_path / "root.ini")


def refused(tmp_path, text, **others):
    with pytest.raises(InputProblemsError) as caught:
        load(tmp_path, text, **others)
    return caught.value.issues


@pytest.mark.defect("D2")
def test_that_levels_left_empty_come_from_the_strategy(tmp_path):
    found, warnings = load(tmp_path, SILENT_LEVELS)
    expected = preset("dhc-2020-persons-us").scenario.topdown
    assert found.topdown.levels == expected.levels
    assert found.topdown.total == Fraction(24811, 5000)
    assert found.topdown.level_shares == expected.level_shares
    assert found.topdown.query_shares == expected.query_shares
    assert warnings == ()
    without = SILENT_LEVELS.replace("geolevel_names =\n", "").replace("geolevel_leng = 16,13,12,11,6,5,2,0\n", "")
    assert load(tmp_path, without)[0].method == found.method


@pytest.mark.defect("D2")
def test_that_a_file_with_silent_levels_goes_out_as_it_came_and_with_its_edits(tmp_path):
    found, _ = load(tmp_path, SILENT_LEVELS)
    assert write_ini(found).files["root.ini"] == SILENT_LEVELS
    edited = set_query_share(found, LevelQuery("State", "detailed"), Fraction(1, 26))
    output = write_ini(edited)
    back, _ = _written(tmp_path / "out", output)
    assert back.method == edited.method


def _written(folder, output):
    for name, text in output.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return load_ini(folder / output.root)


@pytest.mark.defect("D2")
def test_that_lengths_and_budgets_that_the_strategy_replaces_are_named(tmp_path):
    text = SILENT_LEVELS.replace("16,13,12,11,6,5,2,0", "16,12,11,5,2,0").replace(
        "global_scale =", "global_scale = 254/485"
    )
    found, warnings = load(tmp_path, text)
    assert float(found.topdown.total) == 4.9622
    said = {warning.line: warning.sentence for warning in warnings}
    lines = text.splitlines()
    scale, lengths, strategy = (
        next(number for number, line in enumerate(lines, start=1) if line.startswith(key))
        for key in ("global_scale", "geolevel_leng", "strategy")
    )
    assert set(said) == {scale, lengths}
    assert f"root.ini:{strategy}" in said[scale]
    assert "ρ = 4.9622" in said[scale]
    assert all(warning.severity is Severity.WARNING for warning in warnings)


@pytest.mark.defect("D2")
def test_that_empty_levels_of_an_unknown_strategy_are_refused(tmp_path):
    (issue, *_) = refused(tmp_path, SILENT_LEVELS.replace("exp_iteration_23_1\n\n", "exp_unheard_of\n\n"))
    assert "strategy names none" in issue.sentence
    assert issue.line == SILENT_LEVELS.splitlines().index("geolevel_names =") + 1


@pytest.mark.defect("D3")
def test_that_national_is_the_nation_and_keeps_its_spelling(tmp_path):
    found, warnings = load(tmp_path, NATIONAL)
    assert found.topdown.levels[0] == "Nation"
    assert found.topdown.level_shares["Nation"] == Fraction(1, 5)
    assert found.topdown.constraints["Nation"] == ("total",)
    assert warnings == ()
    assert not [issue for issue in check(found) if issue.severity is Severity.ERROR]
    assert write_ini(found).files["root.ini"] == NATIONAL
    edited = set_item(set_level_share(found, "Nation", Fraction(1, 10)), "constraints", "Nation", ())
    back, _ = _written(tmp_path / "out", write_ini(edited))
    assert back.method == edited.method
    changed = differing_values(decode_chain(found.source_text), decode_chain(back.source_text))
    assert set(changed) == {("budget", "geolevel_budget_prop"), ("constraints", "theconstraints.national")}


@pytest.mark.defect("D4")
def test_that_a_mechanism_of_another_framework_is_refused_with_both_lines_and_the_unused_budget(tmp_path):
    (issue,) = refused(tmp_path, OVERLAY, inherited=INHERITED)
    lines = OVERLAY.splitlines()
    assert issue.line == lines.index("dp_mechanism = geometric_mechanism") + 1
    assert "inherited.ini:2" in issue.sentence
    assert f"epsilon_budget_total = 4.0 (root.ini:{lines.index('epsilon_budget_total = 4.0') + 1})" in issue.sentence


@pytest.mark.defect("D4")
def test_that_a_discrete_gaussian_without_its_framework_is_not_taken_for_pure_privacy(tmp_path):
    text = OVERLAY.replace("include = inherited.ini", "x = 1").replace("geometric", "discrete_gaussian")
    (issue,) = refused(tmp_path, text)
    assert "no other is stated" in issue.sentence
    assert "epsilon_budget_total = 4.0 (root.ini:12) would be the total" in issue.sentence


@pytest.mark.defect("D4")
def test_that_a_second_total_is_named_with_the_one_that_counts(tmp_path):
    text = OVERLAY.replace("geometric", "discrete_gaussian")
    found, (warning,) = load(tmp_path, text, inherited=INHERITED)
    assert found.topdown.framework is PrivacyFramework.ZCDP
    assert warning.line == text.splitlines().index("epsilon_budget_total = 4.0") + 1
    assert "global_scale = 339/542 (inherited.ini:3)" in warning.sentence
    # An empty value takes the inherited one back: there is nothing to warn of.
    assert load(tmp_path, text.replace("total = 4.0", "total ="), inherited=INHERITED)[1] == ()


@pytest.mark.defect("D4")
def test_that_commands_say_what_a_file_states_in_vain(tmp_path, capsys):
    load(tmp_path, OVERLAY.replace("geometric", "discrete_gaussian"), inherited=INHERITED)
    assert run(["forecast", str(tmp_path / "root.ini"), "--json"]) == 0
    assert "epsilon_budget_total = 4.0 is not used" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("mechanism", "severity"),
    [("float_discrete_gaussian_mechanism", Severity.WARNING), ("no_noise_at_all", Severity.ERROR)],
)
def test_that_other_mechanisms_are_named(tmp_path, mechanism, severity):
    text = OVERLAY.replace("geometric_mechanism", mechanism).replace("epsilon_budget_total = 4.0\n", "")
    issues = (
        refused(tmp_path, text, inherited=INHERITED)
        if severity is Severity.ERROR
        else load(tmp_path, text, inherited=INHERITED)[1]
    )
    assert [(issue.severity, mechanism in issue.sentence) for issue in issues] == [(severity, True)]


@needs_production
@pytest.mark.defect("D2")
@pytest.mark.parametrize(
    ("name", "like", "total"),
    [
        ("person_US", "dhc-2020-persons-us", "4.9622"),
        ("person_PR", "dhc-2020-persons-pr", "4.9622"),
        ("unit_US", "dhc-2020-units-us", "7.7005"),
        ("unit_PR", "dhc-2020-units-pr", "7.7005"),
    ],
)
def test_that_the_released_dhc_files_are_their_presets(name, like, total, capsys, tmp_path):
    path = PRODUCTION / "dhc_2020" / f"{name}.ini"
    found, _ = load_ini(path)
    expected = preset(like).scenario.topdown
    assert (found.topdown.levels, found.topdown.total) == (expected.levels, Fraction(total))
    assert found.topdown.query_shares == expected.query_shares
    assert found.topdown.passes == expected.passes
    assert run(["forecast", str(path)]) == 0
    assert f"ρ {total} " in capsys.readouterr().out
    assert run(["export", str(path), "--format", "das-ini", "--out", str(tmp_path)]) == 0
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@needs_production
@pytest.mark.defect("D3")
def test_that_the_released_household_chain_of_2019_is_its_preset(capsys, tmp_path):
    folder = PRODUCTION / "demonstration_2019_households"
    path = folder / "full_household" / "DHCH_DemonstrationProduct.ini"
    found, _ = load_ini(path)
    expected = preset("ddp-2019-households-us").scenario.topdown
    assert (found.topdown.levels, found.topdown.total) == (expected.levels, 2)
    assert found.topdown.level_shares == expected.level_shares
    assert found.topdown.query_shares == expected.query_shares
    assert run(["forecast", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("ε 2 ")
    assert run(["export", str(path), "--format", "das-ini", "--out", str(tmp_path)]) == 0
    files = list(folder.rglob("*.ini"))
    assert {file: (tmp_path / file.relative_to(folder)).read_bytes() for file in files} == {
        file: file.read_bytes() for file in files
    }
