"""Tables of the program as pandas frames, and figures on matplotlib axes. Exact values stay `fractions.Fraction`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from phexplore.errors import UnknownNameError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from phexplore.figures.figure import Figure
    from phexplore.figures.table import Table


def frame(headers: Sequence[str], rows: Iterable[Sequence[Any]], *, exact: Sequence[str] = ()) -> DataFrame:
    """Return a tidy frame: numbers as floats or whole numbers, None where there is none.

    Args:
        headers: names of the columns.
        rows: as many values per row as there are headers.
        exact: columns that keep `fractions.Fraction` or text of exact numbers as they are.
    """
    import pandas as pd

    columns = list(zip(*rows, strict=True)) or [()] * len(headers)
    found = {}
    for header, values in zip(headers, columns, strict=True):
        if header in exact:
            found[header] = pd.Series(values, dtype=object)
        elif any(isinstance(value, Fraction | float) for value in values) or (
            None in values and any(isinstance(value, int) for value in values)
        ):
            found[header] = pd.Series([None if value is None else float(value) for value in values], dtype="float64")
        else:
            found[header] = pd.Series(values)
    return pd.DataFrame(found)


def table_frame(table: Table) -> DataFrame:
    """Return the numbers behind a figure as a frame with the headers people see."""
    names: list[str] = []
    for header in table.headers:
        names.append(header if header not in names else f"{header} ({names.count(header) + 1})")
    return frame(names, table.rows)


def draw(figures: Sequence[Figure], name: str, ax: Axes | None) -> Axes:
    """Draw a figure of the program and return its axes.

    Args:
        figures: to choose from.
        name: of one; "" for the first.
        ax: axes to draw into; None for a new figure of matplotlib.

    Raises:
        UnknownNameError: there is no such figure.
    """
    from phexplore.figures.to_matplotlib import draw_into, inches

    known = {figure.id: figure for figure in figures}
    if name and name not in known:
        raise UnknownNameError("figure", name, list(known))
    chosen = known[name] if name else figures[0]
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=inches(chosen), layout="constrained")
    draw_into(ax, chosen)
    return ax
