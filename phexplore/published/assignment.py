"""Block assignment files: which area of each class every block of a state lies in, joined to blocks by their codes.

Facts: ../shared/data/published/NOTES.md, section 3. The blocks of one census are not those of another: codes that match by chance would
put people into wrong areas, so a file that does not know nearly all blocks is refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.areas import AreaClass, area_classes
from phexplore.data.blocks.delimited import (
    Header,
    Problems,
    digit_codes,
    missing_columns,
    read_batches,
    read_header,
    refuse,
)
from phexplore.model.rounded import Toward, percent
from phexplore.published.forms import Description, Published

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from phexplore.data.blocks.population import BlockPopulation

LEAST_SHARE = 0.95
"""Of the blocks that a file has to know before its areas are believed."""
_CODES = ("PLACEFP", "COUSUBFP", "AIANNHCE", "DISTRICT")


def describe(found: Published) -> Description:
    """Return what the files hold."""
    blocks, places = assigned(found)
    classes = {
        name: {"blocks": int((codes != "").sum()), "areas": len(np.unique(codes[codes != ""]))}
        for name, codes in places.items()
    }
    notes = [f"No block lies in an area of the class {name}." for name, each in classes.items() if not each["areas"]]
    notes.append("The file counts nobody: put it into one folder with a file of blocks, whose areas it then tells.")
    return Description(found.kind, found.title, {"Block": len(blocks)}, tuple(notes), {"classes": classes})


def assigned(found: Published) -> tuple[NDArray[np.str_], dict[str, NDArray[np.str_]]]:
    """Return the blocks of assignment files, ``U[blocks]``, ascending, and the public code of the area of each by class, "" for none.

    Raises:
        InputProblemsError: the files cannot be read.
    """
    read = [_read(found, part.path) for part in found.parts]
    geoids = np.unique(np.concatenate([blocks for _, blocks, _ in read]))
    places: dict[str, NDArray[np.str_]] = {}
    for each, blocks, codes in read:
        texts = places.setdefault(each.name, np.full(len(geoids), "", "U15"))
        texts[np.searchsorted(geoids, blocks)] = codes
    return geoids, places


def with_assignment(population: BlockPopulation, found: Published) -> BlockPopulation:
    """Return blocks with the areas that block assignment files tell; areas that the blocks already tell are replaced.

    Args:
        population: of census blocks.
        found: the files.

    Raises:
        InputProblemsError: they cannot be read, or do not know nearly all blocks.
    """
    places = dict(population.places)
    shares = []
    for part in found.parts:
        each, geoids, codes = _read(found, part.path)
        at = np.minimum(np.searchsorted(geoids, population.geoids), len(geoids) - 1)
        known = geoids[at] == population.geoids
        shares.append(float(known.mean()) if len(known) else 1.0)
        if shares[-1] < LEAST_SHARE:
            sentence = f"it knows {int(known.sum()):,} of the {population.blocks:,} blocks ({percent(shares[-1], toward=Toward.DOWN)}): they are of another census."
            raise found.refused(
                sentence, "Take the assignment files made for these blocks, of the same year.", part.path
            )
        before = places.get(each.name)
        places[each.name] = np.where(known, codes[at], "" if before is None else before)
    remark = f"Areas of {', '.join(sorted(places))} were taken from block assignment files, which know {percent(min(shares), toward=Toward.DOWN)} of the blocks."
    return replace(population, places=places, remarks=(*population.remarks, remark))


def _read(found: Published, path: Path) -> tuple[AreaClass, NDArray[np.str_], NDArray[np.str_]]:
    """Return the class of a file, its blocks, ascending, and the public code of the area of each.

    Raises:
        InputProblemsError: every problem with line and column.
    """
    header = read_header(path)
    block = header.names[0]
    column = next((name for name in _CODES if name in header.names), None)
    if column is None:
        missing_columns(header, ["DISTRICT"], f"A block assignment file has BLOCKID and one of {', '.join(_CODES)}.")
    each = _class_of(found, header, column or "")
    problems = Problems(path)
    parts = []
    for batch in read_batches(header, [column or ""], [block]):
        geoids, wrong = digit_codes(batch.identifiers[block], 15)
        texts = batch.identifiers[block]
        refuse(
            problems,
            header,
            wrong,
            column=block,
            sentence=lambda row, texts=texts: f"{texts[row].as_py()[:40]!r} is not a block code of 15 digits.",  # type: ignore[misc]
            remedy="Take the file as it was published; spreadsheets cut zeros.",
            first=batch.first,
        )
        parts.append((geoids, each.public(batch.columns[column or ""].strings(), geoids)))
    problems.finish()
    if not parts:
        raise found.refused("it has no blocks.", "Fetch the file again.", path)
    geoids, codes = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    order = np.argsort(geoids, kind="stable")
    if (geoids[order][1:] == geoids[order][:-1]).any():
        raise found.refused("a block stands twice.", "Fetch the file again.", path)
    return each, geoids[order], codes[order]


def _class_of(found: Published, header: Header, column: str) -> AreaClass:
    """Return the class a file is about: districts of all kinds have one header, and only their names differ."""
    if column != "DISTRICT":
        return next(each for each in area_classes() if column in each.columns)
    if "COUNTYFP" in header.names:
        return next(each for each in area_classes() if each.name == "vtd")
    words = header.path.stem.upper().replace("-", "_").split("_")
    for each in area_classes():
        if set(each.columns) & set(words):
            return each
    remedy = "Give it its published name, which ends with CD, SLDU, SLDL, SDUNI, SDELM or SDSEC."
    raise found.refused(
        "it assigns districts, and neither its columns nor its name say of which kind.",
        remedy,
        header.path,
        header.line,
    )
