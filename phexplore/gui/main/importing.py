"""Foreign parameter files as new scenarios of the project: nothing is half-loaded. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from phexplore.errors import PhexploreError
from phexplore.model.issues import Issue
from phexplore.model.scenario import Scenario
from phexplore.systems.registry import system_of, systems
from phexplore.systems.sources import parameter_file
from phexplore.systems.sources import read_parameters as read_parameters_of

PROJECT_SUFFIX = ".phx"
_WORKBOOK, _BUNDLE = ".xlsx", ".zip"
_TABLES = frozenset({".csv", _WORKBOOK, ".tsv", ".txt"})


def is_published(path: Path) -> bool:
    """Return whether a file holds data, block files or what the Census Bureau published, not parameters.

    Raises:
        InputProblemsError: it is damaged, or an archive of several kinds.
    """
    from phexplore.published.door import recognise

    return (
        path.suffix.lower() not in {PROJECT_SUFFIX, ".ini", _WORKBOOK} and path.exists() and recognise(path) is not None
    )


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
    suffix = path.suffix.lower()
    if suffix == _BUNDLE:
        from phexplore.decide.verifying import bundle_parameters

        scenario, notes = bundle_parameters(path)
        return replace(scenario, name=f"{scenario.name} ({path.stem})".replace("#", "-")), notes
    if suffix in _TABLES and (suffix != _WORKBOOK or parameter_file(path) is None):
        if (read_table := system_of(like).read_table) is None:
            able = " or ".join(system.title for system in systems().values() if system.read_table is not None)
            raise PhexploreError(
                f"{path.name} is a table of parameters of {able}, which change a scenario of it; {like.name!r} is another one.",
                f"Work on a scenario of {able} first.",
            )
        return read_table(path, like), ()
    return read_parameters_of(path)
