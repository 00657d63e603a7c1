"""Every compiled loop of the package: its machine code is made once, kept by content, and the same on every machine.

Numba's own cache asks for the time of the source file and for this machine's processor, so that every installation and
every copy throws it away. Here a file of machine code is named by what it was made from (bytecode of the function and
of all it calls, constants, types, versions, processor) and made for one of few named processors: what a package was
built with is found wherever it is installed. It lies beside the package, or, where that cannot be written and nothing
is prepared, in the user's cache folder. What is in neither is compiled, and listeners are told. Packages come without
bitcode, which only a kernel that calls this one is compiled with: then both are.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, TypeVar, cast

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np
from numba import config, njit, types
from numba.core.caching import CompileResultCacheImpl
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.serialize import dumps

from phexplore.platforms import others_may_write, user_folder
from phexplore.preparing import listeners

Function = TypeVar("Function", bound=Callable[..., Any])

BESIDE: Final = Path(__file__).parent / "_machine_code"
"""Machine code that came with the package, or that was made in a checkout."""

PROCESSORS: Final = (
    ("x86-64-v3", ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")),
    ("x86-64-v2", ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")),
    ("x86-64", ()),
)
"""Processors that code is made for, the fastest first, and what a machine needs to run it."""

_kernels: Final[list[Any]] = []
_log = logging.getLogger(__name__)
_IMPLEMENTATION: Final = CompileResultCacheImpl.__new__(CompileResultCacheImpl)
_SEAL = 32
_PICKLE = b"\x80"


def best_processor(triple: str, features: Mapping[str, bool]) -> str:
    """Return which of `PROCESSORS` a machine is; a baseline that every one of another kind has.

    Args:
        triple: LLVM's name of the machine.
        features: what its processor has.
    """
    if not triple.startswith("x86_64"):
        return "generic"
    return next(name for name, needed in PROCESSORS if all(features.get(feature) for feature in needed))


if config.CPU_NAME is None:  # numba's own variables go before
    config.CPU_NAME = best_processor(llvm.get_process_triple(), llvm.get_host_cpu_features())
    config.CPU_FEATURES = ""


def kernel(function: Function) -> Function:
    """Return `function` compiled on first use, without the interpreter's lock; a division by zero raises."""
    return _compiled(function)


def float_kernel(function: Function) -> Function:
    """Return the same for floats: a division by zero is infinite or NaN. Sums are taken in the order they are written."""
    return _compiled(function, error_model="numpy", no_cfunc_wrapper=True)


def lean_kernel(function: Function) -> Function:
    """Return the same for a kernel that makes and returns no array: it counts no references to those it is given.

    Every view of a row and every member of a tuple of arrays costs two atomic counts, which in loops over a few numbers
    took 8 % of the time. Who calls such a kernel holds its arrays; numba refuses to compile one that makes an array.
    """
    return _compiled(function, error_model="numpy", no_cfunc_wrapper=True, _nrt=False, forceinline=False)


def woven_kernel(function: Function) -> Function:
    """Return the same for a small kernel that is made a part of every kernel that calls it.

    A tuple of arrays is passed as some two hundred numbers, which a short kernel would spend most of its time on.
    """
    return _compiled(function, error_model="numpy", no_cfunc_wrapper=True, _nrt=False, forceinline=True)


def inlined_kernel(function: Function) -> Function:
    """Return the same for a function that one kernel calls in one place: it is compiled as a part of that kernel.

    numba compiles a kernel together with everything below it, again for every kernel above: a chain of five large
    kernels would cost five times the smallest of them.
    """
    return _compiled(function, error_model="numpy", no_cfunc_wrapper=True, inline="always")


def processor() -> str:
    """Return the name of the processor that code is made for."""
    return str(config.CPU_NAME)


def _compiled(function: Function, **options: Any) -> Function:
    # No fastmath: sums that may be reordered depend on the processor, and were not faster (docs/topdown_performance.md).
    dispatcher: Any = njit(nogil=True, **options)(function)
    resolve = dispatcher.get_call_template

    def resolve_types_only(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Compile once per type: numba would compile every kernel called with a literal a second time for it."""
        dispatcher._cache.be_linked()  # noqa: SLF001 - as below
        return resolve(tuple(map(types.unliteral, arguments)), keywords)

    dispatcher.get_call_template = resolve_types_only
    dispatcher._cache = _Kept(dispatcher, options)  # noqa: SLF001 - numba has no other way
    _kernels.append(dispatcher)
    return cast("Function", dispatcher)


class _Kept:
    """The machine code of one kernel; numba's dispatcher asks here before it compiles."""

    cache_path = str(BESIDE)

    def __init__(self, dispatcher: Any, options: dict[str, Any]) -> None:
        self._dispatcher = dispatcher
        self._options = options
        self._is_linked = self._lacks_bitcode = False

    def be_linked(self) -> None:
        """Believe no code without bitcode from now on: a kernel that calls this one is being compiled."""
        self._is_linked = True
        if self._lacks_bitcode:
            self._lacks_bitcode = False
            self._dispatcher._reset_overloads()  # noqa: SLF001 - numba has no other way

    @cached_property
    def _content(self) -> str:
        """Digest of everything the machine code is made from, but for types."""
        found: dict[str, bytes] = {}
        _describe(self._dispatcher, found)
        options = sorted((name, repr(_ordered(value))) for name, value in self._options.items())
        versions = (sys.version_info[:2], sys.implementation.cache_tag, numba.__version__, llvmlite.__version__)
        target = (llvm.get_process_triple(), config.CPU_NAME, config.CPU_FEATURES)
        digest = hashlib.sha256(repr((options, versions, np.__version__, target)).encode())
        for name in sorted(found):
            digest.update(name.encode() + b"\0" + found[name] + b"\0")
        return digest.hexdigest()

    def _name(self, signature: Any) -> tuple[str, str]:
        """Return what the files of all versions of this code begin with, and the name of this version's."""
        function = self._dispatcher.py_func
        kinds = hashlib.sha256(repr(signature).encode()).hexdigest()[:12]
        stem = f"{function.__module__.removeprefix('phexplore.')}.{function.__qualname__}.{processor()}.{kinds}."
        return stem, f"{stem}{self._content[:24]}.bin"

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the code for these types, None if it has to be compiled."""
        target.refresh()
        _, name = self._name(signature)
        for folder in folders():
            with suppress(OSError, _DamagedError):
                (library, kind, (code, bitcode)), *rest = _unsealed((folder / name).read_bytes())
                is_bare = isinstance(bitcode, str)
                if not (is_bare and self._is_linked):
                    linked = llvm.parse_assembly(bitcode).as_bitcode() if is_bare else bitcode
                    found = _IMPLEMENTATION.rebuild(target, ((library, kind, (code, linked)), *rest))
                    if is_bare:
                        found.library._shared_module = None  # noqa: SLF001 - numba then refuses to link it
                        self._lacks_bitcode = True
                    return found
        _log.info("compiling %s%s for %s", self._dispatcher.py_func.__qualname__, signature, processor())
        ready = sum(bool(known.signatures) for known in _kernels)
        for listener in listeners:
            listener(ready, len(_kernels))
        return None

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep the code for the next process; where nothing can be written, it serves this one."""
        stem, name = self._name(signature)
        # Annotations are the source again, with paths of this machine, and nobody reads them.
        sealed = _sealed(_IMPLEMENTATION.reduce(data._replace(type_annotation="")))
        for folder in folders():
            try:
                folder.mkdir(mode=0o755, parents=True, exist_ok=True)
                handle, aside = tempfile.mkstemp(dir=folder)
            except OSError:
                continue
            with os.fdopen(handle, "wb") as file:
                file.write(sealed)
            Path(aside).chmod(0o644)
            Path(aside).replace(folder / name)
            for old in folder.glob(f"{stem}*.bin"):
                if old.name != name:
                    old.unlink(missing_ok=True)
            return


class _DamagedError(ValueError):
    """A file of machine code is not what was written."""


def without_bitcode(sealed: bytes) -> bytes:
    """Return the content of a file of machine code as packages hold it: a third of the size.

    Raises:
        ValueError: the file is damaged.
    """
    (library, kind, (code, bitcode)), *rest = _unsealed(sealed)
    if isinstance(bitcode, str):
        return sealed
    rest[5] = ""  # what a checkout made earlier has annotations
    # numba looks up in the bitcode which names the code defines.
    known = llvm.parse_bitcode(bitcode)
    named = [
        value.name
        for values in (known.functions, known.global_variables)
        for value in values
        if not value.is_declaration
    ]
    return _sealed(((library, kind, (code, "".join(f'@"{name}" = global i8 0\n' for name in named))), *rest))


def _sealed(parts: tuple[Any, ...]) -> bytes:
    content = zlib.compress(dumps(parts))
    return hashlib.sha256(content).digest() + content


def _unsealed(sealed: bytes) -> tuple[Any, ...]:
    content = sealed[_SEAL:]
    if hashlib.sha256(content).digest() != sealed[:_SEAL]:
        raise _DamagedError
    # What a checkout made earlier stays as it is.
    parts = pickle.loads(content if content.startswith(_PICKLE) else zlib.decompress(content))  # noqa: S301 - sealed
    return cast("tuple[Any, ...]", parts)


@lru_cache(maxsize=1)
def folders() -> tuple[Path, ...]:
    """Return where machine code may lie: beside the package, then the user's cache folder if it is theirs alone."""
    own = user_folder("cache") / "machine_code"
    return (BESIDE, own) if _is_private(own) else (BESIDE,)


def _is_private(folder: Path) -> bool:
    """Return whether nobody but this user can put files into a folder; make it if it is absent."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        is_own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        return is_own and stat.S_ISDIR(found.st_mode) and not others_may_write(folder)
    except OSError:
        return False


def _describe(dispatcher: Any, found: dict[str, bytes]) -> None:
    """Add a kernel and all kernels it calls to `found`, by name: bytecode, and the values it takes from its module."""
    function = dispatcher.py_func
    name = f"{function.__module__}.{function.__qualname__}"
    if name in found:
        return
    found[name] = b""
    digest = hashlib.sha256(repr(sorted(dispatcher.targetoptions.items(), key=str)).encode())
    for code in _codes(function.__code__):
        digest.update(_text(code, function.__doc__))
        for used in code.co_names:
            value = function.__globals__.get(used)
            if isinstance(value, Dispatcher):
                _describe(value, found)
            elif isinstance(value, np.ndarray):
                digest.update(repr((used, value.dtype, value.shape)).encode() + value.tobytes())
            elif isinstance(value, _Intrinsic):
                digest.update(_emitting(value._defn, set()))  # noqa: SLF001 - numba shows it nowhere else
            elif isinstance(value, ModuleType) or callable(value):
                digest.update(f"{used} {getattr(value, '__module__', '')} {getattr(value, '__name__', '')}".encode())
            else:
                digest.update(repr((used, value)).encode())
    found[name] = digest.digest()


def _emitting(function: FunctionType, seen: set[FunctionType]) -> bytes:
    """Return what a function that emits instructions does, with the functions and numbers of its module that it takes."""
    seen.add(function)
    parts = []
    for code in _codes(function.__code__):
        parts.append(_text(code, function.__doc__))
        for used in code.co_names:
            value = function.__globals__.get(used)
            if isinstance(value, FunctionType) and value.__module__ == function.__module__ and value not in seen:
                parts.append(_emitting(value, seen))
            elif isinstance(value, int | float):
                parts.append(repr((used, value)).encode())
    return b"".join(parts)


def _text(code: CodeType, comment: str | None = None) -> bytes:
    """Return what a function does, its comment left out."""
    constants = [_ordered(known) for known in code.co_consts if not isinstance(known, CodeType) and known != comment]
    return code.co_code + repr((code.co_varnames, code.co_names)).encode() + repr(constants).encode()


def _codes(code: CodeType) -> list[CodeType]:
    return [code, *(found for known in code.co_consts if isinstance(known, CodeType) for found in _codes(known))]


def _ordered(value: Any) -> Any:
    """Return a value whose text does not depend on the order of a set."""
    return sorted(value) if isinstance(value, set | frozenset) else value
