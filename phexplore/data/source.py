"""Finding the three files of a population on disk, as CSV or as Parquet."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from phexplore.data.layout import FRAMES, Frame
from phexplore.data.provenance import PROVENANCE_FILE, PopulationMark, is_as_marked, read_provenance
from phexplore.model.issues import InputProblemsError, Issue, Severity
from phexplore.resources import resource

if TYPE_CHECKING:
    from pathlib import Path

DEMONSTRATIONS: Mapping[str, str] = {"demo": "synthetic/demo", "demo-pr": "synthetic/demo-pr"}
"""Names that stand for the shipped synthetic populations."""


class Storage(enum.Enum):
    """How the files are stored. The value is the suffix of their names."""

    CSV = "csv"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class DataSource:
    """The files of one population.

    Attributes:
        directory: they are in.
        storage: all three are stored the same way.
        files: per frame, one file or the sorted parts of a Parquet directory.
        provenance: the mark beside them, None for confidential or foreign data and when a file is not as marked.
        remarks: warnings about the choice of files.
    """

    directory: Path
    storage: Storage
    files: Mapping[Frame, tuple[Path, ...]]
    provenance: PopulationMark | None
    remarks: tuple[Issue, ...] = ()

    def file_name(self, frame: Frame) -> str:
        """Return the name of a frame's file (or Parquet directory)."""
        return f"{frame}.{self.storage.value}"


def demonstration_directory(name: str = "demo") -> Path:
    """Return the directory of a shipped synthetic population: ``demo`` (51 states) or ``demo-pr`` (Puerto Rico)."""
    return resource(DEMONSTRATIONS[name])


def find_source(path: Path) -> DataSource:
    """Return the files meant by a path: a directory, one of the three files in it, or ``demo`` / ``demo-pr``.

    A directory that holds both CSV and Parquet is read as CSV, production's own layout, unless its provenance mark
    proves that the Parquet files hold the same population.

    Raises:
        InputProblemsError: a file is missing; all missing files are listed.
    """
    if not path.exists() and str(path) in DEMONSTRATIONS:
        path = demonstration_directory(str(path))
    wanted = {f"{frame}.{storage.value}": storage for storage in Storage for frame in FRAMES}
    if not path.exists():
        raise InputProblemsError(
            [
                Issue(
                    (str(path),),
                    "There is no such file or directory.",
                    "Give the directory that holds persons.csv, units.csv and geo.csv.",
                )
            ]
        )
    if path.name in wanted:
        return _source(path.parent, wanted[path.name], ())
    if not path.is_dir():
        raise InputProblemsError(
            [
                Issue(
                    (path.name,),
                    f"{path.name!r} is none of the files of a population.",
                    "Give the directory that holds persons, units and geo as .csv or .parquet, or one of those files; "
                    "public-use samples are brought into this layout by `data convert pums`.",
                )
            ]
        )
    present = {
        storage: [frame for frame in FRAMES if (path / f"{frame}.{storage.value}").exists()] for storage in Storage
    }
    if not any(present.values()):
        raise InputProblemsError(
            [
                Issue(
                    (path.name,),
                    f"The directory {path} holds no population: neither persons.csv, units.csv, geo.csv nor the same "
                    "names with .parquet.",
                    "Give the directory that holds the three files.",
                )
            ]
        )
    if len(present[Storage.CSV]) == len(present[Storage.PARQUET]) == len(FRAMES):
        return _choose(path)
    storage = max(Storage, key=lambda kind: len(present[kind]))
    return _source(path, storage, ())


def _choose(directory: Path) -> DataSource:
    """Return the better of two complete sets of files."""
    csv, parquet = (_source(directory, storage, ()) for storage in Storage)
    if parquet.provenance is not None and csv.provenance is not None:
        return parquet
    mark = read_provenance(directory)
    if parquet.provenance is not None and mark is not None and not any(f"{f}.csv" in mark.files for f in FRAMES):
        words = "the Parquet files, which its provenance mark names,"
        return replace(parquet, remarks=(_ambiguity(directory, words, "CSV"),))
    return replace(csv, remarks=(*csv.remarks, _ambiguity(directory, "the CSV files", "Parquet")))


def _ambiguity(directory: Path, chosen: str, other: str) -> Issue:
    return Issue(
        (directory.name,),
        f"The directory holds the population twice, and nothing proves that both are the same; {chosen} were read.",
        f"Remove the {other} files, or name one file, e.g. {directory / 'persons.csv'}, to choose its kind.",
        Severity.WARNING,
    )


def _source(directory: Path, storage: Storage, remarks: tuple[Issue, ...]) -> DataSource:
    files: dict[Frame, tuple[Path, ...]] = {}
    problems = []
    for frame in FRAMES:
        path = directory / f"{frame}.{storage.value}"
        if path.is_dir() and storage is Storage.PARQUET:
            files[frame] = tuple(sorted(part for part in path.rglob("*.parquet") if part.name[0] not in "._"))
        elif path.is_file():
            files[frame] = (path,)
        if not files.get(frame):
            problems.append(
                Issue(
                    (path.name,),
                    f"{path.name} is missing in {directory}." if not path.exists() else f"{path.name} holds no files.",
                    f"Put {path.name} beside the others; all three files are needed.",
                )
            )
    if problems:
        raise InputProblemsError(problems)
    mark = read_provenance(directory)
    if mark is not None and not _is_intact(files, mark):
        remarks = (*remarks, _lost_mark(directory, storage))
        mark = None
    return DataSource(directory, storage, files, mark, remarks)


def _is_intact(files: Mapping[Frame, tuple[Path, ...]], mark: PopulationMark) -> bool:
    """Return whether a mark speaks of exactly these bytes."""
    return all(
        len(parts) == 1 and parts[0].name in mark.files and is_as_marked(parts[0], mark.files[parts[0].name])
        for parts in files.values()
    )


def _lost_mark(directory: Path, storage: Storage) -> Issue:
    # Whatever was changed may be confidential; only the bytes that were generated count as synthetic.
    return Issue(
        (PROVENANCE_FILE,),
        f"The {storage.name} files in {directory} are not the ones its provenance mark was written for; they are "
        "taken for data of unknown origin, not for synthetic ones.",
        "Make the population again, or remove provenance.json when the change was meant.",
        Severity.WARNING,
    )
