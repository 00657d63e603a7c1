"""Who decided what about which parameters: Draft, Recommended, Approved, Superseded.

A decision is about a fingerprint. Parameters with another fingerprint are a new draft, whoever approved the old ones.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from phexplore.errors import PhexploreError
from phexplore.model.fields import Declared, Record, declared, parameter
from phexplore.model.issues import Issue, Severity
from phexplore.model.kinds import Choice, Listing, Supplied, Text, Whole
from phexplore.model.moments import is_utc_text, zoned_text


class DecisionError(PhexploreError):
    """A decision that does not follow from the ones before it, or that lacks something."""


LONGEST_TEXT = 100_000
"""Characters of a name or a note: forty pages. More is no note, and every copy of a project carries it."""


class Status(enum.Enum):
    """How far a set of parameters has come. The value is the word in files and on the command line."""

    DRAFT = "draft"
    RECOMMENDED = "recommended"
    APPROVED = "approved"
    SUPERSEDED = "superseded"

    @property
    def title(self) -> str:
        """The word for people."""
        return self.value.capitalize()


FOLLOWING: dict[Status, tuple[Status, ...]] = {
    Status.DRAFT: (Status.RECOMMENDED, Status.APPROVED),
    Status.RECOMMENDED: (Status.APPROVED, Status.SUPERSEDED),
    Status.APPROVED: (Status.SUPERSEDED,),
    Status.SUPERSEDED: (),
}
"""What may follow a status. There is no way back: whoever changes their mind makes a new draft."""


@declared
class CitedRun(Declared):
    """A run that a decision rests on.

    Attributes:
        name: of its directory.
        identity: 64 hexadecimal digits over everything that decides its result.
        trials: how many releases it simulated.
    """

    name: str = parameter(Supplied())
    identity: str = parameter(Text())
    trials: int = parameter(Whole())


@declared
class Decision(Declared):
    """Who decided what.

    Attributes:
        status: what the parameters became.
        fingerprint: of the parameters, 64 hexadecimal digits.
        scenario: its name at the time.
        who: the person.
        role: in which capacity.
        at: when, ISO 8601 in UTC.
        note: why, in the person's words.
        runs: the runs it rests on; they simulated exactly these parameters.
    """

    status: Status = parameter(Choice(Status))
    fingerprint: str = parameter(Text())
    scenario: str = parameter(Supplied())
    who: str = parameter(Supplied())
    role: str = parameter(Supplied())
    at: str = parameter(Text())
    note: str = parameter(Supplied(), default="")
    runs: tuple[CitedRun, ...] = parameter(Listing(Record(CitedRun)), default=())

    def agree(self) -> None:
        """Refuse a decision nobody made or that decides nothing.

        Raises:
            DecisionError: it names no person or role, makes a draft, or a text is longer than `LONGEST_TEXT`.
        """
        longest = max(map(len, (self.fingerprint, self.scenario, self.who, self.role, self.at, self.note)))
        if longest > LONGEST_TEXT:
            raise DecisionError(
                f"A text of {longest:,} characters is too long for a decision.",
                f"Keep it within {LONGEST_TEXT:,}; cite a document instead.",
            )
        if not self.who.strip() or not self.role.strip():
            raise DecisionError("A decision names a person and a role.", "Say who decides, and in which capacity.")
        if self.status is Status.DRAFT:
            raise DecisionError("A draft is not decided.", "Any edit makes one.")


def status_of(decisions: Sequence[Decision], fingerprint: str) -> Status:
    """Return the status of parameters: that of the last decision about them, Draft when there is none.

    Args:
        decisions: in the order they were made.
        fingerprint: of the parameters.
    """
    for decision in reversed(decisions):
        if decision.fingerprint == fingerprint:
            return decision.status
    return Status.DRAFT


def approved(decisions: Sequence[Decision]) -> Decision | None:
    """Return the approval in force, None when there is none."""
    for decision in reversed(decisions):
        if decision.status is Status.APPROVED and status_of(decisions, decision.fingerprint) is Status.APPROVED:
            return decision
    return None


CLOCK_TOLERANCE = timedelta(days=1)
"""Clocks and time zones of computers differ; a date further ahead than this is wrong, or the clock is."""


def is_in_future(at: str, now: datetime) -> bool:
    """Return whether a recorded time is later than the present by more than clocks differ.

    Args:
        at: as it was recorded.
        now: the present, with its zone.
    """
    return _moment(at) - now > CLOCK_TOLERANCE


def dated_after(decisions: Sequence[Decision], now: datetime) -> Decision | None:
    """Return the decision with the latest date, if it is later than the present: one of two clocks is wrong; else None.

    Args:
        decisions: in the order they were made.
        now: the present, with its zone.
    """
    latest = max(decisions, key=lambda one: _moment(one.at), default=None)
    return latest if latest is not None and _moment(latest.at) > now else None


def misdated(decisions: Sequence[Decision], name: str, now: datetime) -> tuple[Issue, ...]:
    """Return a warning for every decision that is dated in the future or before the one that it follows.

    Args:
        decisions: in the order they were made.
        name: of the file.
        now: the present, with its zone.
    """
    found = []
    for number, (decision, earlier) in enumerate(zip(decisions, [None, *decisions], strict=False), start=1):
        before = None if earlier is None else dated_after((earlier,), _moment(decision.at))
        what = f"Decision {number}, by {decision.who}, is dated {zoned_text(decision.at)}"
        if is_in_future(decision.at, now):
            reason = f"after this computer's clock ({zoned_text(now)})"
            remedy = "If this clock is right, record the decision again with approve --clock-is-right."
        elif before is not None:
            reason = f"before the decision of {before.who} that it follows ({zoned_text(before.at)})"
            remedy = "State in the minutes which of the two dates is right."
        else:
            continue
        sentence = f"{what}, {reason}. One of the two clocks was wrong."
        found.append(Issue((name, "decisions"), sentence, remedy, Severity.WARNING))
    return tuple(found)


def following(decisions: Sequence[Decision], fingerprint: str, now: datetime) -> tuple[Status, ...]:
    """Return what parameters may become: what follows their status, or the same again where it is dated in the future.

    Args:
        decisions: in the order they were made.
        fingerprint: of the parameters.
        now: the present, with its zone.
    """
    last = next((one for one in reversed(decisions) if one.fingerprint == fingerprint), None)
    if last is None:
        return FOLLOWING[Status.DRAFT]
    return ((last.status,) if is_in_future(last.at, now) else ()) + FOLLOWING[last.status]


def decided(decisions: Sequence[Decision], decision: Decision, *, is_clock_right: bool = False) -> tuple[Decision, ...]:
    """Return the decisions with one more.

    An approval supersedes the approval of other parameters in the same record, in the name of the person who approves.

    Args:
        decisions: in the order they were made.
        decision: the new one.
        is_clock_right: whether whoever decides confirmed the time of the decision, although a decision before it is dated later.

    Raises:
        DecisionError: the decision does not follow from the status of its parameters, or an earlier one is dated later and
            nobody confirmed the clock.
    """
    later = dated_after(decisions, _moment(decision.at))
    if later is not None and not is_clock_right:
        raise DecisionError(
            f"The clock of this computer is at {decision.at}, but the decision of {later.who} is dated {later.at}.",
            "Set the clock of this computer. If it is right, confirm it with --clock-is-right, or decide in the window.",
        )
    possible = following(decisions, decision.fingerprint, _moment(decision.at))
    if decision.status not in possible:
        allowed = ", ".join(status.value for status in possible)
        present = status_of(decisions, decision.fingerprint)
        raise DecisionError(
            f"These parameters are {present.value}; they cannot become {decision.status.value}.",
            f"What may follow: {allowed}." if allowed else "Edit the scenario: an edit makes a new draft.",
        )
    before = tuple(decisions)
    old = approved(decisions)
    if decision.status is Status.APPROVED and old is not None and old.fingerprint != decision.fingerprint:
        before += (
            Decision(
                Status.SUPERSEDED,
                old.fingerprint,
                old.scenario,
                decision.who,
                decision.role,
                decision.at,
                f"Superseded by the approval of {decision.scenario}.",
            ),
        )
    return (*before, decision)


def contradiction(decisions: Sequence[Decision]) -> str:
    """Return why decisions cannot have been recorded in this order, "" if they can.

    Args:
        decisions: all of a record, in the order they were made.
    """
    for number, decision in enumerate(decisions):
        before, what = tuple(decisions[:number]), f"Decision {number + 1}, by {decision.who},"
        if not is_utc_text(decision.at):
            return f"{what} has no date and time in UTC."
        try:
            recorded = decided(before, decision, is_clock_right=True)
        except DecisionError as error:
            return f"{what} does not follow from those before it. {error.sentence}"
        if recorded != (*before, decision):
            return f"{what} approves other parameters, but no decision supersedes those approved before."
    return ""


def _moment(at: str) -> datetime:
    """Return a recorded time; one that cannot be read counts as long ago."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
