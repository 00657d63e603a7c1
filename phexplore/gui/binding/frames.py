"""How the window and the programs beside it talk: one pickled value per frame, its length before it.

Both ends are this program, started by itself; nothing from elsewhere is ever unpickled.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO

_LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """What is said before the answer is there.

    Attributes:
        value: how far the work is.
    """

    value: Any


@dataclass(frozen=True, slots=True)
class Refused:
    """An expected failure of the program beside the window.

    Attributes:
        sentence: what is wrong.
        remedy: what to do.
    """

    sentence: str
    remedy: str


def frame(value: object) -> bytes:
    """Return a value as the bytes of one frame."""
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


def send(stream: BinaryIO, value: object) -> None:
    """Write a value at once."""
    stream.write(frame(value))
    stream.flush()


def serve_parent(serve: Callable[[BinaryIO, BinaryIO], object]) -> int:
    """Serve the program that started this one until it is gone; return the exit status.

    Args:
        serve: takes the stream of requests and that of answers.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints must not end up among the answers
    with suppress(BrokenPipeError):  # the window is gone
        serve(sys.stdin.buffer, answers)
    return 0


def read_frame(stream: BinaryIO) -> Any:
    """Return the next value; None at the end of the stream, also in the middle of a frame."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = stream.read(length)
    return pickle.loads(body) if len(body) == length else None  # noqa: S301 - our own other end


class FrameDecoder:
    """Turns bytes cut anywhere into whole values."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> list[Any]:
        """Take bytes; return the values that are whole now."""
        self._buffer += chunk
        found = []
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                break
            found.append(pickle.loads(self._buffer[_LENGTH.size : end]))  # noqa: S301 - our own other end
            del self._buffer[:end]
        return found
