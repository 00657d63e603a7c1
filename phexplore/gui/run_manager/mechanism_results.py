"""What can be read of a run of group sizes or of releases under exact sums: plain values that cross from the reader to the window."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

from phexplore.figures.figure import Figure
from phexplore.gui.binding.tiles import TileContent
from phexplore.runs.states import RunState


class MechanismTab(enum.Enum):
    """A picture of results. The value is the word on its tab."""

    ERRORS = "Errors"
    SHAPE = "Distribution"
    TRUTH = "Against true size"
    SIZES = "By group size"
    PROMISES = "Promises"


SIZE_TABS = (MechanismTab.ERRORS, MechanismTab.SHAPE, MechanismTab.TRUTH, MechanismTab.SIZES, MechanismTab.PROMISES)
RELEASE_TABS = (MechanismTab.ERRORS, MechanismTab.SHAPE, MechanismTab.TRUTH, MechanismTab.PROMISES)


@dataclass(frozen=True, slots=True)
class MechanismRequest:
    """What is to be read of which run.

    Attributes:
        directory: of the run.
        tab: the picture wanted; None = only the figures of the whole run.
        part: a level or a release; "" = the lowest or first.
    """

    directory: Path
    tab: MechanismTab | None
    part: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class MechanismAnswer:
    """What was read.

    Attributes:
        request: what is answered, its part chosen.
        asked: what was requested.
        state: of the run.
        trials: readable ones.
        tiles: four figures of the whole run.
        headline: its figure for the top of the window.
        parts: levels or releases that can be looked at.
        content: the picture, None before the first trial.
        problems: trials that cannot be read.
    """

    request: MechanismRequest
    asked: MechanismRequest
    state: RunState
    trials: int
    tiles: tuple[TileContent, ...]
    headline: TileContent
    parts: tuple[str, ...]
    content: Figure | None
    problems: tuple[str, ...] = ()
