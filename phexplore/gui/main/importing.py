"""Foreign parameter files as new scenarios of the project: nothing is half-loaded. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from phexplore.errors import PhexploreError, visible
from phexplore.files.atomic_files import read_text
from phexplore.files.scenario_json import decode_scenario, stated_scenario
from phexplore.model.issues import Issue, Severity
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.opening import read_bytes
from phexplore.systems.phsafe.config_file import read_config

if TYPE_CHECKING:
    from phexplore.systems.phsafe.table10_read import Table10Entry

PROJECT_SUFFIX = ".phx"
CONFIG_SUFFIX = ".json"
INI_SUFFIX = ".ini"
WORKBOOK_SUFFIX = ".xlsx"
BUNDLE_SUFFIX = ".zip"
TABLE_SUFFIXES = frozenset({".csv", ".xlsx", ".tsv", ".txt"})
PARAMETER_SUFFIXES = frozenset({CONFIG_SUFFIX, INI_SUFFIX, BUNDLE_SUFFIX}) | TABLE_SUFFIXES


def is_readable(path: Path) -> bool:
    """Return whether the window reads files of this name."""
    return path.suffix.lower() in PARAMETER_SUFFIXES | {PROJECT_SUFFIX}


def read_parameters(path: Path, like: Scenario) -> tuple[Scenario, Sequence[Issue]]:
    """Read parameters.

    A production config.json, a chain of TopDown's .ini files, a workbook, a table in the shape of Table 10, or the JSON that group
    sizes and releases under exact sums are exported as.

    Args:
        path: the file.
        like: a table says budgets, targets and thresholds only; everything else is as in this scenario.

    Returns:
        The scenario and what is worth knowing about the file.

    Raises:
        InputProblemsError: everything that is wrong with it.
        PhexploreError: it cannot be read.
    """
    if path.suffix.lower() == INI_SUFFIX:
        from phexplore.systems.topdown.ini_reading import load_ini

        return load_ini(path)
    if path.suffix.lower() == BUNDLE_SUFFIX:
        return _from_bundle(path)
    if path.suffix.lower() == WORKBOOK_SUFFIX and (whole := _whole_workbook(path)) is not None:
        return whole
    if path.suffix.lower() in TABLE_SUFFIXES:
        if not isinstance(like.method, PhSafe):
            raise PhexploreError(
                f"{path.name} is a table of S-DHC parameters, which change an S-DHC scenario; {like.name!r} is another one.",
                "Work on an S-DHC scenario first.",
            )
        from phexplore.systems.phsafe.table10_read import read_table10

        return with_table(like, read_table10(read_bytes(path), path.name), path.stem), ()
    text = read_text(path)
    if (stated := stated_scenario(text)) is not None:
        return decode_scenario(stated, path.name), ()
    return read_config(read_text(path, keep_mark=True), name=path.name)


def _from_bundle(path: Path) -> tuple[Scenario, Sequence[Issue]]:
    """Return the parameters of a bundle, e.g. to compare with what was approved elsewhere; an altered one is refused."""
    from phexplore.decide.verifying import read_bundle, verify

    found = verify(read_bundle(path))
    if found.scenario is None or not found.is_intact:
        first = found.alterations[0]
        sentence = f"{path.name} is not intact, so nothing of it is used. {visible(f'{first.part}: {first.sentence}')}"
        raise PhexploreError(sentence, "Ask for the bundle again.")
    signed = ", ".join(f"{visible(one.signer.name)} (key {one.key_id})" for one in found.signatures) or "nobody"
    note = Issue((path.name,), f"The bundle is intact, {found.status}, signed by {signed}.", "", Severity.WARNING)
    return replace(found.scenario, name=f"{found.scenario.name} ({path.stem})".replace("#", "-")), (note,)


def _whole_workbook(path: Path) -> tuple[Scenario, Sequence[Issue]] | None:
    """Return the scenario of a workbook that says everything; None for one that holds a table of budgets alone."""
    from phexplore.files.sheet_grids import sheet_grids
    from phexplore.report.workbook_settings import SETTINGS_SHEET
    from phexplore.systems.phsafe.workbook_read import read_workbook
    from phexplore.systems.topdown.workbook_read import is_topdown_workbook, read_topdown_workbook

    content = read_bytes(path)
    grids = dict(sheet_grids(content, path.name))
    if is_topdown_workbook(grids):
        return read_topdown_workbook(content, path.name), ()
    return read_workbook(content, path.name) if SETTINGS_SHEET in grids else None


def with_table(like: Scenario, entries: Sequence[Table10Entry], name: str) -> Scenario:
    """Return the scenario with what the lines of a parameter table say; queries they do not name stay as they are."""
    method = like.phsafe
    budgets, thresholds, targets = dict(method.budgets), dict(method.thresholds), dict(method.targets)
    for entry in entries:
        budgets[entry.query] = entry.budget
        if entry.threshold is not None:
            thresholds[entry.query.table] = entry.threshold
        targets.pop(entry.query, None)
        if entry.target is not None:
            targets[entry.query] = entry.target
    edited = replace(method, budgets=budgets, thresholds=thresholds, targets=targets)
    return replace(like, name=name.replace("#", "-"), method=edited, source_text="")
