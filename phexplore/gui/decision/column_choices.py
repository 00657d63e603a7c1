"""What the project offers to compare: scenarios, what was saved and approved, finished runs, published presets. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from phexplore.document.project import Project
from phexplore.gui.binding.reference_versions import ReferenceVersions
from phexplore.gui.decision.comparison import ColumnChoice
from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.runs.states import RunState
from phexplore.systems.registry import presets


def column_choices(project: Project, runs: Sequence[RunRow]) -> dict[str, list[ColumnChoice]]:
    """Return what can be compared with the active scenario, by heading; the active one comes first."""
    workbook, active = project.workbook, project.scenario
    system = type(active.method)
    own = [active, *(each for each in workbook.scenarios if each is not active and isinstance(each.method, system))]
    found = {"This project": [ColumnChoice(f"scenario:{each.name}", each.name, each) for each in own]}
    versions = ReferenceVersions(project)
    kept = []
    for title, key in versions.offers():
        found_version = versions.find(key)
        if found_version is not None and isinstance(found_version[1].method, system):
            kept.append(ColumnChoice(key, title, replace(found_version[1], name=title)))
    if kept:
        found["Kept by the project"] = kept
    finished = [
        ColumnChoice(
            f"run:{row.directory.name}", f"{row.title} ({row.directory.name})", row.spec.scenario, row.directory
        )
        for row in runs
        if row.spec is not None and row.state is RunState.COMPLETE and isinstance(row.spec.scenario.method, system)
    ]
    if finished:
        found["Runs"] = finished
    found["Published"] = [
        ColumnChoice(f"preset:{preset.id}", preset.title, preset.scenario)
        for preset in presets().values()
        if isinstance(preset.scenario.method, system)
    ]
    return found
