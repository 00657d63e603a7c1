"""The program: ``phexplore`` opens the window, ``phexplore COMMAND`` works without one."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return the exit status."""
    from phexplore.cli.app import run  # noqa: PLC0415 - a bundled program starts workers through here too

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
