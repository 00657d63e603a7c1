"""The picture that any system has of its forecast: the margin of every measured query."""

from __future__ import annotations

from phexplore.figures.figure import Figure, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Table, Value
from phexplore.figures.wording import STROKE, budget_text, margin_word, people
from phexplore.model.conventions import Conventions
from phexplore.model.rounded import percent
from phexplore.systems.protocol import Forecast, System


def entries_figure(
    system: System, conventions: Conventions, forecast: Forecast, before: Forecast | None = None
) -> Figure:
    """Return a row per measured query: its margin, and a stroke where the reference has it.

    Args:
        system: names the places.
        conventions: what the margins mean.
        forecast: of the parameters.
        before: of what they are compared with, None for nothing.
    """
    then = {entry.place: entry.margins for entry in before.entries} if before is not None else {}
    rows: list[Row] = []
    table: list[tuple[Value, ...]] = []
    for entry in forecast.entries:
        place, was = system.place_name(entry.place), then.get(entry.place)
        group = place.group if place.name != place.group else ""
        old = None if was is None else was.by(conventions.margin)
        budget = "" if entry.budget is None else budget_text(entry.budget)
        if entry.margins is None:
            rows.append(Row(entry.place, group, place.name, text="not published", tip=f"{place.title}: not published"))
            table.append((place.title, None, old, budget))
            continue
        value = float(entry.margins.by(conventions.margin))
        tip = f"{place.title}: ±{people(value)}" + (f", budget {budget}" if budget else "")
        text = f"±{people(value)}"
        rows.append(Row(entry.place, group, place.name, value, 0.0, value, tick=old, text=text, tip=tip))
        table.append((place.title, value, old, budget))
    known = [row for row in rows if row.value is not None]
    widest = max(known, key=lambda row: row.value or 0.0, default=None)
    finding = (
        "Nothing is published with noise" if widest is None else f"The widest margin is {widest.text}: {widest.name}"
    )
    often = f"{percent(conventions.confidence, places=None)}, {margin_word(conventions.margin)}"
    return row_figure(
        "margins",
        tuple(rows),
        f"margin of one answer ({often})",
        finding,
        f"Margins of one answer before any run. {STROKE}",
        Table(("Query", "Margin", "Reference", "Budget"), tuple(table)),
    )
