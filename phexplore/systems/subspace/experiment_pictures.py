"""The experiments of the paper on exact sums: what each asks, and its pictures."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from phexplore.figures.figure import Figure, bar_figure, row_figure
from phexplore.figures.marks import Bar, Row
from phexplore.figures.scatter import Series, scatter_figure
from phexplore.figures.table import Table, Value
from phexplore.figures.wording import people
from phexplore.systems.experiments import (
    COMPARE,
    SEED,
    Experiment,
    Found,
    Given,
    Parameter,
    Picture,
    table_lines,
)


def _figure_1_command(out: Path, given: Given) -> list[str]:
    return [
        "subspace", "figure1", "--out", str(out), "--trials", given["trials"], "--seed", given["seed"], "--json",
        *(["--counties", given["counties"]] if given["counties"].strip() else []),
    ]  # fmt: skip


def _campus_command(_out: Path, given: Given) -> list[str]:
    return ["subspace", "campus", "--repetitions", given["repetitions"], "--seed", given["seed"], "--json"]


def _constant_command(_out: Path, given: Given) -> list[str]:
    return ["subspace", "constant", "--delta", given["delta"], "--epsilons", given["epsilons"], "--json"]


def _bases_command(_out: Path, given: Given) -> list[str]:
    return ["subspace", "bases", "--cells", given["cells"], "--json"]


def _figure_1_pictures(found: Found, folder: Path) -> list[Picture]:
    _, *lines = table_lines(folder / "errors.csv")
    state = lines[0][0]
    population = np.array([float(line[2]) for line in lines])
    runs = np.array([int(line[3]) for line in lines])
    topdown, subspace = (np.array([float(line[place]) for line in lines]) for place in (4, 5))
    labels = tuple(line[1] for line in lines)
    first = runs == 0
    slope, intercept = _line(population[first], topdown[first])
    notes = tuple(found["differences"])
    errors = scatter_figure("errors-by-size", (
            Series(f"projected Laplace, {runs.max() + 1} runs", population, subspace, labels),
            Series(
                "TopDown, first run", population[first], topdown[first],
                tuple(label for label, own in zip(labels, first.tolist(), strict=True) if own),
                (slope, intercept), f"its line, {slope:+.2f} people per ln(count)",
            ),
        ), ("true count, people", "released − true, people"), f"{state}: noise under an exact total is the same for small and large counties; TopDown's line has slope {slope:+.2f}", f"{int(first.sum())} counties, ε = 0.192 for the projected Laplace mechanism; state totals broken: {found['totals_broken']}.", Table(
            ("County", "Population", "Run", "TopDown", "Projected Laplace"),
            tuple((a, float(b), int(c), float(d), float(e)) for a, b, c, d, e in zip(labels, population, runs, topdown, subspace, strict=True)),
        ))  # fmt: skip
    pictures = [Picture(f"Errors in {state}", errors, notes)]
    if found["states_regressed"] > 1:
        pictures += [
            Picture("Slopes of all states", _slopes(found), notes),
            Picture("Beside the paper", _slope_table(found), notes),
        ]
    return pictures


def _slopes(found: Found) -> Figure:
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for state in found["states"]:
        slopes = [line["slope"] for line in state["topdown"]]
        first = state["topdown"][0]
        significant = first["slope"] < 0 and first["p"] < 0.01
        mean = float(np.mean(slopes))
        rows.append(
            Row(
                None, "", state["state"], mean, dots=tuple(slopes), text=f"{mean:+.2f}", is_warned=significant,
                tip=f"{state['state']}: {state['counties']} counties, first run {first['slope']:+.2f}, p = {first['p']:.3g}",
            )
        )  # fmt: skip
        own = float(np.mean([line["slope"] for line in state["subspace"]]))
        table.append((state["state"], state["counties"], mean, first["slope"], first["p"], own))
    negative = sum(row.value is not None and row.value < 0 for row in rows)
    return row_figure(
        "slopes",
        tuple(rows),
        "slope of TopDown's errors, people per unit of ln population",
        f"{negative} of {len(rows)} states: large counties lose on average",
        "One dot per run, the large one their mean; amber: the first run is negative at 1 %.",
        Table(("State", "Counties", "Mean slope", "First run", "Its p", "Projected Laplace, mean"), tuple(table)),
        guide=0.0,
    )


def _slope_table(found: Found) -> Figure:
    paper = found["paper"]
    bars: list[Bar] = []
    table: list[tuple[Value, ...]] = [("the paper", None, paper["states"], paper["negative"], paper["significant"])]
    for name, title in (("topdown_runs", "TopDown here"), ("subspace_runs", "Projected Laplace here")):
        for run, each in enumerate(found[name], start=1):
            table.append((title, run, found["states_regressed"], each["negative"], each["significant"]))
    for group, key in (("Negative slopes", "negative"), ("Significant at 1 %", "significant")):
        bars.append(
            Bar(None, group, f"the paper, {paper['states']} regressions", paper[key], None, f"{paper[key]}", "")
        )
        for name, title in (("topdown_runs", "TopDown here"), ("subspace_runs", "projected Laplace here")):
            values = [each[key] for each in found[name]]
            text = f"{np.mean(values):.1f} ({min(values)} to {max(values)})"
            bars.append(
                Bar(
                    None,
                    group,
                    f"{title}, {found['states_regressed']} states",
                    float(np.mean(values)),
                    None,
                    text,
                    text,
                )
            )
    return bar_figure(
        "slope-table",
        tuple(bars),
        "states",
        f"The paper: {paper['negative']} of {paper['states']} slopes negative, {paper['significant']} significant; TopDown here "
        f"{np.mean([each['negative'] for each in found['topdown_runs']]):.0f} of {found['states_regressed']}",
        "Regressions of county errors on ln population, mean over runs with their range.",
        Table(("Errors of", "Run", "States", "Negative slopes", "Significant at 1 %"), tuple(table)),
    )


def _campus_pictures(found: Found, _folder: Path) -> list[Picture]:
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    exact = _fraction(found["variance"])
    for name, values, tick in (
        ("the paper, called standard deviation", found["printed"], None),
        ("mean square here: the variance", found["mean_square"], exact),
        ("root mean square here", found["root_mean_square"], found["standard_deviation"]),
    ):
        low, middle, high = values
        text = f"{middle:.3f} ({low:.3f} to {high:.3f})"
        rows.append(Row(None, "", name, middle, low, high, tick=tick, text=text, tip=f"{name}: {text}"))
        table.append((name, low, middle, high, tick))
    content = row_figure(
        "campus",
        tuple(rows),
        "noise of a cell at unit noise",
        f"The variance of every cell is exactly {found['variance']} = {exact:.3f}, its standard deviation {found['standard_deviation']:.3f}",
        f"{found['cells']:,} cells, {found['independent_totals']} independent totals, broken: {found['totals_broken']}. Median and 90 % band; "
        "stroke: exact. The printed figures are those of the variance.",
        Table(("Figure", "5 %", "Median", "95 %", "Exact"), tuple(table)),
    )
    return [Picture("Noise of a cell", content)]


def _fraction(text: str) -> float:
    """Return the value of a fraction written as ``299/336``."""
    above, _, below = text.partition("/")
    return float(above) / float(below or 1)


def _constant_pictures(found: Found, _folder: Path) -> list[Picture]:
    bars: list[Bar] = []
    table: list[tuple[Value, ...]] = []
    for row in found["rows"]:
        word = "keeps it" if row["protects"] else "BREAKS it"
        text = f"{row['factor']:.3g} × δ, {word}"
        tip = f"exact σ/Δ {row['exact_sigma']:.5g}, the paper's {row['paper_sigma']:.5g}"
        bars.append(Bar(None, "", f"ε = {row['epsilon']}", math.log10(1 + row["factor"]), None, text, tip))
        table.append(
            (row["epsilon"], row["exact_sigma"], row["paper_sigma"], row["true_delta_of_paper"], row["factor"], word)
        )
    broken = [row["epsilon"] for row in found["rows"] if not row["protects"]]
    content = bar_figure(
        "constant",
        tuple(bars),
        "log₁₀(1 + true δ over the δ asked for)",
        f"From ε = {broken[0]} on the paper's constant does not keep δ"
        if broken
        else "The paper's constant keeps δ at these ε",
        f"δ = {found['delta']}. Runs use the smallest σ that keeps (ε, δ), rounded up; the paper's constant is refused where it breaks.",
        Table(("ε", "Exact σ/Δ", "Paper's σ/Δ", "True δ of the paper's", "Over δ", "Verdict"), tuple(table)),
    )
    return [Picture("True δ of the paper's noise", content)]


def _bases_pictures(found: Found, _folder: Path) -> list[Picture]:
    ordered = sorted(found["factors"].items(), key=lambda item: item[1])
    bars = tuple(
        Bar(None, "", name, factor, None, f"{factor:.2f} ×", f"{name}: {factor:.4f}") for name, factor in ordered
    )
    content = bar_figure(
        "bases",
        bars,
        "squared error over that of projected Laplace noise",
        f"Best basis: {ordered[0][0]}, still {people(ordered[0][1])} times the squared error of projecting",
        f"{found['cells']:,} cells under one total. Helmert and halves can be chosen in a release; the others are for comparison.",
        Table(("Basis", "Factor"), tuple(ordered)),
    )
    return [Picture("Factor by basis", content)]


def _line(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> tuple[float, float]:
    logs = np.log(np.maximum(x, 1))
    centred = logs - logs.mean()
    slope = float((centred * y).sum() / max(float((centred**2).sum()), 1e-300))
    return slope, float(y.mean() - slope * logs.mean())


FIGURE_1 = Experiment(
    "figure-1",
    "The paper's Figure 1: counties of Illinois",
    "Errors of ten runs against the true size under an exact total, beside TopDown's errors on the same counties with their "
    "regression line; with a table of all counties, the slopes of every state beside the paper's 48, 37 and 11.",
    (
        Parameter("counties", "Counties", "", hint="Illinois; or a table like counties_2010.csv", is_file=True),
        Parameter("trials", "Runs", "10"),
        SEED,
    ),
    _figure_1_command,
    "Some seconds for Illinois, about half a minute for all states.",
    _figure_1_pictures,
)
CAMPUS = Experiment(
    "campus",
    "Spatio-temporal case: 14 × 24 × 20 cells",
    "740 independent totals fixed: the variance of every cell is exactly 299/336 = 0.890; the paper prints 0.88 and calls it a "
    "standard deviation.",
    (Parameter("repetitions", "Repetitions", "50"), SEED),
    _campus_command,
    "Some seconds.",
    _campus_pictures,
)
CONSTANT = Experiment(
    "constant",
    "The paper's Gaussian constant",
    "How many times the δ asked for the noise of the paper's constant really has; above 1 it does not protect as promised and is "
    "refused for a run.",
    (
        Parameter("delta", "δ", "1e-10"),
        Parameter("epsilons", "ε", "0.192,0.5,1,1.5,2,4,8", hint="with commas between"),
    ),
    _constant_command,
    "A second.",
    _constant_pictures,
)
BASES = Experiment(
    "bases",
    "Bases of extended Laplace noise",
    "Squared error of extended over projected Laplace noise under one total: the basis decides.",
    (Parameter("cells", "Cells", "102"),),
    _bases_command,
    "A second.",
    _bases_pictures,
)


def experiments() -> tuple[Experiment, ...]:
    """Return what scenarios under exact sums offer."""
    return COMPARE, FIGURE_1, CAMPUS, CONSTANT, BASES
