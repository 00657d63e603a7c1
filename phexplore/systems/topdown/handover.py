"""What production reads of a TopDown scenario, and what a certificate says of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from phexplore.files.atomic_files import write_atomically
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.report.document import Cell, Header, Part, TableView, heading_cell
from phexplore.report.provenance import Section, epsilon_name, epsilon_text
from phexplore.systems.topdown.forecast import forecast_topdown
from phexplore.systems.topdown.ini_files import placed_files
from phexplore.systems.topdown.ini_text import IniChain, effective
from phexplore.systems.topdown.ini_writing import write_ini
from phexplore.systems.topdown.tables import noise_table, semantics_tables, shares_table


def files(scenario: Scenario) -> tuple[dict[str, str], str, list[str]]:
    """Return the chain of ``.ini`` files with its table of shares, the root's name, and notes.

    Raises:
        ExportError: they could not say exactly what was chosen.
    """
    output = write_ini(scenario)
    return dict(output.files), output.root, list(output.notes)


def write(scenario: Scenario, out: Path) -> tuple[list[Path], list[str]]:
    """Write the chain to a file, or into a directory; return the files and the notes."""
    is_file = out.suffix.lower() == ".ini" and not out.is_dir()
    output = write_ini(scenario, out.name if is_file else f"{scenario.baseline or 'das'}.ini")
    placed = placed_files(output, out, is_file=is_file)
    for path, content in placed.items():
        write_atomically(path, content.encode())
    return list(placed), list(output.notes)


def privacy(scenario: Scenario) -> Part:
    """Return the part of a certificate about the loss."""
    method = scenario.topdown
    loss = forecast_topdown(method, scenario.conventions)
    entries = [(f"{loss.framework.symbol}, total", exact_text(loss.total))]
    entries += [(epsilon_name(figure), epsilon_text(figure)) for figure in loss.epsilons]
    spine = [("Kind", method.spine.kind), *method.spine.settings]
    sections = (Section("Privacy loss, replace one record", tuple(entries)), Section("Spine", tuple(spine)))
    return Part("privacy", "Formal privacy", tables=semantics_tables(loss), sections=sections)


def budgets(scenario: Scenario) -> Part:
    """Return the part of a certificate about budgets and noise."""
    method = scenario.topdown
    tables = (shares_table(method), noise_table(scenario, forecast_topdown(method, scenario.conventions)))
    return Part("budgets", "Budgets and noise of every query", tables=tables)


def configuration(root: str, texts: Mapping[str, str]) -> Part:
    """Return the whole effective configuration: where each value comes from and what it hides."""
    table = _ini_table(IniChain(root, dict(texts)))
    return Part("configuration", "The complete configuration", tables=(table,))


def _ini_table(chain: IniChain) -> TableView:
    ini = effective(chain)
    headers = tuple(Header(text) for text in ("Section", "Key", "Value", "From", "Hides"))
    rows = tuple(
        (
            heading_cell(value.section),
            Cell(value.written),
            Cell(value.text),
            Cell(value.file),
            Cell("; ".join(f"{hidden.text} ({hidden.file})" for hidden in ini.shadowed.get(place, ())) or "–"),
        )
        for place, value in sorted(ini.values.items())
    )
    return TableView("configuration", "Effective values with the file each comes from", headers, rows)
