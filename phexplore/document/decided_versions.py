"""Decided parameters: found in the log of a project and, once approved, retained in its list and its file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from phexplore.document.history import Step
from phexplore.files.atomic_files import read_text, write_atomically
from phexplore.files.project_file import ProjectContent, read_project, write_project
from phexplore.model.approval import Decision, DecisionError, Status
from phexplore.model.edits import EditRefusedError
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import InputProblemsError
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook, activate, add_scenario, free_name

_REVISED = ", revised"
_NUMBERED = re.compile(rf"{_REVISED}( \d+)?$")


def write_new_project(path: Path, content: ProjectContent) -> None:
    """Write a project to a path; replace a file there only if it contains no decision.

    Args:
        path: of the project.
        content: of it; where it has the decisions of the file there, that is replaced, too.

    Raises:
        DecisionError: the file there holds another decision. It stays as it is.
        InputProblemsError: a project there cannot be read, so its decisions are not known.
        WriteError: it cannot be written.
    """
    if path.is_file():
        try:
            there = read_project(read_text(path), name=path.name).decisions
        except InputProblemsError:
            if path.suffix.lower() == ".phx":
                raise
            there = ()
        lost = next((each for each in there if each not in content.decisions), None)
        if lost is not None:
            raise DecisionError(
                f"{path.name} contains a decision: {lost.who} {lost.status.value} {lost.scenario!r}. It was not replaced.",
                f"Name another file. {path.name} retains its decision.",
            )
    write_atomically(path, write_project(content))


def decided_version(steps: Sequence[Step[Workbook]], decision: Decision) -> Scenario | None:
    """Return the newest version of the parameters of a decision, None if the log no longer contains them.

    Args:
        steps: of the project.
        decision: one of its decisions; a scenario of its name is preferred.
    """
    versions = {id(s): s for step in reversed(steps) for s in step.value.scenarios}  # steps share most of them
    named = [scenario for scenario in versions.values() if scenario.name == decision.scenario]
    return next((each for each in (*named, *versions.values()) if fingerprint(each) == decision.fingerprint), None)


def opened_version(workbook: Workbook, steps: Sequence[Step[Workbook]], decision: Decision) -> Workbook:
    """Return the workbook with the parameters of a decision active: in the list, or brought back to it from the log.

    Args:
        workbook: to change.
        steps: of the project.
        decision: one of its decisions.

    Raises:
        DecisionError: neither holds them.
    """
    found = decided_version(steps, decision)
    if found is None:
        raise DecisionError(
            f"The history of this project no longer contains the decided parameters of {decision.scenario!r}.",
            "Open the bundle or the earlier project file of that decision.",
        )
    here = _of(workbook.scenarios, decision.fingerprint, found)
    return add_scenario(workbook, found) if here is None else activate(workbook, here.name)


def step_decided(steps: Sequence[Step[Workbook]], decision: Decision) -> int:
    """Return the number of the step after which a decision was made.

    Args:
        steps: of the project.
        decision: one of its decisions. Times are whole seconds: of the steps of its second, the first with its parameters counts.
    """
    before = max((number for number, step in enumerate(steps) if step.at < decision.at), default=0)
    possible = [before, *(number for number, step in enumerate(steps) if step.at == decision.at)]
    held = (number for number in possible if fingerprint(steps[number].value.scenario) == decision.fingerprint)
    return next(held, possible[-1])


class ApprovedVersions:
    """Retains every approved scenario in the list of scenarios; the log is searched once per decision."""

    def __init__(self) -> None:
        self._searched = 0
        self._known: dict[str, Scenario] = {}

    def kept_in(
        self, after: Workbook, before: Workbook, decisions: Sequence[Decision], steps: Sequence[Step[Workbook]]
    ) -> Workbook:
        """Return a new version with every approved scenario; an edit of one creates a copy with a derived name.

        Args:
            after: the version an edit leads to.
            before: the version that was edited.
            decisions: of the project, oldest first.
            steps: of the project.

        Raises:
            EditRefusedError: the edit deletes an approved scenario.
        """
        for decision in decisions[self._searched :]:
            found = decided_version(steps, decision) if decision.status is Status.APPROVED else None
            if found is not None:
                self._known[decision.fingerprint] = found
        self._searched = len(decisions)
        for mark, known in self._known.items():
            held = _of(before.scenarios, mark, known) or known
            is_edited = held.name in after.names and fingerprint(after.find(held.name)) != mark
            if is_edited or _of(after.scenarios, mark, held) is None:
                after = _with(after, before, held)
            self._known[mark] = _of(after.scenarios, mark, held) or held
        return after


def _of(scenarios: Iterable[Scenario], mark: str, known: Scenario) -> Scenario | None:
    """Return the scenario with these parameters."""
    first = sorted(scenarios, key=lambda each: (each is not known, each.name != known.name))
    return next((each for each in first if each is known or fingerprint(each) == mark), None)


def _with(after: Workbook, before: Workbook, edited: Scenario) -> Workbook:
    """Return the workbook with approved parameters that an edit changed, or that an undone version lacked."""
    if edited not in before.scenarios:
        taken = edited.name in after.names
        name = free_name(after, f"{edited.name}, as approved") if taken else edited.name
        return replace(after, scenarios=(*after.scenarios, replace(edited, name=name)))
    place = before.scenarios.index(edited)
    if edited.name not in after.names:
        if len(after.scenarios) < len(before.scenarios):
            raise EditRefusedError(
                f"{edited.name!r} was approved, so it cannot be deleted.",
                "Retain it, because a decision names its parameters.",
            )
        return replace(after, scenarios=(*after.scenarios[:place], edited, *after.scenarios[place:]))
    name = free_name(after, _NUMBERED.sub("", edited.name) + _REVISED)
    scenarios = [replace(each, name=name) if each.name == edited.name else each for each in after.scenarios]
    scenarios.insert(place, edited)
    return replace(after, scenarios=tuple(scenarios), active=name if after.active == edited.name else after.active)
