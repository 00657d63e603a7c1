"""Subspace values refuse what cannot be, hash and travel."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from phexplore.model.diff import apply, diff
from phexplore.model.fingerprint import fingerprint
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import (
    Axis,
    Calibration,
    Grouping,
    Histogram,
    LinearCount,
    LinearQuery,
    Mechanism,
    Release,
    Subspace,
    Totals,
)
from phexplore.systems.registry import preset

ONE = Fraction(1)
COOK = LinearCount("Cook", ((0, ONE),))


def subspace(**changes):
    fields = {"axes": (Axis("county", 3),), "releases": {"r": Release(Histogram(), (Totals(),), Mechanism.K_NORM)}}
    return Subspace(**{**fields, "epsilon": ONE, **changes})


WRONG = {
    "axis without levels": (lambda: Axis("a", 0), "at least 1, got 0"),
    "too few labels": (lambda: Axis("a", 2, ("x",)), "2 levels but 1 labels"),
    "labels alike": (lambda: Axis("a", 2, ("x", "x")), "same label"),
    "groups that do not fit": (lambda: Axis("a", 2, groupings=(Grouping("g", ("x",)),)), "names 1 groups"),
    "empty sum": (lambda: LinearCount("s", ()), "has no coefficient"),
    "cell twice": (lambda: LinearCount("s", ((0, ONE), (0, ONE))), "names a cell twice"),
    "negative cell": (lambda: LinearCount("s", ((-1, ONE),)), "cell -1"),
    "weight of 0": (lambda: LinearCount("s", ((0, Fraction(0)),)), "weight of 0"),
    "query without answers": (lambda: LinearQuery(()), "at least one answer"),
    "share of 0": (lambda: Release(Histogram(), (), Mechanism.K_NORM, Fraction(0)), "got 0"),
    "share above 1": (lambda: Release(Histogram(), (), Mechanism.K_NORM, Fraction(2)), "got 2"),
    "no axis": (lambda: subspace(axes=()), "at least one axis"),
    "names alike": (lambda: subspace(axes=(Axis("a", 2), Axis("a", 2))), "names of their own"),
    "epsilon of 0": (lambda: subspace(epsilon=Fraction(0)), "ε is positive"),
    "delta of 1": (lambda: subspace(delta=ONE), "below 1, got 1"),
}


@pytest.mark.parametrize(("make", "words"), WRONG.values(), ids=WRONG.keys())
def test_that_impossible_values_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_that_a_value_crosses_a_process_border_and_hashes():
    value = subspace(calibration=Calibration.PAPER, table="t")
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own bytes
    assert hash(value) == hash(subspace(calibration=Calibration.PAPER, table="t"))


def test_that_names_and_sizes_are_counted():
    axis = Axis("county", 2, groupings=(Grouping("state", ("a", "a")),))
    value = subspace(axes=(axis, Axis("sex", 2)))
    assert (value.cells, value.names) == (4, ("county", "state", "sex"))
    linear = Release(LinearQuery((COOK,)), (), Mechanism.PROJECTED_LAPLACE)
    assert (value.answers(value.releases["r"]), value.answers(linear)) == (4, 1)


def test_that_a_release_is_told_in_words():
    release = Release(LinearQuery((COOK,)), (Totals(("a", "b")), COOK), Mechanism.EXTENDED_LAPLACE, Fraction(1, 3))
    assert str(release) == "1 linear answers, extended Laplace, share 1/3, exact: total per a × b; Cook, basis halves"


def test_that_the_scenario_gives_its_own_kind_only():
    scenario = preset("counties-invariant-2010").scenario
    assert scenario.subspace.cells == 102
    for other in ("phsafe", "topdown"):
        with pytest.raises(TypeError, match="holds Subspace"):
            getattr(scenario, other)
    with pytest.raises(TypeError, match="not Subspace"):
        _ = preset("sdhc-2020-us").scenario.subspace


CHANGES = {
    "release": {"releases": {"r": Release(Histogram(), (COOK,), Mechanism.K_NORM)}},
    "another release": {"releases": {"s": Release(Histogram(), (), Mechanism.K_NORM)}},
    "axes": {"axes": (Axis("county", 4),)},
    "epsilon": {"epsilon": Fraction(2)},
    "delta": {"delta": Fraction(1, 10)},
    "calibration": {"calibration": Calibration.PAPER},
    "table": {"table": "t"},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES.keys())
def test_that_a_difference_is_seen_applied_and_part_of_the_fingerprint(changes):
    before, after = Scenario("s", subspace()), Scenario("s", subspace(**changes))
    assert diff(before, after)
    assert apply(diff(before, after), before) == after
    assert fingerprint(before) != fingerprint(after)
