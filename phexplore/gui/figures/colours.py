"""Colours of marks in charts, from the theme: every mark keeps 3 : 1 against the background, every label 4.5 : 1."""

from __future__ import annotations

from functools import lru_cache

from phexplore.figures.style import LEVEL_COLOURS
from phexplore.gui.theme.colours import Colours, contrast
from phexplore.model.keys import Iteration, PopulationGroupLevel, Region

MARK_CONTRAST = 3.0
"""Least contrast of a mark with its background (WCAG 2.2, success criterion 1.4.11)."""

_DARK_LEVELS = {
    PopulationGroupLevel(Region.NATION, Iteration.ALL): "#b5dcf5",
    PopulationGroupLevel(Region.NATION, Iteration.MAJOR_RACES): "#56b4e9",
    PopulationGroupLevel(Region.NATION, Iteration.ETHNICITY): "#2a86bd",
    PopulationGroupLevel(Region.STATE, Iteration.ALL): "#f9d9a0",
    PopulationGroupLevel(Region.STATE, Iteration.MAJOR_RACES): "#e69f00",
    PopulationGroupLevel(Region.STATE, Iteration.ETHNICITY): "#b97a05",
}


def level_colour(level: PopulationGroupLevel, colours: Colours) -> str:
    """Return the colour of a level in this theme."""
    return (_DARK_LEVELS if colours.name == "dark" else LEVEL_COLOURS)[level]


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
