"""What is said of a TopDown scenario: the figures read from six metres away, every difference, every explanation. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from phexplore.accounting.zcdp import epsilon
from phexplore.accuracy.privacy_loss import HEADLINE_DELTA
from phexplore.document.project import Project
from phexplore.figures.tile import TileContent, Tone
from phexplore.figures.wording import (
    CONVERTED,
    bound_text,
    budget_text,
    conversion_title,
    margin_word,
    people,
    power_text,
    share_percent,
    signed_people,
)
from phexplore.gui.binding.areas import Area
from phexplore.gui.binding.change_texts import ChangeLine
from phexplore.gui.binding.inspection import Inspection, Topic, field_history, margin_lines, margin_topics
from phexplore.gui.binding.tiles import loss_tile
from phexplore.gui.systems.topdown.session import Place, TopDownShown
from phexplore.model.conventions import Conversion
from phexplore.model.diff import Change, changed_values, diff, parameters_only
from phexplore.model.issues import Issue
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import epsilon_bound, percent
from phexplore.model.scenario import Scenario
from phexplore.model.topdown import LevelQuery, TopDown
from phexplore.systems.phsafe.explain import explain_epsilon
from phexplore.systems.registry import absurd_epsilon
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
from phexplore.systems.topdown.meeting import noisy_answer
from phexplore.systems.topdown.share_cells import Version
from phexplore.systems.topdown.spine_words import spine_difference
from phexplore.systems.topdown.wording import (
    UNITS_OF_RESULTS,
    counted,
    heading,
    level_title,
    place_title,
    query_sentence,
)

_AREAS = dict.fromkeys(("passes", "invariants", "constraints"), Area.LEVELS) | {"spine": Area.SPINE}


def topdown_tiles(shown: TopDownShown) -> tuple[TileContent, ...]:
    """Return the three figures of TopDown parameters: total, ε, margin of a total."""
    return topdown_loss_tile(shown), topdown_epsilon_tile(shown), topdown_margin_tile(shown)


def topdown_loss_tile(shown: TopDownShown) -> TileContent:
    """Return the total with its change."""

    def loss(version: Version) -> tuple[PrivacyFramework, Fraction]:
        return version.scenario.topdown.framework, version.scenario.topdown.total

    return loss_tile(shown.whole, loss, caption=f"Privacy loss, bounded {shown.method.framework.symbol}")


def topdown_epsilon_tile(shown: TopDownShown) -> TileContent:
    """Return ε of the total, and of both parts of the release together."""
    method, conventions = shown.method, shown.scenario.conventions
    said = absurd_epsilon(shown.scenario)
    if method.framework is PrivacyFramework.PURE_DP:
        tone = Tone.ATTENTION if said else Tone.NEUTRAL
        return TileContent("ε", budget_text(method.total), "pure DP", said or "no δ is needed", tone)
    value = epsilon(method.total, conventions.delta, Conversion.ZCDP_OPTIMAL_ALPHA)
    beside = f"at δ = {power_text(conventions.delta)}, rounded up"
    caption = f"ε, {CONVERTED}"
    joint, exact = shown.joint, f"{value:.12g}, shown rounded up; {conversion_title(Conversion.ZCDP_OPTIMAL_ALPHA)}"
    change = ""
    if joint is not None:
        both = epsilon(joint.rho, conventions.delta, Conversion.ZCDP_OPTIMAL_ALPHA)
        change = f"{epsilon_bound(both)} with {joint.partner}"
    if said:
        return TileContent(caption, epsilon_bound(value), beside, said, Tone.ATTENTION, exact)
    return TileContent(caption, epsilon_bound(value), beside, change, exact=exact)


def topdown_margin_tile(shown: TopDownShown) -> TileContent:
    """Return the margin of the total at the lowest level above blocks, where redistricting looks."""
    method, conventions = shown.method, shown.scenario.conventions
    word = counted(method.schema)
    keys = [LevelQuery(level, name) for level in method.levels[-2::-1] for name in ("total", "detailed")]
    key = next((key for key in keys if key in shown.entries and shown.entries[key].margins is not None), None)
    if key is None:
        return TileContent("Margin of a total", "none", "", "No level above the lowest has a budget")
    entry = shown.entries[key]
    margin = entry.margins.by(conventions.margin) if entry.margins is not None else 0.0
    change, tone = f"{percent(conventions.confidence, places=None)}, {margin_word(conventions.margin)}", Tone.NEUTRAL
    before = shown.reference.entries.get(key) if shown.reference is not None else None
    if before is not None and before.margins is not None:
        difference = margin - before.margins.by(conventions.margin)
        if abs(difference) >= 0.005:
            tone = Tone.ATTENTION if difference > 0 else Tone.GOOD
            change = f"{signed_people(difference)} {word}"
        else:
            change = "as in the reference"
    what = "total" if key.query == "total" else "cell"
    # Results speak of tabulated units, which an optimised spine does not have.
    whose, exact = ("", "") if method.spine.kind == "standard" else ("the spine's ", UNITS_OF_RESULTS)
    return TileContent(
        f"Margin of a {what}, {whose}{level_title(key.level).lower()}", f"±{people(margin)}", word, change, tone, exact
    )


def change_lines(shown: TopDownShown) -> tuple[ChangeLine, ...]:
    """Return every parameter that differs from the reference; empty without one.

    A moved share takes the rest of its column along: such a column is one line that names the largest movements.
    """
    reference = shown.reference
    if reference is None:
        return ()
    changes = parameters_only(diff(reference.scenario, shown.scenario))
    found = []
    columns: dict[str | None, list[Change]] = {}
    for change in changes:
        if change.word == "level share":
            columns.setdefault(None, []).append(change)
        elif change.word == "query share" and isinstance(change.key, LevelQuery):
            columns.setdefault(change.key.level, []).append(change)
        else:
            found.append(_single(change, shown))
    found += [_column(level, each, shown) for level, each in columns.items()]
    return tuple(found)


def _single(change: Change, shown: TopDownShown) -> ChangeLine:
    key = change.key if isinstance(change.key, str) else None
    match change.word:
        case "total":
            symbol = shown.method.framework.symbol
            words = f"Total {symbol}: {bound_text(change.before)} → {bound_text(change.after)}"
        case "spine":
            words = f"Spine: {spine_difference(change.before, change.after)}"
        case "invariants" | "constraints":
            words = f"{change.word.capitalize()} at {level_title(key or '')}: {_names(change.before, change.after)}"
        case "passes":
            words = f"Order of the passes at {level_title(key or '')} changed"
        case _:
            name = change.word.capitalize()
            words = f"{name}: {' → '.join(changed_values(change))}"
    return ChangeLine(words, key, _AREAS.get(change.word, Area.BUDGETS))


def _column(level: str | None, changes: Sequence[Change], shown: TopDownShown) -> ChangeLine:
    ordered = sorted(changes, key=lambda change: -abs(_number(change.after) - _number(change.before)))
    first = ordered[0]
    place = first.key if isinstance(first.key, LevelQuery | str) else None
    words = f"{heading(place_title(place))}: share {_share(first.before)} → {_share(first.after)}"
    if isinstance(place, LevelQuery) and (margins := _margins(place, shown)):
        words += f"; margin {margins}"
    rest = len(ordered) - 1
    if rest:
        what = "levels" if level is None else f"query groups at {level_title(level)}"
        words += f"; {rest} other {what} moved"
    return ChangeLine(words, place, count=len(changes))


def _margins(key: LevelQuery, shown: TopDownShown) -> str:
    convention = shown.scenario.conventions.margin
    reference = shown.reference
    before = reference.entries.get(key) if reference is not None else None
    words = [
        "none" if entry is None or entry.margins is None else f"±{people(entry.margins.by(convention))}"
        for entry in (before, shown.entries.get(key))
    ]
    return f"{words[0]} → {words[1]} {counted(shown.method.schema)}"


def _number(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(0)


def _share(value: Any) -> str:
    return share_percent(value) if isinstance(value, Fraction) else "not measured"


def _names(before: Any, after: Any) -> str:
    was, now = set(before or ()), set(after or ())
    words = [f"{name} added" for name in sorted(now - was)] + [f"{name} dropped" for name in sorted(was - now)]
    return ", ".join(words) or "another order"


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
        answer=noisy_answer(shown.scenario, place) if isinstance(place, LevelQuery) else None,
    )


def topics(shown: TopDownShown, place: Place) -> tuple[Topic, ...]:
    """Return what can be explained; the most asked first."""
    if isinstance(place, LevelQuery):
        return _query_topics(shown, place) if place in shown.entries else ()
    if place is not None:
        symbol = shown.method.framework.symbol
        found = [Topic(f"{symbol} of the level", partial(explain_level, shown.method, place))]
        found += [
            Topic(
                "Block within this level",
                partial(explain_block_within, loss, shown.method, shown.whole.proven_part(loss.name)),
            )
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
        found.append(Topic(name, partial(explain_variance, entry, framework)))
    found.append(Topic(f"Budget {framework.symbol}", partial(explain_budget, shown.method, key)))
    return tuple(found)


def _whole_topics(shown: TopDownShown) -> tuple[Topic, ...]:
    figures, method = shown.figures, shown.method
    found = [Topic("Privacy loss", partial(explain_topdown_total, figures, method))]
    for figure in (*shown.whole.proven_figures, *figures.epsilons):
        if figure.conversion is not None and figure.delta != shown.scenario.conventions.delta:
            continue
        name = f"ε, {conversion_title(figure.conversion)}" if figure.conversion else "ε"
        found.append(Topic(name, partial(explain_epsilon, figure)))
    if shown.joint is not None:
        found.append(
            Topic(
                "With the other part of the release", partial(explain_joint, shown.joint, method.total, HEADLINE_DELTA)
            )
        )
    found += [
        Topic(
            f"Block within {level_title(loss.name).lower()}",
            partial(explain_block_within, loss, method, shown.whole.proven_part(loss.name)),
        )
        for loss in figures.block_within
    ]
    found += [
        Topic(f"{loss.name} alone", partial(explain_attribute, loss, method, shown.whole.proven_part(loss.name)))
        for loss in figures.attributes
    ]
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
        return method.total, bound_text(method.total)
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
