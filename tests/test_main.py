from __future__ import annotations

import subprocess
import sys

import pytest

from phexplore import __main__ as program


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
