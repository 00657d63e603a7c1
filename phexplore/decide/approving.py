"""Making a decision: what must hold before a name stands under parameters, how far they have come, what may be decided next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from phexplore.decide.citing import evidence
from phexplore.document.project import Project
from phexplore.document.reference_versions import approved_scenario
from phexplore.model.approval import (
    Decision,
    DecisionError,
    Status,
    approved,
    dated_after,
    following,
    is_in_future,
    status_of,
)
from phexplore.model.diff import diff, parameters_only
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import has_errors
from phexplore.model.moments import day_text, zoned_text
from phexplore.model.scenario import Scenario
from phexplore.systems.registry import check

DEEDS = {
    Status.RECOMMENDED: "Recommend these parameters",
    Status.APPROVED: "Approve these parameters",
    Status.SUPERSEDED: "Withdraw these parameters",
}
"""What a decision does, for its button."""


def decision_about(
    scenario: Scenario,
    status: Status,
    *,
    who: str,
    role: str,
    now: datetime,
    note: str = "",
    runs: Sequence[Path] = (),
) -> Decision:
    """Return a decision about a scenario as it is.

    Args:
        scenario: what is decided about.
        status: what it becomes.
        who: the person who decides.
        role: in which capacity.
        now: when, with its zone.
        note: why.
        runs: directories of the runs the decision rests on.

    Raises:
        DecisionError: the scenario has errors, or nobody decides.
        CitationError: a run did not simulate exactly these parameters.
    """
    if errors := [issue for issue in check(scenario) if has_errors([issue])]:
        more = f" ({len(errors) - 1} more: phexplore check)" if len(errors) > 1 else ""
        raise DecisionError(f"{errors[0].place}: {errors[0].sentence}{more}", errors[0].remedy)
    cited = tuple(entry.cited for entry in evidence(runs, scenario))
    at = now.astimezone(UTC).isoformat(timespec="seconds")
    return Decision(status, fingerprint(scenario), scenario.name, who.strip(), role.strip(), at, note.strip(), cited)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far parameters have come.

    Attributes:
        status: theirs.
        sentence: who made it so, or what is different from what was approved.
        following: what may be decided next.
        fingerprint: of the parameters.
        decisions: all of the project, newest first.
    """

    status: Status
    sentence: str
    following: tuple[Status, ...]
    fingerprint: str
    decisions: tuple[Decision, ...]


def standing(project: Project) -> Standing:
    """Return how far the active scenario of a project has come."""
    own, now = fingerprint(project.scenario), datetime.now(UTC)
    status = status_of(project.decisions, own)
    last = next((one for one in reversed(project.decisions) if one.fingerprint == own), None)
    if last is not None:
        sentence = f"{status.title} by {last.who}, {last.role}, on {day_text(last.at)}."
        if is_in_future(last.at, now):
            sentence += " This date is in the future: the clock was wrong. Decide again to record the right date."
    else:
        sentence = _draft_sentence(project)
    return Standing(status, sentence, following(project.decisions, own, now), own, tuple(reversed(project.decisions)))


def _draft_sentence(project: Project) -> str:
    force = approved(project.decisions)
    if force is None:
        return "Nobody has decided about these parameters yet."
    source = approved_scenario(project)
    if source is None or type(source.method) is not type(project.scenario.method):
        return f"Another set of parameters is approved: {force.scenario}, by {force.who} on {day_text(force.at)}."
    count = len(parameters_only(diff(source, project.scenario)))
    words = f"{count} parameter" + (" differs" if count == 1 else "s differ")
    return f"A new draft: {words} from what {force.who} approved on {day_text(force.at)}."


def superseded_sentence(project: Project, status: Status) -> str:
    """Return which approval a decision about the active scenario takes the force from, with a space behind it, or "".

    Args:
        project: with its decisions.
        status: that the scenario is to have.
    """
    force = approved(project.decisions)
    if status is not Status.APPROVED or force is None or force.fingerprint == fingerprint(project.scenario):
        return ""
    return f"The approval of {force.scenario} by {force.who} on {day_text(force.at)} is superseded. "


def clock_sentence(project: Project, now: datetime) -> str:
    """Return that an earlier decision is dated later than the present, with a space behind it, or "": who decides confirms the clock.

    Args:
        project: with its decisions.
        now: the present, with its zone.
    """
    later = dated_after(project.decisions, now)
    if later is None:
        return ""
    return (
        f"The decision of {later.who} is dated {zoned_text(later.at)}, after this computer's clock: {zoned_text(now)}. By continuing you "
        "confirm this clock. "
    )
