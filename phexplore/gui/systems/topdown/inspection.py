"""What is said about a query at a level, a level, or everything: explanations, history of the field, issues. No Qt."""

from __future__ import annotations

from functools import partial

from phexplore.accuracy.privacy_loss import HEADLINE_DELTA
from phexplore.document.project import Project
from phexplore.figures.wording import conversion_title, people, percent, share_percent, significant
from phexplore.gui.binding.inspection import Inspection, Topic, field_history, margin_lines, margin_topics
from phexplore.gui.systems.topdown.session import Place, TopDownShown
from phexplore.model.issues import Issue
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.phsafe.explain import explain_epsilon
from phexplore.systems.topdown.explain import (
    explain_answer_margin,
    explain_attribute,
    explain_block_within,
    explain_budget,
    explain_joint,
    explain_level,
    explain_topdown_total,
    explain_variance,
    share_words,
)
from phexplore.systems.topdown.wording import counted, heading, level_title, place_title, query_sentence


def inspect(shown: TopDownShown, place: Place, project: Project) -> Inspection:
    """Return what there is to say about a query at a level, a level, or everything.

    Args:
        shown: the version.
        place: None for everything.
        project: with the steps that led there.
    """
    conventions = shown.scenario.conventions
    entry = shown.entries.get(place) if isinstance(place, LevelQuery) else None
    margins = entry.margins if entry is not None else None
    meaning = ""
    if margins is not None:
        chosen = margins.by(conventions.margin)
        meaning = (
            f"{share_words(conventions.confidence)} {people(float(chosen or 0))} {counted(shown.method.schema)} of the "
            "true count, before post-processing."
        )
    return Inspection(
        heading(place_title(place)),
        subtitle(shown, place),
        share_of_all(shown, place),
        margin_lines(margins, conventions.margin),
        meaning,
        topics(shown, place),
        issues_of(shown, place),
        history=field_history(project.steps, project.cursor, shown.scenario, partial(_field, place=place)),
    )


def topics(shown: TopDownShown, place: Place) -> tuple[Topic, ...]:
    """Return what can be explained; the most asked first."""
    if isinstance(place, LevelQuery):
        return _query_topics(shown, place) if place in shown.entries else ()
    if place is not None:
        symbol = shown.method.framework.symbol
        found = [Topic(f"{symbol} of the level", explain_level(shown.method, place))]
        found += [
            Topic("Block within this level", explain_block_within(loss, shown.method))
            for loss in shown.figures.block_within
            if loss.name == place
        ]
        return tuple(found)
    return _whole_topics(shown)


def _query_topics(shown: TopDownShown, key: LevelQuery) -> tuple[Topic, ...]:
    entry, conventions, framework = shown.entries[key], shown.scenario.conventions, shown.method.framework
    explain = partial(explain_answer_margin, entry, framework, conventions)
    found = margin_topics(entry.margins, conventions.margin, explain)
    if entry.margins is not None:
        name = "Noise σ" if framework is PrivacyFramework.ZCDP else "Noise"
        found.append(Topic(name, explain_variance(entry, framework)))
    found.append(Topic(f"Budget {framework.symbol}", explain_budget(shown.method, key)))
    return tuple(found)


def _whole_topics(shown: TopDownShown) -> tuple[Topic, ...]:
    figures, method = shown.figures, shown.method
    found = [Topic("Privacy loss", explain_topdown_total(figures, method))]
    for figure in figures.epsilons:
        if figure.conversion is not None and figure.delta != shown.scenario.conventions.delta:
            continue
        name = f"ε, {conversion_title(figure.conversion)}" if figure.conversion else "ε"
        found.append(Topic(name, explain_epsilon(figure)))
    if shown.joint is not None:
        found.append(
            Topic("With the other part of the release", explain_joint(shown.joint, method.total, HEADLINE_DELTA))
        )
    found += [
        Topic(f"Block within {level_title(loss.name).lower()}", explain_block_within(loss, method))
        for loss in figures.block_within
    ]
    found += [Topic(f"{loss.name} alone", explain_attribute(loss, method)) for loss in figures.attributes]
    return tuple(found)


def subtitle(shown: TopDownShown, place: Place) -> str:
    """Return what is counted there."""
    method = shown.method
    if isinstance(place, LevelQuery):
        return query_sentence(method.schema, place.query)
    if place is not None:
        return f"{len(method.queries_at(place))} query groups are measured in every unit of this level."
    return f"{len(method.levels)} levels, {len(method.query_shares)} measurements of {counted(method.schema)}."


def _field(scenario: Scenario, place: Place) -> tuple[object, str]:
    method = scenario.topdown
    if place is None:
        return method.total, f"{method.framework.symbol} {significant(method.total, 6)}"
    share = method.query_shares.get(place) if isinstance(place, LevelQuery) else method.level_shares.get(place)
    return share, "not measured" if share is None else share_percent(share)


def issues_of(shown: TopDownShown, place: Place) -> tuple[Issue, ...]:
    """Return the issues that name a place; all of them for None."""
    if place is None:
        return shown.issues
    names = {place.text, place.level} if isinstance(place, LevelQuery) else {place}
    return tuple(issue for issue in shown.issues if names & set(issue.path))


def place_of(issue: Issue, method: TopDown) -> Place:
    """Return the place an issue is about, None when it is about something else."""
    if len(issue.path) < 2:
        return None
    level, slash, query = issue.path[1].partition("/")
    if slash and LevelQuery(level, query) in method.query_shares:
        return LevelQuery(level, query)
    return level if level in method.levels else None


def share_of_all(shown: TopDownShown, place: Place) -> str:
    """Return how much of the whole a place takes, in words."""
    symbol = shown.method.framework.symbol
    if isinstance(place, LevelQuery):
        entry = shown.entries.get(place)
        return f"{percent(entry.share_of_total)} of the whole {symbol}" if entry is not None else "Not measured here"
    if place is not None:
        return f"{percent(shown.method.level_shares[place])} of the whole {symbol}"
    return ""
