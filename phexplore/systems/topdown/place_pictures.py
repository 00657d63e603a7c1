"""From what was read of one place to its pictures: true, measured, published. No Qt."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from phexplore.figures.axis import Axis, Scale, signed_text
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Table
from phexplore.figures.wording import people
from phexplore.systems.topdown.result_pictures import trials_words
from phexplore.systems.topdown.run_contents import EVERY_QUERY, MeasuredLine, PathContent, PlaceContent
from phexplore.systems.topdown.wording import heading, level_title, query_title

_MOST_ROWS = 400
_OF_EACH = 4
"""Answers of each query that the picture of all queries shows; its table has the others."""
_OF_ONE = 40
_NORMAL_90 = 1.645


def place_rows(content: PlaceContent, unit: str) -> Figure:
    """Return one row per answer of one unit: the truth as a stroke, the published counts as dots, the noise as a band."""
    if not content.labels:
        return nothing("place-rows", content.reason)
    order = np.argsort(-np.maximum(content.truth, content.published.max(axis=0)), kind="stable")
    order = order[(content.truth[order] > 0) | (content.published[:, order].max(axis=0) > 0)][:_MOST_ROWS]
    if not len(order):
        order = np.arange(min(1, len(content.labels)))
    mean = content.published.mean(axis=0)
    rows, table = [], []
    for answer in order.tolist():
        noisy = () if content.measured is None else tuple(content.measured[:, answer].tolist())
        truth, sigma = int(content.truth[answer]), content.sigma
        margin = None if sigma is None else 1.645 * sigma
        label = content.labels[answer]
        rows.append(
            Row(
                None,
                "",
                label,
                value=float(mean[answer]),
                low=None if margin is None else max(truth - margin, 0.0),
                high=None if margin is None else truth + margin,
                tick=float(truth),
                dots=tuple(float(count) for count in content.published[:, answer].tolist()),
                crosses=() if content.measured is None else tuple(map(float, content.measured[:, answer].tolist())),
                text=" → ".join((f"{truth:,}", *(f"{each:,}" for each in noisy[:1]), people(float(mean[answer])))),
                tip=f"{label}: true {truth:,}, published {people(float(mean[answer]))} on average\n"
                + _measured_words(content, answer),
            )
        )
        table.append((label, truth, float(mean[answer]), *noisy, *content.published[:, answer].tolist()))
    trials, kept = len(content.published), 0 if content.measured is None else len(content.measured)
    total, published = int(content.truth.sum()), float(content.published.sum(axis=1).mean())
    name = f"{level_title(content.level)} {content.code}".strip()
    return row_figure(
        "place-rows",
        tuple(rows),
        Axis(unit, Scale.COUNT),
        f"{name}: {total:,} {unit} are published as {people(published)}",
        f"{heading(query_title(content.query))}, {trials_words(trials)}: strokes are true, dots published (large: their mean)"
        + (f", crosses measured in {trials_words(kept)}" if kept else "")
        + (
            ", whiskers hold 90 % of the noisy answers."
            if content.sigma is not None
            else "; not measured by itself here."
        ),
        Table(
            (
                "Answer",
                "True",
                "Published, mean",
                *(f"Measured, trial {number + 1}" for number in range(kept)),
                *(f"Published, trial {number + 1}" for number in range(trials)),
            ),
            tuple(table),
        ),
    )


def _measured_words(content: PlaceContent, answer: int) -> str:
    if content.measured is not None:
        found = ", ".join(f"{count:,}" for count in content.measured[:, answer].tolist()[:5])
        return f"measured {found} (σ {people(content.sigma or 0.0)})"
    if content.sigma is None:
        return "Not measured by itself at this level."
    return f"A noisy answer has σ {people(content.sigma)}; the answers themselves were not kept."


def path_rows(content: PathContent, unit: str) -> Figure:
    """Return the largest answers of every query at every level over a place: true, measured and published."""
    if not content.lines:
        reason = content.reason or "No unit over this place was measured with this query."
        return nothing("path-rows", reason)
    most = _OF_EACH if content.query == EVERY_QUERY else _OF_ONE
    rows = [
        _path_row(line, unit)
        for _key, lines in groupby(content.lines, key=lambda line: (line.level, line.query))
        for line in _largest(list(lines), most)
    ]
    trials = range(content.trials)
    left_out = f" {content.left_out:,} further answers, the smallest ones, are not listed." if content.left_out else ""
    return row_figure(
        "path-rows",
        tuple(rows[:_MOST_ROWS]),
        Axis(f"difference from the true count, {unit}", Scale.SIGNED_LOG, text=signed_text),
        _path_title(content, unit),
        f"Every measurement on the way to {level_title(content.level).lower()} {content.code}, {trials_words(content.trials)}: "
        f"crosses measured, dots published (large: their mean), whiskers hold 90 % of the noise; at the right true → measured → "
        f"published of the first trial. The {most} largest answers of a query "
        f"at a level; the table has {len(content.lines):,}.{left_out}",
        Table(
            (
                "Level",
                "Unit of the spine",
                "Blocks",
                "Query",
                "Answer",
                "σ",
                "True",
                *(f"Measured, trial {trial + 1}" for trial in trials),
                *(f"Published, trial {trial + 1}" for trial in trials),
            ),
            tuple(
                (
                    level_title(line.level),
                    line.unit,
                    line.blocks,
                    query_title(line.query),
                    line.answer,
                    line.sigma,
                    line.truth,
                    *line.measured,
                    *line.published,
                )
                for line in content.lines
            ),
        ),
        guide=0.0,
    )


def _largest(lines: list[MeasuredLine], most: int) -> list[MeasuredLine]:
    """Return the answers that count anybody, the first where none does."""
    filled = [line for line in lines if line.truth or any(line.published)]
    return (filled or lines[:1])[:most]


def _path_row(line: MeasuredLine, unit: str) -> Row:
    margin = _NORMAL_90 * line.sigma
    query = query_title(line.query)
    first, found = line.measured[0], line.published[0]
    off = (first - line.truth) / line.sigma
    return Row(
        None,
        level_title(line.level),
        query if line.answer == "all" else f"{query}: {line.answer}",
        value=float(np.mean(line.published)) - line.truth,
        low=-margin,
        high=margin,
        dots=tuple(float(each - line.truth) for each in line.published),
        crosses=tuple(float(each - line.truth) for each in line.measured),
        text=f"{line.truth:,} → {first:,} → {found:,}",
        tip=f"{level_title(line.level)} {line.unit}, {line.blocks:,} blocks\n{query}, {line.answer}: true {line.truth:,}, measured "
        f"{', '.join(f'{each:,}' for each in line.measured)} (σ {people(line.sigma)}), published "
        f"{', '.join(f'{each:,}' for each in line.published)} {unit}\nin the first trial the noise is {off:+.1f} σ",
        is_warned=abs(off) > 3,
    )


def _path_title(content: PathContent, unit: str) -> str:
    totals = [line for line in content.lines if line.query == "total"]
    line = (totals or list(content.lines))[-1]
    what = "" if line.query == "total" else f" of {query_title(line.query)}: {line.answer}"
    return (
        f"{level_title(line.level)}: {line.truth:,} {unit}{what} were measured as {line.measured[0]:,} and are published as "
        f"{line.published[0]:,}"
    )
