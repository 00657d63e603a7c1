"""What the members of a committee propose: a table, a picture, sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

from phexplore.decide.comments import about_words
from phexplore.decide.committee import CommitteeMatrix, MatrixRow, consensus
from phexplore.decide.parameter_words import parameter_words
from phexplore.errors import PhexploreError
from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import Figure, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import UNTOUCHED, Look, Share, Table, Value, shown
from phexplore.figures.wording import capital, counted, people
from phexplore.model.comments import in_one_line
from phexplore.model.rounded import Toward, percent
from phexplore.model.scenario import Scenario
from phexplore.systems.protocol import System
from phexplore.systems.registry import margins_of_entries, system_of

_AGREEMENT, _FIRST_MEMBER = 1, 3
"""Columns of the table."""
_FAR = 10.0
"""Ratios beyond it need a logarithmic axis."""
_CLOSE = 0.8
"""Agreement below it is marked."""


@dataclass(frozen=True, slots=True)
class MatrixView:
    """A committee matrix, ready to be shown.

    Attributes:
        title: the finding.
        sentence: how to read the table.
        numbers: the table.
        picture: members' values as multiples of the baseline.
    """

    title: str
    sentence: str
    numbers: Table
    picture: Figure


def matrix_view(matrix: CommitteeMatrix, proposals: Sequence[Scenario] = ()) -> MatrixView:
    """Return a matrix as it is shown.

    Args:
        matrix: who proposes what.
        proposals: the members' scenarios: a budget is shown as the margin that it gives; without them as it is.
    """
    untold, hidden = "", 0
    if proposals and any(row.kind == "budget" for row in matrix.rows):
        stated = [replace(each, conventions=matrix.baseline.conventions) for each in proposals]
        try:
            draft = replace(consensus(matrix, proposals), conventions=matrix.baseline.conventions)
            start, middle, *margins = map(margins_of_entries, (matrix.baseline, draft, *stated))
            found = [_in_people(row, start, middle, margins) for row in matrix.rows]
            seen = [row for row in found if any(row.moved)]
            hidden = len(found) - len(seen)
            matrix = replace(matrix, rows=tuple(sorted(seen, key=lambda row: row.agreement)))
        except PhexploreError as error:
            untold = f" Budgets stand as they are, without margins: {error.sentence}"
    members = matrix.members
    names = tuple("\n".join(name.rsplit(" ", 1)) for name in members)
    headers = ("Parameter", "Agreement", "Baseline", *names, "Median", "Min", "Max", "Unchanged", "Reasons")
    system = system_of(matrix.baseline)
    rows = (*(_row(system, row) for row in matrix.rows), *_remarks(matrix))
    looks: dict[tuple[int, int], Look] = {}
    details: dict[tuple[int, int], str] = {}
    for place, row in enumerate(matrix.rows):
        details |= _absences(place, row)
        for number, moved in enumerate(row.moved):
            looks[place, _FIRST_MEMBER + number] = Look.BOLD if moved else Look.MUTED
        if len(members) == 1:
            details[place, _AGREEMENT] = "One proposal alone: there is nobody to agree with."
        elif row.agreement < _CLOSE:
            looks[place, _AGREEMENT] = Look.ATTENTION
        elif not row.is_open:
            looks[place, _AGREEMENT] = Look.GOOD
    for place in range(len(matrix.rows), len(rows)):
        details |= {(place, column): "Nobody moved it; it is only spoken of." for column in range(1, len(headers) - 1)}
    sentence = (
        f"Baseline: {matrix.baseline.name}. {UNTOUCHED} means unchanged, bold means changed. Agreement is the smallest proposal divided "
        f"by the largest.{untold}" + (f" {counted(hidden, 'budget')} adjusted, margins unchanged." if hidden else "")
    )
    return MatrixView(_title(matrix), sentence, Table(headers, rows, looks, details), _picture(matrix))


def _in_people(
    row: MatrixRow,
    start: Mapping[str, float | None],
    middle: Mapping[str, float | None],
    margins: Sequence[Mapping[str, float | None]],
) -> MatrixRow:
    """Return the row of a budget as that of its margin; any other row, and one without a margin anywhere, as it is.

    Args:
        row: of the matrix.
        start: margins of the baseline, people, by place.
        middle: those of the draft: the middle of budgets with the middle of thresholds.
        margins: those of every member.
    """
    if row.kind != "budget" or all(each.get(row.path) is None for each in (start, *margins)):
        return row
    values = tuple(_people(each.get(row.path)) for each in margins)
    known, began = [value for value in values if value is not None], _people(start.get(row.path))
    moved = tuple(value != began for value in values)  # as shown; a threshold moves it, too
    return replace(
        row, kind="margin", baseline=began, values=values, moved=moved,
        low=min(known, default=None), middle=_people(middle.get(row.path)), high=max(known, default=None),
    )  # fmt: skip


def _people(margin: float | None) -> Fraction | None:
    """Return a margin as it reads elsewhere: nothing is reckoned with it, and two readings of one number are one too many.

    Raises:
        PhexploreError: it is larger than any number.
    """
    if margin is not None and not isfinite(margin):
        raise PhexploreError("A margin is larger than any number of people.")
    return None if margin is None else Fraction(people(margin).replace(",", ""))


def _absences(place: int, row: MatrixRow) -> dict[tuple[int, int], str]:
    """Return why cells of a row hold nothing, by row and column.

    Args:
        place: of the row.
        row: as it is shown.
    """
    first = _FIRST_MEMBER + len(row.values)
    found = {} if row.reasons else {(place, first + 4): "Nobody gave a reason."}
    if row.baseline is None:
        found[place, _FIRST_MEMBER - 1] = "The baseline has none."
    for number, (value, moved) in enumerate(zip(row.values, row.moved, strict=True), start=_FIRST_MEMBER):
        if not moved:
            found[place, number] = "unchanged"
        elif value is None:
            found[place, number] = "This member has none."
    return found


def _words(system: System, row: MatrixRow) -> str:
    return capital(parameter_words(system, f"{row.kind} {row.path}".strip()))


def _row(system: System, row: MatrixRow) -> tuple[Value, ...]:
    row = _in_percent(row)
    values: tuple[Value, ...] = tuple(
        value if moved else UNTOUCHED for value, moved in zip(row.values, row.moved, strict=True)
    )
    alone = f"{row.untouched} of {len(row.values)}"
    agreement = percent(row.agreement, places=0, toward=Toward.DOWN) if len(row.values) > 1 else None
    return (
        _words(system, row),
        agreement,
        row.baseline,
        *values,
        row.middle,
        row.low,
        row.high,
        alone,
        _joined(row.reasons),
    )


def _joined(said: Sequence[str]) -> str:
    """Return what several members said as one: a full stop ends the last alone."""
    return "; ".join((*(re.sub(r"(?<!\.)\.$", "", each.rstrip()) for each in said[:-1]), *said[-1:]))


def _in_percent(row: MatrixRow) -> MatrixRow:
    """Return the row of a share as it reads elsewhere; any other row as it is."""
    if not row.kind.endswith(" share"):
        return row
    baseline, low, middle, high, *values = (
        Share(value) if isinstance(value, Fraction) else value
        for value in (row.baseline, row.low, row.middle, row.high, *row.values)
    )
    return replace(row, baseline=baseline, low=low, middle=middle, high=high, values=tuple(values))


def _remarks(matrix: CommitteeMatrix) -> Iterator[tuple[Value, ...]]:
    """Yield a row for everything that is spoken of and was not moved."""
    for about in dict.fromkeys(each.about for each in matrix.remarks):
        words = about_words(matrix.baseline, about)
        said = _joined([in_one_line(each) for each in matrix.remarks if each.about == about])
        yield words[:1].upper() + words[1:], *("",) * (len(matrix.members) + 6), said


def _title(matrix: CommitteeMatrix) -> str:
    count = len(matrix.members)
    who = f"{count} member" + ("" if count == 1 else "s")
    if not matrix.rows:
        return f"{who} change{'s' if count == 1 else ''} nothing"
    movers = sum(any(row.moved[place] for row in matrix.rows) for place in range(count))
    who = who if movers == count else f"{movers} of {who}"
    moved = f"{who} moved {len(matrix.rows)} number" + ("" if len(matrix.rows) == 1 else "s")
    opened = [row for row in matrix.rows if row.is_open]
    if not opened:
        changes = f"{len(matrix.rows)} change" + ("" if len(matrix.rows) == 1 else "s")
        return f"One proposal, {changes}" if count == 1 else f"{moved}, and agree on all of them"
    widest = _in_percent(min(opened, key=lambda row: row.agreement))
    return f"{moved}; they differ on {len(opened)}, most on {_words(system_of(matrix.baseline), widest)}: {shown(widest.low)} to {shown(widest.high)}"


def _picture(matrix: CommitteeMatrix) -> Figure:
    system = system_of(matrix.baseline)
    marks = tuple(mark for row in matrix.rows if (mark := _mark(system, row, matrix.members)) is not None)
    numbers = Table(
        ("Parameter", *(f"{member}, times the baseline" for member in matrix.members)),
        tuple((mark.name, *mark.dots) if len(mark.dots) == len(matrix.members) else (mark.name, *(None,) * len(matrix.members))
              for mark in marks),
    )  # fmt: skip
    far = max((max(mark.reach) for mark in marks), default=1.0) > _FAR
    return row_figure(
        "picture",
        marks,
        Axis("Proposed value, as a multiple of the baseline", Scale.COUNT if far else Scale.LINEAR),
        "Members' positions" if marks else "",
        "Each line extends from the smallest to the largest proposal; small dots are those between, the large dot is the middle. "
        "The dashed line is the baseline. "
        f"Amber: the smallest is less than {percent(_CLOSE, places=0)} of the largest."
        if marks
        else "No member changed a value that the baseline has.",
        numbers,
        guide=1.0,
    )


def _mark(system: System, row: MatrixRow, members: tuple[str, ...]) -> Row | None:
    """Return a row of the chart; None where the baseline has no value."""
    start = row.baseline
    if not start or row.low is None or row.middle is None or row.high is None:
        return None
    known = [(member, value) for member, value in zip(members, row.values, strict=True) if value is not None]
    words, read = _words(system, row), _in_percent(row)
    told = "\n".join(
        f"{member}: {shown(value)}" for member, value in zip(members, read.values, strict=True) if value is not None
    )
    agreed = ", all agree" if len(members) > 1 else ""

    def times(value: Fraction) -> float:
        return float(value / start)

    return Row(
        f"{row.kind} {row.path}",
        "",
        words,
        times(row.middle),
        times(row.low),
        times(row.high),
        dots=tuple(times(value) for _, value in known),
        text=f"{shown(read.low)} – {shown(read.high)}" if row.is_open else f"{shown(read.middle)}{agreed}",
        tip=f"{words}, baseline {shown(read.baseline)}\n{told}",
        is_warned=row.agreement < _CLOSE,
    )
