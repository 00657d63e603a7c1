"""Whether there is a screen: asked before Qt is, because Qt ends the process when there is none. No Qt."""

from __future__ import annotations

import ctypes
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

_WITHOUT_SCREEN = frozenset({"offscreen", "minimal", "vnc", "linuxfb", "eglfs", "vkkhrdisplay"})
_PATIENCE_S = 2.0
_X_PORT = 6000
_XCB_LIBRARY = "libxcb-cursor.so.0"


def display_problem(environment: Mapping[str, str], platform: str = sys.platform) -> str:
    """Return why no window can be opened, with what to do; "" when one can.

    Args:
        environment: variables of the process.
        platform: of the system, as Python names it.
    """
    if not platform.startswith("linux"):
        return ""
    wanted = environment.get("QT_QPA_PLATFORM", "").partition(":")[0]
    if wanted in _WITHOUT_SCREEN:
        return ""
    if _has_wayland(environment):
        return ""
    if not environment.get("DISPLAY"):
        return (
            "There is no display: neither DISPLAY nor WAYLAND_DISPLAY names one. Start the program in a desktop session, or "
            "use the command line, e.g. phexplore forecast sdhc-2020-us."
        )
    if not _answers_x(environment["DISPLAY"]):
        return (
            f"The display {environment['DISPLAY']} does not answer. Start the program in a desktop session, or use the "
            "command line, e.g. phexplore forecast sdhc-2020-us."
        )
    return _missing_library()


def _has_wayland(environment: Mapping[str, str]) -> bool:
    name = environment.get("WAYLAND_DISPLAY", "")
    if not name:
        return False
    path = Path(name) if name.startswith("/") else Path(environment.get("XDG_RUNTIME_DIR", "/")) / name
    return _connects(str(path))


def _answers_x(display: str) -> bool:
    """Whether the X server of ``host:number.screen`` takes a connection."""
    host, _, rest = display.rpartition(":")
    number = rest.partition(".")[0]
    if not number.isdigit():
        return False
    if host in {"", "unix"}:
        path = f"/tmp/.X11-unix/X{number}"  # noqa: S108 - where X servers put their sockets
        return _connects(path) or _connects(f"\0{path}")
    try:
        with socket.create_connection((host.strip("[]"), _X_PORT + int(number)), timeout=_PATIENCE_S):
            return True
    except OSError:
        return False


def _connects(address: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(_PATIENCE_S)
        try:
            client.connect(address)
        except OSError:
            return False
    return True


def _missing_library() -> str:
    """Return what Qt's X11 part lacks; it would abort without a sentence."""
    try:
        ctypes.CDLL(_XCB_LIBRARY)
    except OSError:
        return (
            f"The system library {_XCB_LIBRARY} is missing, which windows need. Install it, on Debian with: "
            "apt-get install libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxkbcommon-x11-0."
        )
    return ""
