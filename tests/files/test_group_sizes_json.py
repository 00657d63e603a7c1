from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.files.scenario_json import (
    decode_change,
    decode_scenario,
    encode_change,
    encode_scenario,
)
from phexplore.model.diff import diff
from phexplore.model.group_sizes import GroupSizes, HeavyTail, SizeMechanism
from phexplore.model.issues import InputProblemsError
from phexplore.model.phsafe import PrivacyFramework
from phexplore.systems.registry import preset

CENSUS = preset("group-sizes-census-2010").scenario
LEVELS = ("Nation", "State", "County")

METHODS = st.builds(
    GroupSizes,
    levels=st.just(LEVELS),
    regions=st.tuples(st.just(1), st.integers(1, 60), st.integers(1, 4000)),
    total=st.fractions(min_value=Fraction(1, 10**6), max_value=100),
    level_shares=st.fixed_dictionaries(dict.fromkeys(LEVELS, st.fractions(min_value=0, max_value=1))),
    largest=st.integers(1, 10**6),
    mechanism=st.sampled_from(SizeMechanism),
    framework=st.sampled_from(PrivacyFramework),
    largest_quantity=st.integers(1, 100),
    tail=st.none() | st.builds(HeavyTail, st.integers(0, 99), st.integers(1, 99), st.integers(0, 2**40)),
    locked_levels=st.frozensets(st.sampled_from(LEVELS)),
)


@given(METHODS)
def test_that_every_value_survives_a_file(method):
    scenario = replace(CENSUS, method=method)
    assert decode_scenario(json.loads(json.dumps(encode_scenario(scenario)))) == scenario


@given(METHODS, METHODS)
def test_that_every_change_survives_a_file(before, after):
    changes = diff(replace(CENSUS, method=before), replace(CENSUS, method=after))
    assert tuple(decode_change(json.loads(json.dumps(encode_change(change)))) for change in changes) == changes


@pytest.mark.parametrize(
    ("edit", "place"),
    [
        (lambda m: m.update(mechanism="magic"), "method › mechanism"),
        (lambda m: m.update(total="much"), "method › total"),
        (lambda m: m.update(total=1.5), "method › total"),
        (lambda m: m.update(largest="1000"), "method › largest"),
        (lambda m: m.update(tail={"outlier": 3}), "method › tail"),
        (lambda m: m.update(tail=[1]), "method › tail"),
        (lambda m: m.update(levels="Nation"), "method › levels"),
        (lambda m: m["levels"].__setitem__(1, {"level": "State"}), "method › levels › 1"),
        (lambda m: m["levels"][2].update(share="3"), "method"),
        (lambda m: m.update(locked_levels=[3]), "method › locked_levels"),
    ],
)
def test_that_every_bad_field_is_named(edit, place):
    content = json.loads(json.dumps(encode_scenario(CENSUS)))
    edit(content["method"])
    with pytest.raises(InputProblemsError) as caught:
        decode_scenario(content)
    assert place in [issue.place for issue in caught.value.issues]
