"""Work on a Dask cluster instead of threads: each piece is a task that depends on nothing but itself.

A piece travels as bytes, pickled here; its result as arrays and plain values (`phexplore.runs.wire`). So arrays arrive as they were
sent (Dask hands over some of them read-only, for which the compiled loops would be compiled anew), and the cluster keeps a piece
until its result is here: a worker that dies loses nothing, another one does its pieces again.

Dask's own messages are pickled where Dask likes to: whoever answers at a scheduler's address can run code here. So it is a person
who gives the address, at every start; TLS proves who answers.

Pieces carry a stamp of this program's source, and a worker with another one refuses them: trials of two versions are never mixed.
Dask is imported when an address is given, never before.
"""

from __future__ import annotations

import asyncio
import hashlib
import pickle
import platform
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import wait
from contextlib import ExitStack
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import phexplore
from phexplore.errors import CancelledError, PhexploreError
from phexplore.runs.place import TlsFiles
from phexplore.runs.simulation import Watch
from phexplore.runs.wire import Refusal, WireError, pack, unpack

CONNECT_SECONDS = 15
"""How long a scheduler has to answer, and to have its first worker."""

_TICK_SECONDS = 0.2
"""How often a wait looks whether the run is to stop."""

_LOOK_SECONDS = 5.0
"""How often a wait looks whether there is a worker at all."""

_PIECES_PER_THREAD = 3
"""Pieces on their way for every thread of the cluster: one in work, the next waiting, one whose result travels."""

_MOST_BYTES = 256 << 20
"""Pieces on their way hold at most so much, or are alone."""

_LIBRARIES = ("numpy", "numba", "llvmlite")
"""What decides, with the processor, the last bits of a sum."""

_LEFT_OUT = {"cli", "gui", "report", "decide"}
"""Packages that compute no piece."""

Task = TypeVar("Task")
Result = TypeVar("Result")


class ClusterError(PhexploreError):
    """A cluster that is not there, does not answer, or runs another version of the program."""


@lru_cache(maxsize=1)
def code_stamp() -> str:
    """Return 16 hexadecimal digits of the source of everything that computes."""
    root = Path(phexplore.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if place.parts[0] not in _LEFT_OUT:
            digest.update(f"{place.as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def machine() -> tuple[str, ...]:
    """Return what the last bits of a sum depend on: the processor as the compiler names it, and the libraries' versions."""
    from llvmlite import binding  # noqa: PLC0415 - loads the compiler

    return (platform.machine(), binding.get_host_cpu_name(), *(f"{name} {version(name)}" for name in _LIBRARIES))


def perform(stamp: str, piece: bytes) -> bytes:
    """Do one piece of work, on a worker.

    Args:
        stamp: `code_stamp` of the program that sends it.
        piece: a function and its value, pickled.

    Returns:
        The result as `unpack` reads it; expected failures as values, because exceptions do not keep their remedy on the way.
    """
    if stamp != code_stamp():
        where = f"A worker of the cluster ({platform.node()}) has another version of the program"
        return pack(Refusal(f"{where}: its source is {code_stamp()}, this one's is {stamp}.", _SAME_VERSION))
    function, value = pickle.loads(piece)  # noqa: S301 - from the run itself, as everything a Dask worker executes
    try:
        result = function(value)
    except PhexploreError as error:
        result = Refusal(error.sentence, error.remedy)
    return pack(result)


_SAME_VERSION = "Install the same version of phexplore where the scheduler and the workers run."

_USUAL_PORT = 8786

_LONGEST_GREETING = 1 << 20

_WITHOUT = "or leave out the address: this machine then does everything itself"


class Cluster:
    """A mapper on a Dask cluster (`phexplore.simulate.topdown.driver.Mapper`). Use it in a with block, from any thread."""

    def __init__(self, address: str, watch: Watch, tls: TlsFiles | None = None) -> None:
        """Connect.

        Args:
            address: of the scheduler, e.g. ``tcp://host:8786``, as a person gave it: whoever answers there can run code here.
            watch: hears of workers that are gone, and says when to stop.
            tls: certificates for a ``tls://`` address; None leaves them to Dask's own settings.

        Raises:
            ClusterError: Dask is not installed, nobody answers, there is no worker, or it runs another version.
        """
        self._address = address
        self._watch = watch
        self._lock = threading.Lock()
        self._next_look = 0.0
        self._alone = False
        self._client = _connect(address, tls)
        try:
            self._threads = self._count_threads(CONNECT_SECONDS)
            self._greet()
        except BaseException:
            self.close()
            raise

    def __call__(self, function: Callable[[Task], Result], values: Iterable[Task]) -> Iterator[Result]:
        """Yield ``function(value)`` for every value in order; a few pieces per thread of the cluster are on their way at once.

        Raises:
            CancelledError: the run is to stop.
            ClusterError: the cluster is gone, or its workers die of a piece.
            PhexploreError: the function raised one.
        """
        pending: deque[tuple[Any, int]] = deque()
        waiting = iter(values)
        more = True
        try:
            while more or pending:
                while more and self._has_room(pending):
                    value = next(waiting, self)
                    if value is self:
                        more = False
                        break
                    pending.append(self._send(pickle.dumps((function, value), protocol=5)))
                if pending:
                    result = self._receive(pending[0][0])
                    pending.popleft()
                    yield result
        finally:
            for future, _ in pending:
                future.cancel()

    def confirm_memory(self, piece: str, base: int, size: int) -> None:
        """Refuse a piece that a worker would die of: Dask ends those that pass their limit.

        Args:
            piece: the largest one, in words.
            base: bytes of a worker without any.
            size: bytes of the piece; a worker has one per thread.

        Raises:
            ClusterError: a worker may take less.
        """
        for worker in self._client.scheduler_info(n_workers=-1)["workers"].values():
            limit, needed = worker["memory_limit"], base + size * worker["nthreads"]
            if limit and needed > limit:
                raise ClusterError(
                    f"{piece} takes about {size >> 20:,} MB a thread; the worker {worker['name']} of the cluster may take "
                    f"{limit >> 20:,} MB with {worker['nthreads']} threads and needs {needed >> 20:,}.",
                    "Start workers with fewer --nthreads or a larger --memory-limit.",
                )

    def _has_room(self, pending: deque[tuple[Any, int]]) -> bool:
        if len(pending) >= _PIECES_PER_THREAD * max(1, self._threads):
            return False
        return not pending or sum(size for _, size in pending) < _MOST_BYTES

    def _send(self, piece: bytes) -> tuple[Any, int]:
        try:
            return self._client.submit(perform, code_stamp(), piece, pure=False), len(piece)
        except Exception as error:
            raise self._lost(error) from error

    def _receive(self, future: Any) -> Any:
        """Wait for a result, ready to stop, with an eye on the workers.

        Dask fetches finished results of all threads in one request; a wait for one of them that ended by itself would take the
        request from the others. So the wait looks up from time to time, and the request goes on.
        """
        from distributed import KilledWorker  # noqa: PLC0415 - an optional part

        try:
            coming = asyncio.run_coroutine_threadsafe(
                self._client.gather(future, asynchronous=True), self._client.loop.asyncio_loop
            )
            while not wait([coming], _TICK_SECONDS).done:
                self._watch.checkpoint()
                self._look()
            result = unpack(coming.result())
        except WireError as error:
            raise ClusterError(
                f"A worker at {self._address} sent what is no result: {error}.", _SAME_VERSION
            ) from error
        except KilledWorker as error:
            raise ClusterError(
                f"Several workers of the cluster at {self._address} died of the same piece of work.",
                "Most often they have too little memory: give each 2 GB a thread. Finished trials are kept.",
            ) from error
        except ImportError as error:
            raise ClusterError(
                f"The cluster at {self._address} cannot run this program ({error}).", _SAME_VERSION
            ) from error
        except PhexploreError:
            raise
        except Exception as error:
            if future.status == "error":
                raise
            raise self._lost(error) from error
        if isinstance(result, Refusal):
            raise PhexploreError(result.sentence, result.remedy)
        return result

    def _look(self) -> None:
        """Tell the user when there is no worker left, and when there is one again."""
        with self._lock:
            if time.monotonic() < self._next_look:
                return
            self._next_look = time.monotonic() + _LOOK_SECONDS
        try:
            threads = sum(self._client.nthreads().values())
        except Exception as error:
            raise self._lost(error) from error
        self._threads = threads or self._threads
        if (threads == 0) != self._alone:
            self._alone = threads == 0
            self._watch.note(
                f"No worker is left at {self._address}; the run waits for one."
                if self._alone
                else f"The cluster at {self._address} has workers again."
            )

    def _lost(self, error: BaseException) -> ClusterError:
        return ClusterError(
            f"The cluster at {self._address} is gone ({type(error).__name__}).",
            "Start it again and resume the run: finished trials are kept.",
        )

    def _count_threads(self, seconds: float) -> int:
        try:
            self._client.wait_for_workers(1, timeout=seconds)
            return sum(self._client.nthreads().values())
        except TimeoutError as error:
            raise ClusterError(
                f"The Dask scheduler at {self._address} has no worker.",
                f"Start one with: dask worker {self._address}; {_WITHOUT}.",
            ) from error

    def _greet(self) -> None:
        """Refuse workers of another version, and say who is there."""
        try:
            found = self._client.run(_introduce)
        except Exception as error:
            raise ClusterError(
                f"The workers at {self._address} cannot run this program ({type(error).__name__}: {error}).",
                _SAME_VERSION,
            ) from error
        for place, (stamp, _) in found.items():
            if stamp != code_stamp():
                raise ClusterError(
                    f"The worker {place} has another version of the program: its source is {stamp}, this one's is "
                    f"{code_stamp()}.",
                    _SAME_VERSION,
                )
        self._watch.note(
            f"Estimated at {self._address}: {self._threads} threads of {len(found)} workers. Exact counts travel there and "
            "noise is drawn there: trust it and the network as you trust this machine."
        )
        kinds = sorted({kind for _, kind in found.values()} | {machine()})
        if len(kinds) > 1:
            names = " | ".join(", ".join(kind) for kind in kinds)
            self._watch.note(
                f"Processors or libraries differ ({names}): sums can differ in their last digits, and so, where a count lies "
                "on the edge, the result from that of this machine alone."
            )

    def close(self) -> None:
        """Let the cluster go."""
        try:
            self._client.close(timeout=2)
        except (OSError, TimeoutError, CancelledError):  # it may be gone already
            return

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the cluster go."""
        self.close()


def _introduce() -> tuple[str, tuple[str, ...]]:
    """Return what a worker is, on that worker."""
    return code_stamp(), machine()


def _connect(address: str, tls: TlsFiles | None) -> Any:
    """Return a client of the scheduler.

    Raises:
        ClusterError: Dask is not installed, or nobody answers.
    """
    try:
        import dask  # noqa: PLC0415 - an optional part
        from distributed import Client, Security  # noqa: PLC0415 - an optional part
    except ImportError as error:
        raise ClusterError(
            f"The address of a cluster is given ({address}), but Dask is not installed here ({error.name}).",
            f"Install it with: pip install 'dask[distributed]'; {_WITHOUT}.",
        ) from error
    # Pieces are a few megabytes of data that exist nowhere else; Dask would advise to leave them on the workers, where they die.
    dask.config.set({"distributed.admin.large-graph-warning-threshold": 2 * _MOST_BYTES})
    security = Security()
    if tls is not None:
        security = Security(
            require_encryption=True,
            tls_ca_file=str(tls.authority),
            tls_client_cert=str(tls.certificate),
            tls_client_key=str(tls.key),
        )
    try:
        _greet_scheduler(address, security)
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False, name="phexplore", security=security)
    except (OSError, ValueError, RuntimeError, TypeError, KeyError) as error:
        reason = str(error) or type(error).__name__
        raise ClusterError(
            f"No Dask scheduler answers at {address} ({reason}).",
            f"Check that it runs and that this machine reaches it; {_WITHOUT}.",
        ) from error


def _greet_scheduler(address: str, security: Any) -> None:
    """Confirm that what listens there begins as Dask does: with eight bytes that give the size of a short message.

    Dask's client takes the first bytes of a server of another kind for such a size, and waits for as many.

    Raises:
        OSError: nobody is there, what is there says something else or nothing, or the certificates do not fit.
    """
    from distributed.comm.addressing import parse_address, parse_host_port  # noqa: PLC0415 - an optional part

    kind, place = parse_address(address)
    if kind not in {"tcp", "tls"}:
        return
    host, port = parse_host_port(place, _USUAL_PORT)
    with ExitStack() as opened:
        stream = opened.enter_context(socket.create_connection((host, port), CONNECT_SECONDS))
        if kind == "tls":
            context = security.get_connection_args("client").get("ssl_context")
            if context is None:
                raise OSError("an encrypted connection needs certificates")
            stream = opened.enter_context(context.wrap_socket(stream))
        first = stream.recv(8, socket.MSG_WAITALL) if kind == "tcp" else stream.recv(8)
    if len(first) < 8 or int.from_bytes(first, sys.byteorder) > _LONGEST_GREETING:
        raise OSError("what listens there is something else")
