"""The program: ``phexplore`` opens the window, ``phexplore COMMAND`` works without one."""

from __future__ import annotations

import sys
from pathlib import Path

CANCELLED = 130
RESULTS = "--results"
"""Asks a bundled program to be its window's reader of results, as ``--worker`` asks it to be the worker of a run."""
BUNDLE = "--bundle"
"""Asks a bundled program to make, sign or check one bundle for its window."""


def main() -> int:
    """Run the command line and return the exit status."""
    arguments = sys.argv[1:]
    if arguments == [RESULTS]:
        from phexplore.gui.run_manager.result_server import main as serve  # noqa: PLC0415 - for this process only

        return serve()
    if arguments == [BUNDLE]:
        from phexplore.gui.decision.bundle_worker import main as carry_out  # noqa: PLC0415 - as above

        return carry_out()
    if asks_for_window(arguments):
        # Without loading the commands, which takes as long as the window itself.
        try:
            return _open_window(arguments[-1] if arguments not in ([], ["gui"]) else None)
        except KeyboardInterrupt:
            print("Cancelled.", file=sys.stderr)  # noqa: T201 - a terminal asked for it
            return CANCELLED
    from phexplore.cli.app import run  # noqa: PLC0415 - a bundled program starts workers through here too

    return run(arguments, _open_window)


def asks_for_window(arguments: list[str]) -> bool:
    """Return whether these arguments do nothing but open the window, on a file if one is named."""
    match arguments:
        case [] | ["gui"]:
            return True
        case ["gui", name]:
            return not name.startswith("-")
        case [name]:
            return not name.startswith("-") and (name.endswith(".phx") or Path(name).is_file())
        case _:
            return False


def _open_window(path: str | None) -> int:
    from phexplore.gui.main.start import main as window  # noqa: PLC0415 - Qt is loaded for the window only

    return window(path)


if __name__ == "__main__":
    sys.exit(main())
