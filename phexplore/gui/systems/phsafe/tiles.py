"""The four figures read from six metres away, each with its change: pure functions of what is shown."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from phexplore.accuracy.margins import keeps_target
from phexplore.catalog.tables import TableProduct, tables
from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import budget_text, people, percent, signed_budget
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.model.keys import PopulationGroupLevel, QueryKey, Region
from phexplore.model.numbers import Unlimited
from phexplore.model.phsafe import PhSafe
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.forecast import Forecast, QueryForecast
from phexplore.systems.registry import absurd_epsilon


def is_target_met(entry: QueryForecast, target: Fraction, scenario: Scenario) -> bool:
    """Return whether the margin, rounded to whole people as the paper prints it, is within the target."""
    return entry.margins is None or keeps_target(entry.margins.by(scenario.conventions.margin), target)


def missed_targets(scenario: Scenario, figures: Forecast) -> tuple[QueryKey, ...]:
    """Return the published queries whose margin is wider than their target, widest excess first."""
    excess: list[tuple[Fraction, QueryKey]] = []
    for entry in figures.queries:
        target = scenario.phsafe.targets.get(entry.query)
        if target is not None and entry.margins is not None and not is_target_met(entry, target, scenario):
            excess.append((Fraction(entry.margins.by(scenario.conventions.margin)) - target, entry.query))
    return tuple(query for _, query in sorted(excess, key=lambda pair: -pair[0]))


def numbers_of(product: TableProduct, level: PopulationGroupLevel, method: PhSafe) -> int:
    """Return how many numbers a table has at a level: basis cells times regions times iteration codes."""
    return _numbers(product, level, len(method.states))


def _numbers(product: TableProduct, level: PopulationGroupLevel, states: int) -> int:
    regions = 1 if level.region is Region.NATION else states
    return regions * len(level.iteration.codes) * len(product.basis_cells)


def published_numbers(method: PhSafe) -> int:
    """Return how many numbers a run publishes: basis cells of all tables, regions and iteration codes.

    Derived tables count with the table they come from; the production release of 2020 has 12,688.
    """
    return _published_numbers(frozenset(method.published), len(method.states))


@lru_cache(maxsize=64)
def _published_numbers(published: frozenset[QueryKey], states: int) -> int:
    return sum(
        _numbers(product, level, states)
        for product in tables().values()
        for level in product.levels
        if QueryKey(product.derived_from or product.id, level) in published
    )


def phsafe_tiles(shown: ScenarioView) -> tuple[TileContent, ...]:
    """Return the three figures of PHSafe parameters: privacy loss, targets met, numbers published."""
    return loss_tile(shown), targets_tile(shown), numbers_tile(shown)


def loss_tile(shown: ScenarioView) -> TileContent:
    """Return what the scenario costs in privacy: bounded first, unbounded beside it."""
    privacy = shown.figures.privacy
    symbol = privacy.framework.symbol
    beside = f"unbounded {budget_text(privacy.total)}"
    change, tone = "", Tone.NEUTRAL
    if shown.reference is not None:
        change, tone = _loss_change(shown, symbol)
    if said := absurd_epsilon(shown.scenario):
        change, tone = (f"{said}; {change}" if change else said), Tone.ATTENTION
    return TileContent(f"Privacy loss, bounded {symbol}", budget_text(privacy.bounded_total), beside, change, tone)


def _loss_change(shown: ScenarioView, symbol: str) -> tuple[str, Tone]:
    reference = shown.reference
    now = shown.figures.privacy
    if reference is None:
        return "", Tone.NEUTRAL
    then = reference.figures.privacy
    if then.framework is not now.framework:
        return f"not comparable: {reference.title} is in {then.framework.symbol}", Tone.ATTENTION
    if isinstance(now.bounded_total, Unlimited) or isinstance(then.bounded_total, Unlimited):
        return f"no finite {symbol} to compare", Tone.ATTENTION
    difference = now.bounded_total - then.bounded_total
    if difference == 0:
        return "as in the reference", Tone.NEUTRAL
    relative = f" ({_signed_percent(difference / then.bounded_total)})" if then.bounded_total else ""
    return signed_budget(difference) + relative, Tone.ATTENTION if difference > 0 else Tone.GOOD


def _signed_percent(share: Fraction) -> str:
    return ("+" if share > 0 else "−") + percent(abs(share))


def targets_tile(shown: ScenarioView) -> TileContent:
    """Return how many margins are within their targets."""
    scenario, figures = shown.scenario, shown.figures
    moved = _targets_changed(shown)
    aimed = sum(entry.margins is not None and entry.query in scenario.phsafe.targets for entry in figures.queries)
    missed = missed_targets(scenario, figures)
    if not aimed:
        return TileContent("Margins within target", "none", "", "Enter a target in the budget table")
    if not missed:
        change, tone = (f"all met, {moved}", Tone.ATTENTION) if moved else ("all met", Tone.GOOD)
        return TileContent("Margins within target", str(aimed), f"of {aimed}", change, tone)
    worst = missed[0]
    entry, target = figures.query(worst), scenario.phsafe.targets[worst]
    wider = people(Fraction(_margin(entry, scenario)) - target)
    met = str(aimed - len(missed))
    change = f"{len(missed)} missed, worst +{wider}: {worst.title}"
    change = f"{moved}; {change}" if moved else change
    return TileContent("Margins within target", met, f"of {aimed}", change, Tone.ATTENTION)


def _targets_changed(shown: ScenarioView) -> str:
    """Return how many targets differ from the reference's, "" for none: whoever moves one can meet it without any accuracy.

    Parameters without any target, as a production file's, say nothing of them.
    """
    then = {} if shown.reference is None else shown.reference.scenario.phsafe.targets
    now = shown.scenario.phsafe.targets
    if not then or not now:
        return ""
    count = sum(now.get(query) != then.get(query) for query in {**then, **now})
    return f"{count} target{'' if count == 1 else 's'} changed" if count else ""


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
