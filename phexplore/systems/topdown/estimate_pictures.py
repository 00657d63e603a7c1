"""Charts of the estimates for one place in a run on published noisy measurements, whose true counts are not known. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import Figure, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Mean, Table, Value
from phexplore.figures.wording import mean_text, people, with_unit
from phexplore.systems.topdown.error_pictures import trials_words


class Line(NamedTuple):
    """One statistic: the heading above it, its label, and its code in the published table."""

    group: str
    label: str
    code: str = ""


def estimates_figure(
    chart: str, lines: Sequence[Line], published: NDArray[np.int64], total: float, where: tuple[str, str, str]
) -> Figure:
    """Return one row per statistic with its estimate.

    Args:
        chart: id.
        lines: the statistics shown.
        published: their estimates, ``int64[trials, lines]``.
        total: estimated population of the place.
        where: the place, the title of what is shown, and what is counted, e.g. "people".
    """
    place, title, unit = where
    means, trials = published.mean(axis=0).tolist(), len(published)
    rows = tuple(
        Row(
            None,
            line.group,
            line.label,
            value=mean,
            dots=tuple(map(float, published[:, number].tolist())),
            text=mean_text(mean),
            tip=f"{line.label}: estimate {mean_text(mean)}",
        )
        for number, (line, mean) in enumerate(zip(lines, means, strict=True))
    )
    has_codes, has_trials = any(line.code for line in lines), trials > 1
    table: list[tuple[Value, ...]] = []
    for number, (line, mean) in enumerate(zip(lines, means, strict=True)):
        given = published[:, number].tolist() if has_trials else []
        table.append(
            (*((line.code,) if has_codes else ()), line.label, Mean(mean) if has_trials else int(mean), *given)
        )
    estimated = people(total) if total != int(total) else with_unit(int(total), unit)
    return row_figure(
        chart,
        rows,
        Axis(unit, Scale.COUNT),
        f"{place[:1].upper()}{place[1:]}: estimate {estimated}" + (" on average" if has_trials else ""),
        f"{title}, {trials_words(trials)}: estimates from published noisy measurements. The true counts are not known, and no margin "
        "of error is computed for these estimates.",
        Table(
            (
                *(("Code",) if has_codes else ()),
                "Statistic",
                "Estimate, mean" if has_trials else "Estimate",
                *(f"Estimate, trial {number + 1}" for number in range(trials if has_trials else 0)),
            ),
            tuple(table),
        ),
    )
