"""The figures read from six metres away, each with its change: values without Qt."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from fractions import Fraction

from phexplore.figures.wording import margin_word, percent, significant
from phexplore.gui.binding.shown import Shown


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
    """

    caption: str
    value: str
    beside: str = ""
    change: str = ""
    tone: Tone = Tone.NEUTRAL


def run_tile(result: TileContent | None) -> TileContent:
    """Return what the last simulated run found, or how to get one."""
    return result or TileContent("Last run", "none yet", "", "Run the scenario to check the forecast")


def conventions_text(shown: Shown) -> str:
    """Return in one line what the shown margins mean."""
    conventions = shown.scenario.conventions
    return f"{percent(conventions.confidence, places=0)} margins, {margin_word(conventions.margin)} convention"


UNKNOWN = "–"


def difference(moved: Fraction, was: Fraction) -> tuple[str, Tone]:
    """Return how far a budget moved from what it was, and how loudly that is said."""
    if moved == 0:
        return "as in the reference", Tone.NEUTRAL
    sign, tone = ("+", Tone.ATTENTION) if moved > 0 else ("−", Tone.GOOD)
    return f"{sign}{significant(abs(moved))} ({sign}{percent(abs(moved) / was)})", tone
