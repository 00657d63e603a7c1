"""What an experiment found, as pictures: from the JSON and the tables its command wrote. No Qt."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from phexplore.errors import PhexploreError
from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import Figure, bar_figure, row_figure
from phexplore.figures.marks import Bar, Row
from phexplore.figures.scatter import Series, scatter_figure
from phexplore.figures.table import Table, Value
from phexplore.figures.wording import people
from phexplore.gui.experiments.process import RESULT_FILE
from phexplore.model.issues import InputProblemsError
from phexplore.opening import read_bytes

Found = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One picture of an experiment.

    Attributes:
        title: in the list of pictures.
        content: what is drawn.
        notes: what should be known beside it, in sentences.
    """

    title: str
    content: Figure
    notes: tuple[str, ...] = ()


class ExperimentUnreadableError(PhexploreError):
    """The figures of an experiment are damaged."""


def pictures_of(experiment: str, found: Found, folder: Path) -> tuple[Picture, ...]:
    """Return the pictures of an experiment.

    Args:
        experiment: its id.
        found: the JSON its command printed.
        folder: with its tables.

    Raises:
        ExperimentUnreadableError: figures are missing or damaged.
    """
    try:
        return tuple(_MAKERS[experiment](found, folder))
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, ArithmeticError, OSError) as error:
        raise ExperimentUnreadableError(
            f"The figures of the experiment cannot be read ({error}).", "Run it again."
        ) from error


def read_pictures(experiment: str, folder: Path) -> tuple[Picture, ...]:
    """Return the pictures of what an experiment found earlier; none when it was not run yet.

    Args:
        experiment: its id.
        folder: where its process left the figures and tables.

    Raises:
        ExperimentUnreadableError: figures are missing or damaged.
    """
    path = folder / RESULT_FILE
    if not path.exists():
        return ()
    try:
        found = json.loads(read_bytes(path))
    except InputProblemsError as error:
        raise ExperimentUnreadableError(
            f"{path} cannot be read. {error.issues[0].sentence}", "Run it again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ExperimentUnreadableError(f"{path} cannot be read ({error}).", "Run it again.") from error
    return pictures_of(experiment, found, folder)


def _table_7(found: Found, _folder: Path) -> list[Picture]:
    pictures: list[Picture] = []
    notes = tuple(sentence for data in found["data"] for sentence in data["differences"])
    for data in found["data"]:
        for place, level in enumerate(data["levels"]):
            pictures.append(Picture(f"{data['id']}: error, {level['level']}", _errors(found, data, place), notes))
        pictures.append(Picture(f"{data['id']}: broken sums", _violations(found, data), notes))
        pictures.append(Picture(f"{data['id']}: time by ε (Figure 8)", _seconds(found, data), notes))
    if found.get("scaling"):
        pictures.append(Picture("Time by N (Figure 7)", _scaling(found["scaling"])))
    return pictures


def _errors(found: Found, data: Found, place: int) -> Figure:
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    level = data["levels"][place]["level"]
    best: dict[str, tuple[float, str]] = {}
    for row in found["rows"]:
        if row["data"] != data["id"]:
            continue
        mean, sd = row["l1"][place]["mean"], row["l1"][place]["sd"]
        paper = row["published"]["l1"][place] if row["published"] else None
        cost = "" if row["keeps_budget"] else f", costs ε = {row['spends']}"
        text = f"{mean:,.2f}" + ("" if paper is None else f" (paper {paper:,.1f})") + cost
        spread = sd or 0.0
        rows.append(
            Row(
                None, f"ε = {row['epsilon']}", row["label"].split(" (")[0], mean, mean - spread, mean + spread, tick=paper,
                text=text, tip=f"{row['label']}: {text}", is_warned=not row["keeps_budget"],
            )
        )  # fmt: skip
        table.append(
            (
                row["epsilon"],
                row["label"],
                mean,
                sd,
                paper,
                row["violations"]["mean"],
                row["seconds"]["mean"],
                row["spends"],
            )
        )
        consistent = row["keeps_budget"] and not row["violations"]["mean"]
        if consistent and mean < best.get(row["epsilon"], (math.inf, ""))[0]:
            best[row["epsilon"]] = (mean, row["label"])
    winners = {label for _, label in best.values()}
    title = (
        f"{level}: least error of those that always add up within ε: {', '.join(sorted(winners))}" if winners else level
    )
    return row_figure(
        "errors",
        tuple(rows),
        Axis("L1 error, thousands of groups", Scale.COUNT),
        title,
        f"Mean ± standard deviation of {found['trials']:,} releases, {data['groups']:,} groups; stroke: the paper's Table 7. Amber costs "
        "more than ε.",
        Table(
            (
                "ε",
                "Mechanism",
                "L1 error, thousands",
                "Standard deviation",
                "Paper",
                "Broken sums",
                "Seconds",
                "Spends ε",
            ),
            tuple(table),
        ),
    )


def _violations(found: Found, data: Found) -> Figure:
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for row in found["rows"]:
        if row["data"] != data["id"]:
            continue
        mean = row["violations"]["mean"]
        paper = row["published"]["violations"] if row["published"] else None
        text = f"{mean:,.0f}" + ("" if paper is None else f" (paper {paper:,})")
        name = row["label"].split(" (")[0]
        rows.append(
            Row(
                None,
                f"ε = {row['epsilon']}",
                name,
                mean,
                tick=paper,
                text=text,
                tip=f"{row['label']}: {text}",
                is_warned=mean > 0,
            )
        )
        table.append((row["epsilon"], row["label"], mean, row["violations"]["sd"], paper))
    broken = {row.name for row in rows if row.is_warned}
    return row_figure(
        "violations",
        tuple(rows),
        Axis("sums of regions that do not add up, per release", Scale.COUNT),
        f"Only the rounded programs break sums: {', '.join(sorted(broken))}" if broken else "No mechanism broke a sum",
        "Pairs of a region and a size whose subregions do not add up; stroke: the paper's Table 7.",
        Table(("ε", "Mechanism", "Broken sums", "Standard deviation", "Paper"), tuple(table)),
    )


def _seconds(found: Found, data: Found) -> Figure:
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    own = [row for row in found["rows"] if row["data"] == data["id"]]
    for variant in dict.fromkeys(row["label"] for row in own):
        for row in own:
            if row["label"] == variant:
                mean = row["seconds"]["mean"]
                rows.append(
                    Row(None, variant.split(" (")[0], f"ε = {row['epsilon']}", mean, 0.0, mean, text=f"{mean:.3g} s")
                )
                table.append((variant, row["epsilon"], mean, row["seconds"]["sd"]))
    slowest = max(rows, key=lambda row: row.value or 0.0)
    return row_figure(
        "seconds",
        tuple(rows),
        "processor time of one release, seconds",
        f"Slowest: {slowest.group} at {slowest.name}, {slowest.text}",
        "Noise and fit. The exact mechanisms search instead of filling tables whose size follows the noise.",
        Table(("Mechanism", "ε", "Seconds", "Standard deviation"), tuple(table)),
    )


def _scaling(entries: Sequence[Found]) -> Figure:
    names = list(dict.fromkeys(name for entry in entries for name in entry["seconds"]))
    series = []
    for name in names:
        points = [(float(e["largest"]), max(float(e["seconds"][name]), 1e-5)) for e in entries if name in e["seconds"]]
        x, y = (np.array(column) for column in zip(*points, strict=True))
        series.append(Series(name, x, y))
    table = [(each["largest"], each["groups"], *(each["seconds"].get(name) for name in names)) for each in entries]
    last = entries[-1]
    fastest = min(last["seconds"], key=lambda name: last["seconds"][name])
    return scatter_figure(
        "scaling",
        tuple(series),
        ("largest size N", "processor time of one release, seconds"),
        f"At N = {last['largest']:,} {fastest} is fastest: {last['seconds'][fastest]:.3g} s",
        "Taxi-shaped data, ε = 0.1. The paper's cost tables stop where they grow too large.",
        Table(("N", "Groups", *names), tuple(table)),
        is_log=True,
    )


def _systems(found: Found, folder: Path) -> list[Picture]:
    header, *lines = _csv(folder / "systems.csv")
    names = tuple(line[0] for line in lines)
    sizes = np.array([float(line[1]) for line in lines])
    systems = [title.removeprefix("MAE ") for title in header[2:]]
    columns = [np.array([float(line[2 + place]) for line in lines]) for place in range(len(systems))]
    series = tuple(Series(name, sizes, column, names) for name, column in zip(systems, columns, strict=True))
    best = min(found["systems"], key=lambda row: row["county_mae"])
    whole = min(found["systems"], key=lambda row: row["state_mae"])
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (name, *map(float, line[1:])) for name, line in zip(names, lines, strict=True)
    )
    errors = scatter_figure(
        "systems",
        series,
        ("households of the county", "mean absolute error of a count"),
        f"Least error in counties: {best['system']} ({best['county_mae']:.1f}); in the whole state: {whole['system']} "
        f"({whole['state_mae']:.1f})",
        f"Households by size, {found['counties']} counties, ε = {found['epsilon']} each. Group sizes spend half of ε on the state; the exact "
        "total spends all of it on the counties, and its numbers can fall below 0.",
        Table(("County", "Households", *(f"Error, {name}" for name in systems)), rows),
    )
    bars: list[Bar] = []
    table: list[tuple[Value, ...]] = []
    for row in found["systems"]:
        for group, key in (("A county count", "county_mae"), ("A state count", "state_mae")):
            bars.append(
                Bar(None, group, row["system"], row[key], None, f"{row[key]:.1f}", f"{row['system']}: {row[key]:.3f}")
            )
        table.append(
            (
                row["system"],
                row["county_mae"],
                row["state_mae"],
                row["mean_error_of_smallest"],
                100 * row["negative_share"],
            )
        )
    bars.sort(key=lambda bar: bar.group)
    smallest = "; ".join(f"{row['system']} {row['mean_error_of_smallest']:+.2f}" for row in found["systems"])
    summary = bar_figure(
        "systems",
        tuple(bars),
        "mean absolute error, households",
        f"What is exact is paid for elsewhere: {whole['system']} is best for the state",
        f"Mean error of the smallest tenth of counts: {smallest}.",
        Table(
            (
                "System",
                "Error of a county count",
                "Of a state count",
                "Mean error of the smallest tenth",
                "Below 0, percent",
            ),
            tuple(table),
        ),
    )
    return [Picture("Errors of the counties", errors), Picture("Counties and state", summary)]


def _figure_1(found: Found, folder: Path) -> list[Picture]:
    _, *lines = _csv(folder / "errors.csv")
    state = lines[0][0]
    population = np.array([float(line[2]) for line in lines])
    runs = np.array([int(line[3]) for line in lines])
    topdown, subspace = (np.array([float(line[place]) for line in lines]) for place in (4, 5))
    labels = tuple(line[1] for line in lines)
    first = runs == 0
    slope, intercept = _line(population[first], topdown[first])
    notes = tuple(found["differences"])
    errors = scatter_figure("figure-1", (
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


def _campus(found: Found, _folder: Path) -> list[Picture]:
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


def _constant(found: Found, _folder: Path) -> list[Picture]:
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


def _bases(found: Found, _folder: Path) -> list[Picture]:
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


def _csv(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


_MAKERS: Mapping[str, Callable[[Found, Path], list[Picture]]] = MappingProxyType(
    {
        "table-7": _table_7,
        "systems": _systems,
        "figure-1": _figure_1,
        "campus": _campus,
        "constant": _constant,
        "bases": _bases,
    }
)
