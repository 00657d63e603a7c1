"""Compile the kernels once, keep the machine code, and throw it away when any kernel's source changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

REORDERED = {"reassoc", "contract", "nsz", "arcp"}
"""Floating-point liberties that let sums be vectorised. Infinities and NaN keep their meaning."""


def kernel(function: Function) -> Function:
    """Return `function` compiled on first call, without the interpreter's lock, from the cache when it has been before.

    numba keeps machine code per function and looks at that function's own file only; a kernel calls others, so the
    stamp of the cache is the digest of all modules of this package instead.
    """
    dispatcher: Any = njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDERED)(function)
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None and hasattr(
        cache_file, "_source_stamp"
    ):  # numba's private names; without them its own stamp remains
        cache_file._source_stamp = _digest()  # noqa: SLF001
    return cast("Function", dispatcher)


@lru_cache(maxsize=1)
def _digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
