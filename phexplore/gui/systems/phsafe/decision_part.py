"""What is to be known of an S-DHC scenario before a decision: margins that moved, targets missed and changed. No Qt."""

from __future__ import annotations

from phexplore.figures.tile import Tone
from phexplore.figures.wording import people
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.tiles import DecisionPart, SummaryEntry
from phexplore.gui.systems.phsafe.changes import change_lines
from phexplore.gui.systems.phsafe.tiles import loss_tile, missed_targets
from phexplore.model.diff import diff
from phexplore.model.keys import QueryKey


def decision_part(shown: ScenarioView) -> DecisionPart:
    """Return loss, changes in people, and what became of the targets."""
    lines = () if shown.reference is None else change_lines(shown)
    changes = tuple(line.text for line in lines if line.field != "target")
    return DecisionPart(loss_tile(shown), changes, (_missed(shown), _moved_targets(shown)))


def _missed(shown: ScenarioView) -> SummaryEntry:
    scenario, figures = shown.scenario, shown.figures
    targets = scenario.phsafe.targets
    if not targets:
        return SummaryEntry("Targets missed", ("no target is set",), Tone.ATTENTION)
    missed = missed_targets(scenario, figures)
    if not missed:
        return SummaryEntry("Targets missed", ("none",), Tone.GOOD)
    margins = {entry.query: entry.margins for entry in figures.queries}
    lines = []
    for query in missed:
        margin = margins[query]
        found = "" if margin is None else f"margin {people(margin.by(scenario.conventions.margin))}, "
        lines.append(f"{query.title}: {found}target {people(targets[query])} people")
    return SummaryEntry(f"Targets missed: {len(missed)}", tuple(lines), Tone.ATTENTION)


def _moved_targets(shown: ScenarioView) -> SummaryEntry:
    if shown.reference is None:
        return SummaryEntry("Targets changed", ("not known without something to compare with",))
    changes = [
        change
        for change in diff(shown.reference.scenario, shown.scenario)
        if change.word == "target" and isinstance(change.key, QueryKey)
    ]
    if not changes:
        return SummaryEntry("Targets changed", ("none",))
    then, now = len(shown.reference.scenario.phsafe.targets), len(shown.scenario.phsafe.targets)
    if not then or not now:
        return SummaryEntry("Targets changed", (f"{then or 'none'} → {now or 'none'}",), Tone.ATTENTION)
    lines = tuple(
        f"{change.key.title}: {_target(change.before)} → {_target(change.after)}"
        for change in changes
        if isinstance(change.key, QueryKey)
    )
    return SummaryEntry(f"Targets changed: {len(changes)}", lines, Tone.ATTENTION)


def _target(value: float | None) -> str:
    return "none" if value is None else people(value)
