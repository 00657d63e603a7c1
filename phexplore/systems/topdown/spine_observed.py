"""Errors of a simulated run for any areas and for the units of any spine, to be drawn over a prediction. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phexplore.data.digest import digest_blocks
from phexplore.model.topdown import TopDown
from phexplore.runs.confidentiality import is_confidential_run
from phexplore.runs.spec import RunMode, RunSpec
from phexplore.runs.store import started_words
from phexplore.spine.geodict import same_spine
from phexplore.systems.topdown.open_run import TopDownRun, numbers_of
from phexplore.systems.topdown.run_options import Mechanism, topdown_options
from phexplore.systems.topdown.spine_forecast import Fit
from phexplore.systems.topdown.spine_views import Observed, SpineRequest
from phexplore.workload.queries import parse_query

if TYPE_CHECKING:
    from phexplore.spine.geography import EntitySet, Geography
    from phexplore.spine.tree import GeoTree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_TRIALS = 40
"""Trials whose errors are added up."""
MOST_NUMBERS = 20_000_000
"""Answers of all blocks in one trial that are added up; finer queries are looked at on the page of results."""


class ObservedErrors:
    """Opens runs; the newest stays open."""

    def __init__(self) -> None:
        self._run: TopDownRun | None = None
        self._digests: dict[tuple[Path, int, int], str] = {}

    def open(self, request: SpineRequest, geography: Geography) -> tuple[ObservedRun | None, str]:
        """Return the run that is asked for, or None and why it says nothing about this prediction.

        Args:
            request: names the run.
            geography: the blocks of the prediction.

        Raises:
            PhexploreError: the run cannot be read.
        """
        directory = request.look.run
        if directory is None:
            return None, ""
        if self._run is None or self._run.directory != directory:
            self._run = TopDownRun(directory)
        run = self._run
        run.refresh()
        why = self._refusal(run, request, geography)
        return (None, why) if why else (ObservedRun(run), "")

    def _refusal(self, run: TopDownRun, request: SpineRequest, geography: Geography) -> str:
        """Return why a run says nothing about this prediction, or ""."""
        spec, options = run.spec, topdown_options(run.spec)
        codes = np.sort(run.files.geoids)
        reasons = (
            (
                is_confidential_run(run.directory),
                "used data that are treated as confidential, so its errors are not released",
            ),
            (not run.present, "has no trial yet; its errors appear here with the first one"),
            (spec.mode is not RunMode.PRIVATE, "was made without noise: it has no errors of measurement"),
            (options.mechanism is not Mechanism.TOP_DOWN, "was estimated block by block, not along a spine"),
            (
                options.is_pooled and request.look.fit is not Fit.AT_ONCE,
                "pooled its answers, these predictions are fitted level by level; choose all at once",
            ),
            (
                not _same_parameters(spec, request.method),
                "was made with other parameters than these; start a run of them to see its errors here",
            ),
            (not np.array_equal(codes, geography.geoids), "was made with other blocks than these"),
            (
                options.expand is not None and geography.quarters is None,
                "knew where group quarters are (expanded data), these blocks do not: its spine was another one",
            ),
        )
        why = next((words for holds, words in reasons if holds), "")
        if not why and self._digest(request.path) != spec.data.sha256:
            why = "was made with another file; its areas, and so its spine, may differ"
        return f"The run {_name(run)} {why}." if why else ""

    def _digest(self, path: Path) -> str:
        status = path.stat()
        key = (path, status.st_mtime_ns, status.st_size)
        if key not in self._digests:
            self._digests = {key: digest_blocks(path).sha256}
        return self._digests[key]


def _name(run: TopDownRun) -> str:
    """Return what people call a run: its scenario, and when it was made."""
    return f"{run.spec.scenario.name}, {started_words(run.directory)}".rstrip(", ")


def _same_parameters(spec: RunSpec, method: TopDown) -> bool:
    own = spec.scenario.topdown
    if not same_spine(own.spine, method.spine):
        return False
    own = replace(own, spine=method.spine, locked_levels=frozenset(), locked_queries=frozenset())
    return own == replace(method, locked_levels=frozenset(), locked_queries=frozenset())


class ObservedRun:
    """The errors of one run.

    Attributes:
        schema: id of the data's schema.
    """

    def __init__(self, run: TopDownRun) -> None:
        self._run = run
        self._trials = run.first_trials(MOST_TRIALS)
        self.schema = run.schema.id

    def of_areas(self, entities: EntitySet, query: str, variance: Floats) -> Observed | None:
        """Return the errors of areas, None where a query has too many answers.

        Args:
            entities: the areas.
            query: name in the data's schema.
            variance: ``float64[areas]``, predicted, mean over the answers.
        """

        def add(errors: Integers) -> Integers:
            sums = np.zeros((len(entities.blocks) + 1, errors.shape[1]), np.int64)
            np.cumsum(errors[entities.blocks], axis=0, out=sums[1:])
            return sums[entities.starts[1:]] - sums[entities.starts[:-1]]

        squares = self._squares(query, add)
        if squares is None:
            return None
        ratio = _ratio(squares, variance)
        return self._observed(np.sqrt(squares.mean(axis=0)), np.full(entities.areas, ratio[0]), ratio)

    def of_levels(self, tree: GeoTree, query: str, variances: Sequence[Floats]) -> Observed | None:
        """Return the errors of the units of every level of a spine, one row per level; None as `of_areas`.

        Args:
            tree: with the order of its leaves.
            query: name in the data's schema.
            variances: per level ``float64[units]``, predicted.
        """
        rows, ratios = [], []
        for level, variance in zip(tree.levels, variances, strict=True):

            def add(errors: Integers, starts: Integers = level.first_block[:-1]) -> Integers:
                ordered = errors if tree.order is None else errors[tree.order]
                found: Integers = np.add.reduceat(ordered, starts, axis=0)
                return found

            squares = self._squares(query, add)
            if squares is None:
                return None
            rows.append(float(np.sqrt(squares.mean())))
            ratios.append(_ratio(squares, variance))
        # Tracts are many and large: what is said of all levels in one figure is said of the level above the block groups.
        named = [level.name for level in tree.levels]
        place = named.index("Tract") if "Tract" in named else 0
        return self._observed(np.array(rows), np.array([ratio for ratio, _ in ratios]), ratios[place])

    def _squares(self, query: str, add: Callable[[Integers], Integers]) -> Floats | None:
        """Return squared errors, ``float64[trials, units]``, the mean over the answers of the query."""
        found = parse_query(self._run.schema, query)
        level = self._run.levels[-1]
        if numbers_of(self._run, level, found) > MOST_NUMBERS:
            return None
        order = np.argsort(self._run.files.geoids, kind="stable")
        exact = self._run.exact(level, found)[order]
        rows = []
        for index in self._trials:
            levels = self._run.trial(index)
            if levels is None:
                continue
            errors = levels[-1].answers(found.cell_map(), found.answers)[order] - exact
            rows.append((add(errors).astype(np.float64) ** 2).mean(axis=1))
        return np.stack(rows) if rows else None

    def _observed(self, errors: Floats, ratios: Floats, ratio: tuple[float, float]) -> Observed:
        return Observed(self._run.directory.name, len(self._trials), errors, ratios, *ratio)


def _ratio(squares: Floats, variance: Floats) -> tuple[float, float]:
    """Return mean squared error over predicted variance, and its Monte-Carlo standard error.

    The error is taken between trials, whose noises are independent; from fewer than three trials, between units.

    Args:
        squares: ``float64[trials, units]``.
        variance: ``float64[units]``.
    """
    known = (variance > 0) & np.isfinite(variance)
    if not known.any():
        return float("nan"), float("nan")
    parts = squares[:, known] / variance[known]
    return float(parts.mean()), _error_of_mean(parts.mean(axis=1 if len(parts) > 2 else 0))


def _error_of_mean(values: Floats) -> float:
    """Return the standard error of a mean of values taken as independent, NaN of fewer than two."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
