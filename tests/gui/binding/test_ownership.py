"""The ownership rule of Qt objects (docs/extending.md), looked for in the source of the window."""

from __future__ import annotations

import ast
from pathlib import Path

import phexplore.gui

ROOT = Path(phexplore.gui.__file__).parent
OWNED = {"QTimer", "QSocketNotifier", "QProcess", "QPropertyAnimation", "QThread", "QFileSystemWatcher"}
"""Their events arrive by themselves, whether or not Python still holds them."""


def calls():
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def test_that_whatever_gets_events_by_itself_has_a_parent_and_a_later_call_has_a_context():
    without = []
    for place, node in calls():
        called = node.func
        if isinstance(called, ast.Name) and called.id in OWNED and not node.args:
            without.append((place, called.id))
        if isinstance(called, ast.Attribute) and called.attr == "singleShot" and len(node.args) < 3:
            without.append((place, "singleShot"))
        if isinstance(called, ast.Attribute) and called.attr.startswith("setItemDelegate"):
            made = node.args[-1]
            if isinstance(made, ast.Call) and not made.args:
                without.append((place, called.attr))
    assert without == []
