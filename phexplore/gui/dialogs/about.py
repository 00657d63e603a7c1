"""What the program is, its version, and what its privacy statements rest on."""

from __future__ import annotations

import platform

from PySide6.QtCore import qVersion
from PySide6.QtWidgets import QWidget

from phexplore import __version__
from phexplore.gui.dialogs.messages import Message

_SENTENCE = (
    "Tune, forecast, simulate and hand over the disclosure-avoidance parameters of census releases.\n\n"
    "Numbers that decide privacy are exact fractions. Margins of error speak of noise; truncation and simulation are shown "
    "apart. The program sends nothing anywhere."
)


def show_about(parent: QWidget | None) -> Message:
    """Show version and purpose."""
    details = f"phexplore {__version__}\nPython {platform.python_version()}\nQt {qVersion()}\n{platform.platform()}"
    message = Message(parent, f"phexplore {__version__}", _SENTENCE, details=details)
    message.add_button("Close", is_main=True)
    message.open()
    return message
