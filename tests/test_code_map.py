"""The map of the code shows the tree as it is: every package, its purpose, its layer, and about its size."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| (?P<layer>\d*) ?\| `(?P<name>[^`]+)` \| (?P<purpose>.*) \| (?P<lines>[\d,]+) \|$", re.MULTILINE)
SHIFT = 1000
"""Lines by which a package may have grown or shrunk since the map was made: changes are many, and the map is for people."""


def derived():
    """Return the map as the script would write it now."""
    code = "import derive_code_map; print(derive_code_map.page(), end='')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "packaging", capture_output=True, text=True, check=True
    )
    return done.stdout


def table(page):
    """Return what a page says of every package, without sizes, and the sizes."""
    rows = [row.groupdict() for row in ROW.finditer(page)]
    return [(row["layer"], row["name"], row["purpose"]) for row in rows], {
        row["name"]: int(row["lines"].replace(",", "")) for row in rows
    }


def test_that_the_map_is_that_of_the_tree():
    shown, sizes = table((ROOT / "docs" / "code_map.md").read_text(encoding="utf-8"))
    now, counted = table(derived())
    assert shown == now, "run packaging/derive_code_map.py"
    far = {
        name: (sizes[name], size) for name, size in counted.items() if abs(size - sizes[name]) > max(SHIFT, size / 3)
    }
    assert far == {}, "run packaging/derive_code_map.py"


def test_that_every_package_is_on_the_map_with_a_purpose():
    shown, _ = table((ROOT / "docs" / "code_map.md").read_text(encoding="utf-8"))
    packages = {
        f"{place.parent.relative_to(ROOT / 'phexplore').as_posix()}/"
        for place in (ROOT / "phexplore").rglob("*/__init__.py")
    }
    assert packages <= {name for _, name, _ in shown}
    assert [name for _, name, purpose in shown if not purpose] == []
