"""The systems a scenario can be of, as the window tells them apart. No Qt."""

from __future__ import annotations

import enum
from typing import assert_never

from phexplore.model.group_sizes import GroupSizes
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import Subspace
from phexplore.model.topdown import TopDown


class System(enum.Enum):
    """One way to protect a release. The value is the title."""

    PHSAFE = "S-DHC (PHSafe)"
    TOPDOWN = "TopDown"
    GROUP_SIZES = "Hierarchical group sizes"
    SUBSPACE = "Subspace differential privacy"


def system_of(scenario: Scenario) -> System:
    """Return the system whose parameters a scenario holds."""
    match scenario.method:
        case PhSafe():
            return System.PHSAFE
        case TopDown():
            return System.TOPDOWN
        case GroupSizes():
            return System.GROUP_SIZES
        case Subspace():
            return System.SUBSPACE
        case _:
            assert_never(scenario.method)
