"""What comes back from a cluster: arrays and plain values in NumPy's own format, nothing that could run code here.

The first array holds a JSON text; the arrays it refers to by number follow it. Of classes only those named here are made again.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.lib import format as numpy_format
from numpy.typing import NDArray

from phexplore.metrics.topdown.redistricting import GroupShares
from phexplore.metrics.topdown.reliability import MeetingSizes
from phexplore.simulate.topdown.by_state import StateResult
from phexplore.simulate.topdown.error_folding import LevelErrors, QueryErrors, ShareErrors
from phexplore.simulate.topdown.families import RangeResult
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.simulate.topdown.pooling import PooledLevel, PoolResult


@dataclass(frozen=True, slots=True)
class Refusal:
    """Stands for a result that an expected failure kept from being.

    Attributes:
        sentence: of the failure.
        remedy: against it.
    """

    sentence: str
    remedy: str


_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        RangeResult,
        PoolResult,
        PooledLevel,
        StateResult,
        LevelErrors,
        QueryErrors,
        ShareErrors,
        GroupShares,
        MeetingSizes,
        Histograms,
        Refusal,
    )
}


class WireError(ValueError):
    """Bytes that are no result, or a value that cannot travel."""


def pack(value: Any) -> bytes:
    """Return a value as bytes.

    Args:
        value: None, true, false, a number, a text, an array of numbers or text, a list or tuple of such, or a result of a piece.

    Raises:
        WireError: it is something else.
    """
    arrays: list[NDArray[Any]] = []
    text = json.dumps(_plain(value, arrays)).encode()
    stream = io.BytesIO()
    for array in (np.frombuffer(text, np.uint8), *arrays):
        numpy_format.write_array(stream, array, allow_pickle=False)
    return stream.getvalue()


def unpack(content: bytes) -> Any:
    """Return the value that `pack` was given. Its arrays can be written to.

    Raises:
        WireError: the bytes are something else.
    """
    stream = io.BytesIO(content)
    try:
        tree = json.loads(numpy_format.read_array(stream, allow_pickle=False).tobytes())
        arrays = []
        while stream.tell() < len(content):
            arrays.append(numpy_format.read_array(stream, allow_pickle=False))
        return _value(tree, arrays)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, EOFError) as error:
        raise WireError(f"these bytes are no result ({error})") from error


def _plain(value: Any, arrays: list[NDArray[Any]]) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case np.generic():
            return _plain(value.item(), arrays)
        case np.ndarray() if value.dtype.kind in "biufU":
            arrays.append(value)
            return {"array": len(arrays) - 1}
        case list():
            return {"list": [_plain(each, arrays) for each in value]}
        case tuple():
            return {"tuple": [_plain(each, arrays) for each in value]}
    if type(value).__name__ in _KINDS:
        parts = {field.name: _plain(getattr(value, field.name), arrays) for field in fields(value)}
        return {"kind": type(value).__name__, "fields": parts}
    raise WireError(f"a {type(value).__name__} does not travel")


def _value(tree: Any, arrays: list[NDArray[Any]]) -> Any:
    match tree:
        case {"array": int(number)}:
            return arrays[number]
        case {"list": list(parts)}:
            return [_value(each, arrays) for each in parts]
        case {"tuple": list(parts)}:
            return tuple(_value(each, arrays) for each in parts)
        case {"kind": str(name), "fields": dict(parts)}:
            return _KINDS[name](**{field: _value(each, arrays) for field, each in parts.items()})
        case None | bool() | int() | float() | str():
            return tree
    raise WireError(f"a value is expected, got {str(tree)[:80]!r}")
