"""Which areas the window lists for a system, and the way of the Tab key through it."""

from __future__ import annotations

from PySide6.QtCore import QObject

from phexplore.gui.binding.areas import AREAS
from phexplore.gui.systems.group_sizes.room import GroupSizesRoom
from phexplore.gui.systems.phsafe.room import PhSafeRoom
from phexplore.gui.systems.subspace.room import SubspaceRoom
from phexplore.gui.systems.topdown.room import TopDownRoom

_ROOMS = {"phsafe": PhSafeRoom, "topdown": TopDownRoom, "group-sizes": GroupSizesRoom, "subspace": SubspaceRoom}


def offered_areas(system):
    """Return the areas of a system, from top to bottom."""
    return tuple(area for area in AREAS if area not in _ROOMS[system].hidden)


def focus_chain(first):
    """Return the widgets of a window in the order of its Tab key, those it passes over, too.

    PySide takes the next widget for a child of the one that was asked, and lets go of it when that one is deleted: what is
    on the screen would count as gone. Each is told its parent again.
    """
    chain, widget = [first], first.nextInFocusChain()
    while widget is not None and widget is not first:
        chain.append(widget)
        widget = widget.nextInFocusChain()
    for widget in chain:
        QObject.setParent(widget, widget.parent())  # the same as before: Qt itself does nothing
    return chain
