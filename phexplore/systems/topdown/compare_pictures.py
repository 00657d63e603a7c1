"""From a comparison of TopDown runs to its picture: one scale for all runs, differences beside the figures. No Qt."""

from __future__ import annotations

import math
from string import ascii_uppercase

from phexplore.figures.axis import Axis, Scale, signed_text
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Table
from phexplore.figures.wording import people, signed_people
from phexplore.runs.store import started_words
from phexplore.systems.topdown.result_pictures import trials_words
from phexplore.systems.topdown.run_contents import (
    ALL_SIZES,
    CompareBy,
    CompareContent,
    ComparedFigure,
    ComparedRun,
    CompareFigure,
)
from phexplore.systems.topdown.run_options import Mechanism, topdown_options
from phexplore.systems.topdown.wording import heading, level_title, query_title

_CLEAR = 2.0
"""A difference of more than so many Monte-Carlo errors is said to be one."""


def compare_rows(content: CompareContent, unit: str) -> Figure:
    """Return one row per group and run."""
    if not content.runs:
        return nothing("compare-rows", content.reason)
    names = [f"{letter} {_name(run, content)}" for letter, run in zip(ascii_uppercase, content.runs, strict=False)]
    rows, table = [], []
    for group in content.groups:
        title = _group_title(content.by, group.name)
        for place, (name, figure) in enumerate(zip(names, group.figures, strict=True)):
            rows.append(_row(title, name, place, figure, unit))
            table.append(_cells(title, name, figure))
    return row_figure(
        "compare-rows",
        tuple(rows),
        Axis(
            f"{content.figure.value.lower()}, {unit}",
            Scale.SIGNED_LOG if content.figure is CompareFigure.MEAN else Scale.COUNT,
            text=signed_text,
        ),
        _title(content, names, unit),
        _summary(content, names),
        Table(
            (
                content.by.value.capitalize(),
                "Run",
                f"{content.figure.value}, {unit}",
                "Monte-Carlo error",
                "Numbers per trial",
                "Difference to A",
                "Its Monte-Carlo error",
            ),
            tuple(table),
        ),
        guide=0.0 if content.figure is CompareFigure.MEAN else None,
    )


def _row(group: str, name: str, place: int, figure: ComparedFigure | None, unit: str) -> Row:
    if figure is None:
        return Row(None, group, name, text="no such numbers", series=place)
    known = math.isfinite(figure.error)
    reach = 2 * figure.error if known else 0.0
    words = people(figure.mean) + (f" ± {people(reach)}" if known else "")
    if figure.difference is not None:
        words += f"   {_difference_words(figure)}"
    return Row(
        None,
        group,
        name,
        value=figure.mean,
        low=figure.mean - reach if known else None,
        high=figure.mean + reach if known else None,
        text=words,
        tip=f"{name}\n{words} {unit}\n{figure.numbers:,} numbers per trial",
        series=place,
    )


def _difference_words(figure: ComparedFigure) -> str:
    if figure.difference is None:
        return ""
    error = f" ± {people(2 * figure.difference_error)}" if math.isfinite(figure.difference_error) else ""
    words = signed_people(figure.difference)
    return f"({words}{error} to A)"


def _cells(group: str, name: str, figure: ComparedFigure | None) -> tuple[str | int | float | None, ...]:
    if figure is None:
        return (group, name, None, None, None, None, None)
    return (
        group,
        name,
        figure.mean,
        figure.error if math.isfinite(figure.error) else None,
        figure.numbers,
        figure.difference,
        figure.difference_error if math.isfinite(figure.difference_error) else None,
    )


def _name(run: ComparedRun, content: CompareContent) -> str:
    name = run.spec.scenario.name
    if topdown_options(run.spec).mechanism is Mechanism.BLOCK_BY_BLOCK:
        return f"Block by block, {name}"
    same = sum(each.spec.scenario.name == name for each in content.runs) > 1
    return f"{name}, {started_words(run.directory)}".rstrip(", ") if same else name


def _group_title(by: CompareBy, name: str) -> str:
    match by:
        case CompareBy.LEVEL:
            return level_title(name)
        case CompareBy.QUERY:
            return query_title(name)
        case CompareBy.SIZE:
            return f"{name} people"


def _title(content: CompareContent, names: list[str], unit: str) -> str:
    """Return what differs most clearly from the first run."""
    found = [
        (abs(figure.difference) / figure.difference_error, group.name, place, figure.difference)
        for group in content.groups
        for place, figure in enumerate(group.figures)
        if figure is not None
        and figure.difference is not None
        and math.isfinite(figure.difference_error)
        and figure.difference_error > 0
    ]
    what = content.figure.value.lower()
    if not found:
        return f"{names[0]} and {len(names) - 1} more: {what}"
    clarity, name, place, difference = max(found)
    group = _group_title(content.by, name).lower() if content.by is not CompareBy.QUERY else query_title(name)
    if clarity < _CLEAR:
        return f"No run differs from {ascii_uppercase[0]} in {what} by more than two Monte-Carlo errors"
    more = "larger" if difference > 0 else "smaller"
    amount = people(abs(difference))
    return f"{ascii_uppercase[place]} against A: the {what} is {amount} {unit} {more} at {group}"


def _summary(content: CompareContent, names: list[str]) -> str:
    trials = ", ".join(
        f"{name.partition(' ')[0]} {trials_words(run.trials)}" for name, run in zip(names, content.runs, strict=True)
    )
    looked = {
        CompareBy.LEVEL: f"{heading(query_title(content.query))}, {_sizes(content)}",
        CompareBy.QUERY: f"{level_title(content.level)}, {_sizes(content)}",
        CompareBy.SIZE: f"{heading(query_title(content.query))} at {level_title(content.level).lower()}",
    }[content.by]
    common = [name.partition(" ")[0] for name, run in zip(names, content.runs, strict=True) if run.is_common]
    noise = (
        f"Common random numbers with A: {', '.join(common)}. Differences are taken trial by trial."
        if common
        else "The runs draw different random numbers; the same seed on the same data would make their difference sharper."
    )
    data = "" if content.is_same_data else " Attention: not all runs have the same data."
    return f"{looked}; {trials}. Whiskers: two Monte-Carlo errors. {noise}{data}"


def _sizes(content: CompareContent) -> str:
    return "units of all sizes" if content.size == ALL_SIZES else f"units of {content.size} people"
