"""Which exporter writes which format, for scenarios and for runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from phexplore.decide.deciding import project_of
from phexplore.decide.scenario_export import Exported, export_files
from phexplore.files.atomic_files import read_text
from phexplore.files.project_file import read_project
from phexplore.model.approval import Decision
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import say
from phexplore.runs.store import SPEC_FILE, load_spec
from phexplore.systems.registry import system_of
from phexplore.systems.run_results import Choice


def export_scenario(scenario: Scenario, form: str, out: Path, source: str = "") -> Exported:
    """Write a scenario in a format, print the notes about the files, and return both; see `export_files`.

    Args:
        scenario: what is exported.
        form: the name of the format, as in ``--format``.
        out: the folder that receives the files.
        source: the name of the scenario as given; a report states the decisions of its project.
    """
    decisions: tuple[Decision, ...] = ()
    if (project := project_of(source)) is not None:
        decisions = read_project(read_text(project[0]), name=project[0].name).decisions
    made = export_files(scenario, form, out, decisions)
    for note in made.said:
        say(note)
    return made


def export_run(run: Path, form: str, out: Path, choices: Mapping[str, Choice] | None = None) -> list[Path]:
    """Write the results of a run in a format and return the files.

    Args:
        run: directory of the run.
        form: html, pdf, docx, pptx, csv, png or svg.
        out: file, or directory for csv and png.
        choices: for the pictures, as on the page of results.

    Raises:
        UnknownNameError: no such format or choice.
        InputProblemsError: not a run directory.
        PhexploreError: nothing is counted yet, or it cannot be written.
    """
    from phexplore.report.progress import tell_step
    from phexplore.report.run_report import write_run_report

    if not (run / SPEC_FILE).is_file():
        raise InputProblemsError(
            [Issue((str(run),), "This is not a run directory.", "Name a directory that phexplore run has written.")]
        )
    system = system_of(load_spec(run).scenario)
    read = partial(system.report, choices=choices)
    return write_run_report(read, run, form, out, datetime.now(UTC), tell_step)
