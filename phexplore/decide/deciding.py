"""Decisions recorded in projects: who recommends or approves exactly these parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from phexplore.decide.approving import decision_about
from phexplore.document.project import Project
from phexplore.errors import UnknownNameError
from phexplore.files.atomic_files import read_text, write_atomically
from phexplore.files.project_file import ProjectContent, read_project, single, write_project
from phexplore.model.approval import Decision, DecisionError, Status, decided
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook


def parse_status(text: str) -> Status:
    """Return the status of this word.

    Raises:
        UnknownNameError: no decision leads to it.
    """
    known = {status.value: status for status in Status if status is not Status.DRAFT}
    if (found := known.get(text.lower())) is None:
        raise UnknownNameError("status", text, list(known))
    return found


def project_of(text: str) -> tuple[Path, str] | None:
    """Return the project file that SCENARIO names and the scenario's name in it, None for anything else."""
    path, name = Path(text), ""
    if not path.exists() and "#" in text:
        before, _, name = text.rpartition("#")
        path = Path(before)
    return (path, name) if path.is_file() and path.suffix == ".phx" else None


def record_decision(
    scenario: Scenario,
    text: str,
    status: Status,
    *,
    who: str,
    role: str,
    note: str,
    runs: Sequence[Path],
    out: Path | None,
) -> tuple[Decision, Path]:
    """Record a decision about a scenario and return it with the project it is in.

    Args:
        scenario: that is decided about.
        text: what named it: a project keeps its earlier decisions; "" for one that was never in a file.
        status: that it gets.
        who: decides.
        role: in which capacity.
        note: why.
        runs: directories of the runs it rests on.
        out: project to write; None for the scenario's own.

    Raises:
        DecisionError: it does not follow, or there is no project to keep it in.
        PhexploreError: a run does not fit, or the project is open elsewhere.
    """
    made = decision_about(scenario, status, who=who, role=role, now=datetime.now(UTC), note=note, runs=runs)
    source = project_of(text)
    if source is None:
        if out is None:
            raise DecisionError(
                f"{text or scenario.name} is no project, so there is nothing to keep the decision in.",
                "Name a project with --out FILE.phx.",
            )
        content = single(Workbook((scenario,), scenario.name), f"Start from {text or scenario.name}", made.at)
        return made, _save(content, made, out)
    path, _ = source
    if out is None:
        project = Project.open(path)
        try:
            if project.recovered:
                raise DecisionError(
                    f"{path.name} has {project.recovered} edits that were never saved.", "Open it in the window first."
                )
            project.decide(made)
        finally:
            project.close()
        return made, path
    return made, _save(read_project(read_text(path), name=path.name), made, out)


def _save(content: ProjectContent, decision: Decision, out: Path) -> Path:
    write_atomically(out, write_project(replace(content, decisions=decided(content.decisions, decision))))
    return out
