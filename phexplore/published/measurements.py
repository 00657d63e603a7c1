"""Noisy measurement files in the published layout: Parquet by product, level and part of a state, in a folder or a ZIP archive.

``<product>/<Level>.parquet/{DPQuery,Constraint}/[State=0SS/…]/<file>.parquet``; a row is a query of a unit: ``geocode``, ``query_name``,
a text per attribute (``*`` where it is summed over), ``query_shape``, ``value`` (row by row) and ``variance`` (σ² as 32-bit float). Neither
sums nor signs are corrected: noisy answers may be negative, and levels do not add up.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.opening import open_regular, refuse_irregular
from phexplore.published.forms import Description, Published
from phexplore.workload.queries import MarginalQuery, detailed_query, parse_query, total_query
from phexplore.workload.schema import Schema, load_schema, schema_ids

MEASURED, CONSTRAINED = "DPQuery", "Constraint"
"""Folders of the noisy answers and of what is exact."""

STATE_TOTALS = "state_totals.parquet"
"""Exact populations of the states, beside the products: geocode, name, value."""

_FIXED = ("geocode", "query_name", "sign", "query_shape", "value", "variance")
_IGNORED = frozenset({"plb", "State", "County", "Tract"})
_SUFFIX = ".parquet"
_LARGEST_MEMBER = 4 << 30
"""Bytes of one unpacked member of an archive."""


@dataclass(frozen=True, slots=True)
class _Files:
    """The Parquet files of a level, by folder and ascending by name."""

    measured: tuple[str, ...]
    constrained: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of one file.

    Attributes:
        codes: ``U[rows]``.
        queries: ``object[rows]``, the query of each row; None for one that its schema cannot ask, e.g. of a structural zero.
        names: ``U[rows]``, the queries as the file calls them.
        variances: ``float32[rows]``, σ² of each answer, people².
        values: lists of whole numbers, one per row; None where they were not asked for.
    """

    codes: NDArray[np.str_]
    queries: NDArray[Any]
    names: NDArray[np.str_]
    variances: NDArray[np.float32]
    values: Any


@dataclass(frozen=True, slots=True)
class MeasuredProduct:
    """One product of a release: persons, or housing units.

    Attributes:
        name: of its folder, e.g. ``US_Person_PL_PROD``.
        schema: whose attributes its columns are.
        levels: names, widest first.
    """

    name: str
    schema: Schema
    levels: tuple[str, ...]
    _files: Mapping[str, _Files] = field(repr=False)
    _holder: NoisyMeasurements = field(repr=False)

    def parts(self, level: str, *, constrained: bool = False) -> tuple[str, ...]:
        """Return the files of a level, ascending by name.

        Args:
            level: its name.
            constrained: what is exact instead of what is noisy.
        """
        files = self._files[level]
        return files.constrained if constrained else files.measured

    def rows(self, name: str, *, with_values: bool = True) -> Rows:
        """Return what a file holds.

        Args:
            name: of one of `parts`.
            with_values: whether the answers are read too.

        Raises:
            InputProblemsError: it is not in the published layout.
        """
        return self._holder.rows(name, self.schema, with_values=with_values)

    def answers(self, name: str, row: int) -> tuple[int, int, Any]:
        """Return the part of a file that holds a row: its first row, the row behind it, and the lists of whole numbers of its rows.

        Args:
            name: of one of `parts`.
            row: from 0.

        Raises:
            InputProblemsError: the file cannot be read.
        """
        return self._holder.answers(name, row)


class NoisyMeasurements:
    """What a folder or an archive holds.

    Attributes:
        path: of it.
        products: in the order of their names.
    """

    def __init__(self, path: Path) -> None:
        """Find the products; only headers are read.

        Args:
            path: folder, ZIP archive, or the folder of one product.

        Raises:
            InputProblemsError: there are none, or their columns are those of no known schema.
        """
        self.path = path
        found: dict[str, dict[str, dict[str, list[str]]]] = {}
        self._names = sorted(self._listed())
        self._last: tuple[str, Any, NDArray[np.int64]] | None = None
        for name in self._names:
            parts = name.split("/")
            place = next((n for n, part in enumerate(parts[:-2]) if part.endswith(_SUFFIX)), -1)
            if place >= 0 and parts[place + 1] in {MEASURED, CONSTRAINED} and "__MACOSX" not in parts:
                product = "/".join(parts[:place]) or path.resolve().name
                level = found.setdefault(product, {}).setdefault(parts[place].removesuffix(_SUFFIX), {})
                level.setdefault(parts[place + 1], []).append(name)
        if not found:
            raise self._refused("There are no noisy measurements in the published layout here.", _NAME_THE_FOLDER)
        self.products = tuple(self._product(name, levels) for name, levels in sorted(found.items()))

    def product(self, schema: Schema) -> MeasuredProduct:
        """Return the product of a schema, or of a smaller one that arises from it.

        Raises:
            InputProblemsError: there is none, or several: a run wrote one for every trial.
        """
        fitting = [each for each in self.products if each.schema == schema]
        fitting = fitting or [each for each in self.products if schema.id in each.schema.images]
        if len(fitting) != 1:
            known = ", ".join(each.name for each in self.products)
            raise self._refused(
                f"{len(fitting)} products measure {schema.title}; the files hold {known}.", _NAME_THE_FOLDER
            )
        return fitting[0]

    def state_totals(self) -> dict[str, int] | None:
        """Return the exact populations of the states by their code, None where no file beside the products has them.

        Raises:
            InputProblemsError: the file is not as it should be.
        """
        names = [name for name in self._names if name.rsplit("/", 1)[-1] == STATE_TOTALS]
        if not names:
            return None
        with self._reading(names[0]) as file:
            table = file.read(columns=["geocode", "value"])
            return {str(row["geocode"]): int(row["value"]) for row in table.to_pylist()}

    def rows(self, name: str, schema: Schema, *, with_values: bool) -> Rows:
        """Return what a file holds; see `MeasuredProduct.rows`.

        Args:
            name: of the file.
            schema: whose attributes its columns are.
            with_values: whether the answers are read too.
        """
        axes = [attribute.name for attribute in schema.attributes]
        with self._reading(name) as file:
            if missing := {"geocode", "query_name", "variance", "value", *axes} - set(file.schema_arrow.names):
                raise ValueError(f"the column {min(missing)} is missing")
            _refuse_other_than_numbers(file)
            table = file.read(columns=["geocode", "query_name", "variance", *axes, *(["value"] if with_values else [])])
            words = [table.column(axis).to_pylist() for axis in axes]
            known: dict[tuple[str, ...], MarginalQuery | None] = {}
            queries = np.empty(table.num_rows, object)
            for number, asked in enumerate(zip(*words, strict=True)):
                if asked not in known:
                    known[asked] = _query(schema, asked)
                queries[number] = known[asked]
            values = table.column("value").combine_chunks() if with_values else None
            if values is not None and (values.null_count or values.flatten().null_count):
                raise ValueError("an answer is missing")
            return Rows(
                np.array([str(code or "") for code in table.column("geocode").to_pylist()], np.str_),
                queries,
                np.array(table.column("query_name").to_pylist(), np.str_),
                table.column("variance").to_numpy().astype(np.float32),
                values,
            )

    def answers(self, name: str, row: int) -> tuple[int, int, Any]:
        """Return the part of a file that holds a row; see `MeasuredProduct.answers`.

        Args:
            name: of the file.
            row: from 0.
        """
        if self._last is None or self._last[0] != name:
            with self._reading(name) as file:
                sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
                self._last = name, file, np.cumsum([0, *sizes])
        _, held, starts = self._last
        with _Reading(self, name, held):
            _refuse_other_than_numbers(held)
            group = int(np.searchsorted(starts, row, side="right")) - 1
            lists = held.read_row_group(group, columns=["value"], use_threads=False).column(0).combine_chunks()
            if lists.null_count or lists.flatten().null_count:
                raise ValueError("an answer is missing")
        return int(starts[group]), int(starts[group + 1]), lists

    def _listed(self) -> Iterator[str]:
        if self.path.is_dir():
            yield from (
                file.relative_to(self.path).as_posix() for file in self.path.rglob("*.parquet") if file.is_file()
            )
            return
        try:
            with open_regular(self.path) as file, zipfile.ZipFile(file) as archive:
                yield from (name for name in archive.namelist() if not name.endswith("/"))
        except (zipfile.BadZipFile, RuntimeError, EOFError, OSError) as error:
            raise self._refused(f"The file is no ZIP archive ({error}).", _NAME_THE_FOLDER) from error

    def _reading(self, name: str) -> _Reading:
        return _Reading(self, name)

    def open(self, name: str) -> pq.ParquetFile:
        """Return one file, opened.

        Raises:
            InputProblemsError: it is too large, or no regular file.
        """
        if self.path.is_dir():
            refuse_irregular(self.path / name)
            return pq.ParquetFile(self.path / name)
        with open_regular(self.path) as file, zipfile.ZipFile(file) as archive:
            if archive.getinfo(name).file_size > _LARGEST_MEMBER:
                raise self._refused(f"{name} is larger than {_LARGEST_MEMBER >> 30} GB.", "Unpack the archive.")
            return pq.ParquetFile(io.BytesIO(archive.read(name)))

    def _product(self, name: str, levels: Mapping[str, Mapping[str, list[str]]]) -> MeasuredProduct:
        first = next(files for kinds in levels.values() for files in kinds.values() if files)[0]
        with self._reading(first) as file:
            axes = [each for each in file.schema_arrow.names if each not in {*_FIXED, *_IGNORED}]
        schemas = (load_schema(each) for each in schema_ids())
        schema = next((each for each in schemas if [part.name for part in each.attributes] == axes), None)
        if schema is None:
            raise self._refused(
                f"{name} counts by {', '.join(axes)}: no schema has these attributes.", _NAME_THE_FOLDER
            )
        widths = {level: self._width(kinds) for level, kinds in levels.items()}
        ordered = tuple(sorted(levels, key=lambda level: widths[level]))
        files = {
            level: _Files(tuple(levels[level].get(MEASURED, ())), tuple(levels[level].get(CONSTRAINED, ())))
            for level in ordered
        }
        return MeasuredProduct(name.rsplit("/", 1)[-1], schema, ordered, files, self)

    def _width(self, kinds: Mapping[str, list[str]]) -> int:
        """Return how long the codes of a level are."""
        for name in (name for files in kinds.values() for name in files):
            with self._reading(name) as file:
                if file.metadata.num_rows:
                    code = next(file.iter_batches(batch_size=1, columns=["geocode"])).column(0)[0].as_py()
                    return 0 if code in _NATION else len(code)
        return 0

    def _refused(self, sentence: str, remedy: str) -> InputProblemsError:
        return InputProblemsError([Issue((str(self.path),), sentence, remedy)])


def _refuse_other_than_numbers(file: pq.ParquetFile) -> None:
    """Pass a file whose answers are lists of numbers.

    Raises:
        ValueError: they are something else.
    """
    kind = file.schema_arrow.field("value").type
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if not is_list or not (pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type)):
        raise ValueError(f"the column value must contain lists of numbers (got {kind})")


_NAME_THE_FOLDER = "Name the folder that holds US_Person_PL_PROD and the like, of one release."
_NATION = frozenset({None, "", "0", "1"})


class _Reading:
    """Opens a file; what goes wrong inside becomes one sentence with its name."""

    def __init__(self, holder: NoisyMeasurements, name: str, file: Any = None) -> None:
        self._holder, self._name, self._file = holder, name, file

    def __enter__(self) -> Any:
        try:
            self._file = self._file or self._holder.open(self._name)
        except Exception as error:
            self.__exit__(type(error), error, None)
            raise
        return self._file

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        expected = (pa.ArrowException, zipfile.BadZipFile, ValueError, LookupError, TypeError, AttributeError, OSError)
        if isinstance(error, expected) and not isinstance(error, PhexploreError):
            first = (str(error).splitlines() or [""])[0][:200]
            raise InputProblemsError(
                [
                    Issue(
                        (str(self._holder.path), self._name),
                        f"This is no file of noisy measurements ({first}).",
                        _DAMAGED,
                    )
                ]
            ) from error


_DAMAGED = "Download it again, or leave this product out."


def _query(schema: Schema, axes: tuple[str, ...]) -> MarginalQuery | None:
    """Return what the texts of the axes ask; None for what is no query of the schema."""
    asked = [word for word in axes if word != "*"]
    if not asked:
        return total_query(schema)
    if all(word == "detailed" for word in axes):
        return detailed_query(schema)
    try:
        return parse_query(schema, " * ".join(asked))
    except PhexploreError:
        return None


def looks_like_measurements(path: Path) -> bool:
    """Return whether a folder or an archive holds noisy measurements in the published layout."""
    try:
        NoisyMeasurements(path)
    except (InputProblemsError, OSError):
        return False
    return True


def describe(found: Published) -> Description:
    """Return what noisy measurement files hold, with their units by level."""
    path = found.source if found.source.exists() else found.parts[0].path
    stated: dict[str, Any] = describe_measurements(path)
    levels = {level["level"]: level["units"] for product in reversed(stated["products"]) for level in product["levels"]}
    ordered = {level: levels[level] for level in stated["levels"]}
    return Description(
        found.kind,
        found.title,
        ordered,
        tuple(stated["notes"]),
        {"products": stated["products"], "areas": stated["areas"]},
    )


def describe_measurements(path: Path) -> dict[str, Any]:
    """Return what noisy measurement files hold, as JSON values: products, levels, units, queries and variances.

    Raises:
        InputProblemsError: they are not in the published layout.
    """
    found, notes = NoisyMeasurements(path), list[str]()
    products: list[dict[str, Any]] = []
    for product in found.products:
        levels = []
        for level in product.levels:
            units: set[str] = set()
            negative = answers = 0
            asked: dict[str, dict[str, Any]] = {}
            for part in product.parts(level):
                rows = product.rows(part)
                units.update(rows.codes.tolist())
                flat = rows.values.flatten().to_numpy()
                negative, answers = negative + int((flat < 0).sum()), answers + len(flat)
                for name in np.unique(rows.names).tolist():
                    chosen = rows.names == name
                    query = rows.queries[chosen][0]
                    entry = asked.setdefault(
                        name.removesuffix("_dpq"),
                        {"answers": query.answers if query else None, "units": 0, "variances": []},
                    )
                    entry["units"] += int(chosen.sum())
                    entry["variances"] = sorted({*entry["variances"], *map(float, np.unique(rows.variances[chosen]))})
            kept: set[str] = set()
            for part in product.parts(level, constrained=True):
                rows = product.rows(part, with_values=False)
                kept.update(rows.names.tolist())
                units.update(rows.codes.tolist())
            levels.append(
                {
                    "level": level,
                    "units": len(units),
                    "answers": answers,
                    "negative": negative,
                    "queries": [{"query": name, **entry} for name, entry in asked.items()],
                    "constraints": sorted(kept),
                }
            )
        states = sorted({code[:3] for code in units if code})
        products.append({"product": product.name, "schema": product.schema.id, "states": states, "levels": levels})
        if "144" in states:
            notes.append("Rhode Island has a tribal part (144): the files of 2020 have none.")
    notes.append("Noisy answers may be negative, and levels do not add up: they are as they were drawn.")
    largest = products[0]["levels"][-1] if products else {"units": 0}
    return {
        "kind": "noisy-measurements",
        "path": str(path),
        "areas": largest["units"],
        "levels": list(dict.fromkeys(each["level"] for product in products for each in product["levels"])),
        "products": products,
        "notes": list(dict.fromkeys(notes)),
    }
