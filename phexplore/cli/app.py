"""The commands, and the one place where failures become sentences and exit statuses."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import typer

from phexplore import __version__
from phexplore.entry import COMPLETION
from phexplore.errors import CancelledError, PhexploreError, UnknownNameError
from phexplore.lazy import lazy
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.opening import refuse_irregular_target
from phexplore.preparing import heard_by
from phexplore.report.progress import ProgressLine
from phexplore.report.terminal import say
from phexplore.systems.registry import systems

DONE, EXPECTED_FAILURE, BAD_INPUT, PROGRAM_ERROR, CANCELLED = 0, 1, 2, 70, 130

PARTS = (
    ("presets library check forecast diff export formats", lazy("phexplore.cli.scenario_commands", "register")),
    (
        "solve less-noise compare frontier committee approve bundle verify sweep keys",
        lazy("phexplore.cli.decide_commands", "register"),
    ),
    ("synth data", lazy("phexplore.cli.data_commands", "register")),
    ("run report", lazy("phexplore.cli.run_commands", "register")),
)
"""Commands and what adds them: one that is named loads no module of another."""


class Window(Protocol):
    """How to open the window; given from above, because the command line does not know it."""

    def __call__(self, path: str | None) -> int:
        """Open the window on a file, return the exit status when it closes."""


_window: list[Window] = []


def gui(file: str = typer.Argument("", help="A project (.phx) or a production config.json to open.")) -> None:
    """Open the window.

    Example: phexplore gui proposal.phx
    """
    if not _window:
        raise PhexploreError("This installation has no window.", "Use the commands; phexplore --help lists them.")
    raise typer.Exit(_window[-1](file or None))


def _say_version(asked: bool) -> None:
    if asked:
        print(f"phexplore {__version__}")  # noqa: T201 - the terminal asked for it
        raise typer.Exit


def _of_the_program(
    version: bool = typer.Option(
        False, "--version", callback=_say_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Take the options that need no command."""


def program(first: str = "") -> typer.Typer:
    """Return the command line with the commands of every system that is known now.

    Args:
        first: word of the arguments; where it is a command of `PARTS`, those beside it in its module are enough.
    """
    app = typer.Typer(
        name="phexplore",
        help="Tune, forecast, simulate and hand over disclosure-avoidance parameters. Without a command: the window.",
        no_args_is_help=False,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "obj": lazy("phexplore.systems.sources", "load_scenario"),
        },
    )
    own = [register for names, register in PARTS if first in names.split()]
    for register in own or [register for _, register in PARTS]:
        register(app)
    if not own:
        for system in systems().values():
            if system.commands is not None:
                system.commands(app)
        lazy("phexplore.cli.demo_commands", "register")(app)
    app.command()(gui)
    app.callback()(_of_the_program)
    return app


def overview() -> str:
    """Return the help of the program, a line per command; no option of a command is made for it."""
    app = program()
    for command in app.registered_commands:
        command.callback = _without_options(command.callback)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            group.typer_instance.registered_commands = []
    shown = typer.main.get_command(app)
    return shown.get_help(typer.Context(shown, info_name=app.info.name, **shown.context_settings))


def _without_options(command: Callable[..., Any] | None) -> Callable[[], None]:
    def described() -> None:
        """Stand for the command."""

    described.__name__, described.__doc__ = (command.__name__, command.__doc__) if command else ("", "")
    return described


def run(arguments: list[str], window: Window | None = None) -> int:
    """Run the command line and return the exit status: 0 done, 1 expected failure, 2 bad input, 70 error of the program, 130 canceled.

    Args:
        arguments: of the command line, without the program's name.
        window: opens a file in the window; None where there is no window.
    """
    if window is not None:
        _window.append(window)
    try:
        if COMPLETION in os.environ:
            program()(prog_name="phexplore")
        if not arguments or _is_file(arguments[0]):
            arguments = ["gui", *arguments]
        if arguments in (["-h"], ["--help"]):
            print(overview())  # noqa: T201 - the terminal asked for it
            return DONE
        _refuse_impossible_names(arguments)
        if arguments[0] == "run":
            from phexplore.cli.run_options import with_words

            arguments = with_words(arguments)
        with (
            ProgressLine() as line,
            heard_by(line.prepare),
        ):
            status = program(arguments[0])(arguments, standalone_mode=False)
    except SystemExit as end:  # of a completion
        return end.code if isinstance(end.code, int) else DONE
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the edge of the program: the traceback goes to the log
        return _status_of(error)
    return status if isinstance(status, int) else DONE


_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def _refuse_impossible_names(arguments: list[str]) -> None:
    """Refuse a name that cannot stand in a file of ours, or be written to, before anything is computed for an hour."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            issue = Issue((argument,), "This name is not UTF-8 text.", "Rename the file.")
            raise InputProblemsError([issue]) from error
    for option, value in pairwise(arguments):
        if option == "--out" and not Path(value).is_dir():
            refuse_irregular_target(Path(value))


def _status_of(error: BaseException) -> int:
    """Print a failure and return its exit status."""
    match error:
        case typer.Abort() | KeyboardInterrupt() | CancelledError():
            say("Cancelled.")
            status = CANCELLED
        case InputProblemsError():
            for issue in error.issues:
                say(f"{issue.place}: {issue.sentence} {issue.remedy}")
            status = BAD_INPUT
        case PhexploreError():
            say(error.full)
            status = BAD_INPUT if isinstance(error, UnknownNameError) else EXPECTED_FAILURE
        case OSError() if not isinstance(error, BrokenPipeError) and error.filename is not None:
            # A name that no reader took for its own: too long, in a folder that may not be entered, on a disk that is full.
            say(f"{os.fsdecode(error.filename)}: {error.strerror}. Check the name, its folder and the space there.")
            status = BAD_INPUT
        case OSError() if isinstance(error, BrokenPipeError) or error.errno in _NO_ROOM:
            if not isinstance(error, BrokenPipeError):
                say(f"The answer could not be written: {error.strerror}. Make room, or write it to another place.")
            # Python would complain once more while it closes what nobody reads or what is full.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = EXPECTED_FAILURE
        case _:
            usage = _usage_error(error)
            status = _program_error(error) if usage is None else usage
    return status


def _program_error(error: BaseException) -> int:
    from phexplore.files.failure_log import FailureLog, failure_details, report_folder

    log, details = FailureLog(report_folder()), failure_details(error)
    where = f"the traceback in {log.path}" if log.write(details) else "this traceback"
    say(
        f"An error in phexplore stopped the command ({type(error).__name__}). Report it to the maintainers with {where}."
    )
    if where == "this traceback":
        say(*details.split("\n"))
    return PROGRAM_ERROR


def _is_file(argument: str) -> bool:
    return not argument.startswith("-") and (argument.endswith(".phx") or Path(argument).is_file())


def _usage_error(error: BaseException) -> int | None:
    """Print a usage error of the argument parser; None if it is another error."""
    show, status = getattr(error, "show", None), getattr(error, "exit_code", None)
    if show is None or not isinstance(status, int):
        return None
    shown = io.StringIO()
    show(file=shown)
    say(*shown.getvalue().rstrip("\n").split("\n"))
    return BAD_INPUT
