"""Where random bits come from: the operating system for anything that may leave, a seed for simulations.

Both are AES-256 in counter mode (NIST SP 800-38A, 2001, section 6.5): about 6 GB/s, where the operating system itself gives 0.2.
Telling the stream from true random bits means breaking AES.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NoReturn, Protocol

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

_ZEROS = memoryview(bytes(1 << 17))
# 2^32 blocks under one key: the birthday bound on telling a permutation from a function stays below 2^-65.
_BYTES_PER_KEY = 1 << 36


class Entropy(Protocol):
    """A stream of random bytes. Not to be shared between threads; spawn one for each."""

    @property
    def is_reproducible(self) -> bool:
        """Whether someone who knows the seed can repeat the stream: such noise protects nobody."""

    def fill(self, buffer: NDArray[Any]) -> None:
        """Overwrite ``buffer[...]``, contiguous and of any integer type, with the next bytes of the stream."""

    def spawn(self, *key: int) -> Entropy:
        """Return an independent stream; a reproducible one depends on the seed and the keys only."""


class OsEntropy:
    """A stream keyed by the operating system; nobody can repeat it.

    It renews its key in a forked process and after 64 GiB, and refuses to be copied: two equal streams would give two
    releases the same noise.
    """

    def __init__(self) -> None:
        self._renew()

    @property
    def is_reproducible(self) -> bool:
        """Always False."""
        return False

    def fill(self, buffer: NDArray[Any]) -> None:
        """Overwrite ``buffer[...]``, contiguous and of any integer type, with the next bytes of the stream."""
        view = _bytes_of(buffer)
        if self._process != os.getpid() or self._bytes_left < len(view):
            self._renew()
        self._bytes_left -= len(view)
        _fill(self._stream, view)

    def spawn(self, *key: int) -> OsEntropy:  # noqa: ARG002 - streams of the operating system need no name
        """Return a stream with a key of its own."""
        return OsEntropy()

    def __reduce__(self) -> NoReturn:
        """Refuse copies, also by pickling.

        Raises:
            TypeError: always.
        """
        raise TypeError("a stream of the operating system must not be copied; make a new one where it is needed")

    def _renew(self) -> None:
        self._process = os.getpid()
        self._bytes_left = _BYTES_PER_KEY
        self._stream = _key_stream(os.urandom(32))


class SeededEntropy:
    """A stream anyone with the seed can repeat, for simulations only.

    The AES key is the SHA-256 of seed and spawn key, so trial i is the same whatever was drawn before.

    Args:
        seed: at least 0, of any size.
        spawn_key: names the stream, e.g. (trial, table); each part at least 0.

    Raises:
        ValueError: a negative seed or key.
    """

    def __init__(self, seed: int, spawn_key: tuple[int, ...] = ()) -> None:
        if seed < 0 or any(part < 0 for part in spawn_key):
            raise ValueError(f"seeds and spawn keys are at least 0, got {seed} and {spawn_key}")
        self.seed = seed
        self.spawn_key = spawn_key
        # The text is part of what makes old runs repeatable; changing it changes every simulated figure.
        label = f"phexplore seeded entropy 1: seed {seed}, key {','.join(map(str, spawn_key))}"
        self._stream = _key_stream(hashlib.sha256(label.encode()).digest())

    @property
    def is_reproducible(self) -> bool:
        """Always True."""
        return True

    def fill(self, buffer: NDArray[Any]) -> None:
        """Overwrite ``buffer[...]``, contiguous and of any integer type, with the next bytes of the stream."""
        _fill(self._stream, _bytes_of(buffer))

    def spawn(self, *key: int) -> SeededEntropy:
        """Return the stream of this seed whose spawn key is extended by `key`."""
        return SeededEntropy(self.seed, self.spawn_key + key)


def _key_stream(key: bytes) -> CipherContext:
    # The counter may start at 0: no key is used for two streams.
    return Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()


def _bytes_of(buffer: NDArray[Any]) -> memoryview:
    # An empty view has no bytes to cast.
    return buffer.data.cast("B") if buffer.size else memoryview(bytearray())


def _fill(stream: CipherContext, view: memoryview) -> None:
    for start in range(0, len(view), len(_ZEROS)):
        part = view[start : start + len(_ZEROS)]
        stream.update_into(_ZEROS[: len(part)], part)
