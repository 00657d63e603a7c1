"""The first page of a report: three sentences, one picture of what changed, who decided, and what is open."""

from __future__ import annotations

from collections.abc import Sequence

from phexplore.accuracy.margins import is_met
from phexplore.figures.figure import Figure, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Table
from phexplore.figures.to_matplotlib import chart_of
from phexplore.figures.wording import (
    bound_text,
    changed_targets,
    counted,
    epsilon_words,
    margin_word,
    people,
    signed_people,
)
from phexplore.model.approval import Decision, status_of
from phexplore.model.fingerprint import fingerprint
from phexplore.model.issues import Severity
from phexplore.model.moments import day_text
from phexplore.model.rounded import percent
from phexplore.model.scenario import Scenario, stated_as
from phexplore.report.document import Part
from phexplore.report.provenance import Section
from phexplore.systems.protocol import Entry, Forecast
from phexplore.systems.registry import budgets_of, check, forecast, system_of

_MOST_CHANGES, _MOST_GROUPS, _MOST_ISSUES = 8, 12, 3
"""What one page has room for."""


def opening(scenario: Scenario, compared: Scenario | None, decisions: Sequence[Decision]) -> Part:
    """Return the first page of the report of a scenario.

    Args:
        scenario: of any system.
        compared: what its figures are set beside, None for nothing.
        decisions: of its project, oldest first.
    """
    after, before = forecast(scenario), None if compared is None else forecast(stated_as(compared, scenario))
    name = "" if compared is None else compared.name
    figure = changes_figure(scenario, after, before, name)
    sentences = (
        _cost(scenario, after, before, name),
        _accuracy(scenario, after, compared),
        _change(scenario, after, before, name),
    )
    charts = () if figure.is_empty else (chart_of(figure),)
    sections = (
        Section("Who decided", _decided(scenario, decisions)),
        Section("What is open", _open(scenario, decisions)),
    )
    return Part("summary", "In short", sentences, charts=charts, sections=sections)


def changes_figure(scenario: Scenario, after: Forecast, before: Forecast | None, name: str) -> Figure:
    """Return what changed in people, the largest changes first; without changes, the narrowest margin of every table or level.

    Args:
        scenario: of any system.
        after: its figures.
        before: those of what it is compared with, None for nothing.
        name: of what it is compared with.
    """
    system, conventions = system_of(scenario), scenario.conventions
    unit = system.counted(scenario, None)
    pairs = _pairs(scenario, after, before)
    changed = sorted((pair for pair in pairs if _differs(*pair[1:])), key=lambda pair: -_size(*pair[1:]))
    best: dict[str, tuple[Entry, float | None, float | None]] = {}
    for pair in sorted((pair for pair in pairs if pair[2] is not None), key=lambda pair: pair[2] or 0.0):
        best.setdefault(system.place_name(pair[0].place).group, pair)
    shown = changed or list(best.values())
    rows = []
    for entry, old, new in shown[: _MOST_CHANGES if changed else _MOST_GROUPS]:
        place = system.place_name(entry.place)
        linked = old is not None and new is not None and bool(changed)
        text = _moved(old, new) if changed else f"±{people(new or 0.0)}"
        if linked:
            # It stands behind the stroke of the reference, whose margin it would be taken for.
            text = f"±{people(old or 0.0)} → {text}"
        rows.append(
            Row(entry.place, "", place.title, new, tick=old if changed else None, is_linked=linked, text=text, tip=text)
        )
    often = f"{percent(conventions.confidence, places=None)}, {margin_word(conventions.margin)}"
    more = f"; the first {len(rows)} are shown" if len(shown) > len(rows) else ""
    if changed:
        title = f"What changed in {unit}: {counted(len(changed), 'margin')}{more}"
        summary = f"A dot is the margin now, a stroke that of {name}. A margin is how far noise moves a number."
    else:
        title = f"How far noise moves a number, in {unit}: the narrowest margins{more}"
        beside = f"No margin differs from {name}" if name else "Nothing is compared"
        summary = f"{beside}. Shown is the most precise number of every table or level."
    table = tuple((system.place_name(entry.place).title, old, new) for entry, old, new in shown)
    axis = f"margin of one answer, {unit} ({often})"
    return row_figure("what-changed", rows, axis, title, summary, Table(("Query", "Before", "Now"), table))


def _pairs(
    scenario: Scenario, after: Forecast, before: Forecast | None
) -> list[tuple[Entry, float | None, float | None]]:
    """Return every query with its margin before and now; None where it is not published."""

    def margin(entry: Entry | None) -> float | None:
        return None if entry is None or entry.margins is None else float(entry.margins.by(scenario.conventions.margin))

    then = {entry.place: entry for entry in before.entries} if before is not None else {}
    now = {entry.place for entry in after.entries}
    pairs = [(entry, margin(then.get(entry.place)), margin(entry)) for entry in after.entries]
    if before is None:
        return [(entry, new, new) for entry, _, new in pairs]
    return [*pairs, *((entry, margin(entry), None) for place, entry in then.items() if place not in now)]


def _differs(old: float | None, new: float | None) -> bool:
    if old is None or new is None:
        return old is not new
    return people(old) != people(new)  # as shown


def _size(old: float | None, new: float | None) -> float:
    return abs((new or 0.0) - (old or 0.0))


def _moved(old: float | None, new: float | None) -> str:
    if old is None:
        return f"new: ±{people(new or 0.0)}"
    return (
        f"not published any more, was ±{people(old)}" if new is None else f"±{people(new)} ({signed_people(new - old)})"
    )


def _cost(scenario: Scenario, after: Forecast, before: Forecast | None, name: str) -> str:
    loss, delta = after.loss, scenario.conventions.delta
    if loss.bound is None:
        return "Privacy: at least one number is published without noise, so nobody is protected by a bound."
    spent = f"{loss.framework.symbol} = {bound_text(loss.bound)}"
    words = epsilon_words(after.proven(delta), loss.epsilon_at(delta), delta) if spent[0] != "ε" else ""
    meant = f" ({words})" if words else ""
    earlier = None if before is None else before.loss.bound
    beside = ""
    if before is not None and before.loss.framework is not loss.framework:
        beside = f", by another definition than {name}, which does not compare"
    elif earlier:
        moved = (loss.bound - earlier) / earlier
        size = percent(abs(moved))
        beside = f", as much as {name}" if not moved else f", {size} {'more' if moved > 0 else 'less'} than {name}"
    return f"Privacy: the whole release spends {spent}{meant}{beside}; less protects every person better."


def _accuracy(scenario: Scenario, after: Forecast, compared: Scenario | None) -> str:
    found = [(value, entry) for entry, _, value in _pairs(scenario, after, None) if value is not None]
    if not found:
        return "Accuracy: nothing is published with noise."
    system = system_of(scenario)
    (least, narrow), (most, wide) = (each(found, key=lambda pair: pair[0]) for each in (min, max))
    often = percent(scenario.conventions.confidence, places=None)
    kept = _targets(scenario, compared, {entry.key: value for value, entry in found})
    reach = f"±{people(most)} ({system.place_name(wide.place).title})"
    if people(least) != people(most):
        reach = f"±{people(least)} ({system.place_name(narrow.place).title}) to {reach}"
    return f"Accuracy: noise moves one measured number by at most {reach} in {often} of all cases{kept}."


def _targets(scenario: Scenario, compared: Scenario | None, margins: dict[object, float]) -> str:
    if system_of(scenario).budgets is None or not (targets := budgets_of(scenario).targets):
        return ""
    judged = [is_met(margins[key], target) for key, target in targets.items() if key in margins]
    met = f"; {sum(judged)} of {len(judged)} targets are met"
    if compared is None or system_of(compared) is not system_of(scenario):
        return met
    moved = changed_targets(budgets_of(compared).targets, targets)
    return f"{met}; {moved}" if moved else met


def _change(scenario: Scenario, after: Forecast, before: Forecast | None, name: str) -> str:
    if before is None:
        return f"Changes: nothing is compared here; a reference shows what every change means in {system_of(scenario).counted(scenario, None)}."
    pairs = _pairs(scenario, after, before)
    changed = [pair for pair in pairs if _differs(*pair[1:])]
    if not changed:
        return f"Changes: all {len(pairs)} margins are those of {name}."
    both = [(old, new) for _, old, new in changed if old is not None and new is not None]
    wider = sum(new > old for old, new in both)
    kinds = {
        "wider": wider,
        "narrower": len(both) - wider,
        "not published any more": sum(pair[2] is None for pair in changed),
    }
    kinds["new"] = len(changed) - sum(kinds.values())
    said = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    entry, old, new = max(changed, key=lambda pair: _size(*pair[1:]))
    most = system_of(scenario).place_name(entry.place).title
    moved = (
        f"±{people(old)} before, {_moved(old, new)} now" if old is not None and new is not None else _moved(old, new)
    )
    return f"Changes: {len(changed)} of {len(pairs)} margins differ from {name}: {said}; the largest change is {most}, {moved}."


def _decided(scenario: Scenario, decisions: Sequence[Decision]) -> tuple[tuple[str, str], ...]:
    own = [decision for decision in decisions if decision.fingerprint == fingerprint(scenario)]
    if not own:
        return (("Nobody yet", "These parameters are a draft: no decision about exactly them is recorded."),)
    return tuple(
        (
            f"{decision.status.title}, {day_text(decision.at)}",
            f"{decision.who}, {decision.role}{f': {decision.note}' if decision.note else ''}",
        )
        for decision in own
    )


def _open(scenario: Scenario, decisions: Sequence[Decision]) -> tuple[tuple[str, str], ...]:
    issues = check(scenario)
    status = status_of(decisions, fingerprint(scenario))
    said = (
        [("Decision", f"The status of the parameters is {status.value}; nobody has approved them.")]
        if status.value != "approved"
        else []
    )
    said += [(issue.place, f"{issue.sentence} {issue.remedy}".strip()) for issue in issues[:_MOST_ISSUES]]
    errors = sum(issue.severity is Severity.ERROR for issue in issues)
    if len(issues) > _MOST_ISSUES:
        said.append(
            ("Further", f"{len(issues)} issues in all, {errors} of them errors; the chapter of issues lists them.")
        )
    return tuple(said) or (("Nothing", "No issue is open."),)
