"""A hand-over laid out as production's are: every documented section, inclusions three deep and per section, unknown keys.

Written in our own words from the documented structure of the configurations; no file of production is copied.
"""

from __future__ import annotations

import difflib
from fractions import Fraction

import pytest
from ini_chains import differing_values

from phexplore.model.edits import set_field, set_item
from phexplore.model.issues import InputProblemsError
from phexplore.model.topdown import SpineChoice
from phexplore.systems.registry import preset
from phexplore.systems.topdown.edits import set_level_share
from phexplore.systems.topdown.ini_reading import load_ini
from phexplore.systems.topdown.ini_text import decode_chain
from phexplore.systems.topdown.ini_writing import write_ini

UNITS = {
    "common/all.ini": """\
; what every product shares
[ENVIRONMENT]
DAS_FRAMEWORK_VERSION: 1.1.0
DAS_FRAMEWORK_VERSION.re = [0-9.]+
DAS_FRAMEWORK_VERSION.required = true

[geodict]
geocode_length = 16
spine: opt_spine
aian_areas = Legal_Federally_Recognized_American_Indian_Area, American_Indian_Joint_Use_Area, Hawaiian_Home_Land,
    Alaska_Native_Village_Statistical_Area, State_Recognized_Legal_American_Indian_Area,
    Oklahoma_Tribal_Statistical_Area,
    ; joint use in Oklahoma counts apart
    Joint_Use_Oklahoma_Tribal_Statistical_Area
entity_threshold = 9
bypass_cutoff = 150
fanout_cutoff = 12
redefine_counties = nowhere
strong_mcd_states = 09,23,25,26,27,33,34,36,42,44,50,55
target_orig_block_groups = False

[gurobi]
gurobi_path: $GUROBI_HOME/linux64/lib/python3.6_utf32/
dataIndNPass_ToleranceType = const_tol
const_tol_val = 5.0
opt_tol_slack = 0.01
l2_acceptable_statuses = OPTIMAL,SUBOPTIMAL
threads_block = 1
NumericFocus = 3

[budget]
privacy_framework = zcdp
dp_mechanism = discrete_gaussian_mechanism
approx_dp_delta = 1e-10
only_dyadic_rationals = False
""",
    "common/writer.ini": """\
[writer]
writer = programs.writer.multi_writer.MultiWriter
multiwriter_writers = BlockNodeDicts,MDF2020Housing
output_path = $DAS_S3ROOT/runs/${MISSION_NAME}
certificate_suffix = .certificate.pdf
drb_clearance_number = CBDRB-FY21-DSEP-005
keep_attrs: geocode, syn, _invar
""",
    "units/units.ini": """\
[DEFAULT]
INCLUDE = ../common/all.ini

[reader]
reader = programs.reader.spark_reader
tables = PersonData UnitData
UnitData.class = programs.reader.tables.Unit
UnitData.path = $DAS_S3INPUTS/units
UnitData.variables: MAFID geocode rtype vacs
rtype.type = str
rtype.legal = 2,4
delimiter = |
header = True

[schema]
schema = H1_2020_SCHEMA

[geodict]
ignore_gqs_in_block_groups = True

[constraints]
theInvariants.Block = gqhh_tot, tot, tot_hu
theConstraints.Block = total

[engine]
engine = programs.engine.topdown_engine
save_noisy = on
check_budget = on
pool_measurements = on
""",
    "units/US_units.ini": """\
# housing units of the United States

[DEFAULT]
INCLUDE = units.ini

[writer]
INCLUDE = ../common/writer.ini
output_datafile_name = units

[geodict]
#bottom-up
geolevel_names = Block,Block_Group,Tract,County,State,US
geolevel_leng = 16,12,11,5,2,0
target_DAS_aian_areas = True

[budget]
global_scale = 12343/3379
#top-down
geolevel_budget_prop = 1/205, 1/205, 7/82, 364/1025, 1759/4100, 99/820
strategy = DetailedOnly
query_ordering = DetailedOnly_OrderingOuterPass
print_per_attr_epsilons = True

[error_metrics]
error_metrics = programs.metrics.das_error_metrics
l1_relative_error_geolevels = County,Tract
population_cutoff = 500

[monitoring]
print_gurobi_env = False
notify = somebody@example.org ; nobody reads this
""",
}
ROOT = "units/US_units.ini"


@pytest.fixture
def folder(tmp_path):
    for name, text in UNITS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def _spine_with(scenario, key, value):
    spine = scenario.topdown.spine
    settings = tuple((name, value if name == key else text) for name, text in spine.settings)
    assert settings != spine.settings
    return set_field(scenario, "spine", SpineChoice(spine.kind, settings))


EDITS = {
    ("budget", "global_scale"): lambda s: set_field(s, "total", Fraction(1, 9)),
    ("budget", "geolevel_budget_prop"): lambda s: set_level_share(s, "County", Fraction(1, 5)),
    ("constraints", "theconstraints.block"): lambda s: set_item(s, "constraints", "Block", ()),
    ("constraints", "theinvariants.state"): lambda s: set_item(s, "invariants", "State", ("tot",)),
    ("geodict", "fanout_cutoff"): lambda s: _spine_with(s, "fanout_cutoff", "16"),
    ("geodict", "bypass_cutoff"): lambda s: _spine_with(s, "bypass_cutoff", "100"),
}


def test_that_the_hand_over_is_the_published_preset(folder) -> None:
    found, notes = load_ini(folder / ROOT)
    expected = preset("pl94-2020-units-us").scenario.topdown
    assert (found.topdown.total, found.topdown.levels) == (expected.total, expected.levels)
    assert found.topdown.level_shares == expected.level_shares
    assert found.topdown.query_shares == expected.query_shares
    assert found.topdown.passes == expected.passes
    assert {level: set(names) for level, names in found.topdown.invariants.items()} == {
        level: set(names) for level, names in expected.invariants.items()
    }
    assert found.topdown.spine.kind == expected.spine.kind
    assert notes == ()


def test_that_untouched_files_come_back_byte_for_byte(folder) -> None:
    output = write_ini(load_ini(folder / ROOT)[0])
    assert {name: output.files[name] for name in UNITS} == UNITS


@pytest.mark.parametrize("place", EDITS, ids=lambda place: place[1])
def test_that_one_changed_field_changes_that_field_only(folder, place) -> None:
    before = load_ini(folder / ROOT)[0]
    edited = EDITS[place](before)
    output = write_ini(edited)
    for name, text in output.files.items():
        path = folder / "out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    back = load_ini(folder / "out" / output.root)[0]
    assert back.method == edited.method
    chain = decode_chain(before.source_text)
    assert set(differing_values(chain, decode_chain(back.source_text))) == {place}
    # In the text, too: lines of the one key are replaced or added, in the first file alone.
    assert {name: output.files[name] for name in UNITS if name != ROOT} == {
        name: text for name, text in UNITS.items() if name != ROOT
    }
    changed = [
        line[2:]
        for line in difflib.ndiff(UNITS[ROOT].splitlines(), output.files[output.root].splitlines())
        if line[:2] in {"+ ", "- "} and line[2:].strip()
    ]
    keys = {line.partition("=")[0].strip().lower() for line in changed if not line.startswith(("[", "#"))}
    assert keys == {place[1]}


def test_that_problems_anywhere_in_the_chain_are_listed_together_with_file_and_line(folder) -> None:
    for name, old, new in (
        (ROOT, "7/82", "7/0"),
        ("common/all.ini", "approx_dp_delta = 1e-10", "approx_dp_delta = tiny"),
        ("units/units.ini", "H1_2020_SCHEMA", "NO_SUCH_SCHEMA"),
    ):
        path = folder / name
        path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputProblemsError) as caught:
        load_ini(folder / ROOT)
    found = {(issue.path[0].rpartition("/")[2], issue.line) for issue in caught.value.issues}
    lines = {name.rpartition("/")[2]: (folder / name).read_text().splitlines() for name in UNITS}
    for name, part in (("US_units.ini", "7/0"), ("all.ini", "tiny"), ("units.ini", "NO_SUCH_SCHEMA")):
        (line,) = [number for number, text in enumerate(lines[name], start=1) if part in text]
        assert (name, line) in found
