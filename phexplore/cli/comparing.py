"""``phexplore compare``, ``frontier`` and ``committee``: tables for people, JSON for programs, projects to go on with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from phexplore.decide.committee import CommitteeMatrix, committee_matrix, consensus, with_proposals
from phexplore.decide.comparing import (
    Compared,
    Comparison,
    compare,
    comparison_json,
    converted,
    run_compared,
)
from phexplore.decide.frontier import Frontier, Weighting, frontier
from phexplore.document.decided_versions import write_new_project
from phexplore.errors import UnknownNameError
from phexplore.figures.wording import CONVERTED, people
from phexplore.files.project_file import LoggedStep, ProjectContent
from phexplore.files.rules_json import rules_named
from phexplore.model.diff import value_text
from phexplore.model.numbers import exact_text
from phexplore.model.phsafe import PrivacyFramework
from phexplore.model.rounded import Toward, epsilon_bound, percent, rounded_up
from phexplore.model.scenario import Scenario
from phexplore.model.workbook import Workbook
from phexplore.report.terminal import print_json, print_table, say, tell
from phexplore.systems.registry import system_of
from phexplore.systems.sources import load_scenario

_MOST_ROWS = 60
_LONGEST_VALUE = 40


def compare_all(texts: Sequence[str], rules: str) -> Comparison:
    """Return what differs between scenarios and runs named on the command line.

    Args:
        texts: scenarios or run directories, two or more.
        rules: file of decision rules, or their name in the library; "" for none.

    Raises:
        PhexploreError: one of them cannot be read, or they cannot be compared.
    """
    columns = [run_compared(Path(text)) or _scenario(text) for text in texts]
    return compare(columns, rules_named(rules) if rules else ())


def _scenario(text: str) -> Compared:
    scenario = load_scenario(text)
    return Compared(scenario.name, scenario)


def print_comparison(comparison: Comparison, *, as_json: bool) -> None:
    """Print what differs.

    Args:
        comparison: of scenarios and runs.
        as_json: whether to print JSON.
    """
    if as_json:
        print_json(comparison_json(comparison))
        return
    names = [column.name for column in comparison.columns]
    totals = [f"{kind.symbol} {text}" for kind, (text, _) in zip(comparison.frameworks, comparison.totals, strict=True)]
    proven = ["-" if value is None else f"≤ {rounded_up(value, 4)}" for value in comparison.proven]
    epsilons = ["-" if value is None else epsilon_bound(value) for value in converted(comparison)]
    how = f"ε, {CONVERTED}" if PrivacyFramework.ZCDP in comparison.frameworks else "ε"
    origins = ["-" if column.provenance is None else column.provenance.kind.value for column in comparison.columns]
    rows = [("total", *totals), ("proven ε", *proven), (how, *epsilons)]
    print_table(("", *names), [*rows, ("provenance", *origins)] if set(origins) != {"-"} else rows)
    scenario = comparison.columns[0].scenario
    unit = system_of(scenario).counted(scenario, None)
    tell(f"Baseline: {names[0]}")
    margins = [(row.place, *map(_margin, row.values)) for row in comparison.effects]
    for title, rows in (
        ("Parameters that differ", [(row.path, *map(_short, row.values)) for row in comparison.parameters]),
        (f"Margins that differ, in {unit}", [row for row in margins if len(set(row[1:])) > 1]),
        ("Measured in runs", [(f"{row.name} {row.place}", *map(_number, row.values)) for row in comparison.measured]),
    ):
        if rows:
            tell("", title)
            print_table(("", *names), rows[:_MOST_ROWS], right=range(1, len(names) + 1))
            if len(rows) > _MOST_ROWS:
                tell(f"… and {len(rows) - _MOST_ROWS} more; --json prints all.")
    if comparison.verdicts:
        tell("", "Rules")
        verdicts = [
            (row[0].rule.title, *(f"{v.outcome.value} ({v.reason or _room(v.distance)})" for v in row))
            for row in comparison.verdicts
        ]
        print_table(("", *names), verdicts)


def _short(value: Any) -> str:
    text = value_text(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _room(distance: float | None) -> str:
    return "" if distance is None else f"{distance:+.4g}"


def _margin(value: float | None) -> str:
    return "-" if value is None else people(value)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"


def frontier_of(text: str, weights: str, points: int) -> Frontier:
    """Return the trade-off of a scenario named on the command line.

    Args:
        text: scenario as on the command line.
        weights: id of a weighting.
        points: how many, at least 2.

    Raises:
        UnknownNameError: no such weighting.
        FrontierError: it cannot be drawn.
    """
    from fractions import Fraction

    known = {weighting.value: weighting for weighting in Weighting}
    if (weighting := known.get(weights)) is None:
        raise UnknownNameError("weighting", weights, list(known))
    factors = [Fraction(round(4 ** (2 * step / (points - 1) - 1) * 1000), 1000) for step in range(points)]
    return frontier(load_scenario(text), weighting=weighting, factors=factors)


def print_frontier(found: Frontier, *, as_json: bool) -> None:
    """Print the curve, where the scenario stands, and where the next one per cent buys most.

    Args:
        found: the trade-off.
        as_json: whether to print JSON.
    """
    if as_json:
        print_json(frontier_json(found))
        return
    rows = [
        (
            f"{float(point.total):.6f}",
            f"{float(point.headline):.6f}",
            epsilon_bound(point.epsilon),
            f"{point.weighted_margin:.3f}",
        )
        for point in found.points
    ]
    print_table(
        ("total", "headline", f"ε, {CONVERTED}", f"margin weighted by {found.weighting.value}"), rows, right=range(4)
    )
    tell(
        f"The scenario spends {float(found.present_total):.6f} for {found.present_margin:.3f}; the best for that is "
        f"{found.best_margin:.3f}, and {percent(found.waste, toward=Toward.DOWN)} of the budget could be saved at the same weighted margin."
    )
    tell("One per cent more of the total would narrow margins most at:")
    step = float(found.present_total) / 100
    best = sorted(found.queries, key=lambda query: -query.people_bought(step))[:8]
    prices = [(q.name, f"{q.margin:,.1f}", f"{q.people_bought(step):,.1f}") for q in best]
    print_table(("query", "margin now", "narrower by"), prices, right=(1, 2))


def frontier_json(found: Frontier) -> dict[str, Any]:
    """Return a trade-off as JSON."""
    step = float(found.present_total) / 100
    return {
        "weighting": found.weighting.value,
        "present": {
            "total": exact_text(found.present_total),
            "weighted_margin": found.present_margin,
            "best_margin": found.best_margin,
            "waste": found.waste,
        },
        "points": [
            {
                "total": exact_text(point.total),
                "headline": exact_text(point.headline),
                "epsilon": point.epsilon,
                "weighted_margin": point.weighted_margin,
                "scenario": point.scenario.name,
            }
            for point in found.points
        ],
        "prices": [
            {
                "query": query.key.text,
                "budget": exact_text(query.budget),
                "margin": query.margin,
                "weight": query.weight,
                "people_for_one_percent_of_total": query.people_bought(step),
                "people_for_one_percent_of_its_own": query.people_bought(float(query.budget) / 100),
            }
            for query in found.queries
        ],
    }


def save_points(found: Frontier, out: Path) -> None:
    """Write the points as the scenarios of one project.

    Args:
        found: the trade-off.
        out: project to write.

    Raises:
        WriteError: it cannot be written.
    """
    save_scenarios([point.scenario for point in found.points], "Points of the trade-off", out)


def save_scenarios(scenarios: Sequence[Scenario], label: str, out: Path) -> None:
    """Write a project with these scenarios, the first one active.

    Args:
        scenarios: at least one.
        label: of the project's only step.
        out: project to write.
    """
    first = with_proposals(Workbook((scenarios[0],), scenarios[0].name), scenarios[1:])
    step = LoggedStep(label, datetime.now(UTC).isoformat(timespec="seconds"), first)
    write_new_project(out, ProjectContent((step,), 0))
    say(f"Wrote {out}")


def committee_of(texts: Sequence[str], baseline: str) -> tuple[CommitteeMatrix, list[Scenario]]:
    """Return the members' proposals and the differences between them.

    Args:
        texts: the members' scenarios as on the command line.
        baseline: of the proposals; "" for the preset of the first proposal.

    Raises:
        PhexploreError: one of them cannot be read, or they cannot be compared.
    """
    proposals = [load_scenario(text) for text in texts]
    start = baseline or next((proposal.baseline for proposal in proposals if proposal.baseline), "")
    origin = load_scenario(start) if start else proposals[0]
    return committee_matrix(proposals, origin), proposals


def print_matrix(matrix: CommitteeMatrix, *, as_json: bool) -> None:
    """Print who wants what.

    Args:
        matrix: who proposes what.
        as_json: whether to print JSON.
    """
    if as_json:
        print_json(matrix_json(matrix))
        return
    if not matrix.rows:
        tell("Nobody moved anything.")
        return
    rows = [
        (
            f"{row.kind} {row.path}".strip(),
            value_text(row.baseline),
            *(value_text(value) if moved else "·" for value, moved in zip(row.values, row.moved, strict=True)),
            value_text(row.low),
            value_text(row.middle),
            value_text(row.high),
        )
        for row in sorted(matrix.rows, key=lambda each: each.agreement)
    ]
    header = ("", "baseline", *matrix.members, "min", "median", "max")
    print_table(header, rows, right=range(1, len(header)))
    tell("A dot: unchanged.")


def matrix_json(matrix: CommitteeMatrix) -> dict[str, Any]:
    """Return a committee matrix as JSON."""
    return {
        "members": list(matrix.members),
        "baseline": matrix.baseline.name,
        "rows": [
            {
                "kind": row.kind,
                "path": row.path,
                "baseline": value_text(row.baseline),
                "values": [value_text(value) for value in row.values],
                "moved": list(row.moved),
                "min": value_text(row.low),
                "median": value_text(row.middle),
                "max": value_text(row.high),
                "untouched": row.untouched,
                "agreement": row.agreement,
            }
            for row in matrix.rows
        ],
    }


def save_consensus(matrix: CommitteeMatrix, proposals: Sequence[Scenario], out: Path) -> None:
    """Write a project with the consensus draft first and every proposal behind it.

    Args:
        matrix: who proposes what.
        proposals: the members' scenarios.
        out: project to write.

    Raises:
        PhexploreError: the proposals make no legal scenario, or it cannot be written.
    """
    save_scenarios([consensus(matrix, proposals), *proposals], "Consensus of the members' proposals", out)
