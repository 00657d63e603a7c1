from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest
from PySide6.QtGui import QGuiApplication

from phexplore.files.failure_log import KEPT_LOGS, FailureLog
from phexplore.gui.main import start
from phexplore.gui.main.crash_reports import CrashReport

BROUGHT_DOWN = """
import faulthandler, sys
from pathlib import Path
from phexplore.gui.main.crash_reports import CrashReport
print(repr(CrashReport(Path(sys.argv[1])).begin()), flush=True)
faulthandler._sigsegv()
"""


def bring_down(folder):
    return subprocess.run(
        [sys.executable, "-c", BROUGHT_DOWN, str(folder)], capture_output=True, text=True, check=False
    )


def test_that_a_crash_is_told_at_the_next_start_and_only_once(tmp_path) -> None:
    done = bring_down(tmp_path)
    assert done.returncode != 0
    assert done.stdout == "''\n"
    report = CrashReport(tmp_path)
    text = report.begin()
    assert "Segmentation fault" in text
    assert "<string>" in text  # where it was
    report.end()
    again = CrashReport(tmp_path)
    assert again.begin() == ""
    again.end()
    assert list(tmp_path.iterdir()) == []


def test_that_an_orderly_end_leaves_nothing(tmp_path) -> None:
    report = CrashReport(tmp_path / "new")
    assert report.begin() == ""
    report.end()
    report.end()
    assert list((tmp_path / "new").iterdir()) == []


def test_that_another_running_program_is_not_taken_for_a_crash(tmp_path) -> None:
    (tmp_path / "crash-1.txt").write_text("")
    report = CrashReport(tmp_path)
    assert report.begin() == ""
    report.end()
    assert (tmp_path / "crash-1.txt").exists()


def test_that_empty_reports_of_killed_programs_do_not_pile_up(tmp_path) -> None:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    (tmp_path / f"crash-{int(gone.stdout)}.txt").write_text("")
    report = CrashReport(tmp_path)
    assert report.begin() == ""
    report.end()
    assert list(tmp_path.iterdir()) == []


def test_that_a_program_that_failed_before_there_was_a_window_is_told_at_the_next_start(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("phexplore.files.failure_log.report_folder", lambda: tmp_path)
    monkeypatch.setattr(start, "_run", lambda *_arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        start.main(None)
    assert "ZeroDivisionError" in (tmp_path / "phexplore.log").read_text(encoding="utf-8")
    report = CrashReport(tmp_path)
    assert "ZeroDivisionError" in report.begin()
    report.end()


@pytest.mark.defect("T5")
@pytest.mark.skipif(os.name != "posix", reason="links and modes")
def test_that_records_of_failures_are_private_and_follow_no_link(tmp_path) -> None:
    log, report = FailureLog(tmp_path), tmp_path / f"crash-{os.getpid()}.txt"
    log.path.write_text("old\n")
    log.path.chmod(0o644)
    log.end_badly("new")
    assert log.path.read_text().startswith("old\n")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (log.path, report)] == [0o600, 0o600]
    target = tmp_path / "target"
    target.write_text("of somebody else")
    for path in (log.path, report):
        path.unlink()
        path.symlink_to(target)
    log.end_badly("new")
    crash = CrashReport(tmp_path)
    crash.begin()
    crash.end()
    assert target.read_text() == "of somebody else"


def test_that_the_log_stays_small_and_keeps_the_newest(tmp_path) -> None:
    log = FailureLog(tmp_path, largest=2_000)
    for number in range(200):
        log.write(f"failure {number}\n" + "x" * 100)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 1 + KEPT_LOGS
    assert all(file.stat().st_size <= 2_000 for file in files)
    assert "failure 199" in log.path.read_text(encoding="utf-8")
    assert "failure 0\n" not in "".join(file.read_text(encoding="utf-8") for file in files)


@pytest.mark.skipif(os.name != "posix", reason="device files")
def test_that_a_log_that_cannot_be_written_is_no_failure(tmp_path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    FailureLog(file / "below").write("lost")
    report = CrashReport(file / "below")
    assert report.begin() == ""
    report.end()


def test_that_the_window_tells_of_the_crash_and_hands_out_the_report(window) -> None:
    window.notice.tell_of_crash("Fatal Python error: Segmentation fault")
    assert "stopped unexpectedly last time" in window.notice.text
    window.notice._button.click()
    assert QGuiApplication.clipboard().text() == "Fatal Python error: Segmentation fault"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_that_pipes_in_place_of_log_and_reports_hold_nobody_up(tmp_path) -> None:
    """Opening a pipe that nobody reads or writes waits for ever: the other process would be ended by the time limit."""
    for name in ("phexplore.log", "crash-1.txt"):
        os.mkfifo(tmp_path / name)
    work = (
        "import os, sys; from pathlib import Path; from phexplore.files.failure_log import FailureLog; "
        "from phexplore.gui.main.crash_reports import CrashReport\n"
        "folder = Path(sys.argv[1]); os.mkfifo(folder / f'crash-{os.getpid()}.txt'); FailureLog(folder).end_badly('gone')\n"
        "report = CrashReport(folder); print(repr(report.begin())); report.end()"
    )
    done = subprocess.run(
        [sys.executable, "-c", work, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "''\n"
