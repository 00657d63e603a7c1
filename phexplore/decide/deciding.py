"""Decisions recorded in projects: who recommends or approves exactly these parameters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from phexplore.document.decided_versions import write_new_project
from phexplore.document.project import Project
from phexplore.errors import UnknownNameError
from phexplore.figures.wording import counted
from phexplore.files.atomic_files import read_text
from phexplore.files.project_file import ProjectContent, read_project, single
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
    made: Decision, scenario: Scenario, text: str, *, out: Path | None, is_clock_right: bool = False
) -> Path:
    """Record a decision and return the project it is in.

    Args:
        made: the decision: `decision_about`.
        scenario: that is decided about.
        text: what named it: a project keeps its earlier decisions; "" for one that was never in a file.
        out: project to write; None for the scenario's own.
        is_clock_right: whether the clock is confirmed where an earlier decision is dated later.

    Raises:
        DecisionError: it does not follow, or there is no project to keep it in.
        PhexploreError: the project is open elsewhere.
    """
    source = project_of(text)
    if source is None:
        if out is None:
            raise DecisionError(
                f"{text or scenario.name} is no project, so there is nothing to keep the decision in.",
                "Name a project with --out FILE.phx.",
            )
        content = single(Workbook((scenario,), scenario.name), f"Start from {text or scenario.name}", made.at)
        return _save(content, made, out)
    path, _ = source
    if out is None:
        if edits := Project.interrupted_edits(path):
            raise DecisionError(f"{path.name} has {counted(edits, 'unsaved edit')}.", "Open it in the window first.")
        project = Project.open(path)
        try:
            project.decide(made, is_clock_right=is_clock_right)
        finally:
            project.close()
        return path
    return _save(read_project(read_text(path), name=path.name), made, out, is_clock_right=is_clock_right)


def _save(content: ProjectContent, decision: Decision, out: Path, *, is_clock_right: bool = False) -> Path:
    decisions = decided(content.decisions, decision, is_clock_right=is_clock_right)
    write_new_project(out, replace(content, decisions=decisions))
    return out
