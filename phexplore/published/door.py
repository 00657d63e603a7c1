"""One door for published files: files, archives and folders are recognised by what is in them, never by their names alone."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from phexplore.data.archives import MOST_MEMBERS, ZIP, archive_of, heads
from phexplore.data.blocks.aggregation import units_of
from phexplore.data.blocks.delimited import readable
from phexplore.data.blocks.source import describe as describe_blocks
from phexplore.data.blocks.source import read_population as read_blocks
from phexplore.data.layout import FRAMES
from phexplore.errors import UnknownNameError
from phexplore.lazy import lazy
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.opening import refuse_irregular
from phexplore.published.assignment import with_assignment
from phexplore.published.forms import Description, Part, Published, ValueTable
from phexplore.resources import resource

if TYPE_CHECKING:
    from phexplore.data.blocks.population import BlockPopulation

_HEAD = 1 << 16
_LISTED = 6
_BESIDE = {"ppmf-persons": {"ppmf-units", "block-assignment"}, "pl94-legacy": {"block-assignment"}}
_RERUNS, _MICRODATA = "amc-replicates", {"ppmf-persons", "ppmf-units"}
_BESIDE["nhgis-demonstration"] = _BESIDE["blocks"] = {"block-assignment"}


@dataclass(frozen=True, slots=True)
class Adapter:
    """What can be made of a kind; None where it is neither. What has people by block is described by them."""

    describe: Callable[[Published], Description] | None = None
    population: Callable[[Published, int], BlockPopulation] | None = None
    values: Callable[..., ValueTable] | None = None
    forms: tuple[str, ...] = ()
    """What the values can be asked as; none where there is one form."""


def _adapter(module: str, *functions: str, forms: tuple[str, ...] = ()) -> Adapter:
    """Return functions of a module of this package, which is loaded when one of them is called."""
    return Adapter(**{name: lazy(f"phexplore.published.{module}", name) for name in functions}, forms=forms)


ADAPTERS: Mapping[str, Adapter] = {
    "nhgis-demonstration": _adapter(
        "nhgis", "describe", "population", "values", forms=("summary", "cells16", "cells252")
    ),
    "pl94-legacy": _adapter("pl94", "describe", "population", "values"),
    "ppmf-persons": _adapter("microdata", "population"),
    "ppmf-units": _adapter("microdata", "population"),
    "block-assignment": _adapter("assignment", "describe"),
    "blocks": _adapter("microdata", "population"),
    "sdhc-published": _adapter("sdhc", "describe", "values"),
    "deployments-registry": _adapter("deployments", "describe"),
    "tiger-shapes": _adapter("shapes", "describe"),
    "geopackage": _adapter("shapes", "describe"),
    "noisy-measurements": _adapter("measurements", "describe"),
    "amc-replicates": _adapter("reruns", "describe", "values"),
    "gls-estimates": _adapter("gls", "describe", "values"),
}
"""By kind."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How files of one layout begin; attributes as ``resources/published/kinds.toml`` says."""

    kind: str
    id: str
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
    entries: list[dict[str, Any]] = _kinds()["layouts"]
    return tuple(_layout(entry) for entry in entries)


@lru_cache(maxsize=1)
def _kinds() -> Mapping[str, Any]:
    return tomllib.loads(resource("published/kinds.toml").read_text("utf-8"))


def _layout(entry: Mapping[str, Any]) -> Layout:
    values: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in entry.items()}
    return Layout(**values)


def is_block_data(path: Path) -> bool:
    """Return whether a path is one file of its own, not one of the three of an S-DHC population (.csv or .parquet), or published."""
    if not path.is_file():
        return path.is_dir() and recognise(path) is not None
    name, _, suffix = path.name.partition(".")
    return name not in FRAMES or suffix not in {"csv", "parquet"}


def recognise(*paths: Path) -> Published | None:
    """Return what published files hold, None where they are none of the kinds.

    Args:
        paths: files, ZIP archives (also of several files), gzip files, folders, or members of an archive as ``archive.zip/member.csv``.

    Raises:
        InputProblemsError: something cannot be read or is damaged, or files of several kinds do not belong together.
    """
    found: dict[str, list[Part]] = {}
    ignored: list[str] = []
    for file, head in _files(paths):
        layout = _layout_of(file, head, found)
        if layout is None:
            ignored.append(file.name)
        else:
            found.setdefault(layout.kind, []).append(Part(file, layout.id))
    groups = [
        Published(kind, _kinds()["titles"][kind], paths[0], tuple(sorted(parts, key=lambda part: str(part.path))))
        for kind, parts in found.items()
    ]
    return _together(_reruns(groups), tuple(ignored)) if groups else None


def _reruns(groups: Sequence[Published]) -> list[Published]:
    """Return the groups, microdata of which one file is named PPMF0 as the reruns they are."""
    own = [group for group in groups if len(group.parts) > 1 and any(part.is_first for part in group.parts)]
    own = [group for group in own if group.kind in _MICRODATA]
    if not own:
        return list(groups)
    parts = tuple(part for group in own for part in group.parts)
    made = Published(_RERUNS, _kinds()["titles"][_RERUNS], own[0].source, parts)
    return [made, *(group for group in groups if group not in own)]


def describe(found: Published) -> Description:
    """Return what published files hold, in figures.

    Raises:
        InputProblemsError: they cannot be read.
    """
    adapter = ADAPTERS[found.kind]
    return adapter.describe(found) if adapter.describe is not None else _counted(found, population_of(found))


class Read(NamedTuple):
    """Files that were read for a description.

    Attributes:
        described: JSON values; None for a population of the S-DHC.
        published: what was recognised, None for other block data.
        blocks: the people by block, None where there are none.
    """

    described: dict[str, Any] | None
    published: Published | None
    blocks: BlockPopulation | None


def read_files(*paths: Path) -> Read:
    """Read block-level data or published files of any form, and say what they hold.

    Args:
        paths: as for `recognise`.

    Raises:
        InputProblemsError: they cannot be read.
    """
    found = recognise(*paths) if all(path.exists() or archive_of(path) for path in paths) else None
    if found is None:
        if not is_block_data(paths[0]):
            return Read(None, None, None)
        blocks = read_blocks(paths[0])
        return Read({"kind": "blocks", **describe_blocks(blocks).json()}, None, blocks)
    adapter = ADAPTERS[found.kind]
    said = adapter.describe(found) if adapter.describe is not None else None
    if said is not None and (adapter.population is None or "Block" not in said.levels):
        return Read(said.json(), found, None)
    blocks = population_of(found)
    counted = describe_blocks(blocks).json()
    if found.kind == "blocks":
        return Read({"kind": found.kind, "areas": blocks.blocks, **counted, "notes": counted["remarks"]}, found, blocks)
    known = (said or _counted(found, blocks)).json()
    return Read({**known, **{name: value for name, value in counted.items() if name not in known}}, found, blocks)


def _counted(found: Published, made: BlockPopulation) -> Description:
    """Return the description of blocks with people or units."""
    levels = {name: len(units_of(made, name)) for name in made.layout.names[1:]}
    return Description(found.kind, found.title, levels, made.remarks)


def population_of(found: Published, seed: int = 0) -> BlockPopulation:
    """Return the people of published files by block, with the areas of block assignment files beside them.

    Args:
        found: what was recognised.
        seed: of what has to be invented, which the remarks say.

    Raises:
        InputProblemsError: the kind counts nobody by block, or the files cannot be read.
    """
    adapter = ADAPTERS[found.kind]
    if adapter.population is None:
        remedy = "Take blocks of the redistricting data: block files, NHGIS blocks, P.L. 94-171 sets or microdata."
        raise found.refused("it counts nobody by block.", remedy)
    made = adapter.population(found, seed)
    for group in found.beside:
        if group.kind == "block-assignment":
            made = with_assignment(made, group)
    return made


def read_population(path: Path, units: Path | None = None, seed: int = 0, wanted: str = "") -> BlockPopulation:
    """Read block-level data of any form: published files as `recognise` knows them, else what `read_blocks` reads.

    Args:
        path: file, archive or folder.
        units: a unit file to be joined to the persons in `path`.
        seed: of what has to be invented, which the remarks say.
        wanted: id of the schema that is preferred where records tell several; "" for the first they tell.

    Raises:
        InputProblemsError: every problem with file, line and column; nothing is half-loaded.
    """
    found = None if units is not None else recognise(path)
    if found is None or (found.kind == "blocks" and not found.beside):
        return read_blocks(path, units, wanted)
    return population_of(replace(found, wanted=wanted), seed)


def values_of(found: Published, form: str = "") -> ValueTable:
    """Return the published values of files.

    Args:
        found: what was recognised.
        form: one of the adapter's, e.g. ``cells16`` of NHGIS tables; "" for the usual one.

    Raises:
        UnknownNameError: the kind has no such form.
        InputProblemsError: the kind is no table of values, or the files cannot be read.
    """
    adapter = ADAPTERS[found.kind]
    if adapter.values is None:
        raise found.refused("it is no table of published values.", "Name a file of published tables.")
    if form and form not in adapter.forms:
        raise UnknownNameError(f"form of {found.title}", form, list(adapter.forms))
    return adapter.values(found, form) if form else adapter.values(found)


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


def _files(paths: Sequence[Path]) -> Iterator[tuple[Path, bytes]]:
    """Yield all files with their first bytes, those in folders and archives one by one.

    Raises:
        InputProblemsError: a file is missing or no regular one, or there are too many.
    """
    count = 0
    for path in paths:
        for file in _below(path):
            for found in heads(file, _HEAD) if _is_archive(file) else [(file, _head(file))]:
                count += 1
                if count > MOST_MEMBERS:
                    sentence, remedy = (
                        f"There are more than {MOST_MEMBERS:,} files here.",
                        "Name the folder of one data set.",
                    )
                    raise InputProblemsError([Issue((str(path),), sentence, remedy)])
                yield found


def _head(path: Path) -> bytes:
    with readable(path) as file:
        return file.read(_HEAD)


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


def _layout_of(path: Path, head: bytes, found: Mapping[str, Sequence[Part]]) -> Layout | None:
    measured = found.get("noisy-measurements")
    if measured and path.suffix == ".parquet" and {"DPQuery", "Constraint"} & set(path.parts):
        # A nation has thousands of such files, all of one making.
        return next(layout for layout in layouts() if layout.id == measured[0].layout)
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
