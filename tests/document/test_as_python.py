"""What was done in the window, pasted into Python, gives the same parameters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phexplore.document.as_python import notebook, script
from phexplore.document.project import Project
from phexplore.errors import PhexploreError
from phexplore.interface.scenarios import Scenario
from phexplore.model.edits import rename
from phexplore.model.fingerprint import fingerprint
from phexplore.model.paths import parameters, with_parameters
from phexplore.model.workbook import Workbook, add_scenario
from phexplore.systems.registry import presets

STARTS = [
    "sdhc-2020-us", "sdhc-2020-pr", "pl94-2020-persons-us", "dhc-2020-units-us", "ddp-2019-persons-us", "group-sizes-census-2010",
    "counties-invariant-2010",
]  # fmt: skip


def _new() -> Project:
    scenario = presets()["sdhc-2020-us"].scenario
    return Project.new(Workbook((scenario,), scenario.name))


def _steps(project: Project):
    content = project.content()
    return content.steps[: content.cursor + 1]


def _ends(code: str) -> Scenario:
    """Return the scenario of pasted code; its last lines draw, which is done once below."""
    names: dict[str, object] = {}
    exec(code.partition("# Its forecast")[0], names)  # noqa: S102 - what is being tested
    found = names["scenario"]
    assert isinstance(found, Scenario)
    return found


def _moved(value):
    """Return values near one, of its kind."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, max(1, value - 1)]
    if isinstance(value, Fraction):
        return [value * Fraction(1, 3), value / 2, value * Fraction(11, 10), Fraction(1, 7)]
    if isinstance(value, tuple) and len(value) > 1:
        return [value[:-1], value[1:]]
    return []


@pytest.mark.parametrize("start", STARTS)
@settings(max_examples=6)
@given(data=st.data())
def test_that_random_edits_give_the_same_fingerprint(start, data) -> None:
    project = Project.new(Workbook((replace(presets()[start].scenario, name="Mine"),), "Mine"))
    for _ in range(data.draw(st.integers(1, 6))):
        scenario = project.workbook.scenario
        near = {path: near for path, value in parameters(scenario).items() if (near := _moved(value))}
        path = data.draw(st.sampled_from(list(near)))
        try:
            changed = with_parameters(scenario, {path: data.draw(st.sampled_from(near[path]))})
            project.edit(f"Change {path}", lambda _now, new=changed: new)
        except PhexploreError:
            continue
    found = _ends(script(_steps(project)))
    assert found.fingerprint == fingerprint(project.workbook.scenario)
    assert found.value.conventions == project.workbook.scenario.conventions


def test_that_copies_renames_undone_steps_and_hostile_names_change_nothing() -> None:
    project = _new()
    first = with_parameters(project.workbook.scenario, {"budget PH3/state_A-G": "0.02"})
    project.edit("One\nraise SystemExit # `", lambda _now: first)
    hostile = "x'''\nraise SystemExit\n'''"
    project.edit_workbook("Copy", lambda book: add_scenario(book, rename(book.scenario, hostile)))
    second = with_parameters(project.workbook.scenario, {"threshold PH2": 8})
    project.edit("Two", lambda _now: second)
    project.edit("Rename", lambda now: rename(now, "Another"))
    project.edit("Undone", lambda now: with_parameters(now, {"threshold PH2": 2}))
    project.undo()
    assert _ends(script(_steps(project))).fingerprint == fingerprint(second)


def test_that_targets_are_said_and_locks_and_notes_are_not() -> None:
    project = _new()
    project.edit("Target", lambda now: with_parameters(now, {"target PH3/state_A-G": 25}))
    query = next(iter(project.workbook.scenario.phsafe.budgets))
    project.edit("Lock", lambda now: replace(now, method=replace(now.phsafe, locks=frozenset({query})), note="Mine"))
    project.edit("No target", lambda now: replace(
        now, method=replace(now.phsafe, targets={key: each for key, each in now.phsafe.targets.items() if key != query})
    ))  # fmt: skip
    code = script(_steps(project))
    found = _ends(code)
    assert "scenario.set('target PH3/state_A-G', '25')" in code or "scenario.set('target PH3/state_A-G', 25)" in code
    assert parameters(found.value) == parameters(project.workbook.scenario)
    assert "Lock" not in code


@pytest.mark.parametrize("form", ["script", "notebook"])
def test_that_it_runs_in_a_fresh_interpreter(tmp_path, form) -> None:
    project = _new()
    for path, value in (("budget PH3/state_A-G", "0.02"), ("threshold PH2", 8)):
        changed = with_parameters(project.workbook.scenario, {path: value})
        project.edit(f"Change {path}", lambda _now, new=changed: new)
    steps = _steps(project)
    cells = [cell for cell in json.loads(notebook(steps))["cells"] if cell["cell_type"] == "code"]
    code = script(steps) if form == "script" else "\n".join("".join(cell["source"]) for cell in cells)
    assert "scenario.set('budget PH3/state_A-G', '0.02')" in code
    path = tmp_path / "pasted.py"
    path.write_text(code + "\nprint(scenario.fingerprint)\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, path], env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == fingerprint(project.workbook.scenario)
