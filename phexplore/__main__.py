"""The program: ``phexplore`` opens the window, ``phexplore COMMAND`` works without one."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return the exit status."""
    from phexplore.cli.app import run  # noqa: PLC0415 - a bundled program starts workers through here too

    return run(sys.argv[1:], _open_window)


def _open_window(path: str | None) -> int:
    from phexplore.gui.main.start import main as window  # noqa: PLC0415 - Qt is loaded for the window only

    return window(path)


if __name__ == "__main__":
    sys.exit(main())
