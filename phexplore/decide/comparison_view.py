"""Scenarios and runs side by side, as tables and a picture: only what differs, and what it does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from phexplore.accounting.zcdp import bounded
from phexplore.decide.comments import comments_table
from phexplore.decide.comparing import Compared, Comparison, EffectRow, ParameterRow, compare, converted
from phexplore.decide.parameter_words import parameter_words
from phexplore.decide.verdict_words import LOSSES, verdict_text
from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import ROWS, Figure, KeyEntry, nothing
from phexplore.figures.marks import Dot, Mark, Part, Role, Span, shape_of
from phexplore.figures.stated_origin import ORIGIN_COLUMN
from phexplore.figures.table import AtMost, Epsilon, Loss, People, Share, SignedLoss, Table, Value
from phexplore.figures.wording import bound_text, capital, counted, margin_word, people, shown_change
from phexplore.metrics.errors import figure_title
from phexplore.model.conventions import Neighbours
from phexplore.model.diff import value_text
from phexplore.model.numbers import Unlimited
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import percent
from phexplore.model.rules import Outcome, Rule, Verdict
from phexplore.model.scenario import Scenario
from phexplore.runs.confidentiality import summary_to_leave
from phexplore.runs.store import load_spec
from phexplore.systems.protocol import PlaceName, System
from phexplore.systems.registry import loss_of, system_of
from phexplore.text.messages import Quoted, msg, plural

_LONGEST = 60
_SMALLEST, _LARGER = 4.5, 0.4
"""Half the width of the first scenario's mark in pixels, and by how much that of each after it is larger."""
_FOLDED = {"budget", "query share", "level share"}
"""Parameters that one line counts where no margin shows their change."""


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """Something that can be compared.

    Attributes:
        key: names it as long as the project is open.
        title: for people.
        scenario: its parameters.
        run: directory of a finished run, None for a scenario.
    """

    key: str
    title: str
    scenario: Scenario
    run: Path | None = None


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What to compare, and by which rules."""

    choices: tuple[ColumnChoice, ...]
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison, ready to be shown.

    Attributes:
        title: the finding.
        sentence: what the figures mean.
        columns: one row per scenario or run.
        parameters: those that differ, with the effect beside them.
        margins: all that differ.
        measured: what runs counted.
        rules: verdicts.
        comments: what people say about each.
        overlay: the picture.
    """

    title: str
    sentence: str
    columns: Table
    parameters: Table
    margins: Table
    measured: Table
    rules: Table
    comments: Table
    overlay: Figure


def comparison_view(request: ComparisonRequest) -> ComparisonView:
    """Compare; summaries of runs are read from disk.

    Raises:
        PhexploreError: fewer than two, of different systems, or a run cannot be read.
    """
    columns = [
        Compared(each.title, each.scenario)
        if each.run is None
        else Compared(each.title, each.scenario, summary_to_leave(each.run), load_spec(each.run).provenance)
        for each in request.choices
    ]
    return view_of(compare(columns, request.rules))


def view_of(found: Comparison) -> ComparisonView:
    """Return a comparison as it is shown."""
    names = tuple(column.name for column in found.columns)
    # A name is broken at its last space, so that the columns stay narrow.
    heads = tuple("\n".join(name.rsplit(" ", 1)) for name in names)
    system = system_of(found.columns[0].scenario)
    effects = [row for row in found.effects if _differs(row)]
    largest = sorted(effects, key=_spread, reverse=True)
    parameters = [row for row in found.parameters if row.field != "conventions"]
    conventions = found.columns[0].scenario.conventions
    # Group sizes and exact sums have neighbours of their own, whatever the conventions say.
    neighbours = loss_of(found.columns[0].scenario).neighbours
    symbols = {kind.symbol for kind in found.frameworks}
    loss = f"Bounded {symbols.pop() if len(symbols) == 1 else 'loss'}" if neighbours is Neighbours.BOUNDED else ""
    words = [f"{len(parameters)} parameter" + (" differs" if len(parameters) == 1 else "s differ")]
    words.append(f"{len(effects)} margin" + (" differs" if len(effects) == 1 else "s differ"))
    title = " and ".join(words) if parameters or effects else "Nothing differs: all hold the same parameters"
    sentence = (
        f"Baseline: {names[0]}. Its conventions apply to all: {percent(conventions.confidence, places=None)} "
        f"margins, {margin_word(conventions.margin)}, {neighbours.value} neighbors.{_without_targets(found)}"
    )
    kinds = [None if column.provenance is None else column.provenance.kind.value for column in found.columns]
    measured = tuple(
        (f"{figure_title(row.name)}, {system.place_name(row.place).title}", *row.values) for row in found.measured
    )
    return ComparisonView(
        title,
        sentence,
        _columns(found, effects),
        _parameters(system, parameters, effects, heads, loss),
        Table(
            ("Margin of", *(f"± {name}" for name in heads)),
            tuple((system.place_name(r.place).title, *_people(r)) for r in largest),
        ),
        Table(
            ("Measured in runs", *heads),
            (*measured, (ORIGIN_COLUMN, *kinds)) if measured else (),
        ),
        _rules(system, found, heads),
        comments_table([column.scenario for column in found.columns], names),
        _overlay(found, effects, names),
    )


def _without_targets(found: Comparison) -> str:
    """Return who has no targets of their own, where others do: nothing is listed of targets then."""
    aims = [bool(getattr(column.scenario.method, "targets", None)) for column in found.columns]
    if all(aims) or not any(aims):
        return ""
    bare = [column.name for column, aim in zip(found.columns, aims, strict=True) if not aim]
    return f" {' and '.join(bare)} {'has' if len(bare) == 1 else 'have'} no targets, like every production file, so targets are not compared."


def _differs(row: EffectRow) -> bool:
    """Return whether a margin differs in the digits shown."""
    return len({None if value is None else people(value) for value in row.values}) > 1


def _columns(found: Comparison, effects: Sequence[EffectRow]) -> Table:
    kinds = found.frameworks
    has_rho = PrivacyFramework.ZCDP in kinds
    # Where every loss is an ε itself, nothing is converted and no δ belongs to it.
    loss_headers = ("Privacy loss", "Proven ε (δ 10⁻¹⁰)", "ε from ρ (δ 10⁻¹⁰)") if has_rho else ("Privacy loss ε",)
    headers: tuple[str, ...] = ("Compared", *loss_headers, "Change from baseline", "Narrower", "Wider")
    against = headers.index("Change from baseline")
    has_runs = any(column.summary is not None for column in found.columns)
    headers += ("Trials",) if has_runs else ()
    first = _exact(found.totals[0][0])
    rows: list[tuple[Value, ...]] = []
    details = dict.fromkeys([(0, against + n) for n in range(3)], "This is the baseline of the others.")
    for place, (column, (text, _), epsilon) in enumerate(
        zip(found.columns, found.totals, converted(found), strict=True)
    ):
        total = _exact(text)
        loss: Value = Loss(total) if total is not None else text
        if len(set(kinds)) > 1:
            loss = f"{kinds[place].symbol} {text if total is None else bound_text(total)}"
        change: Value = None
        if place and kinds[place] is not kinds[0]:
            change = "another definition"
        elif place and total is not None and first is not None:
            change = SignedLoss(total - first)
        narrower, wider = _narrower_wider(effects, place)
        held = None if column.summary is None else _trials(column.summary)
        high = found.proven[place]
        proven = None if high is None else AtMost(high)
        if has_rho and high is None:
            details[place, 2] = "The program proves a smallest ε only for discrete Gaussian noise; use the converted ε."
        if has_rho and kinds[place] is PrivacyFramework.PURE_DP:
            details[place, 3] = "Its privacy loss is already an ε, so no conversion is necessary."
        if has_runs and held is None:
            details[place, against + 3] = "A scenario has no trials; runs do."
        trials: tuple[Value, ...] = (held,) if has_runs else ()
        epsilons = (proven, None if epsilon is None else Epsilon(epsilon)) if has_rho else ()
        widths = (narrower, wider) if place else (None, None)
        rows.append((column.name, loss, *epsilons, change, *widths, *trials))
    return Table(headers, tuple(rows), details=details)


def _trials(summary: Mapping[str, Any]) -> int | None:
    found = summary.get("trials")
    return found if isinstance(found, int) else None


def _exact(text: str) -> Fraction | None:
    try:
        return Fraction(text)
    except ValueError:
        return None


def _narrower_wider(effects: Sequence[EffectRow], place: int) -> tuple[int, int]:
    pairs = [(row.values[0], row.values[place]) for row in effects]
    changes = [shown_change(first, other) for first, other in pairs if first is not None and other is not None]
    return changes.count(-1), changes.count(1)


def _parameters(
    system: System, rows: Sequence[ParameterRow], effects: Sequence[EffectRow], names: Sequence[str], loss: str
) -> Table:
    """Return the parameters by the size of their effect; budgets whose change no margin shows are one line."""
    headers = ("Parameter", *names, "Effect, margin of", *(f"± {name}" for name in names))
    pairs = [(row, _effect_of(row, effects)) for row in rows]
    visible = [pair for pair in pairs if pair[1] is not None or pair[0].field not in _FOLDED]
    visible.sort(key=lambda pair: math.inf if pair[1] is None else _spread(pair[1]), reverse=True)
    lines = [_parameter(system, row, effect, loss) for row, effect in visible]
    if hidden := len(pairs) - len(visible):
        kind = (
            "budget" if {row.field for row, effect in pairs if effect is None} & _FOLDED == {"budget"} else "parameter"
        )
        lines.append((f"{counted(hidden, kind)} adjusted, margins unchanged", *(None,) * (len(headers) - 1)))
    return Table(headers, tuple(lines))


def _parameter(system: System, row: ParameterRow, effect: EffectRow | None, loss: str) -> tuple[Value, ...]:
    told: tuple[Value, ...] = (None,) * (len(row.values) + 1)
    if effect is not None:
        told = (system.place_name(effect.place).title, *_people(effect))
    words, values = capital(parameter_words(system, row.path)), row.values
    if row.field == "budget" and loss:
        # The losses above it count a record that is replaced; a budget is written for one that is added or removed.
        words = f"{loss}{words.removeprefix('Budget')}"
        values = tuple(Loss(bounded(each)) if isinstance(each, Fraction) and each else each for each in values)
    return (words, *(_value(row.field, value) for value in values), *told)


def _effect_of(row: ParameterRow, effects: Sequence[EffectRow]) -> EffectRow | None:
    """Return the margin that a parameter moves; where it moves several, the one that moves most."""
    kind, name = row.field, row.path.removeprefix(row.field).strip()
    match kind:
        case "budget" | "query share":
            moved = [effect for effect in effects if effect.place == name]
        case "threshold" | "level share" | "release":
            moved = [effect for effect in effects if effect.place.startswith(f"{name}/")]
        case "total" | "framework" | "levels" | "epsilon" | "delta" | "calibration":
            moved = list(effects)
        case _:
            moved = []
    return max(moved, key=_spread, default=None)


def _spread(row: EffectRow) -> float:
    known = [value for value in row.values if value is not None]
    if not known or min(known) <= 0:
        return math.inf if len(known) < len(row.values) else 0.0
    return max(known) / min(known)


def _value(field: str, value: Any) -> Value:
    if isinstance(value, Unlimited):
        return "∞"
    if isinstance(value, Fraction):
        return Share(value) if field.endswith(" share") else value
    if isinstance(value, bool) or value is None or not isinstance(value, int):
        text = "–" if value is None else value_text(value)
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return value


def _people(row: EffectRow) -> tuple[Value, ...]:
    return tuple("not published" if value is None else People(value) for value in row.values)


def _rules(system: System, found: Comparison, names: Sequence[str]) -> Table:
    rows = tuple((row[0].rule.title, *(_verdict(system, verdict) for verdict in row)) for row in found.verdicts)
    return Table(("Decision rule", *names), rows)


def _verdict(system: System, verdict: Verdict) -> str:
    """Return a verdict with the distance to its limit."""
    if verdict.outcome is Outcome.NOT_JUDGED or verdict.value is None:
        return f"not judged: {verdict.reason}" if verdict.reason else "not judged"
    where = (
        f", at {system.place_name(verdict.where).title}" if verdict.where and verdict.rule.measure not in LOSSES else ""
    )
    return f"{verdict_text(verdict)}{where}"


def _overlay(found: Comparison, effects: Sequence[EffectRow], names: Sequence[str]) -> Figure:
    if not effects:
        return nothing("overlay", "All margins are the same; there is nothing to lay over each other.")
    system = system_of(found.columns[0].scenario)
    rows = tuple(overlay_row(system.place_name(row.place), row, names) for row in effects)
    numbers = Table(
        ("Margin of", *(f"± {name}" for name in names)),
        tuple((mark.name, *row.values) for mark, row in zip(rows, effects, strict=True)),
    )
    summary = "A row per margin that differs, all on one scale; the line spans from the narrowest to the widest."
    confidence = percent(found.columns[0].scenario.conventions.confidence, places=None)
    axis = Axis(
        f"Margin of error in {system.counted(found.columns[0].scenario, None)}, {confidence}",
        Scale.LOG,
        text=people,
        most=12,
    )
    key = tuple(KeyEntry(Dot(0.5, ink=n, shape=shape_of(n)), name) for n, name in enumerate(names))
    return Figure("overlay", _narrowest(effects, names), summary, axis, ROWS, rows, numbers, key=key, stretch=1.0)


def _narrowest(effects: Sequence[EffectRow], names: Sequence[str]) -> str:
    """Return who has the narrowest margin, as shown, in the most rows; a margin that nobody else publishes is not compared."""
    wins, compared = [0] * len(names), 0
    for effect in effects:
        known = [(value, n) for n, value in enumerate(effect.values) if value is not None]
        if len(known) > 1:
            compared += 1
            least = people(min(value for value, _ in known))
            best = [n for value, n in known if people(value) == least]
            wins[best[0]] += len(best) == 1
    if not compared:
        return msg("Each margin that differs is published by one scenario only")
    most = max(wins)
    leaders = [Quoted(name) for name, count in zip(names, wins, strict=True) if count == most]
    if not most:
        return msg("No scenario alone has the narrowest margin")
    return plural(
        "{leaders} has the narrowest margin in {most} of {compared} rows",
        "{leaders} each have the narrowest margin in {most} of {compared} rows",
        n=len(leaders),
        leaders=tuple(leaders),
        most=most,
        compared=compared,
    )


def overlay_row(place: PlaceName, row: EffectRow, names: Sequence[str]) -> Mark:
    """Return one row of the picture: a mark per column, joined from the narrowest to the widest.

    Args:
        place: whose margins they are.
        row: the margins in people, None where a column publishes none.
        names: of the columns, the one the others are compared with first.
    """
    known = [(n, value) for n, value in enumerate(row.values) if value is not None]
    parts: list[Part] = []
    if len(known) > 1:
        ends = [value for _, value in known]
        parts.append(Span(min(ends), max(ends), ink=Role.REFERENCE))
    # The first one last: what the others are compared with stays in sight; those below it are larger, so that none is hidden.
    parts += [Dot(value, ink=n, shape=shape_of(n), size=_SMALLEST + _LARGER * n) for n, value in reversed(known)]
    told = "\n".join(
        f"{each}: " + ("not published" if value is None else f"± {people(value)}")
        for each, value in zip(names, row.values, strict=True)
    )
    return Mark(row.place, tuple(parts), place.group, place.name, tip=f"{place.title}\n{told}")
