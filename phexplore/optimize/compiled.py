"""Compile the kernels once, keep the machine code, and never run the code of another version.

numba keeps machine code per function and looks at that function's own file only, while a kernel calls others; and it
numbers its files, so two processes that compile at the same time, or one that starts while a new version compiles, can
be given the machine code of other types or of the version before. Here the files are named by what is in them: the
source of this package and the types compiled for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit, types

Function = TypeVar("Function", bound=Callable[..., Any])

REORDERED = {"reassoc", "contract", "nsz", "arcp"}
"""Floating-point liberties that let sums be vectorised. Infinities and NaN keep their meaning."""

_USED = ("_source_stamp", "_load_index", "_save_index", "_save_data", "_index_path")
"""What is used of numba's cache file beyond its public names; without them its own way of caching remains."""


def kernel(function: Function) -> Function:
    """Return `function` compiled on first call, without the interpreter's lock, from the cache when it has been before."""
    return _compiled(function, inline="never")


def inlined_kernel(function: Function) -> Function:
    """Return the same for a function that one kernel calls in one place: it is compiled as a part of that kernel.

    numba compiles a kernel together with everything below it, again for every kernel above: a chain of five large
    kernels would cost five times the smallest of them.
    """
    return _compiled(function, inline="always")


def _compiled(function: Function, inline: str) -> Function:
    dispatcher: Any = njit(
        cache=True, nogil=True, error_model="numpy", fastmath=REORDERED, inline=inline, no_cfunc_wrapper=True
    )(function)
    resolve = dispatcher.get_call_template

    def resolve_types_only(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Compile once per type: numba would compile every kernel called with a literal a second time for it."""
        return resolve(tuple(map(types.unliteral, arguments)), keywords)

    dispatcher.get_call_template = resolve_types_only
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if all(hasattr(cache_file, name) for name in _USED):
        name_by_content(cache_file, _digest())
    return cast("Function", dispatcher)


def name_by_content(cache_file: Any, digest: str) -> None:
    """Make a cache file of numba valid for this digest only, and name the machine code by digest and types.

    Raises no error for files that another process takes away: they are compiled again.

    Args:
        cache_file: numba's index of one function.
        digest: of the package's source.
    """
    cache_file._source_stamp = digest  # noqa: SLF001 - numba has no other way
    cache_file.save = partial(_save, cache_file)


def _save(cache_file: Any, key: Any, data: Any) -> None:
    """Write machine code, then the index that leads to it, and remove what other versions left."""
    index = Path(cache_file._index_path)  # noqa: SLF001
    version = f"{index.stem}.{cache_file._source_stamp[:16]}."  # noqa: SLF001
    name = f"{version}{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
    cache_file._save_data(name, data)  # noqa: SLF001
    overloads = cache_file._load_index()  # noqa: SLF001
    overloads[key] = name
    cache_file._save_index(overloads)  # noqa: SLF001
    for old in index.parent.glob(f"{index.stem}.*.nbc"):
        if not old.name.startswith(version):
            old.unlink(missing_ok=True)


@lru_cache(maxsize=1)
def _digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
