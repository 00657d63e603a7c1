"""The program: ``phexplore`` opens the window, ``phexplore COMMAND`` works without one."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from pathlib import Path
from typing import NoReturn

from phexplore.entry import BUNDLE, COMPLETION, READER, WORKER

CANCELLED = 130


def start() -> NoReturn:
    """Be the program, and end this process by its exit status once everything that waited for its end is done.

    The interpreter is not taken apart: a thread of Arrow that then still reads from a file of Python's aborts the process or keeps it
    for ever, after the answer was printed. The window ends as Qt wants it.
    """
    status = 1

    def leave() -> None:
        try:
            if sys.stdout is not None:  # a program without a console has none
                sys.stdout.flush()
        except OSError as error:
            os.write(2, f"The answer could not be written: {error.strerror}.\n".encode())
            os._exit(status or 1)
        os._exit(status)

    if not asks_for_window(sys.argv[1:]):
        atexit.register(leave)  # first, so that it comes last
    status = main()
    sys.exit(status)


def main() -> int:
    """Run the command line and return the exit status."""
    arguments = sys.argv[1:]
    if arguments[:1] == [WORKER] and len(arguments) > 1:
        _work(arguments[1:])
    if arguments == [READER]:
        # Of a hundred rows each, the matrices of a spine take six times as long where threads wait for each other.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
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
    # What a command loads stays until its end: to look for garbage in it took a sixth of a short one. And the threads of
    # OpenBLAS would turn for 25 ms each before they sleep, whether or not they are ever given work.
    gc.set_threshold(200_000)
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    from phexplore.cli.app import run  # noqa: PLC0415 - workers and readers start through here too

    return run(arguments, _open_window)


def asks_for_window(arguments: list[str]) -> bool:
    """Return whether these arguments do nothing but open the window, on a file if one is named; a shell that completes a line asks for none."""
    if COMPLETION in os.environ:
        return False
    match arguments:
        case [] | ["gui"]:
            return True
        case ["gui", name]:
            return not name.startswith("-")
        case [name]:
            return not name.startswith("-") and (name.endswith(".phx") or Path(name).is_file())
        case _:
            return False


class _WithoutPandas:
    """Keeps pandas out of a worker: Arrow would load it, half a second, to ask of every array whether it is one of its."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        """Find no pandas; leave everything else to the others.

        Raises:
            ModuleNotFoundError: pandas is asked for.
        """
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _work(arguments: list[str]) -> NoReturn:
    """Be the worker of a run directory."""
    sys.meta_path.insert(0, _WithoutPandas())
    from phexplore.runs.place import parse_worker_arguments  # noqa: PLC0415 - as above
    from phexplore.runs.worker import main as worker  # noqa: PLC0415
    from phexplore.systems.registry import make_simulation  # noqa: PLC0415

    status = worker(*parse_worker_arguments(arguments), make_simulation)
    # Everything is written and flushed: taking the interpreter and its libraries apart would only cost the user a second.
    os._exit(status)


def _open_window(path: str | None) -> int:
    from phexplore.gui.main.start import main as window  # noqa: PLC0415 - Qt is loaded for the window only

    return window(path)


if __name__ == "__main__":
    start()
