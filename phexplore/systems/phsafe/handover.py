"""What production reads of an S-DHC scenario, and what a certificate says of it.

Args:
    scenario: to hand over.
    out: file or directory.
    root: name of the configuration file.
    texts: files by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from phexplore.files.atomic_files import write_atomically
from phexplore.files.scenario_json import OWN_FILES
from phexplore.model.scenario import Scenario
from phexplore.model.shipped_names import files_named
from phexplore.report.document import Column, Part, heading, table_of, words
from phexplore.report.provenance import conventions_section
from phexplore.systems.phsafe.config_file import library_tables, write_config, write_with_own_tables
from phexplore.systems.phsafe.forecast import forecast
from phexplore.systems.phsafe.provenance import privacy_section

_WITH_OWN = "parameters.json"


def files(scenario: Scenario) -> tuple[dict[str, str], str, list[str]]:
    """Return ``config.json``, its name, and no notes.

    PHSafe refuses tables of a user's library there: with them it is a file of the same layout under another name, what they count, and
    a note.

    Raises:
        ExportError: it could not say exactly what was chosen.
    """
    if not (own := library_tables(scenario)):
        return {"config.json": write_config(scenario)}, "config.json", []
    definitions = {f"{OWN_FILES}/{name}": text for name, text in files_named(scenario.method).items()}
    note = (
        f"There is no config.json: PHSafe refuses one with any other than its nine measured tables, and the scenario also has "
        f"{', '.join(own)}. {_WITH_OWN} has the same layout, {OWN_FILES}/ what the tables count; this program runs them."
    )
    return {_WITH_OWN: write_with_own_tables(scenario), **definitions}, _WITH_OWN, [note]


def write(scenario: Scenario, out: Path) -> tuple[list[Path], list[str]]:
    """Write ``config.json`` to a file or into a directory; return the file and no notes.

    Args:
        scenario: to write.
        out: file, or a directory.
    """
    target = out / "config.json" if out.is_dir() else out
    write_atomically(target, write_config(scenario).encode())
    return [target], []


def privacy(scenario: Scenario) -> Part:
    """Return the part of a certificate about the loss."""
    sections = (
        privacy_section(forecast(scenario)),
        conventions_section(scenario.conventions, scenario.phsafe.framework),
    )
    return Part("privacy", "Formal privacy", sections=sections)


def budgets(scenario: Scenario) -> Part:
    """Return the part of a certificate about budgets and noise."""
    from phexplore.systems.phsafe.scenario_document import parameter_table  # noqa: PLC0415 - brings the charts
    from phexplore.systems.phsafe.table10 import table10_rows  # noqa: PLC0415 - as above

    figures = forecast(scenario)
    table = parameter_table(table10_rows(scenario, figures), figures, says_missed=True)
    return Part("budgets", "Budgets and noise of every query", tables=(table,))


def configuration(root: str, texts: Mapping[str, str]) -> Part:
    """Return the whole configuration and the definitions of tables of a user's library, line by line.

    Args:
        root: name of the configuration file.
        texts: content of every file by name.
    """
    columns: tuple[Column[tuple[str, int, str]], ...] = (
        heading("Line", lambda line: str(line[1])),
        words("Text", lambda line: line[2]),
    )
    lines = [(name, number, line) for name in texts for number, line in enumerate(texts[name].splitlines(), start=1)]
    first, others = [line for line in lines if line[0] == root], [line for line in lines if line[0] != root]
    tables = [table_of("configuration", f"{root}, line by line", columns, first)]
    if others:
        named = (words("File", lambda line: line[0]), *columns)
        tables.append(table_of(OWN_FILES, "Definitions of the user's library, line by line", named, others))
    return Part("configuration", "The complete configuration", tables=tuple(tables))
