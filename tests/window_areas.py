"""Which areas the window lists for a system."""

from __future__ import annotations

from phexplore.gui.binding.areas import AREAS
from phexplore.gui.systems.group_sizes.room import GroupSizesRoom
from phexplore.gui.systems.phsafe.room import PhSafeRoom
from phexplore.gui.systems.subspace.room import SubspaceRoom
from phexplore.gui.systems.topdown.room import TopDownRoom

_ROOMS = {"phsafe": PhSafeRoom, "topdown": TopDownRoom, "group-sizes": GroupSizesRoom, "subspace": SubspaceRoom}


def offered_areas(system):
    """Return the areas of a system, from top to bottom."""
    return tuple(area for area in AREAS if area not in _ROOMS[system].hidden)
