"""Commands that lead from a number to a decision: solve, and what follows from it."""

from __future__ import annotations

from pathlib import Path

import typer

from phexplore.cli.source import load_scenario, require_phsafe

SCENARIO = typer.Argument(
    help="A preset id, a project file (.phx, #NAME for one of its scenarios), a config.json or a DAS .ini."
)
JSON = typer.Option(False, "--json", help="Print JSON.")


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(solve)


def solve(
    scenario: str = SCENARIO,
    targets: Path | None = typer.Option(None, "--targets", help="Margins, caps, floors, ties, locks (JSON), or a CSV."),
    rounding: str = typer.Option(
        "", "--rounding", help="up (default) or as-in-2020 (normal, z = 1.645, nearest 1e-6)."
    ),
    cap_rho: str = typer.Option("", "--cap-rho", help="At most this unbounded budget in all."),
    cap_bounded_rho: str = typer.Option("", "--cap-bounded-rho", help="At most this bounded budget in all."),
    cap_epsilon: str = typer.Option("", "--cap-epsilon", help="At most this ε (bounded, δ = 1e-10, tightest zCDP)."),
    spend: bool = typer.Option(False, "--spend", help="Use what the caps leave: all targeted budgets by one factor."),
    out: Path | None = typer.Option(None, "--out", help="Save the solved scenario as a project (.phx)."),
    as_json: bool = JSON,
) -> None:
    """Find the smallest budgets that keep every margin of error asked for; say which goals conflict when none do.

    Example: phexplore solve sdhc-2020-us --rounding as-in-2020 --out solved.phx
    """
    from phexplore.accuracy.solving_conflict import InfeasibleError
    from phexplore.accuracy.solving_separable import solve as solve_goals
    from phexplore.cli.solving import goals_from, print_infeasible, print_solution, save_project, with_rounding

    found = with_rounding(load_scenario(scenario), rounding)
    require_phsafe(found, "Solving from targets")
    caps = {"rho": cap_rho, "bounded_rho": cap_bounded_rho, "epsilon": cap_epsilon}
    goals = goals_from(targets, caps)
    try:
        solved = solve_goals(found, goals, spend=spend)
    except InfeasibleError as error:
        print_infeasible(error, as_json=as_json)
        raise
    print_solution(solved, as_json=as_json)
    if out is not None:
        save_project(found, solved.scenario, "Solve from targets", out)
