"""Generators of scenarios for property tests."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from phexplore.catalog.tables import queries, truncated_tables
from phexplore.model.conventions import Conventions, MarginConvention, Neighbours
from phexplore.model.numbers import UNLIMITED, Rounding
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.systems.registry import preset

QUERIES = st.sampled_from(queries())
BUDGETS = st.one_of(st.fractions(min_value=0, max_value=10), st.just(UNLIMITED))

CONVENTIONS = st.builds(
    Conventions,
    neighbours=st.sampled_from(Neighbours),
    margin=st.sampled_from([MarginConvention.NORMAL, MarginConvention.EXACT]),
    z=st.fractions(min_value=Fraction(1, 10), max_value=5),
    confidence=st.sampled_from([Fraction(9, 10), Fraction(19, 20), Fraction(99, 100)]),
    rounding=st.sampled_from(Rounding),
    rounding_step=st.sampled_from([Fraction(1, 10**6), Fraction(1, 1000)]),
    delta=st.sampled_from([Fraction(1, 10**10), Fraction(1, 10**6)]),
)

METHODS = st.builds(
    PhSafe,
    budgets=st.fixed_dictionaries(dict.fromkeys(queries(), BUDGETS)),
    thresholds=st.fixed_dictionaries({table.id: st.integers(1, 99) for table in truncated_tables()}),
    states=st.sampled_from([("44",), ("44", "09"), ("72",)]),
    framework=st.sampled_from(PrivacyFramework),
    reader=st.sampled_from(["csv", "cef"]),
    targets=st.dictionaries(QUERIES, st.fractions(min_value=1, max_value=1000), max_size=5),
    locks=st.frozensets(QUERIES, max_size=5),
)

_BASE = preset("sdhc-2020-us").scenario
SCENARIOS = st.builds(
    lambda method, conventions, name, note: replace(
        _BASE, method=method, conventions=conventions, name=name, note=note
    ),
    METHODS,
    CONVENTIONS,
    st.sampled_from(["Draft", "Δ proposal", "a" * 80]),
    st.text(max_size=20),
)
