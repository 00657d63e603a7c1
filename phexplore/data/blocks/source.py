"""One door for all block-level data: what a file is, is found from its content, never from its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phexplore.data.blocks import reading
from phexplore.data.blocks.aggregation import add_answers, units_of
from phexplore.data.blocks.cell_lists import cells_from, schema_of
from phexplore.data.blocks.census_1940_reading import looks_like_1940, other_year, read_census_1940
from phexplore.data.blocks.delimited import read_head, read_header
from phexplore.data.blocks.facilities import join_units
from phexplore.data.blocks.layouts import LAYOUTS, UNIT_LAYOUTS, UNREAD
from phexplore.data.blocks.microdata_reading import QUARTERS_PLACE, microdata_from, recognise
from phexplore.data.blocks.states import block_files, classes_in, populations_of, states_together
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.workload.queries import MarginalQuery, parse_query
from phexplore.workload.schema import load_schema

if TYPE_CHECKING:
    from phexplore.data.blocks.layouts import Layout
    from phexplore.data.blocks.population import BlockPopulation

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
"""Of the people per populated leaf, in a description."""

_BINARY = {
    b"PAR1": ("a Parquet file", "Export it as comma separated text with a header."),
    b"PK\x03\x04": ("a ZIP archive or a workbook", "Unpack it, or save the sheet as comma separated text."),
    b"\xd0\xcf\x11\xe0": ("a workbook", "Save the sheet as comma separated text."),
    b"BZh": ("a bzip2 archive", "Unpack it, or pack it with gzip."),
    b"\xfd7zX": ("an xz archive", "Unpack it, or pack it with gzip."),
}


def read_population(path: Path, units: Path | None = None, wanted: str = "") -> BlockPopulation:
    """Read block-level data, plain or gzip.

    Recognised by content: block files (16 cells per block); persons or units of the redistricting data of 2020 and of
    its demonstration of April 2021; persons or units of the DHC; persons of the demonstration data of 2019; the 1940 full count; lists of
    cells as `write_cells` writes them.

    Args:
        path: the file; or a directory with block files (one per state), or with one file of persons and one of units.
        units: a unit file to be joined to the persons in `path`.
        wanted: id of the schema that is preferred where records tell several, or where persons and units lie beside each other.

    Raises:
        InputProblemsError: every problem with file, line and column; nothing is half-loaded.
    """
    if path.is_dir():
        if units is not None:
            raise InputProblemsError(
                [Issue((str(path),), "Units are joined to a file of persons, this is a directory.", "Name the file.")]
            )
        return _from_directory(path, wanted)
    population = _read(path, wanted)
    return population if units is None else _joined(path, population, units, wanted)


def _read(path: Path, wanted: str = "") -> BlockPopulation:
    head = read_head(path)
    for magic, (name, remedy) in _BINARY.items():
        if head.startswith(magic):
            raise _unknown(path, f"The file is {name}.", remedy)
    if looks_like_1940(head):
        return read_census_1940(path)
    _refuse_other_years(path, head)
    header = reading.in_small_letters(read_header(path))
    if reading.is_block_file(header):
        return reading.blocks_from(header)
    schema = schema_of(header)
    if schema is not None:
        return cells_from(header, schema)
    layout = recognise(header, wanted)
    if layout is not None:
        return microdata_from(header, layout)
    names = set(header.names)
    for columns, sentence, remedy in UNREAD:
        if columns <= names:
            raise _unknown(path, sentence, remedy, line=header.line)
    nearest = max(LAYOUTS, key=lambda layout: len(names & set(layout.needed)))
    if 2 * len(names & set(nearest.needed)) > len(nearest.needed):
        return microdata_from(header, nearest)
    raise _unknown(
        path,
        "The first line is not a known header.",
        "Known are block files, census microdata and the 1940 full count: see docs/block_data.md.",
        line=header.line,
    )


def _refuse_other_years(path: Path, head: bytes) -> None:
    if year := other_year(head):
        sentence = f"The file looks like an extract of records H and P of the year {year}; only 1940 is read."
        raise _unknown(path, sentence, "Choose the extract of 1940.", line=1)


def _from_directory(path: Path, wanted: str) -> BlockPopulation:
    """Read the block files of a directory, or its one file of persons, joined with the one of units."""
    if files := block_files(path):
        classes = classes_in(files)
        states = [state for file in files for state in populations_of(file, classes)]
        states.sort(key=lambda state: str(state.geoids[0]))
        codes = [state.states[0] for state in states]
        if len(set(codes)) < len(codes):
            raise _unknown(path, "The blocks of one state are in several files.", "Keep one file per state.")
        return states_together(states)
    persons: list[Path] = []
    units: list[Path] = []
    for file in sorted(path.iterdir()):
        if file.suffix in {".csv", ".txt", ".gz"} and file.is_file():
            layout = _layout_of(file)
            if layout is not None:
                (units if layout in UNIT_LAYOUTS else persons).append(file)
    if len(units) == 1 and wanted in {"pl94_units", "dhc_households"}:
        return read_population(units[0], wanted=wanted)
    if len(persons) != 1 or len(units) > 1:
        found = ", ".join(file.name for file in (*persons, *units)) or "none"
        raise _unknown(
            path,
            f"A directory holds one file of persons and at most one of units; recognised were: {found}.",
            "Name the file itself.",
        )
    return read_population(persons[0], units[0] if units else None, wanted)


def _layout_of(path: Path) -> Layout | None:
    try:
        return recognise(read_header(path))
    except InputProblemsError:
        return None


def _joined(path: Path, persons: BlockPopulation, units: Path, wanted: str) -> BlockPopulation:
    if persons.schema.facility_bounds is None or persons.facilities is not None:
        raise _unknown(path, f"Units cannot be joined to data in the schema {persons.schema.id}.", "Leave them out.")
    found = _read(units, "dhc_households" if persons.schema.id == "dhc_persons" else wanted)
    if found.schema.id != "pl94_units" and (persons.schema.id, found.schema.id) != ("dhc_persons", "dhc_households"):
        raise _unknown(units, f"The file holds {found.schema.title}, not units.", "Name the file of units.")
    return join_units(persons, found)


def _unknown(path: Path, sentence: str, remedy: str, line: int = 0) -> InputProblemsError:
    return InputProblemsError([Issue((path.name,), sentence, remedy, line=line)])


@dataclass(frozen=True, slots=True)
class PopulationDescription:
    """Block-level data in figures, without judging them.

    Attributes:
        schema: id.
        title: of the schema.
        record: what is counted.
        records: in all.
        levels: units per level, widest first.
        populated: leaves with at least one record.
        filled_cells: pairs of leaf and cell that count someone.
        cells: of the schema.
        leaf_quantiles: records per populated leaf at `QUANTILES`.
        states: records by state code.
        margins: records by attribute and label; long attributes (more than 63 levels) are left out.
        facilities: by type; empty where unknown. Unit files know housing units and group quarters only.
        vacant: housing units; None where unknown.
        occupied: the same.
        places: areas by class of area.
        remarks: what was assumed.
    """

    schema: str
    title: str
    record: str
    records: int
    levels: dict[str, int]
    populated: int
    filled_cells: int
    cells: int
    leaf_quantiles: dict[float, int]
    states: dict[str, int]
    margins: dict[str, dict[str, int]]
    facilities: dict[str, int]
    vacant: int | None
    occupied: int | None
    places: dict[str, int]
    remarks: tuple[str, ...]

    def json(self) -> dict[str, Any]:
        """Return the description as JSON values."""
        found = {name: getattr(self, name) for name in self.__slots__}
        found["leaf_quantiles"] = {str(share): count for share, count in self.leaf_quantiles.items()}
        found["remarks"] = list(self.remarks)
        return found


def describe(population: BlockPopulation) -> PopulationDescription:
    """Return what a population holds."""
    schema = population.schema
    totals = population.totals()
    populated = totals[totals > 0]
    state_units = units_of(population, "State")
    by_state = np.bincount(state_units.of_leaf, weights=totals, minlength=len(state_units)).astype(np.int64)
    housing = None if population.housing is None else population.housing.sum(axis=0, dtype=np.int64).tolist()
    return PopulationDescription(
        schema=schema.id,
        title=schema.title,
        record=schema.record,
        records=population.total,
        levels={name: len(units_of(population, name)) for name in population.layout.names},
        populated=len(populated),
        filled_cells=len(population.cells),
        cells=schema.cells,
        leaf_quantiles={
            share: int(np.quantile(populated, share, method="inverted_cdf")) for share in QUANTILES if len(populated)
        },
        states=dict(zip(state_units.codes.tolist(), by_state.tolist(), strict=True)),
        margins=_margins(population),
        facilities=_facilities(population),
        vacant=None if housing is None else housing[0],
        occupied=None if housing is None else housing[1],
        places={kind: len(set(codes.tolist()) - {""}) for kind, codes in population.places.items()},
        remarks=population.remarks,
    )


def _margins(population: BlockPopulation) -> dict[str, dict[str, int]]:
    one = np.zeros(population.blocks, np.int64)
    margins = {}
    for attribute in population.schema.attributes:
        if attribute.levels <= 63:
            counts = add_answers(population, MarginalQuery(population.schema, (attribute,)), one, 1)[0]
            margins[attribute.name] = dict(zip(attribute.labels, counts.tolist(), strict=True))
    return margins


def _facilities(population: BlockPopulation) -> dict[str, int]:
    if population.facilities is None:
        return {}
    counts = population.facilities.sum(axis=0, dtype=np.int64).tolist()
    if population.schema.companion is not None:
        return dict(zip(load_schema(population.schema.companion).attributes[0].labels, counts, strict=True))
    if population.schema.facility_bounds is None:
        return {"Housing units": counts[0], "Group quarters": counts[QUARTERS_PLACE]}
    (types,) = parse_query(population.schema, population.schema.facility_bounds.query).factors
    return dict(zip(("Housing units", *types.labels[1:]), counts, strict=True))
