"""How much of the window is shown: what a member of a committee asks, or everything an expert may set."""

from __future__ import annotations

import enum


class Depth(enum.Enum):
    """The value is the word in the settings."""

    COMMITTEE = "committee"
    """A run in three fields, results as four questions, targets with what solves them."""
    EXPERT = "expert"
    """Everything."""
