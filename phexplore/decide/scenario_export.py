"""A scenario as the files and reports that are handed over, by the id of the format."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from phexplore.catalog.names import Naming, choose_naming, chosen_naming
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.files.atomic_files import write_atomically
from phexplore.files.scenario_json import decode_scenario, encode_scenario
from phexplore.model.approval import Decision
from phexplore.model.scenario import Scenario
from phexplore.report.export_formats import ExportFormat, Occasion, Tell
from phexplore.systems.registry import formats_of, presets, system_of, systems


@dataclass(frozen=True, slots=True)
class ExportJob:
    """A report or a picture to write, for a process beside the window.

    Attributes:
        scenario: as JSON text, exact.
        reference: what it is compared with, as JSON text; "" for nothing.
        form: id of the format.
        out: the file to write.
        now: time printed in the document, with its zone.
        naming: what tables, groups and places are called in it.
        decisions: of the project, oldest first.
    """

    scenario: str
    reference: str
    form: str
    out: Path
    now: datetime
    naming: Naming
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class Exported:
    """A file that was written."""

    path: Path


def export_order(
    scenario: Scenario,
    reference: Scenario | None,
    form: str,
    out: Path,
    now: datetime,
    decisions: tuple[Decision, ...] = (),
) -> ExportJob:
    """Return the job to write a scenario in a format.

    Args:
        scenario: to write.
        reference: to compare it with, None for none.
        form: id of the format.
        out: file to write.
        now: time that reports state.
        decisions: of the project, oldest first.
    """
    other = "" if reference is None else json.dumps(encode_scenario(reference))
    return ExportJob(json.dumps(encode_scenario(scenario)), other, form, out, now, chosen_naming(), decisions)


def write_export(job: ExportJob, tell: Tell) -> Exported:
    """Write the file of a job.

    Args:
        job: what to write.
        tell: called when a step begins.

    Raises:
        PhexploreError: there is no such format, or the file cannot be written.
    """
    choose_naming(job.naming)
    scenario = decode_scenario(json.loads(job.scenario), "scenario")
    reference = decode_scenario(json.loads(job.reference), "reference") if job.reference else None
    occasion = Occasion(job.decisions, tell)
    write_atomically(job.out, report_bytes(scenario, reference, job.form, job.now, occasion))
    return Exported(job.out)


def report_bytes(
    scenario: Scenario, reference: Scenario | None, form: str, now: datetime, occasion: Occasion | None = None
) -> bytes:
    """Return a scenario in a format of the reports.

    Args:
        scenario: to write.
        reference: to compare it with, None for none.
        form: id of the format.
        now: time that the report states.
        occasion: what a report says beside the parameters; nothing by default.

    Raises:
        UnknownNameError: no such format.
    """
    formats = formats_of(system_of(scenario))
    if form not in formats:
        raise UnknownNameError("export format", form, list(formats))
    comparable = reference if reference is not None and system_of(reference) is system_of(scenario) else None
    return _written(formats[form], scenario, comparable, now, occasion or Occasion())


def _written(
    form: ExportFormat, scenario: Scenario, compared: Scenario | None, now: datetime, occasion: Occasion
) -> bytes:
    more = (occasion,) if form.is_report else ()
    return form.write(scenario, compared, now, *more)


def export_files(
    scenario: Scenario, form: str, out: Path, decisions: tuple[Decision, ...] = ()
) -> tuple[list[Path], list[str]]:
    """Write a scenario in a format and return the files, and what is to be known of them.

    Args:
        scenario: without blocking issues.
        form: ``phsafe-config``, ``das-ini`` or the id of a report exporter.
        out: a file; a directory gets a file of the format's usual name.
        decisions: of its project, oldest first.

    Raises:
        UnknownNameError: no such format.
        PhexploreError: it cannot be written.
    """
    system = system_of(scenario)
    if system.handover is not None and form == system.handover.format:
        return system.handover.write(scenario, out)
    for other in systems().values():
        if system.handover is not None and other.handover is not None and form == other.handover.format:
            raise PhexploreError(
                f"The format {form} needs parameters of {other.title}, but {scenario.name!r} is of {system.title}.",
                "Choose another format, or another scenario: phexplore presets lists them.",
            )
    formats = formats_of(system)
    if form not in formats:
        own = [] if system.handover is None else [system.handover.format]
        raise UnknownNameError("export format", form, [*own, *formats])
    baseline = presets().get(scenario.baseline)
    compared = baseline.scenario if baseline and baseline.scenario.method != scenario.method else None
    if compared is not None and system_of(compared) is not system:
        compared = None
    target = out / f"parameters{formats[form].suffix}" if out.is_dir() else out
    content = _written(formats[form], scenario, compared, datetime.now(UTC), Occasion(decisions))
    write_atomically(target, content)
    return [target], []
