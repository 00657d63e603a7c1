"""Block data state by state: one file per state or one for all, never more than a state in memory."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from phexplore.data.blocks import reading
from phexplore.data.blocks.delimited import read_header
from phexplore.data.blocks.population import BlockPopulation
from phexplore.model.issues import InputProblemsError
from phexplore.opening import open_regular

_SUFFIXES = {".csv", ".txt", ".gz"}
_CHUNK = 1 << 20
_STATE = re.compile(rb'^"?(\d\d)\d{12,13}', re.MULTILINE)
_GZIP = b"\x1f\x8b"


def block_files(path: Path) -> tuple[Path, ...]:
    """Return the block files at a path: itself, or those of a directory; none where it holds something else."""
    files = sorted(each for each in path.iterdir() if each.suffix in _SUFFIXES) if path.is_dir() else [path]
    return tuple(each for each in files if each.is_file() and _is_block_file(each))


def _is_block_file(path: Path) -> bool:
    try:
        names = {name.lower() for name in read_header(path).names}
    except InputProblemsError:
        return False
    return set(reading.NEEDED) <= names


def lines_and_states(path: Path) -> tuple[int, Counter[str]]:
    """Return how many lines a block file has, and how many of them begin with the digits of each state.

    Where codes are not the first column, no state is found.

    Raises:
        InputProblemsError: it is no regular file.
        OSError: it cannot be read.
        zlib.error: it is damaged.
    """
    lines, states, rest = 0, Counter[bytes](), b""
    with open_regular(path) as file:
        piece = file.read(_CHUNK)
        packed = zlib.decompressobj(31) if piece.startswith(_GZIP) else None
        while piece:
            whole, _, rest = (rest + (piece if packed is None else packed.decompress(piece, _CHUNK))).rpartition(b"\n")
            lines += whole.count(b"\n") + bool(whole)
            states.update(_STATE.findall(whole))
            piece = (b"" if packed is None else packed.unused_data or packed.unconsumed_tail) or file.read(_CHUNK)
            if packed is not None and packed.eof:
                if not piece.startswith(_GZIP[:1]):
                    break  # padding, or what the reader refuses
                packed = zlib.decompressobj(31)  # another member, as bgzip and cat write them
    return lines, Counter({state.decode(): number for state, number in states.items()})


def classes_in(files: Sequence[Path]) -> tuple[str, ...]:
    """Return the classes of areas that any of some block files has."""
    names = {name.lower() for file in files for name in read_header(file).names}
    return tuple(name for name in reading.PLACE_CLASSES if name in names)


def populations_of(file: Path, classes: Sequence[str] = ()) -> Iterator[BlockPopulation]:
    """Yield the states of a block file, one after the other.

    Args:
        file: whose lines of each state stand together.
        classes: of areas that other files of the same population have.

    Raises:
        InputProblemsError: every problem with line and column.
    """
    yield from reading.states_from(reading.in_small_letters(read_header(file)), classes)


def states_together(parts: Sequence[BlockPopulation]) -> BlockPopulation:
    """Return the blocks of several states as one population.

    Args:
        parts: of one schema, in the order of their codes.

    Raises:
        ValueError: the codes do not ascend.
    """
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(part.cells) for part in parts)])
    first = parts[0]
    classes = dict.fromkeys(name for part in parts for name in part.places)
    return BlockPopulation(
        first.schema,
        np.concatenate([part.geoids for part in parts]),
        np.concatenate([[0], *(part.starts[1:] + begin for part, begin in zip(parts, starts, strict=False))]),
        np.concatenate([part.cells for part in parts]),
        np.concatenate([part.counts for part in parts]),
        None if first.facilities is None else np.concatenate([part.facilities for part in parts]),
        None if first.housing is None else np.concatenate([part.housing for part in parts]),
        places={
            name: np.concatenate([part.places.get(name, np.full(part.blocks, "")) for part in parts])
            for name in classes
        },
        remarks=tuple(dict.fromkeys(remark for part in parts for remark in part.remarks)),
        layout=first.layout,
    )
