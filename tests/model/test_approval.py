from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phexplore.model.approval import (
    FOLLOWING,
    LONGEST_TEXT,
    Decision,
    DecisionError,
    Status,
    approved,
    decided,
    following,
    misdated,
    status_of,
)


def decision(status, fingerprint="a" * 64, who="Ada"):
    return Decision(status, fingerprint, f"scenario {fingerprint[:1]}", who, "chair", "2026-07-01T12:00:00+00:00")


def test_that_parameters_nobody_decided_about_are_a_draft():
    assert status_of((), "a" * 64) is Status.DRAFT
    assert status_of((decision(Status.APPROVED),), "b" * 64) is Status.DRAFT


@pytest.mark.parametrize("status", Status)
def test_that_only_what_may_follow_follows(status):
    history = {
        Status.DRAFT: (),
        Status.RECOMMENDED: (decision(Status.RECOMMENDED),),
        Status.APPROVED: (decision(Status.RECOMMENDED), decision(Status.APPROVED)),
        Status.SUPERSEDED: (decision(Status.APPROVED), decision(Status.SUPERSEDED)),
    }[status]
    assert status_of(history, "a" * 64) is status
    for wanted in (Status.RECOMMENDED, Status.APPROVED, Status.SUPERSEDED):
        if wanted in FOLLOWING[status]:
            assert status_of(decided(history, decision(wanted)), "a" * 64) is wanted
        else:
            with pytest.raises(DecisionError, match=f"are {status.value}; they cannot become {wanted.value}"):
                decided(history, decision(wanted))


def test_that_there_is_no_way_back():
    reached = {Status.DRAFT}
    for status in Status:
        assert Status.DRAFT not in FOLLOWING[status]
        reached |= set(FOLLOWING[status])
    assert reached == set(Status)


def test_that_an_approval_supersedes_the_one_before():
    first = decided((), decision(Status.APPROVED))
    second = decided(first, decision(Status.APPROVED, "b" * 64, "Grace"))
    assert [(d.status, d.fingerprint[0], d.who) for d in second] == [
        (Status.APPROVED, "a", "Ada"),
        (Status.SUPERSEDED, "a", "Grace"),
        (Status.APPROVED, "b", "Grace"),
    ]
    assert approved(second) == second[-1]
    assert approved(decided(second, decision(Status.SUPERSEDED, "b" * 64))) is None


@given(
    st.lists(
        st.tuples(st.sampled_from([s for s in Status if s is not Status.DRAFT]), st.sampled_from("abc")), max_size=12
    )
)
def test_that_at_most_one_set_of_parameters_is_approved(steps):
    decisions = ()
    for status, letter in steps:
        try:
            decisions = decided(decisions, decision(status, letter * 64))
        except DecisionError:
            continue
    in_force = [x for x in "abc" if status_of(decisions, x * 64) is Status.APPROVED]
    assert len(in_force) <= 1
    assert [d.fingerprint[0] for d in [approved(decisions)] if d] == in_force


@pytest.mark.parametrize("change", [{"who": " "}, {"role": ""}, {"status": Status.DRAFT}])
def test_that_a_decision_of_nobody_or_about_nothing_is_refused(change):
    with pytest.raises(DecisionError):
        replace(decision(Status.APPROVED), **change)


@pytest.mark.parametrize("field", ["scenario", "who", "role", "note"])
def test_that_a_text_no_person_writes_is_refused(field):
    assert replace(decision(Status.APPROVED), **{field: "x" * LONGEST_TEXT})
    with pytest.raises(DecisionError, match="100,001 characters"):
        replace(decision(Status.APPROVED), **{field: "x" * (LONGEST_TEXT + 1)})


def test_that_a_decision_before_the_last_one_is_refused_until_somebody_confirms_the_clock():
    history = decided((), decision(Status.RECOMMENDED))
    late = replace(decision(Status.APPROVED), at="2026-06-30T12:00:00+00:00")
    with pytest.raises(DecisionError, match="2026-06-30T12:00:00"):
        decided(history, late)
    assert len(decided(history, replace(late, at="2026-07-01T14:00:01+02:00"))) == 2
    assert decided(history, late, is_clock_right=True)[-1] == late


FUTURE = "2126-07-01T12:00:00+00:00"


@pytest.mark.defect("minor")
@pytest.mark.parametrize("letter", "ab")
def test_that_a_decision_dated_in_the_future_is_reported_and_can_be_recorded_again(letter):
    """The clock was a hundred years ahead: the same parameters, and others, can be approved today."""
    now = datetime(2026, 7, 2, tzinfo=UTC)
    history = decided((), replace(decision(Status.APPROVED), at=FUTURE))
    (warning,) = misdated(history, "p.phx", now)
    assert "1 Jul 2126" in warning.sentence
    assert "2 Jul 2026" in warning.sentence
    again = replace(decision(Status.APPROVED, letter * 64, "Grace"), at=now.isoformat())
    assert again.status in following(history, again.fingerprint, now)
    with pytest.raises(DecisionError, match="2126"):
        decided(history, again)
    after = decided(history, again, is_clock_right=True)
    assert approved(after) == again
    assert status_of(after, "a" * 64) is (Status.APPROVED if letter == "a" else Status.SUPERSEDED)
    assert following(after, again.fingerprint, now) == (Status.SUPERSEDED,)
    assert decided(after, replace(decision(Status.SUPERSEDED, letter * 64), at=now.isoformat()), is_clock_right=True)


def test_that_dates_out_of_order_are_reported_and_clocks_may_differ_by_a_day():
    now = datetime(2026, 7, 1, tzinfo=UTC)
    first = decision(Status.RECOMMENDED)  # twelve hours ahead
    assert misdated((first,), "p.phx", now) == ()
    before = replace(decision(Status.APPROVED), at="2026-06-30T12:00:00+00:00")
    (warning,) = misdated((first, before), "p.phx", now)
    assert "Decision 2" in warning.sentence
