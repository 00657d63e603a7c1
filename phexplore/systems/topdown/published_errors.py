"""Errors of published figures by level, size and group, beside those of a run on the same areas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phexplore.errors import PhexploreError
from phexplore.metrics.topdown.size_classes import TENS
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.model.numbers import exact_text
from phexplore.published.cells import sixteen_names
from phexplore.published.door import ADAPTERS, describe, recognise, values_of
from phexplore.published.forms import ValueTable
from phexplore.runs.confidentiality import refuse_confidential
from phexplore.simulate.topdown.histograms import Histograms
from phexplore.systems.topdown.open_run import Areas, TopDownRun
from phexplore.workload.schema import Schema

_REMEDY = "Name a file with both, e.g. an NHGIS demonstration table."
_GROUPS = 8
_MOST_WORST = 20
_BLOCK_GROUP = "Block_Group"


def published_errors(path: Path, run: Path | None = None) -> dict[str, Any]:
    """Return the errors of published figures as JSON values.

    Args:
        path: file or archive with true and published columns.
        run: directory of a TopDown run whose errors stand beside, None for none.

    Raises:
        InputProblemsError: the file has no true and published columns.
        RunUnreadableError: there is no such run, or its true counts are not known.
    """
    if path == Path():
        raise InputProblemsError([Issue(("published file",), "No file is named.", _REMEDY)])
    found = recognise(path)
    if found is None:
        sentence = "No layout of a published file is recognised."
        raise InputProblemsError([Issue((path.name,), sentence, _REMEDY)])
    table = values_of(found)
    if table.true is None or np.isnan(table.published).all():
        raise found.refused("it has no true beside published columns.", _REMEDY)
    cells: ValueTable | None = None
    if "cells16" in ADAPTERS[found.kind].forms:
        with suppress(PhexploreError):  # not every download has the tables of cells
            cells = values_of(found, "cells16")
    ours = None if run is None else _RunOfOurs(run)
    levels = [_level(level, table, cells, ours) for level in dict.fromkeys(table.levels.tolist())]
    notes = dict.fromkeys((*describe(found).notes, *table.remarks))
    stated: dict[str, Any] = {
        "file": str(path),
        "kind": found.kind,
        "title": found.title,
        "levels": levels,
        "notes": list(notes),
        "differences": [],
    }
    if ours is not None:
        origin = ours.run.spec.provenance
        differences, notes = _differences(ours, levels, str(path)), {f"Run: {origin.sentence}": None, **notes}
        stated.update(run=str(run), run_provenance=origin.json(), differences=differences, notes=list(notes))
    return stated


def _level(level: str, table: ValueTable, cells: ValueTable | None, ours: _RunOfOurs | None) -> dict[str, Any]:
    here = table.at(level)
    if here.true is None:
        raise ValueError("the table has no true values")
    errors, place = here.published - here.true, _total(here)
    stated: dict[str, Any] = {"level": level, "areas": len(here.codes)}
    stated |= _figures(errors, here.columns, here.titles, here.true[:, place], place)
    own_cells = None if cells is None else cells.at(level)
    if own_cells is not None and own_cells.true is not None:
        stated["mae_cells"] = float(np.abs(own_cells.published - own_cells.true).mean())
    else:
        stated["mae_cells"] = None
    stated["true_total"] = float(here.true[:, place].sum())
    if ours is not None and (beside := ours.errors(level, here.codes)) is not None:
        run_errors, run_cells, true, rows = beside
        figures = _figures(run_errors, *_titled(here, run_errors.shape[1]), true, 0)
        stated |= {f"run_{name}": value for name, value in figures.items()}
        stated |= {
            "run_areas": len(rows),
            "run_mae_cells": None if run_cells is None else float(np.abs(run_cells).mean()),
            "run_true_total": float(true.sum() / ours.trials),
            "same_mae_total": float(np.abs(errors[rows, place]).mean()),
            "same_true_total": float(here.true[rows, place].sum()),
        }
        own = np.full(len(here.codes), np.nan)
        own[rows] = np.abs(run_errors[:, 0]).reshape(-1, len(rows)).mean(axis=0)
    else:
        own = None
    stated["worst"] = _worst(here, errors[:, place], here.true[:, place], own)
    return stated


def _worst(
    table: ValueTable, errors: NDArray[np.float64], true: NDArray[np.float64], run: NDArray[np.float64] | None
) -> list[dict[str, Any]]:
    """Return the areas whose totals are farthest off.

    Args:
        table: of one level.
        errors: ``errors[areas]`` of the total.
        true: ``true[areas]``.
        run: ``run[areas]``, mean absolute errors of a run, not a number where it lacks the area; None without a run.
    """
    order = np.argsort(-np.abs(errors), kind="stable")[:_MOST_WORST]
    return [
        {
            "code": str(table.codes[row]),
            "name": str(table.names[row]),
            "true": float(true[row]),
            "error": float(errors[row]),
            "run_mae_total": None if run is None or np.isnan(run[row]) else float(run[row]),
        }
        for row in order.tolist()
        if errors[row]
    ]


def _total(table: ValueTable) -> int:
    return table.columns.index("total") if "total" in table.columns else 0


def _titled(table: ValueTable, width: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return codes and titles of the columns of a run's errors: the total alone, or all that the schema has."""
    names = _OURS[:width]
    known = dict(zip(table.columns, table.titles, strict=True))
    return names, tuple(known.get(name, name) for name in names)


_OURS = ("total", "adults", "hisp", "white", "black", "aian", "asian", "nhpi", "other", "two", "quarters", "nursing")


def _figures(
    errors: NDArray[np.float64],
    names: tuple[str, ...],
    titles: tuple[str, ...],
    true: NDArray[np.float64],
    place: int,
) -> dict[str, Any]:
    """Return figures of ``errors[areas, columns]``; `place` is the column of the total, ``true[areas]`` its true values."""
    total = errors[:, place]
    classes = TENS.class_of(true.astype(np.int64))
    return {
        "mae_total": float(np.abs(total).mean()),
        "rmse_total": float(np.sqrt((total**2).mean())),
        "mean_total": float(total.mean()),
        "largest_total": float(np.abs(total).max()),
        "exact_total": int((total == 0).sum()),
        "by_size": [
            {
                "size": TENS.labels[number],
                "areas": int((classes == number).sum()),
                "mae_total": float(np.abs(total[classes == number]).mean()),
            }
            for number in np.unique(classes).tolist()
        ],
        "groups": [
            {
                "group": name,
                "title": title,
                "mae": float(np.abs(errors[:, n]).mean()),
                "mean": float(errors[:, n].mean()),
            }
            for n, (name, title) in enumerate(zip(names, titles, strict=True))
        ],
    }


class _RunOfOurs:
    """The errors of a run at the levels of its codes.

    Attributes:
        run: opened.
        trials: how many there are.
    """

    def __init__(self, directory: Path) -> None:
        refuse_confidential(directory)
        self.run = TopDownRun(directory)
        self.run.patience = float("inf")
        self.run.refresh()
        self.trials = len(self.run.present)
        self._columns = _columns(self.run.schema)

    def errors(
        self, level: str, codes: NDArray[np.str_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, NDArray[np.float64], NDArray[np.int64]] | None:
        """Return errors, errors of 16 cells, true totals, and which areas of the file they are of; None where it has none.

        Args:
            level: of the file.
            codes: of the areas, ``U[areas]``.
        """
        areas = self.run.areas.get(level)
        if not self.trials or (level not in self.run.levels and areas is None):
            return None
        own = self.run.codes(level) if areas is None else areas.codes
        rows = np.flatnonzero(np.isin(codes, own))
        if not len(rows):
            return None
        order = np.argsort(own, kind="stable")
        units = order[np.searchsorted(own[order], codes[rows])]
        place = -1 if areas is not None else self.run.place(level)
        exact = self._sums(self.run.truth[place], areas)[units]
        parts = [
            self._sums(found[place], areas)[units] - exact
            for index in self.run.present
            if (found := self.run.trial(index)) is not None
        ]
        errors = np.concatenate(parts).astype(np.float64)
        true = np.tile(exact[:, 0], len(parts)).astype(np.float64)
        has_cells = errors.shape[1] > 1
        cells = errors[:, -len(sixteen_names()) :] if has_cells else None
        return errors[:, : -len(sixteen_names())] if has_cells else errors, cells, true, rows

    def _sums(self, counts: Histograms, areas: Areas | None) -> NDArray[np.int64]:
        """Return ``int64[units, columns]`` of the columns of published tables, of units of a level or of areas of leaves."""
        if self._columns is None:
            summed = counts.totals()[:, None]
        else:
            rows = np.repeat(np.arange(counts.units), np.diff(counts.starts))
            weights = self._columns[counts.cells] * counts.counts[:, None]
            columns = [np.bincount(rows, column, counts.units) for column in weights.T]
            summed = np.stack(columns, axis=1).astype(np.int64)
        return summed if areas is None else areas.sums(summed)


def _columns(schema: Schema) -> NDArray[np.int64] | None:
    """Return which cells make which column of published tables, ``int64[cells, columns]``: `_OURS` as far as it goes, then 16 cells.

    None for a schema without voting age and race.
    """
    names = [attribute.name for attribute in schema.attributes]
    levels = dict(zip(names, np.unravel_index(np.arange(schema.cells), schema.shape), strict=True))
    if "votingage" not in levels:
        return None
    if "race_ethnicity" in levels:
        group = levels["race_ethnicity"]
    elif {"hispanic", "cenrace"} <= set(levels):
        group = np.where(levels["hispanic"] == 1, 0, 1 + np.minimum(levels["cenrace"], _GROUPS - 2))
    else:
        return None
    columns = [
        np.ones(schema.cells, np.int64),
        levels["votingage"] == 1,
        *(group == number for number in range(_GROUPS)),
    ]
    if "hhgq" in levels:
        columns += [levels["hhgq"] > 0, levels["hhgq"] == 3]
    columns += [(levels["votingage"] == age) & (group == number) for age in range(2) for number in range(_GROUPS)]
    return np.stack(columns, axis=1).astype(np.int64)


def _differences(ours: _RunOfOurs, levels: Sequence[Mapping[str, Any]], path: str) -> list[str]:
    """Return in what data and settings the file and the run differ, in sentences."""
    found = [_settings(ours, path)]
    for level in levels:
        if "run_areas" not in level:
            found.append(f"{level['level']}: the run has none of these areas.")
        elif level["run_areas"] < level["areas"]:
            found.append(f"{level['level']}: the run has {level['run_areas']:,} of {level['areas']:,} areas.")
        if "run_areas" in level and level["run_true_total"] != level["same_true_total"]:
            found.append(
                f"{level['level']}: the true counts differ: {level['same_true_total']:,.0f} people in the file, "
                f"{level['run_true_total']:,.0f} in the data of the run."
            )
        if level["level"] in ours.run.areas and "run_areas" in level:
            found.append(f"{level['level']}: sums of the blocks that the data of the run say lie in each area.")
        if level["level"] == _BLOCK_GROUP and "run_areas" in level:
            found.append(f"{_BLOCK_GROUP}: tabulation block groups in both, whatever the spine of the run.")
    return found


def _settings(ours: _RunOfOurs, path: str) -> str:
    spec = ours.run.spec
    method = spec.scenario.topdown
    return (
        f"Settings: the run is {spec.scenario.name!r} with {method.framework.symbol} = {exact_text(method.total)}, {ours.trials} trials; "
        f"what {Path(path).name} was made with is what its name says."
    )
