"""The experiment of the paper on group sizes: what it asks, and its pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import Figure, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.scatter import Series, scatter_figure
from phexplore.figures.table import Table, Value
from phexplore.systems.experiments import (
    COMPARE,
    YES_NO,
    Experiment,
    Found,
    Given,
    Parameter,
    Picture,
)

_MECHANISMS = "relaxed,tree,cumulative-tree,chain-as-published,chain,topdown"


def _command(out: Path, given: Given) -> list[str]:
    return [
        "group-sizes", "experiment", "--out", str(out), "--data", given["data"], "--epsilons", given["epsilons"],
        "--trials", given["trials"], "--workers", given["workers"], "--json",
        *(["--mechanisms", given["mechanisms"]] if given["mechanisms"].strip() else []),
        *(["--scaling"] if given["scaling"] == "yes" else []),
    ]  # fmt: skip


def experiment_pictures(found: Found, _folder: Path | None = None) -> list[Picture]:
    """Return the pictures: errors at every level, broken sums and run time for each data, run time by size."""
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
        f"errors-{data['id']}-level-{place + 1}",
        tuple(rows),
        Axis("L1 error, thousands of groups", Scale.COUNT),
        title,
        f"Mean and standard deviation of {found['trials']:,} releases, {data['groups']:,} groups; tick: the paper's Table 7. Amber: privacy "
        "loss above ε.",
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
        f"violations-{data['id']}",
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
        f"time-{data['id']}",
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
        "time-by-sizes",
        tuple(series),
        ("largest size N", "processor time of one release, seconds"),
        f"At N = {last['largest']:,} {fastest} is fastest: {last['seconds'][fastest]:.3g} s",
        "Taxi-shaped data, ε = 0.1. The paper's cost tables stop where they grow too large.",
        Table(("N", "Groups", *names), tuple(table)),
        is_log=True,
    )


TABLE_7 = Experiment(
    "table-7",
    "The paper's Table 7",
    "L1 error by level and broken sums of every mechanism at several ε, with the published figures beside ours and the differences "
    "of the data stated. A stopped experiment goes on where it was.",
    (
        Parameter(
            "data",
            "Data",
            "census",
            (("census", "Households of 2010"), ("taxi", "Shaped like taxis"), ("census,taxi", "Both")),
        ),
        Parameter("epsilons", "ε", "0.1,0.5,1", hint="with commas between"),
        Parameter("trials", "Releases", "30"),
        Parameter("mechanisms", "Mechanisms", "", (("", "All"), (_MECHANISMS, "All but the slowest"))),
        Parameter("scaling", "Time by N", "no", YES_NO),
        Parameter("workers", "Workers", "1"),
    ),
    _command,
    "A quarter of an hour of processor time for thirty releases, most of it for the relaxed cumulative program.",
    experiment_pictures,
)


def experiments() -> tuple[Experiment, ...]:
    """Return what scenarios of group sizes offer."""
    return TABLE_7, COMPARE
