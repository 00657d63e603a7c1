"""Which exporter writes which format, for scenarios and for runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.files.atomic_files import write_atomically
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import say
from phexplore.runs.store import SPEC_FILE, SUMMARY_FILE, load_spec
from phexplore.systems.registry import presets, system_of, systems
from phexplore.systems.run_results import Choice


def export_scenario(scenario: Scenario, form: str, out: Path) -> list[Path]:
    """Write a scenario in a format and return the files.

    Args:
        scenario: without blocking issues.
        form: ``phsafe-config``, ``das-ini`` or the id of a report exporter.
        out: a file; a directory gets a file of the format's usual name.

    Raises:
        UnknownNameError: no such format.
        PhexploreError: it cannot be written.
    """
    system = system_of(scenario)
    if system.handover is not None and form == system.handover.format:
        paths, notes = system.handover.write(scenario, out)
        for note in notes:
            say(note)
        return paths
    for other in systems().values():
        if system.handover is not None and other.handover is not None and form == other.handover.format:
            raise PhexploreError(
                f"The format {form} needs parameters of {other.title}, but {scenario.name!r} is of {system.title}.",
                "Choose another format, or another scenario: phexplore presets lists them.",
            )
    formats = system.formats
    if form not in formats:
        own = [] if system.handover is None else [system.handover.format]
        raise UnknownNameError("export format", form, [*own, *formats])
    baseline = presets().get(scenario.baseline)
    compared = baseline.scenario if baseline and baseline.scenario.method != scenario.method else None
    if compared is not None and system_of(compared) is not system:
        compared = None
    target = out / f"parameters{formats[form].suffix}" if out.is_dir() else out
    write_atomically(target, formats[form].write(scenario, compared, datetime.now(UTC)))
    return [target]


def export_run(run: Path, form: str, out: Path, choices: Mapping[str, Choice] | None = None) -> list[Path]:
    """Write the results of a run in a format and return the files.

    Args:
        run: directory of the run.
        form: html, csv, png or pdf.
        out: file, or directory for csv and png.
        choices: for the pictures, as on the page of results.

    Raises:
        UnknownNameError: no such format or choice.
        InputProblemsError: not a run directory.
        PhexploreError: nothing is counted yet, or it cannot be written.
    """
    from phexplore.report.run_report import write_run_report
    from phexplore.runs.run_files import as_written

    if not (run / SPEC_FILE).is_file():
        raise InputProblemsError(
            [Issue((str(run),), "This is not a run directory.", "Name a directory that phexplore run has written.")]
        )
    system = system_of(load_spec(run).scenario)
    # The tables have readers of their own, so the summary is what surprises a report.
    with as_written(run / SUMMARY_FILE):
        return write_run_report(partial(system.report, choices=choices), run, form, out, datetime.now(UTC))
