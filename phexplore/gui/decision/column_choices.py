"""What the project offers to compare: scenarios, what was saved and approved, finished runs, published presets. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from phexplore.catalog.presets import presets
from phexplore.document.project import Project
from phexplore.gui.decision.comparison import ColumnChoice
from phexplore.gui.decision.standing import approved_scenario, day
from phexplore.gui.run_manager.run_rows import RunRow
from phexplore.model.approval import approved
from phexplore.runs.states import RunState


def column_choices(project: Project, runs: Sequence[RunRow]) -> dict[str, list[ColumnChoice]]:
    """Return what can be compared with the active scenario, by heading; the active one comes first."""
    workbook, active = project.workbook, project.scenario
    system = type(active.method)
    own = [active, *(each for each in workbook.scenarios if each is not active and isinstance(each.method, system))]
    found = {"This project": [ColumnChoice(f"scenario:{each.name}", each.name, each) for each in own]}
    kept = []
    if (saved := project.saved_workbook) is not None and active.name in saved.names:
        kept.append(ColumnChoice("saved", "As last saved", replace(saved.find(active.name), name="As last saved")))
    force, source = approved(project.decisions), approved_scenario(project)
    if force is not None and source is not None:
        title = f"As approved on {day(force.at)}"
        kept.append(ColumnChoice("approved", title, replace(source, name=title)))
    if kept := [choice for choice in kept if isinstance(choice.scenario.method, system)]:
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
