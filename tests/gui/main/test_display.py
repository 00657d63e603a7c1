from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from phexplore.gui.main import display
from phexplore.gui.main.display import display_problem


@pytest.fixture
def libraries(monkeypatch):
    monkeypatch.setattr(display, "_missing_library", lambda: "")


def test_that_a_machine_without_a_display_gets_a_sentence() -> None:
    problem = display_problem({}, "linux")
    assert "no display" in problem
    assert "phexplore forecast" in problem


@pytest.mark.parametrize("plugin", ["offscreen", "vnc:port=5931", "minimal"])
def test_that_platforms_without_a_screen_need_none(plugin) -> None:
    assert display_problem({"QT_QPA_PLATFORM": plugin}, "linux") == ""


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_that_other_systems_bring_their_own_screen(platform) -> None:
    assert display_problem({}, platform) == ""


@pytest.mark.parametrize("name", [":987", "localhost:987", "nonsense", "unix:987.0"])
def test_that_a_display_that_does_not_answer_is_named(name, libraries) -> None:
    assert name in display_problem({"DISPLAY": name}, "linux")


def test_that_a_wayland_socket_must_be_listening(tmp_path, libraries) -> None:
    environment = {"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": str(tmp_path)}
    (tmp_path / "wayland-0").touch()
    assert display_problem(environment, "linux")
    (tmp_path / "wayland-0").unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "wayland-0"))
        server.listen()
        assert display_problem(environment, "linux") == ""


def test_that_an_x_server_on_an_abstract_socket_is_found(libraries) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0/tmp/.X11-unix/X4711")
        server.listen()
        assert display_problem({"DISPLAY": ":4711.0"}, "linux") == ""


def test_that_a_missing_system_library_is_named_with_its_packages(monkeypatch) -> None:
    monkeypatch.setattr(display, "_XCB_LIBRARY", "libno-such-thing.so.0")
    assert "apt-get install" in display._missing_library()


def test_that_the_program_ends_with_a_sentence_instead_of_an_abort() -> None:
    hidden = {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    code = "import sys; from phexplore.gui.main.start import main; sys.exit(main())"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "There is no display" in ended.stderr
    assert "Traceback" not in ended.stderr
