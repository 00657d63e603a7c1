"""Everything a user should know about a scenario before it is run or exported: places, sentences, remedies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from phexplore.accuracy.margins import is_met
from phexplore.catalog.expected_counts import AVERAGES
from phexplore.catalog.states import PUERTO_RICO, states
from phexplore.catalog.tables import counted_in, own_tables, queries, sensitivity, tables, truncated_tables
from phexplore.figures.wording import margin_text
from phexplore.model.conventions import MarginConvention
from phexplore.model.issues import Issue, Severity, has_errors
from phexplore.model.keys import QueryKey, Region
from phexplore.model.numbers import Unlimited, exact_text, has_decimal
from phexplore.model.phsafe import PhSafe, PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.noise.distributions import NoiseOutOfRangeError, noise_for
from phexplore.systems.phsafe.forecast import Forecast, forecast


def check_phsafe(scenario: Scenario) -> list[Issue]:
    """Return all issues of an S-DHC scenario."""
    method = scenario.phsafe
    issues = [*_complete(method), *_states(method)]
    if not has_errors(issues):
        try:
            issues += _consistent(scenario, forecast(scenario))
        except NoiseOutOfRangeError:
            issues += _noise_out_of_range(method)
    return issues


def _complete(method: PhSafe) -> Iterator[Issue]:
    own = [tables()[name] for name in own_tables(query.table for query in method.budgets)]
    production, budgets = set(queries()), set(method.budgets)
    known = production | {query for product in own for query in product.queries}
    for query in _in_order(production - budgets):
        yield Issue(
            ("budgets", query.text), f"{query.title} has no budget.", "Enter one, or 0 to leave it unpublished."
        )
    for query in _in_order(budgets - known):
        yield Issue(("budgets", query.text), f"{query.text} is not a measured query.", "Remove it.")
    truncated = {product.id for product in (*truncated_tables(), *own) if product.truncated}
    for table in sorted(truncated - set(method.thresholds)):
        yield Issue(("thresholds", table), f"{table} has no truncation threshold.", "Enter a whole number from 1.")
    for table in sorted(set(method.thresholds) - truncated):
        yield Issue(("thresholds", table), f"{table} takes no truncation threshold.", "Remove it.")
    for kind, places in (("targets", method.targets), ("locks", method.locks)):
        for query in _in_order(set(places) - known):
            yield Issue((kind, query.text), f"{query.text} is not a measured query.", "Remove it.")
    if own:
        from phexplore.data.classification import (  # noqa: PLC0415 - with numpy; the first picture does without
            Mode,
            TooManyClassesError,
            classification,
        )

        try:
            classification(Mode.PRIVATE, tuple(product.id for product in own))
        except TooManyClassesError as error:
            yield Issue(("budgets",), error.sentence, error.remedy)
    if method.reader not in {"csv", "cef"}:
        yield Issue(("reader",), f"Production has no reader {method.reader!r}.", "Choose csv or cef.")


def _in_order(places: Iterable[QueryKey]) -> list[QueryKey]:
    return sorted(places, key=lambda query: query.text)


def _noise_out_of_range(method: PhSafe) -> Iterator[Issue]:
    for query, budget in method.budgets.items():
        reach = sensitivity(tables()[query.table], method.thresholds.get(query.table))
        try:
            if budget != 0:
                noise_for(method.framework, sensitivity=reach, budget=budget)
        except NoiseOutOfRangeError as error:
            yield Issue(("budgets", query.text), error.sentence, error.remedy)


def _states(method: PhSafe) -> Iterator[Issue]:
    path = ("states",)
    if not method.states:
        yield Issue(path, "No state is in the run.", "Choose the states, or Puerto Rico.")
    legal = set(states())
    for state in method.states:
        if state not in legal:
            yield Issue(path, f"{state!r} is not the code of a state or Puerto Rico.", "Remove it.")
    if len(set(method.states)) != len(method.states):
        yield Issue(path, "A state is named twice.", "Name each state once.")
    if PUERTO_RICO in method.states:
        if len(method.states) > 1:
            yield Issue(path, "Puerto Rico is run by itself in production.", "Keep either 72 or the states.")
        spent = [query for query in method.published if query.level.region is Region.NATION]
        if spent:
            yield Issue(
                ("budgets", spent[0].text),
                f"Puerto Rico has no nation level, but {len(spent)} nation budgets are not 0.",
                "Leave all nation levels unpublished.",
            )


def _consistent(scenario: Scenario, figures: Forecast) -> Iterator[Issue]:
    yield from _budgets(scenario.phsafe)
    yield from missed_target_issues(scenario, figures)
    yield from _ratios(scenario.phsafe)
    if scenario.conventions.margin is MarginConvention.PAPER and scenario.phsafe.framework is PrivacyFramework.PURE_DP:
        yield Issue(
            ("conventions", "margin"),
            "The paper's ⌊1.64 σ⌋ is a margin of Gaussian noise; the scenario uses pure DP.",
            "Choose the normal or the exact convention.",
        )


def _budgets(method: PhSafe) -> Iterator[Issue]:
    if not method.published:
        yield Issue(("budgets",), "Nothing is published: every budget is 0.", "Publish at least one level.")
    for query, budget in method.budgets.items():
        if isinstance(budget, Unlimited):
            yield Issue(
                ("budgets", query.text),
                f"{query.title} is published without noise: its budget is unlimited.",
                "Use it for tests only; it protects nobody.",
                Severity.WARNING,
            )
        elif not has_decimal(budget):
            yield Issue(
                ("budgets", query.text),
                f"{exact_text(budget)} of {query.title} has no finite decimal, which config.json needs.",
                "Round it to a decimal before the export.",
                Severity.WARNING,
            )


def missed_target_issues(scenario: Scenario, figures: Forecast) -> Iterator[Issue]:
    """Yield an issue for every margin that is wider than its target.

    Args:
        scenario: with its targets.
        figures: its forecast.
    """
    for query, target in scenario.phsafe.targets.items():
        margins = figures.query(query).margins
        if margins is None:
            continue
        margin = margins.by(scenario.conventions.margin)
        if not is_met(margin, target):
            yield Issue(
                ("targets", query.text),
                f"The margin of {query.title} is {margin_text(margin, target)} {counted_in(query.table)}, wider than its target of {exact_text(target)}.",
                "Raise its budget, lower its threshold, or accept the wider margin as the new target.",
                Severity.WARNING,
            )


def _ratios(method: PhSafe) -> Iterator[Issue]:
    published = set(method.published)
    for name, query, partner in _parts_of_averages():
        if (query in published) != (partner in published):
            missing = partner if query in published else query
            yield Issue(
                ("budgets", missing.text),
                f"{name} is an average and needs both parts at {query.level.title}, but {missing.table} is not published.",
                f"Publish {missing.title} or leave out both.",
                Severity.WARNING,
            )


@cache
def _parts_of_averages() -> tuple[tuple[str, QueryKey, QueryKey], ...]:
    """Return the name of each average at each level, the query it divides by and the one that is divided."""
    return tuple(
        (name, query, query._replace(table=tables()[numerator].id))
        for name, (numerator, denominator) in AVERAGES.items()
        for query in tables()[denominator].queries
    )
