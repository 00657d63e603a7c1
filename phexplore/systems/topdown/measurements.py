"""Kept measurements: the noisy answers of every level of a trial, and post-processing them again.

``measurements/trial-00000/<Level>.parquet`` has one row per unit: ``geocode`` and, per measured query under its name, the list of
its noisy answers, null where the unit was not asked: it has no budget, or none for this query. (Files of earlier versions hold 0
there.) The metadata say the schema, the level, the framework, every query's budget and which units there are. Answers
of the nation's leaves in the full schema are large: 2,603 numbers a block.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from phexplore.data.digest import digest_blocks, digest_files
from phexplore.errors import PhexploreError
from phexplore.model.numbers import exact_text
from phexplore.runs.belonging import runs_in
from phexplore.runs.run_files import check_columns, check_rows, lists_of_integers, mark_of, reading
from phexplore.runs.store import MEASUREMENTS_DIRECTORY, SPEC_FILE, RunUnreadableError, load_spec
from phexplore.runs.writing import writing
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.simulate.topdown.measuring import Measured, answer_type, query_columns
from phexplore.spine.tree import GeoTree

if TYPE_CHECKING:
    from phexplore.simulate.topdown.design import Design, LevelDesign
    from phexplore.simulate.topdown.driver import World

_REMEDY = "Measure again with --keep-measurements, or name another run."


def measurement_file(directory: Path, trial: int, level: str) -> Path:
    """Return where a run keeps the noisy answers of a trial at a level.

    Args:
        directory: of the run.
        trial: its number, from 0.
        level: what is measured there.
    """
    return directory / MEASUREMENTS_DIRECTORY / f"trial-{trial:05d}" / f"{level}.parquet"


class MeasurementWriter:
    """Writes the noisy answers of one trial as the descent meets them, level by level, units in their order."""

    def __init__(self, directory: Path, trial: int, world: World, stated: Mapping[str, object]) -> None:
        self._directory = directory
        self._trial = trial
        self._world = world
        self._stated = stated
        self._parts: list[NDArray[Any]] = []

    def __call__(self, number: int, answers: NDArray[Any]) -> None:
        """Take the answers of the next units of a level; the file is written with the last of them."""
        self._parts.append(answers)
        if sum(len(part) for part in self._parts) == self._world.tree.levels[number].units:
            self._write(number)
            self._parts = []

    def _write(self, number: int) -> None:
        level, units = self._world.design.levels[number], self._world.tree.levels[number]
        path = measurement_file(self._directory, self._trial, level.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {
            "schema": level.plan.schema.id,
            "level": level.name,
            **self._stated,
            "units": codes_digest(units.codes),
            "queries": [
                {"query": query.name, "budget": exact_text(budget)}
                for query, budget in zip(level.plan.measured, level.measuring.budgets, strict=True)
            ],
        }
        schema = pa.schema(
            [
                ("geocode", pa.string()),
                *((query.name, pa.list_(_arrow(self._parts[0].dtype), query.answers)) for query in level.plan.measured),
            ],
            metadata={"phexplore": json.dumps(metadata, ensure_ascii=True)},
        )
        with writing(path) as part, pq.ParquetWriter(part, schema, compression="zstd", use_dictionary=False) as writer:
            first = 0
            unasked = _unasked(level, self._world.classes[number])
            for answers in self._parts:
                codes = pa.array(units.codes[first : first + len(answers)].tolist(), pa.string())
                lists = [
                    pa.FixedSizeListArray.from_arrays(
                        pa.array(np.ascontiguousarray(answers[:, columns]).ravel()),
                        query.answers,
                        mask=pa.array(unasked[place, first : first + len(answers)]),
                    )
                    for place, (query, columns) in enumerate(query_columns(level.plan))
                ]
                writer.write_table(pa.Table.from_arrays([codes, *lists], schema=schema))
                first += len(answers)


def _unasked(level: LevelDesign, classes: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return which units were not asked which query, ``bool[queries, units]``."""
    silent = [[noise is None for noise in measuring.noises] for measuring in level.measurings]
    table = np.array([*silent, [True] * len(level.plan.measured)])
    return table[classes].T  # class -1, of units without budget, is the last row


class KeptMeasurements:
    """The noisy answers of one level of a trial of another run."""

    is_anywhere = False

    def __init__(self, path: Path, units: int) -> None:
        """Read from a file.

        Args:
            path: of the file.
            units: of the level.
        """
        self._path, self._units = path, units

    def measure(
        self,
        level: LevelDesign,
        truth: Histograms,
        first: int,
        classes: NDArray[np.int8],  # noqa: ARG002 - whoever measured knew which units were measured
    ) -> Measured:
        """Return the kept answers of some units; see `MeasurementSource.measure`.

        Args:
            level: what is measured there.
            truth: exact counts.
            first: number of the first unit.
            classes: of the units, ``int8[units]``.

        Raises:
            RunUnreadableError: the file cannot be read.
        """
        last = first + truth.units
        out = np.zeros((truth.units, level.plan.answers), answer_type(level))
        with reading(self._path, _REMEDY), pq.ParquetFile(self._path) as file:
            queries = query_columns(level.plan)
            check_rows(file, self._path, self._units)
            check_columns(file.schema_arrow, {query.name: lists_of_integers for query, _ in queries})
            begin = 0
            for group in range(file.num_row_groups):
                end = begin + file.metadata.row_group(group).num_rows
                low, high = max(first, begin), min(last, end)
                if low < high:
                    table = file.read_row_group(group, use_threads=False)
                    for query, columns in queries:
                        lists = table.column(query.name).combine_chunks()[low - begin : high - begin]
                        asked = low - first + np.flatnonzero(lists.is_valid().to_numpy(zero_copy_only=False))
                        answers = lists.flatten()
                        if answers.null_count:
                            raise ValueError(f"column {query.name} has answers without a value")
                        out[asked, columns] = answers.to_numpy().reshape(-1, query.answers)
                begin = end
        return Measured(out, 0, 0)


def measuring_run(directory: Path, named: str, identity: str) -> Path:
    """Return the directory of the run whose kept answers another run post-processes.

    The first save of a project moves its runs: then it is the one beside the run that has its identity. Nowhere else is looked, and
    whether the answers are the ones `confirm_kept` finds out.

    Args:
        directory: of the run that post-processes.
        named: where the run that measured was.
        identity: of that run, "" when it is not recorded.
    """
    place = Path(named)
    for run in (place, directory.parent / place.name, *runs_in(directory.parent)):
        with suppress(PhexploreError):
            if identity and not _is_same(run, directory) and load_spec(run).identity == identity:
                return run
    return place


def _is_same(one: Path, other: Path) -> bool:
    with suppress(OSError):
        return one.samefile(other)
    return False


def kept_content(directory: Path) -> str:
    """Return 64 hexadecimal digits over the names and contents of all answers a run kept.

    Raises:
        RunUnreadableError: one cannot be read, or there is none.
    """
    root = directory / MEASUREMENTS_DIRECTORY
    files = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*.parquet")) if path.is_file()}
    if not files:
        raise RunUnreadableError(f"There are no kept answers in {directory}.", _REMEDY)
    try:
        return digest_files(files).sha256
    except OSError as error:
        raise RunUnreadableError(f"{error.filename} cannot be read ({error.strerror}).", _REMEDY) from error


def confirm_kept(directory: Path, content: str) -> None:
    """Refuse kept answers that are not those a run was made for.

    Args:
        directory: of the run that kept them.
        content: what `kept_content` returned when the run was made; "" for a run of the first format, which did not record it.

    Raises:
        RunUnreadableError: they are others, or cannot be read.
    """
    found = kept_content(directory) if (directory / SPEC_FILE).exists() else digest_blocks(directory).sha256
    if not content or found != content:
        raise RunUnreadableError(
            f"The answers kept in {directory} are not those this run was made for.",
            "Put the original ones back, or post-process again with a new run.",
        )


def check_kept(directory: Path, trial: int, design: Design, tree: GeoTree, framework: str) -> None:
    """Refuse kept answers of other queries, budgets or units than those that are to be post-processed.

    Args:
        directory: of the run that kept them.
        trial: number of the trial.
        design: what is measured at every level.
        tree: with the units of every level.
        framework: name of the privacy definition.

    Raises:
        RunUnreadableError: something is missing or different.
    """
    for level, units in zip(design.levels, tree.levels, strict=True):
        path = measurement_file(directory, trial, level.name)
        with reading(path, _REMEDY):
            content = mark_of(pq.read_schema(path))
            budgets = {str(entry["query"]): str(entry["budget"]) for entry in content["queries"]}
            stated = (content["schema"], content["framework"], content["units"])
        if stated != (level.plan.schema.id, framework, codes_digest(units.codes)):
            raise RunUnreadableError(f"{path} measured other units, or another schema or framework.", _REMEDY)
        wanted = {
            query.name: exact_text(budget)
            for query, budget in zip(level.plan.measured, level.measuring.budgets, strict=True)
        }
        if budgets != wanted:
            raise RunUnreadableError(f"{path} measured other queries, or with other budgets.", _REMEDY)


def codes_digest(codes: NDArray[np.str_]) -> str:
    """Return 64 hexadecimal digits that are equal exactly for equal units, ``str[units]``, in equal order."""
    return hashlib.sha256("\n".join(codes.tolist()).encode()).hexdigest()


def _arrow(dtype: np.dtype[Any]) -> Any:
    return pa.int64() if dtype == np.int64 else pa.int32()
