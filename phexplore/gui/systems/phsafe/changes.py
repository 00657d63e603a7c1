"""What changed against the reference, as sentences with the place they speak of. No Qt."""

from __future__ import annotations

from phexplore.figures.wording import budget_text
from phexplore.gui.binding.change_texts import ChangeLine
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.systems.phsafe.tiles import loss_tile
from phexplore.model.diff import diff, parameters_only
from phexplore.model.keys import QueryKey
from phexplore.systems.phsafe.changes import change_sentence


def total_line(shown: ScenarioView) -> str:
    """Return what all differences from the reference cost or save together, "" without a reference."""
    reference = shown.reference
    if reference is None:
        return ""
    tile = loss_tile(shown)
    then, now = reference.figures.privacy.bounded_total, shown.figures.privacy.bounded_total
    if then == now:
        return f"Total: {tile.caption.removeprefix('Privacy loss, ')} {tile.value}, {tile.change}"
    return f"Total: {tile.caption.removeprefix('Privacy loss, ')} {budget_text(then)} → {tile.value}; {tile.change}"


def change_lines(shown: ScenarioView) -> tuple[ChangeLine, ...]:
    """Return every parameter that differs from the reference; empty without one.

    Targets that production's config.json cannot hold are one line, not one per query.
    """
    reference = shown.reference
    if reference is None:
        return ()
    changes = parameters_only(diff(reference.scenario, shown.scenario))
    then, now = len(reference.scenario.phsafe.targets), len(shown.scenario.phsafe.targets)
    targets: tuple[ChangeLine, ...] = ()
    if (then == 0) != (now == 0):
        changes = tuple(change for change in changes if change.word != "target")
        text = f"Margin targets: {then or 'none'} → {now or 'none'}"
        targets = (ChangeLine(text, field="target"),)
    lines = tuple(
        ChangeLine(
            change_sentence(change, reference.figures, shown.figures),
            change.key if isinstance(change.key, QueryKey) else None,
            field=change.word,
        )
        for change in changes
    )
    return (*lines, *targets)
