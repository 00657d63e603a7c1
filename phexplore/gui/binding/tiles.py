"""The figures read from six metres away, each with its change: values without Qt."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import percent, significant


@dataclass(frozen=True, slots=True)
class SummaryEntry:
    """One thing to know before deciding.

    Attributes:
        caption: what it is about.
        lines: what holds, a line each.
        tone: how loudly it is said.
    """

    caption: str
    lines: tuple[str, ...]
    tone: Tone = Tone.NEUTRAL


@dataclass(frozen=True, slots=True)
class DecisionPart:
    """What a system says of its parameters before a decision.

    Attributes:
        loss: the tile of the privacy loss.
        changes: every difference to the reference, in people where it has an effect on them.
        entries: more that is to be known, e.g. targets that are missed.
    """

    loss: TileContent
    changes: tuple[str, ...]
    entries: tuple[SummaryEntry, ...] = ()


def run_tile(result: TileContent | None) -> TileContent:
    """Return what the last simulated run found, or how to get one."""
    return result or TileContent("Last run", "none yet", "", "Run the scenario to check the forecast")


UNKNOWN = "–"


def difference(moved: Fraction, was: Fraction) -> tuple[str, Tone]:
    """Return how far a budget moved from what it was, and how loudly that is said."""
    if moved == 0:
        return "as in the reference", Tone.NEUTRAL
    sign, tone = ("+", Tone.ATTENTION) if moved > 0 else ("−", Tone.GOOD)
    return f"{sign}{significant(abs(moved))} ({sign}{percent(abs(moved) / was)})", tone
