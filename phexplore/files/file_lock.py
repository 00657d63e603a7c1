"""A lock on an open file that the system drops when its process dies: the one place where systems differ in it."""

from __future__ import annotations

import errno
import os
import sys

BEYOND = 1 << 40
"""Where the locked byte lies on Windows, whose locks also keep readers out: no file of ours is as long."""

_HELD = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}


def try_lock(handle: int) -> bool:
    """Take the lock and return whether it was free.

    Raises:
        OSError: the file system has no locks.
    """
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - of that system alone

            _at_the_byte(handle, msvcrt.LK_NBLCK)
        else:
            import fcntl  # noqa: PLC0415 - absent on Windows

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise
    return True


def unlock(handle: int) -> None:
    """Let the lock go before the file is closed."""
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - as above

        _at_the_byte(handle, msvcrt.LK_UNLCK)
    else:
        import fcntl  # noqa: PLC0415 - as above

        fcntl.flock(handle, fcntl.LOCK_UN)


def _at_the_byte(handle: int, mode: int) -> None:
    """Lock or unlock the byte on Windows, where a lock begins at the place that is read next; the place stays."""
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - as above

        place = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, BEYOND, os.SEEK_SET)
        try:
            msvcrt.locking(handle, mode, 1)
        finally:
            os.lseek(handle, place, os.SEEK_SET)
