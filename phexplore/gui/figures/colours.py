"""Colours of marks in charts, from the theme: every mark keeps 3 : 1 against the background, every label 4.5 : 1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from phexplore.gui.theme.colours import Colours, contrast
from phexplore.model.keys import Iteration, PopulationGroupLevel, Region

MARK_CONTRAST = 3.0
"""Least contrast of a mark with its background (WCAG 2.2, success criterion 1.4.11)."""

_LIGHT_LEVELS = {
    (Region.NATION, Iteration.ALL): "#00395c",
    (Region.NATION, Iteration.MAJOR_RACES): "#0072b2",
    (Region.NATION, Iteration.ETHNICITY): "#3f95cc",
    (Region.STATE, Iteration.ALL): "#7a3600",
    (Region.STATE, Iteration.MAJOR_RACES): "#bb5200",
    (Region.STATE, Iteration.ETHNICITY): "#e06c10",
}
_DARK_LEVELS = {
    (Region.NATION, Iteration.ALL): "#b5dcf5",
    (Region.NATION, Iteration.MAJOR_RACES): "#56b4e9",
    (Region.NATION, Iteration.ETHNICITY): "#2a86bd",
    (Region.STATE, Iteration.ALL): "#f9d9a0",
    (Region.STATE, Iteration.MAJOR_RACES): "#e69f00",
    (Region.STATE, Iteration.ETHNICITY): "#b97a05",
}


@dataclass(frozen=True, slots=True)
class LevelMark:
    """How a population-group level looks.

    Attributes:
        fill: ``#rrggbb``; the region decides the hue, the iteration the lightness.
        hatched: states carry a hatch, so that the region shows without colour.
    """

    fill: str
    hatched: bool


def level_mark(level: PopulationGroupLevel, colours: Colours) -> LevelMark:
    """Return the mark of a level in this theme."""
    table = _DARK_LEVELS if colours.name == "dark" else _LIGHT_LEVELS
    return LevelMark(table[level.region, level.iteration], hatched=level.region is Region.STATE)


@lru_cache(maxsize=64)
def ink_on(fill: str) -> str:
    """Return black or white, whichever is easier to read on this fill."""
    return "#000000" if contrast("#000000", fill) >= contrast("#ffffff", fill) else "#ffffff"


@lru_cache(maxsize=8)
def categories_on(colours: Colours) -> tuple[str, ...]:
    """Return the categories of the theme that keep `MARK_CONTRAST` on the background of charts, in their order."""
    return tuple(colour for colour in colours.categories if contrast(colour, colours.base) >= MARK_CONTRAST)


@lru_cache(maxsize=8)
def ghost_on(colours: Colours) -> str:
    """Return the colour of baseline marks: the ghost of the theme, or its secondary text where that is too faint."""
    return colours.ghost if contrast(colours.ghost, colours.base) >= MARK_CONTRAST else colours.muted


@lru_cache(maxsize=64)
def blended(front: str, back: str, share: float) -> str:
    """Return `front` laid over `back` with this opacity: bands that stay the same colour in every export."""
    mixed = (round(int(front[i : i + 2], 16) * share + int(back[i : i + 2], 16) * (1 - share)) for i in (1, 3, 5))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
