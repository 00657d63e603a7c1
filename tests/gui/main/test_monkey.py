"""Random use of the window in a process of its own, by seed and by threshold of the garbage collector: nothing may go wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE, WHOLE = 6, 200
"""Seconds of processor time: of the sample in CI, and of each of the runs of ``make test-slow``, an hour together."""
THRESHOLDS = ("700,10,10", "100,5,2", "10000,50,50")


def use_at_random(home: Path, seed: int, seconds: int, thresholds: str) -> None:
    command = [sys.executable, "-X", "faulthandler", Path(__file__).with_name("monkey.py")]
    done = subprocess.run(
        [*map(str, command), str(home), str(seed), str(seconds), thresholds],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-8000:]
    assert f"seed {seed}, " in done.stdout


def test_that_a_sample_of_random_use_of_the_window_finds_nothing(tmp_path):
    use_at_random(tmp_path, 2, SAMPLE, "100,5,2")


@pytest.mark.slow
@pytest.mark.parametrize("thresholds", THRESHOLDS)
@pytest.mark.parametrize("seed", range(1, 7))
def test_that_random_use_of_the_window_finds_no_error_no_qt_warning_and_no_crash(tmp_path, seed, thresholds):
    use_at_random(tmp_path, seed, WHOLE, thresholds)
