"""What is said of an S-DHC scenario: the figures of the headline, every change, and what matters before a decision. No Qt."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from phexplore.accuracy.margins import is_met
from phexplore.catalog.tables import counted_in, tables
from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import budget_text, changed_targets, margin_text, people, target_text
from phexplore.gui.binding.change_texts import ChangeLine
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.gui.binding.tiles import DecisionPart, SummaryEntry, loss_tile
from phexplore.model.diff import diff, parameters_only
from phexplore.model.keys import QueryKey
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.budget_model import numbers_of
from phexplore.systems.phsafe.changes import adjusted_line, change_sentence, visible_changes
from phexplore.systems.phsafe.check import missed_target_issues
from phexplore.systems.phsafe.forecast import Forecast, QueryForecast


def is_target_met(entry: QueryForecast, target: Fraction, scenario: Scenario) -> bool:
    """Return whether the margin is within the target, as it is or rounded to whole people as the paper prints it."""
    return entry.margins is None or is_met(entry.margins.by(scenario.conventions.margin), target)


def missed_targets(scenario: Scenario, figures: Forecast) -> tuple[QueryKey, ...]:
    """Return the published queries whose margin is wider than their target, widest excess first."""
    excess: list[tuple[Fraction, QueryKey]] = []
    for entry in figures.queries:
        target = scenario.phsafe.targets.get(entry.query)
        if target is not None and entry.margins is not None and not is_target_met(entry, target, scenario):
            excess.append((Fraction(entry.margins.by(scenario.conventions.margin)) - target, entry.query))
    return tuple(query for _, query in sorted(excess, key=lambda pair: -pair[0]))


def published_numbers(method: PhSafe) -> int:
    """Return how many numbers a run publishes: basis cells of all tables, regions and iteration codes.

    Derived tables count with the table they come from; the production release of 2020 has 12,688.
    """
    return _published_numbers(frozenset(method.published), len(method.states))


@lru_cache(maxsize=64)
def _published_numbers(published: frozenset[QueryKey], states: int) -> int:
    return sum(
        numbers_of(QueryKey(product.id, level), states)
        for product in tables().values()
        for level in product.levels
        if QueryKey(product.derived_from or product.id, level) in published
    )


def phsafe_tiles(shown: ScenarioView) -> tuple[TileContent, ...]:
    """Return the three figures of PHSafe parameters: privacy loss, targets met, numbers published."""
    return phsafe_loss_tile(shown), targets_tile(shown), numbers_tile(shown)


@lru_cache(maxsize=2)  # headline and list of changes ask for that of the same version
def phsafe_loss_tile(shown: ScenarioView) -> TileContent:
    """Return what the scenario costs in privacy: bounded first, unbounded beside it."""
    privacy = shown.figures.privacy
    return loss_tile(
        shown,
        lambda version: (version.figures.privacy.framework, version.figures.privacy.bounded_total),
        caption=f"Privacy loss, bounded {privacy.framework.symbol}",
        beside=f"unbounded {budget_text(privacy.total)}",
    )


def targets_tile(shown: ScenarioView) -> TileContent:
    """Return how many margins are within their targets."""
    scenario, figures = shown.scenario, shown.figures
    reference = shown.reference
    then = {} if reference is None else reference.scenario.phsafe.targets
    moved = changed_targets(then, scenario.phsafe.targets)
    aimed = sum(entry.margins is not None and entry.query in scenario.phsafe.targets for entry in figures.queries)
    missed = missed_targets(scenario, figures)
    if not aimed:
        return TileContent("Targets met", "none", "", "Enter a target in the budget table")
    if not missed:
        change, tone = (f"all met, {moved}", Tone.ATTENTION) if moved else ("all met", Tone.GOOD)
        return TileContent("Targets met", str(aimed), f"of {aimed}", change, tone)
    worst = missed[0]
    entry, target = figures.query(worst), scenario.phsafe.targets[worst]
    wider = people(Fraction(_margin(entry, scenario)) - target)
    met = str(aimed - len(missed))
    change = f"{len(missed)} not met, worst +{wider}: {worst.title}"
    change = f"{moved}; {change}" if moved else change
    return TileContent("Targets met", met, f"of {aimed}", change, Tone.ATTENTION)


def _margin(entry: QueryForecast, scenario: Scenario) -> float:
    return entry.margins.by(scenario.conventions.margin) if entry.margins is not None else 0.0


def numbers_tile(shown: ScenarioView) -> TileContent:
    """Return how much is published."""
    method = shown.scenario.phsafe
    count = published_numbers(method)
    queries = f"{len(method.published)} of {len(method.budgets)} queries"
    change, tone = "", Tone.NEUTRAL
    if shown.reference is not None:
        difference = count - published_numbers(shown.reference.scenario.phsafe)
        change = f"{difference:+,}".replace("-", "−") if difference else "as in the reference"
        tone = Tone.ATTENTION if difference < 0 else Tone.NEUTRAL
    return TileContent("Numbers published", f"{count:,}", queries, change, tone)


def total_line(shown: ScenarioView) -> str:
    """Return what all differences from the reference cost or save together, "" without a reference."""
    reference = shown.reference
    if reference is None:
        return ""
    tile = phsafe_loss_tile(shown)
    then, now = reference.figures.privacy.bounded_total, shown.figures.privacy.bounded_total
    if then == now or reference.figures.privacy.framework is not shown.figures.privacy.framework:
        return f"Total: {tile.caption.removeprefix('Privacy loss, ')} {tile.value}, {tile.change}"
    return f"Total: {tile.caption.removeprefix('Privacy loss, ')} {budget_text(then)} → {tile.value}; {tile.change}"


def change_lines(shown: ScenarioView) -> tuple[ChangeLine, ...]:
    """Return every visible change from the baseline, the largest first, then one line for the others; empty without one.

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
    visible, hidden = visible_changes(changes, reference.figures, shown.figures)
    lines = tuple(
        ChangeLine(
            change_sentence(change, reference.figures, shown.figures),
            change.key if isinstance(change.key, QueryKey) else None,
            field=change.word,
        )
        for change in visible
    )
    return (*lines, *targets, *([ChangeLine(adjusted_line(hidden), field="budget", count=hidden)] if hidden else ()))


def decision_part(shown: ScenarioView) -> DecisionPart:
    """Return loss, changes in people, and what became of the targets."""
    lines = () if shown.reference is None else change_lines(shown)
    changes = tuple(line.text for line in lines if line.field != "target")
    told = tuple(missed_target_issues(shown.scenario, shown.figures))
    return DecisionPart(phsafe_loss_tile(shown), changes, (_missed(shown), _moved_targets(shown)), told)


def _missed(shown: ScenarioView) -> SummaryEntry:
    scenario, figures = shown.scenario, shown.figures
    targets = scenario.phsafe.targets
    if not targets:
        return SummaryEntry("Targets not met", ("no target is set",), Tone.ATTENTION)
    missed = missed_targets(scenario, figures)
    if not missed:
        return SummaryEntry("Targets not met", ("none",), Tone.GOOD)
    margins = {entry.query: entry.margins for entry in figures.queries}
    lines = []
    for query in missed:
        margin = margins[query]
        found = (
            "" if margin is None else f"margin {margin_text(margin.by(scenario.conventions.margin), targets[query])}, "
        )
        lines.append(f"{query.title}: {found}target {target_text(targets[query])} {counted_in(query.table)}")
    return SummaryEntry(f"Targets not met: {len(missed)}", tuple(lines), Tone.ATTENTION)


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
    moved = changed_targets(shown.reference.scenario.phsafe.targets, shown.scenario.phsafe.targets)
    return SummaryEntry(moved, lines, Tone.ATTENTION)


def _target(value: Fraction | None) -> str:
    return target_text(value) or "none"
