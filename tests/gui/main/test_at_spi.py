"""A journey in a real window on a virtual screen, heard through AT-SPI as a screen reader hears it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from phexplore.document.project import Project
from phexplore.model.workbook import Workbook
from phexplore.systems.registry import presets

CLIENT = Path(__file__).with_name("at_spi_client.py")
SYSTEM_PYTHON = "/usr/bin/python3"
PROGRAMS = ("Xvfb", "openbox", "dbus-daemon", "xdotool", SYSTEM_PYTHON)
STEPS = (
    ("The window opens on Overview; Ctrl+2 goes to Budgets", "ctrl+2", "Budgets"),
    ("Tab goes to the search", "until:Search the budget table", "Search the budget table"),
    ("A member types the name of a table", "type:Children", "of 46 rows"),
    ("Tab goes on to the table", "until:table cell", "table cell"),
    ("Down goes to the next row", "Down", "Children by household type (Nation, by race): Table:"),
    ("Tab goes on to the sliders of the row", "until:Margin of error of the row", "people"),
    ("Right moves the margin", "Right", "people"),
    ("", "tree", ""),
    ("Ctrl+1 goes back to Overview", "ctrl+1", "Overview"),
    ("Tab goes to the first picture", "until:picture, chart", "picture, chart"),
    ("Down walks its marks", "Down", "people"),
    ("Down again", "Down", "people"),
    ("Ctrl+R opens the form of a run", "ctrl+r", "Runs"),
    ("Tab goes to its button", "until:Start", "Start"),
    ("Space starts it; nothing else is pressed", "space", "complete"),
)
"""What a person does, keys, and words that have to be heard."""

STEPS_OF_A_RUN = (
    ("The window opens on Overview; Ctrl+R opens the form of a run", "ctrl+r", "Runs, list item"),
    ("Tab goes to its button", "until:Start run, push button", "Start run"),
    ("Ctrl+1 goes back to Overview", "ctrl+1", "Overview"),
    ("Tab goes to the first picture", "until:picture, chart", "picture, chart"),
    ("Down walks its marks", "Down", "picture, chart"),
    ("Ctrl+R opens the form of a run", "ctrl+r", "Runs"),
    ("Tab goes to its button", "until:Start run, push button", "Start run"),
    ("Space starts it; nothing else is pressed", "space", "is complete"),
)


def reason_to_skip() -> str:
    """Return what this computer lacks."""
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        return f"not installed: {', '.join(missing)}"
    found = subprocess.run([SYSTEM_PYTHON, "-c", "import pyatspi"], capture_output=True, check=False)
    return "" if found.returncode == 0 else "the system's Python has no pyatspi (python3-pyatspi)"


@contextmanager
def running(*command: str, **how):
    process = subprocess.Popen(command, **how)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)
        if process.stdout is not None:
            process.stdout.close()


@pytest.fixture
def screen(tmp_path):
    """A virtual screen with a window manager, a bus of its own and an empty home directory."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ExitStack() as stack:
        read, write = os.pipe()
        size = ("-screen", "0", "1366x768x24", "-nolisten", "tcp")
        stack.enter_context(running("Xvfb", "-displayfd", str(write), *size, pass_fds=(write,), **quiet))
        os.close(write)
        with os.fdopen(read) as said:
            display = f":{said.readline().strip()}"
        environment = {
            name: value for name, value in os.environ.items() if name not in {"QT_QPA_PLATFORM", "WAYLAND_DISPLAY"}
        } | {
            "DISPLAY": display,
            "HOME": str(tmp_path),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "XDG_DATA_HOME": str(tmp_path / "data"),
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "LANG": "C.UTF-8",
        }
        bus = stack.enter_context(
            running(
                "dbus-daemon",
                "--session",
                "--nofork",
                "--print-address=1",
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        )
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()
        stack.enter_context(running("openbox", env=environment, **quiet))
        yield environment


def journey(screen, project, steps=STEPS):
    """Return what is heard on a journey, step by step."""
    with running(sys.executable, "-m", "phexplore", str(project), env=screen) as program:
        window = ("xdotool", "search", "--sync", "--onlyvisible", "--pid", str(program.pid))
        subprocess.run(window, env=screen, check=True, capture_output=True, timeout=120)
        heard = subprocess.run(
            [SYSTEM_PYTHON, str(CLIENT)],
            env=screen,
            input=json.dumps(steps),
            capture_output=True,
            text=True,
            timeout=600,
            check=True,
        )
    return json.loads(heard.stdout)


def as_text(heard) -> str:
    """Return the transcript as people read it: the steps of docs/spoken_journey.md."""
    heard_as = {"state-changed": "focus", "active-descendant-changed": "focus", "property-change": "change"}
    lines = []
    for step in heard:
        if "said" in step:
            verb, _, rest = step["keys"].partition(":")
            keys = {"until": "`Tab`, as often as it takes", "type": f"`{rest}`"}.get(verb, f"`{verb}`")
            lines += [f"**{step['does']}** ({keys})", ""]
            said = [f"- {heard_as.get(kind, kind)}: {' / '.join(words.splitlines())}" for kind, words in step["said"]]
            # a line of text tells its focus twice, which a reader says once
            lines += [line for before, line in zip(["", *said], said, strict=False) if line != before]
            lines += [""]
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_that_a_journey_is_heard_from_the_first_tab_to_the_finished_run(screen, tmp_path) -> None:
    scenario = presets()["sdhc-2020-us"].scenario
    project = Project.new(Workbook((scenario,), scenario.name))
    project.save(tmp_path / "town.phx")
    project.close()
    heard = journey(screen, tmp_path / "town.phx")
    print(as_text(heard))
    said = [step for step in heard if "said" in step]
    assert [step["keys"] for step in said] == [keys for _, keys, _ in STEPS if keys != "tree"]
    silent = [step["does"] for step in said if not any(step["wanted"] in words for _, words in step["said"])]
    assert silent == []
    (tree,) = (step["tree"] for step in heard if "tree" in step)
    place = {(node["role"], node["name"]): number for number, node in reversed(list(enumerate(tree)))}
    order = [
        place["text", "Search the budget table"],
        place["table", "Budgets"],
        place["slider", "Margin of error of the row"],
        min(place[key] for key in place if key[1] == "Inspector"),
        min(place[key] for key in place if key[1].startswith("Show the issues")),
    ]
    assert order == sorted(order)
    value, smallest, largest = tree[order[2]]["value"]
    assert smallest < 500 < value < 520 < largest  # people: the margin of 500 was moved one stop up
    assert f"{round(value)} people" in tree[order[2]]["description"]
    assert [node["name"] for node in tree if node["role"] == "combo box" and not node["labels"]] == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["pl94-2020-persons-us", "group-sizes-census-2010", "counties-invariant-2010"])
def test_that_marks_and_the_end_of_a_run_are_heard_in_every_other_system(screen, tmp_path, name) -> None:
    scenario = presets()[name].scenario
    project = Project.new(Workbook((scenario,), scenario.name))
    project.save(tmp_path / "town.phx")
    project.close()
    heard = journey(screen, tmp_path / "town.phx", STEPS_OF_A_RUN)
    print(as_text(heard))
    silent = [step["does"] for step in heard if not any(step["wanted"] in words for _, words in step["said"])]
    assert (len(heard), silent) == (len(STEPS_OF_A_RUN), [])
    walked, ended = heard[4]["said"], heard[-1]["said"]
    assert [words for kind, words in walked if kind == "announcement"]
    assert any(kind == "announcement" and "is complete" in words for kind, words in ended)
