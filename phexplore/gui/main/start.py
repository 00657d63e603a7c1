"""Start of the window: look for a screen, open the project, show, and stay alive whatever happens."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from phexplore.errors import PhexploreError
from phexplore.gui.main.display import display_problem
from phexplore.model.issues import InputProblemsError
from phexplore.text.escapes import visible

if TYPE_CHECKING:
    from phexplore.gui.binding.settings import Settings
    from phexplore.gui.main.project_files import Opening
    from phexplore.gui.main.window import MainWindow

DONE, EXPECTED_FAILURE, BAD_INPUT = 0, 1, 2
_SCREEN_PART = 0.88
"""Of a screen with room, at a first start."""
_LARGEST = 1680, 1050


def main(path: str | None = None, on_shown: Callable[[MainWindow], object] | None = None) -> int:
    """Open the window on a project, a parameter file, or a demonstration; return the exit status.

    Args:
        path: file to open, None for a demonstration project.
        on_shown: called with the window once it is shown, before its events are handled; for programs that drive it.
    """
    if problem := display_problem(os.environ):
        print(problem, file=sys.stderr)  # noqa: T201 - there is no window to say it in
        return EXPECTED_FAILURE
    gc.disable()  # what is loaded stays: to look for garbage in it took a twentieth of the start
    try:
        return _run(Path(path) if path else None, on_shown)
    except Exception as error:
        # Whoever started it with a click sees nothing of a terminal: the next start tells.
        from phexplore.files.failure_log import FailureLog, failure_details, report_folder

        FailureLog(report_folder()).end_badly(failure_details(error))
        raise


def _run(path: Path | None, on_shown: Callable[[MainWindow], object] | None) -> int:
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from phexplore.files.failure_log import FailureLog, report_folder
    from phexplore.gui.binding.collector import collector
    from phexplore.gui.binding.settings import Settings
    from phexplore.gui.dialogs.messages import show_failure
    from phexplore.gui.main.crash_reports import CrashReport
    from phexplore.gui.main.failures import FailureHook
    from phexplore.gui.main.importing import PROJECT_SUFFIX
    from phexplore.gui.main.project_files import first_project, scratch_folder
    from phexplore.gui.main.window import MainWindow
    from phexplore.gui.theme.icons import program_icon

    application = QApplication.instance() or QApplication(sys.argv[:1])
    collector().hold()
    application.setApplicationName("phexplore")
    application.setOrganizationName("phexplore")
    QApplication.setDesktopFileName("phexplore")
    QApplication.setWindowIcon(program_icon())
    settings = Settings()
    _dress(settings)
    damaged: Path | None = None
    try:
        opening = first_project(path)
    except PhexploreError as error:
        if path is None or path.suffix != PROJECT_SUFFIX or not path.is_file():
            return _say_why(error)
        # Whoever opened it with a click has no terminal to read, and there may be something left to open.
        damaged, opening = path, first_project(None)
    gc.freeze()
    window = MainWindow(opening.project, settings, scratch_folder() / "runs")
    log, crashes = FailureLog(report_folder()), CrashReport(report_folder())
    hook = FailureHook(
        lambda sentence, details: show_failure(window, "Something went wrong", sentence, details=details),
        lambda: window.session.project.flush(),  # noqa: PLW0108 - of the project that is open then
        window,
        record=log.write,
    )
    hook.install()
    if report := crashes.begin():
        log.write(report)
        QTimer.singleShot(0, window, lambda: window.notice.tell_of_crash(report))
    if not window.is_placed and not _fit_screen(window):
        window.showMaximized()
    else:
        window.show()
    _greet(window, opening, damaged, crashed=bool(report))
    if on_shown is not None:
        on_shown(window)
    QTimer.singleShot(0, window, collector().release)
    stop_listening = _close_on_interrupt(window)
    try:
        return application.exec()
    finally:
        stop_listening()
        hook.remove()
        crashes.end()


def _close_on_interrupt(window: MainWindow) -> Callable[[], None]:
    """Let Ctrl+C in the terminal close the window as its close button does; return what ends that.

    Python handles a signal between two of its instructions, and none runs while Qt waits for events: each signal also wakes Qt. The
    default handler would raise `KeyboardInterrupt` inside whatever slot happens to run, and Qt drops what a slot raises.
    """
    import signal
    import socket

    from PySide6.QtCore import QSocketNotifier

    awake, wake = socket.socketpair()
    for end in (awake, wake):
        end.setblocking(False)
    notifier = QSocketNotifier(awake.fileno(), QSocketNotifier.Type.Read, window)
    notifier.activated.connect(lambda *_: awake.recv(1))
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    before = signal.signal(signal.SIGINT, lambda *_: window.close())

    def stop() -> None:
        signal.signal(signal.SIGINT, before)
        signal.set_wakeup_fd(-1)
        notifier.setEnabled(False)
        for end in (awake, wake):
            end.close()

    return stop


def _dress(settings: Settings) -> None:
    """Look as the user left it."""
    from phexplore.gui.binding.settings import DEPTH, NAMES, NUMBERS, TEXT_SIZE, THEME
    from phexplore.gui.theme.appearance import appearance

    look = appearance()
    look.set_scale(settings.read(TEXT_SIZE))
    look.write_numbers(settings.read(NUMBERS))
    look.call_things(settings.read(NAMES))
    look.show_depth(settings.read(DEPTH))
    look.choose(settings.read(THEME))


def _fit_screen(window: MainWindow) -> bool:
    """Take most of a large screen; return whether the screen shows the whole window with a frame around it."""
    from PySide6.QtCore import QSize

    from phexplore.gui.theme.metrics import FRAME_HEIGHT

    room, size = window.screen().availableSize(), window.size()
    wanted = size.expandedTo((room * _SCREEN_PART).boundedTo(QSize(*_LARGEST)))
    if room.width() < wanted.width() or room.height() < wanted.height() + FRAME_HEIGHT:
        return False
    window.resize(wanted)
    return True


def _greet(window: MainWindow, opening: Opening, damaged: Path | None, *, crashed: bool) -> None:
    """Say what there is to say about the project, once events are handled; look at a damaged file with the user."""
    from PySide6.QtCore import QTimer

    if opening.project.path is not None:
        window.settings.remember_file(opening.project.path)
        window.commands.refresh_recent()
    if opening.note:
        QTimer.singleShot(0, window, lambda: window.files.noted.emit(opening.note))
    else:
        QTimer.singleShot(0, window, lambda: _tell_of_abandoned_runs(window))
    QTimer.singleShot(0, window, window.session.tell_trouble)
    QTimer.singleShot(0, window, lambda: _offer_unsaved(window))
    if not crashed and damaged is None:
        QTimer.singleShot(0, window, window.commands.offer_tour)
    if damaged is not None:
        QTimer.singleShot(0, window, lambda: window.files.open(damaged))


def _tell_of_abandoned_runs(window: MainWindow) -> None:
    from phexplore.gui.main.project_files import abandoned_runs_sentence

    if sentence := abandoned_runs_sentence():
        window.notice.warn(sentence)


def _offer_unsaved(window: MainWindow) -> None:
    """Offer the project that a program that ended unexpectedly left."""
    from phexplore.gui.main.project_files import left_unsaved

    opened = window.session.project.path
    recent = [path for path in window.settings.recent_files() if path != opened]
    if (left := left_unsaved(recent, opened)) is not None:
        question, path = left
        window.notice.offer_unsaved(question, lambda: window.files.open(path))


def _say_why(error: PhexploreError) -> int:
    """Say on the terminal why there is no window; return the exit status."""
    if isinstance(error, InputProblemsError):
        for issue in error.issues:
            print(visible(f"{issue.place}: {issue.sentence} {issue.remedy}"), file=sys.stderr)  # noqa: T201 - no window yet
        return BAD_INPUT
    print(visible(error.full), file=sys.stderr)  # noqa: T201 - no window yet
    return EXPECTED_FAILURE
