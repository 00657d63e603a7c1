"""Differences between Windows, macOS and Linux: locks on files, the folders of a user, processes and their memory.

Nothing else asks which system it is, but for whether Linux has a display (`phexplore.gui.main.display`).
"""

from __future__ import annotations

import errno
import os
import signal
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    import subprocess

BEYOND = 1 << 40
"""Where the locked byte lies on Windows, whose locks also keep readers out: no file of ours is as long."""

_FOLDERS: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "data": ("XDG_DATA_HOME", ".local/share", "APPDATA", "Library/Application Support"),
    "settings": ("XDG_CONFIG_HOME", ".config", "APPDATA", "Library/Preferences"),
    "cache": ("XDG_CACHE_HOME", ".cache", "LOCALAPPDATA", "Library/Caches"),
}
"""Variable and folder of the home on Linux, variable on Windows, folder of the home on macOS."""

_HELD = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}


def user_folder(kind: Literal["data", "settings", "cache"]) -> Path:
    """Return the folder of this program among the user's; it may not be there yet. Linux' variable goes before on every system."""
    linux, below, windows, mac = _FOLDERS[kind]
    if named := os.environ.get(linux):
        return Path(named) / "phexplore"
    if sys.platform == "win32":
        local = Path.home() / "AppData" / ("Local" if windows == "LOCALAPPDATA" else "Roaming")
        return Path(os.environ.get(windows) or local) / "phexplore"
    return Path.home() / (mac if sys.platform == "darwin" else below) / "phexplore"


def others_may_write(path: Path) -> bool:
    """Return whether its modes let others than the owner write; Windows has none, and its folders of a user are the user's.

    Raises:
        OSError: it is not there.
    """
    return sys.platform != "win32" and bool(path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def replaces_open_files() -> bool:
    """Return whether a file that is open can be replaced by another."""
    return sys.platform != "win32"


def group_options() -> dict[str, Any]:
    """Return how `subprocess.Popen` starts a process that leads a group of its own."""
    if sys.platform == "win32":
        import subprocess  # noqa: PLC0415 - most processes start no other

        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS}
    return {"start_new_session": True}


def end_group(leader: subprocess.Popen[bytes]) -> None:
    """End a process and what it started, at once; on Windows what it started ends with its pipes.

    Args:
        leader: started with `group_options`.

    Raises:
        OSError: it is gone.
    """
    if sys.platform == "win32":
        leader.kill()
    else:
        os.killpg(leader.pid, signal.SIGKILL)


def peak_megabytes() -> float | None:
    """Return the most memory this process held, in MB of 2**20 bytes; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - absent on Windows

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(largest / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


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
