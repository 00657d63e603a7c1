"""The figures of the subspace paper, each from one command, with what it prints beside what is exact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from phexplore.errors import PhexploreError
from phexplore.files.output_folder import writes_into_out
from phexplore.model.numbers import exact_text, parse_exact
from phexplore.model.scenario import Scenario
from phexplore.model.subspace import Subspace
from phexplore.opening import read_bytes
from phexplore.report.terminal import print_json, print_table, say, tell
from phexplore.systems.arguments import JSON

if TYPE_CHECKING:
    from phexplore.simulate.subspace.counties import StateErrors

SEED = typer.Option(2020, "--seed", min=0, help="Of the noise.")

PAPER_SLOPES = {"states": 48, "negative": 37, "significant": 11}
"""Figure 1: regressions, negative slopes, of these significant at 0.01, on the November 2020 demonstration files."""

_ILLINOIS = "17"

_DIFFERENCES = (
    "The paper's 48 regressions include Puerto Rico; the county table has 47 states with more than five counties.",
    "The paper's errors are those of the November 2020 demonstration files; these are TopDown runs of this program, 16 cells a county.",
    "The paper's words give large counties positive errors; its own slopes, 37 of 48 negative, and the runs here say the opposite.",
)


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    group = typer.Typer(help="Figures of the subspace paper, reproduced.", no_args_is_help=True)
    group.command("figure1")(figure1)
    group.command("campus")(campus)
    group.command("compare")(compare)
    group.command("bases")(bases)
    group.command("constant")(constant)
    group.command("share")(share)
    app.add_typer(group, name="subspace")


@writes_into_out("subspace figure1")
def figure1(
    out: Path = typer.Option(..., "--out", help="Directory for pictures and tables; it may exist."),
    counties: Path | None = typer.Option(
        None,
        "--counties",
        help="A table like counties_2010.csv. Without it: Illinois, which is shipped, and no slopes.",
    ),
    trials: int = typer.Option(10, "--trials", min=1, help="Runs of each mechanism."),
    seed: int = SEED,
    as_json: bool = JSON,
) -> None:
    """Draw Figure 1: county errors of TopDown and of the projected Laplace mechanism under exact state totals.

    Example: phexplore subspace figure1 --counties counties_2010.csv --out figures
    """
    from phexplore.data.regions.counties import read_counties_2010
    from phexplore.resources import resource
    from phexplore.runs.confidentiality import open_table
    from phexplore.simulate.subspace.counties import LEAST_COUNTIES, county_errors
    from phexplore.systems.experiments import answer, write_pictures, write_table
    from phexplore.systems.subspace.experiment_pictures import FIGURE_1

    shipped = resource("tables/illinois_counties_2010.csv")
    table = read_counties_2010(shipped if counties is None else open_table(counties))
    states = []
    for state in county_errors(table, trials, seed):
        states.append(state)
        say(f"{state.name}: {len(state.population)} counties")
    if not states:
        raise PhexploreError(
            f"No state in the table has {LEAST_COUNTIES} counties or more.",
            "Give a table with all counties of a state.",
        )
    rows = [_slope_row(state) for state in states]
    write_table(out / "slopes.csv", _slope_lines(rows))
    shown = next((state for state in states if state.state == _ILLINOIS), states[0])
    write_table(out / "errors.csv", _error_lines(shown))
    summary = _slope_summary(states, rows)
    found = {**summary, "states": rows}
    write_pictures(FIGURE_1, found, out)
    answer(FIGURE_1, found, out, as_json=as_json)
    if not as_json:
        tell(f"state totals broken: {summary['totals_broken']}")


def _slope_row(state: StateErrors) -> dict[str, Any]:
    from phexplore.simulate.subspace.counties import slope_of

    topdown = [slope_of(errors, state.population) for errors in state.topdown]
    subspace = [slope_of(errors, state.population) for errors in state.subspace]
    return {
        "state": state.name,
        "counties": len(state.population),
        "topdown": [{"slope": line.slope, "p": line.p_value} for line in topdown],
        "subspace": [{"slope": line.slope, "p": line.p_value} for line in subspace],
    }


def _slope_lines(rows: list[dict[str, Any]]) -> Iterator[Sequence[object]]:
    yield "STATE", "COUNTIES", "RUN", "TOPDOWN_SLOPE", "TOPDOWN_P", "SUBSPACE_SLOPE", "SUBSPACE_P"
    for row in rows:
        for run, (topdown, subspace) in enumerate(zip(row["topdown"], row["subspace"], strict=True)):
            figures = (topdown["slope"], topdown["p"], subspace["slope"], subspace["p"])
            yield row["state"], row["counties"], run, *(f"{figure:.6g}" for figure in figures)


def _error_lines(state: StateErrors) -> Iterator[Sequence[object]]:
    """Yield the errors of one state: a line per county and run."""
    yield "STATE", "COUNTY", "POPULATION", "RUN", "TOPDOWN_ERROR", "SUBSPACE_ERROR"
    for place, population in enumerate(state.population.tolist()):
        for run, (topdown, subspace) in enumerate(zip(state.topdown, state.subspace, strict=True)):
            errors = (int(topdown[place]), f"{float(subspace[place]):.9g}")
            yield state.name, state.counties[place], population, run, *errors


def _slope_summary(states: list[StateErrors], rows: list[dict[str, Any]]) -> dict[str, Any]:
    def counts(name: str) -> list[dict[str, int]]:
        runs = range(len(rows[0][name]))
        return [
            {
                "negative": sum(row[name][run]["slope"] < 0 for row in rows),
                "significant": sum(row[name][run]["slope"] < 0 and row[name][run]["p"] < 0.01 for row in rows),
            }
            for run in runs
        ]

    broken = sum(bool(abs(errors.sum()) > 1e-6) for state in states for errors in (*state.subspace, *state.topdown))
    return {
        "states_regressed": len(states),
        "paper": PAPER_SLOPES,
        "topdown_runs": counts("topdown"),
        "subspace_runs": counts("subspace"),
        "totals_broken": broken,
        "differences": list(_DIFFERENCES),
    }


@writes_into_out("subspace compare")
def compare(
    out: Path = typer.Option(..., "--out", help="Directory for the picture and the table; it may exist."),
    state: str = typer.Option("17", "--state", help="By code, abbreviation or name."),
    epsilon: str = typer.Option("0.192", "--epsilon", help="Of each system, exactly as written."),
    trials: int = typer.Option(30, "--trials", min=1, help="Runs of each system."),
    households: Path | None = typer.Option(
        None, "--households", help="A table like county_household_size_2010.csv; without it the shipped one."
    ),
    seed: int = SEED,
    as_json: bool = JSON,
) -> None:
    """Compare TopDown, the exact tree and an exact total on the same counties: households by size, one picture.

    Example: phexplore subspace compare --state IL --epsilon 0.192 --out systems
    """
    from phexplore.catalog.states import parse_states
    from phexplore.data.regions.household_sizes import read_household_sizes, shipped_household_sizes
    from phexplore.runs.confidentiality import open_table
    from phexplore.simulate.subspace.households import compare_systems
    from phexplore.systems.experiments import COMPARE, answer, write_pictures, write_table

    chosen = parse_states(state)
    if chosen is None or len(chosen) != 1:
        raise typer.BadParameter("Name one state.")
    try:
        budget = parse_exact(epsilon)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if budget <= 0:
        raise typer.BadParameter(f"ε is more than 0, got {epsilon}.")
    table = shipped_household_sizes() if households is None else read_household_sizes(open_table(households))
    found = compare_systems(table, chosen[0], budget, trials, seed)
    lines: list[list[object]] = [["COUNTY", "HOUSEHOLDS", *(f"MAE {system.name}" for system in found.systems)]]
    for place, name in enumerate(found.names):
        errors = (f"{system.by_county[place]:.6f}" for system in found.systems)
        lines.append([name, int(found.counts[place].sum()), *errors])
    write_table(out / "systems.csv", lines)
    rows = [
        {
            "system": system.name,
            "county_mae": float(system.by_county.mean()),
            "state_mae": system.by_state,
            "mean_error_of_smallest": system.bias_of_smallest,
            "negative_share": system.negative,
        }
        for system in found.systems
    ]
    content = {"state": chosen[0], "counties": len(found.names), "epsilon": exact_text(budget), "systems": rows}
    write_pictures(COMPARE, content, out)
    answer(COMPARE, content, out, as_json=as_json)


def campus(
    repetitions: int = typer.Option(50, "--repetitions", min=1, help="As many as the paper."),
    seed: int = SEED,
    as_json: bool = JSON,
) -> None:
    """Work out the spatio-temporal case: 6,720 cells under 740 exact totals, unit Gaussian noise.

    Example: phexplore subspace campus
    """
    from phexplore.simulate.subspace.campus import PRINTED, campus_figures
    from phexplore.systems.experiments import answer
    from phexplore.systems.subspace.experiment_pictures import CAMPUS

    found = campus_figures(repetitions, seed)
    content = {
        "cells": found.cells,
        "independent_totals": found.rank,
        "variance": exact_text(found.variance),
        "standard_deviation": float(found.variance) ** 0.5,
        "mean_square": list(found.variances),
        "root_mean_square": list(found.deviations),
        "printed": list(PRINTED),
        "totals_broken": found.broken,
    }
    answer(CAMPUS, content, Path(), as_json=as_json)


def bases(
    cells: int = typer.Option(102, "--cells", min=2, max=1000, help="Under one total."),
    seed: int = SEED,
    as_json: bool = JSON,
) -> None:
    """Compare the bases of the extended Laplace mechanism: squared error over that of the projected one.

    Example: phexplore subspace bases --cells 102
    """
    from phexplore.systems.experiments import answer
    from phexplore.systems.subspace.experiment_pictures import BASES
    from phexplore.workload.subspace.contrasts import basis_factors

    answer(BASES, {"cells": cells, "factors": basis_factors(cells, seed)}, Path(), as_json=as_json)


def constant(
    delta: str = typer.Option("1e-10", "--delta", help="δ, exactly as written."),
    epsilons: str = typer.Option("0.192,0.5,1,1.5,2,4,8", "--epsilons", help="ε, with commas between."),
    as_json: bool = JSON,
) -> None:
    """Compare the noise of the paper's Gaussian constant with the exact one, and say where it does not keep (ε, δ).

    Example: phexplore subspace constant --delta 1e-10
    """
    from phexplore.accounting.gaussian_calibration import paper_constant, smallest_variance
    from phexplore.systems.experiments import answer
    from phexplore.systems.subspace.experiment_pictures import CONSTANT

    try:
        wanted, given = parse_exact(delta), [parse_exact(text) for text in epsilons.split(",")]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    found = []
    for epsilon in given:
        printed, exact = paper_constant(epsilon, wanted), smallest_variance(epsilon, wanted)
        found.append(
            {
                "epsilon": exact_text(epsilon),
                "exact_sigma": float(exact) ** 0.5,
                "paper_sigma": float(printed.v) ** 0.5,
                "true_delta_of_paper": printed.delta,
                "factor": printed.factor,
                "protects": printed.protects,
            }
        )
    answer(CONSTANT, {"delta": exact_text(wanted), "rows": found}, Path(), as_json=as_json)


def share(
    context: typer.Context,
    scenario: str = typer.Argument(help="A subspace scenario: a preset id or a file."),
    release: str = typer.Option("", "--release", help="Its name, where the scenario has several."),
    answers: str = typer.Option(..., "--answers", help="Numbers of your own answers, with commas between."),
    seed_file: Path = typer.Option(..., "--seed-file", help="Holds the common secret: 64 hexadecimal digits."),
    trial: int = typer.Option(0, "--trial", min=0, help="Number of the release under this secret."),
    as_json: bool = JSON,
) -> None:
    """Print your part of a common noise: agents who share a secret keep the invariants without showing each other their counts.

    Example: phexplore subspace share counties-invariant-2010 --answers 0,1 --seed-file secret.hex
    """
    from phexplore.accounting.subspace_noise import noise_plan
    from phexplore.simulate.subspace.drawing import noise_share

    found: Scenario = context.obj(scenario)
    method = found.method
    if not isinstance(method, Subspace):
        raise PhexploreError(
            f"{found.name!r} holds the parameters of another system.",
            "Choose a subspace scenario, e.g. counties-invariant-2010.",
        )
    name = release or next(iter(method.releases))
    if name not in method.releases:
        raise typer.BadParameter(f"The scenario has no release {name!r}, but {', '.join(method.releases)}.")
    plan = noise_plan(method, name)
    numbers = _numbers(answers, plan.space.size)
    parts = noise_share(plan, _secret(seed_file), trial, numbers)
    if as_json:
        print_json(
            {
                "release": name,
                "trial": trial,
                "noise": {str(n): _fraction(p) for n, p in zip(numbers, parts, strict=True)},
            }
        )
        return
    rows = [(str(n), _fraction(p), f"{float(p):+.6f}") for n, p in zip(numbers, parts, strict=True)]
    print_table(("answer", "add exactly", "about"), rows, right=(0, 1, 2))


def _fraction(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"


def _numbers(text: str, size: int) -> list[int]:
    numbers = []
    for part in text.split(","):
        word = part.strip()
        if not (word.isascii() and word.isdigit()) or int(word) >= size:
            raise typer.BadParameter(f"{word!r} is no answer; they are numbered from 0 to {size - 1:,}.")
        numbers.append(int(word))
    return numbers


def _secret(path: Path) -> int:
    """Return the common secret of a file.

    Raises:
        PhexploreError: it cannot be read, or is none.
    """
    remedy = "Draw it once with: python -c 'import secrets; print(secrets.token_hex(32))'"
    try:
        text = read_bytes(path, limit=2**12).decode("ascii").strip()
    except UnicodeDecodeError as error:
        raise PhexploreError(f"The common secret in {path} cannot be read ({error}).", remedy) from error
    if len(text) != 64 or not set(text) <= set("0123456789abcdefABCDEF") or int(text, 16) < 2**128:
        raise PhexploreError(f"{path} does not hold 64 hexadecimal digits that cannot be guessed.", remedy)
    return int(text, 16)
