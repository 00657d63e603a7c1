from __future__ import annotations

import pytest

from phexplore.gui.theme.colours import THEMES, channels, contrast, luminance

SURFACES = ("window", "base", "alternate", "raised", "hover", "accent_soft")
INKS = ("text", "muted", "accent_ink", "attention", "refused", "good")


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("ink", INKS)
def test_that_every_ink_is_readable_on_every_surface(theme, surface, ink) -> None:
    assert contrast(getattr(theme, ink), getattr(theme, surface)) >= 4.5


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
@pytest.mark.parametrize(
    ("ink", "surface"),
    [
        ("accent_text", "accent"),
        ("attention", "attention_soft"),
        ("refused", "refused_soft"),
        ("text", "attention_soft"),
        ("text", "refused_soft"),
    ],
)
def test_that_text_on_filled_surfaces_is_readable(theme, ink, surface) -> None:
    assert contrast(getattr(theme, ink), getattr(theme, surface)) >= 4.5


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
@pytest.mark.parametrize("surface", ["window", "base", "raised"])
@pytest.mark.parametrize("line", ["outline", "ghost"])
def test_that_lines_that_mean_something_are_seen(theme, surface, line) -> None:
    assert contrast(getattr(theme, line), getattr(theme, surface)) >= 3


def test_that_contrast_meets_the_published_examples() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=1e-3)  # WebAIM's contrast checker prints 4.48
    assert contrast("#ffffff", "#777777") == contrast("#777777", "#ffffff")


def test_that_luminance_weighs_green_most() -> None:
    assert luminance("#00ff00") == pytest.approx(0.7152)
    assert luminance("#000000") == 0


def test_that_a_colour_that_is_not_one_is_refused() -> None:
    with pytest.raises(ValueError, match="'red'"):
        channels("red")


def test_that_categories_differ_in_lightness_or_hue() -> None:
    for theme in THEMES.values():
        assert len(set(theme.categories)) == len(theme.categories) >= 8
