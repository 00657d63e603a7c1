"""A spine as one file: a ZIP of arrays with a JSON text, without anything that could be executed.

The file holds the blocks, their areas, the settings and the levels, so that it can be described and used without the block file it
was built from. Equal spines make equal files, byte for byte.
"""

from __future__ import annotations

import json
import zipfile
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.geocodes import numbers_of_texts, texts_of_numbers
from phexplore.data.blocks.whole_file import whole_file
from phexplore.errors import PhexploreError
from phexplore.model.fields import read
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.provenance import Provenance, ProvenanceKind
from phexplore.opening import open_regular
from phexplore.spine.building import Spine
from phexplore.spine.geography import AreaCodes, Geography
from phexplore.spine.settings import settings_from, settings_json
from phexplore.spine.tree import GeoTree, TreeLevel
from phexplore.text.messages import msg

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "phexplore-spine"
VERSION = 2
_UNSTATED = Provenance(ProvenanceKind.REAL, "not stated: a spine of version 1 does not record it")

_ALWAYS_UNPACKED = 24 * 2**20
_LARGEST_RATIO = 200
"""Sorted places compress ten to fifty times."""

_GEOID = 15
_FLAGS = ("quarters", "incorporated", "governed")


def write_spine(spine: Spine, path: Path) -> None:
    """Write a spine.

    Args:
        spine: the spine.
        path: of the file, replaced as a whole.

    Raises:
        PhexploreError: the file cannot be written.
    """
    geography = spine.geography
    content = {
        "format": FORMAT,
        "version": VERSION,
        "settings": settings_json(spine.settings),
        "source": geography.source,
        "provenance": geography.provenance.json(),
        "remarks": list(spine.remarks),
        "areas": list(geography.areas),
        "levels": [level.name for level in spine.tree.levels],
        "dropped": list(spine.tree.dropped),
    }
    arrays: dict[str, NDArray[Any]] = {
        "content": np.frombuffer(json.dumps(content, ensure_ascii=False, sort_keys=True).encode(), np.uint8),
        "blocks": numbers_of_texts(geography.geoids, _GEOID),
        "order": spine.order,
    }
    for name in _FLAGS:
        if getattr(geography, name) is not None:
            arrays[name] = getattr(geography, name)
    for number, area in enumerate(geography.areas.values()):
        arrays[f"area{number}"] = area.of_block
        arrays[f"area{number}_codes"] = np.char.encode(area.codes, "utf-8")
    for number, level in enumerate(spine.tree.levels[:-1]):
        arrays[f"level{number}"] = level.first_block
        arrays[f"level{number}_codes"] = np.char.encode(level.codes, "utf-8")
    with whole_file(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def read_spine(path: Path) -> Spine:
    """Read a spine.

    Raises:
        InputProblemsError: the file cannot be read, is none of a spine, or contradicts itself.
    """
    try:
        with open_regular(path) as file:
            _refuse_growth(path, file)
            stored = np.load(file, allow_pickle=False)
            arrays = {name: stored[name] for name in stored.files}
        content = json.loads(arrays["content"].tobytes().decode())
        _confirm_kind(path, content)
        return _spine(content, arrays)
    except InputProblemsError:
        raise
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except PhexploreError as error:
        raise _unreadable(path, error.sentence) from error
    except Exception as error:
        raise _unreadable(path, msg("The file is not a spine file, or it is damaged.")) from error


def _confirm_kind(path: Path, content: dict[str, Any]) -> None:
    if content["format"] != FORMAT:
        raise _unreadable(path, msg("The file is of another kind."))
    if content["version"] not in (1, VERSION):
        raise _unreadable(
            path,
            msg(
                "The file has version {found}; this program reads versions 1 and {newest}.",
                found=content["version"],
                newest=VERSION,
            ),
        )


def _refuse_growth(path: Path, file: IO[bytes]) -> None:
    """Refuse an archive that would unpack to far more than arrays of places compress; nothing is unpacked to find out."""
    packed = path.stat().st_size
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    file.seek(0)
    if unpacked > max(_ALWAYS_UNPACKED, _LARGEST_RATIO * packed):
        raise _unreadable(
            path,
            msg(
                "The file would expand from {packed:,} kB to {unpacked:,} MB.",
                packed=max(1, packed // 2**10),
                unpacked=unpacked // 2**20,
            ),
        )


def _unreadable(path: Path, reason: str) -> InputProblemsError:
    sentence = msg("The file cannot be imported as a spine: {reason}", reason=reason)
    return InputProblemsError([Issue((str(path),), sentence, msg("Build the spine with `phexplore spine build`."))])


def _spine(content: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Spine:
    areas = {
        name: AreaCodes(_texts(arrays[f"area{number}_codes"]), arrays[f"area{number}"].astype(np.int32))
        for number, name in enumerate(content["areas"])
    }
    geography = Geography(
        texts_of_numbers(arrays["blocks"].astype(np.int64), _GEOID),
        areas,
        arrays.get("quarters"),
        arrays.get("incorporated"),
        arrays.get("governed"),
        source=str(content["source"]),
        provenance=_UNSTATED if content["version"] == 1 else read(Provenance, content["provenance"]),
    )
    order = arrays["order"].astype(np.int64)
    names, blocks = content["levels"], geography.blocks
    if not blocks or not (np.sort(order) == np.arange(blocks)).all():
        raise ValueError("the leaves are not the blocks")
    starts = [arrays[f"level{number}"].astype(np.int64) for number in range(len(names) - 1)]
    starts.append(np.arange(blocks + 1))
    codes = [_texts(arrays[f"level{number}_codes"]) for number in range(len(names) - 1)]
    codes.append(geography.geocodes()[order])
    levels = []
    for number, (name, first, own) in enumerate(zip(names, starts, codes, strict=True)):
        if first[0] != 0 or first[-1] != blocks or (np.diff(first) <= 0).any() or len(own) != len(first) - 1:
            raise ValueError(f"the units of {name} do not cover the blocks")
        below = starts[number + 1] if number + 1 < len(names) else None
        if below is not None and not np.isin(first, below).all():
            raise ValueError(f"the units of {name} cut units below")
        child = None if below is None else np.searchsorted(below, first).astype(np.int64)
        levels.append(TreeLevel(str(name), own, first, child))
    straight = bool((order[1:] > order[:-1]).all())
    tree = GeoTree(tuple(levels), tuple(content["dropped"]), None if straight else order)
    return Spine(settings_from(content["settings"]), geography, tree, tuple(content["remarks"]))


def _texts(codes: NDArray[Any]) -> NDArray[np.str_]:
    texts: NDArray[np.str_] = np.char.decode(codes, "utf-8") if codes.size else np.empty(0, "U1")
    return texts
