"""The window, driven by itself and killed by whoever started it: each edit is acknowledged after the program made it."""

from __future__ import annotations

import os
import random
import sys
from fractions import Fraction
from pathlib import Path

from PySide6.QtCore import QTimer

from phexplore.gui.main import start
from phexplore.model.keys import parse_query
from phexplore.systems.phsafe.edits import set_budget

PATH, SEED = Path(sys.argv[1]), int(sys.argv[2])
QUERY = parse_query("PH3/state_A-G")


def drive(window) -> None:
    dice, value = random.Random(SEED), 0

    def step() -> None:
        nonlocal value
        value += 1
        assert window.session.edit(f"Set {value}", lambda s: set_budget(s, QUERY, Fraction(value))) is None
        os.write(1, f"{value}\n".encode())
        if dice.random() < 0.4:
            window.files.save()
            assert window.session.project.is_clean

    timer = QTimer(window)
    timer.timeout.connect(step)
    timer.start(0)


start.main(str(PATH), drive)
