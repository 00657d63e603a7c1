"""The steps of a walk through the marks of a figure."""

from __future__ import annotations

import enum


class Step(enum.Enum):
    """Where a key leads."""

    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"
    FIRST = "first"
    LAST = "last"
    PAGE_UP = "page up"
    PAGE_DOWN = "page down"
