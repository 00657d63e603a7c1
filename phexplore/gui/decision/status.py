"""The steps of a decision, and the status of the active scenario for the bar above everything: it loads nothing else."""

from __future__ import annotations

import enum

from phexplore.document.project import Project
from phexplore.model.approval import Status, status_of
from phexplore.model.fingerprint import fingerprint

TONES = {Status.DRAFT: "muted", Status.RECOMMENDED: "accent", Status.APPROVED: "good", Status.SUPERSEDED: "attention"}
"""The look of the word for a status."""


class DecisionTab(enum.Enum):
    """What committees do with the numbers, in the order a decision is made. The value is the title."""

    COMPARE = "Compare"
    COMMITTEE = "Committee"
    MEETING = "Meeting"
    APPROVE = "Approve"
    BUNDLE = "Bundle"


def status_now(project: Project) -> Status:
    """Return the status of the active scenario; cheap while nothing was decided."""
    return status_of(project.decisions, fingerprint(project.scenario)) if project.decisions else Status.DRAFT
