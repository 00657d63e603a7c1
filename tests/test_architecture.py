"""The rules of the house that linters do not know."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "phexplore"
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES = 700
OPEN_ENDS = re.compile("|".join(["TO" + "DO", "FIX" + "ME", "NotImplemented" + "Error"]))
WINDOW_WORDS = re.compile("PySide6|shiboken6")
BLOCKING = re.compile(r"processEvents\(|(?<!application)\.exec\(\)|time\.sleep\(")
VAGUE = {"utils", "util", "common", "helpers", "helper", "core", "base", "manager", "misc"}


MOST_METHODS = 20
LARGE_CLASSES = {"Project": 34, "MarginSpace": 23}
"""Classes with more, and how many they may have: at most five."""
DISPATCH = re.compile(
    r"isinstance\([^)]*\b(PhSafe|TopDown|Subspace|GroupSizes)\b"
    r"|case (PhSafe|TopDown|Subspace|GroupSizes)\("
    r"|System\.(PHSAFE|TOPDOWN|GROUP_SIZES|SUBSPACE)"
)
"""Asking which system a scenario holds."""


def offenders(pattern, modules):
    return [
        f"{module.relative_to(PACKAGE)}:{number}"
        for module in modules
        for number, line in enumerate(module.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]


def test_that_the_rules_look_at_the_whole_program():
    assert len(MODULES) > 150


def test_that_nothing_is_left_open():
    assert offenders(OPEN_ENDS, MODULES) == []


def test_that_only_the_window_names_qt():
    outside = [module for module in MODULES if "gui" not in module.relative_to(PACKAGE).parts[:1]]
    assert offenders(WINDOW_WORDS, outside) == []


def test_that_nothing_blocks_the_event_loop():
    inside = [module for module in MODULES if "gui" in module.relative_to(PACKAGE).parts[:1]]
    assert offenders(BLOCKING, inside) == []


def test_that_no_module_is_too_long():
    long = {str(m): n for m in MODULES if (n := len(m.read_text(encoding="utf-8").splitlines())) > MOST_LINES}
    assert long == {}


def test_that_few_classes_do_much():
    sizes = {
        node.name: sum(isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) for part in node.body)
        for module in MODULES
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    assert len(LARGE_CLASSES) <= 5
    assert {name: size for name, size in sizes.items() if size > LARGE_CLASSES.get(name, MOST_METHODS)} == {}


def test_that_only_rooms_know_which_system_a_scenario_holds():
    rooms = (PACKAGE / "systems", PACKAGE / "gui" / "systems")
    assert (
        offenders(
            DISPATCH,
            [each for each in MODULES if not each.is_relative_to(rooms[0]) and not each.is_relative_to(rooms[1])],
        )
        == []
    )


def test_that_every_module_says_what_is_in_it():
    assert [str(module) for module in MODULES if set(module.relative_to(PACKAGE).with_suffix("").parts) & VAGUE] == []


def test_that_no_path_of_a_machine_is_in_the_sources():
    places = [PACKAGE, PACKAGE.parent / "resources", PACKAGE.parent / "packaging", PACKAGE.parent / "docs"]
    pattern = re.compile(r"/(?:home|root|work|Users)/\w+")
    texts = {".py", ".md", ".toml", ".json", ".sh", ".csv", ".html", ".css", ".lock"}
    files = [file for place in places for file in place.rglob("*") if file.suffix in texts]
    assert [str(file) for file in files if pattern.search(file.read_text(encoding="utf-8", errors="replace"))] == []


ENGINE = [
    "cli.app",
    "systems.registry",
    "document.project",
    "runs.worker",
    "files.journal",
    "systems.registry",
    "data.validation",
]


@pytest.mark.parametrize("module", ENGINE)
def test_that_the_engine_runs_without_qt(module):
    code = f"import sys; sys.modules.update(PySide6=None, shiboken6=None); import phexplore.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
