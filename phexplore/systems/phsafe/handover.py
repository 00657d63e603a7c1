"""What production reads of an S-DHC scenario, and what a certificate says of it.

Args:
    scenario: to hand over.
    out: file or directory.
    root: name of the configuration file.
    texts: files by name.
    version: of the bundle's format; the part is the same in all.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from phexplore.files.atomic_files import write_atomically
from phexplore.model.scenario import Scenario
from phexplore.report.document import Column, Part, heading, table_of, words
from phexplore.report.provenance import conventions_section
from phexplore.systems.phsafe.config_file import write_config
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.provenance import privacy_section


def files(scenario: Scenario) -> tuple[dict[str, str], str, list[str]]:
    """Return ``config.json``, its name, and no notes.

    Raises:
        ExportError: it could not say exactly what was chosen.
    """
    return {"config.json": write_config(scenario)}, "config.json", []


def write(scenario: Scenario, out: Path) -> tuple[list[Path], list[str]]:
    """Write ``config.json`` to a file or into a directory; return the file and no notes.

    Args:
        scenario: to write.
        out: file, or a directory.
    """
    target = out / "config.json" if out.is_dir() else out
    write_atomically(target, write_config(scenario).encode())
    return [target], []


def privacy(scenario: Scenario, version: int) -> Part:
    """Return the part of a certificate about the loss; the arguments of this module."""
    del version
    framework = scenario.phsafe.framework
    sections = (
        privacy_section(forecast(scenario)),
        conventions_section(scenario.conventions, framework),
    )
    return Part("privacy", "Formal privacy", sections=sections)


def budgets(scenario: Scenario) -> Part:
    """Return the part of a certificate about budgets and noise."""
    from phexplore.systems.phsafe.scenario_document import parameter_table  # noqa: PLC0415 - brings the charts
    from phexplore.systems.phsafe.table10 import table10_rows  # noqa: PLC0415 - as above

    figures = forecast(scenario)
    table = parameter_table(table10_rows(scenario, figures), figures)
    return Part("budgets", "Budgets and noise of every query", tables=(table,))


def configuration(root: str, texts: Mapping[str, str]) -> Part:
    """Return the whole configuration, line by line.

    Args:
        root: name of the configuration file.
        texts: content of every file by name.
    """
    columns: tuple[Column[tuple[int, str]], ...] = (
        heading("Line", lambda line: str(line[0])),
        words("Text", lambda line: line[1]),
    )
    lines = enumerate(texts[root].splitlines(), start=1)
    table = table_of("configuration", f"{root}, line by line", columns, lines)
    return Part("configuration", "The complete configuration", tables=(table,))
