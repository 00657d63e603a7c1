"""The window of a process of its own: it says that it is shown, then waits for Ctrl+C."""

from __future__ import annotations

import os
import sys

from PySide6.QtCore import QTimer

from phexplore.gui.main import start

sys.exit(start.main(None, lambda window: QTimer.singleShot(0, window, lambda: os.write(1, b"shown\n"))))
