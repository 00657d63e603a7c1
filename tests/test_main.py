from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from phexplore import __main__ as program
from phexplore.entry import READER, program_command
from phexplore.gui.run_manager import result_server


@pytest.mark.parametrize(
    ("arguments", "asks"),
    [
        ([], True),
        (["gui"], True),
        (["gui", "new.phx"], True),
        (["gui", "--help"], False),
        (["proposal.phx"], True),
        (["forecast"], False),
        (["forecast", "sdhc-2020-us"], False),
        (["--help"], False),
        (["--worker", "run"], False),
    ],
)
def test_that_the_window_is_told_from_commands(arguments, asks) -> None:
    assert program.asks_for_window(arguments) is asks


@pytest.mark.parametrize(
    ("asked", "words", "answer"),
    [
        ("complete_bash", "phexplore forec", "forecast"),
        ("complete_zsh", "phexplore report --f", "--format"),
        ("complete_bash", "phexplore spine b", "build"),
        ("source_bash", "", "_PHEXPLORE_COMPLETE=complete_bash"),
    ],
)
def test_that_a_shell_is_given_completions_and_no_window(asked, words, answer) -> None:
    code = (
        "import sys; from phexplore import __main__ as program\n"
        "program._open_window = lambda path: print('a window') or 7\n"
        "sys.argv = ['/usr/bin/phexplore']; program.start()"
    )
    line = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_TYPER_COMPLETE_ARGS": words}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={**os.environ, **line, "_PHEXPLORE_COMPLETE": asked},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert answer in done.stdout
    assert "a window" not in done.stdout


def test_that_an_existing_file_opens_the_window_under_any_name(tmp_path) -> None:
    file = tmp_path / "config"
    assert not program.asks_for_window([str(file)])
    file.write_text("{}")
    assert program.asks_for_window([str(file)])


@pytest.mark.parametrize(
    ("arguments", "opened"), [([], None), (["gui"], None), (["gui", "a.phx"], "a.phx"), (["a.phx"], "a.phx")]
)
def test_that_the_window_opens_without_the_commands(arguments, opened) -> None:
    code = (
        "import sys; from phexplore import __main__ as program\n"
        "program._open_window = lambda path: print(path, 'typer' in sys.modules) or 7\n"
        f"sys.argv = ['phexplore', *{arguments!r}]; sys.exit(program.main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, f"{opened} False\n")


def test_that_a_thread_that_still_reads_does_not_keep_a_command_from_ending() -> None:
    """A reader of Arrow waits for a file of Python's when the command is done: Python's own end would wait for ever, or abort."""
    code = (
        "import io, sys, threading, atexit, pyarrow\n"
        "from pyarrow import csv\n"
        "from phexplore import __main__ as program\n"
        "class Stream(io.RawIOBase):\n"
        "    first = True\n"
        "    def readable(self): return True\n"
        "    def read(self, size=-1):\n"
        "        if not self.first: asked.set(); threading.Event().wait()\n"
        "        self.first = False\n"
        "        return b'a\\n' + b'1\\n' * 200_000\n"
        "asked = threading.Event()\n"
        "def command():\n"
        "    atexit.register(print, 'tidied', end='')\n"
        "    file = pyarrow.PythonFile(Stream(), mode='r')\n"
        "    threading.Thread(target=lambda: list(csv.open_csv(file)), daemon=True).start()\n"
        "    asked.wait(30)\n"
        "    print('answer', end=' ')\n"
        "    return 3\n"
        "program.main = command; sys.argv = ['phexplore', 'presets']; program.start()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "answer tidied", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is played by a device of Linux")
def test_that_an_answer_for_which_there_is_no_room_is_one_sentence() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "phexplore", "presets"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "could not be written" in done.stderr


def test_that_a_reader_multiplies_small_matrices_in_one_thread(monkeypatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    monkeypatch.setattr(sys, "argv", ["phexplore", READER])
    monkeypatch.setattr(result_server, "main", lambda: os.environ["OPENBLAS_NUM_THREADS"])
    assert program.main() == "1"


def test_that_the_program_is_its_own_reader_of_results(tmp_path) -> None:
    """What a bundled program starts: the request of a run that is not there comes back with a sentence."""
    from phexplore.gui.binding.frames import Refused, frame, read_frame
    from phexplore.systems.run_results import RunRequest

    request = RunRequest(tmp_path / "no-run", "observed")
    with subprocess.Popen(
        [sys.executable, "-m", "phexplore", "--results"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        reader.stdin.write(frame(request))
        reader.stdin.flush()
        answer = read_frame(reader.stdout)
        reader.stdin.close()
        assert reader.wait(30) == 0
    assert isinstance(answer, Refused)
    assert "no-run" in answer.sentence


def test_that_a_process_beside_this_one_runs_nothing_that_lies_in_the_folder_it_is_started_in(tmp_path, monkeypatch):
    (tmp_path / "phexplore.py").write_text("raise SystemExit('this is not the program')")
    monkeypatch.chdir(tmp_path)
    told = subprocess.run(program_command("presets"), capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert "sdhc-2020-us" in told.stdout
