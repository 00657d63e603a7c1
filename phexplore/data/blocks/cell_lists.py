"""A plain layout for any schema: one line per block and filled cell, with the labels of the cell and its count.

Columns: ``geoid``, one per attribute of the schema under its name with the label of the level, ``count``. Comma
separated, labels quoted where they hold a comma. It stands in for microdata where no published layout has the schema's
attributes.
"""

from __future__ import annotations

import csv as plain
import gzip
import io
from typing import TYPE_CHECKING

import numpy as np

from phexplore.data.blocks.collecting import CellCounter
from phexplore.data.blocks.delimited import Header, Problems, digit_codes, missing_columns, read_batches, refuse
from phexplore.data.blocks.geocodes import CENSUS_BLOCKS, GeocodeLayout, layout_of
from phexplore.data.blocks.layouts import whole
from phexplore.data.blocks.microdata_writing import Metadata, metadata_lines
from phexplore.data.blocks.population import BlockPopulation, from_filled
from phexplore.data.blocks.whole_file import whole_file
from phexplore.workload.schema import Schema, load_schema, schema_ids

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

LARGEST_COUNT = 10**7
_COUNT_DIGITS = 12


def write_cells(population: BlockPopulation, path: Path, metadata: Metadata = ()) -> int:
    """Write the filled cells, gzip-compressed when the name ends in ``.gz``; return how many lines follow the header.

    Args:
        population: over any schema.
        path: of the file, replaced as a whole.
        metadata: (name, value) lines written before the header.

    Raises:
        PhexploreError: the file cannot be written.
    """
    content = metadata_lines(metadata) + _text(population)
    with whole_file(path) as file:
        file.write(gzip.compress(content, 3, mtime=0) if path.suffix == ".gz" else content)
    return len(population.cells)


def _text(population: BlockPopulation) -> bytes:
    schema = population.schema
    used, place = np.unique(population.cells, return_inverse=True)
    middle = np.array([_quoted(schema.cell_labels(int(cell))) for cell in used], dtype=object)
    geoids = population.geoids[population.rows()].tolist()
    lines = [
        f"{geoid},{labels},{count}\n"
        for geoid, labels, count in zip(geoids, middle[place].tolist(), population.counts.tolist(), strict=True)
    ]
    names = ",".join(["geoid", *(attribute.name for attribute in schema.attributes), "count"])
    return "".join([names + "\n", *lines]).encode()


def _quoted(labels: tuple[str, ...]) -> str:
    line = io.StringIO()
    plain.writer(line, lineterminator="").writerow(labels)
    return line.getvalue()


def schema_of(header: Header) -> Schema | None:
    """Return the schema whose attributes stand between geoid and count, None if there is none."""
    if not {"geoid", "count"} <= set(header.names):
        return None
    names = set(header.names) - {"geoid", "count"}
    for name in schema_ids():
        schema = load_schema(name)
        if {attribute.name for attribute in schema.attributes} == names:
            return schema
    return None


def cells_from(header: Header, schema: Schema) -> BlockPopulation:
    """Read a list of cells whose header is known. Lines of equal block and cell are added.

    Args:
        header: of the file.
        schema: whose labels the columns hold.

    Raises:
        InputProblemsError: every problem with line and column.
    """
    names = [attribute.name for attribute in schema.attributes]
    missing_columns(header, ["geoid", *names, "count"], f"The columns are geoid, {', '.join(names)} and count.")
    layout = layout_of(schema)
    problems = Problems(header.path)
    counter = CellCounter(schema.cells)
    codes: dict[str, int] = {}
    for batch in read_batches(header, [*names, "count"], ["geoid"]):
        geoids, wrong = _geoids(batch.identifiers["geoid"], layout)
        refuse(
            problems,
            header,
            wrong,
            column="geoid",
            sentence=f"geoid is not a code of {layout.public_length} characters.",
            first=batch.first,
        )
        levels = []
        for attribute in schema.attributes:
            places = {label: level for level, label in enumerate(attribute.labels)}
            column = batch.columns[attribute.name]
            found, wrong = column.numbers(lambda text, of=places: of.get(text.strip()))  # type: ignore[misc]
            refuse(
                problems,
                header,
                wrong,
                column=attribute.name,
                sentence=f"{attribute.name} is not a label of the schema {schema.id}.",
                remedy="Write the label exactly; the schema's file lists them.",
                first=batch.first,
            )
            levels.append(found)
        counts, wrong = batch.columns["count"].numbers(_count)
        refuse(
            problems,
            header,
            wrong,
            column="count",
            sentence=f"count is not a whole number from 0 to {LARGEST_COUNT:,}.",
            first=batch.first,
        )
        numbers = np.array([codes.setdefault(code, len(codes)) for code in geoids.tolist()], np.int64)
        counter.add(numbers, np.ravel_multi_index(levels, schema.shape).astype(np.int64), counts)
    if not codes and not problems.any:
        problems.add("The file has no lines.", "Check that it is the right one.", line=header.line)
    problems.finish()
    return _population(schema, layout, np.array(list(codes)), counter)


def _population(
    schema: Schema, layout: GeocodeLayout, codes: NDArray[np.str_], counter: CellCounter
) -> BlockPopulation:
    order = np.argsort(codes)
    rank = np.empty(len(codes), np.int64)
    rank[order] = np.arange(len(codes))
    numbers, rows, cells, counts = counter.result()
    return from_filled(
        schema,
        codes[order].astype(f"U{layout.public_length}"),
        rows=rank[numbers[rows]],
        cells=cells,
        counts=counts,
        layout=layout,
        remarks=("Read from a list of cells; blocks without lines are absent.",),
    )


def _geoids(texts: object, layout: GeocodeLayout) -> tuple[NDArray[np.str_], NDArray[np.bool_]]:
    if layout is CENSUS_BLOCKS:
        return digit_codes(texts, layout.public_length)
    found = np.array([text.strip() for text in texts.to_pylist()] or [""], "U32")  # type: ignore[attr-defined]
    wrong = (np.char.str_len(found) != layout.public_length) | ~np.char.isalnum(found)
    return found, wrong


def _count(text: str) -> int | None:
    number = whole(text, _COUNT_DIGITS)
    return number if number is not None and number <= LARGEST_COUNT else None
