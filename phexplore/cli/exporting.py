"""Which exporter writes which format, for scenarios and for runs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from phexplore.catalog.presets import presets
from phexplore.cli.printing import say
from phexplore.cli.source import require_phsafe
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.files.phsafe_config import write_config
from phexplore.files.whole import write_whole
from phexplore.model.group_sizes import GroupSizes
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.scenario import Method, Scenario
from phexplore.model.subspace import Subspace
from phexplore.model.topdown import TopDown
from phexplore.runs.store import SPEC_FILE, SUMMARY_FILE, load_spec

CONFIG_FORMAT = "phsafe-config"
INI_FORMAT = "das-ini"


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
    from phexplore.report.known import SCENARIO_EXPORTERS  # charts and sheets are loaded when they are wanted
    from phexplore.report.snapshot import scenario_snapshot

    if isinstance(scenario.method, Subspace):
        return _export_subspace(scenario, form, out)
    if isinstance(scenario.method, GroupSizes):
        from phexplore.report.group_sizes_export import FORMATS, export_group_sizes

        content = export_group_sizes(scenario, form)
        target = out / f"parameters{FORMATS[form]}" if out.is_dir() else out
        write_whole(target, content)
        return [target]
    if form == INI_FORMAT:
        return _export_ini(scenario, out)
    if isinstance(scenario.method, TopDown) and form != CONFIG_FORMAT:
        return _export_topdown(scenario, form, out)
    exporter = SCENARIO_EXPORTERS.get(form)
    if exporter is None and form != CONFIG_FORMAT:
        raise UnknownNameError("format", form, [CONFIG_FORMAT, INI_FORMAT, *SCENARIO_EXPORTERS])
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


def _export_topdown(scenario: Scenario, form: str, out: Path) -> list[Path]:
    """Write the workbook, the report, the table or the charts of a TopDown scenario."""
    from phexplore.report.topdown_scenario import FORMATS, export_topdown

    baseline = presets().get(scenario.baseline)
    compared = baseline.scenario if baseline and baseline.scenario.method != scenario.method else None
    content = export_topdown(scenario, form, datetime.now(UTC), compared)
    target = out / f"parameters{FORMATS[form][0]}" if out.is_dir() else out
    write_whole(target, content)
    return [target]


def _export_subspace(scenario: Scenario, form: str, out: Path) -> list[Path]:
    """Write subspace parameters as exact JSON or as a table."""
    from phexplore.report.subspace_export import FORMATS, export_subspace

    content = export_subspace(scenario, form)
    target = out / f"parameters{FORMATS[form]}" if out.is_dir() else out
    write_whole(target, content)
    return [target]


def _export_ini(scenario: Scenario, out: Path) -> list[Path]:
    """Write the chain of .ini files of a TopDown scenario with its table of shares."""
    from phexplore.files.das_ini_handover import placed_files
    from phexplore.files.das_ini_writing import write_ini

    if not isinstance(scenario.method, TopDown):
        raise PhexploreError(
            f"The format {INI_FORMAT} needs the parameters of TopDown, but {scenario.name!r} holds those of PHSafe.",
            f"Choose --format {CONFIG_FORMAT}, or another scenario, e.g. pl94-2020-persons-us.",
        )
    is_file = out.suffix.lower() == ".ini" and not out.is_dir()
    output = write_ini(scenario, out.name if is_file else f"{scenario.baseline or 'das'}.ini")
    for path, content in (placed := placed_files(output, out, is_file=is_file)).items():
        write_whole(path, content.encode())
    for note in output.notes:
        say(note)
    return list(placed)


def export_run(run: Path, form: str, out: Path) -> list[Path]:
    """Write the results of a run in a format and return the files.

    Raises:
        UnknownNameError: no such format.
        InputProblemsError: not a run directory.
        PhexploreError: nothing is counted yet, or it cannot be written.
    """
    from phexplore.runs.run_files import as_written

    if not (run / SPEC_FILE).is_file():
        raise InputProblemsError(
            [Issue((str(run),), "This is not a run directory.", "Name a directory that phexplore run has written.")]
        )
    method = load_spec(run).scenario.method
    with as_written(
        run / SUMMARY_FILE
    ):  # the tables have readers of their own, so the summary is what surprises a report
        return _export_run(run, method, form, out)


def _export_run(run: Path, method: Method, form: str, out: Path) -> list[Path]:
    now = datetime.now(UTC)
    match method:
        case GroupSizes():
            from phexplore.report.group_sizes_run import write_group_sizes_report

            return write_group_sizes_report(run, form, out, now)
        case Subspace():
            from phexplore.report.subspace_run import write_subspace_report

            return write_subspace_report(run, form, out, now)
        case TopDown():
            from phexplore.report.topdown_run import write_topdown_report

            return write_topdown_report(run, form, out, now)
    from phexplore.report.known import run_exporters

    exporters = run_exporters()
    if (exporter := exporters.get(form)) is None:
        raise UnknownNameError("format", form, list(exporters))
    return exporter.write(run, out, now)
