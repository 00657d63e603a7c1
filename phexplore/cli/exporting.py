"""Which exporter writes which format, for scenarios and for runs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from phexplore.catalog.presets import presets
from phexplore.cli.source import require_phsafe
from phexplore.errors import UnknownNameError
from phexplore.files.phsafe_config import write_config
from phexplore.files.whole import write_whole
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.scenario import Scenario
from phexplore.runs.store import SPEC_FILE

CONFIG_FORMAT = "phsafe-config"


def export_scenario(scenario: Scenario, form: str, out: Path) -> list[Path]:
    """Write a scenario in a format and return the files.

    Args:
        scenario: without blocking issues.
        form: ``phsafe-config`` or the id of a report exporter.
        out: a file; a directory gets a file of the format's usual name.

    Raises:
        UnknownNameError: no such format.
        PhexploreError: it cannot be written.
    """
    from phexplore.report.known import SCENARIO_EXPORTERS  # charts and sheets are loaded when they are wanted
    from phexplore.report.snapshot import scenario_snapshot

    exporter = SCENARIO_EXPORTERS.get(form)
    if exporter is None and form != CONFIG_FORMAT:
        raise UnknownNameError("format", form, [CONFIG_FORMAT, *SCENARIO_EXPORTERS])
    require_phsafe(scenario, f"The format {form}")
    if exporter is None:
        target = out / "config.json" if out.is_dir() else out
        write_whole(target, write_config(scenario).encode())
        return [target]
    target = out / f"parameters{exporter.suffix}" if out.is_dir() else out
    baseline = presets().get(scenario.baseline)
    compared = baseline.scenario if baseline and baseline.scenario.method != scenario.method else None
    write_whole(target, exporter.write(scenario_snapshot(scenario, datetime.now(UTC), compared)))
    return [target]


def export_run(run: Path, form: str, out: Path) -> list[Path]:
    """Write the results of a run in a format and return the files.

    Raises:
        UnknownNameError: no such format.
        InputProblemsError: not a run directory.
        PhexploreError: nothing is counted yet, or it cannot be written.
    """
    from phexplore.report.known import run_exporters

    exporters = run_exporters()
    if (exporter := exporters.get(form)) is None:
        raise UnknownNameError("format", form, list(exporters))
    if not (run / SPEC_FILE).is_file():
        raise InputProblemsError(
            [Issue((str(run),), "This is not a run directory.", "Name a directory that phexplore run has written.")]
        )
    return exporter.write(run, out, datetime.now(UTC))
