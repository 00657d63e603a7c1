"""Which units a run measured: their codes over every block, and the noise each of them got. It makes kept answers readable by place.

``measurements/units.parquet`` has one row per block: ``geoid``, and per level of the spine the code of the unit it lies in and, under
``<level>.noise``, which of the level's noises that unit got, -1 for a unit that was not measured because its budget went to another.
The metadata give the variance of every noise. A spine need not keep the units of the tabulation, so places are found by their blocks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from phexplore.model.provenance import Provenance
from phexplore.runs.run_files import (
    check_columns,
    check_rows,
    integers,
    lists_of_integers,
    mark_of,
    read_columns,
    reading,
    texts,
    words,
)
from phexplore.runs.store import MEASUREMENTS_DIRECTORY, RunUnreadableError
from phexplore.runs.writing import writing
from phexplore.systems.topdown.measurements import measurement_file

if TYPE_CHECKING:
    from phexplore.simulate.topdown.driver import World

UNITS_FILE = "units.parquet"
_REMEDY = "Run it again and keep the noisy answers."


def write_units(directory: Path, world: World, geoids: NDArray[np.str_], provenance: Provenance) -> None:
    """Write what a run is going to measure.

    Args:
        directory: of the run.
        world: what is measured.
        geoids: public codes of the leaves, ``str[leaves]`` in the order of the population.
        provenance: of the data.

    Raises:
        WriteError: the file system refuses.
    """
    tree = world.tree
    own = geoids if tree.order is None else geoids[tree.order]
    columns: dict[str, Any] = {"geoid": pa.array(own.tolist(), pa.string())}
    noises = []
    for design, level, classes in zip(world.design.levels, tree.levels, world.classes, strict=True):
        of_leaf = np.repeat(np.arange(level.units, dtype=np.int32), np.diff(level.first_block))
        columns[level.name] = pa.DictionaryArray.from_arrays(
            pa.array(of_leaf), pa.array(level.codes.tolist(), pa.string())
        )
        columns[f"{level.name}.noise"] = pa.array(classes[of_leaf], pa.int8())
        variances = [
            {
                query.name: None if noise is None else noise.variance()
                for query, noise in zip(design.plan.measured, measuring.noises, strict=True)
            }
            for measuring in design.measurings
        ]
        noises.append({"level": level.name, "variances": variances})
    table = pa.table(columns).replace_schema_metadata(
        {"phexplore": json.dumps({"noises": noises, "provenance": provenance.json()})}
    )
    path = directory / MEASUREMENTS_DIRECTORY / UNITS_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as part:
        pq.write_table(table, part, compression="zstd")


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredUnit:
    """A unit of the spine that holds a place.

    Attributes:
        level: name.
        code: of the unit on the spine.
        leaves: its blocks, as rows of the file.
        variances: of the noise of one answer by query, people²; empty where the unit was not measured.
    """

    level: str
    code: str
    leaves: NDArray[np.int64]
    variances: dict[str, float | None]


class MeasuredUnits:
    """The units that a run measured.

    Attributes:
        geoids: public codes of the blocks, ``U[blocks]``.
        levels: names, widest first.
    """

    def __init__(self, directory: Path) -> None:
        """Open what a run kept.

        Args:
            directory: of the run that measured.

        Raises:
            RunUnreadableError: it kept nothing, or an earlier version kept it.
        """
        self._directory = directory
        path = directory / MEASUREMENTS_DIRECTORY / UNITS_FILE
        with reading(path, _REMEDY):
            noises = mark_of(pq.read_schema(path))["noises"]
            self.levels = tuple(str(entry["level"]) for entry in noises)
            self._variances = {
                str(entry["level"]): [
                    {name: None if value is None else float(value) for name, value in each.items()}
                    for each in entry["variances"]
                ]
                for entry in noises
            }
            kinds = {
                "geoid": texts,
                **dict.fromkeys(self.levels, words),
                **{f"{n}.noise": integers for n in self.levels},
            }
            table = read_columns(path, kinds)
            self.geoids = np.array(table.column("geoid").to_pylist(), np.str_)
            self._units = {name: table.column(name).combine_chunks() for name in self.levels}
            self._noise = {name: table.column(f"{name}.noise").to_numpy() for name in self.levels}
            for name, noise in self._noise.items():
                if len(noise) and int(noise.max()) >= len(self._variances[name]):
                    raise ValueError(f"a unit of {name} has a noise there is not")

    def path(self, geoids: NDArray[np.str_]) -> tuple[MeasuredUnit, ...]:
        """Return the units that hold all of these blocks, ``str[blocks]``, one per level that has such a unit, the widest first.

        Raises:
            RunUnreadableError: a block is not in the file.
        """
        inside = np.flatnonzero(np.isin(self.geoids, geoids))
        if len(inside) != len(geoids):
            raise RunUnreadableError(f"{self._directory} measured other blocks than the run has.", _REMEDY)
        found = []
        for level in self.levels:
            units = self._units[level]
            places = units.indices.to_numpy(zero_copy_only=False)
            if len(np.unique(places[inside])) != 1:
                continue
            place = int(places[inside[0]])
            noise = int(self._noise[level][inside[0]])
            found.append(
                MeasuredUnit(
                    level,
                    str(units.dictionary[place].as_py()),
                    np.flatnonzero(places == place),
                    {} if noise < 0 else self._variances[level][noise],
                )
            )
        return tuple(found)

    def answers(self, trial: int, unit: MeasuredUnit) -> dict[str, NDArray[np.int64]]:
        """Return the noisy answers of a unit by query, ``int64[answers]`` each; empty where it was not measured.

        Args:
            trial: its number, from 0.
            unit: one of `path`.

        Raises:
            RunUnreadableError: they were not kept, or cannot be read.
        """
        if not unit.variances:
            return {}
        path = measurement_file(self._directory, trial, unit.level)
        with reading(path, _REMEDY), pq.ParquetFile(path) as file:
            names = [name for name, variance in unit.variances.items() if variance is not None]
            check_rows(file, path, None)
            check_columns(file.schema_arrow, {"geocode": texts, **dict.fromkeys(names, lists_of_integers)})
            for group in range(file.num_row_groups):
                codes = file.read_row_group(group, columns=["geocode"], use_threads=False).column("geocode")
                place = codes.to_pylist()
                if unit.code not in place:
                    continue
                row = file.read_row_group(group, columns=names, use_threads=False).slice(place.index(unit.code), 1)
                return {name: np.array(row.column(name)[0].as_py(), np.int64) for name in names}
        raise RunUnreadableError(f"{path} holds no unit {unit.code}.", _REMEDY)
