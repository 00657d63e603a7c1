"""Experiments of the papers: what each asks, the command that does it, and what it found, as pictures."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phexplore.errors import PhexploreError
from phexplore.figures.figure import Figure, bar_figure
from phexplore.figures.marks import Bar
from phexplore.figures.scatter import Series, scatter_figure
from phexplore.figures.table import Table, Value, is_number, shown
from phexplore.files.atomic_files import write_atomically
from phexplore.files.spreadsheet import csv_bytes
from phexplore.model.issues import InputProblemsError
from phexplore.opening import read_bytes
from phexplore.report.terminal import print_json, print_table, say, tell

RESULT_FILE = "figures.json"
"""What the command printed, in the folder of the experiment."""
Given = Mapping[str, str]
Found = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A field of an experiment.

    Attributes:
        key: of its value.
        title: before the field.
        default: what stands in it.
        choices: value and words of each; none for free text.
        hint: in the empty field.
        is_file: a file can be chosen.
    """

    key: str
    title: str
    default: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    is_file: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One picture of an experiment.

    Attributes:
        title: in the list of pictures.
        content: what is drawn.
        notes: what should be known beside it, in sentences.
    """

    title: str
    content: Figure
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Experiment:
    """Something that one click reproduces.

    Attributes:
        id: of its folder.
        title: in the list.
        sentence: what it shows.
        parameters: asked before.
        command: arguments of the program, given folder and values.
        duration: how long it takes, in words.
        pictures: what it found, from the JSON its command printed and the folder of its tables.
    """

    id: str
    title: str
    sentence: str
    parameters: tuple[Parameter, ...]
    command: Callable[[Path, Given], Sequence[str]]
    duration: str
    pictures: Callable[[Found, Path], list[Picture]]


class Studied(NamedTuple):
    """What was found of a scenario once: numbers as the command prints them, and pictures.

    Attributes:
        found: JSON values.
        figures: each with an id of its own.
    """

    found: Any
    figures: tuple[Figure, ...]


class ExperimentUnreadableError(PhexploreError):
    """The figures of an experiment are damaged."""


def pictures_of(experiment: Experiment, found: Found, folder: Path) -> tuple[Picture, ...]:
    """Return the pictures of an experiment from figures that were stored; of those just computed, ask the experiment.

    Args:
        experiment: which one.
        found: the JSON its command printed.
        folder: with its tables.

    Raises:
        ExperimentUnreadableError: figures are missing or damaged.
    """
    try:
        return tuple(experiment.pictures(found, folder))
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, ArithmeticError, OSError) as error:
        raise ExperimentUnreadableError(
            f"The figures of the experiment cannot be read ({error}).", "Run it again."
        ) from error


def read_pictures(experiment: Experiment, folder: Path) -> tuple[Picture, ...]:
    """Return the pictures of what an experiment found earlier; none when it was not run yet.

    Args:
        experiment: which one.
        folder: where its process left the figures and tables.

    Raises:
        ExperimentUnreadableError: figures are missing or damaged.
    """
    path = folder / RESULT_FILE
    if not path.exists():
        return ()
    try:
        found = json.loads(read_bytes(path))
    except InputProblemsError as error:
        raise ExperimentUnreadableError(
            f"{path} cannot be read. {error.issues[0].sentence}", "Run it again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ExperimentUnreadableError(f"{path} cannot be read ({error}).", "Run it again.") from error
    return pictures_of(experiment, found, folder)


def table_lines(path: Path) -> list[list[str]]:
    """Return the lines of a table that an experiment wrote, the head first."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def write_table(path: Path, lines: Iterable[Sequence[object]]) -> None:
    """Write a table of an experiment as CSV and say so.

    Args:
        path: of the file.
        lines: the head first.

    Raises:
        WriteError: the file system refuses.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, csv_bytes(lines))
    say(f"Wrote {path}")


def write_pictures(experiment: Experiment, found: Found, folder: Path) -> None:
    """Write every picture of an experiment as PNG, under the name of its figure, and say so.

    Args:
        experiment: which one.
        found: the JSON its command prints.
        folder: with its tables.

    Raises:
        WriteError: the file system refuses.
    """
    from phexplore.figures.style import FigureFormat  # noqa: PLC0415 - only files pay for matplotlib
    from phexplore.figures.to_matplotlib import figure_bytes  # noqa: PLC0415 - as above

    for picture in experiment.pictures(found, folder):
        path = folder / f"{picture.content.id}.png"
        write_atomically(path, figure_bytes(picture.content, FigureFormat.PNG))
        say(f"Wrote {path}")


def answer(experiment: Experiment, found: Found, folder: Path, *, as_json: bool) -> None:
    """Print what an experiment found: JSON, or what every picture says, with the table of those that are rows.

    Args:
        experiment: which one.
        found: what is printed as JSON.
        folder: with its tables.
        as_json: for programs.
    """
    if as_json:
        print_json(found)
        return
    pictures = experiment.pictures(found, folder)
    for picture in pictures:
        tell(picture.content.title)
        if picture.content.has_rows:
            table = picture.content.table
            numbers = [n for n, values in enumerate(zip(*table.rows, strict=True)) if any(map(is_number, values))]
            print_table(table.headers, [[shown(value) for value in row] for row in table.rows], right=numbers)
        tell(picture.content.summary)
    for note in dict.fromkeys(note for picture in pictures for note in picture.notes):
        tell(note)


def _compare(out: Path, given: Given) -> list[str]:
    return [
        "subspace", "compare", "--out", str(out), "--state", given["state"], "--epsilon", given["epsilon"],
        "--trials", given["trials"], "--json",
        *(["--households", given["households"]] if given["households"].strip() else []),
    ]  # fmt: skip


def _systems(found: Found, folder: Path) -> list[Picture]:
    header, *lines = table_lines(folder / "systems.csv")
    names = tuple(line[0] for line in lines)
    sizes = np.array([float(line[1]) for line in lines])
    systems = [title.removeprefix("MAE ") for title in header[2:]]
    columns = [np.array([float(line[2 + place]) for line in lines]) for place in range(len(systems))]
    series = tuple(Series(name, sizes, column, names) for name, column in zip(systems, columns, strict=True))
    best = min(found["systems"], key=lambda row: row["county_mae"])
    whole = min(found["systems"], key=lambda row: row["state_mae"])
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (name, *map(float, line[1:])) for name, line in zip(names, lines, strict=True)
    )
    errors = scatter_figure(
        "systems",
        series,
        ("households of the county", "mean absolute error of a count"),
        f"Least error in counties: {best['system']} ({best['county_mae']:.1f}); in the whole state: {whole['system']} "
        f"({whole['state_mae']:.1f})",
        f"Households by size, {found['counties']} counties, ε = {found['epsilon']} each. Group sizes spend half of ε on the state; the exact "
        "total spends all of it on the counties, and its numbers can fall below 0.",
        Table(("County", "Households", *(f"Error, {name}" for name in systems)), rows),
    )
    bars: list[Bar] = []
    table: list[tuple[Value, ...]] = []
    for row in found["systems"]:
        for group, key in (("A county count", "county_mae"), ("A state count", "state_mae")):
            bars.append(
                Bar(None, group, row["system"], row[key], None, f"{row[key]:.1f}", f"{row['system']}: {row[key]:.3f}")
            )
        table.append(
            (
                row["system"],
                row["county_mae"],
                row["state_mae"],
                row["mean_error_of_smallest"],
                100 * row["negative_share"],
            )
        )
    bars.sort(key=lambda bar: bar.group)
    smallest = "; ".join(f"{row['system']} {row['mean_error_of_smallest']:+.2f}" for row in found["systems"])
    summary = bar_figure(
        "counties-and-state",
        tuple(bars),
        "mean absolute error, households",
        f"What is exact is paid for elsewhere: {whole['system']} is best for the state",
        f"Mean error of the smallest tenth of counts: {smallest}.",
        Table(
            (
                "System",
                "Error of a county count",
                "Of a state count",
                "Mean error of the smallest tenth",
                "Below 0, percent",
            ),
            tuple(table),
        ),
    )
    return [Picture("Errors of the counties", errors), Picture("Counties and state", summary)]


COMPARE = Experiment(
    "systems",
    "TopDown, exact tree and exact total",
    "Households by size in the counties of a state: what each of the three systems gives on the same question at the same ε.",
    (
        Parameter("state", "State", "IL", hint="code, abbreviation or name"),
        Parameter("epsilon", "ε", "0.192"),
        Parameter("trials", "Releases", "30"),
        Parameter("households", "Table", "", hint="the households that came with the program", is_file=True),
    ),
    _compare,
    "Some seconds.",
    _systems,
)
"""Group sizes and exact sums both answer it."""
SEED = Parameter("seed", "Seed", "2020")
YES_NO = (("no", "No"), ("yes", "Yes"))
