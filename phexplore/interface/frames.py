"""Tables of the program as pandas frames, and figures on matplotlib axes. Exact values stay `fractions.Fraction`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from phexplore.errors import PhexploreError, UnknownNameError
from phexplore.interface.arguments import typed_class

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from phexplore.figures.figure import Figure
    from phexplore.figures.table import Table

    Population: TypeAlias = str | PathLike[str] | DataFrame | Mapping[str, DataFrame]
    """Data of a run: a path, a frame, or the frames of a population by name."""


_FRAMES = "data"
"""How the data of a run are called beside it."""
_PARTS = ("persons", "units", "geo")


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


def data_path(data: Population | None, directory: Path) -> Path | None:
    """Return where data are; frames are written beside a run, where a resumed run finds them, for their owner alone: nobody marked them.

    Args:
        data: a path, a frame, frames by name, or None.
        directory: of the run.

    Raises:
        PhexploreError: a frame is no table, or other data of this name are there.
    """
    if data is None:
        return None
    path = directory.with_name(f"{directory.name}-{_FRAMES}")
    if isinstance(data, str | PathLike):
        return Path(data)
    if isinstance(data, Mapping):
        path.mkdir(parents=True, exist_ok=True)
        for name, part in data.items():
            if name not in _PARTS:
                raise UnknownNameError("part of a population", str(name), list(_PARTS))
            _write_frame(part, path / f"{name}.csv")
        return path
    return _write_frame(_listed(data), path.with_name(f"{path.name}.csv"))


def _listed(data: DataFrame) -> DataFrame:
    """Return a frame of blocks with a column per cell, as `Data.to_frame` makes them, as a list of cells; any other as it is.

    Raises:
        PhexploreError: it does not say which schema it counts, or holds more than cells.
    """
    names = list(getattr(data, "columns", ()))
    cells = sorted((name for name in names if isinstance(name, str) and name.isdecimal()), key=int)
    if not cells or "geoid" not in names or "count" in names:
        return data
    from phexplore.workload.schema import load_schema, schema_ids

    fitting = [name for name in schema_ids() if cells == [str(cell) for cell in range(load_schema(name).cells)]]
    chosen = data.attrs.get("schema", fitting[0] if len(fitting) == 1 else "")
    if chosen not in fitting:
        raise PhexploreError(
            f"The frame has {len(cells)} columns of cells, and does not say of which schema.",
            f"Set its attrs['schema'] to one of {', '.join(fitting)}." if fitting else "No schema has so many cells.",
        )
    if more := [str(name) for name in names if name not in {"geoid", "total", *cells}]:
        raise PhexploreError(
            f"A list of cells has no place for {', '.join(more)}.", "Leave them out, or run the file they came from."
        )
    if "total" in names and not data[cells].sum(axis=1).equals(data["total"]):
        raise PhexploreError("The column total is not the sum of the cells.", "Change both, or leave out total.")
    schema = load_schema(chosen)
    long = data[["geoid", *cells]].melt("geoid", var_name="cell", value_name="count")
    long = long[
        (long["count"] != 0) | (long["cell"] == cells[0])
    ]  # one line at least keeps a block in which nobody lives
    labels = {cell: schema.cell_labels(int(cell)) for cell in cells}
    for place, attribute in enumerate(schema.attributes):
        long[attribute.name] = [labels[cell][place] for cell in long["cell"]]
    return long[["geoid", *(attribute.name for attribute in schema.attributes), "count"]]


def _write_frame(data: DataFrame, path: Path) -> Path:
    """Write a frame, or find it there."""
    from pyarrow import ArrowException, BufferOutputStream, Table
    from pyarrow.csv import WriteOptions, write_csv

    from phexplore.files.atomic_files import write_atomically

    made = BufferOutputStream()
    try:
        write_csv(Table.from_pandas(data, preserve_index=False), made, WriteOptions(quoting_style="needed"))
    except (ArrowException, AttributeError, TypeError, ValueError, OverflowError) as error:
        raise PhexploreError(
            f"The frame is no table of data: {error}.", "Give numbers and texts in every column."
        ) from error
    content = made.getvalue().to_pybytes()
    if not path.exists():
        write_atomically(path, content, private=True)
    elif not path.is_file() or path.read_bytes() != content:
        raise PhexploreError(f"{path} is there and holds other data.", "Choose another directory for the run.")
    return path


@typed_class
class Pictured(ABC):
    """Something with pictures, each called by its id."""

    @property
    @abstractmethod
    def figures(self) -> tuple[Figure, ...]:
        """The pictures, those most asked for first."""

    def plot(self, ax: Axes | None = None, *, figure: str = "") -> Axes:
        """Draw a picture of `figures` and return its axes.

        Args:
            ax: axes to draw into; None for new ones.
            figure: id of a picture; the first without it.

        Raises:
            UnknownNameError: there is no such picture; the remedy names those there are.

        Example:
            >>> import phexplore as px
            >>> px.forecast("sdhc-2020-us").plot().get_title(loc="left")
            'All 46 targets are met'
        """
        return draw(self._known(figure), figure, ax)

    def table(self, figure: str = "") -> DataFrame:
        """Return the numbers behind a picture, with the headers people see.

        Args:
            figure: id of a picture; the first without it.

        Raises:
            UnknownNameError: there is no such picture; the remedy names those there are.

        Example:
            >>> import phexplore as px
            >>> px.forecast("sdhc-2020-us").table("epsilon").columns[0]
            'δ'
        """
        return table_frame(_chosen(self._known(figure), figure).table)

    def _known(self, figure: str) -> Sequence[Figure]:  # noqa: ARG002 - who computes pictures one by one asks which
        """Return the pictures that one is chosen from."""
        return self.figures


def _chosen(figures: Sequence[Figure], name: str) -> Figure:
    known = {figure.id: figure for figure in figures}
    if not figures or (name and name not in known):
        raise UnknownNameError("figure", name, list(known))
    return known[name] if name else figures[0]


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

    chosen = _chosen(figures, name)
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=inches(chosen), layout="constrained")
    draw_into(ax, chosen)
    return ax
