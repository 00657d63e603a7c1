"""Random use of the window in a process of its own, by seed and by threshold of the garbage collector: nothing may go wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
SECONDS = 60
"""Of processor time, each."""


@pytest.mark.parametrize("thresholds", ["700,10,10", "100,5,2", "10000,50,50"])
@pytest.mark.parametrize("seed", range(1, 7))
def test_that_random_use_of_the_window_finds_no_error_no_qt_warning_and_no_crash(tmp_path, seed, thresholds):
    command = [sys.executable, "-X", "faulthandler", Path(__file__).with_name("monkey.py")]
    done = subprocess.run(
        [*map(str, command), str(tmp_path), str(seed), str(SECONDS), thresholds],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-8000:]
    assert f"seed {seed}, " in done.stdout
