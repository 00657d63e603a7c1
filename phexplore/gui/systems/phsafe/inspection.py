"""What is said about one query, or about the whole: explanations, the history of the field, its issues. No Qt."""

from __future__ import annotations

from functools import partial

from phexplore.catalog.tables import counted_in, tables
from phexplore.document.project import Project
from phexplore.figures.wording import budget_text, conversion_title, people
from phexplore.gui.binding.inspection import DerivedLine, Inspection, Topic, field_history, margin_lines, margin_topics
from phexplore.gui.binding.scenario_view import ScenarioView
from phexplore.model.conventions import Neighbours
from phexplore.model.issues import Issue
from phexplore.model.keys import QueryKey, parse_query
from phexplore.model.numbers import Unlimited
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.systems.phsafe.explain import (
    explain_derived,
    explain_epsilon,
    explain_margin,
    explain_sensitivity,
    explain_sigma,
    explain_total,
    frequency_sentence,
)
from phexplore.systems.phsafe.forecast import DerivedForecast, DerivedKind
from phexplore.systems.phsafe.meeting import noisy_answer


def inspect(shown: ScenarioView, query: QueryKey | None, project: Project) -> Inspection:
    """Return what there is to say about a query, or about the whole scenario.

    Args:
        shown: the version.
        query: None for the whole scenario.
        project: with the steps that led there.
    """
    if query is None:
        hint = "Choose a row of the table or a mark in a picture to inspect it."
        return Inspection(shown.scenario.name, hint, topics=topics(shown, None))
    conventions = shown.scenario.conventions
    margins = shown.figures.query(query).margins
    chosen = None if margins is None else margins.by(conventions.margin)
    meaning = "Not published: the budget is 0." if margins is None else ""
    if chosen is not None:
        meaning = frequency_sentence(float(chosen), conventions, counted_in(query.table))
    return Inspection(
        query.title,
        subtitle(query),
        margins=margin_lines(margins, conventions.margin),
        meaning=meaning,
        topics=topics(shown, query),
        issues=issues_of(shown, query),
        derived=derived_lines(shown, query),
        history=field_history(project.steps, project.cursor, shown.scenario, partial(_field, query=query)),
        answer=noisy_answer(shown.scenario, query),
    )


def topics(shown: ScenarioView, query: QueryKey | None) -> tuple[Topic, ...]:
    """Return what can be explained about a query, or about the whole scenario; the most asked first."""
    return _whole_topics(shown) if query is None else _query_topics(shown, query)


def _query_topics(shown: ScenarioView, query: QueryKey) -> tuple[Topic, ...]:
    entry, conventions = shown.figures.query(query), shown.scenario.conventions
    framework = shown.scenario.phsafe.framework
    explain = partial(explain_margin, entry, framework, conventions)
    found = margin_topics(entry.margins, conventions.margin, explain)
    if entry.margins is not None:
        name = "Noise σ" if framework is PrivacyFramework.ZCDP else "Noise"
        found.append(Topic(name, partial(explain_sigma, entry, framework)))
    found.append(Topic("Sensitivity Δ", partial(explain_sensitivity, entry)))
    return tuple(found)


def _whole_topics(shown: ScenarioView) -> tuple[Topic, ...]:
    found = [Topic("Privacy loss", partial(explain_total, shown.figures))]
    for figure in (*shown.proven_figures, *shown.figures.privacy.epsilons):
        if figure.conversion is not None and figure.delta != shown.scenario.conventions.delta:
            continue
        side = "bounded" if figure.neighbours is Neighbours.BOUNDED else "unbounded"
        name = f"ε {side}" + (f", {conversion_title(figure.conversion)}" if figure.conversion else "")
        found.append(Topic(name, partial(explain_epsilon, figure)))
    return tuple(found)


def derived_lines(shown: ScenarioView, query: QueryKey) -> tuple[DerivedLine, ...]:
    """Return the sums, totals and copies computed from a query."""
    conventions = shown.scenario.conventions
    return tuple(
        DerivedLine(entry.table, _derived_label(entry), people(entry.margins.by(conventions.margin)), explained)
        for entry in shown.figures.query(query).derived
        for explained in (explain_derived(entry, conventions),)
    )


def _derived_label(entry: DerivedForecast) -> str:
    label = entry.label if entry.kind is not DerivedKind.TOTAL else "Total"
    return label if entry.table == entry.source else f"{entry.table}: {label}"


def _field(scenario: Scenario, query: QueryKey) -> tuple[object, str]:
    method = scenario.phsafe
    budget, target = method.budgets.get(query), method.targets.get(query)
    bounded = budget if budget is None or isinstance(budget, Unlimited) else 2 * budget
    value = "none" if bounded is None else f"bounded {method.framework.symbol} {budget_text(bounded)}"
    return (budget, target), value + ("" if target is None else f", target {people(target)}")


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
