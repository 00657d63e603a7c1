"""The published tables of a TopDown run: every line of one for one place, true and published, and all of them as files. No Qt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phexplore.data.blocks.geocodes import layout_of
from phexplore.data.blocks.population import BlockPopulation
from phexplore.data.blocks.published_tables import PublishedTable, published_tables, write_tables
from phexplore.errors import UnknownNameError
from phexplore.figures.axis import Axis, Scale
from phexplore.figures.figure import Figure, nothing, row_figure
from phexplore.figures.marks import Row
from phexplore.figures.table import Mean, Table, Value
from phexplore.figures.wording import mean_text, people
from phexplore.model.topdown import TopDown
from phexplore.runs.confidentiality import refuse_release
from phexplore.runs.release_note import write_beside
from phexplore.runs.store import RunUnreadableError, load_spec
from phexplore.systems.topdown.error_pictures import trials_words
from phexplore.systems.topdown.estimate_pictures import Line, estimates_figure
from phexplore.systems.topdown.folds import RowsFold
from phexplore.systems.topdown.open_run import Levels, TopDownRun
from phexplore.systems.topdown.run_choice import TopDownChoice
from phexplore.systems.topdown.wording import level_title

Integers = NDArray[np.int64]


class TableFold(RowsFold):
    """The lines of a published table for one unit, or for one area that leaves make up."""

    def __init__(self, run: TopDownRun, table: str, level: str, unit: int, area: str, code: str) -> None:
        self._table = next(each for each in published_tables(run.schema.id) if each.id == table)
        super().__init__(len(self._table.cells))
        self._place, self._unit = run.place(level), unit
        self._leaves = run.areas[area].leaves(code) if area else None
        self.truth = self._lines(run.truth) if run.is_counted else None

    def _take(self, levels: Levels, index: int, /) -> None:
        self._rows[index] = self._lines(levels)

    def _lines(self, levels: Levels) -> Integers:
        if self._leaves is None:
            found = levels[self._place].part(self._unit, self._unit + 1)
        else:
            found = levels[-1].ordered(self._leaves)
        lines: Integers = self._table.selection(found.cells) @ found.counts
        return lines


def tables_figure(run: TopDownRun, choice: TopDownChoice) -> Figure:
    """Return one row per line of a published table: the truth as a stroke, the published counts as dots.

    Args:
        run: the one looked at.
        choice: table, level, and unit or area.
    """
    table = next((each for each in published_tables(run.schema.id) if each.id == choice.table), None)
    if table is None:
        return nothing("tables", "No published table is computed from the schema of this run.")
    codes = run.codes(choice.level)
    unit = int(np.flatnonzero(codes == choice.unit)[0]) if choice.unit in codes else -1
    if unit < 0 and not choice.area:
        return nothing(
            "tables", f"There is no unit {choice.unit!r} here. Type words of a name, or a code such as {codes[0]}."
        )
    fold = run.folded(TableFold, table.id, choice.level, unit, choice.area, choice.unit)
    published, truth = fold.published, fold.truth
    if not len(published):
        return nothing("tables", "No trial of this run could be read.")
    place_name = choice.name or f"{level_title(choice.level)} {choice.unit}".strip()
    if truth is None:
        shown = [
            Line(above or table.universe, line.label, line.code)
            for line, above in zip(table.cells, _above(table), strict=True)
        ]
        where = (place_name, f"{table.title}. {table.universe}", run.unit)
        return estimates_figure("tables", shown, published, float(published[:, 0].mean()), where)
    means = published.mean(axis=0)
    rows: list[Row] = []
    lines: list[tuple[Value, ...]] = []
    for place, (line, above) in enumerate(zip(table.cells, _above(table), strict=True)):
        true, mean, given = int(truth[place]), float(means[place]), published[:, place].tolist()
        rows.append(
            Row(
                None,
                above or table.universe,
                line.label,
                value=mean,
                tick=float(true),
                dots=tuple(map(float, given)),
                text=f"{true:,} → {mean_text(mean)}",
                tip=f"{line.code} {line.label}: true {true:,}, published {mean_text(mean)} on average, {'+' * (mean > true)}{mean_text(mean - true)}",
            )
        )
        lines.append((line.code, "  " * line.depth + line.label, true, Mean(mean), Mean(mean - true), *given))
    farthest = int(np.abs(means - truth).argmax())
    name = table.cells[farthest].label
    if sum(line.label == name for line in table.cells) > 1:  # of which sex the age group is
        name = f"{_above(table)[farthest]}: {name}"
    return row_figure(
        "tables",
        tuple(rows),
        Axis(run.unit, Scale.COUNT),
        f"{place_name}: farthest off in table {table.id} is “{name}”, by {people(abs(float(means[farthest] - truth[farthest])))}",
        f"{table.title}. {table.universe}, {trials_words(len(published))}: strokes are true, dots published (large: their mean).",
        Table(
            (
                "Code",
                "Line",
                "True",
                "Published, mean",
                "Error, mean",
                *(f"Published, trial {number + 1}" for number in range(len(published))),
            ),
            tuple(lines),
        ),
    )


def _above(table: PublishedTable) -> list[str]:
    """Return the labels of the lines that each line is a part of, below the total."""
    path: list[str] = []
    found = []
    for line in table.cells:
        del path[line.depth :]
        found.append(", ".join(path[1:]))
        path.append(line.label)
    return found


def write_run_tables(directory: Path, trial: int, out: Path) -> tuple[Path, ...]:
    """Write every table of a trial at every level, as a run with microdata does, and return the files.

    Args:
        directory: of the run.
        trial: number of the trial.
        out: directory of the files; it may exist, and files of these names are replaced.

    Raises:
        UnknownNameError: there is no such trial.
        RunUnreadableError: there is no run of TopDown, or the trial cannot be read.
        PhexploreError: the schema has no tables, the tables would be exact counts of records, or a file cannot be written.
    """
    spec = load_spec(directory)
    if not isinstance(spec.scenario.method, TopDown):
        raise RunUnreadableError(
            f"{directory} is no run of TopDown.", "phexplore publish writes the tables of the S-DHC."
        )
    run = TopDownRun(directory)
    refuse_release(directory)
    run.refresh()
    if trial not in run.present:
        raise UnknownNameError("trial", str(trial), list(map(str, run.present)))
    levels = run.trial(trial)
    if levels is None:
        raise RunUnreadableError(run.problems[0], "Resume the run to make this part again.")
    leaves = levels[-1]
    counts = leaves.counts.astype(np.int32)
    layout = layout_of(run.schema)
    released = BlockPopulation(run.schema, run.files.geoids, leaves.starts, leaves.cells, counts, layout=layout)
    written = write_tables([released], out)
    for path in written if spec.salt else ():
        path.chmod(0o600)
    write_beside(spec, out, written, private=bool(spec.salt))
    return written
