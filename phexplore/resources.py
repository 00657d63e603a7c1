"""Location of the files shipped with the program, installed or in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def resource(name: str) -> Path:
    """Return the path of a shipped file, e.g. ``resource("tables/ph1_num.toml")``.

    Raises:
        FileNotFoundError: no such file was shipped.
    """
    for root in (_PACKAGE / "_resources", _PACKAGE.parent / "resources"):
        if (path := root / name).exists():
            return path
    raise FileNotFoundError(f"the program was installed without its file {name!r}")


def manual_root() -> Path:
    """Return the folder that names of the manual's pages begin at, e.g. ``manual_root() / "docs/start.md"``."""
    shipped = _PACKAGE / "_manual"
    return shipped if shipped.is_dir() else _PACKAGE.parent
