"""A trial's noisy answers written in the published layout."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from phexplore.data.blocks.geocodes import CENSUS_BLOCKS
from phexplore.noise.distributions import Noise
from phexplore.published.measurements import (
    CONSTRAINED,
    MEASURED,
    STATE_TOTALS,
)
from phexplore.runs.writing import writing
from phexplore.simulate.topdown.design import LevelDesign
from phexplore.simulate.topdown.driver import World
from phexplore.simulate.topdown.run_checks import cost
from phexplore.spine.tree import GeoTree, TreeLevel
from phexplore.systems.topdown.measurements import measurement_file
from phexplore.workload.queries import MarginalQuery, parse_query, total_query
from phexplore.workload.schema import Schema

PUBLISHED_DIRECTORY = "nmf"
"""Below the kept answers of a trial: the same answers in the published layout."""

_PRODUCTS = {
    "pl94_persons": "Person_PL_PROD",
    "pl94_units": "Unit_PL_PROD",
    "dhc_persons": "DHCP_PROD",
    "dhc_households": "DHCH_PROD",
    "dhc_units": "Unit_DHCH_PROD",
}
Mark = Mapping[str, object]
_DIGITS = {"County": 1, "Tract": 4, "Block_Group": 2}
"""Of the running number that a code adds to its parent's."""
_STATE, _TRIBAL = slice(1, 3), 3
_PUERTO_RICO = "72"
_ZERO_AXES = {"nurse_nva_0": {"hhgq": "gqNursingTotal", "votingage": "nonvoting"}}


def published_directory(directory: Path, trial: int) -> Path:
    """Return where a run keeps a trial's noisy answers in the published layout.

    Args:
        directory: of the run.
        trial: its number, from 0.
    """
    return measurement_file(directory, trial, "x").parent / PUBLISHED_DIRECTORY


def publish_answers(directory: Path, trial: int, world: World, geoids: NDArray[np.str_], mark: Mark) -> None:
    """Write the kept answers of a trial once more, in the published layout.

    Args:
        directory: of the run.
        trial: its number, from 0.
        world: what was measured.
        geoids: public codes of the leaves, ``str[leaves]`` in the order of the population.
        mark: what every file says about itself.

    Raises:
        WriteError: the file system refuses.
    """
    codes = published_codes(world.tree, geoids)
    schema = world.design.schema
    root = published_directory(directory, trial)
    product = product_folder(root, schema, codes[-1])
    for number, (level, own) in enumerate(zip(world.design.levels, codes, strict=True)):
        kept = pq.ParquetFile(measurement_file(directory, trial, level.name))
        first = 0
        with Partitions(product / f"{level.name}.parquet" / MEASURED, schema.attributes, mark) as parts:
            for group in range(kept.num_row_groups):
                table = kept.read_row_group(group, use_threads=False)
                last = first + table.num_rows
                parts.add(own[first:last], _measured_rows(level, world.classes[number][first:last], table))
                first = last
        with Partitions(product / f"{level.name}.parquet" / CONSTRAINED, schema.attributes, mark) as exact:
            exact.add(own, exact_rows(world, number))
    states = next((n for n, level in enumerate(world.tree.levels) if level.name == "State"), None)
    if states is not None and world.design.levels[states].exact_total | world.design.levels[states].shared_total:
        totals: dict[str, int] = {}
        for code, total in zip(codes[states].tolist(), world.truth[states].totals().tolist(), strict=True):
            totals[code[_STATE]] = totals.get(code[_STATE], 0) + total
        table = pa.table({"geocode": list(totals), "name": list(totals), "value": list(totals.values())})
        with writing(root / STATE_TOTALS) as part:
            pq.write_table(table, part)


def product_folder(root: Path, schema: Schema, leaves: NDArray[np.str_]) -> Path:
    """Return the folder of a product.

    Args:
        root: of the release.
        schema: whose answers it holds.
        leaves: published codes, ``U[leaves]``.
    """
    nation = "PR" if {code[_STATE] for code in leaves.tolist()} == {_PUERTO_RICO} else "US"
    return root / f"{nation}_{_PRODUCTS.get(schema.id, schema.id)}"


def published_codes(
    tree: GeoTree, geoids: NDArray[np.str_], *, with_plain_counties: bool = False
) -> list[NDArray[np.str_]]:
    """Return the codes of the units of every level as published: parent's code and a running number, ``U[units]`` each.

    Lengths are 3, 9, 13, 15 and 31 from states to blocks where running numbers fit their digits.

    Args:
        tree: of the run.
        geoids: public codes of the leaves, ``U[leaves]`` in the order of the population.
        with_plain_counties: whether counties have no running number where none is needed, as in DHC: then 8 digits.
    """
    leaves = CENSUS_BLOCKS.geocodes(geoids if tree.order is None else geoids[tree.order])
    found: list[NDArray[np.str_]] = []
    above: list[str] = [""]
    parent = np.zeros(tree.levels[0].units, np.int64)
    for number, level in enumerate(tree.levels):
        blocks = leaves[level.first_block[:-1]].tolist()
        sibling = (np.arange(level.units) - np.searchsorted(parent, parent)).tolist()
        digits = max(_DIGITS.get(level.name, 4), len(str(max(sibling))))
        parents = [above[place] for place in parent.tolist()]
        if number == 0 and level.units == 1 and level.name != "State":
            codes = [""]
        elif number == len(tree.levels) - 1:
            codes = [code + block for code, block in zip(parents, blocks, strict=True)]
        elif level.name == "State":
            own = level.codes.tolist()
            codes = [code if len(code) == _TRIBAL else f"0{block[:2]}" for code, block in zip(own, blocks, strict=True)]
        elif level.name == "County":
            codes = _counties(level, parents, blocks, digits)
            if with_plain_counties and len({code[:-digits] for code in codes}) == len(codes):
                codes = [code[:-digits] for code in codes]
        else:
            codes = [f"{code}{place:0{digits}d}" for code, place in zip(parents, sibling, strict=True)]
        found.append(np.array(codes, np.str_))
        above = codes
        if level.first_child is not None:
            parent = np.repeat(np.arange(level.units), np.diff(level.first_child))
    return found


def _counties(level: TreeLevel, parents: Sequence[str], blocks: Sequence[str], digits: int) -> list[str]:
    """Return codes with ``10`` and the county, or ``0`` and the tribal area that stands in its place, and a running number."""
    seen: dict[str, int] = {}
    codes = []
    for code, parent, block in zip(level.codes.tolist(), parents, blocks, strict=True):
        own = code[_TRIBAL:] if len(code) > len(block[:5]) else f"10{block[2:5]}"
        base = (parent or f"0{block[:2]}") + own
        codes.append(f"{base}{seen.setdefault(base, 0):0{digits}d}")
        seen[base] += 1
    return codes


def axes_of(query: MarginalQuery) -> dict[str, str]:
    """Return the text of each axis of a query's answers."""
    if query.name == "detailed":
        return {attribute.name: "detailed" for attribute in query.schema.attributes}
    asked = {attribute.name: "*" for attribute in query.schema.attributes}
    return asked | {getattr(factor, "attribute", factor.name): factor.name for factor in query.factors}


def shape_of(query: MarginalQuery) -> list[int]:
    """Return the answers of a query along each axis, 1 where it is summed over."""
    sizes = {getattr(factor, "attribute", factor.name): len(factor.labels) for factor in query.factors}
    return [sizes.get(attribute.name, 1) for attribute in query.schema.attributes]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One query of all units of a table.

    Attributes:
        name: in the file.
        sign: of what is exact, "" of what is noisy.
        axes: texts by attribute.
        shape: answers per attribute.
        units: ``int64[rows]``, the units that were asked.
        answers: ``int[rows, answers]``.
        variances: ``float32[rows]``.
    """

    name: str
    sign: str
    axes: Mapping[str, str]
    shape: Sequence[int]
    units: NDArray[np.int64]
    answers: NDArray[Any]
    variances: NDArray[np.float32]

    def part(self, first: int, last: int) -> Asked:
        """Return the same of the units ``first:last`` alone, counted from `first`.

        Args:
            first: first unit.
            last: behind the last.
        """
        own = slice(*np.searchsorted(self.units, (first, last)).tolist())
        return replace(self, units=self.units[own] - first, answers=self.answers[own], variances=self.variances[own])


def _measured_rows(level: LevelDesign, classes: NDArray[np.int8], table: pa.Table) -> list[Asked]:
    found = []
    for place, query in enumerate(level.plan.measured):
        lists = table.column(query.name).combine_chunks()
        units = np.flatnonzero(lists.is_valid().to_numpy(zero_copy_only=False))
        noises = [each.noises[place] for each in level.measurings]
        sigma2 = np.array([0.0 if noise is None else noise_parameter(noise) for noise in noises] + [0.0], np.float32)
        answers = lists.flatten().to_numpy().reshape(-1, query.answers)
        found.append(
            Asked(f"{query.name}_dpq", "", axes_of(query), shape_of(query), units, answers, sigma2[classes[units]])
        )
    return found


def noise_parameter(noise: Noise) -> float:
    """Return what is published of a noise: the parameter σ² under zCDP (replace-one neighbours), else the variance."""
    return float(1 / cost(noise)) if type(noise).__name__ == "DiscreteGaussian" else noise.variance()


def _forbidden_ages(name: str) -> dict[str, str]:
    """Return the axes of a constraint like ``relgq13_lt15_gt89``: nobody of these ages has that place in a household."""
    place, *ages = name.split("_")
    if not place.startswith("relgq"):
        return {}
    words = [each.replace("lt", "lessthan").replace("gt", "greaterthan") for each in ages]
    return {"relgq": place, "age": f"age_{'_'.join(words)}"}


def exact_rows(world: World, number: int) -> list[Asked]:
    """Return what is exact of all units of a level, and published so.

    Args:
        world: what was measured.
        number: of the level.
    """
    level, schema = world.design.levels[number], world.design.schema
    units = np.arange(world.tree.levels[number].units)
    nothing = np.zeros(len(units), np.float32)
    starts = level.plan.bound_start
    found = []

    def add(name: str, sign: str, query: MarginalQuery, answers: NDArray[Any]) -> None:
        found.append(Asked(f"{name}_con", sign, axes_of(query), shape_of(query), units, answers, nothing))

    for zero in schema.structural_zeros:
        if zero.name in level.zeros:
            words = _ZERO_AXES.get(zero.name) or _forbidden_ages(zero.name)
            axes = {
                each.name: words.get(each.name, each.name if each.name in zero.where else "*")
                for each in schema.attributes
            }
            none = np.zeros((len(units), 1), np.int64)
            found.append(Asked(f"{zero.name}_con", "=", axes, [1] * len(axes), units, none, nothing))
    if schema.facility_bounds is not None:
        query = parse_query(schema, schema.facility_bounds.query)
        if query in starts:
            inside = slice(starts[query], starts[query] + query.answers)
            if level.least:
                add("hhgq_total_lb", ">=", query, world.lower[number][:, inside])
            if level.most:
                add("hhgq_total_ub", "<=", query, world.upper[number][:, inside])
    if level.exact_total and (level.name != "State"):
        add("total", "=", total_query(schema), world.truth[number].totals()[:, None])
    return found


class Partitions:
    """Writes rows into one file per part of a state, or per county of it; the nation has one."""

    def __init__(self, directory: Path, attributes: Sequence[Any], mark: Mark, county: int = 0) -> None:
        """Write below a folder.

        Args:
            directory: of the level's answers, or of what is exact.
            attributes: of the schema.
            mark: what every file says about itself.
            county: characters of a county's code; 0 keeps the counties of a state together. Then every row is a row group.
        """
        self._directory, self._county = directory, county
        self._axes = [attribute.name for attribute in attributes]
        numbers, texts = pa.list_(pa.int32()), pa.string()
        sign = [("sign", texts)] if directory.name == CONSTRAINED else []
        self._schema = pa.schema(
            [
                ("geocode", texts),
                ("query_name", texts),
                *sign,
                *((axis, texts) for axis in self._axes),
                ("query_shape", numbers),
                ("value", pa.list_(pa.int64())),
                ("variance", pa.float32()),
            ],
            metadata={"phexplore": json.dumps(mark)},
        )
        self._open: dict[str, tuple[Any, pq.ParquetWriter]] = {}

    def add(self, codes: NDArray[np.str_], asked: Sequence[Asked]) -> None:
        """Write units in their order, query by query.

        Args:
            codes: ``U[units]``.
            asked: of these units.
        """
        if not asked or not len(codes):
            return
        parts = codes.astype(f"U{max(_TRIBAL, self._county)}")
        for part in np.unique(parts).tolist():
            group = 1 if self._county else None
            self._writer(part).write_table(self._table(codes, asked, parts == part), row_group_size=group)

    def _table(self, codes: NDArray[np.str_], asked: Sequence[Asked], chosen: NDArray[np.bool_]) -> pa.Table:
        kept = [chosen[each.units] for each in asked]
        units = np.concatenate([each.units[own] for each, own in zip(asked, kept, strict=True)])
        query = np.repeat(np.arange(len(asked)), [int(own.sum()) for own in kept])
        order = np.lexsort((query, units))
        lists: list[Any] = []
        for each, own in zip(asked, kept, strict=True):
            lists.append(
                pa.FixedSizeListArray.from_arrays(
                    pa.array(np.ascontiguousarray(each.answers[own]).ravel(), pa.int64()), each.answers.shape[1]
                ).cast(pa.list_(pa.int64()))
            )
        place = query[order]
        columns: list[Any] = [pa.array(codes[units[order]].tolist(), pa.string())]
        columns.append(pa.array([asked[n].name for n in place.tolist()], pa.string()))
        if "sign" in self._schema.names:
            columns.append(pa.array([asked[n].sign for n in place.tolist()], pa.string()))
        columns += [pa.array([asked[n].axes[axis] for n in place.tolist()], pa.string()) for axis in self._axes]
        columns.append(pa.array([list(asked[n].shape) for n in place.tolist()], pa.list_(pa.int32())))
        columns.append(pa.concat_arrays(lists).take(pa.array(order)))
        variances = np.concatenate([each.variances[own] for each, own in zip(asked, kept, strict=True)])
        columns.append(pa.array(variances[order], pa.float32()))
        return pa.Table.from_arrays(columns, schema=self._schema)

    def _writer(self, part: str) -> pq.ParquetWriter:
        if part not in self._open:
            folder = self._directory / f"State={part[:_TRIBAL]}" if part else self._directory
            folder = folder / f"County={part}" if len(part) > _TRIBAL else folder
            folder.mkdir(parents=True, exist_ok=True)
            held = writing(folder / "part-00000.snappy.parquet")
            self._open[part] = (held, pq.ParquetWriter(held.__enter__(), self._schema, compression="snappy"))
        return self._open[part][1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Finish the files."""
        for held, writer in self._open.values():
            writer.close()
            held.__exit__(*error)
