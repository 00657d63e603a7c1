"""Who decided what about which parameters: Draft, Recommended, Approved, Superseded.

A decision is about a fingerprint. Parameters with another fingerprint are a new draft, whoever approved the old ones.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from datetime import UTC, datetime

from phexplore.errors import PhexploreError
from phexplore.model.fields import Declared, Record, declared, parameter
from phexplore.model.kinds import Choice, Listing, Text, Whole


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

    name: str = parameter(Text())
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
    scenario: str = parameter(Text())
    who: str = parameter(Text())
    role: str = parameter(Text())
    at: str = parameter(Text())
    note: str = parameter(Text(), default="")
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


def decided(decisions: Sequence[Decision], decision: Decision) -> tuple[Decision, ...]:
    """Return the decisions with one more.

    An approval supersedes the approval of other parameters in the same record, in the name of the person who approves.

    Args:
        decisions: in the order they were made.
        decision: the new one.

    Raises:
        DecisionError: the decision does not follow from the status of its parameters, or the clock is behind the
            record.
    """
    if decisions and _moment(decision.at) < (latest := max(_moment(earlier.at) for earlier in decisions)):
        raise DecisionError(
            f"The clock of this computer says {decision.at}, but the last decision was made at {latest.isoformat()}.",
            "Set the clock, then decide: the record says when everybody decided.",
        )
    present = status_of(decisions, decision.fingerprint)
    if decision.status not in FOLLOWING[present]:
        allowed = ", ".join(status.value for status in FOLLOWING[present])
        raise DecisionError(
            f"These parameters are {present.value}; they cannot become {decision.status.value}.",
            f"What may follow: {allowed}." if allowed else "Edit the scenario: an edit makes a new draft.",
        )
    before = tuple(decisions)
    if decision.status is Status.APPROVED and (old := approved(decisions)) is not None:
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


def _moment(at: str) -> datetime:
    """Return a recorded time; one that cannot be read counts as long ago."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
