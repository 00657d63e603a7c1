"""What production reads of a TopDown scenario, and what a certificate says of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from phexplore.errors import ExportError
from phexplore.files.atomic_files import write_atomically
from phexplore.model.numbers import exact_text
from phexplore.model.scenario import Scenario
from phexplore.opening import read_bytes
from phexplore.report.document import Column, Part, heading, table_of, words
from phexplore.report.provenance import Section, epsilon_name, epsilon_text
from phexplore.systems.topdown.forecast import forecast_topdown
from phexplore.systems.topdown.ini_text import IniChain, IniValue, effective
from phexplore.systems.topdown.ini_writing import IniOutput, write_ini
from phexplore.systems.topdown.shared import forecast
from phexplore.systems.topdown.tables import noise_table, semantics_tables, shares_table


def files(scenario: Scenario) -> tuple[dict[str, str], str, list[str]]:
    """Return the chain of ``.ini`` files with its table of shares, the root's name, and notes.

    Raises:
        ExportError: they could not say exactly what was chosen.
    """
    output = write_ini(scenario)
    return dict(output.files), output.root, list(output.notes)


def write(scenario: Scenario, out: Path) -> tuple[list[Path], list[str]]:
    """Write the chain to a file, or into a directory; return the files and the notes.

    Args:
        scenario: of TopDown.
        out: file that is written. What goes beside it replaces only files that the file there includes.

    Raises:
        ExportError: a file beside it belongs to somebody else.
    """
    is_file = out.suffix.lower() == ".ini" and not out.is_dir()
    output = write_ini(scenario, out.name if is_file else f"{scenario.baseline or 'das'}.ini")
    placed = placed_files(output, out, is_file=is_file)
    former = ""
    for path, content in placed.items() if is_file else ():
        present = read_bytes(path) if path.exists() else content.encode()
        if path != out and path.name not in former and present != content.encode():
            raise ExportError(
                f"{path} exists and does not belong to {out.name}. Nothing was written.",
                "Choose another folder, or move that file.",
            )
        former += present.decode(errors="replace") if path.exists() else ""
    for path, content in placed.items():
        write_atomically(path, content.encode())
    return list(placed), list(output.notes)


def privacy(scenario: Scenario) -> Part:
    """Return the part of a certificate about the loss."""
    method = scenario.topdown
    loss = forecast_topdown(method, scenario.conventions)
    entries = [(f"{loss.framework.symbol}, total", exact_text(loss.total))]
    entries += [(epsilon_name(figure), epsilon_text(figure)) for figure in forecast(scenario).stated()]
    spine = [("Kind", method.spine.kind), *method.spine.settings]
    sections = (Section("Privacy loss, replace one record", tuple(entries)), Section("Spine", tuple(spine)))
    tables = semantics_tables(method, loss)
    return Part("privacy", "Formal privacy", tables=tables, sections=sections)


def budgets(scenario: Scenario) -> Part:
    """Return the part of a certificate about budgets and noise."""
    method = scenario.topdown
    tables = (shares_table(method), noise_table(scenario, forecast_topdown(method, scenario.conventions)))
    return Part("budgets", "Budgets and noise of every query", tables=tables)


def configuration(root: str, texts: Mapping[str, str]) -> Part:
    """Return the whole effective configuration: where each value comes from and what it hides.

    Args:
        root: name of the first file.
        texts: of all files, by name.
    """
    ini = effective(IniChain(root, dict(texts)))
    columns: tuple[Column[tuple[tuple[str, str], IniValue]], ...] = (
        heading("Section", lambda entry: entry[1].section),
        words("Key", lambda entry: entry[1].written),
        words("Value", lambda entry: entry[1].text),
        words("From", lambda entry: entry[1].file),
        words("Hides", lambda entry: "; ".join(f"{e.text} ({e.file})" for e in ini.shadowed.get(entry[0], ())) or "–"),
    )
    caption = "Effective values with the file each comes from"
    table = table_of("configuration", caption, columns, sorted(ini.values.items()))
    return Part("configuration", "The complete configuration", tables=(table,))


def placed_files(output: IniOutput, out: Path, *, is_file: bool) -> dict[Path, str]:
    """Return where every file goes, the first one first.

    Args:
        output: the files.
        out: a folder, which gets all of them under their names; or the first file, beside which the others go.
        is_file: which of the two it is.

    Raises:
        ExportError: an included file would land outside the folder of `out`.
    """
    names = [output.root, *(name for name in output.files if name != output.root)]
    if not is_file:
        return {out / name: output.files[name] for name in names}
    home = PurePosixPath(output.root).parent
    placed = {out: output.files[output.root]}
    for name in names[1:]:
        inside = PurePosixPath(name)
        if home.parts and not inside.is_relative_to(home):
            raise ExportError(
                f"{PurePosixPath(output.root).name} includes {name}, which lies above it.",
                "Name a folder with --out: it gets the whole tree.",
            )
        placed[out.parent / inside.relative_to(home)] = output.files[name]
    return placed
