"""What the project itself keeps to compare with: the version on disk and the parameters whose approval is in force."""

from __future__ import annotations

from phexplore.document.decided_versions import decided_version
from phexplore.document.project import Project
from phexplore.model.approval import approved
from phexplore.model.moments import day_text
from phexplore.model.scenario import Scenario

SAVED, APPROVED = "#saved", "#approved"
"""What `Workbook.comparison` holds for them; no scenario has a # in its name."""
KEPT = (SAVED, APPROVED)


class ReferenceVersions:
    """Finds them; the log is searched once per decision, not once per edit."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._searched = ""
        self._approved: Scenario | None = None

    def find(self, key: str) -> tuple[str, Scenario] | None:
        """Return title and parameters of one of `KEPT`, None when there is none or for another key."""
        if key == SAVED:
            saved = self._saved()
            return None if saved is None else ("as last saved", saved)
        if key == APPROVED:
            force = approved(self._project.decisions)
            if force is None:
                return None
            if self._searched != force.fingerprint:
                self._searched, self._approved = force.fingerprint, approved_scenario(self._project)
            return None if self._approved is None else (f"as approved on {day_text(force.at)}", self._approved)
        return None

    def offers(self) -> list[tuple[str, str]]:
        """Return title and key of those there are."""
        return [(found[0][0].upper() + found[0][1:], key) for key in KEPT if (found := self.find(key)) is not None]

    def _saved(self) -> Scenario | None:
        workbook, saved = self._project.workbook, self._project.saved_workbook
        if saved is None:
            return None
        if workbook.active in saved.names:
            return saved.find(workbook.active)
        # Renamed since: the one in the same place.
        place = workbook.names.index(workbook.active)
        return saved.scenarios[place] if len(saved.scenarios) == len(workbook.scenarios) else None


def approved_scenario(project: Project) -> Scenario | None:
    """Return the parameters of the approval in force as the project's log holds them, None when there are none."""
    force = approved(project.decisions)
    return None if force is None else decided_version(project.steps, force)
