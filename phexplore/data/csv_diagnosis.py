"""A slow, complete look at a CSV file that the fast reader refused: every bad line with its place."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from phexplore.data.layout import LAYOUT, Frame, Kind
from phexplore.data.problems import LISTED_PER_RULE, Phase
from phexplore.model.issues import Issue

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_DELIMITERS = {"|": "a vertical bar", ";": "a semicolon", "\t": "a tabulator"}


def header_problems(path: Path, frame: Frame) -> list[Issue]:
    """Return what is wrong with the first line of a file: encoding, delimiter, names and order of the columns.

    Args:
        path: of the file.
        frame: which of the three files it is.
    """
    wanted = [column.name for column in LAYOUT[frame]]
    remedy = f"The first line is {','.join(wanted)}."
    header = _header(path, remedy)
    if isinstance(header, Issue):
        return [header]
    line, names = header
    for sign, word in _DELIMITERS.items():
        if len(names) == 1 and sign in line:
            return [
                Issue(
                    (path.name,),
                    f"The columns are separated by {word} ({sign!r}), not by a comma.",
                    "Write the file with commas; production's documentation shows bars, its reader takes commas.",
                    line=1,
                    column=line.index(sign) + 1,
                )
            ]
    if not {name.strip().upper() for name in names} & set(wanted):
        return [Issue((path.name,), "There is no header in the first line.", remedy, line=1, column=1)]
    return _name_problems(path, names, wanted, remedy)


def _header(path: Path, remedy: str) -> tuple[str, list[str]] | Issue:
    """Return the first line and its names, or why it cannot be read."""
    try:
        with path.open("rb") as file:
            first = file.readline(65536)
        if not first.strip():
            empty = "is empty" if path.stat().st_size == 0 else "has an empty first line"
            return Issue((path.name,), f"{path.name} {empty}.", remedy, line=1, column=1)
        line = first.decode("utf-8-sig").rstrip("\r\n")
        return line, next(csv.reader([line]))
    except OSError as error:
        return Issue((path.name,), f"{path.name} cannot be opened: {error.strerror}.", "Check its permissions.")
    except UnicodeDecodeError as error:
        return _not_utf8(path, 1, error.start)
    except csv.Error as error:
        return Issue((path.name,), f"The header cannot be split into names: {error}.", remedy, line=1, column=1)


def _name_problems(path: Path, names: Sequence[str], wanted: Sequence[str], remedy: str) -> list[Issue]:
    issues = []
    for place, name in enumerate(names, start=1):
        if name not in wanted:
            issues.append(Issue((path.name,), f"Column {name!r} is not expected.", remedy, line=1, column=place))
        elif name in names[: place - 1]:
            issues.append(Issue((path.name,), f"Column {name!r} occurs twice.", remedy, line=1, column=place))
    for place, name in enumerate(wanted, start=1):
        if name not in names:
            issues.append(Issue((path.name,), f"Column {name} is missing.", remedy, line=1, column=place))
    if not issues and list(names) != list(wanted):
        place = next(number for number, (a, b) in enumerate(zip(names, wanted, strict=True), start=1) if a != b)
        issues.append(
            Issue(
                (path.name,),
                f"The columns are in another order: column {place} is {names[place - 1]}, expected {wanted[place - 1]}.",
                remedy,
                line=1,
                column=place,
            )
        )
    return issues


def diagnose(path: Path, frame: Frame) -> dict[Phase, list[Issue]]:
    """Return the bad lines of a file: not UTF-8, wrong number of values, whole numbers that are none.

    Args:
        path: of the file.
        frame: which of the three files it is.
    """
    columns = LAYOUT[frame]
    integers = [place for place, column in enumerate(columns) if column.kind is Kind.INTEGER]
    found: dict[Phase, list[Issue]] = {Phase.FILES: [], Phase.TYPES: []}
    for line, content in _lines(path):
        if line == 1:
            continue
        try:
            values = next(csv.reader([content.decode("utf-8")], strict=True))
        except UnicodeDecodeError as error:
            found[Phase.FILES].append(_not_utf8(path, line, error.start))
            continue
        except csv.Error as error:
            sentence = f"The line cannot be split into values: {error}."
            found[Phase.FILES].append(Issue((path.name,), sentence, "Write codes without quotes.", line=line, column=1))
            continue
        if len(values) != len(columns):
            found[Phase.FILES].append(
                Issue(
                    (path.name,),
                    f"The line has {len(values)} values, not {len(columns)}.",
                    "Give every column one value; an unfinished last line means the file was cut off.",
                    line=line,
                    column=min(len(values), len(columns)),
                )
            )
            continue
        for place in integers:
            if values[place] and not _INTEGER.fullmatch(values[place].strip()):
                sentence = f"{columns[place].name} is not a whole number."
                found[Phase.TYPES].append(
                    Issue((path.name,), sentence, "Write a whole number.", line=line, column=place + 1)
                )
        if any(len(issues) > LISTED_PER_RULE for issues in found.values()):
            break
    return found


def _not_utf8(path: Path, line: int, offset: int) -> Issue:
    return Issue(
        (path.name,),
        f"Byte {offset + 1} of the line is not UTF-8 text.",
        "Save the file as UTF-8; the codes need ASCII only.",
        line=line,
        column=offset + 1,
    )


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, numbered from 1, without their ends."""
    with path.open("rb") as file:
        for number, content in enumerate(file, start=1):
            if bare := content.rstrip(b"\r\n"):
                yield number, bare


def is_header_only(path: Path) -> bool:
    """Return whether a file has no line after its first."""
    return all(number == 1 for number, _ in _lines(path))


@dataclass(slots=True)
class CsvLines:
    """From record numbers to lines, for messages; looks into the file only when asked."""

    path: Path
    _blank_lines: list[int] | None = None

    def __call__(self, records: Sequence[int]) -> list[int]:
        """Return 1-based lines of 0-based records. Line 1 is the header; blank lines are no records."""
        if self._blank_lines is None:
            with self.path.open("rb") as file:
                self._blank_lines = [
                    number for number, content in enumerate(file, start=1) if not content.rstrip(b"\r\n")
                ]
        lines = []
        for record in records:
            line = record + 2
            for number in self._blank_lines:
                if number > line:
                    break
                line += 1
            lines.append(line)
        return lines
