"""One door for published files: files, archives and folders are recognised by what is in them, never by their names alone."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phexplore.data.archives import MOST_MEMBERS, ZIP, members
from phexplore.data.blocks.delimited import readable
from phexplore.lazy import lazy
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.opening import refuse_irregular
from phexplore.published.forms import Description, Part, Published, ValueTable
from phexplore.resources import resource

if TYPE_CHECKING:
    from phexplore.data.blocks.population import BlockPopulation

_HEAD = 1 << 16
_LISTED = 6
_BESIDE = {"ppmf-persons": {"ppmf-units", "block-assignment"}, "pl94-legacy": {"block-assignment"}}
_BESIDE["nhgis-demonstration"] = {"block-assignment"}


@dataclass(frozen=True, slots=True)
class Adapter:
    """What can be made of a kind; None where it is neither."""

    describe: Callable[[Published], Description]
    population: Callable[[Published], BlockPopulation] | None = None
    values: Callable[..., ValueTable] | None = None


def _adapter(module: str, *forms: str) -> Adapter:
    """Return the functions of a module of this package, which is loaded when one of them is called."""
    made = {name: lazy(f"phexplore.published.{module}", name) for name in ("describe", *forms)}
    return Adapter(**made)


ADAPTERS: Mapping[str, Adapter] = {
    "nhgis-demonstration": _adapter("nhgis", "population", "values"),
    "noisy-measurements": _adapter("measurements"),
}
"""By kind."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How files of one layout begin; attributes as ``resources/published/kinds.toml`` says."""

    kind: str
    id: str
    title: str
    begins: str = ""
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    values: tuple[int, ...] = ()
    magic: str = ""
    contains: str = ""
    inside: str = ""

    def fits(self, path: Path, head: bytes, line: str) -> bool:
        """Return whether a file has this layout.

        Args:
            path: of the file.
            head: its first bytes.
            line: its first line of text, "" for binary files.
        """
        if self.magic:
            return (
                head.startswith(bytes.fromhex(self.magic))
                and self.contains.encode() in head
                and (not self.inside or any(re.fullmatch(self.inside, part) for part in path.parts))
                and (not self.holds or set(self.holds) <= _parquet_columns(path))
            )
        if not line or (self.begins and not re.match(self.begins, line)):
            return False
        names = {name.strip().strip('"') for name in re.split(r"[,|;\t]", line)}
        return (
            set(self.holds) <= names
            and not set(self.lacks) & names
            and all(re.search(pattern, line) for pattern in self.also)
            and (not self.values or 1 + max(line.count("|"), line.count(",")) in self.values)
        )


@lru_cache(maxsize=1)
def layouts() -> tuple[Layout, ...]:
    """Return every layout, the most particular first."""
    entries: list[dict[str, Any]] = tomllib.loads(resource("published/kinds.toml").read_text("utf-8"))["layouts"]
    return tuple(_layout(entry) for entry in entries)


def _layout(entry: Mapping[str, Any]) -> Layout:
    values: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in entry.items()}
    return Layout(**values)


def recognise(*paths: Path) -> Published | None:
    """Return what published files hold, None where they are none of the kinds.

    Args:
        paths: files, ZIP archives (also of several files), gzip files, folders, or members of an archive as ``archive.zip/member.csv``.

    Raises:
        InputProblemsError: something cannot be read or is damaged, or files of several kinds do not belong together.
    """
    found: dict[str, list[tuple[Part, Layout]]] = {}
    ignored: list[str] = []
    for file in _files(paths):
        layout = _layout_of(file, found)
        if layout is None:
            ignored.append(file.name)
        else:
            found.setdefault(layout.kind, []).append((Part(file, layout.id), layout))
    groups = [
        Published(
            kind,
            items[0][1].title,
            paths[0],
            tuple(sorted((part for part, _ in items), key=lambda part: str(part.path))),
        )
        for kind, items in found.items()
    ]
    return _together(groups, tuple(ignored)) if groups else None


def describe(found: Published) -> Description:
    """Return what published files hold, in figures.

    Raises:
        InputProblemsError: they cannot be read.
    """
    return ADAPTERS[found.kind].describe(found)


def population_of(found: Published) -> BlockPopulation:
    """Return the people of published files by block.

    Raises:
        InputProblemsError: the kind counts nobody by block, or the files cannot be read.
    """
    adapter = ADAPTERS[found.kind]
    if adapter.population is None:
        remedy = "Take blocks of the redistricting data: block files, NHGIS blocks, P.L. 94-171 sets or microdata."
        raise found.refused("it counts nobody by block.", remedy)
    return adapter.population(found)


def values_of(found: Published, **form: Any) -> ValueTable:
    """Return the published values of files.

    Args:
        found: what was recognised.
        form: as the adapter takes it, e.g. ``form="cells16"`` of NHGIS tables.

    Raises:
        InputProblemsError: the kind is no table of values, or the files cannot be read.
    """
    adapter = ADAPTERS[found.kind]
    if adapter.values is None:
        raise found.refused("it is no table of published values.", "Name a file of published tables.")
    return adapter.values(found, **form)


def _together(groups: Sequence[Published], ignored: tuple[str, ...]) -> Published:
    """Return the one thing that several kinds make, the others beside it."""
    for whole in groups:
        beside = tuple(group for group in groups if group is not whole)
        if all(group.kind in _BESIDE.get(whole.kind, ()) for group in beside):
            return replace(whole, beside=beside, ignored=ignored)
    listed = "; ".join(f"{group.title} ({group.parts[0].path.name})" for group in groups[:_LISTED])
    sentence = f"The files are of several kinds: {listed}."
    remedy = f"Name one of them, for example {groups[0].parts[0].path}."
    raise InputProblemsError([Issue((str(groups[0].source),), sentence, remedy)])


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield all files, those in folders and archives one by one.

    Raises:
        InputProblemsError: a file is missing or no regular one, or there are too many.
    """
    count = 0
    for path in paths:
        for file in _below(path):
            for member in members(file) if _is_archive(file) else (file,):
                count += 1
                if count > MOST_MEMBERS:
                    sentence, remedy = (
                        f"There are more than {MOST_MEMBERS:,} files here.",
                        "Name the folder of one data set.",
                    )
                    raise InputProblemsError([Issue((str(path),), sentence, remedy)])
                yield member


def _below(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (file for file in sorted(path.rglob("*")) if file.is_file() and not file.name.startswith("."))
    else:
        yield path


def _is_archive(path: Path) -> bool:
    if not path.exists():
        return False
    refuse_irregular(path)
    with readable(path) as file:
        return file.read(len(ZIP)) == ZIP


def _layout_of(path: Path, found: Mapping[str, Sequence[tuple[Part, Layout]]]) -> Layout | None:
    measured = found.get("noisy-measurements")
    if (
        measured
        and path.suffix == ".parquet"
        and path.parent.parts[-2:]
        and {"DPQuery", "Constraint"} & set(path.parts)
    ):
        return measured[0][1]  # a nation has thousands of such files, all of one making
    with readable(path) as file:
        head = file.read(_HEAD)
    line = _first_line(head)
    return next((layout for layout in layouts() if layout.fits(path, head, line)), None)


def _first_line(head: bytes) -> str:
    """Return the first line that is no comment, "" where the bytes are no text."""
    if b"\0" in head[:512]:
        return ""
    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        if line.strip() and not line.startswith(b"#") and line.strip() != b"---":
            return line.decode("latin-1")
    return ""


def _parquet_columns(path: Path) -> set[str]:
    import pyarrow as pa  # noqa: PLC0415 - the command line starts without it
    from pyarrow import parquet  # noqa: PLC0415 - as above

    from phexplore.data.archives import read_whole  # noqa: PLC0415 - only for Parquet

    try:
        return set(parquet.read_schema(pa.BufferReader(read_whole(path, _LARGEST_PART))).names)
    except (pa.ArrowException, OSError, ValueError):
        return set()


_LARGEST_PART = 1 << 30
