"""A scenario as the files and reports that are handed over, by the id of the format."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from phexplore.catalog.names import Naming, choose_naming, chosen_naming
from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.figures.wording import counted
from phexplore.files.atomic_files import write_atomically
from phexplore.files.scenario_json import decode_scenario, encode_scenario
from phexplore.model.approval import Decision
from phexplore.model.fields import Declared, Field, declared_fields
from phexplore.model.scenario import Scenario
from phexplore.report.export_formats import Occasion, Tell
from phexplore.systems.parameter_files import parameters_in
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
    """Files that were written.

    Attributes:
        files: the requested file first.
        notes: remarks about the files, one sentence each.
        left_out: the parts of the scenario that the files cannot contain; none for a report, which is not imported.
    """

    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def said(self) -> tuple[str, ...]:
        """The notes, and the parts that the files omit."""
        if not self.left_out:
            return self.notes
        listed = ", ".join(self.left_out)
        return (
            *self.notes,
            f"{self.files[0].name} cannot contain: {listed}. A project file (.phx) contains everything.",
        )


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
    return write_scenario(scenario, reference, job.form, job.out, job.now, Occasion(job.decisions, tell))


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
    system = system_of(scenario)
    formats = formats_of(system)
    if form not in formats:
        own = [] if system.handover is None else [system.handover.format]
        raise UnknownNameError("export format", form, [*own, *formats])
    comparable = reference if reference is not None and system_of(reference) is system else None
    more = (occasion or Occasion(),) if formats[form].is_report else ()
    return formats[form].write(scenario, comparable, now, *more)


def export_files(scenario: Scenario, form: str, out: Path, decisions: tuple[Decision, ...] = ()) -> Exported:
    """Write a scenario in a format, compared with its preset, and return the files with notes about them.

    Args:
        scenario: without blocking issues.
        form: ``phsafe-config``, ``das-ini`` or the id of a report exporter.
        out: a file; a directory gets a file of the format's usual name.
        decisions: of its project, oldest first.

    Raises:
        UnknownNameError: no such format.
        PhexploreError: it cannot be written.
    """
    baseline = presets().get(scenario.baseline)
    compared = baseline.scenario if baseline and baseline.scenario.method != scenario.method else None
    return write_scenario(scenario, compared, form, out, datetime.now(UTC), Occasion(decisions))


def write_scenario(
    scenario: Scenario, reference: Scenario | None, form: str, out: Path, now: datetime, occasion: Occasion
) -> Exported:
    """Write a scenario in a format and return the files with notes about them.

    Args:
        scenario: without blocking issues.
        reference: to compare it with, None for none.
        form: as for `export_files`.
        out: as there.
        now: time that the files state.
        occasion: the further content of a report.

    Raises:
        UnknownNameError: no such format.
        PhexploreError: it cannot be written.
    """
    system = system_of(scenario)
    if system.handover is not None and form == system.handover.format:
        files, notes = system.handover.write(scenario, out)
        return Exported(tuple(files), tuple(notes), left_out(scenario, files[0]))
    for other in systems().values():
        if other.handover is not None and form == other.handover.format and system.handover is not None:
            raise PhexploreError(
                f"The format {form} needs parameters of {other.title}, but {scenario.name!r} is of {system.title}.",
                "Choose another format, or another scenario: phexplore presets lists them.",
            )
    content = report_bytes(scenario, reference, form, now, occasion)
    made = formats_of(system)[form]
    target = out / f"parameters{made.suffix}" if out.is_dir() else out
    write_atomically(target, content)
    return Exported((target,), (), () if made.is_report else left_out(scenario, target))


def left_out(scenario: Scenario, path: Path) -> tuple[str, ...]:
    """Return the parts of a scenario that an import of the written file does not restore, e.g. ``46 targets``.

    Args:
        scenario: that was written.
        path: of the file. A table replaces some parameters of another scenario; it does not contain the rest.
    """
    system = system_of(scenario)
    try:
        if path.suffix.lower() == ".csv" and system.read_table is not None:
            read = [system.read_table(path, preset.scenario) for preset in system.presets().values()]
        else:
            read = [parameters_in(systems(), path)[0]]
    except PhexploreError:
        return ("parameters that can be imported",)
    return tuple(
        said
        for part, own in ((part, own) for own in (scenario, scenario.method) for part in declared_fields(type(own)))
        if (said := _lost(part, own, [back if own is scenario else back.method for back in read]))
    )


def _lost(part: Field, own: Declared, read: Sequence[Declared]) -> str:
    """Return the words for a part of a scenario that some reading of a file lacks, "" if every reading has it."""
    value = getattr(own, part.name)
    others = [getattr(back, part.name, None) for back in read]
    if part.name == "method" or value == part.default or all(value == other for other in others):
        return ""
    if part.name == "source_text" and all(others):  # an edited file is another text
        return ""
    if part.kind.keys is not None:
        entries = [set(each.items() if isinstance(each, Mapping) else each or ()) for each in (value, *others)]
        count = len(entries[0] - set.intersection(*entries))
        return counted(count, part.word) if count else ""
    return counted(len(value), "comment") if part.name == "comments" else part.phrase
