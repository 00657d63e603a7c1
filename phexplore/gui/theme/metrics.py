"""Distances of the window: an eight-pixel grid."""

from __future__ import annotations

GRID = 8
"""Unit of every distance, in device-independent pixels."""

HALF = GRID // 2
GAP = GRID
"""Between neighbours that belong together."""
MARGIN = 2 * GRID
"""Around the content of an area."""
ROW_PADDING = 10
"""Added to the height of a text line to make a table row."""
LEAST_TARGET = 3 * GRID
"""Least height of what is clicked (WCAG 2.2, success criterion 2.5.8): ticks and rows of lists stand close to each other."""
CORNER = 6
"""Radius of rounded corners."""
FRAME_HEIGHT = 40
"""Pixels a window manager takes for the title; it is not known before the window is shown."""

PICTURE_HEIGHT = 53 * GRID
"""Height of a picture at first: 55 % of a laptop's screen, 768 pixels high."""
PICTURE_PERCENT = 55
"""Least part of the window's height that a picture takes on a page that scrolls."""
INSPECTOR_WIDTH = 36 * GRID
