"""Subspace settings that cannot work, or deserve a decision, with place and remedy."""

from __future__ import annotations

from fractions import Fraction

import pytest

from phexplore.model.issues import Severity
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
from phexplore.systems.registry import check, preset

ONE = Fraction(1)
AXIS = Axis("county", 6, groupings=(Grouping("state", tuple("aaabbb")),))


def release(*invariants, mechanism=Mechanism.PROJECTED_LAPLACE, share=ONE, query=None):
    return Release(query or Histogram(), invariants, mechanism, share)


def found(*releases, epsilon=ONE, delta=Fraction(0), **changes):
    named = {f"r{number}": each for number, each in enumerate(releases)}
    return check(Scenario("s", Subspace((AXIS,), named, epsilon, delta, **changes)))


def test_that_the_preset_has_no_issue():
    assert check(preset("counties-invariant-2010").scenario) == []


WRONG = {
    "no release": ([], {}, "Nothing is released"),
    "shares": ([release(share=Fraction(1, 2))], {}, "add to 0.5, not 1"),
    "no delta": ([release(mechanism=Mechanism.PROJECTED_GAUSSIAN)], {}, "needs a δ above 0"),
    "unknown cell": (
        [release(query=LinearQuery((LinearCount("x", ((6, ONE),)),)))], {}, "names the cell 6",
    ),
    "unknown name": ([release(Totals(("stat",)))], {}, "'stat'"),
    "everything exact": ([release(Totals(("county",)))], {}, "fix all 6 answers"),
    "unknown table": ([release()], {"table": "atlantis"}, "'atlantis'"),
    "breaking constant": (
        [release(mechanism=Mechanism.PROJECTED_GAUSSIAN)],
        {"epsilon": Fraction(8), "delta": Fraction(1, 10**10), "calibration": Calibration.PAPER},
        "172 times",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("releases", "changes", "words"), WRONG.values(), ids=WRONG.keys())
def test_that_what_cannot_work_is_an_error(releases, changes, words):
    issues = [issue for issue in found(*releases, **changes) if issue.severity is Severity.ERROR]
    assert any(words in issue.sentence for issue in issues), issues
    assert all(issue.remedy for issue in issues)


def warnings(*releases, **changes):
    issues = found(*releases, **changes)
    assert all(issue.severity is Severity.WARNING for issue in issues)
    return [issue.sentence for issue in issues]


def test_that_an_unused_delta_is_worth_a_word():
    assert "is spent by no release" in warnings(release(), delta=Fraction(1, 100))[0]


def test_that_a_redundant_invariant_says_what_it_follows_from():
    (sentence,) = warnings(release(Totals(("state",)), Totals()))
    assert sentence == ("The invariant “grand total” adds nothing: 1 of its 1 sums follow from: total per state.")


def test_that_a_redundant_row_says_what_it_is_made_of():
    rows = [
        LinearCount(name, tuple((c, ONE) for c in cells))
        for name, cells in (("a", (0, 1)), ("b", (2,)), ("ab", (0, 1, 2)))
    ]
    sentences = warnings(release(*rows))
    assert "The invariant “ab” adds nothing: it is a + b." in sentences


def test_that_determined_cells_are_worth_a_decision():
    (sentence,) = warnings(release(LinearCount("Cook", ((0, ONE),))))
    assert sentence == "The invariants publish the true count of 1 of 6 cells."


def test_that_a_constant_wider_than_needed_is_worth_a_word():
    (sentence,) = warnings(
        release(mechanism=Mechanism.PROJECTED_GAUSSIAN), epsilon=Fraction(1, 2), delta=Fraction(1, 10**10),
        calibration=Calibration.PAPER,
    )  # fmt: skip
    assert "wider than needed" in sentence
