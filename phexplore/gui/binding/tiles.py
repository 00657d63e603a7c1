"""The figures read from six metres away, each with its change: values without Qt."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import bound_text, signed_budget
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.model.issues import Issue
from phexplore.model.numbers import Budget, Unlimited, exact_text
from phexplore.model.rounded import percent
from phexplore.systems.registry import absurd_epsilon


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
        told: issues that an entry tells already.
    """

    loss: TileContent
    changes: tuple[str, ...]
    entries: tuple[SummaryEntry, ...] = ()
    told: tuple[Issue, ...] = ()


def run_tile(result: TileContent | None) -> TileContent:
    """Return what the last simulated run found, or how to get one."""
    return result or TileContent("Last run", "none yet", "", "Run the scenario to check the forecast")


UNKNOWN = "–"


def loss_tile(
    shown: ScenarioView,
    loss: Callable[[Any], tuple[Hashable, Budget]],
    *,
    caption: str,
    beside: str = "",
    alone: str = "",
) -> TileContent:
    """Return what a scenario costs in privacy, with its change.

    Args:
        shown: the version.
        loss: gives definition and total of a version or its reference; totals of two definitions are not compared.
        caption: names the total.
        beside: stands beside it.
        alone: is said where there is nothing to compare with.
    """
    (definition, total), change, tone = loss(shown), alone, Tone.NEUTRAL
    if (reference := shown.reference) is not None:
        other, before = loss(reference)
        if other != definition:
            change, tone = f"not comparable: {reference.title} has another definition", Tone.ATTENTION
        elif isinstance(before, Unlimited):
            change, tone = "the reference has no finite total to compare", Tone.ATTENTION
        elif not isinstance(total, Unlimited):
            change, tone = _difference(total - before, before)
    if isinstance(total, Unlimited):
        change, tone = "published without noise: nobody is protected", Tone.ATTENTION
    elif said := absurd_epsilon(shown.scenario):
        change, tone = f"{said}; {change}" if reference is not None else said, Tone.ATTENTION
    text = bound_text(total)
    exact = "" if isinstance(total, Unlimited) else exact_text(total)
    is_said = exact == text or "/" in exact  # nobody follows a spoken fraction; the inspector has it
    return TileContent(caption, text, beside, change, tone, "" if is_said else f"exactly {exact}")


def _difference(moved: Fraction, was: Fraction) -> tuple[str, Tone]:
    if moved == 0:
        return "as in the reference", Tone.NEUTRAL
    relative = f" ({'+' if moved > 0 else '−'}{percent(abs(moved) / was)})" if was else ""
    return signed_budget(moved) + relative, Tone.ATTENTION if moved > 0 else Tone.GOOD
