from __future__ import annotations

import itertools

import pytest

from phexplore.gui.figures.painter import (
    MARK_CONTRAST,
    blended,
    categories_on,
    ghost_on,
    ink_on,
    level_colour,
)
from phexplore.gui.theme.colours import THEMES, contrast
from phexplore.model.keys import LEVELS, Region

themes = pytest.mark.parametrize("colours", THEMES.values(), ids=THEMES.keys())


@themes
@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.text)
def test_that_every_level_stands_out_from_the_background_and_carries_readable_words(colours, level):
    fill = level_colour(level, colours)
    assert contrast(fill, colours.base) >= MARK_CONTRAST
    assert contrast(ink_on(fill), fill) >= 4.5


@themes
def test_that_levels_differ_in_fill(colours):
    assert len({level_colour(level, colours) for level in LEVELS}) == len(LEVELS)


@themes
def test_that_iterations_of_a_region_differ_in_lightness(colours):
    for region in Region:
        fills = [level_colour(level, colours) for level in LEVELS if level.region is region]
        assert all(contrast(first, second) >= 1.25 for first, second in itertools.combinations(fills, 2))


@themes
def test_that_lines_ghosts_and_marks_of_charts_stand_out(colours):
    used = (*categories_on(colours)[:2], ghost_on(colours), colours.accent_ink, colours.attention, colours.text)
    assert all(contrast(colour, colours.base) >= MARK_CONTRAST for colour in used)
    assert all(contrast(colour, colours.base) >= 4.5 for colour in (colours.text, colours.muted, colours.attention))


@themes
def test_that_bars_of_noise_stand_out_from_the_background(colours):
    assert contrast(blended(colours.accent_ink, colours.base, 0.55), colours.base) >= 2.0


def test_that_two_categories_are_left_in_both_themes():
    assert all(len(categories_on(colours)) >= 2 for colours in THEMES.values())


def test_that_a_blend_lies_between_its_colours():
    assert blended("#000000", "#ffffff", 0.5) == "#808080"
    assert blended("#123456", "#ffffff", 1.0) == "#123456"
    assert blended("#123456", "#ffffff", 0.0) == "#ffffff"
