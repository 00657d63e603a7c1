"""How far the shown parameters have come, and what may be decided about them, as values. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phexplore.document.project import Project
from phexplore.gui.binding.reference_versions import approved_scenario, day
from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.model.approval import FOLLOWING, Decision, Status, approved, status_of
from phexplore.model.diff import diff, parameters_only
from phexplore.model.fingerprint import fingerprint
from phexplore.model.scenario import Scenario
from phexplore.runs.states import RunState

DEEDS = {
    Status.RECOMMENDED: "Recommend these parameters",
    Status.APPROVED: "Approve these parameters",
    Status.SUPERSEDED: "Withdraw these parameters",
}
"""What a decision does, for its button."""


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
    own = fingerprint(project.scenario)
    status = status_of(project.decisions, own)
    last = next((one for one in reversed(project.decisions) if one.fingerprint == own), None)
    if last is not None:
        sentence = f"{status.title} by {last.who}, {last.role}, on {day(last.at)}."
    else:
        sentence = _draft_sentence(project)
    return Standing(status, sentence, FOLLOWING[status], own, tuple(reversed(project.decisions)))


def _draft_sentence(project: Project) -> str:
    force = approved(project.decisions)
    if force is None:
        return "Nobody has decided about these parameters yet."
    source = approved_scenario(project)
    if source is None or type(source.method) is not type(project.scenario.method):
        return f"Another set of parameters is approved: {force.scenario}, by {force.who} on {day(force.at)}."
    count = len(parameters_only(diff(source, project.scenario)))
    words = f"{count} parameter" + (" differs" if count == 1 else "s differ")
    return f"A new draft: {words} from what {force.who} approved on {day(force.at)}."


def superseded_sentence(project: Project, status: Status) -> str:
    """Return which approval a decision about the active scenario takes the force from, with a space behind it, or ""."""
    force = approved(project.decisions)
    if status is not Status.APPROVED or force is None or force.fingerprint == fingerprint(project.scenario):
        return ""
    return f"The approval of {force.scenario} by {force.who} on {day(force.at)} is superseded. "


def clock(at: str) -> str:
    """Return day and time to the minute of a time in ISO 8601."""
    before, _, after = at.partition("T")
    return f"{before} {after[:5]}".strip()


@dataclass(frozen=True, slots=True)
class RunOffer:
    """A run that may be cited.

    Attributes:
        directory: of the run.
        title: for people.
        reason: why it cannot be cited, "" when it can.
    """

    directory: Path
    title: str
    reason: str


def run_offers(rows: Sequence[RunRow], scenario: Scenario) -> tuple[RunOffer, ...]:
    """Return the runs of a project, those that can be cited first."""
    own = fingerprint(scenario)
    offers = [_offer(row, own) for row in rows]
    return tuple(sorted(offers, key=lambda offer: bool(offer.reason)))


def _offer(row: RunRow, own: str) -> RunOffer:
    trials = f"{row.trials:,} trial" + ("" if row.trials == 1 else "s")
    title = f"{row.directory.name}: {row.title}, {trials}"
    if row.spec is None:
        return RunOffer(row.directory, title, "it cannot be read")
    if (theirs := fingerprint(row.spec.scenario)) != own:
        return RunOffer(row.directory, title, f"it simulated other parameters ({theirs[:8]}… instead of {own[:8]}…)")
    if row.state is not RunState.COMPLETE:
        return RunOffer(row.directory, title, "it is not complete")
    return RunOffer(row.directory, title, "")
