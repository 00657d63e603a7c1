"""Any number of scenarios and runs side by side: only what differs, and what it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from phexplore.decide.rule_evaluation import judge, run_metrics
from phexplore.errors import ComparisonError
from phexplore.model.diff import Change, diff, parameters_only, value_text
from phexplore.model.fields import logged_fields
from phexplore.model.fingerprint import fingerprint
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.provenance import Provenance
from phexplore.model.rules import Rule, Verdict
from phexplore.model.scenario import Scenario, stated_as
from phexplore.runs.confidentiality import summary_to_leave
from phexplore.runs.store import SPEC_FILE, load_spec
from phexplore.systems.registry import forecast, loss_of, margins_of_entries, system_of


@dataclass(frozen=True, slots=True)
class Compared:
    """A scenario, or a run of one.

    Attributes:
        name: as shown; unique in a comparison.
        scenario: its parameters.
        summary: of the run, None for a scenario or an unfinished run.
        provenance: of the data of the run, None for a scenario.
    """

    name: str
    scenario: Scenario
    summary: Mapping[str, Any] | None = None
    provenance: Provenance | None = None


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """A parameter that is not the same everywhere.

    Attributes:
        field: what kind.
        path: which one, e.g. ``budget PH3/state_A-G``.
        values: one per column; None where it is absent.
    """

    field: str
    path: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class EffectRow:
    """A figure that is not the same everywhere.

    Attributes:
        name: ``margin``, ``mae``, …
        place: ``PH3/state_A-G`` or ``Block/total``, "" for the whole.
        values: one per column; None where there is none.
    """

    name: str
    place: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that differs.

    Attributes:
        columns: what is compared.
        totals: the whole loss of each, exact text, with ε at δ = 1e-10 where there is one.
        frameworks: what each of these losses is, ρ or ε: two kinds do not compare.
        proven: ε of each at δ = 1e-10 as its noise proves it, None where it does not.
        parameters: rows that differ, in the order of the first column.
        effects: analytic margins that differ.
        measured: figures of runs that differ or stand alone.
        verdicts: per rule, one per column.
    """

    columns: tuple[Compared, ...]
    totals: tuple[tuple[str, float | None], ...]
    frameworks: tuple[PrivacyFramework, ...]
    proven: tuple[float | None, ...]
    parameters: tuple[ParameterRow, ...]
    effects: tuple[EffectRow, ...]
    measured: tuple[EffectRow, ...]
    verdicts: tuple[tuple[Verdict, ...], ...] = ()


def run_compared(directory: Path) -> Compared | None:
    """Return a run as something to compare, None when the directory holds no run.

    Raises:
        PhexploreError: it holds one that cannot be read.
    """
    if not (directory / SPEC_FILE).is_file():
        return None
    spec = load_spec(directory)
    return Compared(directory.resolve().name, spec.scenario, summary_to_leave(directory), spec.provenance)


def compare(columns: Sequence[Compared], rules: Sequence[Rule] = ()) -> Comparison:
    """Return what differs between scenarios and runs of one system.

    Losses and margins of all columns are stated, and judged, in the conventions of the first one: a margin at 95 % beside
    one at 90 % would be a difference of words.

    Args:
        columns: two or more, the reference first.
        rules: to evaluate for each of them.

    Raises:
        ComparisonError: fewer than two, or of different systems.
    """
    if len(columns) < 2:
        raise ComparisonError("A comparison needs at least two scenarios or runs.", "Name another one.")
    if len(kinds := {system_of(column.scenario).title for column in columns}) > 1:
        raise ComparisonError(
            f"These belong to different systems: {', '.join(sorted(kinds))}.", "Compare scenarios of one system."
        )
    named = _unique(columns)
    stated = [stated_as(column.scenario, named[0].scenario) for column in named]
    verdicts = tuple(
        tuple(judge((rule,), scenario, column.summary)[0] for scenario, column in zip(stated, named, strict=True))
        for rule in rules
    )
    return Comparison(
        named,
        tuple(map(_total, stated)),
        tuple(loss_of(scenario).framework for scenario in stated),
        tuple(forecast(scenario).proven() for scenario in stated),
        parameter_rows([column.scenario for column in named]),
        _rows("margin", list(map(margins_of_entries, stated))),
        _measured(named),
        verdicts,
    )


def _unique(columns: Sequence[Compared]) -> tuple[Compared, ...]:
    found: list[Compared] = []
    for column in columns:
        name, number = column.name, 2
        while any(other.name == name for other in found):
            name, number = f"{column.name} ({number})", number + 1
        found.append(replace(column, name=name))
    return tuple(found)


def parameter_rows(scenarios: Sequence[Scenario]) -> tuple[ParameterRow, ...]:
    """Return the parameters that differ anywhere; a parameter is compared with the first scenario's."""
    first = scenarios[0]
    changes = [
        {
            (c.word, c.path): c
            for c in parameters_only(diff(first, other))
            if c.word != "target" or _both_aim(first, other)
        }
        for other in scenarios
    ]
    places: dict[tuple[str, str], Change] = {}
    for found in changes:
        places = {**found, **places}
    order = {field.word: n for n, field in enumerate(logged_fields(type(first.method)))}
    rows = []
    for (field, path), change in sorted(places.items(), key=lambda item: order.get(item[0][0], len(order))):
        values = tuple(found[field, path].after if (field, path) in found else change.before for found in changes)
        rows.append(ParameterRow(field, path, values))
    return tuple(rows)


def _both_aim(first: Scenario, other: Scenario) -> bool:
    """Return whether both have targets: a production file cannot hold any, which changes none of its numbers."""
    return all(getattr(each.method, "targets", None) for each in (first, other))


def _rows(name: str, tables: Sequence[Mapping[str, float | None]]) -> tuple[EffectRow, ...]:
    places = dict.fromkeys(place for table in tables for place in table)
    rows = [EffectRow(name, place, tuple(table.get(place) for table in tables)) for place in places]
    return tuple(row for row in rows if len(set(row.values)) > 1)


def _measured(columns: Sequence[Compared]) -> tuple[EffectRow, ...]:
    tables = [run_metrics(column.summary) if column.summary else {} for column in columns]
    keys = dict.fromkeys(key for table in tables for key in table)
    rows = [EffectRow(figure, place, tuple(table.get((place, figure)) for table in tables)) for place, figure in keys]
    return tuple(row for row in rows if len(set(row.values)) > 1)


def _total(scenario: Scenario) -> tuple[str, float | None]:
    loss = loss_of(scenario)
    return exact_text(loss.total), loss.epsilon


def converted(comparison: Comparison) -> tuple[float | None, ...]:
    """Return ε of each as converted from its ρ; of a loss that is ε itself only where no other one is ρ."""
    has_rho = PrivacyFramework.ZCDP in comparison.frameworks
    return tuple(
        None if has_rho and framework is PrivacyFramework.PURE_DP else epsilon
        for (_, epsilon), framework in zip(comparison.totals, comparison.frameworks, strict=True)
    )


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON."""
    return {
        "columns": [
            {
                "name": column.name,
                "fingerprint": fingerprint(column.scenario),
                "run": column.summary is not None,
                "provenance": column.provenance and column.provenance.json(),
                "total": total,
                "epsilon": value,
                "epsilon_proven": proven,
            }
            for column, (total, value), proven in zip(
                comparison.columns, comparison.totals, comparison.proven, strict=True
            )
        ],
        "parameters": [
            {"path": row.path, "values": [value_text(v) for v in row.values]} for row in comparison.parameters
        ],
        "effects": [{"figure": r.name, "place": r.place, "values": list(r.values)} for r in comparison.effects],
        "measured": [{"figure": r.name, "place": r.place, "values": list(r.values)} for r in comparison.measured],
        "rules": [
            {"rule": row[0].rule.title, "verdicts": [verdict_json(verdict) for verdict in row]}
            for row in comparison.verdicts
        ],
    }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON."""
    return {
        "outcome": verdict.outcome.value,
        "value": verdict.value,
        "distance": verdict.distance,
        "where": verdict.where,
        "reason": verdict.reason,
        "low": verdict.low,
        "high": verdict.high,
    }
