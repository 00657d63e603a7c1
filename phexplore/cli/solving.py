"""``phexplore solve``: goals gathered from the scenario, a file and options; the result as a table, JSON or a project."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phexplore.accuracy.budget_model import BudgetModel
from phexplore.accuracy.proven_caps import proven_under
from phexplore.model.numbers import Budget, exact_text
from phexplore.model.rounded import rounded_up
from phexplore.model.scenario import Scenario
from phexplore.report.terminal import print_json, print_table, say, say_if_confidential, tell
from phexplore.systems.registry import budgets_of, loss_of, system_of

if TYPE_CHECKING:
    from phexplore.accuracy.solving_conflict import InfeasibleError, Relaxation
    from phexplore.accuracy.solving_separable import SolvedGoals
    from phexplore.model.goals import Cap, Goals, Key

_LONGEST = 12


def solve_after_least_squares(
    scenario: Scenario, goals: Goals, blocks: Path | None, *, spend: bool, fit: str
) -> tuple[SolvedGoals, dict[Key, float]]:
    """Return budgets for margins of what is estimated from noisy answers, and these margins in people.

    Args:
        scenario: of TopDown.
        goals: beside its own.
        blocks: block data whose geography counts, ``demo`` for the shipped ones; None takes the spine of 2020 with
            equal fan-outs.
        spend: use what the caps leave.
        fit: ``at-once`` or ``top-down``.

    Raises:
        GoalError: another system.
        InfeasibleError: no budgets keep all goals.
        PhexploreError: the data cannot be read.
    """
    from phexplore.model.goals import GoalError
    from phexplore.runs.spec import data_path

    estimates = system_of(scenario).solve_estimates
    if estimates is None:
        raise GoalError(f"{scenario.name!r} is no TopDown scenario.", "Leave out --after-least-squares and --blocks.")
    if blocks is not None:
        blocks = data_path(blocks, scenario)
        say_if_confidential(blocks)
    solved, margins = estimates(scenario, goals, blocks, spend=spend, fit=fit)
    targeted = [entry.query for entry in solved.queries if entry.target is not None]
    return solved, {key: margins[key] for key in targeted if key in margins}


def print_tree_margins(margins: dict[Key, float], model: BudgetModel) -> None:
    """Print the margins of estimates after least squares, the worst answer and unit of each query.

    Args:
        margins: by query.
        model: of the scenario; says what each query counts.
    """
    tell("Margins after least squares (worst unit and answer):")
    for key, margin in margins.items():
        tell(f"  {key.text}: {margin:.3f} {model.counted_in(key)}")


def print_infeasible(error: InfeasibleError, *, as_json: bool) -> None:
    """Print why no budgets keep all goals, and the ways out.

    Args:
        error: with the conflict and the ways out.
        as_json: whether to print JSON.
    """
    if as_json:
        print_json(infeasible_json(error))
        return
    tell("These goals cannot be kept together:")
    for part in error.conflict:
        tell(f"  {part.text}")
    if error.relaxations:
        tell("Ways out:")
    for way in error.relaxations:
        tell(f"  {way.text}")


def infeasible_json(error: InfeasibleError) -> dict[str, Any]:
    """Return an unreachable set of goals as JSON."""
    return {
        "feasible": False,
        "sentence": error.sentence,
        "needed": _exact(error.needed),
        "allowed": _exact(error.allowed),
        "conflict": [
            {"kind": part.kind.value, "text": part.text, "query": part.query.text if part.query else None}
            for part in error.conflict
        ],
        "relaxations": [_relaxation_json(way) for way in error.relaxations],
    }


def _relaxation_json(way: Relaxation) -> dict[str, Any]:
    return {
        "kind": way.kind.value,
        "text": way.text,
        "frees": exact_text(way.frees),
        "people": exact_text(way.people),
        "targets": [
            {"query": query.text, "from": exact_text(old), "to": _exact(new)}
            for query, (old, new) in way.margins.items()
        ],
    }


def _exact(value: Fraction | None) -> str | None:
    return None if value is None else exact_text(value)


def print_solution(solved: SolvedGoals, margins: dict[Key, float] | None, *, as_json: bool) -> None:
    """Print solved budgets, and the margins after least squares that they were solved for, if they were.

    Args:
        solved: the budgets.
        margins: margin after least squares by query, in people; None where the noise alone was solved for.
        as_json: whether to print JSON.
    """
    from phexplore.model.goals import title_of
    from phexplore.systems.registry import budgets_of

    if as_json:
        after = {} if margins is None else {"margins": {key.text: margin for key, margin in margins.items()}}
        print_json({**solution_json(solved), **after})
        return
    conventions = solved.scenario.conventions
    rows = [
        (
            title_of(entry.query),
            "-" if entry.target is None else exact_text(entry.target),
            _short(entry.before),
            exact_text(entry.budget),
            "-" if entry.nearest is None or entry.nearest == entry.budget else exact_text(entry.nearest),
            entry.reason.value,
        )
        for entry in solved.queries
    ]
    system = budgets_of(solved.scenario)
    symbol = system.framework.symbol
    tell(solved.scenario.name)
    header = ("query", "MOE target", f"{symbol} before", f"{symbol} solved", "nearest", "because of")
    print_table(header, rows, right=range(1, 5))
    total = budgets_of(solved.scenario).total
    if system.doubles:
        tell(f"{symbol} bounded {exact_text(_twice(total))}, unbounded {exact_text(total)}")
    else:
        tell(f"{symbol} {exact_text(total)} ≈ {float(loss_of(solved.scenario).bound or 0):.6f} (replace one record)")
    step = exact_text(conventions.rounding_step)
    changed = len(solved.changed_by_direction)
    tell(
        f"Rounded {conventions.rounding.value} to {step}, which adds {float(solved.rounding_tax):.3g} to the unbounded total; "
        f"{changed} of {len(rows)} budgets differ from rounding to the nearest."
    )
    for cap, allowed, spent in solved.caps:
        known = proven_under(system, cap, system.budgets)
        proven = "" if known is None else f"; proven ε ≤ {rounded_up(known, 6)}"
        tell(f"{cap.title}: {float(spent):.6f} of {float(allowed):.6f} used (unbounded){proven}")
    if margins is not None:
        print_tree_margins(margins, system)


def _short(budget: Budget) -> str:
    text = exact_text(budget)
    return text if len(text) <= _LONGEST else f"≈ {float(budget):.6g}" if isinstance(budget, Fraction) else text


def _twice(total: Budget) -> Budget:
    return 2 * total if isinstance(total, Fraction) else total


def solution_json(solved: SolvedGoals) -> dict[str, Any]:
    """Return solved budgets as JSON: the keys of ``forecast --json`` with what solving adds to every cell."""
    content = system_of(solved.scenario).forecast_json(solved.scenario, None)
    places: dict[Key, dict[str, str]] = {}
    for cell, entry in zip(content["cells"], solved.queries, strict=True):
        places[entry.query] = {name: cell[name] for name in ("table", "level", "query") if name in cell}
        cell |= {
            "before_rho": exact_text(entry.before),
            "exact_rho": _exact(entry.exact),
            "nearest_rho": _exact(entry.nearest),
            "reason": entry.reason.value,
        }
    total = budgets_of(solved.scenario).total
    return {
        "feasible": True,
        **content,
        "rounding": {
            "direction": solved.scenario.conventions.rounding.value,
            "step": exact_text(solved.scenario.conventions.rounding_step),
            "tax": exact_text(solved.rounding_tax),
            "share_of_total": float(solved.rounding_tax / total) if isinstance(total, Fraction) and total else None,
            "changed": [
                {
                    **places[entry.query],
                    "rho": exact_text(entry.budget),
                    "nearest_rho": _exact(entry.nearest),
                }
                for entry in solved.changed_by_direction
            ],
        },
        "caps": [_cap_json(solved.scenario, *entry) for entry in solved.caps],
    }


def _cap_json(scenario: Scenario, cap: Cap, allowed: Fraction, spent: Fraction) -> dict[str, Any]:
    model = budgets_of(scenario)
    proven = proven_under(model, cap, model.budgets)
    return {
        "title": cap.title,
        "on": cap.on.value,
        "limit": exact_text(cap.limit),
        "allowed": exact_text(allowed),
        "spent": exact_text(spent),
        "left": exact_text(allowed - spent),
        **({} if proven is None else {"proven": proven}),
    }


def save_project(before: Scenario, after: Scenario, label: str, out: Path) -> None:
    """Write a project of one scenario, with the log of its steps.

    Args:
        before: the scenario it started from.
        after: the solved scenario.
        label: of the second step.
        out: project to write.

    Raises:
        DecisionError: the file there holds a decision.
        WriteError: it cannot be written.
    """
    from phexplore.document.decided_versions import write_new_project
    from phexplore.files.project_file import LoggedStep, ProjectContent
    from phexplore.model.workbook import Workbook

    now = datetime.now(UTC).isoformat(timespec="seconds")
    steps = (
        LoggedStep(f"Start from {before.name}", now, Workbook((before,), before.name)),
        LoggedStep(label, now, Workbook((after,), after.name)),
    )
    write_new_project(out, ProjectContent(steps, 1))
    say(f"Wrote {out}")
