from __future__ import annotations

import subprocess
import sys

import pytest
from window_areas import offered_areas


@pytest.mark.slow
def test_that_every_view_is_drawn_in_both_themes(tmp_path) -> None:
    command = [sys.executable, "packaging/screenshots", str(tmp_path), "--without-run"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    names = {f"{area.name.lower()}-{theme}.png" for area in offered_areas("phsafe") for theme in ("light", "dark")}
    own = ("overview", "budgets", "levels", "spine", "scenario", "experiment", "runs")
    names |= {f"topdown-{area}-{theme}.png" for area in own for theme in ("light", "dark")}
    steps = ("compare", "committee", "meeting", "approve", "bundle", "check")
    decisions = ("meeting", *(f"decision-{step}" for step in steps))
    names |= {f"{name}-{theme}.png" for name in decisions for theme in ("light", "dark")}
    names |= {f"spine-{tab}-{theme}.png" for tab in ("distance", "margins", "bypassed") for theme in ("light", "dark")}
    mechanisms = ("overview", "budgets", "scenario", "experiment", "runs", "results")
    for system in ("group-sizes", "subspace"):
        names |= {f"{system}-{area}-{theme}.png" for area in mechanisms for theme in ("light", "dark")}
    maps = {f"spine-map-{theme}.png" for theme in ("light", "dark")}  # where there are real blocks with shapes
    asked = ("solve", "trade", "rules", "vary", "studio", "published")
    names |= {f"targets-{tab}-{theme}.png" for tab in asked for theme in ("light", "dark")}
    names |= {f"topdown-targets-{tab}-{theme}.png" for tab in (*asked[:4], "tune") for theme in ("light", "dark")}
    assert {file.name for file in tmp_path.iterdir()} - maps == names
    sizes = [file.stat().st_size for file in tmp_path.iterdir()]
    assert min(sizes) > 10_000
