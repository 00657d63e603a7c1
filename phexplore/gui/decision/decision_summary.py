"""What a person sees before a name stands under parameters: loss, changes in people, targets, warnings, runs. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from phexplore.accuracy.privacy_loss import EpsilonFigure
from phexplore.figures.wording import conversion_title, people, power_text
from phexplore.gui.binding.change_texts import change_texts
from phexplore.gui.binding.shown import Shown
from phexplore.gui.binding.tiles import TileContent, Tone
from phexplore.gui.binding.verdicts import verdict_summary
from phexplore.gui.systems.group_sizes.tiles import size_tiles
from phexplore.gui.systems.phsafe.changes import change_lines
from phexplore.gui.systems.phsafe.tiles import loss_tile, missed_targets
from phexplore.gui.systems.subspace.tiles import subspace_tiles
from phexplore.gui.systems.topdown.changes import change_lines as topdown_change_lines
from phexplore.gui.systems.topdown.scenario_view import topdown_shown
from phexplore.gui.systems.topdown.tiles import topdown_loss_tile
from phexplore.model.conventions import Conversion
from phexplore.model.diff import diff
from phexplore.model.group_sizes import GroupSizes
from phexplore.model.issues import Severity
from phexplore.model.keys import QueryKey
from phexplore.model.phsafe import PhSafe
from phexplore.model.rules import Outcome, Verdict
from phexplore.model.subspace import Subspace
from phexplore.model.topdown import TopDown


@dataclass(frozen=True, slots=True)
class SummaryEntry:
    """One thing to know before deciding.

    Attributes:
        caption: what it is about.
        lines: what holds, a line each.
        tone: how loudly it is said.
    """

    caption: str
    lines: tuple[str, ...]
    tone: Tone = Tone.NEUTRAL


def decision_summary(shown: Shown, runs: Sequence[str], verdicts: Sequence[Verdict] = ()) -> tuple[SummaryEntry, ...]:
    """Return everything to know before a decision about the active scenario.

    Args:
        shown: the parameters with their figures.
        runs: titles of the runs that will be cited.
        verdicts: on the decision rules of the project.
    """
    entries = [_loss(shown), _changed(shown)]
    if isinstance(shown.scenario.method, PhSafe):
        entries += [_missed(shown), _moved_targets(shown)]
    if verdicts:
        failed = any(each.outcome is not Outcome.PASS for each in verdicts)
        entries.append(
            SummaryEntry("Decision rules", (verdict_summary(verdicts),), Tone.ATTENTION if failed else Tone.GOOD)
        )
    entries.append(_issues(shown))
    none = "none: the decision rests on the forecast alone"
    entries.append(SummaryEntry("Runs cited", tuple(runs) or (none,), Tone.NEUTRAL if runs else Tone.ATTENTION))
    return tuple(entries)


def _loss(shown: Shown) -> SummaryEntry:
    tile, epsilons = _tile_and_epsilons(shown)
    first = ", ".join(filter(None, (f"{tile.caption.removeprefix('Privacy loss, ')} {tile.value}", tile.beside)))
    against = f" against {shown.reference.title}" if shown.reference is not None and tile.change else ""
    change = (f"{tile.change}{against}",) if tile.change else ()
    return SummaryEntry("Privacy loss", (first, *map(_epsilon_line, epsilons), *change), tile.tone)


def _tile_and_epsilons(shown: Shown) -> tuple[TileContent, tuple[EpsilonFigure, ...]]:
    match shown.scenario.method:
        case PhSafe():
            tile, figures = loss_tile(shown), shown.figures.privacy.epsilons
        case TopDown():
            tile, figures = topdown_loss_tile(topdown_shown(shown)), shown.figures.epsilons
        case GroupSizes():
            sizes = shown.figures
            tile, figures = size_tiles(shown)[0], () if sizes is None else sizes.epsilons
        case Subspace():
            answers = shown.figures
            tile, figures = subspace_tiles(shown)[0], () if answers is None else answers.epsilons
        case _:
            assert_never(shown.scenario.method)
    # Pure ε is the budget itself; of the conversions, the tightest proven one is the program's headline.
    kinds = (None, Conversion.ZCDP_OPTIMAL_ALPHA)
    wanted = [figure for figure in figures if figure.conversion in kinds]
    return tile, tuple(wanted[:1])


def _epsilon_line(figure: EpsilonFigure) -> str:
    neighbours = f"{figure.neighbours.value} neighbours"
    if figure.conversion is None:
        return f"ε {figure.value:.4g}, pure DP, {neighbours}"
    return (
        f"ε {figure.value:.2f} at δ = {power_text(figure.delta)}, {conversion_title(figure.conversion)}, {neighbours}"
    )


def _changed(shown: Shown) -> SummaryEntry:
    caption = "Changed, in people"
    if shown.reference is None:
        return SummaryEntry(
            caption, ("not known: choose at the top what to compare with, then read again",), Tone.ATTENTION
        )
    match shown.scenario.method:
        case PhSafe():
            lines = tuple(line.text for line in change_lines(shown) if line.field != "target")
        case TopDown():
            lines = tuple(line.text for line in topdown_change_lines(topdown_shown(shown)))
        case GroupSizes() | Subspace():
            lines = change_texts(shown)
        case _:
            assert_never(shown.scenario.method)
    return SummaryEntry(f"{caption}, against {shown.reference.title}", lines or ("nothing",))


def _missed(shown: Shown) -> SummaryEntry:
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


def _moved_targets(shown: Shown) -> SummaryEntry:
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


def _issues(shown: Shown) -> SummaryEntry:
    issues = shown.issues
    if not issues:
        return SummaryEntry("Open issues", ("none",), Tone.GOOD)
    worst = Tone.REFUSED if any(issue.severity is Severity.ERROR for issue in issues) else Tone.ATTENTION
    return SummaryEntry(f"Open issues: {len(issues)}", tuple(f"{i.place}: {i.sentence}" for i in issues), worst)
