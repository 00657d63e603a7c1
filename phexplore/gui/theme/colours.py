"""The colours of the window as plain values: two themes, the categories of charts, and the contrast between two colours.

Every text colour keeps a contrast of at least 4.5 : 1 on every surface it is used on (WCAG 2.2, success criterion 1.4.3);
a test computes it. Meaning is never carried by colour alone: a word, a sign or a shape stands with it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from phexplore.resources import resource


@dataclass(frozen=True, slots=True, eq=False)  # there are two, and pictures look up inks by them: by identity
class Colours:
    """The colours of one theme, each as ``#rrggbb``.

    Attributes:
        name: "light" or "dark".
        window: background of the window.
        base: background of tables, fields and charts.
        alternate: every second row, column headers.
        raised: tiles and buttons.
        hover: what the pointer is over.
        text: normal text.
        muted: secondary text: units, captions, axis labels.
        border: lines that separate.
        outline: border of ticks and round buttons, 3 : 1 on every surface.
        grid: faint lines inside charts.
        accent: filled selection and the main button; `accent_text` is written on it.
        accent_text: text on `accent`.
        accent_ink: the accent as text, line or symbol.
        accent_soft: tint behind what is chosen.
        attention: amber as text, line or symbol: worth a decision.
        attention_soft: tint behind it.
        refused: red as text, line or symbol: only for what the program refuses.
        refused_soft: tint behind it.
        good: text, line or symbol of a target that is met.
        ghost: lines and dots of the baseline that the current values are compared with.
        categories: colours that every kind of colour vision tells apart (Okabe and Ito, "Color Universal Design", 2008), in
            the order that keeps the first ones readable on `base`.
    """

    name: str
    window: str
    base: str
    alternate: str
    raised: str
    hover: str
    text: str
    muted: str
    border: str
    outline: str
    grid: str
    accent: str
    accent_text: str
    accent_ink: str
    accent_soft: str
    attention: str
    attention_soft: str
    refused: str
    refused_soft: str
    good: str
    ghost: str
    categories: tuple[str, ...]


_THEMES = json.loads(resource("theme/colours.json").read_text(encoding="utf-8"))
LIGHT, DARK = (
    Colours(**{**_THEMES[name], "categories": tuple(_THEMES[name]["categories"])}) for name in ("light", "dark")
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue, 0-255, of ``#rrggbb``.

    Raises:
        ValueError: not such a colour.
    """
    if len(colour) != 7 or not colour.startswith("#"):
        raise ValueError(f"a colour is written #rrggbb, got {colour!r}")
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def luminance(colour: str) -> float:
    """Return the relative luminance, 0 (black) to 1 (white) (WCAG 2.2, definition of relative luminance)."""
    linear = [_linear(channel / 255) for channel in channels(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2.2, definition of contrast ratio)."""
    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def _linear(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
