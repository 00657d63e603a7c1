"""What the program is, its version, and what its privacy statements rest on."""

from __future__ import annotations

import platform

from PySide6.QtCore import qVersion
from PySide6.QtWidgets import QWidget

from phexplore import __version__
from phexplore.catalog.licences import parts
from phexplore.gui.dialogs.messages import Message

_SENTENCE = (
    "Tune, forecast, simulate and hand over the disclosure-avoidance parameters of census releases.\n\n"
    "Numbers that decide privacy are exact fractions. Margins of error speak of noise; truncation and simulation are shown "
    "apart. The program sends nothing anywhere."
)


def show_about(parent: QWidget | None) -> Message:
    """Show version, purpose, and the parts the program is made of with their licences."""
    system = (
        f"phexplore {__version__} (MIT)\nPython {platform.python_version()}\nQt {qVersion()}\n{platform.platform()}"
    )
    made_of = "\n".join(
        f"{part.name} {part.version}: {part.licence}" + (f" (option {part.option})" if part.option else "")
        for part in parts()
    )
    details = f"{system}\n\nMade of these parts, listed at the versions it was tested with:\n{made_of}"
    message = Message(parent, f"phexplore {__version__}", _SENTENCE, details=details)
    message.add_button("Close", is_main=True)
    message.open()
    return message
