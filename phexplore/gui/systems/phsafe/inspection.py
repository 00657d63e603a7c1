"""What is said about one query, or about the whole: explanations, the history of the field, its issues. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phexplore.accuracy.explanation import Explanation
from phexplore.catalog.tables import tables
from phexplore.document.history import Step
from phexplore.figures.wording import budget_text, conversion_title, margin_word, people
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.model.conventions import MarginConvention, Neighbours
from phexplore.model.issues import Issue
from phexplore.model.keys import QueryKey, parse_query
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.workbook import Workbook
from phexplore.systems.phsafe.explain import (
    explain_derived,
    explain_epsilon,
    explain_margin,
    explain_sensitivity,
    explain_sigma,
    explain_total,
)
from phexplore.systems.phsafe.forecast import DerivedForecast, DerivedKind

_LONGEST_HISTORY = 400
"""Steps looked through for the history of a field."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A number that can be explained.

    Attributes:
        name: for the chooser.
        explanation: how it comes about.
    """

    name: str
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class MarginLine:
    """One margin of the picture.

    Attributes:
        word: name of the convention.
        people: half-width, None where the convention does not apply.
        is_chosen: the scenario's convention.
    """

    word: str
    people: float | None
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class DerivedLine:
    """A sum, total or copy that a query leads to."""

    table: str
    label: str
    margin: str
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class FieldStep:
    """A step of the project that changed the inspected query.

    Attributes:
        number: index of the step.
        label: its name.
        value: bounded budget and target after it.
        is_current: whether the value stands now.
    """

    number: int
    label: str
    value: str
    is_current: bool


def margin_lines(shown: ScenarioView, query: QueryKey) -> tuple[MarginLine, ...]:
    """Return the three margins of a basis cell; empty when the query is not published."""
    margins = shown.figures.query(query).margins
    if margins is None:
        return ()
    chosen = shown.scenario.conventions.margin
    values = {
        MarginConvention.EXACT: margins.exact,
        MarginConvention.NORMAL: margins.normal,
        MarginConvention.PAPER: margins.paper,
    }
    return tuple(
        MarginLine(margin_word(convention), None if value is None else float(value), convention is chosen)
        for convention, value in values.items()
    )


def topics(shown: ScenarioView, query: QueryKey | None) -> tuple[Topic, ...]:
    """Return what can be explained about a query, or about the whole scenario; the most asked first."""
    return _whole_topics(shown) if query is None else _query_topics(shown, query)


def _query_topics(shown: ScenarioView, query: QueryKey) -> tuple[Topic, ...]:
    entry, conventions = shown.figures.query(query), shown.scenario.conventions
    framework = shown.scenario.phsafe.framework
    found = []
    if entry.margins is not None:
        order = sorted(MarginConvention, key=lambda convention: convention is not conventions.margin)
        for convention in order:
            if convention is MarginConvention.PAPER and entry.margins.paper is None:
                continue
            explanation = explain_margin(entry, framework, conventions, convention)
            found.append(Topic(f"Margin, {margin_word(convention)}", explanation))
        name = "Noise σ" if framework is PrivacyFramework.ZCDP else "Noise"
        found.append(Topic(name, explain_sigma(entry, framework)))
    found.append(Topic("Sensitivity Δ", explain_sensitivity(entry)))
    return tuple(found)


def _whole_topics(shown: ScenarioView) -> tuple[Topic, ...]:
    found = [Topic("Privacy loss", explain_total(shown.figures))]
    for figure in shown.figures.privacy.epsilons:
        if figure.conversion is not None and figure.delta != shown.scenario.conventions.delta:
            continue
        side = "bounded" if figure.neighbours is Neighbours.BOUNDED else "unbounded"
        name = f"ε {side}" + (f", {conversion_title(figure.conversion)}" if figure.conversion else "")
        found.append(Topic(name, explain_epsilon(figure)))
    return tuple(found)


def derived_lines(shown: ScenarioView, query: QueryKey) -> tuple[DerivedLine, ...]:
    """Return the sums, totals and copies computed from a query."""
    conventions = shown.scenario.conventions
    return tuple(
        DerivedLine(entry.table, _derived_label(entry), people(entry.margins.by(conventions.margin)), explained)
        for entry in shown.figures.derived
        if entry.source == query.table and entry.level == query.level
        for explained in (explain_derived(entry, conventions),)
    )


def _derived_label(entry: DerivedForecast) -> str:
    label = entry.label if entry.kind is not DerivedKind.TOTAL else "Total"
    return label if entry.table == entry.source else f"{entry.table}: {label}"


def field_history(steps: Sequence[Step[Workbook]], cursor: int, query: QueryKey) -> tuple[FieldStep, ...]:
    """Return the steps that changed the budget or target of a query in the active scenario, newest first."""
    found: list[FieldStep] = []
    first = max(0, cursor + 1 - _LONGEST_HISTORY)
    before: tuple[object, object] | None = None
    for number in range(first, cursor + 1):
        method = steps[number].value.scenario.phsafe
        now = (method.budgets.get(query), method.targets.get(query))
        if now != before:
            budget, target = method.budgets.get(query), method.targets.get(query)
            value = f"{method.framework.symbol} {budget_text(budget)}" if budget is not None else "none"
            if target is not None:
                value += f", target {people(target)}"
            found.append(FieldStep(number, steps[number].label, value, is_current=False))
        before = now
    if found:
        last = found[-1]
        found[-1] = FieldStep(last.number, last.label, last.value, is_current=True)
    return tuple(reversed(found))


def issues_of(shown: ScenarioView, query: QueryKey) -> tuple[Issue, ...]:
    """Return the issues that name a query or its table."""
    return tuple(issue for issue in shown.issues if {query.text, query.table} & set(issue.path))


def subtitle(query: QueryKey) -> str:
    """Return what the table of a query counts."""
    product = tables()[query.table]
    return f"{product.title}. Universe: {product.universe}."


def query_of(issue: Issue) -> QueryKey | None:
    """Return the query an issue is about, None when it is about something else."""
    if len(issue.path) < 2 or "/" not in issue.path[1]:
        return None
    return parse_query(issue.path[1])
