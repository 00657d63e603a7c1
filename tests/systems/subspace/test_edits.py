from __future__ import annotations

from fractions import Fraction

import pytest

from phexplore.model.edits import EditRefusedError, set_field
from phexplore.model.subspace import Axis, Basis, Calibration, Histogram, LinearCount, LinearQuery, Mechanism, Totals
from phexplore.systems.registry import preset
from phexplore.systems.subspace.edits import (
    add_release,
    change_release,
    release_of,
    remove_release,
    set_axes,
    set_release_share,
)


@pytest.fixture
def scenario():
    return preset("counties-invariant-2010").scenario


def shares(scenario):
    return [release.share for release in scenario.subspace.releases.values()]


def test_that_releases_share_one_budget_through_adding_moving_and_removing(scenario) -> None:
    two = add_release(scenario, "second")
    assert shares(two) == [Fraction(1, 2), Fraction(1, 2)]
    moved = set_release_share(two, "second", Fraction(1, 10))
    assert shares(moved) == [Fraction(9, 10), Fraction(1, 10)]
    assert shares(remove_release(moved, "counties")) == [1]


@pytest.mark.parametrize(
    "change",
    [
        lambda s: set_field(s, "epsilon", Fraction(0)),
        lambda s: set_field(s, "delta", Fraction(1)),
        lambda s: set_field(s, "delta", Fraction(-1)),
        lambda s: add_release(s, " "),
        lambda s: add_release(s, "counties"),
        lambda s: remove_release(s, "counties"),
        lambda s: release_of(s, "none"),
        lambda s: set_release_share(s, "none", Fraction(1, 2)),
        lambda s: set_release_share(add_release(s, "second"), "second", Fraction(1)),
        lambda s: set_axes(s, ()),
    ],
)
def test_that_impossible_values_are_refused(scenario, change) -> None:
    with pytest.raises(EditRefusedError):
        change(scenario)


def test_that_choices_are_taken(scenario) -> None:
    edited = set_field(set_field(scenario, "delta", Fraction(1, 10**10)), "calibration", Calibration.PAPER)
    edited = change_release(
        change_release(edited, "counties", mechanism=Mechanism.EXTENDED_GAUSSIAN), "counties", basis=Basis.HELMERT
    )
    edited = change_release(edited, "counties", invariants=(Totals(("county",)),))
    edited = change_release(edited, "counties", query=LinearQuery((LinearCount("a", ((0, Fraction(1)),)),)))
    release = release_of(edited, "counties")
    assert release.mechanism is Mechanism.EXTENDED_GAUSSIAN
    assert release.basis is Basis.HELMERT
    assert release.invariants == (Totals(("county",)),)
    assert not isinstance(release.query, Histogram)
    assert set_axes(edited, (Axis("place", 14),)).subspace.cells == 14
