"""A worded figure: what a tile of the window, or the head of a report, says. Plain values."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Tone(enum.Enum):
    """How loudly something is said."""

    NEUTRAL = "neutral"
    GOOD = "good"
    ATTENTION = "attention"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class TileContent:
    """What a tile says.

    Attributes:
        caption: the question.
        value: the figure, large.
        beside: what the figure is, or a second figure.
        change: difference to the reference, or a hint.
        tone: colour and sign of the change.
        exact: the figure with all its digits, "" where `value` has them.
    """

    caption: str
    value: str
    beside: str = ""
    change: str = ""
    tone: Tone = Tone.NEUTRAL
    exact: str = ""
